//! Prints how long the transforms take, in microseconds a row: the least of several batches, hot, and
//! as in a key switch, where many primes take turns and each finds a few rows that were just written.
//!
//! `cargo run --release -p noren-math --example ntt_times [table [hot|turns]]`

use std::hint::black_box;
use std::time::{Duration, Instant};

use noren_math::cyclotomic::Cyclotomic;
use noren_math::kernels::{Kernels, available};
use noren_math::machine::aligned::AlignedVec;
use noren_math::modulus::Modulus;
use noren_math::prime::primes_below;
use noren_math::roots::ntt::NttTable;

/// How many batches the least is taken of.
const BATCHES: usize = 15;
/// How long a batch runs at least.
const BATCH_TIME: Duration = Duration::from_millis(2);
/// How many primes take turns.
const LIMBS: usize = 28;
/// How many rows a prime has in its turn.
const ROWS: usize = 5;
/// How often all primes have their turn.
const ROUNDS: usize = 12;
/// The degree of the turns, as a power of two.
const LOG_TURNS: u32 = 16;
/// Upper bounds of the primes: those of messages, of narrow butterflies, and all.
const SIZES: [u32; 3] = [20, 48, 50];

type Verb = (&'static str, fn(&Kernels, &mut [u64], &NttTable));
const VERBS: [Verb; 2] = [
    ("forward", |kernels, row, table| kernels.ntt_forward(row, table)),
    ("inverse", |kernels, row, table| kernels.ntt_inverse(row, table)),
];

/// The tables of the largest primes of a size.
fn tables(bits: u32, log: u32, count: usize) -> Vec<NttTable> {
    let ring = Cyclotomic::power_of_two(1 << log).expect("a degree");
    let primes = primes_below(1 << bits, 1 << 18).take(count);
    let moduli: Vec<Modulus> = primes.map(|prime| Modulus::new(prime).expect("a prime below 2^50")).collect();
    NttTable::of_primes(&moduli, &ring).expect("q = 1 mod m")
}

/// Words below all primes of both sizes.
fn rows(count: usize, log: u32) -> AlignedVec<u64> {
    let mut rows = AlignedVec::zeroed(count << log);
    rows.iter_mut().enumerate().for_each(|(i, x)| *x = (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 18);
    rows
}

/// The least time of one call, in microseconds.
fn least(mut call: impl FnMut()) -> f64 {
    let mut repeats = 1;
    let mut time = |repeats: u32| {
        let start = Instant::now();
        (0..repeats).for_each(|_| call());
        start.elapsed()
    };
    while time(repeats) < BATCH_TIME {
        repeats *= 2;
    }
    let times = (0..BATCHES).map(|_| time(repeats).as_secs_f64() * 1e6 / f64::from(repeats));
    times.fold(f64::INFINITY, f64::min)
}

/// The time of one row in the turns, in microseconds: the least of the rounds.
fn in_turns(tables: &[NttTable], mut transform: impl FnMut(&mut [u64], &NttTable)) -> f64 {
    let source = rows(ROWS, LOG_TURNS);
    let mut near = AlignedVec::zeroed(source.len());
    let mut round = || -> Duration {
        let turn = |table| {
            near.copy_from_slice(&source);
            let start = Instant::now();
            near.chunks_exact_mut(1 << LOG_TURNS).for_each(|row| transform(black_box(row), table));
            start.elapsed()
        };
        tables.iter().map(turn).sum()
    };
    let times = (0..ROUNDS).map(|_| round().as_secs_f64() * 1e6 / (ROWS * tables.len()) as f64);
    times.fold(f64::INFINITY, f64::min)
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let table = arguments.next().unwrap_or_default();
    let part = arguments.next().unwrap_or_default();
    for kernels in available().filter(|kernels| kernels.name().contains(&table)) {
        for bits in SIZES {
            let title = format!("{} {bits} bits", kernels.name());
            if "hot".contains(part.as_str()) {
                for log in 10..=17 {
                    let (tables, mut row) = (tables(bits, log, 1), rows(1, log));
                    print!("{title} hot 2^{log}:");
                    for (name, verb) in VERBS {
                        print!("  {name} {:.2}", least(|| verb(kernels, black_box(&mut row), &tables[0])));
                    }
                    println!();
                }
            }
            if "turns".contains(part.as_str()) {
                let tables = tables(bits, LOG_TURNS, LIMBS);
                print!("{title} turns 2^{LOG_TURNS} x {LIMBS}:");
                for (name, verb) in VERBS {
                    print!("  {name} {:.2}", in_turns(&tables, |row, table| verb(kernels, row, table)));
                }
                println!();
            }
        }
    }
}
