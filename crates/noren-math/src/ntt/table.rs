//! The roots that the transform of one prime in one ring multiplies by.

use std::fmt;

use crate::cyclotomic::Cyclotomic;
use crate::error::Error;
use crate::kernels::aligned::AlignedVec;
use crate::kernels::kernels;
use crate::modulus::{Modulus, ShoupFactor};
use crate::prime::primitive_root_of_order;

/// The negacyclic transform modulo one prime: `a -> (a(psi^(2 brv(j) + 1)))_j` with psi a primitive
/// 2n-th root of unity and brv the reversal of `log2 n` bits.
///
/// The forward transform takes coefficients in natural order and runs layers `m = 1, 2, 4, .. n/2`
/// of `m` blocks each (Cooley and Tukey; the twist by psi is merged into the roots: eprint
/// 2016/504); block `i` of layer `m` multiplies by `W[m + i] = psi^brv(m + i)`. The inverse runs
/// the layers backwards (Gentleman and Sande) with `psi^-brv(m + i)`, and its last layer carries
/// the factor `1/n`. No reordering pass is ever made.
#[derive(Clone)]
pub struct NttTable {
    modulus: Modulus,
    degree: usize,
    /// The late roots of both directions, then the early ones of both: in one piece, as 2 MiB and more
    /// lie on large pages.
    roots: AlignedVec<u64>,
    scale: ShoupFactor,
    scaled_root: ShoupFactor,
}

/// The roots of one direction, in the order in which the layers read them.
///
/// `late` has the roots of the forward transform's last three layers (strides 4, 2 and 1), 7/8 of all,
/// in the order of vectors; the early roots are the others. No root is stored twice.
#[derive(Clone, Copy)]
pub(crate) struct Roots<'a> {
    /// Each root with its quotient.
    early: &'a [[u64; 2]],
    /// One entry for each 64 consecutive words of a row; the only entry of a shorter row is partly
    /// unused.
    pub(crate) late: &'a [LateRoots],
}

/// How many groups of eight words one [`LateRoots`] serves.
pub(crate) const LANES: usize = 8;

/// The roots of the last three layers for 64 words: eight groups of eight.
///
/// Each group of eight words is a transform of its own, with one root of stride 4, two of stride 2
/// and four of stride 1: entries 0, 1..3 and 3..7. Lane `g` of an entry belongs to group `g`. A
/// vector kernel transposes the 8 x 8 words, so that lane `g` of each vector is in group `g`, and
/// then needs no shuffles within vectors.
///
/// A root is two lines of a cache: the values of its eight lanes, and their quotients as in
/// [`ShoupFactor`].
pub(crate) type LateRoots = [[[u64; LANES]; 2]; 7];

/// How many words the late roots of 64 words are.
const LATE_WORDS: usize = size_of::<LateRoots>() / size_of::<u64>();

impl NttTable {
    /// Computes the roots.
    ///
    /// # Errors
    /// [`Error::NoRoot`] unless the prime is 1 modulo the ring's index.
    pub fn new(modulus: Modulus, ring: &Cyclotomic) -> Result<Self, Error> {
        let degree = ring.degree();
        let psi = primitive_root_of_order(&modulus, u64::from(ring.index()))?;
        let psi_inverse = modulus.inv(psi);
        let n_inverse = modulus.inv(modulus.reduce(degree as u64));
        // brv(1) = n/2: the root of the only block of layer 1.
        let last_root = modulus.pow(psi_inverse, degree as u64 / 2);
        let mut roots = AlignedVec::zeroed(2 * (late_words(degree) + early_words(degree)));
        let (late, early) = roots.split_at_mut(2 * late_words(degree));
        let parts = late.chunks_exact_mut(late_words(degree)).zip(early.chunks_exact_mut(early_words(degree)));
        for ((late, early), root) in parts.zip([psi, psi_inverse]) {
            write_roots(&modulus, root, degree, late, early);
        }
        Ok(Self {
            modulus,
            degree,
            roots,
            scale: modulus.shoup(n_inverse),
            scaled_root: modulus.shoup(modulus.mul(n_inverse, last_root)),
        })
    }

    /// The prime.
    #[must_use]
    pub const fn modulus(&self) -> &Modulus {
        &self.modulus
    }

    /// The degree `n`: the length of a row.
    #[must_use]
    pub const fn degree(&self) -> usize {
        self.degree
    }

    /// From coefficients to evaluations, in place. Range: in `[0, 2q)`, out `[0, q)`.
    ///
    /// # Panics
    /// If the row's length is not the degree.
    pub fn forward(&self, row: &mut [u64]) {
        kernels().ntt_forward(row, self);
    }

    /// From evaluations to coefficients, in place. Range: in `[0, 2q)`, out `[0, q)`.
    ///
    /// # Panics
    /// If the row's length is not the degree.
    pub fn inverse(&self, row: &mut [u64]) {
        kernels().ntt_inverse(row, self);
    }

    /// `psi^brv(i)`.
    pub(crate) fn forward_roots(&self) -> Roots<'_> {
        self.roots_of(0)
    }

    /// `psi^-brv(i)`.
    pub(crate) fn inverse_roots(&self) -> Roots<'_> {
        self.roots_of(1)
    }

    fn roots_of(&self, direction: usize) -> Roots<'_> {
        let (late, early) = self.roots.split_at(2 * late_words(self.degree));
        let late = &late[direction * late_words(self.degree)..][..late_words(self.degree)];
        let early = &early[direction * early_words(self.degree)..][..early_words(self.degree)];
        Roots { early: early.as_chunks().0, late: late.as_chunks().0.as_chunks().0.as_chunks().0 }
    }

    /// `1/n`: what the inverse's last layer multiplies its sums by.
    pub(crate) const fn scale(&self) -> ShoupFactor {
        self.scale
    }

    /// `psi^-brv(1) / n`: what the inverse's last layer multiplies its differences by.
    pub(crate) const fn scaled_root(&self) -> ShoupFactor {
        self.scaled_root
    }
}

impl fmt::Debug for NttTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NttTable").field("modulus", &self.modulus).field("degree", &self.degree).finish_non_exhaustive()
    }
}

impl Roots<'_> {
    /// The root of block `i` of layer `m` for `index = m + i`, `m < n/8`; index 0 is not used.
    #[inline(always)]
    pub(crate) fn early(&self, index: usize) -> ShoupFactor {
        let [value, quotient] = self.early[index];
        ShoupFactor { value, quotient }
    }

    /// How many blocks the layer after the early ones has: `n/8`.
    #[inline(always)]
    pub(crate) fn groups(&self) -> usize {
        self.early.len()
    }
}

/// The length of one direction's late roots in words.
const fn late_words(degree: usize) -> usize {
    degree.div_ceil(8 * LANES) * LATE_WORDS
}

/// The length of one direction's early roots in words.
const fn early_words(degree: usize) -> usize {
    degree / 8 * 2
}

/// Writes the roots of the direction in which `root` is the primitive one.
fn write_roots(q: &Modulus, root: u64, degree: usize, late: &mut [u64], early: &mut [u64]) {
    let shift = usize::BITS - degree.trailing_zeros();
    let mut powers = vec![ShoupFactor { value: 0, quotient: 0 }; degree];
    let step = q.shoup(root);
    let mut power = 1;
    for exponent in 0..degree {
        powers[exponent.reverse_bits() >> shift] = q.shoup(power);
        power = q.mul_shoup(power, step);
    }
    let groups = degree / 8;
    for (early, power) in early.as_chunks_mut().0.iter_mut().zip(&powers) {
        *early = [power.value, power.quotient];
    }
    let blocks: &mut [LateRoots] = late.as_chunks_mut().0.as_chunks_mut().0.as_chunks_mut().0;
    for (block, roots) in blocks.iter_mut().enumerate() {
        for (lane, group) in (block * LANES..groups.min((block + 1) * LANES)).enumerate() {
            for layer in 0..3 {
                for i in 0..1 << layer {
                    let power = powers[((groups + group) << layer) + i];
                    let [value, quotient] = &mut roots[(1 << layer) - 1 + i];
                    (value[lane], quotient[lane]) = (power.value, power.quotient);
                }
            }
        }
    }
}
