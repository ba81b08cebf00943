//! Errors of programs.

use noren_rlwe::error::SchemeError;

use crate::schemes::error::readable;

/// Errors of programs on tables.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ProgramError {
    /// The bounds of columns do not prove that the arguments of a program lie in the interval of its function.
    #[error(
        "{program}: columns within their bounds, which count as powers of two, give {what} from {} to {}, the function is \
         for [{}, {}]: widen the interval of the model, or state smaller bounds, or plan for an interval that is not proven: \
         the arguments are encrypted beside the results then, and compared with it when those are decrypted",
        readable(*low), readable(*high), readable(interval[0]), readable(interval[1])
    )]
    UnprovenInterval {
        /// The name of the program.
        program: &'static str,
        /// The name of its arguments, such as `the score "risk"`.
        what: String,
        /// The lowest argument that the bounds allow.
        low: f64,
        /// The highest.
        high: f64,
        /// The interval of the model.
        interval: [f64; 2],
    },
    /// Results of a program whose arguments were outside the interval of its function.
    #[error(
        "{place} was computed from arguments outside [{}, {}], where {function} holds, and so were {count} numbers in all: \
         none of them can be trusted: widen the interval of the model", readable(interval[0]), readable(interval[1])
    )]
    ArgumentOutside {
        /// The first of the numbers, such as `row 3, column "risk"`.
        place: String,
        /// How many numbers there are.
        count: usize,
        /// The function.
        function: String,
        /// Its interval.
        interval: [f64; 2],
    },
}

impl SchemeError for ProgramError {}
