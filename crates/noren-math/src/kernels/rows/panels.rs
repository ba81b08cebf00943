//! Several sums of products side by side, which read what they have in common once.
//!
//! A panel is a stretch of many rows that are multiplied with each other, cut into groups of eight words: of each group, what
//! is read in turn lies in turn.

use crate::kernels::rows::operands::KeyRows;
use crate::modulus::Modulus;

/// Sums of products of a panel.
type Products = unsafe fn(&mut [&mut [u64]], &Panel, bool, &Modulus);
/// Sums of products of stretched factors with rows of keys, for both halves of each sum.
type Stretched = unsafe fn(&mut [[&mut [u64]; 2]], &[&[u64]], KeyRows, &Modulus);

/// The kernels of panels.
#[derive(Clone, Copy)]
pub(in crate::kernels) struct PanelKernels {
    pub(in crate::kernels) products: Products,
    pub(in crate::kernels) stretched: Stretched,
    pub(in crate::kernels) regroup: unsafe fn(&mut [u64], &[u64], usize),
    pub(in crate::kernels) spread: unsafe fn(&mut [u64], &[u64], usize, usize),
}

/// The factors and images of [`Kernels::panel_products`](crate::kernels::Kernels::panel_products).
#[derive(Debug, Clone, Copy)]
pub struct Panel<'a> {
    /// Shape `[group, sum, term, word]`, of groups of [`GROUP`](crate::kernels::rows::places::GROUP) words.
    pub factors: &'a [u64],
    /// Shape `[group, term, half, word]`.
    pub images: &'a [u64],
    /// Words that are needed next: they may be called into a cache while these are multiplied.
    pub next: [&'a [u64]; 2],
}
