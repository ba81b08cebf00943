//! Errors of CKKS.

use noren_rlwe::error::SchemeError;

use crate::schemes::error::readable;

/// Errors of CKKS: scales, and messages that their modulus does not hold.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CkksError {
    /// Two operands have different scales.
    #[error("the operands have scales 2^{left_log2:.6} and 2^{right_log2:.6}, {}: align them first", difference(*left_log2, *right_log2))]
    ScaleMismatch {
        /// The base-two logarithm of the first scale.
        left_log2: f64,
        /// The base-two logarithm of the second scale.
        right_log2: f64,
    },
    /// A value is too large for the modulus at the scale asked for.
    #[error(
        "value {index} is {}, at scale 2^{scale_log2:.1} this level holds values up to {limit:.3e}: \
         scale the values down, or encode at a higher level", readable(*value)
    )]
    Overflow {
        /// The position of the largest value.
        index: usize,
        /// The value.
        value: f64,
        /// The largest absolute value that fits.
        limit: f64,
        /// The base-two logarithm of the scale.
        scale_log2: f64,
    },
    /// Nothing is known of a result: its message may have left its modulus.
    #[error("{}", unbounded(*magnitude, *error, *scale_log2, *modulus_log2, *level))]
    Unbounded {
        /// A bound on the absolute value of the message.
        magnitude: f64,
        /// A bound on its error, without regard to the modulus.
        error: f64,
        /// The base-two logarithm of the scale.
        scale_log2: f64,
        /// The base-two logarithm of the modulus.
        modulus_log2: f64,
        /// The level of the ciphertext.
        level: usize,
    },
    /// A ciphertext has fewer levels than a bootstrap begins with.
    #[error(
        "bootstrapping begins at level {needed}, the ciphertext is at level {left}: bootstrap it while it has {needed} levels, or \
         compute it again from what has them"
    )]
    TooLowToBootstrap {
        /// The level that bootstrapping begins at.
        needed: usize,
        /// The level of the ciphertext.
        left: usize,
    },
    /// A decrypted number is not what its ciphertext states.
    #[error(
        "slot {slot} is {value}, the ciphertext states {range}, with an error of at most {bound:.3e}: it was changed, \
         belongs to another secret key, or a statement about it (with_range, with_magnitude, with_error_bound) is false"
    )]
    NotAsStated {
        /// The first such slot.
        slot: usize,
        /// The kind of numbers that it decrypts to.
        value: String,
        /// Where all slots should lie.
        range: String,
        /// The error bound of the ciphertext.
        bound: f64,
    },
}

impl SchemeError for CkksError {}

/// By how much two scales differ that may print alike.
fn difference(left_log2: f64, right_log2: f64) -> String {
    let part = libm::exp2(right_log2 - left_log2) - 1.0;
    let sign = if part < 0.0 { '-' } else { '+' };
    format!("which differ by a factor of 1 {sign} {:.1e}", part.abs())
}

/// Why nothing is known of a result.
fn unbounded(magnitude: f64, error: f64, scale_log2: f64, modulus_log2: f64, level: usize) -> String {
    let needed = libm::log2(magnitude + error) + scale_log2 + 1.0;
    // Six digits are enough to tell sizes.
    let magnitude = readable(format!("{magnitude:.5e}").parse().unwrap_or(magnitude));
    let remedy = "state a smaller bound if one is known (with_magnitude, with_range) before that step, or use smaller values, \
                  or a larger first prime";
    if needed.is_finite() && needed >= modulus_log2 {
        format!(
            "nothing is known of the result: a message of up to {magnitude} with an error of up to {error:.1e} at scale \
             2^{scale_log2:.1} needs {needed:.1} bits, the modulus of level {level} has {modulus_log2:.1}: {remedy}"
        )
    } else {
        format!(
            "nothing is known of the result (level {level}, magnitude up to {magnitude}, error up to {error:.1e}): a \
             message on the way to it may have been too large for its modulus: {remedy}"
        )
    }
}
