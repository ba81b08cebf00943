//! Errors that schemes and circuits share, and how errors show numbers.

use noren_rlwe::error::SchemeError;

/// Errors about the numbers in slots, clear or encrypted.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SlotError {
    /// A value is infinite or not a number.
    #[error("value {index} is {value}: only finite numbers can be encoded")]
    NotFinite {
        /// The position of the value.
        index: usize,
        /// The value.
        value: f64,
    },
    /// Numbers may be complex where real ones are needed.
    #[error("{what} may hold complex numbers, real ones are needed: {remedy}")]
    NotReal {
        /// The name of the object that may be complex.
        what: &'static str,
        /// The advice.
        remedy: &'static str,
    },
    /// Numbers may lie outside the interval that a polynomial is for.
    #[error(
        "slots are known to lie in [{}, {}] only, the polynomial is for [{}, {}]: use an interval that holds them \
         all, or state a narrower range, with_range, if it is known",
        readable(*low), readable(*high), readable(interval[0]), readable(interval[1])
    )]
    OutsideInterval {
        /// The lowest value that slots may have.
        low: f64,
        /// The highest.
        high: f64,
        /// The interval that is needed.
        interval: [f64; 2],
    },
}

impl SchemeError for SlotError {}

/// A computation may fail more often than its budget allows.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error(
    "with {bootstraps} bootstraps the computation fails with probability up to 2^{found:.1}, its budget is 2^{allowed:.1}: \
     use parameters that fail less often, or allow more failures"
)]
pub struct FailureBudgetExceeded {
    /// How many bootstraps there would be.
    pub bootstraps: u64,
    /// The base-two logarithm of a bound on the probability that any of them fails.
    pub found: f64,
    /// The base-two logarithm of what is allowed.
    pub allowed: f64,
}

impl SchemeError for FailureBudgetExceeded {}

/// A number without rows of zeros.
pub(crate) fn readable(value: f64) -> String {
    let plain = value == 0.0 || (1e-4..1e9).contains(&value.abs());
    if plain { format!("{value}") } else { format!("{value:e}") }
}
