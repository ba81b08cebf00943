//! Circuits on CKKS ciphertexts: within their error bounds of the cleartext twin.

use std::collections::BTreeMap;

use noren::circuits::approx::Approximation;
use noren::circuits::linear::LinearMap;
use noren::circuits::polynomial::{Basis, Polynomial};
use noren::circuits::product;
use noren::circuits::recorder::Recorder;
use noren::circuits::trace::{self, Unrolling};
use noren::ckks::{Context, Decryptor, Encoder, Encryptor, Evaluator, KeyRequest, ParametersSpec};
use noren::error::{Error, Result};
use noren::schemes::slots::SlotEvaluator;
use noren::{Security, Seed};

use crate::numbers::{EV, filling, numbers, vector};

/// A circuit that is run both in clear and encrypted.
enum Circuit {
    Sum { count: usize, stride: isize },
    Product { count: usize, stride: isize },
    ProductsInARow { count: usize, stride: isize },
    Trace(Unrolling),
    Linear(LinearMap),
    Polynomial(Polynomial),
    Approximation(Approximation),
}

impl Circuit {
    fn run<E: SlotEvaluator<Scalar = f64>>(&self, ev: &E, x: &E::Ciphertext) -> Result<E::Ciphertext> {
        match self {
            Self::Sum { count, stride } => trace::sum(ev, x, *count, *stride),
            Self::Product { count, stride } => product::product(ev, x, *count, *stride),
            Self::ProductsInARow { count, stride } => product::sequential(ev, x, *count, *stride),
            Self::Trace(plan) => plan.apply(ev, x),
            Self::Linear(map) => map.apply(ev, x),
            Self::Polynomial(polynomial) => polynomial.evaluate(ev, x),
            Self::Approximation(approximation) => approximation.evaluate(ev, x),
        }
    }
}

/// Inputs of polynomials: they fill the interval that the bounds are made for, with all slots that the ring has.
const POLYNOMIAL_SLOTS: usize = 1024;

/// The number of encryptions of which the worst error counts.
const ENCRYPTIONS: usize = 8;

/// How far a bound may lie above the worst error.
const SLACK: f64 = 8.0;

/// Runs a circuit on ciphertexts with exactly the levels and keys that its dry run asks for. The results must agree
/// with the cleartext twin within their own error bounds, and these must not be above [`SLACK`] times the worst error.
fn check_encrypted(circuit: &Circuit, values: &[f64], what: &str) {
    let recorder = Recorder::new();
    let period = if let Circuit::Linear(map) = circuit { map.dimension() } else { values.len() };
    circuit.run(&recorder, &recorder.fresh_repeated(values.len(), period)).unwrap();
    let usage = recorder.usage();
    // The last prime leaves room for results up to 2^(50 - 40 - 1).
    let mut log_q = vec![40; usage.depth + 1];
    log_q[0] = 50;
    let spec = ParametersSpec {
        log_n: 11,
        log_q,
        log_p: vec![50],
        log_scale: 40,
        security: Security::None,
        ..ParametersSpec::default()
    };
    let context = Context::new(spec.build().unwrap()).unwrap();
    let keys = context.generate_keys(Seed::from_bytes([1; 32]), &usage.key_request(usage.depth).unwrap()).unwrap();
    let encryptor = Encryptor::symmetric(&context, &keys.secret, Seed::from_bytes([2; 32])).unwrap();
    let plaintext = Encoder::new(&context).encode(values, values.len(), usage.depth).unwrap();
    let plaintext = plaintext.with_period(period).unwrap();
    let evaluator = Evaluator::new(&context, keys.evaluation.clone()).unwrap();
    let decryptor = Decryptor::new(&context, &keys.secret).unwrap();
    let clear = circuit.run(&EV, &vector(values.to_vec(), usage.depth)).unwrap();
    let (mut worst, mut bound) = (0.0_f64, 0.0_f64);
    for _ in 0..ENCRYPTIONS {
        let y = circuit.run(&evaluator, &encryptor.encrypt(&plaintext).unwrap()).unwrap();
        assert_eq!(y.level(), 0, "{what}: levels left");
        let found = decryptor.decrypt_complex(&y).unwrap();
        worst = found.iter().zip(clear.values()).map(|(a, b)| (a - b).norm()).fold(worst, f64::max);
        bound = bound.max(y.error_bound());
    }
    println!("{what}: error {worst:.2e}, bound {bound:.2e}, ratio {:.1}", bound / worst);
    assert!(worst <= bound, "{what}: error {worst:e} above the bound {bound:e}");
    assert!(bound <= SLACK * worst, "{what}: bound {bound:e} far above the error {worst:e}");
}

#[test]
fn encrypted_sums_stay_within_their_error_bound() {
    for (count, stride) in [(256, 1), (16, 16), (13, 3), (7, -5)] {
        let circuit = Circuit::Sum { count, stride };
        check_encrypted(&circuit, &numbers(256, 7), &format!("sum of {count}"));
    }
}

#[test]
fn encrypted_products_stay_within_their_error_bound() {
    // Of absolute values near 1, which is the bound that results are estimated with.
    let values: Vec<f64> = numbers(256, 7).iter().map(|x| (1.0 - 0.002 * x.abs()).copysign(*x)).collect();
    for (count, stride) in [(2, 1), (3, -2), (13, 3), (64, 1), (100, 1), (256, 1)] {
        check_encrypted(&Circuit::Product { count, stride }, &values, &format!("product of {count}"));
    }
    check_encrypted(&Circuit::ProductsInARow { count: 8, stride: 1 }, &values, "8 products in a row");
}

#[test]
fn unrolled_sums_stay_within_their_error_bound() {
    for steps in 1..=8 {
        let circuit = Circuit::Trace(Unrolling::unrolled(256, 1, steps).unwrap());
        check_encrypted(&circuit, &numbers(256, 7), &format!("sum in {steps} steps"));
    }
}

#[test]
fn field_traces_keep_the_coefficients_of_the_subfield() {
    let (log_n, doublings) = (9, 4);
    let spec = ParametersSpec {
        log_n,
        log_q: vec![50, 40],
        log_p: vec![50],
        log_scale: 40,
        security: Security::None,
        ..ParametersSpec::default()
    };
    let context = Context::new(spec.build().unwrap()).unwrap();
    let slots = context.parameters().max_slots();
    for steps in 1..=doublings as usize {
        let plan = Unrolling::field_trace(slots, doublings, steps).unwrap();
        let request = KeyRequest { rotations: plan.rotations(), ..KeyRequest::default() };
        let keys = context.generate_keys(Seed::from_bytes([5; 32]), &request).unwrap();
        let plaintext = Encoder::new(&context).encode(&numbers(slots, 3), slots, 1).unwrap();
        let encryptor = Encryptor::symmetric(&context, &keys.secret, Seed::from_bytes([6; 32])).unwrap();
        let x = encryptor.encrypt(&plaintext).unwrap();
        let y = plan.apply(&Evaluator::new(&context, keys.evaluation.clone()).unwrap(), &x).unwrap();
        let decryptor = Decryptor::new(&context, &keys.secret).unwrap();
        let coefficients = |x| {
            let poly = decryptor.decrypt(x).unwrap().rlwe().poly.clone();
            let ring = context.rlwe().ring_q(poly.limbs());
            ring.to_centered_f64(&ring.intt(poly))
        };
        let (before, after) = (coefficients(&x), coefficients(&y));
        // A slot is a sum of all coefficients, so that no coefficient is further off than a slot may be.
        let bound = (y.error_bound() + (1 << doublings) as f64 * x.error_bound()) * y.scale().to_f64();
        for (index, (before, after)) in before.iter().zip(&after).enumerate() {
            let expected = if index % (1 << doublings) == 0 { before * f64::from(1 << doublings) } else { 0.0 };
            assert!((after - expected).abs() <= bound, "coefficient {index}: {after}, not {expected}");
        }
        // Not by an empty bound: what is kept is far above it.
        let kept = after.iter().step_by(1 << doublings).fold(0.0, |largest: f64, x| largest.max(x.abs()));
        assert!(kept > 1000.0 * bound, "{steps} steps: {kept:e}, {bound:e}");
    }
}

#[test]
fn encrypted_linear_maps_stay_within_their_error_bound() {
    let map = LinearMap::dense(32, 32, &numbers(1024, 8)).unwrap();
    let x = numbers(32, 9).repeat(8);
    check_encrypted(&Circuit::Linear(map.clone()), &x, "matrix");
    for baby_steps in [1, 2, 4, 8, 16, 32] {
        let map = map.clone().with_baby_steps(baby_steps).unwrap();
        check_encrypted(&Circuit::Linear(map), &x, &format!("matrix, {baby_steps} baby steps"));
    }
}

#[test]
fn encrypted_sparse_maps_stay_within_their_error_bound() {
    for (salt, places) in [vec![0], vec![5], vec![0, 1], vec![0, 8, 16], vec![3, 9, 10, 27, 31]].iter().enumerate() {
        let diagonals: BTreeMap<usize, Vec<f64>> =
            places.iter().map(|&k| (k, numbers(32, (20 + salt + k) as u32))).collect();
        for baby_steps in [1, 4, 32] {
            let map = LinearMap::from_diagonals(32, diagonals.clone()).unwrap().with_baby_steps(baby_steps).unwrap();
            let what = format!("diagonals {places:?}, {baby_steps} baby steps");
            check_encrypted(&Circuit::Linear(map), &numbers(32, 9).repeat(8), &what);
        }
    }
}

/// The definition by single operations: `sum_k D_k * rot_k(x)`.
fn diagonal_by_diagonal<E: SlotEvaluator<Scalar = f64>>(
    ev: &E,
    diagonals: &BTreeMap<usize, Vec<f64>>,
    x: &E::Ciphertext,
) -> Result<E::Ciphertext> {
    let steps: Vec<isize> = diagonals.keys().map(|k| k.cast_signed()).collect();
    let rotated = ev.rotate_many(x, &steps)?;
    let plain = diagonals.values().map(|diagonal| ev.encode_for(diagonal, x)).collect::<Result<Vec<_>>>()?;
    ev.dot_plain(&rotated.iter().zip(&plain).collect::<Vec<_>>())
}

#[test]
fn hoisting_twice_changes_nothing_but_the_noise() {
    let slots = 64;
    let spec = ParametersSpec {
        log_n: 11,
        log_q: vec![50, 40, 40, 40],
        log_p: vec![48, 48],
        log_scale: 40,
        security: Security::None,
        ..ParametersSpec::default()
    };
    let context = Context::new(spec.build().unwrap()).unwrap();
    let diagonals: BTreeMap<usize, Vec<f64>> =
        [0, 1, 2, 7, 8, 13, 40, 63].into_iter().map(|k| (k, numbers(slots, k as u32))).collect();
    let request = KeyRequest { rotations: (1..slots.cast_signed()).collect(), ..KeyRequest::default() };
    let keys = context.generate_keys(Seed::from_bytes([7; 32]), &request).unwrap();
    let ev = Evaluator::new(&context, keys.evaluation.clone()).unwrap();
    let encryptor = Encryptor::public(&context, &keys.public, Seed::from_bytes([8; 32])).unwrap();
    let decryptor = Decryptor::new(&context, &keys.secret).unwrap();
    for level in [1, 2, 3] {
        let plaintext = Encoder::new(&context).encode(&numbers(slots, 9), slots, level).unwrap();
        let x = encryptor.encrypt(&plaintext).unwrap();
        let plain = diagonal_by_diagonal(&ev, &diagonals, &x).unwrap();
        let expected = decryptor.decrypt_complex(&plain).unwrap();
        for baby_steps in [1, 2, 4, 8, 16, 32, 64] {
            let map = LinearMap::from_diagonals(slots, diagonals.clone()).unwrap().with_baby_steps(baby_steps).unwrap();
            let y = map.apply(&ev, &x).unwrap();
            assert_eq!((y.level(), y.scale()), (plain.level(), plain.scale()));
            let found = decryptor.decrypt_complex(&y).unwrap();
            // The error of the encryption is common to both.
            let bound = plain.error_bound() + y.error_bound();
            let worst = found.iter().zip(&expected).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
            assert!(worst <= bound, "level {level}, {baby_steps} baby steps: {worst:e} above {bound:e}");
        }
    }
}

/// A small ring with one level.
fn one_level() -> Context {
    let spec = ParametersSpec {
        log_n: 8,
        log_q: vec![50, 40],
        log_p: vec![50],
        log_scale: 40,
        security: Security::None,
        ..ParametersSpec::default()
    };
    Context::new(spec.build().unwrap()).unwrap()
}

#[test]
fn linear_maps_name_all_missing_keys() {
    let context = one_level();
    let request = KeyRequest { rotations: vec![2], ..KeyRequest::default() };
    let keys = context.generate_keys(Seed::from_bytes([3; 32]), &request).unwrap();
    let ev = Evaluator::new(&context, keys.evaluation.clone()).unwrap();
    let plaintext = Encoder::new(&context).encode(&[1.0], 16, 1).unwrap();
    let x = Encryptor::public(&context, &keys.public, Seed::from_bytes([4; 32])).unwrap().encrypt(&plaintext).unwrap();
    let map = LinearMap::dense(16, 16, &numbers(256, 1)).unwrap().with_baby_steps(4).unwrap();
    let Err(Error::MissingKey { kind, .. }) = map.apply(&ev, &x) else { panic!("keys are missing") };
    assert!([1, 3, 4, 8, 12].iter().all(|steps| kind.contains(&format!("rotation by {steps} "))), "{kind}");
    assert!(!kind.contains("rotation by 2 "), "{kind}");
}

#[test]
fn encrypted_polynomials_stay_within_their_error_bound() {
    for degree in [1, 2, 3, 5, 8, 15, 16, 27, 31, 64, 127] {
        for basis in [Basis::Power, Basis::Chebyshev] {
            let polynomial = Polynomial::new(basis, numbers(degree + 1, 10)).unwrap();
            let what = format!("{basis:?}, degree {degree}");
            check_encrypted(&Circuit::Polynomial(polynomial), &filling(POLYNOMIAL_SLOTS), &what);
        }
    }
}

#[test]
fn encrypted_sigmoid_stays_within_its_error_bound() {
    for (half_width, degree) in [(4.0, 15), (8.0, 31), (16.0, 63), (32.0, 127)] {
        let approximation = Approximation::sigmoid_of_degree(half_width, degree).unwrap();
        // Evenly, since sigmoids are steep in the middle.
        let step = 2.0 * half_width / POLYNOMIAL_SLOTS as f64;
        let values: Vec<f64> = (0..POLYNOMIAL_SLOTS).map(|j| step * (j as f64 + 0.5) - half_width).collect();
        check_encrypted(&Circuit::Approximation(approximation), &values, &format!("sigmoid of degree {degree}"));
    }
}

#[test]
fn circuits_name_the_missing_key() {
    let context = one_level();
    let request = KeyRequest { rotations: vec![1], ..KeyRequest::default() };
    let keys = context.generate_keys(Seed::from_bytes([3; 32]), &request).unwrap();
    let plaintext = Encoder::new(&context).encode(&[1.0], 8, 1).unwrap();
    let x = Encryptor::public(&context, &keys.public, Seed::from_bytes([4; 32])).unwrap().encrypt(&plaintext).unwrap();
    let ev = Evaluator::new(&context, keys.evaluation.clone()).unwrap();
    assert!(trace::sum(&ev, &x, 2, 1).is_ok());
    let Err(Error::MissingKey { kind, available, .. }) = Unrolling::unrolled(8, 1, 1).unwrap().apply(&ev, &x) else {
        panic!("keys are missing")
    };
    assert!((2..8).all(|steps| kind.contains(&format!("rotation by {steps} "))), "{kind}");
    assert!(!kind.contains("rotation by 1 ") && available.contains("rotation by 1 "), "{kind}, {available}");
    let square = Polynomial::power(vec![0.0, 0.0, 1.0]).unwrap();
    assert!(matches!(square.evaluate(&ev, &x), Err(Error::LevelExhausted { needed: 2, left: 1 })));
}
