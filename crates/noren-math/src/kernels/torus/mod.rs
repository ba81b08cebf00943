//! Kernels on words of the torus and their spectra.

#[cfg(target_arch = "x86_64")]
pub(super) mod blocks;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(super) mod halves;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(super) mod layers;
pub(super) mod multiples;
pub(crate) mod operands;
pub(super) mod portable;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(super) mod vector;
mod verbs;

pub use operands::{TorusProducts, Turns};
