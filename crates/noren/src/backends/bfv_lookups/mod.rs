//! BFV with lookups: any function of one or two encrypted integers.
//!
//! | file | what it holds |
//! |---|---|
//! | `functions` | functions of one or two integers, composed of operations |
//! | `fusion` | a graph as sums of inputs and of such functions |
//! | `packing` | which elements share ciphertexts |
//! | `lookups` | the lookups of a graph, their noise and their counts |
//! | `plan` | [`BfvLookups`]: the backend and its plans |
//! | `server` | prepared functions, and a run |
//! | `price` | prices of lookups |

mod functions;
mod fusion;
mod lookups;
mod packing;
mod plan;
pub(crate) mod price;
mod server;
#[cfg(test)]
mod tests;

pub use plan::BfvLookups;
