//! A node of a graph.

use crate::graph::interval::Interval;
use crate::graph::operation::{Element, Operation};

/// A node of a [`Graph`](crate::graph::Graph): an operation, and what is known of its result.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// The operation.
    pub operation: Operation,
    /// Where the function asks for it, such as `scores.py:12`; empty if that is not known.
    pub place: String,
    /// The shape of the result.
    pub shape: Vec<usize>,
    /// The type of its elements.
    pub element: Element,
    /// Where its elements lie.
    pub range: Interval,
}
