//! Ways to compute functions of arrays: each a [`Backend`], which makes [`Plan`]s.
//!
//! A plan has all that is known of a function before it runs, and the verbs of its two halves. What is above this room names
//! no scheme: a backend is a file here and a line in [`Backends::ALL`].
//!
//! | file | what it holds |
//! |---|---|
//! | `backend` | [`Backend`], [`Plan`], [`Running`]: the traits |
//! | `table` | [`Backends`]: all of them |
//! | `options` | [`Options`]: what the caller chooses |
//! | `keys`, `parcel`, `description` | keys of plans, what travels between the halves, and what both know |
//! | `ckks`, `ckks_bootstrapping` | real numbers in slots, with an error bound |
//! | `ckks_switching` | the same, with comparisons that are decided |
//! | `modelled`, `ckks_search` | the noise of CKKS for a graph, and parameters for it |
//! | `renewals`, `decisions` | the noise of bootstraps; comparisons by TFHE |
//! | `integers`, `bgv`, `bfv` | integers in slots |
//! | `bfv_lookups` | functions of one or two integers by their tables |
//! | `tfhe` | integers and truth values one by one |
//! | `modulus`, `moduli` | the number that integers in slots are computed modulo; several, for what is beyond |
//! | `slots` | what backends on slots have in common |
//! | `batches` | functions that compute their rows apart, a batch after the other |

pub(crate) mod backend;
mod batches;
mod bfv;
pub(crate) mod bfv_lookups;
mod bgv;
mod calibrate;
mod ckks;
pub(crate) mod ckks_bootstrapping;
mod ckks_search;
mod ckks_switching;
pub(crate) mod decisions;
pub(crate) mod description;
mod integers;
pub(crate) mod keys;
mod modelled;
mod moduli;
mod modulus;
pub(crate) mod options;
pub(crate) mod parcel;
mod renewals;
pub(crate) mod scheme;
mod slots;
pub(crate) mod table;
#[cfg(test)]
mod tests;
pub(crate) mod tfhe;

pub use backend::{Backend, Bounds, Decisions, Modulus, Outcome, Outline, Plan, Record, Running, Step};
pub use calibrate::calibrate;
pub use keys::{Key, Part, PartKind, SecretKey, ServerKeys, part};
pub use options::Options;
pub use parcel::{
    Content, Function, Inputs, Intersection, IntersectionReplies, IntersectionRequests, JointMessage, JointOpening,
    JointParty, JointSession, KeysOfServer, Outputs, Parcel, Purpose, Replies, Requests, Retrieval, Secrets,
};
pub use scheme::Scheme;
pub use table::Backends;
pub use tfhe::TorusDraft;
