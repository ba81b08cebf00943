//! The sine series that undoes the sine: a message from its complex exponential.

use std::f64::consts::TAU;

use noren_rlwe::error::{Error, Result};
use num_complex::Complex64;

/// `a sin t + b sin 2t`, as near as it can be to t on `|t| <= 2 pi / rho`.
///
/// With `E = exp(2 pi i (I + z / rho))`, I an integer and `|z| <= 1`, and `c = a / b`, up to the error of the series
/// `z = rho b / (2 pi) Im(E (E + c))`:
/// one product gives the message, and all real factors go into its scale. The Taylor series, `a = 4/3` and `b = -1/6`,
/// has the error `t^5 / 30`; the best a and b move that curve between its bounds like the Chebyshev polynomial `T_5`,
/// which makes it 16 times smaller.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SineSeries {
    ratio: f64,
    sine: f64,
    double: f64,
    error: f64,
}

/// The smallest ratio rho: the error is `2^-14` there, and the error curve is still that of `T_5`.
const MIN_RATIO: f64 = 16.0;

/// The largest ratio rho: beyond, rounding hides the error curve.
const MAX_RATIO: f64 = 1024.0;

/// The points of the grid on which the error is measured. Between two of them a curve like `T_5` changes by less than
/// `(5 pi / 2^12)^2 / 2 < 2^-17` of its maximum.
const GRID: usize = 1 << 12;

/// Rounds of Remez's exchange; each squares the distance from the best series, and the start is within a few percent.
const ROUNDS: usize = 6;

impl SineSeries {
    /// The levels that it uses.
    pub const DEPTH: usize = 1;

    /// The best series for the ratio `rho` between the modulus and the largest message, by Remez's exchange.
    ///
    /// # Errors
    /// A ratio that is not between 16 and 1024.
    pub fn fit(ratio: f64) -> Result<Self> {
        if !(MIN_RATIO..=MAX_RATIO).contains(&ratio) {
            return Err(Error::parameter("ratio", ratio, format!("{MIN_RATIO} to {MAX_RATIO}")));
        }
        let end = TAU / ratio;
        // The extremes of T_5 from 0 up, and between them its zeros, which the exchange does not cross.
        let fifth = |k: f64| libm::cos(k * std::f64::consts::PI / 10.0);
        let mut extremes = [fifth(4.0), fifth(2.0), 1.0].map(|x| x * end);
        let zeros = [0.0, fifth(3.0), fifth(1.0), 1.0].map(|x| (x * GRID as f64) as usize);
        let mut series = Self { ratio, sine: 0.0, double: 0.0, error: 0.0 };
        for _ in 0..ROUNDS {
            (series.sine, series.double) = alternating(extremes);
            for (i, extreme) in extremes.iter_mut().enumerate() {
                let points = (zeros[i]..=zeros[i + 1]).map(|j| end * j as f64 / GRID as f64);
                let worst = points.max_by(|&a, &b| series.residual(a).abs().total_cmp(&series.residual(b).abs()));
                *extreme = worst.unwrap_or(*extreme);
            }
        }
        let grid = (0..=GRID).map(|j| series.residual(end * j as f64 / GRID as f64).abs() / end);
        Ok(Self { error: grid.fold(0.0, f64::max), ..series })
    }

    /// rho: the modulus over the largest message.
    #[must_use]
    pub const fn ratio(&self) -> f64 {
        self.ratio
    }

    /// a: the coefficient of `sin t`.
    #[must_use]
    pub const fn sine(&self) -> f64 {
        self.sine
    }

    /// b: the coefficient of `sin 2t`, negative.
    #[must_use]
    pub const fn double(&self) -> f64 {
        self.double
    }

    /// `c = a / b`: what is added to E before the product.
    #[must_use]
    pub fn shift(&self) -> f64 {
        self.sine / self.double
    }

    /// The largest error of a message z with `|z| <= 1`.
    #[must_use]
    pub const fn error(&self) -> f64 {
        self.error
    }

    /// The factor `rho b / (2 pi)` between a message and `Im(E (E + c))`.
    #[must_use]
    pub fn factor(&self) -> f64 {
        self.ratio * self.double / TAU
    }

    /// z from `E = exp(2 pi i (I + z / rho))`, in clear.
    #[must_use]
    pub fn message(&self, e: Complex64) -> f64 {
        self.factor() * (e * (e + self.shift())).im
    }

    fn residual(&self, t: f64) -> f64 {
        self.sine * libm::sin(t) + self.double * libm::sin(2.0 * t) - t
    }
}

/// The a and b whose error `a sin t + b sin 2t - t` has the same size and alternating signs at three points.
///
/// Since `sin 2t = 2 sin t cos t`, dividing by `sin t` leaves `a + 2 b cos t + (-1)^i e / sin t = t / sin t`;
/// differences remove a and then b.
fn alternating(points: [f64; 3]) -> (f64, f64) {
    let signs = [1.0, -1.0, 1.0];
    let sines = points.map(libm::sin);
    // 1 - cos t and t / sin t - 1, without cancellation.
    let versines = points.map(|t| 2.0 * libm::sin(t / 2.0) * libm::sin(t / 2.0));
    let excess = points.map(|t| (t - libm::sin(t)) / libm::sin(t));
    let slope = |i: usize, j: usize| {
        let across = -2.0 * (versines[j] - versines[i]);
        ((excess[j] - excess[i]) / across, (signs[j] / sines[j] - signs[i] / sines[i]) / across)
    };
    // b + e v = u over two pairs of points.
    let ((u, v), (u2, v2)) = (slope(0, 1), slope(1, 2));
    let error = (u2 - u) / (v2 - v);
    let double = u - error * v;
    let sine = 1.0 + excess[2] - error * signs[2] / sines[2] - 2.0 * double * (1.0 - versines[2]);
    (sine, double)
}
