//! Kernels on rows of words: residues modulo a prime, words modulo `2^64`, and polynomials over GF(2).

pub(super) mod binary;
pub(super) mod operands;
mod panel_verbs;
pub(super) mod panels;
pub mod places;
pub(super) mod portable;
pub(super) mod portable_panels;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(super) mod vector;
mod verbs;
pub(super) mod wide_reduction;
pub(super) mod windows;

pub use operands::{KeyRows, MAX_TERMS, MovedProducts, WeightedRows, WeightedSum};
pub use panels::Panel;
