//! Errors of compiled functions.

use noren_rlwe::error::{Error, SchemeError};

use crate::graph::dag::Graph;
use crate::graph::error::prefix;
use crate::schemes::error::readable;

/// Errors of compiled functions.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CompileError {
    /// An operation that the scheme does not have.
    #[error("{}{scheme} does not evaluate {operation}: {needed}", prefix(place))]
    Unsupported {
        /// The node.
        node: usize,
        /// Where the function asks for it.
        place: String,
        /// The operation.
        operation: String,
        /// The scheme.
        scheme: &'static str,
        /// The way around it.
        needed: String,
    },
    /// Elements along an axis that do not lie in one ciphertext, as they are compared with each other there.
    #[error(
        "{}{operation} takes the elements along its axis in one ciphertext, here of {slots} slots: apply it to smaller arrays",
        prefix(place)
    )]
    Apart {
        /// Where the function asks for it.
        place: String,
        /// The operation.
        operation: String,
        /// The slots that a ciphertext must have.
        slots: usize,
    },
    /// An operation that no polynomial is near enough to, on the range of its operands.
    #[error(
        "{}no polynomial is near enough to {operation} on the range of its operands ({reason}): narrow the ranges of inputs, or \
         compile for a larger precision=",
        prefix(place)
    )]
    Approximation {
        /// Where the function asks for it.
        place: String,
        /// The operation.
        operation: String,
        /// The error that polynomials have, and the one that was needed.
        reason: String,
    },
    /// A precision that the function does not reach.
    #[error(
        "precision {} was asked for, the nearest that is possible is {}: {reason}", readable(*wanted), readable(*nearest)
    )]
    Precision {
        /// The absolute error that was asked for.
        wanted: f64,
        /// The smallest error bound that was found.
        nearest: f64,
        /// The limit.
        reason: String,
    },
    /// A function that takes more levels than any parameters have, or whose results no modulus holds.
    #[error("the function takes {levels} levels, one after the other: {reason}")]
    Budget {
        /// The levels.
        levels: usize,
        /// The limit, and the nearest that is possible.
        reason: String,
    },
    /// Comparisons that are decided right only for numbers further apart than the dead zone that was stated.
    #[error(
        "{}dead_zone {} was stated, the smallest that is possible is {}: state it, or narrow the ranges of inputs",
        prefix(place), readable(*stated), readable(*least)
    )]
    DeadZone {
        /// Where the function compares.
        place: String,
        /// The dead zone that was stated.
        stated: f64,
        /// The smallest one.
        least: f64,
    },
    /// A function that no scheme evaluates.
    #[error("no scheme evaluates the function.{}", reasons.iter().map(|(scheme, reason)| format!("\n{scheme}: {reason}")).collect::<String>())]
    Refused {
        /// The schemes, and the reason of each.
        reasons: Vec<(&'static str, String)>,
    },
    /// Plans of which each takes more memory than the machine of the server has, or more than an hour of it.
    #[error(
        "every plan goes beyond the machine; the one that does so least, of {scheme}, {found}: name a larger machine \
         (machine=), or compile with unlimited=True"
    )]
    Beyond {
        /// The scheme of the plan that needs least.
        scheme: &'static str,
        /// What it takes, and what there is.
        found: String,
    },
    /// Intermediate results that are not certain to lie in the range that the function was compiled for: results may be anything.
    #[error(
        "{}{} of {rows} rows left the range [{}, {}] that the function was compiled for, such as row {row} with {}: calibrate on \
         examples that are like it, or with a wider margin, or take the other rows by their flags",
        prefix(place), count, readable(*low), readable(*high),
        if value.is_nan() { "values that cannot be read".to_owned() } else { readable(*value).to_string() }
    )]
    LeftRange {
        /// Where the function asks for what left its range first.
        place: String,
        /// How many rows left a range.
        count: usize,
        /// How many rows there are; 1 where results depend on all of them.
        rows: usize,
        /// The first of them.
        row: usize,
        /// The value that left the range.
        value: f64,
        /// The range.
        low: f64,
        /// The range.
        high: f64,
    },
    /// A value that is outside of the range that was declared for its input.
    #[error(
        "input {input:?}: element {index} is {}, the declared range is [{}, {}]: declare a wider range and compile again, \
         or clip the values", readable(*value), readable(*low), readable(*high)
    )]
    OutsideRange {
        /// The name of the input.
        input: String,
        /// The position of the value, in row-major order.
        index: usize,
        /// The value.
        value: f64,
        /// The declared range.
        low: f64,
        /// The declared range.
        high: f64,
    },
}

impl SchemeError for CompileError {}

impl CompileError {
    /// [`CompileError::Unsupported`] for a node, by a scheme that its [plan](crate::backends) names; `needed` is empty where only
    /// another scheme helps.
    pub(crate) fn unsupported(graph: &Graph, node: usize, needed: &str) -> Self {
        let (place, operation) = (graph.node(node).place.clone(), graph.node(node).operation.name());
        Self::Unsupported { node, place, operation, scheme: "this scheme", needed: needed.to_owned() }
    }
}

/// Polynomials that are not near enough to what they stand for; [`CompileError::Approximation`] once it is known for which node.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("no polynomial is near enough: {0}")]
pub(super) struct NotNear(pub(super) String);

impl SchemeError for NotNear {}

impl NotNear {
    /// A refused error or interval of polynomials; other errors stay.
    pub(super) fn of(error: Error) -> Error {
        match error {
            Error::Parameters { .. } => Self(error.to_string()).into(),
            error => error,
        }
    }
}
