//! Kernels for x86-64 with AVX2.

use std::arch::is_x86_feature_detected;

use super::portable;
use super::table::Kernels;

pub(super) const TABLE: Kernels =
    Kernels { name: "avx2", supported: || is_x86_feature_detected!("avx2"), ..portable::TABLE };
