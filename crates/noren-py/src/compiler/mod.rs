//! The classes of `noren.compiler`.

pub(crate) mod graph;
pub(crate) mod keys;
pub(crate) mod parameters;
pub(crate) mod program;
