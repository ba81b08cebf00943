//! Prints how fast rows move between memory and the kernels, in GB/s, beside plain loops: best and median of several.
//!
//! `cargo run --release -p noren-math --example memory_times`; `NOREN_ISA` chooses the kernels.

use std::hint::black_box;
use std::time::Instant;

use noren_math::kernels::{Kernels, kernels};
use noren_math::machine::aligned::AlignedVec;
use noren_math::modulus::Modulus;
use noren_math::prime::primes_below;

/// How often each loop runs.
const RUNS: usize = 9;
/// Words of a row, and rows of a polynomial and of a key's digit.
const DEGREE: usize = 1 << 16;
const LIMBS: usize = 24;
const KEY_LIMBS: usize = 32;
const DIGITS: usize = 3;
/// Words that no cache holds.
const MANY: usize = 1 << 27;

/// Writes one row from two others.
type RowCall<'a> = dyn Fn(&mut [u64], &[u64], &[u64]) + 'a;
type Call = fn(&Kernels, &mut [u64], &[u64], &[u64], &Modulus);

fn print(name: &str, words: usize, mut run: impl FnMut()) {
    run();
    let mut rates: Vec<f64> = (0..RUNS)
        .map(|_| {
            let start = Instant::now();
            run();
            (words * size_of::<u64>()) as f64 / start.elapsed().as_nanos() as f64
        })
        .collect();
    rates.sort_by(f64::total_cmp);
    println!("{name:44} best {:6.1} median {:6.1} GB/s", rates[RUNS - 1], rates[RUNS / 2]);
}

/// A row of words below `bound`.
fn row(n: usize, bound: u64) -> AlignedVec<u64> {
    let mut row = AlignedVec::zeroed(n);
    row.iter_mut().enumerate().for_each(|(i, x)| *x = (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) % bound);
    row
}

/// The sum of all words, in eight independent chains.
fn sum(words: &[u64]) -> u64 {
    let mut sums = [0u64; 8];
    for words in words.as_chunks::<8>().0 {
        sums.iter_mut().zip(words).for_each(|(sum, &x)| *sum = sum.wrapping_add(x));
    }
    sums.iter().fold(0, |sum, &x| sum.wrapping_add(x))
}

fn main() {
    let kernels = kernels();
    println!("kernels: {}", kernels.name());
    let prime = primes_below(1 << 50, 1 << 18).next().expect("there are many");
    let q = Modulus::new(prime).expect("a prime below 2^50");

    let key = row(MANY, prime);
    print("read 1 GiB, plain", MANY, || {
        black_box(sum(&key));
    });
    let digits = row(DIGITS * DEGREE, prime);
    let mut halves = row(2 * DEGREE, prime);
    let limb_words = 2 * DIGITS * DEGREE;
    for used in [3, 2, 1] {
        let rows: Vec<&[u64]> = digits.chunks(DEGREE).take(used).collect();
        print(&format!("inner_product_pair, {used} digits of {DIGITS}, keys"), KEY_LIMBS * 2 * used * DEGREE, || {
            for limb in key.chunks(limb_words).take(KEY_LIMBS) {
                let (left, right) = halves.split_at_mut(DEGREE);
                kernels.inner_product_pair([left, right], &rows, limb, &q);
            }
        });
    }

    for limbs in [1, 8, LIMBS, 4 * LIMBS] {
        let n = limbs * DEGREE;
        let (a, b, mut out) = (row(n, prime), row(n, prime - 2), row(n, prime));
        let mut print = |name: &str, call: &RowCall<'_>| {
            print(&format!("{name}, {limbs} rows of {DEGREE}"), 3 * n, || {
                let rows = out.chunks_mut(DEGREE).zip(a.chunks(DEGREE)).zip(b.chunks(DEGREE));
                rows.for_each(|((out, a), b)| call(out, a, b));
                black_box(&mut out);
            });
        };
        print("plain sum", &|out, a, b| {
            out.iter_mut().zip(a).zip(b).for_each(|((out, a), b)| *out = a.wrapping_add(*b));
        });
        for (name, call) in [
            ("add", Kernels::add as Call),
            ("add_streamed", Kernels::add_streamed),
            ("mul", Kernels::mul),
            ("mul_streamed", Kernels::mul_streamed),
        ] {
            print(name, &|out, a, b| call(kernels, out, a, b, &q));
        }
    }
}
