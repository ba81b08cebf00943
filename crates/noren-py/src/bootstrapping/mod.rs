//! The classes of `noren.bootstrapping`.

pub(crate) mod bootstrapper;
pub(crate) mod keys;
