//! The exponential by Taylor's series and squarings, and the errors that it leaves.

use std::f64::consts::{LN_2, TAU};

use num_complex::Complex64;

use crate::bootstrapping::failure::log2_tail;

/// The degree of the polynomial.
pub const DEGREE: usize = 7;

/// The levels that the polynomial takes.
pub const DEPTH: usize = 3;

/// `exp(2 pi i x)` as `(sum_{k <= 7} (i y)^k / k!)^(2^r)` with `y = 2 pi x / 2^r`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaylorExponential {
    doublings: u32,
}

impl TaylorExponential {
    /// With r squarings.
    #[must_use]
    pub const fn new(doublings: u32) -> Self {
        Self { doublings }
    }

    /// r: how often the polynomial is squared.
    #[must_use]
    pub const fn doublings(self) -> u32 {
        self.doublings
    }

    /// `i^k / k!`, k = 0 .. 7.
    #[must_use]
    pub fn coefficients(self) -> [Complex64; DEGREE + 1] {
        let mut coefficients = [Complex64::ONE; DEGREE + 1];
        for k in 1..=DEGREE {
            coefficients[k] = coefficients[k - 1] * Complex64::I / k as f64;
        }
        coefficients
    }

    /// The value at x turns, before the squarings.
    #[must_use]
    pub fn polynomial(self, turns: f64) -> Complex64 {
        let y = TAU * turns / libm::exp2(f64::from(self.doublings));
        self.coefficients().iter().rev().fold(Complex64::ZERO, |sum, c| sum * y + c)
    }

    /// The value at x turns.
    #[must_use]
    pub fn at(self, turns: f64) -> Complex64 {
        (0..self.doublings).fold(self.polynomial(turns), |e, _| e * e)
    }

    /// How far the imaginary part over 2 pi is from that of the true exponential, for numbers of up to `bound` turns.
    ///
    /// With `y = 2 pi x / 2^r`, the polynomial is `exp(iy) (1 + a + i b)` with `|a| <= y^8 / 8!` and
    /// `|b| <= y^9 (1/8! - 1/9!)` up to a part of `y^2`, and powers multiply both by `2^r`. At x a little beside a whole number,
    /// by at most `excess`, the first counts times its sine.
    #[must_use]
    pub fn error(self, bound: f64, excess: f64) -> f64 {
        /// The bound of the next terms of the series, and of those of higher order in a and b: they are a part of y^2 / 90 at most.
        const ROOM: f64 = 1.0 + 1.0 / 16.0;
        let squarings = libm::exp2(f64::from(self.doublings));
        let y = TAU * bound / squarings;
        let eighth = libm::pow(y, 8.0) / 40_320.0;
        let (size, phase) = (eighth, eighth * y * 8.0 / 9.0);
        ROOM * squarings * (size * TAU * excess + phase) / TAU
    }

    /// A bound on the sum of [`error`](Self::error) over `count` numbers `I + v`, `|v| <= excess`, where the I are sums of
    /// `weight` uniform numbers rounded: it is exceeded with probability below `2^-40`, but for numbers with `|I| > interval`.
    ///
    /// By Chernoff's inequality, `(N ln E exp(t error) + 40 ln 2) / t` is such a bound for every t > 0; the smallest of some is
    /// taken. The I are taken for independent.
    #[must_use]
    pub fn total_error(self, weight: u32, interval: u32, excess: f64, count: usize) -> f64 {
        const PROBABILITY_BITS: f64 = 40.0;
        let tail = |bound: f64| if bound <= 0.0 { 1.0 } else { libm::exp2(log2_tail(weight, bound)) };
        let terms: Vec<(f64, f64)> = (0..=interval)
            .map(|i| {
                let i = f64::from(i);
                ((tail(i - 0.5) - tail(i + 0.5)).max(0.0), self.error(i + excess, excess))
            })
            .collect();
        let largest = terms.iter().map(|&(_, error)| error).fold(0.0, f64::max);
        let bound = |t: f64| {
            let moment: f64 = terms.iter().map(|&(p, error)| p * libm::expm1(t * error / largest)).sum();
            (count as f64 * libm::log1p(moment) + PROBABILITY_BITS * LN_2) * largest / t
        };
        // Steps of a quarter of a bit: the bound is within a few hundredths of the best one.
        (-40..40).map(|step| bound(libm::exp2(f64::from(step) / 4.0))).fold(f64::INFINITY, f64::min)
    }
}
