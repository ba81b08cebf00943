//! The special FFT over eight lanes.

use super::float::{self, Vector, WIDTH, add, load, mul, splat, store, sub};
use crate::kernels::transforms::vector_fft::vector_fft;

vector_fft!("avx512f");

/// Exchanges rows and columns of 8 x 8 numbers.
#[inline]
#[target_feature(enable = "avx512f")]
fn transpose(rows: &mut Rows) {
    let mut x = [splat(0.0); LANES];
    for (x, [row]) in x.iter_mut().zip(rows.iter()) {
        *x = load(row);
    }
    float::transpose(&mut x);
    for ([row], x) in rows.iter_mut().zip(x) {
        store(row, x);
    }
}
