//! The verb on multiples of rows of 32-bit words.

use crate::kernels::table::Kernels;
use crate::kernels::verbs::call::call;

impl Kernels {
    /// `out_b -= sum_r factors_{b, r} rows_r` modulo `2^32`, for each b.
    ///
    /// Shapes: `outs` is `[batch, len]`, `factors` is `[batch, count]`, `rows` is `[count, len]`. Each row is read once for
    /// the whole batch.
    ///
    /// # Panics
    /// If the lengths do not fit together.
    pub fn sub_multiples(&self, outs: &mut [u32], factors: &[u32], rows: &[u32], len: usize) {
        if outs.is_empty() || rows.is_empty() {
            return;
        }
        assert!(len > 0 && outs.len().is_multiple_of(len) && rows.len().is_multiple_of(len), "rows of {len} words");
        assert_eq!(factors.len(), outs.len() / len * (rows.len() / len), "a factor for each row and sum");
        call!(self.sub_multiples(outs, factors, rows, len));
    }
}
