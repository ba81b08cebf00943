//! Exact integers on the command line: keys, tables of whole numbers, and matrices that multiply their columns.

pub(crate) mod add;
pub(crate) mod decrypt;
pub(crate) mod encrypt;
pub(crate) mod eval;
pub(crate) mod keys;
pub(crate) mod parameters;
pub(crate) mod prepare;

mod matrix;
mod whole;
