//! Every circuit against its definition, on the cleartext twin and encrypted, with the levels and operations that it
//! promises.

use std::collections::BTreeMap;

use noren::circuits::approx::{Approximation, sigmoid};
use noren::circuits::linear::LinearMap;
use noren::circuits::polynomial::{Basis, Cost, Polynomial};
use noren::circuits::recorder::Recorder;
use noren::circuits::trace;
use noren::ckks::{Ciphertext, Context, Decryptor, Encoder, Encryptor, Evaluator, KeyRequest, ParametersSpec};
use noren::error::{Error, Result};
use noren::schemes::clear::{ClearEvaluator, ClearVector};
use noren::schemes::slots::SlotEvaluator;
use noren::{Security, Seed};
use proptest::prelude::*;

const EV: ClearEvaluator = ClearEvaluator;

/// Fixed numbers in `[-1, 1]` without visible pattern: the fractional parts of multiples of the golden ratio.
fn numbers(count: usize, salt: u32) -> Vec<f64> {
    let golden = (5.0_f64.sqrt() - 1.0) / 2.0;
    (1..=count).map(|k| 2.0 * ((k * k) as f64 * golden + f64::from(salt) * 0.37).fract() - 1.0).collect()
}

fn vector(values: Vec<f64>, level: usize) -> ClearVector {
    ClearVector::new(values, level).expect("a power of two of finite values")
}

fn assert_close(found: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (j, (x, y)) in found.iter().zip(expected).enumerate() {
        assert!((x - y).abs() <= tolerance, "{what}: slot {j} is {x}, not {y} (tolerance {tolerance:e})");
    }
}

/// Rounding of a sum of so many products of numbers up to 1.
fn rounding(terms: usize) -> f64 {
    terms as f64 * terms as f64 * f64::EPSILON
}

#[test]
fn trace_adds_equally_spaced_slots() {
    let slots = 64;
    let x = vector(numbers(slots, 1), 0);
    for count in 1..=slots {
        for stride in [1, 3, 8, -1, -5] {
            let y = trace::sum(&EV, &x, count, stride).expect("no level is needed");
            let expected: Vec<f64> = (0..slots.cast_signed())
                .map(|j| {
                    let at = |i: usize| (j + i.cast_signed() * stride).rem_euclid(slots.cast_signed()).cast_unsigned();
                    (0..count).map(|i| x.values()[at(i)]).sum()
                })
                .collect();
            assert_close(y.values(), &expected, rounding(count), &format!("count {count}, stride {stride}"));
            assert_eq!(y.level(), 0);
        }
    }
}

#[test]
fn trace_asks_for_the_rotations_it_names() {
    for count in 1..200 {
        let recorder = Recorder::new();
        let x = recorder.fresh(256);
        trace::sum(&recorder, &x, count, 3).expect("nothing can be missing");
        let demands = recorder.demands();
        assert!(demands.rotations.keys().eq(&trace::rotations(count, 3)), "count {count}");
        assert_eq!(demands.depth, 0);
        if count.is_power_of_two() {
            assert_eq!(demands.counts.decompositions, count.ilog2().div_ceil(2) as usize, "count {count}");
        }
    }
}

#[test]
fn replicate_copies_to_following_slots() {
    for count in 1..=8 {
        let mut values = vec![0.0; 16];
        (values[0], values[8]) = (1.0, 2.0);
        let y = trace::replicate(&EV, &vector(values, 0), count, 1).expect("no level is needed");
        let expected: Vec<f64> =
            (0..16).map(|j| if j % 8 >= count { 0.0 } else if j < 8 { 1.0 } else { 2.0 }).collect();
        assert_eq!(y.values(), expected, "count {count}");
    }
}

#[test]
fn linear_map_is_the_matrix_product_for_every_number_of_baby_steps() {
    let (rows, columns, n, slots) = (11, 16, 16, 64);
    let entries = numbers(rows * columns, 2);
    let x = numbers(n, 3);
    let expected: Vec<f64> = (0..n)
        .map(|r| if r < rows { (0..columns).map(|c| entries[r * columns + c] * x[c]).sum() } else { 0.0 })
        .collect();
    for baby_steps in [1, 2, 4, 8, 16] {
        let map = LinearMap::dense(rows, columns, &entries).unwrap().with_baby_steps(baby_steps).unwrap();
        let y = map.apply(&EV, &vector(x.repeat(slots / n), LinearMap::DEPTH)).unwrap();
        assert_close(y.values(), &expected.repeat(slots / n), rounding(n), &format!("{baby_steps} baby steps"));
        assert_eq!(y.level(), 0);

        let recorder = Recorder::new();
        map.apply(&recorder, &recorder.fresh(slots)).unwrap();
        let demands = recorder.demands();
        assert!(demands.rotations.keys().eq(&map.rotations()));
        assert_eq!(demands.rotations.len(), baby_steps + n / baby_steps - 2);
        assert_eq!((demands.depth, demands.counts.plain_products), (LinearMap::DEPTH, n));
    }
}

#[test]
fn linear_map_skips_zero_diagonals() {
    let n = 32;
    let diagonals: BTreeMap<usize, Vec<f64>> =
        [0, 7, 8, 31].into_iter().map(|k| (k, if k == 8 { vec![0.0; n] } else { numbers(n, k as u32) })).collect();
    let x = numbers(n, 9);
    let expected: Vec<f64> =
        (0..n).map(|j| diagonals.iter().map(|(k, d)| d[j] * x[(j + k) % n]).sum()).collect();
    let map = LinearMap::from_diagonals(n, diagonals).unwrap();
    let y = map.apply(&EV, &vector(x, 1)).unwrap();
    assert_close(y.values(), &expected, rounding(n), "sparse");
    let recorder = Recorder::new();
    map.apply(&recorder, &recorder.fresh(n)).unwrap();
    assert_eq!(recorder.demands().counts.plain_products, 3);
}

#[test]
fn linear_map_refuses_what_it_cannot_apply() {
    assert!(matches!(LinearMap::dense(2, 2, &[1.0; 3]), Err(Error::Length { found: 3, .. })));
    assert!(matches!(LinearMap::dense(1, 2, &[1.0, f64::NAN]), Err(Error::NotFinite { index: 1, .. })));
    assert!(matches!(LinearMap::from_diagonals(6, BTreeMap::new()), Err(Error::Parameters { .. })));
    let map = LinearMap::dense(4, 4, &[1.0; 16]).unwrap();
    assert!(matches!(map.apply(&EV, &vector(vec![1.0; 2], 1)), Err(Error::Length { found: 2, .. })));
    assert!(matches!(map.apply(&EV, &vector(vec![1.0; 4], 0)), Err(Error::LevelExhausted { needed: 1, left: 0 })));
    let prepared = map.prepare(&EV, &vector(vec![1.0; 4], 2)).unwrap();
    assert!(matches!(prepared.apply(&EV, &vector(vec![1.0; 4], 1)), Err(Error::LevelMismatch { left: 2, right: 1 })));
    let zero = LinearMap::dense(2, 2, &[0.0; 4]).unwrap();
    assert_eq!(zero.apply(&EV, &vector(vec![1.0; 4], 1)).unwrap().values(), [0.0; 4]);
}

/// `B_k(x)` by definition.
fn basis_at(basis: Basis, k: usize, x: f64) -> f64 {
    match basis {
        Basis::Power => x.powi(i32::try_from(k).unwrap()),
        Basis::Chebyshev => (k as f64 * x.acos()).cos(),
    }
}

fn definition(polynomial: &Polynomial, x: f64) -> f64 {
    let basis = polynomial.basis();
    polynomial.coefficients().iter().enumerate().map(|(k, c)| c * basis_at(basis, k, x)).sum()
}

/// The slots of the polynomial tests: inner points and both ends.
fn points() -> Vec<f64> {
    let mut x = numbers(32, 4);
    (x[0], x[1], x[2]) = (1.0, -1.0, 0.0);
    x
}

/// Rounding errors of `T_k` grow like its derivative, `k^2` at the ends, and there are `d + 1` terms.
fn polynomial_rounding(degree: usize) -> f64 {
    let d = (degree + 1) as f64;
    d * d * d * f64::EPSILON
}

fn check_polynomial(polynomial: &Polynomial) {
    let what = format!("{:?}, degree {}", polynomial.basis(), polynomial.degree());
    let depth = polynomial.depth();
    let x = vector(points(), depth + 2);
    let y = polynomial.evaluate(&EV, &x).unwrap();
    let expected: Vec<f64> = x.values().iter().map(|&x| definition(polynomial, x)).collect();
    assert_close(y.values(), &expected, polynomial_rounding(polynomial.degree()), &what);
    assert_eq!(y.level(), 2, "{what}: levels left");
    assert_eq!(1 << depth, (polynomial.degree() + 1).next_power_of_two(), "{what}: depth");

    let recorder = Recorder::new();
    polynomial.evaluate(&recorder, &recorder.fresh(32)).unwrap();
    let demands = recorder.demands();
    assert_eq!(demands.depth, depth, "{what}: levels");
    let Cost { products, relinearizations } = polynomial.cost();
    let counts = demands.counts;
    assert_eq!((counts.products, counts.relinearizations), (products, relinearizations), "{what}: operations");
    // Leaves of length about sqrt(d / 2) and the powers of two above, and the chain that the depth dictates.
    let d = polynomial.degree() as f64;
    let bound = 2.0 * (2.0 * d).sqrt() + 2.0 * (d + 1.0).log2();
    assert!(products as f64 <= bound, "{what}: {products} products, more than {bound}");
}

#[test]
fn polynomials_of_every_degree_use_minimal_depth_and_the_named_operations() {
    for degree in 0..=128 {
        for basis in [Basis::Power, Basis::Chebyshev] {
            let mut coefficients = numbers(degree + 1, degree as u32);
            coefficients[degree] = 0.75;
            check_polynomial(&Polynomial::new(basis, coefficients).unwrap());
        }
    }
}

#[test]
fn even_and_odd_polynomials_skip_half() {
    for degree in 2..=128_usize {
        for basis in [Basis::Power, Basis::Chebyshev] {
            let dense = numbers(degree + 1, 5);
            let half: Vec<f64> =
                dense.iter().enumerate().map(|(k, &c)| if k % 2 == degree % 2 { c } else { 0.0 }).collect();
            let half = Polynomial::new(basis, half).unwrap();
            check_polynomial(&half);
            let (half, dense) = (half.cost(), Polynomial::new(basis, dense).unwrap().cost());
            assert!(half.relinearizations <= dense.relinearizations, "degree {degree}: {half:?} against {dense:?}");
            assert!(half.products <= dense.products, "degree {degree}: {half:?} against {dense:?}");
            if degree > 2 && degree.is_multiple_of(2) {
                assert!(half.products < dense.products, "degree {degree}: {half:?} against {dense:?}");
            }
        }
    }
}

#[test]
fn polynomial_costs_are_the_documented_ones() {
    let cost = |degree: usize, keep: fn(usize) -> bool| {
        // No structure: with all coefficients equal, for one, many pieces would vanish.
        let coefficients =
            numbers(degree + 1, 6).into_iter().enumerate().map(|(k, c)| if keep(k) { c } else { 0.0 }).collect();
        let Cost { products, relinearizations } = Polynomial::chebyshev(coefficients).unwrap().cost();
        (products, relinearizations)
    };
    let degrees = [3, 7, 15, 31, 63, 127];
    assert_eq!(degrees.map(|d| cost(d, |_| true)), [(2, 2), (5, 4), (8, 7), (13, 10), (18, 15), (27, 20)]);
    assert_eq!(degrees.map(|d| cost(d, |k| k % 2 == 1)), [(2, 2), (5, 4), (8, 7), (13, 10), (17, 14), (26, 19)]);
    let even = degrees.map(|d| cost(d - 1, |k| k % 2 == 0));
    assert_eq!(even, [(1, 1), (3, 3), (6, 5), (9, 8), (14, 11), (19, 16)]);
}

#[test]
fn polynomials_refuse_too_few_levels() {
    let polynomial = Polynomial::power(vec![0.0, 0.0, 0.0, 0.0, 1.0]).unwrap();
    let refused = polynomial.evaluate(&EV, &vector(vec![1.0], 2));
    assert!(matches!(refused, Err(Error::LevelExhausted { needed: 3, left: 2 })));
    assert!(matches!(Polynomial::power(vec![]), Err(Error::Length { .. })));
    assert!(matches!(Polynomial::power(vec![1.0, f64::INFINITY]), Err(Error::NotFinite { index: 1, .. })));
    assert!(matches!(
        polynomial.evaluate_on(&EV, &vector(vec![1.0], 9), [1.0, 1.0]),
        Err(Error::Parameters { name: "interval", .. })
    ));
}

#[test]
fn evaluate_on_maps_the_interval_first() {
    let polynomial = Polynomial::chebyshev(vec![0.5, -1.0, 0.25, 2.0]).unwrap();
    let x = vector(vec![2.0, 3.5, 5.0, 6.0], 3);
    let y = polynomial.evaluate_on(&EV, &x, [2.0, 6.0]).unwrap();
    let expected: Vec<f64> = x.values().iter().map(|x| definition(&polynomial, (x - 4.0) / 2.0)).collect();
    assert_close(y.values(), &expected, polynomial_rounding(3), "interval");
    assert_eq!(y.level(), 0);
}

proptest! {
    #[test]
    fn max_abs_bounds_a_polynomial_closely(coefficients in prop::collection::vec(-1.0..1.0_f64, 1..40)) {
        let polynomial = Polynomial::chebyshev(coefficients).unwrap();
        let dense = (0..=4000).map(|j| polynomial.at(f64::from(j) / 2000.0 - 1.0).abs()).fold(0.0, f64::max);
        prop_assert!(dense <= polynomial.max_abs() * (1.0 + 1e-12));
        let true_maximum = (0..=40_000).map(|j| definition(&polynomial, (f64::from(j) * 1e-4 * std::f64::consts::PI / 4.0).cos()).abs()).fold(0.0, f64::max);
        prop_assert!(polynomial.max_abs() <= 1.083 * true_maximum * 1.001 + 1e-12);
    }

    #[test]
    fn clenshaw_and_horner_agree_with_the_definition(
        coefficients in prop::collection::vec(-1.0..1.0_f64, 1..30),
        x in -1.0..1.0_f64,
    ) {
        for basis in [Basis::Power, Basis::Chebyshev] {
            let polynomial = Polynomial::new(basis, coefficients.clone()).unwrap();
            let tolerance = polynomial_rounding(polynomial.degree());
            prop_assert!((polynomial.at(x) - definition(&polynomial, x)).abs() <= tolerance);
        }
    }
}

/// The largest distance from the function on a grid that no part of the library knows.
fn measured_error(approximation: &Approximation, f: impl Fn(f64) -> f64) -> f64 {
    let [a, b] = approximation.interval();
    (0..=100_003)
        .map(|j| a + (b - a) * f64::from(j) / 100_003.0)
        .map(|x| (approximation.at(x) - f(x)).abs())
        .fold(0.0, f64::max)
}

#[test]
fn approximations_stay_within_their_error() {
    for error in [1e-2, 1e-4, 1e-7] {
        let exponential = Approximation::with_error(libm::exp, [-2.0, 3.0], error).unwrap();
        assert!(exponential.error() <= error && measured_error(&exponential, f64::exp) <= exponential.error());
        let root = Approximation::with_error(libm::sqrt, [1.0, 9.0], error).unwrap();
        assert!(root.error() <= error && measured_error(&root, f64::sqrt) <= root.error());
        // One degree less would not do, for this construction.
        let less = Approximation::new(libm::exp, [-2.0, 3.0], exponential.polynomial().degree() - 1).unwrap();
        assert!(less.error() > error);
    }
}

#[test]
fn sigmoid_of_degree_127_on_32_is_within_1e_5() {
    let approximation = Approximation::sigmoid_of_degree(32.0, 127).unwrap();
    assert!(approximation.error() < 1e-5, "{:e}", approximation.error());
    assert!(measured_error(&approximation, sigmoid) <= approximation.error());
    assert_eq!((approximation.polynomial().degree(), approximation.polynomial().depth(), approximation.depth()), (127, 7, 8));
    let found = Approximation::sigmoid(32.0, 1e-5).unwrap();
    assert!(found.error() <= 1e-5 && found.polynomial().degree() <= 127);
}

#[test]
fn sigmoid_polynomial_is_odd_but_for_its_constant() {
    let approximation = Approximation::sigmoid(8.0, 1e-6).unwrap();
    for (k, &c) in approximation.polynomial().coefficients().iter().enumerate() {
        match k {
            // The mean of 1024 values, each rounded.
            0 => assert!((c - 0.5).abs() <= 1024.0 * f64::EPSILON, "{c}"),
            k if k % 2 == 0 => assert_eq!(c, 0.0, "coefficient {k}"),
            _ => assert!(c != 0.0, "coefficient {k}"),
        }
    }
}

#[test]
fn sigmoid_is_the_logistic_function() {
    for x in [-800.0, -40.0, -1.5, 0.0, 0.25, 3.0, 40.0, 800.0] {
        let expected = 1.0 / (1.0 + f64::exp(-x));
        assert!((sigmoid(x) - expected).abs() <= 2.0 * f64::EPSILON, "{x}");
    }
}

#[test]
fn approximations_evaluate_on_slots() {
    let approximation = Approximation::sigmoid(8.0, 1e-4).unwrap();
    let x = vector(vec![-7.5, -0.5, 1.0, 8.0], approximation.depth());
    let y = approximation.evaluate(&EV, &x).unwrap();
    let expected: Vec<f64> = x.values().iter().map(|&x| sigmoid(x)).collect();
    assert_close(y.values(), &expected, 1e-4, "sigmoid");
    assert_eq!(y.level(), 0);
}

#[test]
fn approximations_refuse_the_impossible() {
    assert!(matches!(Approximation::sigmoid(0.0, 1e-3), Err(Error::Parameters { name: "interval", .. })));
    assert!(matches!(Approximation::sigmoid(8.0, 0.0), Err(Error::Parameters { .. })));
    assert!(matches!(Approximation::with_error(f64::abs, [-1.0, 1.0], 1e-9), Err(Error::Parameters { .. })));
    assert!(matches!(Approximation::new(f64::ln, [0.0, -1.0], 3), Err(Error::Parameters { .. })));
    assert!(matches!(Approximation::new(f64::ln, [-1.0, 1.0], 3), Err(Error::NotFinite { .. })));
    assert!(matches!(Approximation::new(f64::sin, [-1.0, 1.0], 5000), Err(Error::Parameters { name: "degree", .. })));
}

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

/// Runs a circuit on a ciphertext with exactly the levels and keys that its dry run asks for. The result must agree
/// with the cleartext twin within its own error bound, and the bound must not be above `slack` times the error.
fn check_encrypted(circuit: &Circuit, values: &[f64], slack: f64, what: &str) {
    let recorder = Recorder::new();
    circuit.run(&recorder, &recorder.fresh(values.len())).unwrap();
    let demands = recorder.demands();
    let mut log_q = vec![45; demands.depth + 1];
    log_q[0] = 50;
    let spec = ParametersSpec {
        log_n: 11,
        log_q,
        log_p: vec![50],
        log_scale: 45,
        security: Security::None,
        ..ParametersSpec::default()
    };
    let context = Context::new(spec.build().unwrap()).unwrap();
    let keys = context.generate_keys(Seed::from_bytes([1; 32]), &demands.key_request(demands.depth).unwrap()).unwrap();
    let encryptor = Encryptor::symmetric(&context, &keys.secret, Seed::from_bytes([2; 32])).unwrap();
    let plaintext = Encoder::new(&context).encode(values, values.len(), demands.depth).unwrap();
    let x: Ciphertext = encryptor.encrypt(&plaintext).unwrap();

    let y = circuit.run(&Evaluator::new(&context, keys.evaluation.clone()).unwrap(), &x).unwrap();
    assert_eq!(y.level(), 0, "{what}: levels left");
    let found = Decryptor::new(&context, &keys.secret).unwrap().decrypt_real(&y).unwrap();
    let clear = circuit.run(&EV, &vector(values.to_vec(), demands.depth)).unwrap();
    let worst = found.iter().zip(clear.values()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    let bound = y.error_bound();
    println!("{what}: error {worst:.2e}, bound {bound:.2e}, ratio {:.1}", bound / worst);
    assert!(worst <= bound, "{what}: error {worst:e} above the bound {bound:e}");
    assert!(bound <= slack * worst, "{what}: bound {bound:e} far above the error {worst:e}");
}

#[test]
fn encrypted_sums_stay_within_their_error_bound() {
    for (count, stride) in [(256, 1), (16, 16), (13, 3), (7, -5)] {
        let circuit = Circuit::Sum { count, stride };
        check_encrypted(&circuit, &numbers(256, 7), 8.0, &format!("sum of {count}"));
    }
}

#[test]
fn encrypted_linear_maps_stay_within_their_error_bound() {
    let map = LinearMap::dense(32, 32, &numbers(1024, 8)).unwrap();
    check_encrypted(&Circuit::Linear(map), &numbers(32, 9).repeat(8), 8.0, "matrix");
}

#[test]
fn encrypted_polynomials_stay_within_their_error_bound() {
    for degree in [1, 2, 3, 5, 8, 15, 16, 27, 31, 64, 127] {
        for basis in [Basis::Power, Basis::Chebyshev] {
            let polynomial = Polynomial::new(basis, numbers(degree + 1, 10)).unwrap();
            let what = format!("{basis:?}, degree {degree}");
            check_encrypted(&Circuit::Polynomial(polynomial), &numbers(256, 11), 64.0, &what);
        }
    }
}

#[test]
fn encrypted_sigmoid_stays_within_its_error_bound() {
    let approximation = Approximation::sigmoid_of_degree(32.0, 127).unwrap();
    let values: Vec<f64> = numbers(256, 12).into_iter().map(|x| 32.0 * x).collect();
    check_encrypted(&Circuit::Approximation(approximation), &values, 64.0, "sigmoid");
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
