//! The roots that the transform of one prime in one ring multiplies by.

use std::fmt;

use crate::cyclotomic::Cyclotomic;
use crate::error::Error;
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
    forward: Roots,
    inverse: Roots,
    scale: ShoupFactor,
    scaled_root: ShoupFactor,
}

/// The roots of one direction, in the order in which the layers read them.
///
/// `late` has the roots of the forward transform's last three layers (strides 4, 2 and 1), 7/8 of all,
/// in the order of vectors; `early` has the others. No root is stored twice.
#[derive(Clone)]
pub(crate) struct Roots {
    /// `early[m + i]` belongs to block `i` of layer `m`, for `m < n/8`; index 0 is not used.
    pub(crate) early: Box<[ShoupFactor]>,
    /// One entry for each 64 consecutive words of a row; the only entry of a shorter row is partly
    /// unused.
    pub(crate) late: Box<[LateRoots]>,
}

/// How many groups of eight words one [`LateRoots`] serves.
pub(crate) const LANES: usize = 8;

/// The roots of the last three layers for 64 words: eight groups of eight.
///
/// Each group of eight words is a transform of its own, with one root of stride 4, two of stride 2
/// and four of stride 1: entries 0, 1..3 and 3..7. Lane `g` of an entry belongs to group `g`. A
/// vector kernel transposes the 8 x 8 words, so that lane `g` of each vector is in group `g`, and
/// then needs no shuffles within vectors.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct LateRoots(pub(crate) [RootLanes; 7]);

/// One root for each of the eight groups.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct RootLanes {
    /// The roots.
    pub(crate) value: [u64; LANES],
    /// Their quotients, as in [`ShoupFactor`].
    pub(crate) quotient: [u64; LANES],
}

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
        Ok(Self {
            modulus,
            degree,
            forward: Roots::new(&modulus, psi, degree),
            inverse: Roots::new(&modulus, psi_inverse, degree),
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
    pub(crate) const fn forward_roots(&self) -> &Roots {
        &self.forward
    }

    /// `psi^-brv(i)`.
    pub(crate) const fn inverse_roots(&self) -> &Roots {
        &self.inverse
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

impl Roots {
    fn new(q: &Modulus, root: u64, degree: usize) -> Self {
        let shift = usize::BITS - degree.trailing_zeros();
        let mut powers = vec![ShoupFactor { value: 0, quotient: 0 }; degree];
        let step = q.shoup(root);
        let mut power = 1;
        for exponent in 0..degree {
            powers[exponent.reverse_bits() >> shift] = q.shoup(power);
            power = q.mul_shoup(power, step);
        }
        let groups = degree / 8;
        let late = (0..groups.div_ceil(LANES)).map(|block| LateRoots::new(&powers, groups, block * LANES)).collect();
        powers.truncate(groups);
        Self { early: powers.into(), late }
    }
}

impl LateRoots {
    /// The roots of groups `first..first + 8` out of `groups`.
    fn new(powers: &[ShoupFactor], groups: usize, first: usize) -> Self {
        let mut roots = [RootLanes { value: [0; LANES], quotient: [0; LANES] }; 7];
        for (lane, group) in (first..groups.min(first + LANES)).enumerate() {
            for layer in 0..3 {
                for block in 0..1 << layer {
                    let power = powers[((groups + group) << layer) + block];
                    let entry = &mut roots[(1 << layer) - 1 + block];
                    (entry.value[lane], entry.quotient[lane]) = (power.value, power.quotient);
                }
            }
        }
        Self(roots)
    }
}
