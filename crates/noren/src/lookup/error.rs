//! Errors of lookups.

use noren_rlwe::error::SchemeError;

/// Errors of functions that are looked up in tables.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LookupError {
    /// A function has no value where one is needed.
    #[error("the function has no value at ({x}, {y}): give it one there, of which no caller will make use")]
    Undefined {
        /// The first argument.
        x: usize,
        /// The second argument.
        y: usize,
    },
    /// A function has a value that is no residue.
    #[error("the function is {value} at ({x}, {y}), values must be below the plaintext modulus {t}")]
    NotInRange {
        /// The first argument.
        x: usize,
        /// The second argument.
        y: usize,
        /// The value there.
        value: u64,
        /// The plaintext modulus.
        t: u64,
    },
    /// A number is not one that a function was prepared for.
    #[error("number {index} is {value}, the function was prepared for numbers below {size}")]
    OutsideDomain {
        /// The position of the number.
        index: usize,
        /// The number.
        value: u64,
        /// How many numbers there are.
        size: usize,
    },
}

impl SchemeError for LookupError {}
