//! The verbs on torus words and their spectra.

use crate::kernels::call::call;
use crate::kernels::table::Kernels;
use crate::kernels::torus::operands::{TorusKernels, TorusProducts};
use crate::roots::torus::TorusFft;
use crate::torus::digit::Digit;
use crate::torus::gadget::Gadget;
use crate::torus::word::Torus;
use crate::torus::word::sealed::ForWords;

impl ForWords for Kernels {
    type Of<T: 'static> = TorusKernels<T>;

    fn for_u32(&self) -> &TorusKernels<u32> {
        &self.torus32
    }

    fn for_u64(&self) -> &TorusKernels<u64> {
        &self.torus64
    }
}

impl Kernels {
    /// The spectrum of `scale`, a power of two, times the signed integers of `a`; see [`TorusFft::forward`].
    ///
    /// # Panics
    /// If a length is not the degree.
    pub fn torus_forward<T: Torus>(&self, spectrum: &mut [f64], a: &[T], scale: f64, fft: &TorusFft) {
        assert_degree(fft, &[spectrum.len(), a.len()]);
        let table = T::choose(self);
        call!(table.forward(spectrum, a, scale, fft));
    }

    /// The spectrum of one digit, `d_{level + 1}`, of words to which [`Gadget::offset`] was added. Numbers of `ahead` may be
    /// called into a cache on the way.
    ///
    /// # Panics
    /// If a length is not the degree, or the gadget has no such digit in these words.
    pub fn torus_forward_digits<T: Torus>(
        &self,
        spectrum: &mut [f64],
        shifted: &[T],
        gadget: &Gadget,
        level: usize,
        fft: &TorusFft,
        ahead: &[f64],
    ) {
        assert!(level < gadget.levels(), "digit {level} of {}", gadget.levels());
        self.torus_forward_digit(spectrum, shifted, gadget.digit::<T>(level), fft, ahead);
    }

    /// The spectrum of a digit of words in which it is unsigned; see [`Kernels::torus_forward_digits`].
    pub(crate) fn torus_forward_digit<T: Torus>(
        &self,
        spectrum: &mut [f64],
        shifted: &[T],
        digit: Digit,
        fft: &TorusFft,
        ahead: &[f64],
    ) {
        assert_degree(fft, &[spectrum.len(), shifted.len()]);
        let table = T::choose(self);
        call!(table.forward_digits(spectrum, shifted, digit, fft, ahead));
    }

    /// Adds the words nearest to what a torus spectrum stands for; see [`TorusFft::inverse_add`].
    ///
    /// # Panics
    /// If a length is not the degree.
    pub fn torus_inverse_add<T: Torus>(&self, out: &mut [T], spectrum: &mut [f64], fft: &TorusFft) {
        assert_degree(fft, &[spectrum.len(), out.len()]);
        let table = T::choose(self);
        call!(table.inverse_add(out, spectrum, fft));
    }

    /// `out_c += sum_r digit_r key_(r, c)` for polynomials `out`, `[columns, N]`, to the nearest words. The scratch has as
    /// many numbers as `out` words.
    ///
    /// # Panics
    /// If a length is not the one that degree, rows and columns ask for.
    pub fn torus_products_add<T: Torus>(
        &self,
        out: &mut [T],
        products: &TorusProducts<'_>,
        scratch: &mut [f64],
        fft: &TorusFft,
    ) {
        let (n, rows) = (fft.degree(), products.rows);
        assert!(rows > 0, "a sum needs a term");
        assert!([out.len(), scratch.len()] == [products.columns * n; 2], "each column needs {n} words");
        assert!(products.stride >= n && products.digits.len() >= (rows - 1) * products.stride + n, "digits lack words");
        let words = rows * products.terms() * products.columns * n;
        assert_eq!(products.key.len(), words, "the length of a matrix of spectra");
        if let Some(turns) = &products.turns {
            assert_eq!(turns.monomials.degree(), n, "monomials of the degree");
            assert!(turns.exponents.iter().all(|&e| e < 2 * n), "X^{:?} of degree {n}", turns.exponents);
        }
        let table = T::choose(self);
        call!(table.products_add(out, products, scratch, fft));
    }

    /// `out = X^rotation a - a + offset` modulo `X^N + 1`, N the rows' length, the offset added to each coefficient. Range:
    /// rotation in `[0, 2N)`.
    ///
    /// # Panics
    /// If the rows differ in length, or the rotation is out of range.
    pub fn torus_rotate_difference<T: Torus>(&self, out: &mut [T], a: &[T], rotation: usize, offset: T) {
        assert_eq!(out.len(), a.len(), "the rows of one call need one length");
        assert!(rotation < 2 * a.len(), "rotation {rotation} of degree {}", a.len());
        let table = T::choose(self);
        call!(table.rotate_difference(out, a, rotation, offset));
    }

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

#[track_caller]
fn assert_degree(fft: &TorusFft, found: &[usize]) {
    for &len in found {
        assert_eq!(len, fft.degree(), "rows have as many words as the transform's degree");
    }
}
