//! The gain of narrower words: Horner's rule in `f32` beside `f64`, residues of 30 bits in words of 32 beside 50 bits in 64.
//!
//! `RUSTFLAGS="-C target-cpu=native" cargo run --release -p noren-math --example narrow_times --target-dir target/native`.
//!
//! Makita, Shishido, Wada and Kimura evaluate the norms of keys in single precision, and multiply residues of 32 bits. The loops
//! here are plain Rust that the compiler makes into vectors of the processor; beside them stand the kernels of noren.

use std::hint::black_box;
use std::time::{Duration, Instant};

use noren_math::cyclotomic::Cyclotomic;
use noren_math::embedding::Embedding;
use noren_math::kernels::kernels;
use noren_math::machine::aligned::AlignedVec;
use noren_math::modulus::Modulus;
use noren_math::prime::primes_below;

/// The index of the ring.
const INDEX: u32 = 15709;
/// Points side by side: several vectors of each type, so that no step waits for the one before it.
const POINTS: usize = 64;
/// The size of the narrow prime in bits.
const NARROW: u32 = 30;
/// The size of the primes of noren.
const WIDE: u32 = 50;
/// How long a loop is timed.
const TIME: Duration = Duration::from_millis(300);

/// A verb on rows of narrow words.
type Verb<'a> = &'a dyn Fn(&mut [u32], &[u32], &[u32]);

/// Defines Horner's rule at all points for a type.
macro_rules! horner {
    ($name:ident, $float:ty) => {
        /// The largest absolute value of a polynomial at the points `c + i s`.
        fn $name(a: &[$float], points: &[[[$float; POINTS]; 2]]) -> $float {
            let mut largest: $float = 0.0;
            for [c, s] in points {
                let (mut re, mut im) = ([0.0 as $float; POINTS], [0.0 as $float; POINTS]);
                for &a in a.iter().rev() {
                    for i in 0..POINTS {
                        let x = re[i].mul_add(c[i], a);
                        let y = im[i] * c[i];
                        (re[i], im[i]) = ((-im[i]).mul_add(s[i], x), re[i].mul_add(s[i], y));
                    }
                }
                for i in 0..POINTS {
                    largest = largest.max(re[i] * re[i] + im[i] * im[i]);
                }
            }
            largest.sqrt()
        }
    };
}

horner!(single, f32);
horner!(double, f64);

/// The least of many times of a call, in nanoseconds.
fn time(mut call: impl FnMut()) -> f64 {
    let (begin, mut least) = (Instant::now(), f64::INFINITY);
    while begin.elapsed() < TIME {
        let start = Instant::now();
        call();
        least = least.min(start.elapsed().as_secs_f64() * 1e9);
    }
    least
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let ring = Cyclotomic::new(INDEX)?;
    println!("kernels {}, m = {INDEX}, n = {}", kernels().name(), ring.degree());
    norms(&ring);
    products(ring.degree())?;
    Ok(())
}

fn norms(ring: &Cyclotomic) {
    let embedding = Embedding::new(ring);
    // Small coefficients, as noise has them.
    let a: Vec<f64> = (0..ring.degree()).map(|i| (i * i % 7) as f64 - 3.0).collect();
    let units: Vec<f64> = (1..=INDEX / 2).filter(|&j| ring.inverse(j).is_ok()).map(f64::from).collect();
    let angle = |j: f64| std::f64::consts::TAU * j / f64::from(INDEX);
    let points: Vec<[[f64; POINTS]; 2]> = units
        .chunks(POINTS)
        .map(|units| {
            let at = |i: usize| angle(units[i.min(units.len() - 1)]);
            [std::array::from_fn(|i| at(i).cos()), std::array::from_fn(|i| at(i).sin())]
        })
        .collect();
    let narrow: Vec<[[f32; POINTS]; 2]> = points.iter().map(|parts| parts.map(|part| part.map(|x| x as f32))).collect();
    let narrow_a: Vec<f32> = a.iter().map(|&x| x as f32).collect();
    let exact = embedding.norm(&a);
    let report = |name: &str, call: &mut dyn FnMut() -> f64| {
        let error = (call() / exact - 1.0).abs();
        let time = time(|| {
            black_box(call());
        });
        println!("norm, {name:<34} {:>9.3} ms, relative error {error:.1e}", time / 1e6);
    };
    report("FFT, f64", &mut || embedding.norm(black_box(&a)));
    report("Horner, f64, kernel of noren", &mut || embedding.norm_by_horner(black_box(&a), kernels()));
    report("Horner, f64, plain loop", &mut || double(black_box(&a), &points));
    report("Horner, f32, plain loop", &mut || f64::from(single(black_box(&narrow_a), &narrow)));
}

fn products(n: usize) -> Result<(), Box<dyn std::error::Error>> {
    let prime = |bits: u32| primes_below(1 << bits, 2).next().expect("a prime");
    let wide = Modulus::new(prime(WIDE))?;
    let row = |less: u64| {
        let mut row = AlignedVec::<u64>::zeroed(n);
        row.iter_mut().enumerate().for_each(|(i, x)| *x = (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) % less);
        row
    };
    let (a, b, mut out) = (row(wide.value()), row(wide.value() - 2), row(wide.value()));
    let report = |name: &str, bits: u32, time: f64| {
        let each = time / n as f64;
        println!("{name:<40} {:>8.2} us, {:.3} ns a word, {:.4} ns a bit", time / 1e3, each, each / f64::from(bits));
    };
    report("add, 50 bits in 64, kernel", WIDE, time(|| kernels().add(black_box(&mut out), &a, &b, &wide)));
    report("multiply, 50 bits in 64, kernel", WIDE, time(|| kernels().mul(black_box(&mut out), &a, &b, &wide)));

    let q = u32::try_from(prime(NARROW))?;
    // -1/q modulo 2^32, by Newton's iteration.
    let inverse = (0..5).fold(q, |x, _| x.wrapping_mul(2u32.wrapping_sub(q.wrapping_mul(x)))).wrapping_neg();
    let words = |row: &[u64]| row.iter().map(|&x| (x % u64::from(q)) as u32).collect::<Vec<u32>>();
    let (a, b) = (words(&a), words(&b));
    let mut out = vec![0u32; n];
    // `a b / 2^32`, by Montgomery.
    let mul = |a: u32, b: u32| {
        let product = u64::from(a) * u64::from(b);
        let correction = (product as u32).wrapping_mul(inverse);
        let reduced = ((product + u64::from(correction) * u64::from(q)) >> 32) as u32;
        reduced.min(reduced.wrapping_sub(q))
    };
    let shift = (1u64 << 32) % u64::from(q);
    for (&a, &b) in a.iter().zip(&b) {
        let (found, expected) = (u64::from(mul(a, b)) * shift, u64::from(a) * u64::from(b));
        assert_eq!(found % u64::from(q), expected % u64::from(q));
    }
    let add = |a: u32, b: u32| (a + b).min((a + b).wrapping_sub(q));
    let mut apply = |verb: Verb<'_>| time(|| verb(black_box(&mut out), &a, &b));
    let added = apply(&|out, a, b| out.iter_mut().zip(a.iter().zip(b)).for_each(|(out, (&a, &b))| *out = add(a, b)));
    report("add, 30 bits in 32, plain loop", NARROW, added);
    let multiplied =
        apply(&|out, a, b| out.iter_mut().zip(a.iter().zip(b)).for_each(|(out, (&a, &b))| *out = mul(a, b)));
    report("multiply, 30 bits in 32, plain loop", NARROW, multiplied);
    Ok(())
}
