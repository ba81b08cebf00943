//! Errors of exact integers.

use noren_rlwe::error::SchemeError;

/// Errors of BGV and BFV.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum IntegerError {
    /// An integer is outside the range in which integers modulo t are given.
    #[error("value {index} is {value}: an integer modulo {t} is given from {} to {}", -(*t as i64 / 2), t - 1)]
    NotAResidue {
        /// The position of the value.
        index: usize,
        /// The value.
        value: i64,
        /// The plaintext modulus.
        t: u64,
    },
    /// A slot holds an element of a Galois ring that is not a number.
    #[error("slot {slot} holds an element of the extension, not a number: decode elements")]
    NotANumber {
        /// The position of the slot.
        slot: usize,
    },
    /// The noise of a ciphertext may have reached its message.
    #[error(
        "{what}: {:.1} bits of noise budget are missing, so that the result could be wrong: \
         use parameters for more operations, or fewer operations", libm::ceil(missing * 10.0) / 10.0
    )]
    NoiseExhausted {
        /// The operation that was asked for.
        what: &'static str,
        /// How many bits are missing.
        missing: f64,
    },
}

impl SchemeError for IntegerError {}
