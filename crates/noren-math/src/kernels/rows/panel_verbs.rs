//! The verbs on panels.

use crate::kernels::call::{assert_lengths, call};
use crate::kernels::rows::operands::{KeyRows, MAX_TERMS};
use crate::kernels::rows::panels::Panel;
use crate::kernels::rows::places::GROUP;
use crate::kernels::table::Kernels;
use crate::modulus::Modulus;

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
