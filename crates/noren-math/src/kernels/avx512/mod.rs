//! Kernels for x86-64 with AVX-512 and IFMA.

use std::arch::is_x86_feature_detected;

use super::portable;
use super::table::Kernels;

pub(super) const TABLE: Kernels = Kernels {
    name: "avx512",
    supported: || {
        is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512ifma")
    },
    ..portable::TABLE
};
