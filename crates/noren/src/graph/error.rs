//! Errors of graphs.

use noren_rlwe::error::SchemeError;

use crate::schemes::error::readable;

/// Where an error is, if that is known: inputs have no line.
pub fn prefix(place: &str) -> String {
    if place.is_empty() { String::new() } else { format!("{place}: ") }
}

/// Operands or ranges that an operation of a graph does not take.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GraphError {
    /// Operands of an operation whose shapes or types do not fit it.
    #[error("{}{operation} of {found}: {needed}", prefix(place))]
    Operands {
        /// Where the function asks for it, such as `scores.py:12`.
        place: String,
        /// The operation.
        operation: String,
        /// The shapes or types.
        found: String,
        /// The operands that the operation takes.
        needed: String,
    },
    /// An argument range for which an operation is not defined.
    #[error(
        "{}{operation} of numbers in [{}, {}]: {needed}", prefix(place), readable(*low), readable(*high)
    )]
    Range {
        /// Where the function asks for it.
        place: String,
        /// The operation.
        operation: String,
        /// The smallest argument.
        low: f64,
        /// The largest.
        high: f64,
        /// Where arguments must lie, and what to do.
        needed: String,
    },
}

impl SchemeError for GraphError {}
