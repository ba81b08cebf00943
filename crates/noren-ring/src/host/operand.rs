//! Operands of a key switch, block by block.

use std::ops::Range;

use crate::operand::{Operand, Sum};
use crate::poly::{Eval, Poly};
use crate::window::Window;

/// Words of a row that are summed up while they are near.
const SUMMED_WORDS: usize = 1 << 12;

impl Window {
    /// An operand, written down. Sums of products are cut into ranges, others into rows.
    pub(super) fn gather(&self, operand: Operand) -> Poly<Eval> {
        match operand {
            Operand::Products(_) => self.build_pointwise(operand.is_secret(), |limb, range, out| {
                operand.write(self, limb, range.start, out);
            }),
            _ => self.build(operand.is_secret(), |limb, out| operand.write(self, limb, 0, out)),
        }
    }
}

impl Sum<'_> {
    fn write(&self, ring: &Window, limb: usize, start: usize, out: &mut [u64]) {
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

impl<'a> Operand<'a> {
    /// Writes the words from `start` on of the row at a limb.
    pub(crate) fn write(&self, ring: &Window, limb: usize, start: usize, out: &mut [u64]) {
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
    pub(crate) fn words<'b>(&self, ring: &Window, limb: usize, range: Range<usize>, memory: &'b mut [u64]) -> &'b [u64]
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
}
