//! The spectra of `X^e - 1`, which make the matrix of two bits of a secret out of three.

use std::sync::Arc;

use crate::machine::aligned::AlignedVec;
use crate::roots::fft::root;
use crate::roots::torus::{BLOCK, DEGREES, GROUP, GROUP_WORDS};

/// Groups of a block.
const GROUPS: usize = BLOCK / GROUP;

/// The values of monomials at the points of [`TorusFft`](crate::roots::torus::TorusFft), cheap to clone.
///
/// Point p is `w^{u_p}` for `w = exp(2 pi i / 2N)`, so that `X^e` is `w^{u_p e}` there. The exponents of a block of 64 points
/// are that of its first point plus multiples of `2N/64`, the same for all blocks: `X^e` is one number of the block times one
/// of 64 rows of numbers, that of e modulo 64.
#[derive(Debug, Clone)]
pub struct Monomials(Arc<Tables>);

#[derive(Debug)]
struct Tables {
    degree: usize,
    /// `w^j` for `j < 2N`: real part, imaginary part.
    turns: AlignedVec<f64>,
    /// `u_p`, in the order of spectra.
    exponents: Vec<usize>,
    /// The values of `X^e` divided by that at the first point, for a block and `e < 64`.
    within: AlignedVec<f64>,
}

impl Monomials {
    /// Computes the tables: about 40 N bytes, and 64 KiB.
    ///
    /// # Panics
    /// If there is no transform of this degree.
    #[must_use]
    pub fn new(degree: usize) -> Self {
        assert!(degree.is_power_of_two() && DEGREES.contains(&degree), "no transform of degree {degree}");
        let (points, circle) = (degree / 2, 2 * degree);
        let mut turns = AlignedVec::zeroed(2 * circle);
        for (j, turn) in turns.as_chunks_mut().0.iter_mut().enumerate() {
            let (re, im) = root(j, circle);
            *turn = [re, im];
        }
        // The two halves of a node have opposite roots, and each has the square root of its own for the next layer.
        let mut leaves = vec![1];
        while leaves.len() < points {
            let half = 4 * leaves.len();
            leaves = leaves.iter().flat_map(|&u| [u, u + half]).collect();
        }
        let exponents: Vec<usize> = (0..points).map(|place| leaves[leaf(points, place)]).collect();
        let mut within = AlignedVec::zeroed(if points < BLOCK { 0 } else { BLOCK * GROUPS * GROUP_WORDS });
        for (e, rows) in within.chunks_exact_mut(GROUPS * GROUP_WORDS).enumerate() {
            for (place, exponent) in exponents[..BLOCK].iter().enumerate() {
                let (re, im) = root((exponent - exponents[0]) * e % circle, circle);
                let at = place / GROUP * GROUP_WORDS + place % GROUP;
                (rows[at], rows[at + GROUP]) = (re, im);
            }
        }
        Self(Arc::new(Tables { degree, turns, exponents, within }))
    }

    /// The degree N.
    #[must_use]
    pub fn degree(&self) -> usize {
        self.0.degree
    }

    /// `X^e` at a point. Range: `e < 2N`.
    #[inline(always)]
    pub(crate) fn value(&self, point: usize, e: usize) -> (f64, f64) {
        // 2N is a power of two.
        let at = (self.0.exponents[point] * e) & (2 * self.0.degree - 1);
        (self.0.turns[2 * at], self.0.turns[2 * at + 1])
    }

    /// `X^e` at the points of any block, divided by that at its first point.
    #[inline(always)]
    pub(crate) fn within(&self, e: usize) -> &[[f64; GROUP_WORDS]; GROUPS] {
        let rows: &[[f64; GROUP_WORDS]] = self.0.within.as_chunks().0;
        &rows.as_chunks().0[e % BLOCK]
    }
}

/// The number in the tree of the point at a place of spectra: within a block, rows and columns are exchanged.
const fn leaf(points: usize, place: usize) -> usize {
    if points < BLOCK {
        return place;
    }
    let (block, row, lane) = (place / BLOCK, place % BLOCK / GROUP, place % GROUP);
    block * BLOCK + GROUP * lane + row
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roots::torus::TorusFft;

    #[test]
    fn values_are_the_spectra_of_monomials() {
        for degree in [16, 64, 128, 256, 2048] {
            let (fft, monomials) = (TorusFft::new(degree), Monomials::new(degree));
            let exponents = [0, 1, 2, 5, 63, 64, 65, degree - 1, degree, degree + 3, 2 * degree - 1];
            for e in exponents.into_iter().filter(|&e| e < 2 * degree) {
                let mut a = vec![0u64; degree];
                a[e % degree] = if e < degree { 1 } else { u64::MAX };
                let mut spectrum = vec![0.0; degree];
                fft.forward(&mut spectrum, &a);
                for point in 0..degree / 2 {
                    let at = point / GROUP * GROUP_WORDS + point % GROUP;
                    let (re, im) = monomials.value(point, e);
                    let near = (re - spectrum[at]).abs() < 1e-14 && (im - spectrum[at + GROUP]).abs() < 1e-14;
                    assert!(near, "X^{e} at point {point} of degree {degree}");
                }
            }
        }
    }

    #[test]
    fn blocks_differ_by_a_factor() {
        for degree in [128, 512, 4096] {
            let monomials = Monomials::new(degree);
            for e in [0, 1, 7, 64, degree + 9, 2 * degree - 1] {
                for point in 0..degree / 2 {
                    let (a, place) = (monomials.value(point / BLOCK * BLOCK, e), point % BLOCK);
                    let group = &monomials.within(e)[place / GROUP];
                    let b = (group[place % GROUP], group[place % GROUP + GROUP]);
                    let (re, im) = (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0);
                    let expected = monomials.value(point, e);
                    assert!((re - expected.0).abs() < 1e-15 && (im - expected.1).abs() < 1e-15, "X^{e} at {point}");
                }
            }
        }
    }
}
