//! Scheme switching on the command line: its plan and keys, and programs that compare entries of tables of numbers.

pub(crate) mod keys;
pub(crate) mod plan;

mod additions;
mod eval;
mod scheme;

pub(crate) use scheme::SCHEME;
