//! The verbs that transform rows.

use crate::kernels::call::{assert_lengths, call};
use crate::kernels::table::Kernels;
use crate::roots::fft::FftTable;
use crate::roots::ntt::{InverseScale, NttTable};

impl Kernels {
    /// From coefficients to evaluations, a row in `[0, 4q)`; see [`NttTable::forward`].
    ///
    /// # Panics
    /// If the row's length is not the table's degree.
    pub fn ntt_forward(&self, row: &mut [u64], table: &NttTable) {
        assert_lengths(table.degree(), &[row.len()]);
        call!(self.ntt_forward(row, table));
    }

    /// From evaluations to coefficients, a row in `[0, 2q)`; see [`NttTable::inverse`].
    ///
    /// # Panics
    /// If the row's length is not the table's degree.
    pub fn ntt_inverse(&self, row: &mut [u64], table: &NttTable) {
        self.ntt_inverse_scaled(row, table, table.unit());
    }

    /// From evaluations to coefficients times the factor of `scale`, which must be one of this table; otherwise as
    /// [`Kernels::ntt_inverse`], and as fast.
    ///
    /// # Panics
    /// If the row's length is not the table's degree.
    pub fn ntt_inverse_scaled(&self, row: &mut [u64], table: &NttTable, scale: &InverseScale) {
        assert_lengths(table.degree(), &[row.len()]);
        call!(self.ntt_inverse(row, table, scale));
    }

    /// From packed coefficients to slot values; see [`FftTable::forward`]. All tables round alike.
    ///
    /// # Panics
    /// If a row's length is not the table's number of slots.
    pub fn fft_forward(&self, re: &mut [f64], im: &mut [f64], table: &FftTable) {
        assert_lengths(table.slots(), &[re.len(), im.len()]);
        call!(self.fft_forward(re, im, table));
    }

    /// From slot values to packed coefficients; see [`FftTable::inverse`]. All tables round alike.
    ///
    /// # Panics
    /// If a row's length is not the table's number of slots.
    pub fn fft_inverse(&self, re: &mut [f64], im: &mut [f64], table: &FftTable) {
        assert_lengths(table.slots(), &[re.len(), im.len()]);
        call!(self.fft_inverse(re, im, table));
    }

    /// The values of the polynomial with the coefficients a at points of the complex plane, by Horner's rule: real and imaginary
    /// parts. All tables round alike.
    ///
    /// # Panics
    /// If there is not a place for each part of each point.
    pub fn horner(&self, re: &mut [f64], im: &mut [f64], a: &[f64], points: [&[f64]; 2]) {
        assert_lengths(re.len(), &[im.len(), points[0].len(), points[1].len()]);
        call!(self.horner(re, im, a, points));
    }
}
