//! Sums of products of several sets of images with the same streamed factors.

use noren_math::kernels::Panel;

use crate::engine::rows::{LimbRow, Rows};
use crate::images::Images;
use crate::small::SmallPolynomials;
use crate::window::Window;

/// Words of a row that are multiplied together: those of all factors of a batch fill a quarter of the second cache, and are
/// written to memory in pieces that are long enough for it.
pub(crate) const PIECE: usize = 1 << 5;
/// How many images, and so how many factors of each sum, a batch has.
const DEPTH: usize = 64;
/// How many sums a batch has: a batch is 256 MiB at n = 2^15. Each image is read once for WIDTH sums, each sum is read and
/// written once for DEPTH images, and each factor once for all sets.
const WIDTH: usize = 16;
/// Words between the pieces of a batch, nine cache lines: neighbouring ones start in different sets of the caches.
pub(crate) const PADDING: usize = 72;

/// Scratch memory of a thread.
struct Memory {
    /// A factor.
    row: Rows,
    /// A batch of factors, shape `[piece of a row, sum, image, word]`.
    batch: Rows,
    /// A piece of all factors and of all images of a set, in groups of words.
    factors: Rows,
    images: Rows,
}

impl Window {
    /// Writes the sums of all sets: `rows` are those of each sum, of each set, of each half, of each limb.
    ///
    /// A transform gives all words of one factor, but what is worth reading together are a few words of many factors. So the
    /// factors of a batch are transformed one by one and written to memory in pieces; then, piece by piece, all products of
    /// a batch are added up while their operands are near.
    pub(crate) fn sums_of_sets(
        &self,
        sets: &[&Images],
        factors: &SmallPolynomials,
        rows: &mut [Vec<Vec<LimbRow>>],
        secret: bool,
    ) {
        let (engine, kernels, degree) = (self.engine(), self.engine().kernels(), self.degree());
        let images = sets[0].count();
        let (piece, depth) = (PIECE.min(degree), DEPTH.min(images));
        let width = WIDTH.min(rows.len().div_ceil(2 * engine.threads()).max(1));
        let stride = depth * width * piece + PADDING;
        let unset = |words| {
            let mut rows = engine.unset_rows(1, words);
            rows.mark(secret);
            rows
        };
        let memory = || Memory {
            row: unset(degree),
            batch: unset(stride * (degree / piece)),
            factors: unset(depth * width * piece),
            images: unset(2 * depth * piece),
        };
        let tasks = rows.chunks_mut(width).enumerate();
        engine.run_with(factors.count() * degree, tasks, memory, |memory, (i, rows)| {
            let [row] = memory.row.first_rows_mut();
            let [batch] = memory.batch.first_rows_mut();
            let [near_factors] = memory.factors.first_rows_mut();
            let [near_images] = memory.images.first_rows_mut();
            for first in (0..images).step_by(depth) {
                let count = depth.min(images - first);
                let chosen = first..first + count;
                let (near_factors, near_images) =
                    (&mut near_factors[..rows.len() * count * piece], &mut near_images[..2 * count * piece]);
                for (at, limb) in self.range().enumerate() {
                    let (q, transform) = (self.basis().modulus(limb), self.basis().transform(limb));
                    for (place, (b, a)) in (0..rows.len()).flat_map(|b| (0..count).map(move |a| (b, a))).enumerate() {
                        factors.write(kernels, (i * width + b) * images + first + a, q, row);
                        transform.forward(kernels, row);
                        kernels.spread(&mut batch[place * piece..], row, piece, stride);
                    }
                    for j in 0..degree / piece {
                        kernels.regroup(near_factors, &batch[j * stride..][..near_factors.len()], piece);
                        let last = (j + 1) * piece == degree;
                        let next_factors =
                            if last { &[][..] } else { &batch[(j + 1) * stride..][..near_factors.len()] };
                        let mut next_factors = next_factors.chunks(near_factors.len().div_ceil(sets.len()));
                        for (set, images) in sets.iter().enumerate() {
                            kernels.regroup(near_images, images.tile(limb, j, &chosen), piece);
                            let next_images = match sets.get(set + 1) {
                                Some(images) => images.tile(limb, j, &chosen),
                                None if last => &[],
                                None => sets[0].tile(limb, j + 1, &chosen),
                            };
                            let halves = rows.iter_mut().flat_map(|rows| &mut rows[2 * set..][..2]);
                            let mut sums: Vec<&mut [u64]> =
                                halves.map(|half| &mut half[at].1[j * piece..(j + 1) * piece]).collect();
                            let next = [next_factors.next().unwrap_or(&[]), next_images];
                            let panel = Panel { factors: near_factors, images: near_images, next };
                            kernels.panel_products(&mut sums, &panel, first > 0, q);
                        }
                    }
                }
            }
        });
    }
}
