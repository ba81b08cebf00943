//! How long it takes to interpolate polynomials with small coefficients, and to sum their products with pairs:
//! `cargo run --release -p noren-ring --example small_times -- [pairs] [sums] [threads] [bits]`, at degree 2^15 with two limbs
//! and t = 65537.

use std::env;
use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use noren_math::cyclotomic::Cyclotomic;
use noren_math::prime::primes_below;
use noren_math::random::Seed;
use noren_ring::key::KeyPairs;
use noren_ring::ring::Ring;
use noren_ring::small::SmallPolys;

const DEGREE: usize = 1 << 15;
const T: u64 = 65537;
/// Each is run so often, and the fastest run counts.
const RUNS: usize = 3;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let number = |i: usize, usual: usize| arguments.get(i).map_or(Ok(usual), |text| text.parse());
    let (pairs, sums, threads, bits) = (number(0, 64)?, number(1, 64)?, number(2, 1)?, number(3, 48)?);
    let index = Cyclotomic::power_of_two(DEGREE)?;
    let moduli: Vec<u64> = primes_below(1 << bits, u64::from(index.index())).take(2).collect();
    let ring = Ring::new(index, &moduli, Some(threads))?;
    let ring_t = Ring::new(index, &[T], Some(threads))?;
    let seed = Seed::from_bytes([1; 32]);
    let elements: Vec<_> =
        (0..pairs).map(|j| ["left", "right"].map(|half| ring.uniform(&seed, &format!("{half}/{j}")))).collect();
    let elements = KeyPairs::new(&ring, &elements);
    let count = pairs * sums;
    let write = |i: usize, row: &mut [u64]| {
        row.iter_mut().enumerate().for_each(|(j, x)| *x = (i as u64 * 31 + j as u64 * 17) % T);
    };
    let mut small = SmallPolys::interpolate(&ring_t, 0, write);
    let interpolated = best(|| small = SmallPolys::interpolate(&ring_t, count, write));
    let summed = best(|| drop(black_box(ring.sum_small_products(&elements, &small, sums, |i, j| Some(i * pairs + j)))));
    let each = 1e6 / count as f64;
    println!("{threads} threads, {pairs} pairs, {sums} sums, {} MiB", small.bytes() >> 20);
    println!("interpolation {:.1} us each, products {:.1} us each", interpolated * each, summed * each);
    Ok(())
}

fn best(mut verb: impl FnMut()) -> f64 {
    let times = (0..RUNS).map(|_| {
        let start = Instant::now();
        verb();
        start.elapsed().as_secs_f64()
    });
    times.fold(f64::INFINITY, f64::min)
}
