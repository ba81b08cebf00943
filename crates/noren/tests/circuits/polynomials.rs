//! Polynomials, in clear.

use noren::circuits::polynomial::{Basis, Cost, Polynomial};
use noren::circuits::recorder::Recorder;
use noren::error::{Error, cause};
use noren::schemes::error::SlotError;
use proptest::prelude::*;

use crate::numbers::{EV, assert_close, numbers, vector};

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
    let usage = recorder.usage();
    assert_eq!(usage.depth, depth, "{what}: levels");
    let Cost { products, relinearizations } = polynomial.cost();
    let counts = usage.counts;
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
    assert!(matches!(Polynomial::<f64>::power(vec![]), Err(Error::Length { .. })));
    assert!(matches!(cause(&Polynomial::power(vec![1.0, f64::INFINITY])), Some(SlotError::NotFinite { index: 1, .. })));
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
        // Between two of 4000 points on the half circle a polynomial of degree 40 changes by (40 pi / 8000)^2 / 2 of
        // its maximum, about 1e-4.
        let maximum = (0..=4000)
            .map(|j| polynomial.at((f64::from(j) * std::f64::consts::PI / 4000.0).cos()).abs())
            .fold(0.0, f64::max);
        prop_assert!(maximum <= polynomial.max_abs() * (1.0 + 1e-12));
        prop_assert!(polynomial.max_abs() <= 1.0196 * 1.0002 * maximum);
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
