//! Errors of TFHE.

use noren_rlwe::error::SchemeError;

/// Errors of TFHE: values and noise that parameters do not carry.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TfheError {
    /// A bootstrap would go wrong too often.
    #[error(
        "a bootstrap fails with probability 2^{found:.2}, at most 2^{allowed:.2} is allowed: noise of deviation \
         2^{deviation:.2} of the circle meets a margin of 2^{margin:.2}: use parameters of less noise or fewer messages, \
         or allow more failures"
    )]
    FailsTooOften {
        /// The base-two logarithm of the probability.
        found: f64,
        /// The base-two logarithm of what is allowed.
        allowed: f64,
        /// The base-two logarithm of the standard deviation of the noise, in units of the circle.
        deviation: f64,
        /// The base-two logarithm of the noise that is tolerated, in units of the circle.
        margin: f64,
    },
    /// A value does not fit the room that parameters give it.
    #[error("{what} is {found}, it must be {needed}: {hint}")]
    OutOfRoom {
        /// Which value.
        what: &'static str,
        /// How large it is, or may be.
        found: u64,
        /// The numbers that fit, such as `at most 15`.
        needed: String,
        /// The advice.
        hint: &'static str,
    },
    /// The noise of a linear combination is larger than what parameters were checked for.
    #[error(
        "the noise of {what} is up to {found:.2} times that of a bootstrap, the parameters carry {needed:.2}: \
         bootstrap before, or use parameters for larger combinations"
    )]
    NoisyCombination {
        /// Which combination.
        what: &'static str,
        /// Its standard deviation, in units of that of a bootstrap.
        found: f64,
        /// The largest that the parameters carry.
        needed: f64,
    },
}

impl SchemeError for TfheError {}
