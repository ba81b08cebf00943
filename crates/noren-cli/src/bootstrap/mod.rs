//! Bootstrapping on the command line: its plan in words and numbers, its keys, and what is computed with them.

pub(crate) mod eval;
pub(crate) mod keys;

mod expand;
mod plan;
mod scheme;

pub(crate) use scheme::SCHEME;
