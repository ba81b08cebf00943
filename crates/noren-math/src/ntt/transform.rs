//! The transform of one prime by the kernels in use.

use crate::kernels::kernels;
use crate::ntt::table::NttTable;

impl NttTable {
    /// From coefficients to evaluations, in place. Range: in `[0, 4q)`, out `[0, q)`.
    ///
    /// The range is the widest that costs nothing in any table: what writes the row may leave its last reductions out.
    ///
    /// # Panics
    /// If the row's length is not the degree.
    pub fn forward(&self, row: &mut [u64]) {
        kernels().ntt_forward(row, self);
    }

    /// From evaluations to coefficients, in place. Range: in `[0, 2q)`, out `[0, q)`.
    ///
    /// # Panics
    /// If the row's length is not the degree.
    pub fn inverse(&self, row: &mut [u64]) {
        kernels().ntt_inverse(row, self);
    }
}
