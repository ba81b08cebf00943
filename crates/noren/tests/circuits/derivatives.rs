//! Error bounds of polynomials against errors that are put in on purpose, in clear, without any statistics.

use std::cell::Cell;
use std::f64::consts::PI;

use noren::circuits::polynomial::{Basis, Polynomial};
use noren::error::Result;
use noren::schemes::clear::{ClearEvaluator, ClearVector};
use noren::schemes::range::Range;
use noren::schemes::slots::{Bounds, GiantStep, SlotEvaluator};

use crate::numbers::{EV, numbers};

/// Every operation that would round adds an error of this size to every slot, of changing signs.
///
/// The estimate of an error is its largest size, and sizes add up: bounds hold with certainty.
struct Perturbing {
    size: f64,
    signs: Cell<u64>,
}

/// Numbers in clear that are off by at most `bounds.error` from what they stand for.
#[derive(Clone)]
struct Perturbed {
    vector: ClearVector,
    bounds: Bounds,
}

impl Perturbing {
    fn new(size: f64) -> Self {
        Self { size, signs: Cell::new(1) }
    }

    /// A number off by up to this error in every slot.
    fn input(&self, values: &[f64], error: f64, level: usize) -> Perturbed {
        let values = values.iter().map(|x| x + error * self.sign()).collect();
        Perturbed {
            vector: ClearVector::new(values, level).unwrap(),
            bounds: Bounds { range: Range::symmetric(1.0), error },
        }
    }

    fn exact(vector: Result<ClearVector>) -> Result<Perturbed> {
        Ok(Perturbed { vector: vector?, bounds: Bounds { range: Range::symmetric(f64::INFINITY), error: 0.0 } })
    }

    fn rounded(&self, vector: Result<ClearVector>) -> Result<Perturbed> {
        let vector = vector?;
        let values = vector.values().iter().map(|x| x + self.size * self.sign()).collect();
        let bounds = Bounds { range: Range::symmetric(f64::INFINITY), error: self.size };
        Ok(Perturbed { vector: ClearVector::new(values, vector.level())?, bounds })
    }

    /// Plus or minus one, by a linear congruence.
    fn sign(&self) -> f64 {
        self.signs
            .set(self.signs.get().wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407));
        if self.signs.get() >> 63 == 0 { 1.0 } else { -1.0 }
    }
}

/// An operand, which the circuit has declared exact.
fn operand(a: &Perturbed) -> &ClearVector {
    assert_eq!(a.bounds.error, 0.0, "errors must be split off");
    &a.vector
}

impl SlotEvaluator for Perturbing {
    type Scalar = f64;
    type Ciphertext = Perturbed;
    type Plaintext = ();
    type Factor = ();
    type Estimate = f64;

    fn slots(&self, x: &Perturbed) -> usize {
        EV.slots(&x.vector)
    }

    fn level(&self, x: &Perturbed) -> usize {
        x.vector.level()
    }

    fn add(&self, a: &Perturbed, b: &Perturbed) -> Result<Perturbed> {
        self.rounded(EV.add(operand(a), operand(b)))
    }

    fn sub(&self, a: &Perturbed, b: &Perturbed) -> Result<Perturbed> {
        self.rounded(EV.sub(operand(a), operand(b)))
    }

    fn add_scalar(&self, a: &Perturbed, c: f64) -> Result<Perturbed> {
        Self::exact(EV.add_scalar(operand(a), c))
    }

    fn mul(&self, a: &Perturbed, b: &Perturbed) -> Result<Perturbed> {
        self.rounded(EV.mul(operand(a), operand(b)))
    }

    fn square(&self, a: &Perturbed) -> Result<Perturbed> {
        self.rounded(EV.square(operand(a)))
    }

    fn weighted_sum(&self, terms: &[(&Perturbed, f64)], constant: f64) -> Result<Perturbed> {
        let terms: Vec<_> = terms.iter().map(|(x, c)| (operand(x), *c)).collect();
        self.rounded(EV.weighted_sum(&terms, constant))
    }

    fn dot(&self, pairs: &[(&Perturbed, &Perturbed)]) -> Result<Perturbed> {
        let pairs: Vec<_> = pairs.iter().map(|(a, b)| (operand(a), operand(b))).collect();
        self.rounded(EV.dot(&pairs))
    }

    fn at_level(&self, a: &Perturbed, level: usize) -> Result<Perturbed> {
        self.rounded(EV.at_level(operand(a), level))
    }

    fn with_magnitude(&self, mut a: Perturbed, bound: f64) -> Perturbed {
        a.bounds.range = a.bounds.range.within(bound);
        a
    }

    fn with_range(&self, mut a: Perturbed, [low, high]: [f64; 2]) -> Perturbed {
        a.bounds.range = a.bounds.range.clipped(low, high);
        a
    }

    fn bounds(&self, a: &Perturbed) -> Option<Bounds> {
        Some(a.bounds)
    }

    fn split_error(&self, mut a: Perturbed) -> (Perturbed, f64) {
        let error = std::mem::replace(&mut a.bounds.error, 0.0);
        (a, error)
    }

    fn with_errors(&self, mut a: Perturbed, errors: &[(&f64, f64)], bias: f64) -> Perturbed {
        a.bounds.error += errors.iter().map(|(error, factor)| *error * factor).sum::<f64>() + bias;
        a
    }

    // Polynomials ask for nothing else.

    fn encode_for(&self, _values: &[f64], _operand: &Perturbed) -> Result<()> {
        unreachable!("no polynomial encodes")
    }

    fn encode_factor(&self, _values: &[f64], _operand: &Perturbed) -> Result<()> {
        unreachable!("no polynomial encodes")
    }

    fn neg(&self, _a: &Perturbed) -> Result<Perturbed> {
        unreachable!("no polynomial negates")
    }

    fn add_plain(&self, _a: &Perturbed, _p: &()) -> Result<Perturbed> {
        unreachable!("no polynomial has vectors of constants")
    }

    fn mul_plain(&self, _a: &Perturbed, _p: &()) -> Result<Perturbed> {
        unreachable!("no polynomial has vectors of constants")
    }

    fn mul_scalar(&self, _a: &Perturbed, _c: f64) -> Result<Perturbed> {
        unreachable!("polynomials multiply by constants in weighted sums")
    }

    fn dot_plain(&self, _pairs: &[(&Perturbed, &())]) -> Result<Perturbed> {
        unreachable!("no polynomial has vectors of constants")
    }

    fn rotate(&self, _a: &Perturbed, _steps: isize) -> Result<Perturbed> {
        unreachable!("no polynomial rotates")
    }

    fn rotate_many(&self, _a: &Perturbed, _steps: &[isize]) -> Result<Vec<Perturbed>> {
        unreachable!("no polynomial rotates")
    }

    fn sum_rotations(&self, _a: &Perturbed, _steps: &[isize]) -> Result<Perturbed> {
        unreachable!("no polynomial rotates")
    }

    fn sum_giant_steps<F>(&self, _a: &Perturbed, _babies: &[isize], _giants: &[GiantStep<F>]) -> Result<Perturbed> {
        unreachable!("no polynomial rotates")
    }
}

/// The slots: the whole interval, and both ends.
fn points() -> Vec<f64> {
    (0..256).map(|j| (PI * f64::from(j) / 255.0).cos()).collect()
}

/// The largest slope on a fine grid, by definition: `T_k'(cos t) = k sin(k t) / sin t`, at the ends its limit `k^2`.
fn largest_slope(polynomial: &Polynomial) -> f64 {
    let slope_of = |k: usize, x: f64| match polynomial.basis() {
        Basis::Power => k as f64 * x.powi(i32::try_from(k).unwrap() - 1),
        Basis::Chebyshev if x == 1.0 => (k * k) as f64,
        Basis::Chebyshev if x == -1.0 => (k * k) as f64 * if k.is_multiple_of(2) { -1.0 } else { 1.0 },
        Basis::Chebyshev => k as f64 * (k as f64 * x.acos()).sin() / x.acos().sin(),
    };
    let slope = |x: f64| polynomial.coefficients().iter().enumerate().skip(1).map(|(k, c)| c * slope_of(k, x)).sum();
    let points = (1..20_000).map(|j| (PI * f64::from(j) / 20_000.0).cos()).chain([-1.0, 1.0]);
    points.map(slope).fold(0.0, |max: f64, slope: f64| max.max(slope.abs()))
}

fn polynomials() -> impl Iterator<Item = Polynomial> {
    let degrees = [1, 2, 3, 4, 7, 12, 15, 31, 64];
    let both = degrees.into_iter().flat_map(|degree| [(Basis::Power, degree), (Basis::Chebyshev, degree)]);
    both.map(|(basis, degree)| Polynomial::new(basis, numbers(degree + 1, 3)).unwrap())
}

#[test]
fn no_error_of_any_size_exceeds_the_bound() {
    for polynomial in polynomials() {
        // Up to sizes where terms of the second order are the larger ones.
        for (input, size) in [(1e-9, 1e-9), (1e-9, 0.0), (0.0, 1e-9), (1e-4, 1e-4), (1e-2, 1e-2), (0.1, 0.1)] {
            let ev = Perturbing::new(size);
            for _ in 0..8 {
                let x = ev.input(&points(), input, polynomial.depth());
                let y = polynomial.evaluate(&ev, &x).unwrap();
                for (y_found, x) in y.vector.values().iter().zip(points()) {
                    let error = (y_found - polynomial.at(x)).abs();
                    let bound = y.bounds.error + 1e-12;
                    assert!(error <= bound, "{polynomial:?} at {x}, errors {input} {size}: {error:e} > {bound:e}");
                }
            }
        }
    }
}

#[test]
fn an_error_of_the_input_counts_by_the_largest_slope() {
    for polynomial in polynomials() {
        // Small enough that its square is nothing.
        let error = 2f64.powi(-60);
        let ev = Perturbing::new(0.0);
        let y = polynomial.evaluate(&ev, &ev.input(&points(), error, polynomial.depth())).unwrap();
        let ratio = y.bounds.error / error / largest_slope(&polynomial);
        assert!((1.0..1.02).contains(&ratio), "{polynomial:?}: {ratio}");
    }
}

#[test]
fn magnitudes_are_those_of_the_polynomial() {
    for polynomial in polynomials() {
        let ev = Perturbing::new(0.0);
        let y = polynomial.evaluate(&ev, &ev.input(&points(), 0.0, polynomial.depth())).unwrap();
        // The margin between the points counts from the middle of the values, and is at most 2 %.
        let found = y.bounds.range.magnitude();
        let largest = (0..=2000).map(|k| polynomial.at(f64::from(k) / 1000.0 - 1.0).abs()).fold(0.0, f64::max);
        assert!(
            largest <= found * (1.0 + 1e-9) && found <= polynomial.max_abs() * (1.0 + 1e-9),
            "{polynomial:?}: {found}"
        );
    }
}

#[test]
fn evaluators_without_errors_are_left_alone() {
    let x = ClearVector::new(points(), 3).unwrap();
    assert_eq!(ClearEvaluator.bounds(&x), None);
    let (same, error) = ClearEvaluator.split_error(x.clone());
    assert_eq!(ClearEvaluator.with_errors(same, &[(&error, 2.0)], 1.0), x);
}
