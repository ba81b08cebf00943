//! Products times t/Q in two parts: the third is switched, and one division ends everything.

use std::ops::Range;

use noren_math::modulus::ShoupFactor;

use crate::decompose::Decomposer;
use crate::divide::DivideRound;
use crate::product::{ScaledProduct, cofactor};
use crate::window::Window;

/// [`ScaledProduct`] whose third part is switched with a key to the secret of the first two, modulo the first limbs of Q.
///
/// The third part is divided by B, and its digits are multiplied with the key, which gives sums `u_i` that are to be divided
/// by the product P of the special primes. These are a part of B, `B = P E`, so `t s_i + E u_i` is divided by B at once,
/// and by the primes that are dropped: the first two parts are not divided alone, and one rounding is saved.
///
/// # Error
/// As [`ScaledProduct`], divided by the dropped primes, with a single rounding at the end, and with what
/// [`Ring::switch`](crate::ring::Ring::switch) adds.
#[derive(Debug)]
pub struct SwitchedProduct {
    pub(crate) product: ScaledProduct,
    /// `x E/(B D)` for the product D of the dropped primes; at those of E it is `x t/(B D)`, for x that lacks a factor
    /// `B/b_j`.
    pub(crate) divide: DivideRound,
    /// `t/E` at each limb of the sums; at those of P the missing factor `B/b_j` too.
    pub(crate) factors: Vec<ShoupFactor>,
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

    /// The product of ciphertexts before the switch.
    #[must_use]
    pub fn product(&self) -> &ScaledProduct {
        &self.product
    }

    /// The ring of the results.
    #[must_use]
    pub fn kept(&self) -> &Window {
        self.divide.kept()
    }
}
