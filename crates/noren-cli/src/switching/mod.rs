//! Scheme switching on the command line: its plan and keys, and programs that compare entries of tables of numbers.

pub(crate) mod additions;
pub(crate) mod eval;
pub(crate) mod keys;
pub(crate) mod plan;
