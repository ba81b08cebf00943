//! Kernels that transform rows: between coefficients and values.

pub(super) mod fft;
pub(super) mod horner;
pub(super) mod ntt;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(super) mod vector_fft;
mod verbs;
