//! How errors over the torus are drawn.

use std::fmt;

use noren_math::random::Xof;
use noren_math::torus_sample;

/// `2^64` squared: variances in words to variances of the circle.
const CIRCLE_SQUARED: f64 = 3.402_823_669_209_385e38;

/// A distribution of errors. Deviations and variances are in units of the circle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TorusNoise {
    /// Normal, of this standard deviation, rounded to words of 64 bits.
    Gaussian(f64),
    /// Uniform on `[-2^b, 2^b]` words of 64 bits, the ends with half the weight of the others.
    TUniform(u32),
}

impl TorusNoise {
    /// The variance.
    #[must_use]
    pub fn variance(self) -> f64 {
        match self {
            Self::Gaussian(deviation) => deviation * deviation,
            Self::TUniform(bits) => (libm::exp2(f64::from(2 * bits + 1)) + 1.0) / 6.0 / CIRCLE_SQUARED,
        }
    }

    /// The standard deviation.
    #[must_use]
    pub fn deviation(self) -> f64 {
        self.variance().sqrt()
    }

    /// Fills `out` with samples.
    ///
    /// # Panics
    /// If the width is not one that parameters may have.
    pub fn sample(self, xof: &mut Xof, out: &mut [u64]) {
        match self {
            Self::Gaussian(deviation) => torus_sample::gaussian(xof, deviation, out),
            Self::TUniform(bits) => torus_sample::tuniform(xof, bits, out),
        }
    }
}

impl fmt::Display for TorusNoise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gaussian(deviation) => write!(f, "Gaussian 2^{:.2}", libm::log2(*deviation)),
            Self::TUniform(bits) => write!(f, "TUniform({bits})"),
        }
    }
}
