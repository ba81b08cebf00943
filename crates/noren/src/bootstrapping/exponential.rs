//! The complex exponential by a Chebyshev series and squarings.

use std::f64::consts::TAU;

use noren_rlwe::error::{Error, Result};
use num_complex::Complex64;

use crate::bootstrapping::minimax::best;
use crate::circuits::approx::interpolate;

/// `exp(2 pi i K u)` for real u in `[-1, 1]`: a polynomial `E_0(u)` for `exp(i w u)`, `w = 2 pi K / 2^r`, squared r
/// times.
///
/// The coefficients of the Chebyshev series are Bessel functions (Jacobi and Anger): `a_0 = J_0(w)`,
/// `a_{2m} = 2 (-1)^m J_{2m}(w)` and `a_{2m+1} = 2 i (-1)^m J_{2m+1}(w)`. Here they come from interpolating cosine and
/// sine, which agrees to `2^-48`. A squaring doubles an error, since `|E| = 1`; the double-angle formula of a
/// cosine would let it grow up to four times.
///
/// The modular reduction needs it [near integers](Self::near_integers) `K u` alone, where a polynomial of fewer degrees is as
/// near. Source: Han and Ki, eprint 2019/688, section 4, and Lee, Lee, Lee, Kim, Kim and No, eprint 2020/552.
#[derive(Debug, Clone, PartialEq)]
pub struct Exponential {
    half_width: f64,
    doublings: u32,
    coefficients: Vec<Complex64>,
    truncation: f64,
}

/// The points of the interpolation. The series converges like `(e w / 2k)^k`, so that at `w <= 16` what is left out
/// after `POINTS` terms is far below the last bit.
const POINTS: usize = 128;

/// The largest frequency w.
const MAX_FREQUENCY: f64 = 16.0;

/// The most doublings.
const MAX_DOUBLINGS: u32 = 30;

/// The largest degree: as much below [`POINTS`] as the measure of the truncation needs.
const MAX_DEGREE: usize = 63;

/// Points on each side of an integer. Between two of them an error like `T_4`, which has more extremes than there are beside
/// one integer, changes by less than `(4 / 64)^2 / 2`, a part of [`GRID_ROOM`].
const GRID: i32 = 32;

/// By what part an error may be larger than on the grid.
const GRID_ROOM: f64 = 1.0 + 1.0 / 256.0;

/// Errors below this are not told from those of the numbers, which are sums of products of size 1.
const ROUNDING: f64 = 1.0 / (1_u64 << 46) as f64;

impl Exponential {
    /// The series of this degree for `exp(2 pi i K u / 2^r)`, K the half-width and r the doublings.
    ///
    /// # Errors
    /// Too few doublings: `2 pi K / 2^r` is at most 16; too many: r is at most 30. A degree above 63.
    pub fn new(half_width: f64, doublings: u32, degree: usize) -> Result<Self> {
        if doublings > MAX_DOUBLINGS {
            return Err(Error::parameter("doublings", doublings, format!("at most {MAX_DOUBLINGS}")));
        }
        let frequency = TAU * half_width / f64::from(1_u32 << doublings);
        if !frequency.is_finite() || frequency.abs() > MAX_FREQUENCY {
            let found = format!("{doublings}, for an exponential of {half_width} turns");
            return Err(Error::parameter(
                "doublings",
                found,
                format!("such that 2^doublings is at least 2 pi / {MAX_FREQUENCY} turns"),
            ));
        }
        if degree > MAX_DEGREE {
            return Err(Error::parameter("degree", degree, format!("at most {MAX_DEGREE}")));
        }
        let even = interpolate(&|u| libm::cos(frequency * u), [-1.0, 1.0], POINTS)?;
        let odd = interpolate(&|u| libm::sin(frequency * u), [-1.0, 1.0], POINTS)?;
        let coefficient =
            |k: usize| if k.is_multiple_of(2) { Complex64::from(even[k]) } else { Complex64::new(0.0, odd[k]) };
        let mut coefficients: Vec<Complex64> = (0..POINTS).map(coefficient).collect();
        let truncation = coefficients.drain(degree + 1..).map(|c| c.norm()).sum();
        Ok(Self { half_width, doublings, coefficients, truncation })
    }

    /// The polynomial of this degree that is nearest to `exp(2 pi i K u / 2^r)` where `K u` is within `room` of an integer of
    /// the `interval`, `K = interval + room`: even and odd parts are best approximations there. Where the [series](Self::new)
    /// is as near, and where there are more integers on one side than degrees, it is that one.
    ///
    /// # Errors
    /// As [`Exponential::new`].
    pub fn near_integers(interval: u32, room: f64, doublings: u32, degree: usize) -> Result<Self> {
        let series = Self::new(f64::from(interval) + room, doublings, degree)?;
        if interval as usize > degree {
            return Ok(series);
        }
        let offsets = (-GRID..=GRID).map(|i| room * f64::from(i) / f64::from(GRID));
        let points = (0..=interval).flat_map(|turns| offsets.clone().map(move |offset| f64::from(turns) + offset));
        // Half of them is enough: odd functions are 0 at 0.
        let points: Vec<f64> = points.map(|turns| turns / series.half_width).filter(|&u| u > 0.0).collect();
        let frequency = TAU * series.half_width / f64::from(1_u32 << doublings);
        let part = |odd: usize, function: fn(f64) -> f64| {
            let rows: Vec<Vec<f64>> =
                points.iter().map(|&u| (odd..=degree).step_by(2).map(|k| chebyshev(k, u)).collect()).collect();
            let values: Vec<f64> = points.iter().map(|u| function(frequency * u)).collect();
            best(&rows, &values)
        };
        let (Some((even, cosine)), Some((odd, sine))) = (part(0, libm::cos), part(1, libm::sin)) else {
            return Ok(series);
        };
        let error = GRID_ROOM * (cosine * cosine + sine * sine).sqrt() + ROUNDING;
        if error >= series.truncation {
            return Ok(series);
        }
        let coefficient = |k: usize| match k % 2 {
            0 => Complex64::from(even[k / 2]),
            _ => Complex64::new(0.0, odd[k / 2]),
        };
        Ok(Self { coefficients: (0..=degree).map(coefficient).collect(), truncation: error, ..series })
    }

    /// K: the exponential has the period `1 / K`.
    #[must_use]
    pub const fn half_width(&self) -> f64 {
        self.half_width
    }

    /// r: how often the polynomial is squared.
    #[must_use]
    pub const fn doublings(&self) -> u32 {
        self.doublings
    }

    /// The Chebyshev coefficients of `E_0`, lowest first: real for even k, imaginary for odd k.
    #[must_use]
    pub fn coefficients(&self) -> &[Complex64] {
        &self.coefficients
    }

    /// The coefficients `a_k` of `E_0 = sum a_k i^k T_k`, lowest first: real.
    #[must_use]
    pub fn turned_coefficients(&self) -> Vec<f64> {
        let turned = |(k, c): (usize, &Complex64)| if k.is_multiple_of(2) { c.re } else { c.im };
        // i^k is 1, i, -1, -i.
        let sign = |k: usize| if k % 4 < 2 { 1.0 } else { -1.0 };
        self.coefficients.iter().enumerate().map(|(k, c)| sign(k) * turned((k, c))).collect()
    }

    /// A bound on `|E_0(u) - exp(i w u)|`: in `[-1, 1]` the sum of the coefficients that are left out, or the largest error
    /// [near integers](Self::near_integers). The squarings multiply it by `2^r`.
    #[must_use]
    pub const fn truncation(&self) -> f64 {
        self.truncation
    }

    /// A bound on the error after the squarings where `K u` is within `room` of an integer of the `interval`, which
    /// [`Exponential::near_integers`] need not be made for.
    ///
    /// The error before the squarings is measured on a grid. It is that of a polynomial of degree 64, but for what rounding
    /// hides: by Markov's inequality it changes by less than `64^2 / K` times its maximum on a turn, and so by less than 1/16 of
    /// that between a point and the nearest one of the grid.
    #[must_use]
    pub fn error_around(&self, interval: u32, room: f64) -> f64 {
        /// Points in `[0, 1]`, which are K turns.
        const POINTS: f64 = 32768.0;
        const BETWEEN: f64 = 1.0 + 1.0 / 16.0;
        let points = libm::ceil(POINTS * room / self.half_width) as i32;
        let frequency = TAU * self.half_width / libm::exp2(f64::from(self.doublings));
        let at = |turns: f64| {
            let u = turns / self.half_width;
            (self.before_squarings(u) - Complex64::cis(frequency * u)).norm()
        };
        let offsets = || (-points..=points).map(|i| room * f64::from(i) / f64::from(points.max(1)));
        // Both parts of the polynomial are odd or even.
        let turns = (0..=interval).flat_map(|turns| offsets().map(move |offset| f64::from(turns) + offset));
        let worst = turns.fold(0.0, |worst: f64, turns| worst.max(at(turns)));
        // Each squaring takes an error e to less than 2 e + e^2.
        (0..self.doublings).fold(BETWEEN * worst + ROUNDING, |e, _| e * (2.0 + e))
    }

    /// The levels that it uses: those of the polynomial, and one for each squaring.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.coefficients.len().next_power_of_two().ilog2() as usize + self.doublings as usize
    }

    /// The value at a number in clear, by squarings of `E_0`.
    #[must_use]
    pub fn at(&self, u: f64) -> Complex64 {
        (0..self.doublings).fold(self.before_squarings(u), |e, _| e * e)
    }

    /// The value of `E_0`, by Clenshaw's scheme.
    fn before_squarings(&self, u: f64) -> Complex64 {
        let (first, rest) = self.coefficients.split_first().unwrap_or((&Complex64::ONE, &[]));
        let zero = (Complex64::ZERO, Complex64::ZERO);
        let (b1, b2) = rest.iter().rev().fold(zero, |(b1, b2), c| (c + b1 * (2.0 * u) - b2, b1));
        first + b1 * u - b2
    }
}

/// `T_k(u)` in `[-1, 1]`.
fn chebyshev(k: usize, u: f64) -> f64 {
    libm::cos(k as f64 * libm::acos(u))
}
