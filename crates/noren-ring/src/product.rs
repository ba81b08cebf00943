//! Products that are scaled by t/Q: the multiplication of ciphertexts whose message is in the upper bits (BFV).

use std::ops::Range;

use noren_math::modulus::Modulus;

use crate::convert::BaseConversion;
use crate::divide::DivideRound;
use crate::poly::{Eval, Poly};
use crate::window::Window;

/// Two pairs `(a_0, a_1)` and `(b_0, b_1)`, whose product is `(a_0 b_0, a_0 b_1 + a_1 b_0, a_1 b_1)`. Two times the same
/// pair, at the same address, is a square, which takes fewer transforms.
pub type Pairs<'a> = [[&'a Poly<Eval>; 2]; 2];

/// `sum_k a_k b_k t/Q` modulo Q, rounded, for pairs of elements modulo `Q = q_0 .. q_l`.
///
/// With an auxiliary modulus B the second pair is brought to `b' = round(b B/Q)`, in `(-B/2, B/2)`. The sum of the
/// products with b' is taken modulo `Q B`, and `round(t/B sum_k a_k b'_k)` is the result: where the sum leaves the range of
/// `Q B`, the multiples of `Q B` that are lost are multiples of Q times t after the division. So B needs no room for the
/// sum, nor for t or n, and the division needs only residues modulo B as numbers: it is a [`DivideRound`].
///
/// # Error
/// Each coefficient is away from `t/Q sum_k a_k b_k` by the final rounding, at most 1/2, and by `t/B sum_k a_k e_k`, where
/// `e_k` are the roundings of b', at most 1/2 in each coefficient. As polynomials in a secret s with
/// `a_0 + a_1 s = m + Q k` that is `t Q/B k (e_0 + e_1 s)`: what a modulus switch of b to B would add, if B is below Q, and
/// less if it is above. Conversions are exact up to what [`DivideRound`] is next to halves: there a coefficient of a counts as
/// its neighbour modulo Q, one of b' as its neighbour modulo B, or a rounding is one up to `1/2 + 2^-45`, which is harmless.
///
/// With l limbs in Q and m in B a product takes `4l` inverse and `2l + 4m` forward transforms for the factors, half of the
/// inverse ones for a square, and `m` inverse and `l` forward ones for the division of each of the three parts.
///
/// Source: Kim, Polyakov and Zucca, section 3, eprint 2021/204, after Halevi, Polyakov and Shoup, eprint 2018/117.
#[derive(Debug)]
pub struct ScaledProduct {
    t: u64,
    /// Modulo Q, and modulo `Q B`.
    pub(crate) ring_q: Window,
    pub(crate) ring_qb: Window,
    /// From Q to B: a as it is, and b times `B/Q` and `(B/b_j)^-1`, which makes it ready for the way back.
    pub(crate) extend: BaseConversion,
    pub(crate) scale: BaseConversion,
    /// `B mod q_i`: by what the sources of `scale` are more than those of `extend`.
    pub(crate) ratios: Vec<u64>,
    /// From B to Q.
    pub(crate) back: BaseConversion,
    /// `x t/B`, for x whose residues modulo B lack the factors `B/b_j`.
    pub(crate) divide: DivideRound,
}

impl ScaledProduct {
    /// Prepares products modulo the primes at `q` of the whole list, with those at `auxiliary`, just before them, in B.
    ///
    /// For an error of the size of a modulus switch B should be about as large as Q, or larger. Range: t in `[1, 2^50)`.
    ///
    /// # Panics
    /// If there is no limb of a kind, the auxiliary ones do not end where the others start, or a limb is not in the list; if
    /// t is a multiple of a prime.
    #[must_use]
    pub fn new(ring: &Window, q: Range<usize>, auxiliary: Range<usize>, t: u64) -> Self {
        assert!(auxiliary.end == q.start, "auxiliary limbs {auxiliary:?} do not end where {q:?} start");
        let (ring_q, ring_qb) = (ring.window(q.clone()), ring.window(auxiliary.start..q.end));
        let basis = ring.basis();
        let (q_limbs, b_limbs): (Vec<usize>, Vec<usize>) = (q.clone().collect(), auxiliary.clone().collect());
        let product = |limbs: Range<usize>, p: &Modulus| basis.product_mod(limbs, p);
        let others = |limb: usize| cofactor(ring, auxiliary.clone(), limb);
        let scale = |limb: usize| {
            let p = basis.modulus(limb);
            if q.contains(&limb) {
                product(auxiliary.clone(), p)
            } else {
                // round(B b / Q) = (B b - r)/Q for the remainder r modulo Q, and B b is 0 modulo B.
                p.neg(p.inv(p.mul(product(q.clone(), p), others(limb))))
            }
        };
        let multiplier = |limb: usize| {
            let p = basis.modulus(limb);
            let t = p.reduce(t);
            if q.contains(&limb) { t } else { p.mul(t, others(limb)) }
        };
        Self {
            t,
            extend: BaseConversion::new(basis, &q_limbs, auxiliary.clone()),
            scale: BaseConversion::scaled(basis, &q_limbs, auxiliary.clone(), scale),
            ratios: q.clone().map(scale).collect(),
            back: BaseConversion::scaled(basis, &b_limbs, q.clone(), |_| 1),
            divide: DivideRound::of_multiple(ring, &b_limbs, q.clone(), multiplier),
            ring_q,
            ring_qb,
        }
    }

    /// The ring of the elements, modulo Q.
    #[must_use]
    pub fn ring(&self) -> &Window {
        &self.ring_q
    }

    /// The limbs of B.
    #[must_use]
    pub fn auxiliary(&self) -> Range<usize> {
        self.ring_qb.range().start..self.ring_q.range().start
    }

    /// t.
    #[must_use]
    pub fn t(&self) -> u64 {
        self.t
    }
}

/// The product of the other primes at `limbs`, modulo that of `limb`, one of them.
pub(crate) fn cofactor(ring: &Window, limbs: Range<usize>, limb: usize) -> u64 {
    ring.basis().product_mod(limbs.filter(|&other| other != limb), ring.basis().modulus(limb))
}
