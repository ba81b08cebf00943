//! TFHE: integers and truth values one by one, exact.
//!
//! | file | what it holds |
//! |---|---|
//! | `plan` | the backend and its plans |
//! | `columns` | the walk over graphs on columns |
//! | `algebra` | the verbs of the walk, which [`crate::programs::columns`] computes with ciphertexts |
//! | `elements` | the types that hold intervals |
//! | `widths` | the types that nodes are computed in |
//! | `tables` | what tables are looked up of |
//! | `gates` | functions of truth values as gates |
//! | `bootstraps` | how many bootstraps nodes take on columns |
//! | `price` | prices of circuits of lookups |

mod algebra;
pub(crate) mod bootstraps;
pub(crate) mod columns;
mod elements;
mod gates;
mod plan;
pub(crate) mod price;
#[cfg(test)]
mod sets;
mod tables;
#[cfg(test)]
mod tests;
mod widths;

pub use plan::Tfhe;
pub use price::TorusDraft;
