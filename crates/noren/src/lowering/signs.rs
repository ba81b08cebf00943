//! Signs of real numbers, by polynomials one after the other.

use noren_rlwe::error::{Error, Result};

use crate::bootstrapping::minimax;
use crate::circuits::approx::interpolate;
use crate::circuits::polynomial::Polynomial;

/// Polynomials whose composition is near to the sign of `x` for `delta <= |x| <= 1`, and within `[-1, 1]` below. Those of products
/// are near beyond 1 too, by [`Signs::SLACK`], so that errors of `x` lead nowhere else.
///
/// Each is the best odd polynomial of its degree for the sign on the interval that the one before leaves, scaled so that
/// results stay within `[-1, 1]` (Lee, Lee, No, Kim, "Minimax approximation of sign function by composite polynomial for
/// homomorphic comparison", eprint 2020/834).
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Signs {
    stages: Vec<Polynomial>,
    error: f64,
    /// The largest `|x|`.
    reach: f64,
}

/// The degree of each polynomial: of depth 4, which no other degree up to it lacks.
const DEGREE: usize = 15;

/// The most polynomials: `delta` is above `2^-40` then.
const MOST_STAGES: usize = 24;

/// The `delta` that is tried first for products, in errors: they are seldom within the error for a larger one.
const FIRST_TRIED: f64 = 4.0;

/// The fewest and the most points on which a polynomial is fitted and measured, more for intervals that begin near zero: there
/// polynomials are off by nearly 1, and what is allowed between points must not lead beyond.
const FEWEST_POINTS: usize = 256;
const MOST_POINTS: usize = 1 << 15;

/// Points on which products are measured.
const PRODUCT_POINTS: usize = 1 << 13;

/// Polynomials are fitted from here on at least: on a shorter interval they would not be determined to double precision.
const LATEST_START: f64 = 0.9;

/// The distance below which rounding hides what a polynomial reaches.
const LEAST_DISTANCE: f64 = 1e-11;

impl Signs {
    /// The polynomials for numbers from `delta` to 1 in absolute value, within `error`.
    ///
    /// # Errors
    /// A `delta` that is not between 0 and 1, an error that is not positive, and what 24 polynomials do not reach.
    pub(crate) fn new(delta: f64, error: f64) -> Result<Self> {
        Self::up_to(1.0, delta, error)
    }

    /// Those up to a number that may be larger than 1.
    fn up_to(reach: f64, delta: f64, error: f64) -> Result<Self> {
        if !(delta > 0.0 && delta < 1.0 && error > 0.0) {
            let found = format!("{delta} with an error of {error}");
            return Err(Error::parameter("dead zone", found, "between 0 and the largest difference; a positive error"));
        }
        let (mut stages, mut from) = (Vec::new(), delta / reach);
        while stages.len() < MOST_STAGES {
            let (polynomial, distance) = Self::stage(from)?;
            stages.push(if stages.is_empty() { stretched(polynomial, reach)? } else { polynomial });
            from = (1.0 - distance) / (1.0 + distance);
            if 1.0 - from <= error {
                return Ok(Self { stages, error: 1.0 - from, reach });
            }
        }
        let needed = format!("at least {:.1e}, which {MOST_STAGES} polynomials reach", 1.0 - from);
        Err(Error::parameter("error of signs", error, needed))
    }

    /// By how much more than 1 numbers may be that signs are multiplied with: their errors.
    pub(crate) const SLACK: f64 = 1.0 / 32.0;

    /// The polynomials for `x sign(x)` and for the larger of two, whose error is at most `error` for all `|x| <= 1 + SLACK`.
    ///
    /// # Errors
    /// As [`Signs::new`].
    pub(crate) fn of_products(error: f64) -> Result<Self> {
        // Below delta an absolute value is off by less than delta, and at most by about a third of it.
        let mut delta = (FIRST_TRIED * error).min(0.5);
        loop {
            let signs = Self::up_to(1.0 + Self::SLACK, delta, error / 2.0)?;
            if signs.product_error() <= error || delta < error {
                return Ok(signs);
            }
            delta /= 1.25;
        }
    }

    /// The polynomials, the first first.
    pub(crate) fn stages(&self) -> &[Polynomial] {
        &self.stages
    }

    /// How far results are from the sign at most, from `delta` on.
    pub(crate) const fn error(&self) -> f64 {
        self.error
    }

    /// The levels of all polynomials.
    #[cfg(test)]
    fn depth(&self) -> usize {
        self.stages.iter().map(Polynomial::depth).sum()
    }

    /// The result for a number in clear.
    pub(crate) fn at(&self, x: f64) -> f64 {
        self.stages.iter().fold(x, |x, stage| stage.at(x))
    }

    /// The largest distance of `x s(x)` from `|x|`.
    pub(crate) fn product_error(&self) -> f64 {
        let points = PRODUCT_POINTS;
        // Half of the points near zero, where the distance is largest.
        let point = |k: usize| self.reach * libm::exp2(-40.0 * (1.0 - k as f64 / points as f64));
        let even = |k: usize| self.reach * k as f64 / points as f64;
        let distance = |x: f64| (x - x * self.at(x)).abs();
        let largest = (0..=points).flat_map(|k| [point(k), even(k)]).map(distance).fold(0.0, f64::max);
        // Between points the argument changes by less than 2^(40 / 8192), and the distance by less than that part.
        largest * 1.02
    }

    /// The best polynomial from here to 1, scaled, and the distance that it was scaled by.
    fn stage(from: f64) -> Result<(Polynomial, f64)> {
        let terms = DEGREE.div_ceil(2);
        let from = from.min(LATEST_START);
        let row = |x: f64| -> Vec<f64> {
            let angle = libm::acos(x);
            (0..terms).map(|k| libm::cos((2 * k + 1) as f64 * angle)).collect()
        };
        // The Chebyshev points of the interval, in ascending order.
        let (middle, half) = (f64::midpoint(from, 1.0), (1.0 - from) / 2.0);
        let count = ((32.0 / from.sqrt()) as usize).clamp(FEWEST_POINTS, MOST_POINTS);
        let angle = |k: usize| std::f64::consts::PI * k as f64 / count as f64;
        let points: Vec<f64> = (0..=count).map(|k| (middle - half * libm::cos(angle(k))).clamp(from, 1.0)).collect();
        let rows: Vec<Vec<f64>> = points.iter().map(|&x| row(x)).collect();
        let refused = || Error::parameter("dead zone", from, "far enough from 0 and from 1 for double precision");
        let (coefficients, distance) = minimax::best(&rows, &vec![1.0; rows.len()]).ok_or_else(refused)?;
        // Between the points it is at most so much larger (Ehlich and Zeller, "Schwankung von Polynomen zwischen
        // Gitterpunkten", 1964).
        let between = libm::cos(angle(1) * DEGREE as f64 / 2.0);
        let distance = (distance / between).max(LEAST_DISTANCE);
        if distance >= 1.0 {
            return Err(refused());
        }
        let mut all = vec![0.0; DEGREE + 1];
        coefficients.iter().enumerate().for_each(|(k, c)| all[2 * k + 1] = c / (1.0 + distance));
        Ok((Polynomial::chebyshev(all)?, distance))
    }
}

/// `p(x / reach)` for an odd polynomial.
fn stretched(polynomial: Polynomial, reach: f64) -> Result<Polynomial> {
    if reach == 1.0 {
        return Ok(polynomial);
    }
    let mut coefficients = interpolate(&|x: f64| polynomial.at(x / reach), [-1.0, 1.0], DEGREE + 1)?;
    coefficients.iter_mut().step_by(2).for_each(|c| *c = 0.0);
    Polynomial::chebyshev(coefficients)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_are_within_their_error_and_never_leave_the_interval() {
        for (delta, error) in [(0.1, 1e-3), (1.0 / 128.0, 1e-6), (1e-3, 1e-2), (2e-5, 1e-2)] {
            let signs = Signs::new(delta, error).expect("signs");
            assert!(signs.error() <= error && signs.depth() <= 28, "{}", signs.depth());
            for k in 0..=10_000 {
                let x = f64::from(k) / 10_000.0;
                let y = signs.at(x);
                assert!(y.abs() <= 1.0 + 1e-9 && signs.at(-x) == -y, "{x}: {y}");
                assert!(x < delta || (1.0 - y).abs() <= signs.error(), "{x}: {y}");
            }
        }
    }

    #[test]
    fn absolute_values_are_within_their_error_everywhere() {
        for error in [0.05, 1e-2, 1e-3] {
            let signs = Signs::of_products(error).expect("signs");
            let largest = signs.product_error();
            assert!(largest <= error, "{error}: {largest}");
            for k in 0..=20_000 {
                let x = (1.0 + Signs::SLACK) * f64::from(k) / 20_000.0;
                assert!((x - x * signs.at(x)).abs() <= largest, "{error} at {x}");
            }
        }
    }

    #[test]
    fn what_cannot_be_is_refused() {
        assert!(Signs::new(0.0, 0.1).is_err() && Signs::new(1.0, 0.1).is_err() && Signs::new(0.1, 0.0).is_err());
    }
}
