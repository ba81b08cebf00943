//! Prints how long sums of products with streamed factors take, in microseconds a factor and limb,
//! for all sets.
//!
//! `cargo run --release -p noren-ring --example streamed_times [log_n] [images] [sums] [threads] [sets]`

use std::time::Instant;

use noren_math::cyclotomic::Cyclotomic;
use noren_math::prime::primes_below;
use noren_math::random::Seed;
use noren_ring::error::Error;
use noren_ring::ring::Ring;
use noren_ring::small::SmallPolynomials;

/// How many limbs the images have.
const LIMBS: usize = 2;

fn main() -> Result<(), Error> {
    let argument = |i: usize, default| std::env::args().nth(i).and_then(|text| text.parse().ok()).unwrap_or(default);
    let (log_n, images, sums, threads) = (argument(1, 15), argument(2, 256), argument(3, 16), argument(4, 1));
    let primes: Vec<u64> = primes_below(1 << 50, 2 << log_n).take(LIMBS).collect();
    let ring = Ring::new(Cyclotomic::power_of_two(1 << log_n)?, &primes, Some(threads))?;
    let sets = argument(5, 1);
    let write = |i: usize, out: &mut [i64]| {
        out.iter_mut().enumerate().for_each(|(j, x)| *x = ((i + 3 * j) * 40_503 % 65_536) as i64 - (1 << 15));
    };
    let factors = SmallPolynomials::build(ring.engine(), ring.degree(), images * sums, write, || {});
    let mut set = ring.images(images, sets);
    let seed = Seed::from_bytes([1; 32]);
    for i in 0..images {
        let [first, second] = [0, 1].map(|half| ring.uniform(&seed, &format!("{i}/{half}")));
        ring.set_image(&mut set, i, [&first, &second]);
    }
    for _ in 0..3 {
        let start = Instant::now();
        let _ = ring.streamed_sums(&vec![&set; sets], &factors);
        let seconds = start.elapsed().as_secs_f64();
        println!("{seconds:.3} s, {:.2} us", seconds * 1e6 / (images * sums * LIMBS) as f64);
    }
    Ok(())
}
