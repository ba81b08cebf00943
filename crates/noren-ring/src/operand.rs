//! An element as it enters a key switch: written down, or a sum that never is.

use std::ops::Range;

use crate::poly::{Eval, Poly};
use crate::ring::Ring;

/// An element that a key switch reads block by block.
///
/// The parts of a product of ciphertexts are sums of few products. A switch forms them where it needs them, so that they
/// never go through memory.
#[derive(Debug, Clone, Copy)]
pub enum Operand<'a> {
    /// The element.
    Element(&'a Poly<Eval>),
    /// `sum_j a_j b_j` over the pairs `(a_j, b_j)`.
    Products(&'a [(&'a Poly<Eval>, &'a Poly<Eval>)]),
    /// Products, multiples and a constant, all added.
    Sum(&'a Sum<'a>),
}

/// `sum_j a_j b_j + sum_k w_k x_k + c` with integers `w_k` and c.
///
/// Integers are given by their residues, one for each limb of the ring that reads the sum, from its first limb on.
#[derive(Debug, Clone, Default)]
pub struct Sum<'a> {
    /// The pairs `(a_j, b_j)`.
    pub products: Vec<(&'a Poly<Eval>, &'a Poly<Eval>)>,
    /// The elements `x_k` with the residues of `w_k`.
    pub multiples: Vec<(&'a Poly<Eval>, Vec<u64>)>,
    /// The residues of c, if it is not 0.
    pub constant: Option<Vec<u64>>,
    /// The first limb of that ring.
    pub first: usize,
}

/// Words of a row that are summed up while they are near.
const SUMMED_WORDS: usize = 1 << 12;

impl Ring {
    /// An element written down, in one pass. Range: residues of integers in `[0, q)`.
    ///
    /// # Panics
    /// If an element lacks a limb of this ring, or an integer a residue.
    #[must_use]
    pub fn gather(&self, operand: Operand) -> Poly<Eval> {
        operand.check_covers(self);
        self.build(operand.is_secret(), |limb, out| operand.write(self, limb, 0, out))
    }
}

impl Sum<'_> {
    fn write(&self, ring: &Ring, limb: usize, start: usize, out: &mut [u64]) {
        let (kernels, q) = (ring.engine().kernels(), ring.basis().modulus(limb));
        for (block, out) in out.chunks_mut(SUMMED_WORDS).enumerate() {
            let start = start + block * SUMMED_WORDS;
            let range = start..start + out.len();
            let factor = |residues: &[u64]| q.shoup(residues[limb - self.first]);
            let mut multiples = &self.multiples[..];
            if !self.products.is_empty() {
                let rows =
                    self.products.iter().map(|&(a, b)| (&a.limb(limb)[range.clone()], &b.limb(limb)[range.clone()]));
                ring.add_products(limb, out, rows);
            } else if let Some(((x, residues), rest)) = multiples.split_first() {
                kernels.mul_scalar(out, &x.limb(limb)[range.clone()], factor(residues), q);
                multiples = rest;
            } else {
                out.fill(0);
            }
            for (x, residues) in multiples {
                kernels.mul_scalar_add_assign(out, &x.limb(limb)[range.clone()], factor(residues), q);
            }
            if let Some(residues) = &self.constant {
                kernels.add_scalar_assign(out, residues[limb - self.first], q);
            }
        }
    }
}

impl<'a> From<&'a Poly<Eval>> for Operand<'a> {
    fn from(element: &'a Poly<Eval>) -> Self {
        Self::Element(element)
    }
}

impl<'a> Operand<'a> {
    /// # Panics
    /// If an element lacks a limb of the ring.
    pub(crate) fn check_covers(&self, ring: &Ring) {
        self.elements(|element| ring.check_covers(element));
    }

    /// Whether an element is secret.
    pub(crate) fn is_secret(&self) -> bool {
        let mut secret = false;
        self.elements(|element| secret |= element.is_secret());
        secret
    }

    /// Writes the words from `start` on of the row at a limb.
    pub(crate) fn write(&self, ring: &Ring, limb: usize, start: usize, out: &mut [u64]) {
        let range = start..start + out.len();
        match self {
            Self::Element(element) => out.copy_from_slice(&element.limb(limb)[range]),
            Self::Products([(a, b)]) => {
                let (kernels, q) = (ring.engine().kernels(), ring.basis().modulus(limb));
                kernels.mul(out, &a.limb(limb)[range.clone()], &b.limb(limb)[range], q);
            }
            Self::Products(pairs) => {
                let row = |a: &'a Poly<Eval>| &a.limb(limb)[range.clone()];
                ring.add_products(limb, out, pairs.iter().map(|(a, b)| (row(a), row(b))));
            }
            Self::Sum(sum) => sum.write(ring, limb, start, out),
        }
    }

    /// The words of a range of the row at a limb: where they are, or written to `memory`, which is as long.
    pub(crate) fn words<'b>(&self, ring: &Ring, limb: usize, range: Range<usize>, memory: &'b mut [u64]) -> &'b [u64]
    where
        'a: 'b,
    {
        match self {
            Self::Element(element) => &element.limb(limb)[range],
            Self::Products(_) | Self::Sum(_) => {
                self.write(ring, limb, range.start, memory);
                memory
            }
        }
    }

    fn elements(&self, mut visit: impl FnMut(&Poly<Eval>)) {
        match self {
            Self::Element(element) => visit(element),
            Self::Products(pairs) => pairs.iter().for_each(|(a, b)| {
                visit(a);
                visit(b);
            }),
            Self::Sum(sum) => {
                sum.products.iter().flat_map(|&(a, b)| [a, b]).for_each(&mut visit);
                sum.multiples.iter().for_each(|(x, _)| visit(x));
            }
        }
    }
}
