//! Circuits on CKKS ciphertexts: within their error bounds of the cleartext twin.

use noren::circuits::approx::Approximation;
use noren::circuits::linear::LinearMap;
use noren::circuits::polynomial::{Basis, Polynomial};
use noren::circuits::recorder::Recorder;
use noren::circuits::trace;
use noren::ckks::{Context, Decryptor, Encoder, Encryptor, Evaluator, KeyRequest, ParametersSpec};
use noren::error::{Error, Result};
use noren::schemes::slots::SlotEvaluator;
use noren::{Security, Seed};

use crate::numbers::{EV, filling, numbers, vector};

/// What is run both in clear and encrypted.
enum Circuit {
    Sum { count: usize, stride: isize },
    Linear(LinearMap),
    Polynomial(Polynomial),
    Approximation(Approximation),
}

impl Circuit {
    fn run<E: SlotEvaluator<Scalar = f64>>(&self, ev: &E, x: &E::Ciphertext) -> Result<E::Ciphertext> {
        match self {
            Self::Sum { count, stride } => trace::sum(ev, x, *count, *stride),
            Self::Linear(map) => map.apply(ev, x),
            Self::Polynomial(polynomial) => polynomial.evaluate(ev, x),
            Self::Approximation(approximation) => approximation.evaluate(ev, x),
        }
    }
}

/// Inputs of polynomials: they fill the interval that the bounds are made for, with all slots that the ring has.
const POLYNOMIAL_SLOTS: usize = 1024;

/// The worst error is that of so many encryptions.
const ENCRYPTIONS: usize = 4;

/// How far a bound may lie above the worst error.
const SLACK: f64 = 8.0;

/// Runs a circuit on ciphertexts with exactly the levels and keys that its dry run asks for. The results must agree
/// with the cleartext twin within their own error bounds, and these must not be above [`SLACK`] times the worst error.
fn check_encrypted(circuit: &Circuit, values: &[f64], what: &str) {
    let recorder = Recorder::new();
    circuit.run(&recorder, &recorder.fresh(values.len())).unwrap();
    let demands = recorder.demands();
    // The last prime leaves room for results up to 2^(50 - 40 - 1).
    let mut log_q = vec![40; demands.depth + 1];
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
    let keys = context.generate_keys(Seed::from_bytes([1; 32]), &demands.key_request(demands.depth).unwrap()).unwrap();
    let encryptor = Encryptor::symmetric(&context, &keys.secret, Seed::from_bytes([2; 32])).unwrap();
    let plaintext = Encoder::new(&context).encode(values, values.len(), demands.depth).unwrap();
    let evaluator = Evaluator::new(&context, keys.evaluation.clone()).unwrap();
    let decryptor = Decryptor::new(&context, &keys.secret).unwrap();
    let clear = circuit.run(&EV, &vector(values.to_vec(), demands.depth)).unwrap();
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
fn encrypted_linear_maps_stay_within_their_error_bound() {
    let map = LinearMap::dense(32, 32, &numbers(1024, 8)).unwrap();
    check_encrypted(&Circuit::Linear(map), &numbers(32, 9).repeat(8), "matrix");
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
    let spec = ParametersSpec {
        log_n: 8,
        log_q: vec![50, 40],
        log_p: vec![50],
        log_scale: 40,
        security: Security::None,
        ..ParametersSpec::default()
    };
    let context = Context::new(spec.build().unwrap()).unwrap();
    let request = KeyRequest { rotations: vec![1], ..KeyRequest::default() };
    let keys = context.generate_keys(Seed::from_bytes([3; 32]), &request).unwrap();
    let plaintext = Encoder::new(&context).encode(&[1.0], 8, 1).unwrap();
    let x = Encryptor::public(&context, &keys.public, Seed::from_bytes([4; 32])).unwrap().encrypt(&plaintext).unwrap();
    let ev = Evaluator::new(&context, keys.evaluation.clone()).unwrap();
    assert!(trace::sum(&ev, &x, 2, 1).is_ok());
    assert!(matches!(trace::sum(&ev, &x, 4, 1), Err(Error::MissingKey { .. })));
    let square = Polynomial::power(vec![0.0, 0.0, 1.0]).unwrap();
    assert!(matches!(square.evaluate(&ev, &x), Err(Error::LevelExhausted { needed: 2, left: 1 })));
}
