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
    /// The result of a program may be too large for the smallest modulus: nothing would be known of it.
    #[error(
        "{program}: results are not known to fit the first prime, of {first_bits} bits, and could not be decrypted: take \
         parameters that are chosen for the programs, or a larger first prime"
    )]
    ResultTooLarge {
        /// The name of the program.
        program: &'static str,
        /// The bits of the first prime.
        first_bits: u32,
    },
    /// A column of chosen entries with more or fewer of them than were asked for.
    #[error(
        "column {column:?} has {found} entries of 1 where {needed} were asked for: entries at the edge are nearer to each other than \
         the dead zone, and which of them are among the largest is undecided"
    )]
    Undecided {
        /// The name of the column.
        column: String,
        /// How many entries are 1.
        found: usize,
        /// How many were asked for.
        needed: usize,
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
