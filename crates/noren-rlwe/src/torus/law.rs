//! How much noise the parts of a bootstrap add, and how likely a wrong result is.
//!
//! All variances are in units of the circle, for binary secrets whose bits are independent. Formulas: Chillotti, Gama,
//! Georgieva and Izabachene, eprint 2018/421, with the constants that TFHE-rs uses; tests measure each part.

use std::fmt;

use noren_math::torus::gadget::Gadget;
use noren_math::torus_products::bound;
use noren_math::torus_products::product::Grouping;

use crate::torus::light::law::LightLaw;
use crate::torus::spec::TorusSpec;
use crate::torus::switch_law::{CIRCLE, squared_cut, squared_digit};

/// `2^-32`, squared: the variance of rounding to words of 32 bits, times 12.
const HALF_WORD_SQUARED: f64 = 5.421_010_862_427_522e-20;

/// The variances of the parts of a bootstrap.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NoiseLaw {
    /// Of a fresh ciphertext.
    pub fresh: f64,
    /// Of the output of blind rotation:
    /// `n [(k+1) l N (B^2+2)/12 sigma^2 + (1 - B^2l/q^2)/(24 B^2l) (1 + kN/2) + kN/(32 q^2) + (1 - kN/2)^2/(16 q^2)]`.
    ///
    /// With bits in pairs, the first term counts 4 times: `X^a - 1` and `X^b - 1` have mean squares of 2 each, so that the three
    /// samples count `2 + 2 + 4` for two bits. The others count 3/2 times: digits of what is rotated leave a rounding that is
    /// multiplied by `X^(as + bt) - 1`, 0 in a quarter of all pairs and of mean square 2 in the others.
    ///
    /// With light keys, `(k+1) l N (B^2+2)/12 sigma^2` is replaced by [`LightLaw::rows`].
    pub blind_rotation: f64,
    /// Of products by transforms in `f64`: `n (1 + kN/2) delta^2` for steps of one bit, half as many for pairs, with the
    /// [deviation](bound::deviation) delta of a coefficient of an external product.
    pub transform: f64,
    /// The variance that a key switch adds: `kN [1/(24 B^2l) + l sigma^2 (B^2+2)/12]`, with the B, l and sigma of the key switch, whose sigma
    /// includes the rounding to words of 32 bits.
    pub key_switch: f64,
    /// The variance of the switch to the modulus 2N, with the centred-mean correction: `n/48 / (2N)^2`. The body is rounded down, which
    /// costs nothing: see [`Exponents::of`](noren_ring::host::torus::key_switch::Exponents::of).
    pub modulus_switch: f64,
}

/// How likely it is that a value with noise is taken for another one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Failure {
    /// The standard deviation of the noise where it is decided, in units of the circle.
    pub deviation: f64,
    /// How much noise is tolerated, in units of the circle.
    pub margin: f64,
    /// The base-two logarithm of the probability of more.
    pub log2: f64,
}

impl NoiseLaw {
    /// The law of checked parameters.
    pub(crate) fn of(spec: &TorusSpec) -> Self {
        let gadget = Gadget::new(spec.log_base, spec.levels as u32);
        let rows = spec.light.map_or_else(|| fresh_rows(spec, gadget), |light| LightLaw::of(spec, &light).rows(gadget));
        let (blind_rotation, transform) = rotation(spec, (gadget, spec.grouping), rows);
        let (n, degree) = (spec.n as f64, libm::exp2(f64::from(spec.log_degree)));
        let dimension = spec.k as f64 * degree;
        let gadget = Gadget::new(spec.switch_log_base, spec.switch_levels as u32);
        let row = spec.lwe_noise.variance() + HALF_WORD_SQUARED / 12.0;
        let rows = gadget.levels() as f64 * row * squared_digit(gadget);
        let key_switch = dimension * (1.0 / (24.0 * squared_cut(gadget)) + rows);
        Self {
            fresh: spec.glwe_noise.variance(),
            blind_rotation,
            transform,
            key_switch,
            modulus_switch: n / 48.0 / (4.0 * degree * degree),
        }
    }

    /// The variance of the output of a bootstrap.
    #[must_use]
    pub fn bootstrap(&self) -> f64 {
        self.blind_rotation + self.transform
    }

    /// The variance where a bootstrap decides, for a linear combination of outputs of bootstraps: `squared_norm` is the sum of
    /// the squares of its factors.
    #[must_use]
    pub fn decision(&self, squared_norm: f64) -> f64 {
        squared_norm * self.bootstrap() + self.key_switch + self.modulus_switch
    }

    /// How likely a bootstrap of such a combination fails, if it tolerates noise up to `margin`:
    /// `erfc(margin / (deviation sqrt 2))`.
    #[must_use]
    pub fn failure(&self, squared_norm: f64, margin: f64) -> Failure {
        let deviation = self.decision(squared_norm).sqrt();
        Failure::of(deviation, margin)
    }
}

impl Failure {
    /// That noise of this deviation exceeds the margin: `erfc(margin / (deviation sqrt 2))`.
    #[must_use]
    pub fn of(deviation: f64, margin: f64) -> Self {
        Self { deviation, margin, log2: log2_erfc(margin / deviation * std::f64::consts::FRAC_1_SQRT_2) }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (log_deviation, log_margin) = (libm::log2(self.deviation), libm::log2(self.margin));
        write!(
            f,
            "2^{:.2} (noise 2^{log_deviation:.2}, tolerated 2^{log_margin:.2} of the circle: {:.2} deviations)",
            self.log2,
            self.margin / self.deviation
        )
    }
}

/// The variance that the rows of a GGSW sample of fresh GLWE samples add to each coefficient: `(k+1) l N (B^2+2)/12 sigma^2`.
pub(crate) fn fresh_rows(spec: &TorusSpec, gadget: Gadget) -> f64 {
    let rows = (spec.k + 1) as f64 * gadget.levels() as f64;
    rows * libm::exp2(f64::from(spec.log_degree)) * squared_digit(gadget) * spec.glwe_noise.variance()
}

/// The variance that a blind rotation with these digits adds, where the rows of a GGSW sample add so much, and what its transforms in `f64`
/// add.
pub(crate) fn rotation(spec: &TorusSpec, (gadget, grouping): (Gadget, Grouping), rows: f64) -> (f64, f64) {
    let (n, k, degree) = (spec.n as f64, spec.k as f64, libm::exp2(f64::from(spec.log_degree)));
    let (dimension, q2) = (k * degree, CIRCLE * CIRCLE);
    let cut = squared_cut(gadget);
    let rounding = (1.0 - cut / q2) / (24.0 * cut) * (1.0 + dimension / 2.0);
    let words = dimension / (32.0 * q2) + (1.0 - dimension / 2.0) * (1.0 - dimension / 2.0) / (16.0 * q2);
    let (of_rows, of_roundings) = match grouping {
        Grouping::Single => (1.0, 1.0),
        Grouping::Pair => (4.0, 1.5),
    };
    let steps = n / grouping.bits() as f64;
    let transforms = steps * (1.0 + dimension / 2.0) * transform(spec, gadget, grouping);
    (n * (of_rows * rows + of_roundings * (rounding + words)), transforms)
}

/// The variance of what transforms in `f64` change a coefficient of an external product by.
pub(crate) fn transform(spec: &TorusSpec, gadget: Gadget, grouping: Grouping) -> f64 {
    let rows = (spec.k + 1) * gadget.levels();
    let error = bound::deviation(1 << spec.log_degree, (rows, grouping), u64::BITS + gadget.log_base()) / CIRCLE;
    error * error
}

/// `log2 erfc(x)`, also where `erfc` is below all `f64`.
fn log2_erfc(x: f64) -> f64 {
    /// From here on, two terms of the asymptotic series are exact to 2^-12 of a bit.
    const FAR: f64 = 20.0;
    if x < FAR {
        return libm::log2(libm::erfc(x));
    }
    // erfc(x) = exp(-x^2) / (x sqrt pi) (1 - 1/(2 x^2) + ...)
    let tail = 1.0 - 0.5 / (x * x);
    -x * x * std::f64::consts::LOG2_E - libm::log2(x) - 0.5 * libm::log2(std::f64::consts::PI) + libm::log2(tail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_is_continued_where_the_library_underflows() {
        for x in [0.0, 1.0, 9.3, 19.99] {
            assert!((log2_erfc(x) - libm::log2(libm::erfc(x))).abs() < 1e-9);
        }
        for x in [20.0, 23.0, 25.0] {
            assert!((log2_erfc(x) - libm::log2(libm::erfc(x))).abs() < 1e-3, "{x}");
        }
        assert!(log2_erfc(100.0) < -14_000.0);
    }
}
