//! How long the verbs of a key switch take: `cargo run --release -p noren-ring --example ring_times -- [log2 n] [threads]`.

use std::env;
use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};

use noren_math::cyclotomic::Cyclotomic;
use noren_math::prime::primes_below;
use noren_math::random::Seed;
use noren_ring::automorphism::Automorphism;
use noren_ring::convert::{BasisConverter, Conversion};
use noren_ring::decompose::Decomposer;
use noren_ring::divide::DivideRound;
use noren_ring::gadget::Gadget;
use noren_ring::poly::{Eval, Poly};
use noren_ring::ring::Ring;
use noren_ring::switch::KeySwitch;

/// The shape of a bootstrapping parameter set: 30 primes in 4 digits, 7 special primes.
const SPECIAL: usize = 7;
const LIMBS: usize = 30;
const DIGITS: usize = 4;
/// Each verb runs for about this long, and the fastest run counts: other programs only ever slow one down.
const PATIENCE: Duration = Duration::from_millis(1500);

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let log_degree = arguments.next().map_or(Ok(16), |text| text.parse::<u32>())?;
    let threads = arguments.next().map_or(Ok(1), |text| text.parse())?;
    let index = Cyclotomic::power_of_two(1 << log_degree)?;
    let moduli: Vec<u64> = primes_below(1 << 50, u64::from(index.index())).take(SPECIAL + LIMBS).collect();
    let ring = Ring::new(index, &moduli, Some(threads))?;
    let q = ring.window(SPECIAL..SPECIAL + LIMBS);
    let kernels = ring.engine().kernels().name();
    println!("degree 2^{log_degree}, {LIMBS} + {SPECIAL} limbs, {DIGITS} digits, {threads} threads, {kernels}");

    let seed = Seed::from_bytes([1; 32]);
    let random = |label: &str| ring.uniform(&seed, label);
    let (a, b) = (random("a"), random("b"));
    let key: Vec<[Poly<Eval>; 2]> =
        (0..DIGITS).map(|j| ["left", "right"].map(|side| random(&format!("{side}/{j}")))).collect();
    let decomposer = Decomposer::new(&ring, Gadget::new(&[50.0; LIMBS], SPECIAL, DIGITS)?);
    let special: Vec<usize> = (0..SPECIAL).collect();
    let mod_down = DivideRound::new(&ring, &special, SPECIAL..SPECIAL + LIMBS);
    let rescale = DivideRound::new(&ring, &[SPECIAL + LIMBS - 1], SPECIAL..SPECIAL + LIMBS - 1);
    let exact = BasisConverter::new(&ring, &special, SPECIAL..SPECIAL + LIMBS, Conversion::Exact);
    let approximate = BasisConverter::new(&ring, &special, SPECIAL..SPECIAL + LIMBS, Conversion::Approximate);
    let map = Automorphism::new(&index, 5)?;
    let a_q = q.restrict(&a);
    let coefficients = ring.intt(a.clone());

    time("add", || drop(black_box(ring.add(&a, &b))));
    time("mul", || drop(black_box(ring.mul(&a, &b))));
    let mut in_place = Some(a.clone());
    time("ntt, intt", || in_place = in_place.take().map(|a| ring.ntt(ring.intt(a))));
    time("automorphism", || drop(black_box(ring.automorphism(&a, &map))));
    let mut acc = b.clone();
    time("automorphism_add_assign", || ring.automorphism_add_assign(&mut acc, &a, &map));
    time("convert P to Q, exact", || drop(black_box(exact.apply(&coefficients))));
    time("convert P to Q, approximate", || drop(black_box(approximate.apply(&coefficients))));
    time("rescale, 2 polynomials with copies", || {
        drop(black_box(rescale.apply_many([a_q.clone(), a_q.clone()])));
    });
    time("2 copies", || drop(black_box([a_q.clone(), a_q.clone()])));
    time("decompose", || drop(black_box(decomposer.decompose(&q, &a_q))));
    let digits = decomposer.decompose(&q, &a_q);
    time("inner_product", || drop(black_box(digits.inner_product(&ring, &key))));
    let switch = KeySwitch { key: &key, added: [None, None], divide: &mod_down, automorphism: Some(&map) };
    time("key switch and automorphism", || drop(black_box(decomposer.switch(&q, &a_q, &switch))));
    time("the same, with digits", || drop(black_box(decomposer.switch_digits(&q, &digits, &switch))));
    time("key switch in steps", || {
        let digits = decomposer.decompose(&q, &a_q);
        drop(black_box(mod_down.apply_many(digits.inner_product(&ring, &key))));
    });
    let narrow = ring.window(0..3);
    let (narrow, number) = (narrow.clone(), narrow.restrict(&coefficients));
    time("to_centered_f64, 3 limbs", || drop(black_box(narrow.to_centered_f64(&number))));
    Ok(())
}

fn time(name: &str, mut verb: impl FnMut()) {
    let (start, mut best) = (Instant::now(), Duration::MAX);
    while start.elapsed() < PATIENCE {
        let one = Instant::now();
        verb();
        best = best.min(one.elapsed());
    }
    println!("{name:40} {:10.1} us", best.as_secs_f64() * 1e6);
}
