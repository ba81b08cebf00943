//! Division by some of the primes, rounded: ModDown and rescale.

use std::ops::Range;

use noren_math::modulus::ShoupFactor;

use crate::convert::BaseConversion;
use crate::window::Window;

/// `x -> round(x / D)` for `D` the product of some primes of x's modulus, modulo the primes that are kept.
///
/// With `t` the representative of x modulo D in `(-D/2, D/2)`, `x - t` is a multiple of D and the quotient is exact. D
/// is odd, so nothing lies half way. Only t leaves the evaluation form: the dropped limbs are transformed back, t is
/// converted to the kept primes, transformed forth, and subtracted: `(x_i - t_i) D^-1 mod q_i`.
///
/// Dropping the last prime is a rescale, dropping the special primes is ModDown, dropping both is one followed by the
/// other with a single rounding.
///
/// How often D fits into a sum is estimated in `f64`. For l dropped primes the additions err by at most `2^-53` of partial sums
/// below 1.5, .. l + 0.5 and the products by `2^-52`, together by less than `(l+3)^2 2^-54`: `2^-45` for 16 primes. Only if x/D is
/// that near to a half, the result may be the other neighbour; with a single prime never.
///
/// [`DivideRound::of_multiple`] multiplies x before it divides.
#[derive(Debug)]
pub struct DivideRound {
    ring: Window,
    pub(crate) conversion: BaseConversion,
    /// `-w/D` modulo each kept prime: the difference is taken as `t - x`, in the memory of t.
    pub(crate) factors: Vec<ShoupFactor>,
    /// w modulo each dropped and each kept prime.
    multipliers: Vec<u64>,
}

impl DivideRound {
    /// Prepares the division by the primes at `dropped` to the primes at `kept` of the whole list.
    ///
    /// # Panics
    /// If `dropped` is empty, repeats a limb or shares one with `kept`, or a limb is not in the list.
    #[must_use]
    pub fn new(ring: &Window, dropped: &[usize], kept: Range<usize>) -> Self {
        Self::with_plan(ring, kept.clone(), |_| 1, BaseConversion::new(ring.basis(), dropped, kept))
    }

    /// Prepares `x -> round(w x / D)` for a number w with residues `multiplier(limb)` modulo the primes at `dropped` and
    /// `kept`. It takes as long as without w.
    ///
    /// The remainder is that of `w x`; with the kept primes' shares of it over w, the quotient is `(x - t/w) w/D`. Range:
    /// residues in `[0, q)`, not 0 at the kept primes.
    ///
    /// # Panics
    /// As [`DivideRound::new`], or if w is 0 modulo a kept prime.
    #[must_use]
    pub fn of_multiple(
        ring: &Window,
        dropped: &[usize],
        kept: Range<usize>,
        multiplier: impl Fn(usize) -> u64,
    ) -> Self {
        let basis = ring.basis();
        let factor = |limb| {
            let (q, w) = (basis.modulus(limb), multiplier(limb));
            assert!(w < q.value(), "{w} is not a residue modulo {}", q.value());
            if dropped.contains(&limb) { w } else { q.inv(w) }
        };
        let conversion = BaseConversion::scaled(basis, dropped, kept.clone(), factor);
        Self::with_plan(ring, kept, multiplier, conversion)
    }

    /// Divides by the product of the conversion's sources what is `multiplier(limb)` times x.
    fn with_plan(
        ring: &Window,
        kept: Range<usize>,
        multiplier: impl Fn(usize) -> u64,
        conversion: BaseConversion,
    ) -> Self {
        let dropped = conversion.sources();
        assert!(!dropped.iter().any(|limb| kept.contains(limb)), "limbs {dropped:?} cannot be dropped from {kept:?}");
        let ring = ring.window(kept.clone());
        let factor = |limb| {
            let (q, w) = (ring.basis().modulus(limb), multiplier(limb));
            assert!(w != 0, "the multiplier is 0 modulo {}", q.value());
            q.shoup(q.neg(q.mul(w, q.inv(ring.basis().product_mod(dropped.iter().copied(), q)))))
        };
        let multipliers = dropped.iter().copied().chain(kept.clone()).map(&multiplier).collect();
        Self { factors: kept.map(factor).collect(), multipliers, ring, conversion }
    }

    /// The ring of the limbs that are kept.
    #[must_use]
    pub fn kept(&self) -> &Window {
        &self.ring
    }

    /// The residue of w modulo the prime of a limb that is dropped or kept: 1 unless this divides a multiple.
    ///
    /// # Panics
    /// If the limb is neither.
    #[must_use]
    pub fn multiplier(&self, limb: usize) -> u64 {
        let place = self.dropped().iter().copied().chain(self.ring.range()).position(|known| known == limb);
        self.multipliers[place.expect("a limb that is dropped or kept")]
    }

    /// The limbs that are dropped.
    #[must_use]
    pub fn dropped(&self) -> &[usize] {
        self.conversion.sources()
    }
}
