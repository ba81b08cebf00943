//! The suites of a comparison.

pub(super) mod chain;
pub(super) mod client;
pub(super) mod reduction;
pub(super) mod tfhe;
pub(super) mod weak_client;

mod schemes;
