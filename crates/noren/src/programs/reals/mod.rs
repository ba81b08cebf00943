//! Tables of real numbers, in CKKS: plans of parameters and keys, encryption, decisions by [switching](crate::switching), bytes.

pub(crate) mod decisions;
pub(crate) mod encrypted;
pub(crate) mod plan;
mod wire;
