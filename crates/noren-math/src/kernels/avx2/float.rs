//! Vectors of four numbers, for the transforms in `f64`.

use std::arch::x86_64::*;

/// Four numbers.
pub(super) type Vector = __m256d;

/// How many numbers a vector holds.
pub(super) const WIDTH: usize = 4;

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn load(numbers: &[f64; WIDTH]) -> Vector {
    // SAFETY: the reference is valid for the 32 bytes that are read; the load needs no alignment.
    unsafe { _mm256_loadu_pd(numbers.as_ptr()) }
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn store(numbers: &mut [f64; WIDTH], vector: Vector) {
    // SAFETY: the reference is valid for the 32 bytes that are written; the store needs no alignment.
    unsafe { _mm256_storeu_pd(numbers.as_mut_ptr(), vector) }
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn splat(number: f64) -> Vector {
    _mm256_set1_pd(number)
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn add(a: Vector, b: Vector) -> Vector {
    _mm256_add_pd(a, b)
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn sub(a: Vector, b: Vector) -> Vector {
    _mm256_sub_pd(a, b)
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn mul(a: Vector, b: Vector) -> Vector {
    _mm256_mul_pd(a, b)
}
