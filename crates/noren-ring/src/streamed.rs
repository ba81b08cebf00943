//! Sums of products with so many factors that they are transformed when they are needed, and not kept.

use std::ops::Range;

use noren_math::kernels::MAX_TERMS;

use crate::lots::PIECE;
use crate::poly::{Eval, Poly};
use crate::ring::Ring;
use crate::rows::{LimbRow, Rows};
use crate::small::SmallPolynomials;

/// Words of a row that are multiplied at once for one lot of images: a tile of both halves of their images fills the first cache.
const TILE: usize = 1 << 10;
/// How many factors of a sum are transformed before they are multiplied with one lot: they fill half of a second cache of 2 MiB,
/// or all of one half as large.
const DEPTH: usize = 4;
/// How many sums one thread makes at a time: each image is read from memory so many times less.
const WIDTH: usize = 8;

/// Elements `(y_0, y_1)` of a ring, side by side, as [`Ring::streamed_sums`] reads them.
///
/// Shape `[limb, tile, image, half, word]`: what is multiplied at once lies together.
pub struct Images {
    ring: Ring,
    count: usize,
    tile: usize,
    /// A row for each limb.
    words: Rows,
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
fn tile(ring: &Ring, lots: usize) -> usize {
    if lots > 1 { PIECE } else { TILE }.min(ring.degree())
}

impl Ring {
    /// The sums `S_b = sum_{a < A} f_{b A + a} y_a` over the A images, one for each A factors.
    ///
    /// Several lots of images may be multiplied with the same factors: the result is one list of sums for each lot. Each
    /// factor is transformed once for each limb, a few at a time, and is gone when it was multiplied.
    ///
    /// # Panics
    /// If there are no images, they are of different numbers or rings, or were not made for as many lots; if the factors are of
    /// another degree or no multiple of the images, or a prime is not above 2^15.
    #[must_use]
    pub fn streamed_sums(&self, lots: &[&Images], factors: &SmallPolynomials) -> Vec<Vec<[Poly<Eval>; 2]>> {
        let images = lots.first().map_or(0, |images| images.count);
        assert!(images > 0, "a sum has an image at least");
        for lot in lots {
            assert_eq!(lot.tile, tile(self, lots.len()), "images are laid out for so many lots");
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
        match lots {
            [lot] => self.sums_of_one(lot, factors, &mut rows, secret),
            _ => self.sums_of_lots(lots, factors, &mut rows, secret),
        }
        results
    }

    /// Writes the sums of one lot: `rows` are those of each sum, of each half, of each limb.
    fn sums_of_one(&self, lot: &Images, factors: &SmallPolynomials, rows: &mut [Vec<Vec<LimbRow>>], secret: bool) {
        let (engine, images) = (self.engine(), lot.count);
        let tile = lot.tile;
        let width = WIDTH.min(rows.len().div_ceil(2 * engine.threads()).max(1));
        let tasks = rows.chunks_mut(width).enumerate();
        let memory = || {
            let mut rows = engine.unset_rows(DEPTH, self.degree());
            let mut spare = engine.unset_rows(2, tile);
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
                        self.transform(factors, start..start + count, limb, transformed.rows_mut());
                        let factors: Vec<&[u64]> = transformed.rows().take(count).collect();
                        for j in 0..self.degree() / tile {
                            let words = j * tile..(j + 1) * tile;
                            let [left, right] = &mut rows[..] else { unreachable!("two halves") };
                            let sums = [left, right].map(|half| &mut half[at].1[words.clone()]);
                            self.multiply_tile(
                                (&factors, words),
                                lot.tile(limb, j, &(first..first + count)),
                                limb,
                                (sums, first > 0),
                                spare,
                            );
                        }
                    }
                }
            }
        });
    }

    /// Some factors at a limb in evaluation form.
    fn transform<'a>(
        &self,
        factors: &SmallPolynomials,
        range: Range<usize>,
        limb: usize,
        out: impl Iterator<Item = &'a mut [u64]>,
    ) {
        let (kernels, table) = (self.engine().kernels(), self.basis().table(limb));
        for (i, row) in range.zip(out) {
            factors.write(kernels, i, self.basis().modulus(limb), row);
            kernels.ntt_forward(row, table);
        }
    }

    /// The products of some words of factors with a tile of as many images: added to the sums, or written.
    fn multiply_tile(
        &self,
        (factors, words): (&[&[u64]], Range<usize>),
        images: &[u64],
        limb: usize,
        (sums, add): ([&mut [u64]; 2], bool),
        spare: &mut Rows,
    ) {
        let (kernels, q) = (self.engine().kernels(), self.basis().modulus(limb));
        let mut tiles: [&[u64]; MAX_TERMS] = [&[]; MAX_TERMS];
        tiles.iter_mut().zip(factors).for_each(|(tile, factor)| *tile = &factor[words.clone()]);
        let tiles = &tiles[..factors.len()];
        if !add {
            return kernels.inner_product_pair(sums, tiles, images, q);
        }
        let [left, right] = spare.first_rows_mut();
        kernels.inner_product_pair([&mut *left, &mut *right], tiles, images, q);
        sums.into_iter().zip([left, right]).for_each(|(sum, spare)| kernels.add_assign(sum, spare, q));
    }
}
