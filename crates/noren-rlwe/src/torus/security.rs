//! How much noise samples over the torus need, by their dimension.
//!
//! The curve is the one that TFHE-rs 1.4 draws its parameters from: lattice estimator, binary secrets, modulus 2^64, 132
//! bits, fitted as `log2 sigma^2 = 5.31469 - 0.0497829 d`, with no deviation below 4 words of 64 bits. It lies above the
//! points for 128 bits that `docs/security.md` lists; tests compare the two.

use crate::error::{Error, Result};
use crate::security::Security;
use crate::torus::noise::TorusNoise;

/// The security of the curve, in bits.
pub const CURVE_BITS: u32 = 132;

const INTERCEPT: f64 = 5.314_69;
const SLOPE: f64 = 0.049_782_9;

/// The smallest deviation, `log2` of the circle: 4 words of 64 bits.
const LEAST_LOG2: f64 = -62.0;

/// Published deviations are printed with more digits than the coefficients of the curve have: this much, in bits, they may
/// lie below it.
const SLACK_BITS: f64 = 0.001;

/// The smallest deviation, as `log2` of the circle, of samples of this dimension with binary secrets.
#[must_use]
pub fn min_log2_deviation(dimension: usize) -> f64 {
    let line = libm::exp2(INTERCEPT - SLOPE * dimension as f64);
    libm::log2(line + libm::exp2(2.0 * LEAST_LOG2)) / 2.0
}

/// Refuses noise that is too small for the dimension.
///
/// # Errors
/// [`Error::WeakNoise`] with both deviations; [`Error::Parameters`] for a level that the curve does not reach.
pub fn check(samples: &'static str, dimension: usize, noise: TorusNoise, level: Security) -> Result<()> {
    match level {
        Security::None => return Ok(()),
        Security::Bits128 => {}
        _ => return Err(Error::parameter("security", level, "128 bits, or none: no curve over the torus is for more")),
    }
    let (found, needed) = (libm::log2(noise.deviation()), min_log2_deviation(dimension));
    if found + SLACK_BITS >= needed {
        return Ok(());
    }
    Err(Error::WeakNoise { samples, dimension, found, needed, level })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_lies_above_the_points_for_128_bits() {
        // log2 of the deviation in words of 64 bits: lattice estimator, binary secrets, 128 bits.
        let points = [(630, 50.5), (750, 47.4), (870, 44.3), (1024, 40.3), (2048, 13.7), (4096, 2.0)];
        for (dimension, least) in points {
            let curve = min_log2_deviation(dimension) + 64.0;
            assert!((least..least + 2.1).contains(&curve), "dimension {dimension}: {curve} and {least}");
        }
    }

    #[test]
    fn noise_on_the_curve_is_accepted_and_less_refused() {
        let on = TorusNoise::Gaussian(libm::exp2(min_log2_deviation(866)));
        let below = TorusNoise::Gaussian(libm::exp2(min_log2_deviation(866) - 0.01));
        assert!(check("samples", 866, on, Security::Bits128).is_ok());
        let refused = check("samples", 866, below, Security::Bits128);
        assert!(matches!(refused, Err(Error::WeakNoise { dimension: 866, found, needed, .. }) if found < needed));
        assert!(check("samples", 866, below, Security::None).is_ok());
        assert!(matches!(check("samples", 866, on, Security::Bits192), Err(Error::Parameters { .. })));
    }
}
