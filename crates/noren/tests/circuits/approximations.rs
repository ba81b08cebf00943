//! Polynomials that stand for functions, in clear.

use noren::circuits::approx::{Approximation, sigmoid};
use noren::error::{Error, cause};
use noren::schemes::error::SlotError;

use crate::numbers::{EV, assert_close, vector};

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
    assert_eq!(
        (approximation.polynomial().degree(), approximation.polynomial().depth(), approximation.depth()),
        (127, 7, 8)
    );
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
    assert!(matches!(cause(&Approximation::new(f64::ln, [-1.0, 1.0], 3)), Some(SlotError::NotFinite { .. })));
    assert!(matches!(Approximation::new(f64::sin, [-1.0, 1.0], 5000), Err(Error::Parameters { name: "degree", .. })));
}
