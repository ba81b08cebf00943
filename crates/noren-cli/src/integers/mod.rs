//! Exact integers on the command line: keys, tables of whole numbers, and matrices that multiply their columns.

pub(crate) mod decrypt;
pub(crate) mod parameters;

mod add;
mod encrypt;
mod eval;
mod keys;
mod matrix;
mod prepare;
mod reencrypt;
mod scheme;
mod whole;

pub(crate) use scheme::SCHEME;
