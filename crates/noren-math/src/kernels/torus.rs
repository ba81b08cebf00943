//! The verbs on torus words and their spectra, for words of 32 and of 64 bits.

use super::Kernels;
use super::table::call;
use crate::torus::fft::{BLOCK, GROUP, GROUP_WORDS, TorusFft};
use crate::torus::gadget::{Digit, Gadget};
use crate::torus::monomial::Monomials;
use crate::torus::word::Torus;

/// The functions of one word.
#[derive(Clone, Copy)]
pub struct TorusKernels<T: 'static> {
    pub(super) forward: unsafe fn(&mut [f64], &[T], f64, &TorusFft),
    pub(super) forward_digits: unsafe fn(&mut [f64], &[T], Digit, &TorusFft, &[f64]),
    pub(super) inverse_add: unsafe fn(&mut [T], &mut [f64], &TorusFft),
    pub(super) products_add: unsafe fn(&mut [T], &TorusProducts, &mut [f64], &TorusFft),
    pub(super) rotate_difference: unsafe fn(&mut [T], &[T], usize, T),
}

/// Sums of products of spectra: of `rows` digits with each column of a matrix.
#[derive(Debug, Clone, Copy)]
pub struct TorusProducts<'a> {
    /// The spectra of the digits, `stride` numbers from the start of one to that of the next.
    pub digits: &'a [f64],
    /// See `digits`.
    pub stride: usize,
    /// How many digits.
    pub rows: usize,
    /// How many sums.
    pub columns: usize,
    /// Torus spectra `[rows, columns]`, in the order of [`TorusFft::write_key`]; with turns `[rows, 3, columns]`.
    pub key: &'a [f64],
    /// How each three matrices make one.
    pub turns: Option<Turns<'a>>,
    /// Numbers that are needed soon, of any matrix: they may be called into a cache on the way.
    pub ahead: &'a [f64],
}

/// Two monomials `X^a` and `X^b`: three matrices `K_1, K_2, K_3` make one, `u K_1 + v K_2 + u v K_3` for `u = X^a - 1` and
/// `v = X^b - 1`.
#[derive(Debug, Clone, Copy)]
pub struct Turns<'a> {
    /// Where their spectra come from.
    pub monomials: &'a Monomials,
    /// a and b, below 2N.
    pub exponents: [usize; 2],
}

impl TorusProducts<'_> {
    /// How many matrices make one.
    pub(crate) const fn terms(&self) -> usize {
        if self.turns.is_some() { PAIR_TERMS } else { 1 }
    }
}

/// The matrices of two bits.
pub(crate) const PAIR_TERMS: usize = 3;

/// Where in a matrix of spectra `[rows, columns]` of so many points a group of one of them starts.
///
/// A kernel works through the points block by block. Of each block come all columns, one after the other, and of a column
/// four groups of all rows, then the next four: a matrix is read from one end to the other.
#[must_use]
pub(crate) const fn key_place(
    points: usize,
    (rows, columns): (usize, usize),
    (row, column): (usize, usize),
    group: usize,
) -> usize {
    let groups = points / GROUP;
    let in_block = if points < BLOCK { groups } else { BLOCK / GROUP };
    let quad = if groups < QUAD { groups } else { QUAD };
    let (block, quads) = (group / in_block, group % in_block / quad);
    let run = (block * columns + column) * (in_block / quad) + quads;
    ((run * rows + row) * quad + group % quad) * GROUP_WORDS
}

/// Groups whose sums a kernel holds at a time.
pub(crate) const QUAD: usize = 4;

impl Kernels {
    /// The spectrum of `scale` times the signed integers of `a`; see [`TorusFft::forward`].
    ///
    /// # Panics
    /// If a length is not the degree.
    pub fn torus_forward<T: Torus>(&self, spectrum: &mut [f64], a: &[T], scale: f64, fft: &TorusFft) {
        assert_degree(fft, &[spectrum.len(), a.len()]);
        let table = T::kernels(self);
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
        assert_degree(fft, &[spectrum.len(), shifted.len()]);
        assert!(level < gadget.levels(), "digit {level} of {}", gadget.levels());
        let table = T::kernels(self);
        call!(table.forward_digits(spectrum, shifted, gadget.digit::<T>(level), fft, ahead));
    }

    /// Adds the words nearest to what a torus spectrum stands for; see [`TorusFft::inverse_add`].
    ///
    /// # Panics
    /// If a length is not the degree.
    pub fn torus_inverse_add<T: Torus>(&self, out: &mut [T], spectrum: &mut [f64], fft: &TorusFft) {
        assert_degree(fft, &[spectrum.len(), out.len()]);
        let table = T::kernels(self);
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
        let table = T::kernels(self);
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
        let table = T::kernels(self);
        call!(table.rotate_difference(out, a, rotation, offset));
    }
}

#[track_caller]
fn assert_degree(fft: &TorusFft, found: &[usize]) {
    for &len in found {
        assert_eq!(len, fft.degree(), "rows have as many words as the transform's degree");
    }
}
