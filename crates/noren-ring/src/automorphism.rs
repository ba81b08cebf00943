//! The automorphisms `X -> X^k`.

use std::sync::Arc;

use noren_math::cyclotomic::Cyclotomic;
use noren_math::kernels::rows::places::{GROUP, Place};

use crate::error::Error;

/// Words that are permuted at once: 8 KiB in, 8 KiB out and 4 KiB of permutation stay in the first cache.
pub(crate) const BLOCK: usize = 1 << 10;

/// The automorphism `X -> X^k` of a ring of index m, k a unit modulo m. A clone is cheap.
///
/// In evaluation form it permutes the words of each limb in the same way: [`Cyclotomic::permutation`]. For an index
/// that is a power of two the evaluation points are in bit-reversed order, and the low bits of their exponents go to
/// the low bits of the images: so an aligned block of `2^b` words is the image of an aligned block of `2^b` words, and
/// the permutation is held as one for blocks and one within them.
#[derive(Debug, Clone)]
pub struct Automorphism {
    pub(crate) index: Cyclotomic,
    k: u32,
    /// Which block each block is the image of.
    pub(crate) blocks: Arc<[u32]>,
    /// Which word of that block each word is the image of.
    pub(crate) within: Arc<[u32]>,
    /// Where each eight words go.
    pub(crate) places: Arc<[Place]>,
}

impl Automorphism {
    /// The automorphism `X -> X^k`; k counts modulo the index.
    ///
    /// # Errors
    /// [`Error::Math`] if k is not a unit modulo the index.
    pub fn new(index: &Cyclotomic, k: u32) -> Result<Self, Error> {
        let k = k % index.index();
        let permutation = index.permutation(k)?;
        let (blocks, within, places) = match index.is_power_of_two() {
            true => by_blocks(k, &permutation),
            // Words go anywhere: one block, and no places of eight words.
            false => (vec![0], permutation, Vec::new()),
        };
        Ok(Self { index: *index, k, blocks: blocks.into(), within: within.into(), places: places.into() })
    }

    /// The exponent k, in `[1, m)`.
    #[must_use]
    pub fn k(&self) -> u32 {
        self.k
    }

    /// The automorphism that undoes this one: `X -> X^(1/k)`.
    #[must_use]
    pub fn inverse(&self) -> Self {
        let inverse = self.index.inverse(self.k).expect("k is a unit");
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
}

/// The permutation of blocks, that within them, and where each eight words go.
fn by_blocks(k: u32, permutation: &[u32]) -> (Vec<u32>, Vec<u32>, Vec<Place>) {
    let block = BLOCK.min(permutation.len()) as u32;
    let blocks: Vec<u32> = permutation.chunks(block as usize).map(|chunk| chunk[0] / block).collect();
    for (chunk, &source) in permutation.chunks(block as usize).zip(blocks.iter()) {
        assert!(chunk.iter().all(|&j| j / block == source), "X -> X^{k} must map blocks of {block} words to blocks");
    }
    let within = permutation.iter().map(|&j| j % block).collect();
    (blocks, within, Place::of(permutation))
}
