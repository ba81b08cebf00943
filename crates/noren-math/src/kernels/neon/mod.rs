//! Kernels for AArch64 with NEON: four residues to two registers, multiplied as integers in `f64`.
//!
//! Their results are tested under emulation; their times have not been measured on a CPU.

use std::arch::is_aarch64_feature_detected;

use super::fma::fma_kernels;
use super::table::Kernels;

mod lanes;
mod multiples;

fma_kernels!("neon");

pub(super) const TABLE: Kernels = Kernels {
    name: "neon",
    supported: || is_aarch64_feature_detected!("neon"),
    sub_multiples: multiples::sub_multiples,
    ..KERNELS
};
