//! Numbers to compute with, and how close is close.

use std::f64::consts::PI;

use noren::schemes::clear::{ClearEvaluator, ClearVector};

/// The cleartext twin.
pub const EV: ClearEvaluator = ClearEvaluator;

/// Fixed numbers in `[-1, 1]` without visible pattern: the fractional parts of multiples of the golden ratio.
pub fn numbers(count: usize, salt: u32) -> Vec<f64> {
    let golden = (5.0_f64.sqrt() - 1.0) / 2.0;
    (1..=count).map(|k| 2.0 * ((k * k) as f64 * golden + f64::from(salt) * 0.37).fract() - 1.0).collect()
}

/// Numbers that fill `[-1, 1]`, neighbours less than `5 / count` apart: `cos t` with `t = pi (1 - cos u) / 2`.
///
/// They are denser at the ends than the zeros of Chebyshev polynomials: a polynomial of degree d may be much steeper in
/// the last part `1 / d^2` of the interval than elsewhere, and must be seen there often for its worst error to show.
pub fn filling(count: usize) -> Vec<f64> {
    let u = (0..count).map(|j| PI * (j as f64 + 0.5) / count as f64);
    u.map(|u| (PI * (1.0 - u.cos()) / 2.0).cos()).collect()
}

/// A vector in clear.
pub fn vector(values: Vec<f64>, level: usize) -> ClearVector {
    ClearVector::new(values, level).expect("a power of two of finite values")
}

/// Every slot within the tolerance.
pub fn assert_close(found: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (j, (x, y)) in found.iter().zip(expected).enumerate() {
        assert!((x - y).abs() <= tolerance, "{what}: slot {j} is {x}, not {y} (tolerance {tolerance:e})");
    }
}

/// Rounding of a sum of `terms` products of numbers up to 1.
pub fn rounding(terms: usize) -> f64 {
    terms as f64 * terms as f64 * f64::EPSILON
}
