//! The special DFT between slots and coefficients, as a product of few sparse matrices.
//!
//! A polynomial with packed coefficients `v_k` has the slots `U R v`, where R reverses the bits of indices and
//! `U = L_{n/2} .. L_4 L_2 L_1` are the butterfly layers of the special FFT. Layer h joins two halves of h values,
//! `(x, y) -> (x + w y, x - w y)` with `w_h[j] = exp(2 pi i 5^j / 8h)`, `j < h`. So
//!
//! - *slot to coefficient* multiplies the slots by U: `U z = U R (R z)`, hence the coefficients become `R z`;
//! - *coefficient to slot* multiplies them by `U^-1`: the slots `U R v` become `R v`.
//!
//! The bit reversals of the two undo each other, and neither is ever made. A group of layers is one matrix with few
//! diagonals ([`Group`]). Sources: Chen, Chillotti, Song, "Improved bootstrapping for approximate homomorphic
//! encryption", eprint 2018/1043; Han, Hhan, Cheon, eprint 2018/1073.

use std::f64::consts::TAU;

use num_complex::Complex64;

use crate::bootstrapping::diagonals::Diagonals;
use crate::bootstrapping::group::Group;

/// Which way the special DFT goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// U, the layers in the order `1, 2, .., n/2`.
    SlotToCoeff,
    /// `U^-1`, the layers in the order `n/2, .., 2, 1`.
    CoeffToSlot,
}

impl Direction {
    /// For each of the groups, in the order in which they are applied, how many layers have shorter distances.
    #[must_use]
    pub fn below(self, groups: &[Group]) -> Vec<u32> {
        let end = |i: usize| groups[..i].iter().map(|group| group.layers).sum::<u32>();
        let from = |i: usize| match self {
            Self::SlotToCoeff => end(i),
            Self::CoeffToSlot => end(groups.len()) - end(i + 1),
        };
        (0..groups.len()).map(from).collect()
    }

    /// The matrices of the groups, in the order in which they are applied; their product is U or `U^-1`.
    ///
    /// # Panics
    /// If the groups do not have `log2 slots` layers together.
    #[must_use]
    pub fn matrices(self, slots: usize, groups: &[Group]) -> Vec<Diagonals> {
        let layers: u32 = groups.iter().map(|group| group.layers).sum();
        assert!(1 << layers == slots, "{layers} layers for {slots} slots");
        let matrix = |(group, below): (&Group, u32)| {
            let halves = (below..below + group.layers).map(|i| 1 << i);
            let one = Diagonals::identity(slots);
            match self {
                Self::SlotToCoeff => halves.fold(one, |product, h| forward_layer(slots, h).mul(&product)),
                Self::CoeffToSlot => halves.rev().fold(one, |product, h| inverse_layer(slots, h).mul(&product)),
            }
        };
        groups.iter().zip(self.below(groups)).map(matrix).collect()
    }
}

/// `L_h`: row p of the first half takes `x + w y`, of the second half `x - w y`.
fn forward_layer(slots: usize, half: usize) -> Diagonals {
    let mut layer = Diagonals::zero(slots);
    let roots = roots(half);
    for p in 0..slots {
        let w = roots[p % half];
        if p & half == 0 {
            layer.add(0, p, Complex64::ONE);
            layer.add(half, p, w);
        } else {
            layer.add(slots - half, p, Complex64::ONE);
            layer.add(0, p, -w);
        }
    }
    layer
}

/// `L_h^-1`: with `(u, t) = (x + w y, x - w y)`, `x = (u + t) / 2` and `y = conj(w) (u - t) / 2`.
fn inverse_layer(slots: usize, half: usize) -> Diagonals {
    let mut layer = Diagonals::zero(slots);
    let roots = roots(half);
    for p in 0..slots {
        let w = roots[p % half].conj() / 2.0;
        if p & half == 0 {
            layer.add(0, p, Complex64::from(0.5));
            layer.add(half, p, Complex64::from(0.5));
        } else {
            layer.add(slots - half, p, w);
            layer.add(0, p, -w);
        }
    }
    layer
}

/// `w_h[j] = exp(2 pi i 5^j / 8h)` for `j < h`.
fn roots(half: usize) -> Vec<Complex64> {
    let powers = std::iter::successors(Some(1), |power| Some(5 * power % (8 * half)));
    let root = |power: usize| {
        let angle = TAU * power as f64 / (8 * half) as f64;
        Complex64::new(libm::cos(angle), libm::sin(angle))
    };
    powers.take(half).map(root).collect()
}
