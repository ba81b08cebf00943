//! Bootstrapping on the command line: its plan in words and numbers, and its keys.

pub(crate) mod keys;
pub(crate) mod plan;
