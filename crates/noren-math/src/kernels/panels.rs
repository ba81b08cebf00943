//! Several sums of products side by side, which read what they have in common once.
//!
//! A panel is a stretch of many rows that are multiplied with each other, cut into groups of eight words: of each group, what
//! is read in turn lies in turn.

use super::places::GROUP;
use super::table::{Kernels, KeyRows, MAX_TERMS, assert_lengths, call};
use crate::modulus::Modulus;

/// Sums of products of a panel.
type Products = unsafe fn(&mut [&mut [u64]], &Panel, bool, &Modulus);
/// Sums of products of stretched factors with rows of keys, for both halves of each sum.
type Stretched = unsafe fn(&mut [[&mut [u64]; 2]], &[&[u64]], KeyRows, &Modulus);

/// The kernels of panels.
#[derive(Clone, Copy)]
pub(super) struct PanelKernels {
    pub(super) products: Products,
    pub(super) stretched: Stretched,
    pub(super) regroup: unsafe fn(&mut [u64], &[u64], usize),
    pub(super) spread: unsafe fn(&mut [u64], &[u64], usize, usize),
}

/// What [`Kernels::panel_products`] multiplies.
#[derive(Debug, Clone, Copy)]
pub struct Panel<'a> {
    /// Shape `[group, sum, term, word]`, of groups of [`GROUP`] words.
    pub factors: &'a [u64],
    /// Shape `[group, term, half, word]`.
    pub images: &'a [u64],
    /// Words that are needed next: they may be called into a cache while these are multiplied.
    pub next: [&'a [u64]; 2],
}

impl Kernels {
    /// `out_{b, i} = sum_j f_{b, j} y_{j, i}` for the halves `i = 0, 1` of each sum b, word by word; added to what is there if
    /// `add`. Range: factors and images in `[0, 2^50)`, sums that are added to in `[0, q)`, out `[0, q)`.
    ///
    /// The results are rows of whole groups of [`GROUP`] words, for each sum and half.
    ///
    /// # Panics
    /// If the shapes do not fit together, a row has no whole groups, or there is no term or more than [`MAX_TERMS`].
    pub fn panel_products(&self, out: &mut [&mut [u64]], panel: &Panel, add: bool, q: &Modulus) {
        let Panel { factors, images, .. } = panel;
        let Some(n) = out.first().map(|row| row.len()).filter(|&n| n > 0) else { return };
        out.iter().for_each(|row| assert_lengths(n, &[row.len()]));
        let terms = images.len() / (2 * n);
        assert!((1..=MAX_TERMS).contains(&terms), "{terms} terms, not from 1 to {MAX_TERMS}");
        assert!(n.is_multiple_of(GROUP) && out.len().is_multiple_of(2), "whole groups, and both halves of each sum");
        assert_lengths(2 * terms * n, &[images.len()]);
        assert_lengths(out.len() / 2 * terms * n, &[factors.len()]);
        call!(self.panels.products(out, panel, add, q));
    }

    /// `out_{b, i} = sum_j f_{b, j} rows_{j, i}` for the halves `i = 0, 1` of each sum b, word by word, where each word of a
    /// factor stands for as many words as rows are longer than factors. Range: in `[0, 2^50)`, out `[0, q)`.
    ///
    /// Shapes: `out` is `[sum][half]` of rows, `factors` is `[sum, term]` of rows, `rows` is `[term, half, word]`, of which those
    /// past the terms are not read.
    ///
    /// # Panics
    /// If the results or the factors differ in length or number, a word of a factor does not stand for a multiple of [`GROUP`]
    /// words, there are fewer than two rows for each term, or more than [`MAX_TERMS`] terms.
    pub fn stretched_products(&self, out: &mut [[&mut [u64]; 2]], factors: &[&[u64]], rows: KeyRows, q: &Modulus) {
        let Some(n) = out.first().map(|pair| pair[0].len()) else { return };
        out.as_flattened().iter().for_each(|row| assert_lengths(n, &[row.len()]));
        let terms = factors.len() / out.len();
        assert!(terms <= MAX_TERMS, "{terms} products are too many: add at most {MAX_TERMS} at once");
        assert_eq!(out.len() * terms, factors.len(), "each sum has one number of factors");
        if let Some(first) = factors.first() {
            let stretch = n.checked_div(first.len()).unwrap_or(0);
            assert!(
                stretch.is_multiple_of(GROUP),
                "a word cannot stand for {stretch} words: only for groups of {GROUP}"
            );
            factors.iter().for_each(|factor| assert_lengths(n, &[stretch * factor.len()]));
        }
        assert!(rows.covers(terms, n), "there are no rows of {n} words for {terms} factors");
        call!(self.panels.stretched(out, factors, rows, q));
    }

    /// `out[g, r] = a[r, g]` for the groups g of [`GROUP`] words of each row r of `width` words.
    ///
    /// # Panics
    /// If there are no whole rows of whole groups, or not as many words in both.
    pub fn regroup(&self, out: &mut [u64], a: &[u64], width: usize) {
        assert_lengths(a.len(), &[out.len()]);
        assert!(width > 0 && width.is_multiple_of(GROUP) && a.len().is_multiple_of(width), "rows of whole groups");
        call!(self.panels.regroup(out, a, width));
    }

    /// `out[i stride + w] = row[i width + w]` for all w below `width`: pieces of a row, written apart and past the caches where
    /// pieces are whole lines.
    ///
    /// # Panics
    /// If the row does not consist of pieces, or there is no room for one.
    pub fn spread(&self, out: &mut [u64], row: &[u64], width: usize, stride: usize) {
        assert!(width > 0 && width <= stride && row.len().is_multiple_of(width), "pieces of {width} words");
        let needed = (row.len() / width).checked_sub(1).map_or(0, |before| before * stride + width);
        assert!(needed <= out.len(), "pieces need {needed} words, not {}", out.len());
        call!(self.panels.spread(out, row, width, stride));
    }
}

pub(super) mod portable {
    use super::{GROUP, KeyRows, Modulus, Panel, PanelKernels};
    use crate::kernels::portable::WideReduction;

    /// The reference.
    pub(in crate::kernels) const TABLE: PanelKernels = PanelKernels { products, stretched, regroup, spread };

    fn products(out: &mut [&mut [u64]], &Panel { factors, images, .. }: &Panel, add: bool, q: &Modulus) {
        let (reduction, n, sums) = (WideReduction::new(q), out[0].len(), out.len() / 2);
        let terms = images.len() / (2 * n);
        for (row, out) in out.iter_mut().enumerate() {
            let (b, half) = (row / 2, row % 2);
            for (word, out) in out.iter_mut().enumerate() {
                let (group, lane) = (word / GROUP, word % GROUP);
                let factor = |j: usize| factors[((group * sums + b) * terms + j) * GROUP + lane];
                let image = |j: usize| images[((group * terms + j) * 2 + half) * GROUP + lane];
                let sum: u128 = (0..terms).map(|j| u128::from(factor(j)) * u128::from(image(j))).sum();
                *out = reduction.reduce(if add { sum + u128::from(*out) } else { sum });
            }
        }
    }

    fn stretched(out: &mut [[&mut [u64]; 2]], factors: &[&[u64]], rows: KeyRows, q: &Modulus) {
        let (reduction, n, terms) = (WideReduction::new(q), out[0][0].len(), factors.len() / out.len());
        for (b, pair) in out.iter_mut().enumerate() {
            for (half, out) in pair.iter_mut().enumerate() {
                for (i, out) in out.iter_mut().enumerate() {
                    let products = factors[b * terms..][..terms].iter().zip(rows.pairs(n));
                    let products = products.map(|(f, y)| u128::from(f[i * f.len() / n]) * u128::from(y[half][i]));
                    *out = reduction.reduce(products.sum());
                }
            }
        }
    }

    pub(in crate::kernels) fn regroup(out: &mut [u64], a: &[u64], width: usize) {
        let rows = a.len() / width;
        for (r, row) in a.chunks_exact(width).enumerate() {
            for (g, group) in row.as_chunks::<GROUP>().0.iter().enumerate() {
                out[(g * rows + r) * GROUP..][..GROUP].copy_from_slice(group);
            }
        }
    }

    pub(in crate::kernels) fn spread(out: &mut [u64], row: &[u64], width: usize, stride: usize) {
        row.chunks_exact(width)
            .zip(out.chunks_mut(stride))
            .for_each(|(piece, out)| out[..width].copy_from_slice(piece));
    }
}
