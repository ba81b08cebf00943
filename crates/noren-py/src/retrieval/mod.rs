//! The classes of `noren.retrieval` and `noren.intersection`.

pub(crate) mod intersection;
pub(crate) mod rows;
