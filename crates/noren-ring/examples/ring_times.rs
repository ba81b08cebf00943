//! How long the verbs of a key switch take: `cargo run --release -p noren-ring --example ring_times -- [log2 n] [threads] [only]`,
//! where `only` is a part of the names of the verbs to time.

use std::env;
use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};

use noren_math::cyclotomic::Cyclotomic;
use noren_math::prime::primes_below;
use noren_math::random::Seed;
use noren_ring::automorphism::Automorphism;
use noren_ring::decompose::Decomposer;
use noren_ring::divide::DivideRound;
use noren_ring::gadget::Gadget;
use noren_ring::key::KeyPairs;
use noren_ring::operand::Operand;
use noren_ring::poly::{Eval, Poly};
use noren_ring::ring::Ring;
use noren_ring::switch::{KeySwitch, Term};

/// The shape of the benchmarks: 24 primes in 3 digits, 8 special primes, all below 2^48.
const SPECIAL: usize = 8;
const LIMBS: usize = 24;
const DIGITS: usize = 3;
/// How many terms a part of a trace has, and how many rotations share their digits.
const TERMS: usize = 7;
const ROTATIONS: usize = 8;
/// Each verb runs for about this long, and the fastest run counts: other programs only ever slow one down.
const PATIENCE: Duration = Duration::from_millis(1000);

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let log_degree = arguments.next().map_or(Ok(16), |text| text.parse::<u32>())?;
    let threads = arguments.next().map_or(Ok(1), |text| text.parse())?;
    let only = arguments.next().unwrap_or_default();
    let time = |name: &str, verb: &mut dyn FnMut()| {
        if name.contains(&only) {
            time(name, verb);
        }
    };
    let index = Cyclotomic::power_of_two(1 << log_degree)?;
    let moduli: Vec<u64> = primes_below(1 << 48, u64::from(index.index())).take(SPECIAL + LIMBS).collect();
    let ring = Ring::new(index, &moduli, Some(threads))?;
    let q = ring.window(SPECIAL..SPECIAL + LIMBS);
    let kernels = ring.engine().kernels().name();
    println!("degree 2^{log_degree}, {LIMBS} + {SPECIAL} limbs, {DIGITS} digits, {threads} threads, {kernels}");

    let seed = Seed::from_bytes([1; 32]);
    let random = |label: &str| ring.uniform(&seed, label);
    let (a, b) = (random("a"), random("b"));
    let pairs: Vec<[Poly<Eval>; 2]> =
        (0..DIGITS).map(|j| ["left", "right"].map(|side| random(&format!("{side}/{j}")))).collect();
    let key = ring.key(&pairs);
    let decomposer = Decomposer::new(&ring, Gadget::new(&[48.0; LIMBS], SPECIAL, DIGITS)?);
    let special: Vec<usize> = (0..SPECIAL).collect();
    let mod_down = DivideRound::new(&ring, &special, SPECIAL..SPECIAL + LIMBS);
    let dropped: Vec<usize> = (0..SPECIAL).chain([SPECIAL + LIMBS - 1]).collect();
    let mod_down_rescale = DivideRound::new(&ring, &dropped, SPECIAL..SPECIAL + LIMBS - 1);
    let rescale = DivideRound::new(&ring, &[SPECIAL + LIMBS - 1], SPECIAL..SPECIAL + LIMBS - 1);
    let map = Automorphism::new(&index, 5)?;
    let a_q = q.restrict(&a);
    let coefficients = ring.intt(a.clone());

    time("add", &mut || drop(black_box(ring.add(&a, &b))));
    time("mul", &mut || drop(black_box(ring.mul(&a, &b))));
    let mut in_place = Some(a.clone());
    time("ntt, intt", &mut || in_place = in_place.take().map(|a| ring.ntt(ring.intt(a))));
    time("automorphism", &mut || drop(black_box(ring.automorphism(&a, &map))));
    let mut acc = b.clone();
    time("automorphism_add_assign", &mut || ring.automorphism_add_assign(&mut acc, &a, &map));
    time("rescale, 2 polynomials with copies", &mut || {
        drop(black_box(ring.divide_round_all(vec![a_q.clone(), a_q.clone()], &rescale)));
    });
    time("2 copies", &mut || drop(black_box([a_q.clone(), a_q.clone()])));
    time("decompose", &mut || drop(black_box(decomposer.decompose(&q, &a_q))));
    let digits = decomposer.decompose(&q, &a_q);
    time("inner_product", &mut || drop(black_box(digits.inner_product(&ring, &key))));
    // Each with memory of its own, which is what a sum waits for.
    let keys: Vec<KeyPairs> = (0..ROTATIONS).map(|_| ring.key(&pairs)).collect();
    let maps = (1..=ROTATIONS as u32).map(|i| Automorphism::new(&index, 5u32.pow(i))).collect::<Result<Vec<_>, _>>()?;
    let terms: Vec<Term> = keys.iter().zip(&maps).map(|(key, map)| Term { key, automorphism: Some(map) }).collect();
    let rotation = KeySwitch { terms: &terms[..1], moved: Some(&b), added: [None, None], divide: &mod_down };
    time("rotate", &mut || drop(black_box(q.switch(&a_q, &decomposer, &rotation))));
    let rotations = KeySwitch { terms: &terms, ..rotation };
    time("8 rotations, together", &mut || drop(black_box(q.switch_each(&a_q, &decomposer, &rotations))));
    let sum = KeySwitch { terms: &terms[..TERMS], ..rotation };
    time("sum of 7 rotations", &mut || drop(black_box(q.switch(&a_q, &decomposer, &sum))));
    let terms = [Term { key: &key, automorphism: None }];
    let (middle, first, last) = ([(&a, &b), (&b, &a)], [(&a, &a)], [(&b, &b)]);
    let product = KeySwitch {
        terms: &terms,
        moved: None,
        added: [Operand::Products(&first), Operand::Products(&middle)].map(Some),
        divide: &mod_down_rescale,
    };
    time("multiply and rescale", &mut || {
        drop(black_box(q.switch(Operand::Products(&last), &decomposer, &product)));
    });
    time("key switch in steps", &mut || {
        let digits = decomposer.decompose(&q, &a_q);
        drop(black_box(ring.divide_round_all(digits.inner_product(&ring, &key).into(), &mod_down)));
    });
    let narrow = ring.window(0..3);
    let (narrow, number) = (narrow.clone(), narrow.restrict(&coefficients));
    time("to_centered_f64, 3 limbs", &mut || drop(black_box(narrow.to_centered_f64(&number))));
    Ok(())
}

fn time(name: &str, verb: &mut dyn FnMut()) {
    let (start, mut best) = (Instant::now(), Duration::MAX);
    while start.elapsed() < PATIENCE {
        let one = Instant::now();
        verb();
        best = best.min(one.elapsed());
    }
    println!("{name:40} {:10.1} us", best.as_secs_f64() * 1e6);
}
