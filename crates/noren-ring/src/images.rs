//! Elements of a ring as sums of products with streamed factors read them.

use std::ops::Range;

use crate::poly::{Eval, Poly};
use crate::ring::Ring;
use crate::rows::Rows;

/// Words of a row that are multiplied at once for one lot of images: a tile of both halves of their images fills the first cache.
const TILE: usize = 1 << 10;
/// Words of a row that are multiplied together: those of all factors of a batch fill a quarter of the second cache, and are
/// written to memory in pieces that are long enough for it.
pub(crate) const PIECE: usize = 1 << 5;

/// Elements `(y_0, y_1)` of a ring, side by side, as [`Ring::streamed_sums`] reads them.
///
/// Shape `[limb, tile, image, half, word]`: what is multiplied at once lies together.
pub struct Images {
    pub(crate) ring: Ring,
    count: usize,
    /// Words of a tile.
    pub(crate) tile: usize,
    /// A row for each limb.
    pub(crate) words: Rows,
}

impl Images {
    /// So many images, to be set by [`Images::set`], of one of so many lots that are multiplied together.
    #[must_use]
    pub fn unset(ring: &Ring, count: usize, lots: usize) -> Self {
        let words = ring.engine().unset_rows(ring.limbs(), 2 * count * ring.degree());
        Self { ring: ring.clone(), count, tile: tile(ring, lots), words }
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// How many bytes so many images take.
    #[must_use]
    pub fn bytes(ring: &Ring, count: usize) -> u64 {
        (2 * count * ring.limbs() * ring.degree() * size_of::<u64>()) as u64
    }

    /// Sets image `i`; the elements may have more limbs than the ring.
    ///
    /// # Panics
    /// If there is no such image, or an element lacks a limb of the ring.
    pub fn set(&mut self, i: usize, image: [&Poly<Eval>; 2]) {
        assert!(i < self.count, "there is no image {i} of {}", self.count);
        image.iter().for_each(|part| self.ring.check_covers(part));
        let (width, count) = (self.tile, self.count);
        self.words.mark(image.iter().any(|part| part.is_secret()));
        let limbs = self.ring.range().zip(self.words.rows_mut());
        self.ring.engine().run(2 * self.ring.limbs() * self.ring.degree(), limbs, |(limb, words)| {
            for (half, part) in image.iter().enumerate() {
                let (place, stride) = ((2 * i + half) * width, 2 * count * width);
                self.ring.engine().kernels().spread(&mut words[place..], part.limb(limb), width, stride);
            }
        });
    }

    /// Tile `j` at a limb of some images, shape `[image, half, word]`.
    pub(crate) fn tile(&self, limb: usize, j: usize, images: &Range<usize>) -> &[u64] {
        let words = 2 * self.tile * images.len();
        &self.words.row(limb - self.ring.range().start)[2 * (j * self.count + images.start) * self.tile..][..words]
    }
}

/// How many words of a row are multiplied at once, for so many lots.
pub(crate) fn tile(ring: &Ring, lots: usize) -> usize {
    if lots > 1 { PIECE } else { TILE }.min(ring.degree())
}
