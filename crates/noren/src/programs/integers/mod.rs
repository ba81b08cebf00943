//! Tables of whole numbers, in BFV: layout, encryption, bytes.

pub(crate) mod table;
mod wire;

pub use table::{IntegerLayout, IntegerTable};
