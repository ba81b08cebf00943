//! How far products in `f64` lie from the exact ones.
//!
//! Write `u = 2^-53` for the relative error of one rounding, `n = N/2` for the number of points, `L = log2 n` for the number
//! of layers, `R` for the number of products in a sum, `B/2` for the largest digit, and `q/2` for the largest torus word as a
//! signed integer. First order terms are given; the constants are rounded up by more than the others come to.
//!
//! # The bound
//! *A transform.* A butterfly `x, y -> x + s y, x - s y` has the product `s y` within `5u |y|`: `3u` for its roundings, fused
//! or not, and `2u` for the root, each part of which is within one unit of its last place. The sums add `u` of what they are.
//! So in the 2-norm a layer adds `6u` of what it gives, and a transform of integers, which may have been rounded, `(6L + 1) u`.
//!
//! *A spectrum* `D` of digits has `|D|_2 = sqrt(n) |d|_2 <= n B / sqrt 2` and no larger point; the torus spectrum `K`, with its
//! factor `1/n`, none above `q / sqrt 2`. Hence the sum of `R` products has a 2-norm of at most `R n q B / 2`, is off by
//! `2 (6L + 1) u` of that because its factors are, and by `3 (R + 1) u` of it through its own roundings. The inverse multiplies
//! the 2-norm by `sqrt n` and adds `6L u`. A coefficient is at most the 2-norm of all, and is rounded to a word at the end:
//!
//! ```text
//! |error| <= R n^(3/2) (q B / 2) (18L + 3R + 5) u + 1/2      (in words)
//! ```
//!
//! # The deviation
//! The bound is for the worst inputs. Coefficients of a product of uniform digits and words have the deviation
//! `S = sqrt(R N) (B / sqrt 12) (q / sqrt 12)`, and roundings behave as independent random errors: a rounded number `x` has one
//! of variance `0.18 u^2 x^2`, the mean over mantissas of logarithmic distribution. A layer rounds a sum once and, in one of
//! its two terms, a product two or three times and its root once: `0.18 + 3 0.18 / 2`, about `0.45 u^2`. Measured are 0.45 to
//! 0.51, and 0.5 is taken. With the roundings of words and of products, which are about those of a layer each:
//!
//! ```text
//! deviation = S u sqrt(0.5 (3L + 3))      (in words)
//! ```
//!
//! # Pairs of bits
//! The matrix of two bits is `x K_1 + y K_2 + x y K_3`, where `x = X^a - 1` and `y = X^b - 1` have no value above 2, and mean
//! squares of 2: it is at most 8 times as large as the three, and has 8 times their variance. Three products, sums and values of
//! monomials round it, each within `8u`, and by the variance of two layers or so.

use crate::roots::torus::TorusFft;
use crate::torus::word::Torus;
use crate::torus_products::product::{Grouping, KeyShape};

/// The relative error of one rounding.
const UNIT: f64 = f64::EPSILON / 2.0;

/// The relative variance that a layer adds, in units of the square of [`UNIT`].
const LAYER_VARIANCE: f64 = 0.5;

impl TorusFft {
    /// No coefficient of an external product by matrices of this shape is farther from the exact one, in steps of `1/q`: see
    /// the [module](crate::torus_products::bound).
    #[must_use]
    pub fn error_bound<T: Torus>(&self, shape: &KeyShape) -> f64 {
        let (rows, points) = (shape.digits() as f64, self.points() as f64);
        let layers = points.log2();
        let largest = f64::from(T::BITS + shape.gadget.log_base() - 1).exp2();
        let (factor, more) = match shape.grouping {
            Grouping::Single => (1.0, 0.0),
            Grouping::Pair => (8.0, 24.0),
        };
        factor * rows * points.powf(1.5) * largest * (18.0 * layers + 3.0 * rows + 5.0 + more) * UNIT + 0.5
    }

    /// The standard deviation of the error of a coefficient of an external product, in steps of `1/q`; see [`deviation`].
    #[must_use]
    pub fn error_deviation<T: Torus>(&self, shape: &KeyShape) -> f64 {
        deviation(self.degree(), (shape.digits(), shape.grouping), T::BITS + shape.gadget.log_base())
    }
}

/// The standard deviation of the error of a coefficient of a sum of `terms` products of degree N, in steps of `1/q`, for keys
/// and digits that look random, of `log_size = log2 qB` bits together: see the [module](self). The rounding to words is not in
/// it.
#[must_use]
pub fn deviation(degree: usize, (rows, grouping): (usize, Grouping), log_size: u32) -> f64 {
    let layers = libm::log2((degree / 2) as f64);
    let size = libm::exp2(f64::from(log_size)) / 12.0;
    let (variance, more) = match grouping {
        Grouping::Single => (1.0, 0.0),
        Grouping::Pair => (8.0, 2.0),
    };
    let layers = LAYER_VARIANCE * (3.0 * (layers + 1.0) + more);
    (variance * (rows * degree) as f64).sqrt() * size * UNIT * layers.sqrt()
}
