//! Sums of products with so many factors that they are transformed when they are needed, and not kept.

use std::ops::Range;

use noren_math::kernels::MAX_TERMS;

use crate::images::{Images, tile};
use crate::poly::{Eval, Poly};
use crate::ring::Ring;
use crate::rows::{LimbRow, Rows};
use crate::small::SmallPolynomials;

/// How many factors of a sum are transformed before they are multiplied with one lot: they fill half of a second cache of 2 MiB,
/// or all of one half as large.
const DEPTH: usize = 4;
/// How many sums one thread makes at a time: each image is read from memory so many times less.
const WIDTH: usize = 8;

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
        let images = lots.first().map_or(0, |images| images.count());
        assert!(images > 0, "a sum has an image at least");
        for lot in lots {
            assert_eq!(lot.tile, tile(self, lots.len()), "images are laid out for so many lots");
            assert!(lot.count() == images && lot.ring.range() == self.range(), "lots of images are alike");
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
        let (engine, images) = (self.engine(), lot.count());
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
