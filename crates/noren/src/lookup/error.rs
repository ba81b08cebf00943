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
    /// Numbers do not fill the slots where a lookup looks for them.
    #[error(
        "the numbers are known to fill {found} slots each, the lookup needs {needed}: encrypt what `spread` of the plan of this \
         domain gives, as it is"
    )]
    NotSpread {
        /// How many slots hold the same number, as far as is known.
        found: usize,
        /// How many the lookup needs.
        needed: usize,
    },
}

impl SchemeError for LookupError {}
