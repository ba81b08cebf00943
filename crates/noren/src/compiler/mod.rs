//! Functions of arrays, compiled: from a traced graph to a client half and a server half.
//!
//! | file | what it holds |
//! |---|---|
//! | `operation`, `graph` | [`Graph`]: what a function computes, with shapes, types and ranges of all nodes |
//! | `interval`, `shape`, `inference` | where results lie, how shapes broadcast, what follows from an operation |
//! | `reference` | the function in clear, the oracle |

pub(crate) mod error;
pub(crate) mod graph;
mod inference;
pub(crate) mod interval;
pub(crate) mod operation;
mod layout;
mod reference;
mod shape;
mod signs;
mod simplify;
mod slots;

pub use error::CompileError;
pub use graph::{Graph, Node};
pub use interval::Interval;
pub use operation::{Binary, Element, Function, Operation, Reduction, Unary};
