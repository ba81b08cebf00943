//! The automorphisms `X -> X^k`, block by block.

use noren_math::kernels::Kernels;
use noren_math::kernels::rows::places::GROUP;
use noren_math::modulus::Modulus;

use crate::automorphism::{Automorphism, BLOCK};

impl Automorphism {
    /// Writes the words from `start` on, a multiple of [`BLOCK`], of the image of the row `a` in evaluation form.
    pub(super) fn map(&self, kernels: &Kernels, a: &[u64], start: usize, out: &mut [u64]) {
        if !self.index.is_power_of_two() {
            return out.iter_mut().zip(&self.within[start..]).for_each(|(out, &j)| *out = a[j as usize]);
        }
        self.for_each_block(a, start, out, |out, block, within| kernels.permute(out, block, within));
    }

    /// Adds the words from `start` on, a multiple of [`BLOCK`], of the image of the row `a` in evaluation form.
    pub(super) fn add(&self, kernels: &Kernels, q: &Modulus, a: &[u64], start: usize, acc: &mut [u64]) {
        if !self.index.is_power_of_two() {
            return acc.iter_mut().zip(&self.within[start..]).for_each(|(x, &j)| *x = q.add(*x, a[j as usize]));
        }
        self.for_each_block(a, start, acc, |acc, block, within| kernels.permute_add_assign(acc, block, within, q));
    }

    /// Adds the image of `words`, which are those of a row from `start` on, to the row `acc`, for one limb in evaluation form.
    pub(crate) fn add_words(&self, kernels: &Kernels, q: &Modulus, start: usize, words: &[u64], acc: &mut [u64]) {
        let block = BLOCK.min(acc.len());
        for (i, words) in words.chunks_exact(block).enumerate() {
            // Blocks go to blocks: where the first eight words go is where all do.
            let to = self.places[(start + i * block) / GROUP].group() * GROUP / block * block;
            kernels.permute_add_assign(&mut acc[to..to + block], words, &self.within[to..to + block], q);
        }
    }

    /// Calls `visit(block of the image, a's block, its permutation)` for each block of the image from `start` on.
    fn for_each_block(&self, a: &[u64], start: usize, image: &mut [u64], visit: impl Fn(&mut [u64], &[u64], &[u32])) {
        let block = BLOCK.min(a.len());
        let sources = self.blocks[start / block..].iter().zip(self.within[start..].chunks(block));
        for (image, (&source, within)) in image.chunks_mut(block).zip(sources) {
            visit(image, &a[source as usize * block..][..block], within);
        }
    }
}
