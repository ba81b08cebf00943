//! Vectors of eight numbers, for the transforms in `f64`.

use std::arch::x86_64::*;

/// Eight numbers.
pub(super) type Vector = __m512d;

/// How many numbers a vector holds.
pub(super) const WIDTH: usize = 8;

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn load(numbers: &[f64; WIDTH]) -> Vector {
    // SAFETY: the reference is valid for the 64 bytes that are read; the load needs no alignment.
    unsafe { _mm512_loadu_pd(numbers.as_ptr()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn store(numbers: &mut [f64; WIDTH], vector: Vector) {
    // SAFETY: the reference is valid for the 64 bytes that are written; the store needs no alignment.
    unsafe { _mm512_storeu_pd(numbers.as_mut_ptr(), vector) }
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn splat(number: f64) -> Vector {
    _mm512_set1_pd(number)
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn add(a: Vector, b: Vector) -> Vector {
    _mm512_add_pd(a, b)
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn sub(a: Vector, b: Vector) -> Vector {
    _mm512_sub_pd(a, b)
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn mul(a: Vector, b: Vector) -> Vector {
    _mm512_mul_pd(a, b)
}

/// Exchanges rows and columns of 8 x 8 numbers.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn transpose(rows: &mut [Vector; WIDTH]) {
    let mut x = *rows;
    // Numbers of row pairs: x[2i] has columns 0, 2, 4, 6 of rows 2i and 2i + 1, x[2i + 1] has columns 1, 3, 5, 7.
    for i in 0..WIDTH / 2 {
        x[2 * i] = _mm512_unpacklo_pd(rows[2 * i], rows[2 * i + 1]);
        x[2 * i + 1] = _mm512_unpackhi_pd(rows[2 * i], rows[2 * i + 1]);
    }
    // Pairs of row quadruples: y[4h + k] has columns k and k + 4 of rows 4h..4h + 4.
    let mut y = x;
    for h in 0..2 {
        for k in 0..2 {
            let (upper, lower) = (x[4 * h + k], x[4 * h + 2 + k]);
            y[4 * h + k] = _mm512_shuffle_f64x2::<0x88>(upper, lower);
            y[4 * h + 2 + k] = _mm512_shuffle_f64x2::<0xdd>(upper, lower);
        }
    }
    for k in 0..WIDTH / 2 {
        rows[k] = _mm512_shuffle_f64x2::<0x88>(y[k], y[4 + k]);
        rows[4 + k] = _mm512_shuffle_f64x2::<0xdd>(y[k], y[4 + k]);
    }
}
