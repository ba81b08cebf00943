//! The classes of `noren.programs`.

pub(crate) mod program;
pub(crate) mod table;
