//! TFHE on the command line: keys, tables of integers and truth values that are encrypted one by one, and programs on them.

pub(crate) mod files;
pub(crate) mod keys;
pub(crate) mod plan;

mod decrypt;
mod encrypt;
mod eval;
mod expand;
mod lookup;
mod program;
mod scheme;

pub(crate) use scheme::SCHEME;
