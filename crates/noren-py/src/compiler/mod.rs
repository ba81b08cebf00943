//! The classes of `noren.compiler`.

pub(crate) mod graph;
pub(crate) mod program;
