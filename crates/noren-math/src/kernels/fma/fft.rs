//! The special FFT over four lanes.

/// Expands to these kernels over the lanes in scope, whose functions need the CPU features that the string names.
macro_rules! fma_fft {
    ($features:literal) => {
        use super::lanes::{
            Vector, WIDTH, add, load_numbers as load, mul, splat, store_numbers as store, sub,
            transpose as transpose_quarter,
        };
        use crate::kernels::transforms::vector_fft::vector_fft;

        vector_fft!($features);

        /// Exchanges rows and columns of 8 x 8 numbers, by quarters.
        #[inline]
        #[target_feature(enable = $features)]
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
    };
}

pub(in crate::kernels) use fma_fft;
