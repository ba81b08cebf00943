//! Sums of products with so many factors that they are transformed when they are needed, and not kept.

use noren_math::kernels::MAX_TERMS;

use crate::poly::{Eval, Poly};
use crate::ring::Ring;
use crate::rows::{LimbRow, Rows};
use crate::small::SmallPolynomials;

/// Words of a row that are multiplied at once: 8 KiB, so that a few images and factors stay in the first two caches.
const TILE: usize = 1 << 10;
/// How many factors are transformed before they are multiplied: with both halves of their images they fill the second
/// cache, and the sums are read and written so many times less.
const DEPTH: usize = 4;
/// How many sums one thread makes at a time: each image is read from memory so many times less.
const WIDTH: usize = 8;

/// Elements `(y_0, y_1)` of a ring, side by side, as [`Ring::streamed_sums`] reads them.
///
/// Shape `[limb, tile, image, half, word]`: what is multiplied at once lies together.
pub struct Images {
    ring: Ring,
    count: usize,
    /// A row for each limb.
    words: Rows,
}

impl Images {
    /// So many images, to be set by [`Images::set`].
    #[must_use]
    pub fn unset(ring: &Ring, count: usize) -> Self {
        let words = ring.engine().unset_rows(ring.limbs(), 2 * count * ring.degree());
        Self { ring: ring.clone(), count, words }
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
        let (width, count) = (tile(&self.ring), self.count);
        self.words.mark(image.iter().any(|part| part.is_secret()));
        let limbs = self.ring.range().zip(self.words.rows_mut());
        self.ring.engine().run(2 * self.ring.limbs() * self.ring.degree(), limbs, |(limb, words)| {
            for (j, words) in words.chunks_exact_mut(2 * count * width).enumerate() {
                let pair = words[2 * i * width..][..2 * width].chunks_exact_mut(width);
                for (words, part) in pair.zip(image) {
                    words.copy_from_slice(&part.limb(limb)[j * width..][..width]);
                }
            }
        });
    }

    /// Tile `j` at a limb of the images from the first on, shape `[image, half, word]`.
    fn tile(&self, limb: usize, j: usize, first: usize) -> &[u64] {
        let width = tile(&self.ring);
        &self.words.row(limb - self.ring.range().start)[2 * (j * self.count + first) * width..]
    }
}

impl Ring {
    /// The sums `S_b = sum_{a < A} f_{b A + a} y_a` over the A images, one for each A factors.
    ///
    /// Several lots of images may be multiplied with the same factors: the result is one list of sums for each lot. Each
    /// factor is transformed once for each limb, a few at a time, and is gone when it was multiplied.
    ///
    /// # Panics
    /// If there are no images, they are of different numbers or rings, the factors are of another degree or no multiple of
    /// the images, or a prime is not above 2^15.
    #[must_use]
    pub fn streamed_sums(&self, lots: &[&Images], factors: &SmallPolynomials) -> Vec<Vec<[Poly<Eval>; 2]>> {
        let images = lots.first().map_or(0, |images| images.count);
        assert!(images > 0, "a sum has an image at least");
        for lot in lots {
            assert!(lot.count == images && lot.ring.range() == self.range(), "lots of images are alike");
        }
        assert_eq!(factors.degree(), self.degree(), "factors are of the degree of the ring");
        assert_eq!(factors.count() % images, 0, "each sum has a factor for each image");
        let sums = factors.count() / images;
        let secret = lots.iter().any(|lot| lot.words.is_secret());
        let pair = || [(); 2].map(|()| self.unset(secret));
        let mut results: Vec<Vec<[Poly<Eval>; 2]>> =
            lots.iter().map(|_| std::iter::repeat_with(pair).take(sums).collect()).collect();

        // The rows of a sum: of each lot, of each half, of each limb.
        let mut rows: Vec<Vec<Vec<LimbRow>>> = Vec::new();
        rows.resize_with(sums, Vec::new);
        for lot in &mut results {
            for (rows, pair) in rows.iter_mut().zip(lot) {
                rows.extend(pair.iter_mut().map(|poly| poly.limbs_mut().collect::<Vec<_>>()));
            }
        }
        let engine = self.engine();
        let width = WIDTH.min(sums.div_ceil(2 * engine.threads()).max(1));
        let tasks = rows.chunks_mut(width).enumerate();
        let memory = || {
            let mut rows = engine.unset_rows(DEPTH, self.degree());
            let mut spare = engine.unset_rows(2, tile(self));
            rows.mark(secret);
            spare.mark(secret);
            (rows, spare)
        };
        engine.run_with(factors.count() * self.degree(), tasks, memory, |(transformed, spare), (i, rows)| {
            for first in (0..images).step_by(DEPTH) {
                let count = DEPTH.min(images - first);
                for (at, limb) in self.range().enumerate() {
                    for (b, rows) in rows.iter_mut().enumerate() {
                        let start = (i * width + b) * images + first;
                        self.transform(factors, start..start + count, limb, transformed);
                        let factors: Vec<&[u64]> = transformed.rows().take(count).collect();
                        for (lot, rows) in lots.iter().zip(rows.chunks_exact_mut(2)) {
                            let [first_sum, second_sum] = rows else { unreachable!("two halves are a chunk") };
                            let sums = [&mut *first_sum[at].1, &mut *second_sum[at].1];
                            self.multiply_tiles(&factors, (lot, first), limb, sums, spare);
                        }
                    }
                }
            }
        });
        results
    }

    /// Some factors at a limb in evaluation form.
    fn transform(&self, factors: &SmallPolynomials, range: std::ops::Range<usize>, limb: usize, out: &mut Rows) {
        let (kernels, table) = (self.engine().kernels(), self.basis().table(limb));
        for (i, row) in range.zip(out.rows_mut()) {
            factors.write(kernels, i, self.basis().modulus(limb), row);
            kernels.ntt_forward(row, table);
        }
    }

    /// The products of factors with the images from `first` on at a limb: written to the sums if that is 0, added otherwise.
    fn multiply_tiles(
        &self,
        factors: &[&[u64]],
        (images, first): (&Images, usize),
        limb: usize,
        [first_sum, second_sum]: [&mut [u64]; 2],
        spare: &mut Rows,
    ) {
        const { assert!(DEPTH <= MAX_TERMS, "factors are multiplied in one pass") };
        let (kernels, q, width) = (self.engine().kernels(), self.basis().modulus(limb), tile(self));
        let tiles = first_sum.chunks_exact_mut(width).zip(second_sum.chunks_exact_mut(width));
        for (j, (first_sum, second_sum)) in tiles.enumerate() {
            let mut tiles: [&[u64]; DEPTH] = [&[]; DEPTH];
            tiles.iter_mut().zip(factors).for_each(|(tile, factor)| *tile = &factor[j * width..][..width]);
            let (tiles, images) = (&tiles[..factors.len()], images.tile(limb, j, first));
            if first == 0 {
                kernels.inner_product_pair([first_sum, second_sum], tiles, images, q);
                continue;
            }
            let [first_spare, second_spare] = spare.first_rows_mut();
            kernels.inner_product_pair([&mut *first_spare, &mut *second_spare], tiles, images, q);
            kernels.add_assign(first_sum, first_spare, q);
            kernels.add_assign(second_sum, second_spare, q);
        }
    }
}

/// How many words of a row are multiplied at once.
fn tile(ring: &Ring) -> usize {
    TILE.min(ring.degree())
}
