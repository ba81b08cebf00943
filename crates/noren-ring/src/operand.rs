//! An element as it enters a key switch: written down, or a sum of products that never is.

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
        }
    }

    /// The words of a range of the row at a limb: where they are, or written to `memory`, which is as long.
    pub(crate) fn words<'b>(&self, ring: &Ring, limb: usize, range: Range<usize>, memory: &'b mut [u64]) -> &'b [u64]
    where
        'a: 'b,
    {
        match self {
            Self::Element(element) => &element.limb(limb)[range],
            Self::Products(_) => {
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
        }
    }
}
