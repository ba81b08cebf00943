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

/// Errors about how many values vectors have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ShapeError {
    /// No number was given.
    #[error("no values were given, at least 1 is needed")]
    Empty,
    /// Two vectors have different lengths.
    #[error(
        "the vectors have {0} and {1} values, as many are needed: encrypt as many, or say with x.with_length(n) that the \
         first n slots count"
    )]
    Lengths(usize, usize),
    /// Numbers in clear do not fit beside a vector.
    #[error(
        "{count} numbers were given beside a vector of {values}: as many are needed, or 1{}",
        if values == slots { String::new() } else { format!(", {slots} for every slot") }
    )]
    Beside {
        /// How many numbers were given.
        count: usize,
        /// How many values the vector has.
        values: usize,
        /// How many slots there are.
        slots: usize,
    },
    /// A whole number is not one of `f64`.
    #[error("{found} is no float64, {nearest} is the nearest: write it as a float if that will do")]
    Inexact {
        /// The number.
        found: i64,
        /// The nearest one of `f64`.
        nearest: i128,
    },
    /// A matrix has another number of columns than a vector has values.
    #[error(
        "the matrix has {columns} columns, the vector {values} values: as many are needed; x.with_length({columns}) says \
         that the first {columns} slots count"
    )]
    Columns {
        /// The columns of the matrix.
        columns: usize,
        /// The values of the vector.
        values: usize,
    },
    /// A sum of no slots, or of slots without a distance.
    #[error("{what} is {found}: at least one slot is needed, and a distance between slots")]
    NoTerms {
        /// The name of the argument.
        what: &'static str,
        /// The argument.
        found: i64,
    },
    /// The values of two rows have no sum by rotations.
    #[error(
        "the vector has {values} values in two rows: sum each with count={row}, and add ev.swap_rows of the result"
    )]
    Rows {
        /// The values of the vector.
        values: usize,
        /// The slots of a row.
        row: usize,
    },
    /// The slots of a sum reach over more than the values of a vector.
    #[error(
        "{count} slots that are {apart} apart reach over {reach} slots, the vector has {room} values: at most as many are \
         needed, see with_length"
    )]
    Reach {
        /// How many slots there are to sum.
        count: i64,
        /// How far they are apart.
        apart: u64,
        /// Over how many slots they reach.
        reach: i64,
        /// How many values there are.
        room: usize,
    },
}

impl SchemeError for ShapeError {}

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
