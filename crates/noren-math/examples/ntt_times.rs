//! Prints how long the transforms take, in microseconds a row: the least of several batches, hot, and
//! cold with many primes taking turns.
//!
//! `cargo run --release -p noren-math --example ntt_times [table [hot|cold]]`

use std::hint::black_box;
use std::time::{Duration, Instant};

use noren_math::cyclotomic::Cyclotomic;
use noren_math::kernels::aligned::AlignedVec;
use noren_math::kernels::{Kernels, available};
use noren_math::modulus::Modulus;
use noren_math::ntt::table::NttTable;
use noren_math::prime::primes_below;

/// How many batches the least is taken of.
const BATCHES: usize = 15;
/// How long a batch runs at least.
const BATCH_TIME: Duration = Duration::from_millis(2);
/// How many primes take turns.
const LIMBS: usize = 24;
/// Upper bounds of the primes: those of narrow butterflies, and all.
const SIZES: [u32; 2] = [48, 50];

/// The verbs, each with the rows that it transforms: one, two in turn, two at once.
type Verb = (&'static str, usize, fn(&Kernels, &mut Limb));
const VERBS: [Verb; 6] = [
    ("forward", 1, |kernels, limb| kernels.ntt_forward(&mut limb.rows[0], &limb.table)),
    ("both", 2, |kernels, limb| limb.rows.iter_mut().for_each(|row| kernels.ntt_forward(row, &limb.table))),
    ("pair", 2, |kernels, limb| kernels.ntt_forward_pair(pair(&mut limb.rows), &limb.table)),
    ("inverse", 1, |kernels, limb| kernels.ntt_inverse(&mut limb.rows[0], &limb.table)),
    ("both", 2, |kernels, limb| limb.rows.iter_mut().for_each(|row| kernels.ntt_inverse(row, &limb.table))),
    ("pair", 2, |kernels, limb| kernels.ntt_inverse_pair(pair(&mut limb.rows), &limb.table)),
];

/// A prime's table with rows of its own.
struct Limb {
    table: NttTable,
    rows: [AlignedVec<u64>; 2],
}

impl Limb {
    fn new(prime: u64, log: u32) -> Self {
        let ring = Cyclotomic::power_of_two(1 << log).expect("a degree");
        let table = NttTable::new(Modulus::new(prime).expect("a prime below 2^50"), &ring).expect("q = 1 mod m");
        let row = |seed: u64| {
            let mut row = AlignedVec::zeroed(1 << log);
            row.iter_mut()
                .enumerate()
                .for_each(|(i, x)| *x = (i as u64 + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) % prime);
            row
        };
        Self { table, rows: [row(1), row(2)] }
    }
}

fn pair(rows: &mut [AlignedVec<u64>; 2]) -> [&mut [u64]; 2] {
    rows.each_mut().map(|row| &mut **row)
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

fn main() {
    let mut arguments = std::env::args().skip(1);
    let table = arguments.next().unwrap_or_default();
    let part = arguments.next().unwrap_or_default();
    for kernels in available().filter(|kernels| kernels.name().contains(&table)) {
        for bits in SIZES {
            let primes: Vec<u64> = primes_below(1 << bits, 1 << 18).take(LIMBS).collect();
            let title = format!("{} {bits} bits", kernels.name());
            if "hot".contains(part.as_str()) {
                for log in 10..=17 {
                    let mut limb = Limb::new(primes[0], log);
                    print!("{title} hot  2^{log}:");
                    for (name, rows, verb) in VERBS {
                        print!("  {name} {:.2}", least(|| verb(kernels, black_box(&mut limb))) / rows as f64);
                    }
                    println!();
                }
            }
            if "cold".contains(part.as_str()) {
                let mut limbs: Vec<Limb> = primes.iter().map(|&prime| Limb::new(prime, 16)).collect();
                print!("{title} cold 2^16 x {LIMBS}:");
                for (name, rows, verb) in VERBS {
                    let time = least(|| limbs.iter_mut().for_each(|limb| verb(kernels, black_box(limb))));
                    print!("  {name} {:.2}", time / (rows * LIMBS) as f64);
                }
                println!();
            }
        }
    }
}
