//! The special FFT over four lanes.

use std::arch::x86_64::*;

use super::arithmetic::transpose as transpose_quarter;
use crate::kernels::vector_fft::vector_fft;

vector_fft!("avx2");

/// Four numbers.
type Vector = __m256d;

/// How many numbers a vector holds.
const WIDTH: usize = 4;

#[inline]
#[target_feature(enable = "avx2")]
fn load(numbers: &[f64; WIDTH]) -> Vector {
    // SAFETY: the reference is valid for the 32 bytes that are read; the load needs no alignment.
    unsafe { _mm256_loadu_pd(numbers.as_ptr()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn store(numbers: &mut [f64; WIDTH], vector: Vector) {
    // SAFETY: the reference is valid for the 32 bytes that are written; the store needs no alignment.
    unsafe { _mm256_storeu_pd(numbers.as_mut_ptr(), vector) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn splat(number: f64) -> Vector {
    _mm256_set1_pd(number)
}

#[inline]
#[target_feature(enable = "avx2")]
fn add(a: Vector, b: Vector) -> Vector {
    _mm256_add_pd(a, b)
}

#[inline]
#[target_feature(enable = "avx2")]
fn sub(a: Vector, b: Vector) -> Vector {
    _mm256_sub_pd(a, b)
}

#[inline]
#[target_feature(enable = "avx2")]
fn mul(a: Vector, b: Vector) -> Vector {
    _mm256_mul_pd(a, b)
}

/// Exchanges rows and columns of 8 x 8 numbers, by quarters.
#[inline]
#[target_feature(enable = "avx2")]
fn transpose(rows: &mut Rows) {
    let mut turned = *rows;
    for top in [0, 4] {
        for part in 0..PARTS {
            let quarter = [0, 1, 2, 3].map(|i| load(&rows[top + i][part]));
            for (i, x) in transpose_quarter(quarter).into_iter().enumerate() {
                store(&mut turned[WIDTH * part + i][top / WIDTH], x);
            }
        }
    }
    *rows = turned;
}
