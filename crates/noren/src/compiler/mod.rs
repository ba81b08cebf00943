//! Functions of arrays, compiled: from a [graph](crate::graph) to a client half and a server half.
//!
//! | file | what it holds |
//! |---|---|
//! | `layout` | where elements lie in slots |
//! | `slots` | graphs on slots, by the circuits of [`crate::circuits`], on any evaluator |
//! | `signs` | comparisons of real numbers by polynomials |
//! | `columns` | graphs on columns of TFHE, by [`crate::programs::columns`] |
//! | `bootstraps` | how many bootstraps of TFHE nodes take on columns |
//! | `deep` | functions that need bootstraps of CKKS, with the model of their noise |
//! | `recording` | a dry run: views of inputs, levels, keys, counts |
//! | `options`, `parameters`, `moduli`, `target` | what the caller asks for, and the parameters of each scheme for it |
//! | `price`, `choice`, `advice` | what each scheme costs; which is taken; all of them with prices and reasons |
//! | `program`, `halves` | [`Program`]: encryption, evaluation, decryption and simulation |
//! | `message` | [`Message`]: the bytes between the halves |
//! | `explain` | [`Explanation`]: what a function does, step by step |

mod advice;
mod bootstraps;
mod choice;
mod columns;
mod deep;
pub(crate) mod error;
mod explain;
pub(crate) mod halves;
mod layout;
pub(crate) mod message;
mod moduli;
pub(crate) mod options;
mod parameters;
mod price;
pub(crate) mod program;
mod recording;
mod signs;
mod slots;
mod target;

pub use advice::{Shapes, advise};
pub use error::CompileError;
pub use explain::{Explanation, OtherScheme, Step};
pub use halves::Outcome;
pub use message::{Direction, Message};
pub use options::{Options, Scheme};
pub use program::Program;
