//! Runs one kernel of the table in use, for programs that count instructions (`bench/arm_instructions.py`).
//!
//! `cargo run --release -p noren-math --example kernel_work -- list` prints the name of each kernel, what is counted, and how
//! many of it one call has; `... -- NAME CALLS` calls a kernel, up to 65 times.

use std::error::Error;
use std::hint::black_box;

use noren_math::cyclotomic::Cyclotomic;
use noren_math::kernels::{Kernels, WeightedRows, WeightedSum, kernels};
use noren_math::machine::aligned::AlignedVec;
use noren_math::modulus::Modulus;
use noren_math::prime::primes_below;
use noren_math::roots::ntt::NttTable;
use noren_math::roots::torus::TorusFft;
use noren_math::torus::gadget::Gadget;

/// The length of rows of residues.
const LOG_N: u32 = 12;
/// The length of polynomials of the torus.
const TORUS_N: usize = 1024;
/// How often a kernel is called at most.
const MOST_CALLS: usize = 65;
/// The digits of the inner product with a key.
const DIGITS: usize = 3;
/// The rows of a basis conversion, before and after.
const CONVERTED: usize = 8;

/// Name, what is counted, how many one call has.
const VERBS: [(&str, &str, usize); 10] = [
    ("ntt-forward-48", "butterfly", BUTTERFLIES),
    ("ntt-forward-50", "butterfly", BUTTERFLIES),
    ("ntt-inverse-48", "butterfly", BUTTERFLIES),
    ("ntt-inverse-50", "butterfly", BUTTERFLIES),
    ("mul", "product", 1 << LOG_N),
    ("key-inner-product", "product", (2 * DIGITS) << LOG_N),
    ("basis-conversion", "word", CONVERTED << LOG_N),
    ("torus-forward", "transform", 1),
    ("torus-forward-digits", "transform", 1),
    ("torus-inverse", "transform", 1),
];
const BUTTERFLIES: usize = (LOG_N as usize) << (LOG_N - 1);

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments[..] {
        [list] if list == "list" => VERBS.iter().for_each(|(name, unit, count)| println!("{name} {unit} {count}")),
        [name, calls] => run(name, calls.parse()?)?,
        _ => return Err("wanted: list, or NAME CALLS".into()),
    }
    Ok(())
}

/// Words below `bound`, each different.
fn row(n: usize, bound: u64) -> AlignedVec<u64> {
    let mut row = AlignedVec::zeroed(n);
    row.iter_mut().enumerate().for_each(|(i, x)| *x = (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) % bound);
    row
}

/// The largest primes of a size.
fn moduli(bits: u32, count: usize) -> Vec<Modulus> {
    let primes = primes_below(1 << bits, 1 << 18).take(count);
    primes.map(|prime| Modulus::new(prime).expect("a prime below 2^50")).collect()
}

fn run(name: &str, calls: usize) -> Result<(), Box<dyn Error>> {
    if calls > MOST_CALLS {
        return Err(format!("{calls} calls: at most {MOST_CALLS}").into());
    }
    match name {
        "ntt-forward-48" => transform(48, true, calls),
        "ntt-forward-50" => transform(50, true, calls),
        "ntt-inverse-48" => transform(48, false, calls),
        "ntt-inverse-50" => transform(50, false, calls),
        "mul" => mul(calls),
        "key-inner-product" => key_inner_product(calls),
        "basis-conversion" => basis_conversion(calls),
        "torus-forward" | "torus-forward-digits" | "torus-inverse" => torus(name, calls),
        _ => return Err(format!("no kernel {name}").into()),
    }
    Ok(())
}

fn transform(bits: u32, is_forward: bool, calls: usize) {
    let ring = Cyclotomic::power_of_two(1 << LOG_N).expect("a degree");
    let moduli = moduli(bits, 1);
    let tables = NttTable::of_primes(&moduli, &ring).expect("q = 1 mod m");
    let verb = if is_forward { Kernels::ntt_forward } else { Kernels::ntt_inverse };
    let mut row = row(1 << LOG_N, moduli[0].value());
    (0..calls).for_each(|_| verb(kernels(), black_box(&mut row), &tables[0]));
}

fn mul(calls: usize) {
    let q = moduli(50, 1)[0];
    let (a, b) = (row(1 << LOG_N, q.value()), row(1 << LOG_N, q.value() - 2));
    let mut out = row(1 << LOG_N, q.value());
    (0..calls).for_each(|_| kernels().mul(black_box(&mut out), &a, &b, &q));
}

fn key_inner_product(calls: usize) {
    let (n, q) = (1 << LOG_N, moduli(50, 1)[0]);
    let (digits, key) = (row(DIGITS * n, q.value()), row(2 * DIGITS * n, q.value() - 2));
    let rows: Vec<&[u64]> = digits.chunks_exact(n).collect();
    let mut sums = row(2 * n, q.value());
    let (left, right) = sums.split_at_mut(n);
    (0..calls).for_each(|_| kernels().inner_product_pair(black_box([&mut *left, &mut *right]), &rows, &key, &q));
}

/// An exact conversion: sources are scaled, quotients counted, and each target is a weighted sum.
fn basis_conversion(calls: usize) {
    let (n, moduli) = (1 << LOG_N, moduli(50, 2 * CONVERTED));
    let (from, to) = moduli.split_at(CONVERTED);
    let sources: Vec<_> = from.iter().map(|q| row(n, q.value())).collect();
    let mut scaled: Vec<_> = from.iter().map(|_| AlignedVec::<u64>::zeroed(n)).collect();
    let weights: Vec<_> = to.iter().map(|q| row(CONVERTED + 1, q.value())).collect();
    let inverses: Vec<f64> = from.iter().map(|q| 1.0 / q.value() as f64).collect();
    let (mut counts, mut targets) = (AlignedVec::<u64>::zeroed(n), AlignedVec::<u64>::zeroed(CONVERTED * n));
    let mut call = || {
        for ((out, source), q) in scaled.iter_mut().zip(&sources).zip(from) {
            kernels().mul_scalar(out, source, q.shoup(q.value() / 3), q);
        }
        let rows: Vec<&[u64]> = scaled.iter().map(|row| &**row).collect();
        kernels().quotients(&mut counts, &rows, &inverses);
        let targets = black_box(&mut *targets).chunks_mut(n).zip(&weights).zip(to);
        let mut sums: Vec<_> = targets.map(|((out, weights), modulus)| WeightedSum { out, weights, modulus }).collect();
        kernels().weighted_sums(&mut sums, &WeightedRows { rows: &rows, below: 1 << 50, counts: Some(&counts) });
    };
    (0..calls).for_each(|_| call());
}

fn torus(name: &str, calls: usize) {
    let (fft, gadget) = (TorusFft::new(TORUS_N), Gadget::new(10, 2));
    let words = row(TORUS_N, u64::MAX);
    let mut spectrum = AlignedVec::zeroed(TORUS_N);
    match name {
        "torus-forward" => {
            (0..calls).for_each(|_| kernels().torus_forward(black_box(&mut spectrum), &words[..], 1.0, &fft));
        }
        "torus-forward-digits" => (0..calls).for_each(|_| {
            kernels().torus_forward_digits(black_box(&mut spectrum), &words[..], &gadget, 1, &fft, &[]);
        }),
        _ => {
            let mut out = AlignedVec::<u64>::zeroed(TORUS_N);
            kernels().torus_forward(&mut spectrum, &words[..], 1.0, &fft);
            // The inverse transform uses up its spectrum, which is copied as often with any number of calls: the difference of
            // two runs has no copies.
            let fixed = AlignedVec::from_slice(&spectrum);
            for round in 0..MOST_CALLS {
                black_box(&mut *spectrum).copy_from_slice(&fixed);
                if round < calls {
                    kernels().torus_inverse_add(black_box(&mut out[..]), &mut spectrum, &fft);
                }
            }
        }
    }
}
