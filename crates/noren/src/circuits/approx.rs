//! Polynomials close to a function, by interpolation in clear.

use noren_ring::interrupt;
use noren_rlwe::error::{Error, Result};

use crate::circuits::polynomial::{Polynomial, to_unit};
use crate::schemes::error::SlotError;
use crate::schemes::slots::SlotEvaluator;

/// A polynomial that stands for a function on an interval, and how far it is off.
///
/// `f(x)` is about `polynomial((2 x - a - b) / (b - a))` for `x` in `[a, b]`, within [`error`](Self::error).
/// Outside the interval it is nowhere near.
///
/// # Examples
/// ```
/// use noren::circuits::approx::Approximation;
///
/// let sigmoid = Approximation::sigmoid(8.0, 1e-6)?;
/// assert!((sigmoid.at(2.0) - 1.0 / (1.0 + (-2.0_f64).exp())).abs() < 1e-6);
/// # Ok::<(), noren::error::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Approximation {
    polynomial: Polynomial,
    interval: [f64; 2],
    error: f64,
}

/// The largest degree that is tried: [`Polynomial::depth`] is 10 there.
const LARGEST_DEGREE: usize = 1023;

/// Coefficients below this part of the largest are rounding errors of the interpolation, and are made zero.
const NEGLIGIBLE: f64 = 1.0 / (1_u64 << 50) as f64;

/// Points of the grid on which the error is measured, for each degree.
const GRID_PER_DEGREE: usize = 64;

/// The step between the points of the grid that are looked at first.
const SPARSE: usize = 16;

/// Allowance for what lies between the points of the grid. An error curve whose parts have degrees up to `4 (d + 1)`
/// changes by at most `(4 pi / (2 * 64))^2 / 2 = 0.5 %` of its maximum between two points.
const GRID_ALLOWANCE: f64 = 1.01;

/// Where the sigmoid is at most `2^-60`, below everything that an approximation can resolve.
const WIDEST_SIGMOID: f64 = 1e6;

impl Approximation {
    /// The polynomial of this degree that agrees with `f` at the Chebyshev points of the interval.
    ///
    /// Its error is at most `2 + (2 / pi) ln(d + 1)` times that of the best polynomial of the degree.
    ///
    /// # Errors
    /// An interval that is empty or not finite; a degree above 1023; a function that is not finite at a point.
    pub fn new(f: impl Fn(f64) -> f64, interval: [f64; 2], degree: usize) -> Result<Self> {
        check_degree(degree)?;
        let all = interpolate(&f, interval, degree + 1)?;
        let largest = all.iter().fold(0.0_f64, |m, c| m.max(c.abs()));
        Ok(Self::of(&f, interval, Polynomial::chebyshev(truncated(all, largest))?))
    }

    /// The polynomial of least degree whose error on the interval is at most `error`.
    ///
    /// # Errors
    /// As [`new`](Self::new); an error that is not positive, or smaller than degree 1023 can reach.
    pub fn with_error(f: impl Fn(f64) -> f64, interval: [f64; 2], error: f64) -> Result<Self> {
        if !(error > 0.0 && error.is_finite()) {
            let needed = "a positive number".to_owned();
            return Err(Error::parameter("approximation error", error, needed));
        }
        // The series of the largest degree, cut off at every degree below, gives near-best polynomials.
        let series = interpolate(&f, interval, LARGEST_DEGREE + 1)?;
        let tail = |degree: usize| series[degree + 1..].iter().map(|c| c.abs()).sum::<f64>();
        let largest = series.iter().fold(0.0_f64, |m, c| m.max(c.abs()));
        // The error is at most the sum of what was cut off, and seldom below a quarter of it.
        let mut degree = (0..=LARGEST_DEGREE).find(|&d| tail(d) <= 4.0 * error).unwrap_or(LARGEST_DEGREE);
        // Where the last one was too far off: most often the next one is, too.
        let mut off_at = None;
        loop {
            let polynomial = Polynomial::chebyshev(truncated(series[..=degree].to_vec(), largest))?;
            // A few points of the grid refuse most degrees.
            let is_off = |&t: &f64| GRID_ALLOWANCE * distance(&f, interval, &polynomial, t) > error;
            if degree < LARGEST_DEGREE {
                off_at = off_at.filter(&is_off).or_else(|| grid(polynomial.degree(), SPARSE).find(&is_off));
                if off_at.is_some() {
                    degree += 1;
                    continue;
                }
            }
            let found = Self::of(&f, interval, polynomial);
            if found.error <= error {
                return Ok(found);
            }
            if degree == LARGEST_DEGREE {
                let needed = format!("at least {:.1e}, which degree {LARGEST_DEGREE} reaches", found.error);
                return Err(Error::parameter("approximation error", error, needed));
            }
            degree += 1;
        }
    }

    /// The logistic function `1 / (1 + e^-x)` on `[-half_width, half_width]`, within `error`.
    ///
    /// Apart from its constant the polynomial is odd, which makes it cheaper.
    ///
    /// # Errors
    /// As [`with_error`](Self::with_error); a half-width that is not positive or above a million.
    pub fn sigmoid(half_width: f64, error: f64) -> Result<Self> {
        check_half_width(half_width)?;
        Self::with_error(sigmoid, [-half_width, half_width], error)
    }

    /// The logistic function by a polynomial of this degree.
    ///
    /// # Errors
    /// As [`new`](Self::new); a half-width that is not positive or above a million.
    pub fn sigmoid_of_degree(half_width: f64, degree: usize) -> Result<Self> {
        check_half_width(half_width)?;
        Self::new(sigmoid, [-half_width, half_width], degree)
    }

    /// The polynomial, on `[-1, 1]`.
    #[must_use]
    pub const fn polynomial(&self) -> &Polynomial {
        &self.polynomial
    }

    /// Where the polynomial stands for the function.
    #[must_use]
    pub const fn interval(&self) -> [f64; 2] {
        self.interval
    }

    /// The largest distance from the function, measured on a grid of 64 points for each degree, plus one per cent.
    #[must_use]
    pub const fn error(&self) -> f64 {
        self.error
    }

    /// The levels that [`evaluate`](Self::evaluate) uses; one less if the slots already lie in `[-1, 1]`.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.polynomial.depth() + 1
    }

    /// The approximate value at a number in clear.
    #[must_use]
    pub fn at(&self, x: f64) -> f64 {
        let [a, b] = self.interval;
        self.polynomial.at((2.0 * x - a - b) / (b - a))
    }

    /// The approximate function of every slot.
    ///
    /// # Errors
    /// As [`Polynomial::evaluate`].
    pub fn evaluate<E: SlotEvaluator<Scalar = f64>>(&self, ev: &E, x: &E::Ciphertext) -> Result<E::Ciphertext> {
        self.polynomial.evaluate_on(ev, x, self.interval)
    }

    fn of(f: &impl Fn(f64) -> f64, interval: [f64; 2], polynomial: Polynomial) -> Self {
        let distances = grid(polynomial.degree(), 1).map(|t| distance(f, interval, &polynomial, t));
        let error = distances.fold(0.0, f64::max);
        Self { polynomial, interval, error: GRID_ALLOWANCE * error }
    }
}

/// Each `step`-th point of the grid on `[-1, 1]` on which a polynomial of this degree is measured.
fn grid(degree: usize, step: usize) -> impl Iterator<Item = f64> {
    let points = GRID_PER_DEGREE * (degree + 1);
    (0..=points).step_by(step).map(move |j| libm::cos(std::f64::consts::PI * j as f64 / points as f64))
}

/// How far a polynomial on `[-1, 1]` is from the function at a point of it.
fn distance(f: &impl Fn(f64) -> f64, [a, b]: [f64; 2], polynomial: &Polynomial, t: f64) -> f64 {
    interrupt::check();
    (polynomial.at(t) - f(f64::midpoint(a, b) + t * (b - a) / 2.0)).abs()
}

/// The logistic function, without overflow on either side.
#[must_use]
pub fn sigmoid(x: f64) -> f64 {
    let small = libm::exp(-x.abs());
    if x < 0.0 { small / (1.0 + small) } else { 1.0 / (1.0 + small) }
}

/// Chebyshev coefficients of the polynomial through the `points` Chebyshev points of the interval:
/// `c_k = (2 / m) sum_j f(x_j) cos(k (j + 1/2) pi / m)`, half of it for `k = 0`.
///
/// # Errors
/// An interval that is empty or not finite; a function that is not finite at a point.
pub(crate) fn interpolate(f: &impl Fn(f64) -> f64, interval: [f64; 2], points: usize) -> Result<Vec<f64>> {
    to_unit(interval)?;
    let [a, b] = interval;
    // cos(pi r / (2 m)) for all residues r modulo 4 m that occur.
    let period = 4 * points;
    let cosines: Vec<f64> =
        (0..period).map(|r| libm::cos(2.0 * std::f64::consts::PI * r as f64 / period as f64)).collect();
    let values: Vec<f64> = (0..points).map(|j| f(f64::midpoint(a, b) + cosines[2 * j + 1] * (b - a) / 2.0)).collect();
    if let Some((index, &value)) = values.iter().enumerate().find(|(_, value)| !value.is_finite()) {
        return Err(SlotError::NotFinite { index, value }.into());
    }
    let coefficient = |k: usize| {
        interrupt::check();
        let sum: f64 = values.iter().enumerate().map(|(j, v)| v * cosines[k * (2 * j + 1) % period]).sum();
        sum * if k == 0 { 1.0 } else { 2.0 } / points as f64
    };
    Ok((0..points).map(coefficient).collect())
}

/// Makes negligible coefficients zero, so that even and odd functions have even and odd polynomials.
fn truncated(coefficients: Vec<f64>, largest: f64) -> Vec<f64> {
    coefficients.into_iter().map(|c| if c.abs() <= NEGLIGIBLE * largest { 0.0 } else { c }).collect()
}

fn check_degree(degree: usize) -> Result<()> {
    if degree <= LARGEST_DEGREE {
        return Ok(());
    }
    let needed = format!("at most {LARGEST_DEGREE}");
    Err(Error::parameter("degree", degree, needed))
}

fn check_half_width(half_width: f64) -> Result<()> {
    if half_width > 0.0 && half_width <= WIDEST_SIGMOID {
        return Ok(());
    }
    let needed = format!("positive, and at most {WIDEST_SIGMOID:e}");
    Err(Error::parameter("interval", half_width, needed))
}
