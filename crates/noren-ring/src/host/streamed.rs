//! Sums of products with streamed factors, which are transformed when they are needed and not kept.

use std::ops::Range;

use noren_math::kernels::MAX_TERMS;

use crate::engine::rows::{LimbRow, Rows};
use crate::host::image_sets::PIECE;
use crate::images::Images;
use crate::poly::{Eval, Poly};
use crate::small::SmallPolynomials;
use crate::window::Window;

/// Words of a row that are multiplied at once for one set of images: a tile of both halves of their images fills the first cache.
const TILE: usize = 1 << 10;
/// How many factors of a sum are transformed before they are multiplied with one set: they fill half of a second cache of 2 MiB,
/// or all of one half as large.
const DEPTH: usize = 4;
/// How many sums one thread makes at a time: each image is read from memory WIDTH times less often.
const WIDTH: usize = 8;

/// How many words of a row are multiplied at once, for a number of sets.
fn tile(ring: &Window, sets: usize) -> usize {
    ring.piece(if sets > 1 { PIECE } else { TILE })
}

impl Images {
    /// Sets image `i`. The words have the shape `[limb, tile, image, half, word]`: what is multiplied at once lies together.
    pub(super) fn set(&mut self, i: usize, image: [&Poly<Eval>; 2]) {
        let (ring, width, count) = (self.ring().clone(), tile(self.ring(), self.sets()), self.count());
        let words = self.words_mut();
        words.mark(image.iter().any(|part| part.is_secret()));
        ring.engine().run(2 * ring.limbs() * ring.degree(), words.limbs_mut(), |(limb, words)| {
            for (half, part) in image.iter().enumerate() {
                let (place, stride) = ((2 * i + half) * width, 2 * count * width);
                ring.engine().kernels().spread(&mut words[place..], part.limb(limb), width, stride);
            }
        });
    }

    /// Tile `j` at a limb of some images, shape `[image, half, word]`.
    pub(super) fn tile(&self, limb: usize, j: usize, images: &Range<usize>) -> &[u64] {
        let tile = tile(self.ring(), self.sets());
        let words = 2 * tile * images.len();
        &self.words().limb(limb)[2 * (j * self.count() + images.start) * tile..][..words]
    }
}

impl Window {
    /// The sums of all sets.
    pub(super) fn streamed_sums(&self, sets: &[&Images], factors: &SmallPolynomials) -> Vec<Vec<[Poly<Eval>; 2]>> {
        let images = sets[0].count();
        let sums = factors.count() / images;
        let secret = sets.iter().any(|set| set.words().is_secret());
        let pair = || [(); 2].map(|()| self.unset(secret));
        let mut results: Vec<Vec<[Poly<Eval>; 2]>> =
            sets.iter().map(|_| std::iter::repeat_with(pair).take(sums).collect()).collect();

        // The rows of a sum: of each set, of each half, of each limb.
        let mut rows: Vec<Vec<Vec<LimbRow>>> = Vec::new();
        rows.resize_with(sums, Vec::new);
        for set in &mut results {
            for (rows, pair) in rows.iter_mut().zip(set) {
                rows.extend(pair.iter_mut().map(|poly| poly.limbs_mut().collect::<Vec<_>>()));
            }
        }
        match sets {
            [set] => self.sums_of_one(set, factors, &mut rows, secret),
            // The factors are transformed again for each set.
            _ if !self.index().is_power_of_two() => sets.iter().for_each(|set| {
                let mut rows: Vec<_> = rows.iter_mut().map(|rows| rows.drain(..2).collect()).collect();
                self.sums_of_one(set, factors, &mut rows, secret);
            }),
            _ => self.sums_of_sets(sets, factors, &mut rows, secret),
        }
        results
    }

    /// Writes the sums of one set: `rows` are those of each sum, of each half, of each limb.
    fn sums_of_one(&self, set: &Images, factors: &SmallPolynomials, rows: &mut [Vec<Vec<LimbRow>>], secret: bool) {
        let (engine, images) = (self.engine(), set.count());
        let tile = tile(self, 1);
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
                        self.transform_factors(factors, start..start + count, limb, transformed.rows_mut());
                        let factors: Vec<&[u64]> = transformed.rows().take(count).collect();
                        for j in 0..self.degree() / tile {
                            let words = j * tile..(j + 1) * tile;
                            let [left, right] = &mut rows[..] else { unreachable!("two halves") };
                            let sums = [left, right].map(|half| &mut half[at].1[words.clone()]);
                            self.multiply_tile(
                                (&factors, words),
                                set.tile(limb, j, &(first..first + count)),
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
    fn transform_factors<'a>(
        &self,
        factors: &SmallPolynomials,
        range: Range<usize>,
        limb: usize,
        out: impl Iterator<Item = &'a mut [u64]>,
    ) {
        let (kernels, transform) = (self.engine().kernels(), self.basis().transform(limb));
        for (i, row) in range.zip(out) {
            factors.write(kernels, i, self.basis().modulus(limb), row);
            transform.forward(kernels, row);
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
