//! TFHE: integers and truth values one by one, exact.
//!
//! | file | what it holds |
//! |---|---|
//! | `plan` | the backend and its plans |
//! | `columns` | graphs on columns, by [`crate::programs::columns`] |
//! | `bootstraps` | how many bootstraps nodes take on columns |
//! | `price` | prices of circuits of lookups |

pub(crate) mod bootstraps;
pub(crate) mod columns;
mod plan;
pub(crate) mod price;

pub use plan::Tfhe;
pub use price::TorusDraft;
