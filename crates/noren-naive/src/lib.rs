//! A device that computes each verb of [`Device`](noren_ring::device::Device) and of
//! [`TorusDevice`](noren_ring::torus::device::TorusDevice) as its formula says: on one thread, with
//! transforms by the definition and numbers as big integers. Nothing is fused, and no kernel is shared with the host.
//!
//! It serves as the oracle of other devices, as the proof that a device can be added from outside of `noren-ring`, and as the
//! page on which the verbs are read: [`Naive`]'s functions have the algorithm of a key switch, a matrix or a scaled product
//! in a few lines each. An operation takes time quadratic in the degree, and copies of secrets are not wiped: a device for tests.
//!
//! | room | what it holds |
//! |---|---|
//! | [`Naive`] | the verbs |
//! | [`NaiveRows`] | rows of residues in the memory of the device |
//! | [`Counting`] | a device that counts what another one does |

#![forbid(unsafe_code)]

mod counting;
mod element;
mod numbers;
mod rows;
mod torus;
mod verbs;

pub use counting::{Counting, Trace};
pub use rows::NaiveRows;
pub use verbs::Naive;
