//! Functions of encrypted integers on the command line: their plan, keys, preparation and evaluation.

pub(crate) mod function;

mod eval;
mod keys;
mod plan;
mod prepare;
mod scheme;

pub(crate) use scheme::SCHEME;
