//! Prints how long each kernel of each table takes, in nanoseconds: the median of several batches. The
//! transforms have `ntt_times`.
//!
//! `cargo run --release -p noren-math --example kernel_times [filter]`

use std::hint::black_box;
use std::time::{Duration, Instant};

use noren_math::cyclotomic::Cyclotomic;
use noren_math::kernels::{Kernels, WeightedRows, WeightedSum, available};
use noren_math::machine::aligned::AlignedVec;
use noren_math::modulus::Modulus;
use noren_math::prime::primes_below;

/// How many batches the median is taken of.
const BATCHES: usize = 15;
/// How long a batch runs at least.
const BATCH_TIME: Duration = Duration::from_millis(4);
/// Row lengths.
const LENGTH: usize = 1 << 14;

/// The median time of one call, in nanoseconds.
fn median(mut call: impl FnMut()) -> f64 {
    let mut repeats = 1;
    let time = |repeats: u32, call: &mut dyn FnMut()| {
        let start = Instant::now();
        (0..repeats).for_each(|_| call());
        start.elapsed()
    };
    while time(repeats, &mut call) < BATCH_TIME {
        repeats *= 2;
    }
    let mut times: Vec<f64> =
        (0..BATCHES).map(|_| time(repeats, &mut call).as_nanos() as f64 / f64::from(repeats)).collect();
    times.sort_by(f64::total_cmp);
    times[BATCHES / 2]
}

/// A row of words below `bound`, each different.
fn row(n: usize, bound: u64) -> AlignedVec<u64> {
    let mut row = AlignedVec::zeroed(n);
    row.iter_mut().enumerate().for_each(|(i, x)| *x = (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) % bound);
    row
}

fn main() {
    let filter = std::env::args().nth(1).unwrap_or_default();
    let tables: Vec<&Kernels> = available().collect();
    let print = |name: &str, words: usize, call: &mut dyn FnMut(&Kernels)| {
        if !name.contains(&filter) {
            return;
        }
        print!("{name:24}");
        for table in &tables {
            let ns = median(|| call(table));
            print!(" {:>9} {ns:>11.0} ns {:>7.3} ns/word", table.name(), ns / words as f64);
        }
        println!();
    };

    let prime = primes_below(1 << 50, 1 << 18).next().expect("there are many");
    let q = Modulus::new(prime).expect("a prime below 2^50");
    let n = LENGTH;
    let (a, b, w) = (row(n, prime), row(n, prime - 2), q.shoup(prime / 3));
    let mut out = row(n, prime - 4);
    print("add", n, &mut |k| k.add(black_box(&mut out), &a, &b, &q));
    print("sub_assign", n, &mut |k| k.sub_assign(black_box(&mut out), &a, &q));
    print("neg", n, &mut |k| k.neg(black_box(&mut out), &a, &q));
    print("mul", n, &mut |k| k.mul(black_box(&mut out), &a, &b, &q));
    print("mul_assign", n, &mut |k| k.mul_assign(black_box(&mut out), &a, &q));
    print("mul_add_assign", n, &mut |k| k.mul_add_assign(black_box(&mut out), &a, &b, &q));
    print("mul_scalar", n, &mut |k| k.mul_scalar(black_box(&mut out), &a, w, &q));
    print("mul_scalar_add_assign", n, &mut |k| k.mul_scalar_add_assign(black_box(&mut out), &a, w, &q));
    print("sub_mul_scalar_assign", n, &mut |k| k.sub_mul_scalar_assign(black_box(&mut out), &a, w, &q));
    print("reduce", n, &mut |k| k.reduce(black_box(&mut out), &a, &q));
    print("reduce_centred", n, &mut |k| k.reduce_centred(black_box(&mut out), &a, &q, &q));
    let signed: Vec<i64> = a.iter().map(|&x| x.cast_signed() - (1 << 49)).collect();
    print("reduce_signed", n, &mut |k| k.reduce_signed(black_box(&mut out), &signed, &q));
    let ring = Cyclotomic::power_of_two(n).expect("a degree");
    let permutation = ring.permutation(5).expect("odd");
    let words = row(2 * n, u64::MAX);
    let mut samples = vec![0; n];
    print("gaussian", n, &mut |k| k.gaussian(black_box(&mut samples), &words));
    print("permute", n, &mut |k| k.permute(black_box(&mut out), &a, &permutation));

    let many: Vec<AlignedVec<u64>> = (0..16).map(|i| row(n, prime - 2 * i)).collect();
    let rows: Vec<&[u64]> = many.iter().map(|row| &**row).collect();
    for terms in [3, 8, 16] {
        let pairs: Vec<(&[u64], &[u64])> = (0..terms).map(|i| (rows[i], rows[15 - i])).collect();
        print(&format!("inner_product {terms}"), n, &mut |k| k.inner_product(black_box(&mut out), &pairs, &q));
        let key = row(2 * terms * n, prime);
        let mut halves = row(2 * n, prime);
        print(&format!("inner_product_pair {terms}"), n, &mut |k| {
            let (left, right) = black_box(&mut *halves).split_at_mut(n);
            k.inner_product_pair([left, right], &rows[..terms], &key, &q);
        });
        let weights = row(terms, prime);
        let rows = &rows[..terms];
        print(&format!("weighted_sum {terms}"), n, &mut |k| k.weighted_sum(black_box(&mut out), rows, &weights, &q));
        let (weights, counts) = (row(terms + 1, prime), row(n, terms as u64 + 1));
        let mut four = row(4 * n, prime);
        print(&format!("weighted_sums 4 x {terms}"), 4 * n, &mut |k| {
            let outs = black_box(&mut *four).chunks_mut(n);
            let mut sums: Vec<_> = outs.map(|out| WeightedSum { out, weights: &weights, modulus: &q }).collect();
            k.weighted_sums(&mut sums, &WeightedRows { rows, below: prime, counts: Some(&counts) });
        });
        let inverses = vec![1.0 / prime as f64; terms];
        print(&format!("quotients {terms}"), n, &mut |k| k.quotients(black_box(&mut out), rows, &inverses));
    }
}
