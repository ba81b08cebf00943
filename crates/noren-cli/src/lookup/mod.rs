//! Functions of encrypted integers on the command line: their plan, keys, preparation and evaluation.

pub(crate) mod eval;
pub(crate) mod function;
pub(crate) mod keys;
pub(crate) mod plan;
pub(crate) mod prepare;
