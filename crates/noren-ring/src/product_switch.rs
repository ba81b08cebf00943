//! Products times t/Q in two parts: the third is switched, and one division ends everything.

use std::ops::Range;

use noren_math::modulus::ShoupFactor;

use crate::decompose::Decomposer;
use crate::divide::DivideRound;
use crate::key::KeyPairs;
use crate::poly::{Eval, Poly};
use crate::product::{Pairs, ScaledProduct, cofactor};
use crate::switch::Added;

/// [`ScaledProduct`] whose third part is switched with a key to the secret of the first two, modulo the first limbs of Q.
///
/// The third part is divided by B, and its digits are multiplied with the key, which gives sums `u_i` that are to be divided
/// by the product P of the special primes. These are a part of B, `B = P E`, so `t s_i + E u_i` is divided by B at once,
/// and by the primes that are dropped: the first two parts are not divided alone, and one rounding is saved.
///
/// # Error
/// As [`ScaledProduct`], divided by the dropped primes, with a single rounding at the end, and with what
/// [`Decomposer::switch`] adds.
#[derive(Debug)]
pub struct SwitchedProduct {
    product: ScaledProduct,
    /// `x E/(B D)` for the product D of the dropped primes; at those of E it is `x t/(B D)`, for x that lacks a factor
    /// `B/b_j`.
    divide: DivideRound,
    /// `t/E` at each limb of the sums; at those of P the missing factor `B/b_j` too.
    factors: Vec<ShoupFactor>,
}

impl SwitchedProduct {
    /// Prepares products modulo the primes at `q`, as [`ScaledProduct::new`], with results modulo the first `kept` of them,
    /// for keys of this decomposer.
    ///
    /// # Panics
    /// As [`ScaledProduct::new`]; if no limb is kept, or more than Q has; or if the auxiliary limbs lack a special prime of
    /// the keys.
    #[must_use]
    pub fn new(decomposer: &Decomposer, q: Range<usize>, auxiliary: Range<usize>, kept: usize, t: u64) -> Self {
        let (ring, special) = (decomposer.ring(), decomposer.gadget().skipped());
        assert!((1..=q.len()).contains(&kept), "{kept} limbs of {} cannot be kept", q.len());
        assert!(
            auxiliary.contains(&special) && decomposer.gadget().special() == auxiliary.end,
            "auxiliary limbs {auxiliary:?} lack special primes from limb {special} on"
        );
        let basis = ring.basis();
        let kept = q.start..q.start + kept;
        let dropped: Vec<usize> = auxiliary.clone().chain(kept.end..q.end).collect();
        let extra = |limb| basis.product_mod(auxiliary.start..special, basis.modulus(limb));
        let missing = |limb| if q.contains(&limb) { 1 } else { cofactor(ring, auxiliary.clone(), limb) };
        let scaled_t = |limb| {
            let p = basis.modulus(limb);
            p.mul(p.reduce(t), missing(limb))
        };
        let multiplier = |limb| if limb < special { scaled_t(limb) } else { extra(limb) };
        let factor = |limb| {
            let p = basis.modulus(limb);
            p.shoup(p.mul(scaled_t(limb), p.inv(extra(limb))))
        };
        Self {
            divide: DivideRound::of_multiple(ring, &dropped, kept, multiplier),
            factors: (special..q.end).map(factor).collect(),
            product: ScaledProduct::new(ring, q, auxiliary, t),
        }
    }

    /// Both parts of the sum of the products; `decomposer` is the one that this was made for.
    ///
    /// # Panics
    /// As [`ScaledProduct::multiply`], and if the key lacks a pair or a limb.
    #[must_use]
    pub fn multiply(&self, decomposer: &Decomposer, key: &KeyPairs, factors: &[Pairs]) -> [Poly<Eval>; 2] {
        let [s0, s1, s2] = self.product.tensor(factors);
        let third = self.product.divide(s2);
        let added = Added { elements: [Some((&s0).into()), Some((&s1).into())], factors: Some(&self.factors) };
        decomposer.switch_and_add(self.product.ring(), &third, key, added, &self.divide)
    }
}
