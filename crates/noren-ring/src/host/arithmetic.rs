//! Sums, products, images and transforms, word by word.

use noren_math::kernels::{Kernels, MAX_TERMS};

use crate::device::{Change, Direction, Operation};
use crate::memory::Limbs;
use crate::poly::{Eval, Poly};
use crate::window::Window;

/// Results of this many words go past the caches: with two operands they are 24 MiB, and about a cache of 32 MiB.
const STREAMED_WORDS: usize = 1 << 20;

impl Window {
    pub(crate) fn transform(&self, a: &mut Limbs, direction: Direction) {
        let kernels = self.engine().kernels();
        self.update(a, |limb, row| match direction {
            Direction::Forward => self.basis().transform(limb).forward(kernels, row),
            Direction::Inverse => self.basis().transform(limb).inverse(kernels, row),
        });
    }

    pub(crate) fn compute(&self, operation: Operation) -> Limbs {
        let (kernels, start) = (self.engine().kernels(), self.range().start);
        let streams = self.limbs() * self.degree() >= STREAMED_WORDS;
        let add = if streams { Kernels::add_streamed } else { Kernels::add };
        let sub = if streams { Kernels::sub_streamed } else { Kernels::sub };
        let mul = if streams { Kernels::mul_streamed } else { Kernels::mul };
        let poly: Poly<Eval> = self.build_pointwise(operation.is_secret(), |limb, range, out| {
            let q = self.basis().modulus(limb);
            match operation {
                Operation::Add(a, b) => add(kernels, out, &a.limb(limb)[range.clone()], &b.limb(limb)[range], q),
                Operation::Sub(a, b) => sub(kernels, out, &a.limb(limb)[range.clone()], &b.limb(limb)[range], q),
                Operation::Neg(a) => kernels.neg(out, &a.limb(limb)[range], q),
                Operation::Mul(a, b) => mul(kernels, out, &a.limb(limb)[range.clone()], &b.limb(limb)[range], q),
                Operation::Scale(a, residues) => {
                    kernels.mul_scalar(out, &a.limb(limb)[range], q.shoup(residues[limb - start]), q);
                }
                Operation::Image(a, automorphism) => automorphism.map(kernels, a.limb(limb), range.start, out),
            }
        });
        poly.into_limbs()
    }

    pub(crate) fn change(&self, x: &mut Limbs, change: Change) {
        x.mark(change.is_secret());
        let (kernels, start) = (self.engine().kernels(), self.range().start);
        self.update_pointwise(x, |limb, range, x| {
            let q = self.basis().modulus(limb);
            match change {
                Change::Add(b) => kernels.add_assign(x, &b.limb(limb)[range], q),
                Change::Sub(b) => kernels.sub_assign(x, &b.limb(limb)[range], q),
                Change::Neg => kernels.neg_assign(x, q),
                Change::Mul(b) => kernels.mul_assign(x, &b.limb(limb)[range], q),
                Change::AddProduct(a, b) => {
                    kernels.mul_add_assign(x, &a.limb(limb)[range.clone()], &b.limb(limb)[range], q);
                }
                Change::Scale(residues) => kernels.mul_scalar_assign(x, q.shoup(residues[limb - start]), q),
                Change::AddScaled(a, residues) => {
                    kernels.mul_scalar_add_assign(x, &a.limb(limb)[range], q.shoup(residues[limb - start]), q);
                }
                Change::AddConstant(residues) => kernels.add_scalar_assign(x, residues[limb - start], q),
                Change::AddImage(a, automorphism) => automorphism.add(kernels, q, a.limb(limb), range.start, x),
            }
        });
    }

    /// `out = sum a_j * b_j` modulo the prime of `limb`, for rows of any common length.
    pub(crate) fn add_products<'a>(
        &self,
        limb: usize,
        out: &mut [u64],
        pairs: impl Iterator<Item = (&'a [u64], &'a [u64])>,
    ) {
        let (kernels, q) = (self.engine().kernels(), self.basis().modulus(limb));
        let mut pairs = pairs.fuse();
        let mut terms: [(&[u64], &[u64]); MAX_TERMS] = [(&[], &[]); MAX_TERMS];
        let mut count = 0;
        for (term, pair) in terms.iter_mut().zip(&mut pairs) {
            *term = pair;
            count += 1;
        }
        kernels.inner_product(out, &terms[..count], q);
        // More terms than one sum holds are rare: no parameters of practice have that many digits.
        for (a, b) in pairs {
            kernels.mul_add_assign(out, a, b, q);
        }
    }
}
