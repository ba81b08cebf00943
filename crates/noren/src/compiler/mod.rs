//! Functions of arrays, compiled: from a [graph](crate::graph) to a client half and a server half.
//!
//! | file | what it holds |
//! |---|---|
//! | `program` | [`Program`]: a function with a plan of a [backend](crate::backends) |
//! | `client`, `server` | [`Client`], [`Server`]: the halves, which exchange bytes |
//! | `choice`, `advice` | which backend is taken; all of them with prices and reasons |
//! | `explain` | [`Explanation`]: what a function does, step by step |

mod advice;
mod choice;
mod client;
mod explain;
mod program;
mod server;

pub use advice::{Shapes, advise};
pub use client::Client;
pub use explain::{Explanation, OtherScheme};
pub use program::{Flagged, Program, Summary};
pub use server::Server;

pub use crate::backends::{Options, Outcome, SecretKey, ServerKeys, Step};
pub use crate::lowering::CompileError;
