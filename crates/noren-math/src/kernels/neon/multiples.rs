//! Multiples of rows of 32-bit words, four to a vector.

use std::arch::aarch64::*;

use crate::kernels::torus::multiples::vector_multiples;

vector_multiples!("neon", 4, int32x4_t, vld1q_s32, vst1q_s32, vdupq_n_s32, vmulq_s32, vsubq_s32);
