//! Kernels of random streams and samples.

pub(crate) mod chacha;
pub(super) mod gaussian;
pub(super) mod normal;
mod verbs;
