//! Functions of arrays, compiled: from a traced graph to a client half and a server half.
//!
//! | file | what it holds |
//! |---|---|
//! | `operation`, `graph` | [`Graph`]: what a function computes, with shapes, types and ranges of all nodes |
//! | `interval`, `shape`, `inference` | where results lie, how shapes broadcast, what follows from an operation |
//! | `reference` | the function in clear, the oracle |

pub(crate) mod choice;
mod columns;
pub(crate) mod error;
mod explain;
pub(crate) mod graph;
pub(crate) mod halves;
mod inference;
pub(crate) mod interval;
mod layout;
pub(crate) mod message;
pub(crate) mod operation;
pub(crate) mod options;
mod parameters;
pub(crate) mod program;
mod recording;
mod reference;
mod shape;
mod signs;
mod simplify;
mod slots;

pub use choice::{Draft, order};
pub use error::CompileError;
pub use explain::{Explanation, Step};
pub use graph::{Graph, Node};
pub use halves::Outcome;
pub use interval::Interval;
pub use message::{Direction, Message};
pub use operation::{Binary, Element, Function, Operation, Reduction, Unary};
pub use options::{Options, Scheme};
pub use program::Program;
