//! The automorphisms `X -> X^k`.

use std::sync::Arc;

use noren_math::cyclotomic::Cyclotomic;
use noren_math::kernels::Kernels;
use noren_math::kernels::places::{GROUP, Place};
use noren_math::modulus::Modulus;

use crate::error::Error;
use crate::poly::{Coeff, Eval, Poly};
use crate::ring::Ring;

/// Words that are permuted at once: 8 KiB in, 8 KiB out and 4 KiB of permutation stay in the first cache.
const BLOCK: usize = 1 << 10;

/// The automorphism `X -> X^k` of a ring of index m, k a unit modulo m. A clone is cheap.
///
/// In evaluation form it permutes the words of each limb in the same way. The evaluation points are in bit-reversed
/// order, and the low bits of their exponents go to the low bits of the images: so an aligned block of `2^b` words is
/// the image of an aligned block of `2^b` words, and the permutation is held as one for blocks and one within them.
#[derive(Debug, Clone)]
pub struct Automorphism {
    index: Cyclotomic,
    k: u32,
    /// Which block each block is the image of.
    blocks: Arc<[u32]>,
    /// Which word of that block each word is the image of.
    within: Arc<[u32]>,
    /// Where each eight words go.
    places: Arc<[Place]>,
}

impl Automorphism {
    /// The automorphism `X -> X^k`; k counts modulo the index.
    ///
    /// # Errors
    /// [`Error::Math`] if k is not a unit modulo the index, that is, even.
    pub fn new(index: &Cyclotomic, k: u32) -> Result<Self, Error> {
        let k = k % index.index();
        let permutation = index.permutation(k)?;
        let block = BLOCK.min(index.degree()) as u32;
        let blocks: Arc<[u32]> = permutation.chunks(block as usize).map(|chunk| chunk[0] / block).collect();
        for (chunk, &source) in permutation.chunks(block as usize).zip(blocks.iter()) {
            assert!(
                chunk.iter().all(|&j| j / block == source),
                "X -> X^{k} must map blocks of {block} words to blocks"
            );
        }
        let within = permutation.iter().map(|&j| j % block).collect();
        Ok(Self { index: *index, k, blocks, within, places: Place::of(&permutation).into() })
    }

    /// The exponent k, in `[1, m)`.
    #[must_use]
    pub fn k(&self) -> u32 {
        self.k
    }

    /// The automorphism that undoes this one: `X -> X^(1/k)`.
    #[must_use]
    pub fn inverse(&self) -> Self {
        let mask = self.index.index() - 1;
        // Newton's iteration modulo a power of two: an odd k is its own inverse modulo 8, and each step doubles the
        // number of right bits, to 24 of the at most 18 that an index has.
        let inverse = (0..3).fold(self.k, |x, _| x.wrapping_mul(2u32.wrapping_sub(self.k.wrapping_mul(x)))) & mask;
        Self::new(&self.index, inverse).expect("the inverse of a unit is a unit")
    }

    /// Which block of `width` words, a multiple of [`BLOCK`] or a whole row, block `j` is the image of.
    pub(crate) fn source(&self, j: usize, width: usize) -> usize {
        let blocks = width.div_ceil(BLOCK);
        self.blocks[j * blocks] as usize / blocks
    }

    /// Where the words of block `j` of `width` words go, eight by eight.
    pub(crate) fn places(&self, j: usize, width: usize) -> &[Place] {
        &self.places[j * width / GROUP..][..width / GROUP]
    }

    /// Writes the words from `start` on, a multiple of [`BLOCK`], of the image of the row `a` in evaluation form.
    fn map(&self, kernels: &Kernels, a: &[u64], start: usize, out: &mut [u64]) {
        self.for_each_block(a, start, out, |out, block, within| kernels.permute(out, block, within));
    }

    /// Adds the words from `start` on, a multiple of [`BLOCK`], of the image of the row `a` in evaluation form.
    fn add(&self, kernels: &Kernels, q: &Modulus, a: &[u64], start: usize, acc: &mut [u64]) {
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

impl Ring {
    /// `a(X^k)` in evaluation form; `a` may have more limbs than this ring.
    ///
    /// # Panics
    /// If the automorphism is one of another index.
    #[must_use]
    pub fn automorphism(&self, a: &Poly<Eval>, automorphism: &Automorphism) -> Poly<Eval> {
        self.check_covers(a);
        self.check_index(automorphism);
        self.build_pointwise(a.is_secret(), |limb, range, out| {
            automorphism.map(self.engine().kernels(), a.limb(limb), range.start, out);
        })
    }

    /// `acc += a(X^k)` in evaluation form; `a` may have more limbs than this ring.
    ///
    /// # Panics
    /// If the automorphism is one of another index.
    pub fn automorphism_add_assign(&self, acc: &mut Poly<Eval>, a: &Poly<Eval>, automorphism: &Automorphism) {
        self.check(acc);
        self.check_covers(a);
        self.check_index(automorphism);
        let secret = a.is_secret();
        acc.rows.mark(secret);
        self.update_pointwise(acc, |limb, range, row| {
            let (kernels, q) = (self.engine().kernels(), self.basis().modulus(limb));
            automorphism.add(kernels, q, a.limb(limb), range.start, row);
        });
    }

    /// `a(X^k)` in coefficient form: the definition, word by word.
    ///
    /// # Panics
    /// If the automorphism is one of another index.
    #[must_use]
    pub fn automorphism_coeff(&self, a: &Poly<Coeff>, automorphism: &Automorphism) -> Poly<Coeff> {
        self.check_covers(a);
        self.check_index(automorphism);
        self.build(a.is_secret(), |limb, out| {
            let q = self.basis().modulus(limb);
            for (i, &word) in a.limb(limb).iter().enumerate() {
                let (image, negated) = self.index().coefficient_image(i, automorphism.k);
                out[image] = if negated { q.neg(word) } else { word };
            }
        })
    }

    /// # Panics
    /// If the automorphism is one of another index.
    pub(crate) fn check_index(&self, automorphism: &Automorphism) {
        assert_eq!(*self.index(), automorphism.index, "the automorphism must be one of this ring");
    }
}
