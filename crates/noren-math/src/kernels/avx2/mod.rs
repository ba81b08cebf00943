//! Kernels for x86-64 with AVX2 and FMA: four residues to a vector, multiplied as integers in `f64`.

use std::arch::is_x86_feature_detected;

use super::fma::fma_kernels;
use super::table::Kernels;

pub(super) mod binary;
mod lanes;
mod multiples;
mod windows;

fma_kernels!("avx2,fma");

pub(super) const TABLE: Kernels = Kernels {
    name: "avx2",
    supported: || {
        is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") && is_x86_feature_detected!("pclmulqdq")
    },
    add_binary_product: binary::add_binary_product,
    window_combination: windows::window_combination,
    window_dots: windows::window_dots,
    sub_multiples: multiples::sub_multiples,
    ..KERNELS
};
