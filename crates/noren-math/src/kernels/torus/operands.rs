//! The functions on torus words and their spectra, for words of 32 and of 64 bits, and their operands.

use crate::roots::monomial::Monomials;
use crate::roots::torus::{BLOCK, GROUP, GROUP_WORDS, TorusFft};
use crate::torus::digit::Digit;

/// The functions of one word.
#[derive(Clone, Copy)]
pub struct TorusKernels<T: 'static> {
    pub(in crate::kernels) forward: unsafe fn(&mut [f64], &[T], f64, &TorusFft),
    pub(in crate::kernels) forward_digits: unsafe fn(&mut [f64], &[T], Digit, &TorusFft, &[f64]),
    pub(in crate::kernels) inverse_add: unsafe fn(&mut [T], &mut [f64], &TorusFft),
    pub(in crate::kernels) products_add: unsafe fn(&mut [T], &TorusProducts, &mut [f64], &TorusFft),
    pub(in crate::kernels) rotate_difference: unsafe fn(&mut [T], &[T], usize, T),
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

/// Where in a matrix of spectra `[rows, columns]` of `points` points a group of one of them starts.
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
