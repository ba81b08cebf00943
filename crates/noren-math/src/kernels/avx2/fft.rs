//! The special FFT over four lanes.

use super::arithmetic::transpose as transpose_quarter;
use super::float::{Vector, WIDTH, add, load, mul, splat, store, sub};
use crate::kernels::vector_fft::vector_fft;

vector_fft!("avx2");

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
