//! The negacyclic transform in `f64`, for products of torus polynomials.
//!
//! A polynomial `a` with real coefficients modulo `X^N + 1` folds into the `n = N/2` complex numbers
//! `z_j = a_j + i a_{j+n}`: a polynomial `z` modulo `X^n - i`, as `X^n = i` makes `X^{2n} = -1`. From there on every layer
//! splits `X^{2h} - r` into `X^h - s` and `X^h + s` with `s^2 = r`, by butterflies `x, y -> x + s y, x - s y` (Bernstein,
//! "Multidigit multiplication for mathematicians", section 7, has the tree): the twist that other negacyclic transforms
//! begin with is part of the roots, and costs nothing. The points come out in the order of the tree; nobody needs another.

use std::sync::Arc;

use crate::machine::aligned::AlignedVec;
use crate::roots::fft::root;

/// The degrees that there are transforms for.
pub const DEGREES: std::ops::RangeInclusive<usize> = 1 << 4..=1 << 16;

/// Points that lie together in a spectrum: eight real parts, then eight imaginary parts.
pub(crate) const GROUP: usize = 8;

/// Words of a group.
pub(crate) const GROUP_WORDS: usize = 2 * GROUP;

/// Points that the last six layers work on: eight groups. Fewer points have no vector kernels.
pub(crate) const BLOCK: usize = 8 * GROUP;

/// Layers within a block.
const BLOCK_LAYERS: usize = BLOCK.ilog2() as usize;

/// Layers that one sweep over the points merges, at most.
const MERGED_LAYERS: usize = 3;

/// The roots of one block in the order in which kernels read them.
///
/// Line 0 has those of the first three layers, real and imaginary part in turn: of stride 32, of stride 16 for the first
/// half, of stride 8 for the first and third quarter. All others are these times `i`: two halves have opposite roots, and
/// the square roots of `r` and `-r` are `s` and `is`.
///
/// Lines `1 + 2e` and `2 + 2e` have the real and imaginary parts of entry `e` of the last three layers, lane `g` for group
/// `g`: of stride 4, of stride 2 for its first half, of stride 1 for its first and third quarter. A vector kernel transposes
/// the 8 x 8 points first, so that lane `g` of each vector is in group `g`.
pub(crate) type BlockRoots = [[f64; GROUP]; 9];

/// The negacyclic transform of degree `N`, cheap to clone.
///
/// A *spectrum* is a row of `N` numbers: the values `z(r)` at the `n = N/2` roots of `X^n - i` in a fixed order, eight real
/// and eight imaginary parts in turn. All instruction sets have the same order, and agree but for roundings.
///
/// A *torus spectrum* is that of torus words as signed integers, times `2/N`. The product with the spectrum of integers, added
/// point by point, is a torus spectrum again; [`TorusFft::inverse_add`] takes it back to words. The factor is a power of
/// two, so that it costs no precision, and the inverse multiplies by nothing.
#[derive(Debug, Clone)]
pub struct TorusFft(Arc<Roots>);

#[derive(Debug)]
struct Roots {
    degree: usize,
    /// The root of node `i` of the layer of `m` nodes at index `m + i`: real part, imaginary part.
    nodes: AlignedVec<f64>,
    /// See [`BlockRoots`].
    blocks: AlignedVec<f64>,
    /// How many layers each sweep merges, in the order of the forward transform, up to the blocks; at least one number.
    sweeps: Vec<usize>,
}

impl TorusFft {
    /// Computes the roots.
    ///
    /// # Panics
    /// If the degree is not a power of two, or not one of [`DEGREES`].
    #[must_use]
    pub fn new(degree: usize) -> Self {
        assert!(
            degree.is_power_of_two() && DEGREES.contains(&degree),
            "degree {degree}: needs a power of two from {} to {}",
            DEGREES.start(),
            DEGREES.end()
        );
        let points = degree / 2;
        let mut nodes = AlignedVec::zeroed(degree);
        // The root of a node is exp(2 pi i t / 8m): of the first one exp(i pi / 4), the square root of i. Its square is that of
        // the parent or minus that, so t is that of the parent, or 4m/2 more for the second half.
        let mut numerators = vec![1];
        for layer in 0..points.ilog2() {
            let count = 1 << layer;
            for (i, &t) in numerators.iter().enumerate() {
                let (re, im) = root(t, 8 * count);
                nodes[2 * (count + i)..][..2].copy_from_slice(&[re, im]);
            }
            numerators = numerators.iter().flat_map(|&t| [t, t + 4 * count]).collect();
        }
        let blocks = if points >= BLOCK { block_roots(&nodes, points) } else { AlignedVec::zeroed(0) };
        Self(Arc::new(Roots { degree, nodes, blocks, sweeps: sweeps(points) }))
    }

    /// The degree `N`.
    #[must_use]
    pub fn degree(&self) -> usize {
        self.0.degree
    }

    /// `acc += a b`, point by point: `a` and `b` are spectra, at most one of them a torus spectrum.
    ///
    /// # Panics
    /// If a length is not the degree.
    pub fn mul_add_assign(&self, acc: &mut [f64], a: &[f64], b: &[f64]) {
        assert!([acc.len(), a.len(), b.len()] == [self.degree(); 3], "spectra have {} numbers", self.degree());
        let groups = |row| <[f64]>::as_chunks::<GROUP_WORDS>(row).0;
        for ((acc, a), b) in acc.as_chunks_mut::<GROUP_WORDS>().0.iter_mut().zip(groups(a)).zip(groups(b)) {
            for j in 0..GROUP {
                acc[j] += a[j] * b[j] - a[j + GROUP] * b[j + GROUP];
                acc[j + GROUP] += a[j] * b[j + GROUP] + a[j + GROUP] * b[j];
            }
        }
    }

    /// The number of points, `N/2`.
    pub(crate) fn points(&self) -> usize {
        self.0.degree / 2
    }

    /// The root of node `i` of the layer of `m` nodes, at index `m + i`.
    #[inline(always)]
    pub(crate) fn root(&self, index: usize) -> (f64, f64) {
        (self.0.nodes[2 * index], self.0.nodes[2 * index + 1])
    }

    /// Those of the last six layers, for each block.
    pub(crate) fn blocks(&self) -> &[BlockRoots] {
        self.0.blocks.as_chunks().0.as_chunks().0
    }

    /// How many layers the first sweep merges, and those after it, up to the blocks.
    pub(crate) fn sweeps(&self) -> (usize, &[usize]) {
        let (first, rest) = self.0.sweeps.split_first().expect("there is one");
        (*first, rest)
    }
}

/// How the layers above the blocks are merged.
fn sweeps(points: usize) -> Vec<usize> {
    let mut left = (points.ilog2() as usize).saturating_sub(BLOCK_LAYERS);
    if left <= MERGED_LAYERS {
        return vec![left];
    }
    // The first sweep reads words from two rows, or writes to them, besides the points: so many streams at distances of a
    // power of two crowd in few sets of the nearest cache, unless they are fewer.
    let mut sweeps = vec![2];
    left -= 2;
    while left > 0 {
        // Four layers are better done as 2 + 2 than as 3 + 1.
        let layers = if left == MERGED_LAYERS + 1 { 2 } else { left.min(MERGED_LAYERS) };
        sweeps.push(layers);
        left -= layers;
    }
    sweeps
}

/// The roots of the blocks from those of the nodes.
fn block_roots(nodes: &[f64], points: usize) -> AlignedVec<f64> {
    let count = points / BLOCK;
    let mut words = AlignedVec::zeroed(count * size_of::<BlockRoots>() / size_of::<f64>());
    let blocks: &mut [BlockRoots] = words.as_chunks_mut().0.as_chunks_mut().0;
    for (number, block) in blocks.iter_mut().enumerate() {
        for (e, index) in merged(count + number).into_iter().enumerate() {
            block[0][2 * e..][..2].copy_from_slice(&nodes[2 * index..][..2]);
        }
        let (_, lines) = block.split_at_mut(1);
        for (e, [re, im]) in lines.as_chunks_mut().0.iter_mut().enumerate() {
            for (group, (re, im)) in re.iter_mut().zip(im).enumerate() {
                let index = merged(points / GROUP + number * GROUP + group)[e];
                (*re, *im) = (nodes[2 * index], nodes[2 * index + 1]);
            }
        }
    }
    words
}

/// The roots that three layers from the one of `node` on are made of: its own, that of its first half, and those of its
/// first and third quarter.
pub(crate) const fn merged(node: usize) -> [usize; 4] {
    [node, 2 * node, 4 * node, 4 * node + 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_those_of_the_tree() {
        for degree in [16, 64, 1024] {
            let fft = TorusFft::new(degree);
            let square = |(re, im): (f64, f64)| (re * re - im * im, 2.0 * re * im);
            let near = |a: (f64, f64), b: (f64, f64)| (a.0 - b.0).abs() < 1e-15 && (a.1 - b.1).abs() < 1e-15;
            assert!(near(square(fft.root(1)), (0.0, 1.0)));
            for index in 2..fft.points() {
                let (re, im) = fft.root(index / 2);
                let parent = if index % 2 == 0 { (re, im) } else { (-re, -im) };
                assert!(near(square(fft.root(index)), parent), "root {index} of degree {degree}");
                if index % 2 == 1 {
                    let (re, im) = fft.root(index - 1);
                    assert_eq!(fft.root(index), (-im, re), "the square roots of r and -r are s and is");
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "needs a power of two from 16 to 65536")]
    fn other_degrees_are_refused() {
        let _ = TorusFft::new(8);
    }
}
