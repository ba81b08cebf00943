//! The special FFT by the kernels in use.

use crate::kernels::kernels;
use crate::roots::fft::FftTable;

impl FftTable {
    /// From packed coefficients to slots (decode): `out_j = sum_k v_k zeta^(k 5^j)`, `v = re + i im`.
    ///
    /// Shapes: `re` and `im` are `[n]`; in, `re[k] = c_k` and `im[k] = c_{k+n}`; out, slot `j` at `j`.
    /// The error relative to the largest output is of the order of `log2(n) 2^-53`.
    ///
    /// # Panics
    /// If a length is not `n`.
    pub fn forward(&self, re: &mut [f64], im: &mut [f64]) {
        kernels().fft_forward(re, im, self);
    }

    /// From slots to packed coefficients (encode): the inverse of [`FftTable::forward`], including `1/n`.
    ///
    /// # Panics
    /// If a length is not `n`.
    pub fn inverse(&self, re: &mut [f64], im: &mut [f64]) {
        kernels().fft_inverse(re, im, self);
    }
}
