//! The classes of `noren.compiler`, and that of `noren.tables`.

pub(crate) mod graph;
pub(crate) mod keys;
pub(crate) mod parameters;
pub(crate) mod program;
pub(crate) mod query;
