//! TFHE on the command line: keys, tables of integers and truth values that are encrypted one by one, and programs on them.

pub(crate) mod decrypt;
pub(crate) mod encrypt;
pub(crate) mod eval;
pub(crate) mod expand;
pub(crate) mod files;
pub(crate) mod keys;
pub(crate) mod lookup;
pub(crate) mod plan;
pub(crate) mod program;
