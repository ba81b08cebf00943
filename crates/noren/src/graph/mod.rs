//! Functions of arrays as graphs: what they compute, on which shapes, types and ranges, whatever evaluates them.
//!
//! | file | what it holds |
//! |---|---|
//! | `operation`, `node`, `dag` | [`Graph`]: what a function computes, with shapes, types and ranges of all nodes |
//! | `sparse` | matrices by the entries that are not zero |
//! | `interval`, `ranges`, `shape`, `inference` | where results lie, how shapes broadcast, what follows from an operation |
//! | `reference`, `wide` | the function in clear, the oracle; with integers beyond 2^53 |
//! | `rows` | functions that compute their rows apart |
//! | `calibrated` | ranges of intermediate results from examples |
//! | `simplify`, `evaluated` | sums of powers as polynomials; what is left to clients |
//! | `error` | [`GraphError`]: operands or ranges that an operation does not take |

mod calibrated;
pub(crate) mod dag;
pub(crate) mod error;
pub(crate) mod evaluated;
pub(crate) mod inference;
pub(crate) mod interval;
pub(crate) mod node;
pub(crate) mod operation;
mod ranges;
mod reference;
pub(crate) mod rows;
mod separable;
pub(crate) mod shape;
pub(crate) mod simplify;
pub(crate) mod sparse;
pub(crate) mod wide;

pub use dag::Graph;
pub use error::GraphError;
pub use evaluated::{Evaluated, Outside};
pub use interval::Interval;
pub use node::Node;
pub use operation::{Binary, Element, Function, Operation, Reduction, Unary};
pub use sparse::SparseMatrix;
