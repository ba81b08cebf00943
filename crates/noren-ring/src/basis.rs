//! The primes of a ring and their transforms.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use noren_math::cyclotomic::Cyclotomic;
use noren_math::modulus::Modulus;
use noren_math::ntt::transform::Transform;
use noren_math::prime::primitive_root_of_order;

use crate::error::Error;

/// A window of consecutive primes out of a shared list.
///
/// The list is ordered `[p_0 .. p_{k-1}, q_0 .. q_L]`, special primes first. So the modulus of a level `q_0 .. q_l` is
/// the window `k..k+l+1`, the same with the special primes is `0..k+l+1`, and both cost no more than a range.
#[derive(Debug, Clone)]
pub struct RnsBasis {
    index: Cyclotomic,
    moduli: Arc<[Modulus]>,
    /// The transforms of the host, of [`TOGETHER`] primes each; none if the primes lack roots for those of an index that is
    /// not a power of two.
    transforms: Arc<[OnceLock<Vec<Transform>>]>,
    window: Range<usize>,
}

/// The transforms of so many primes that follow each other are made when one of them is first used. Together they fill some
/// large pages in large rings, and who works at a low level makes no others.
const TOGETHER: usize = 8;

impl RnsBasis {
    /// The primes `moduli` with their transforms for the ring of that index, which are computed at their first use.
    ///
    /// # Errors
    /// [`Error::NoModuli`], [`Error::RepeatedModulus`], and [`Error::Math`] for a number that is not a prime below 2^50
    /// or not 1 modulo the index.
    pub fn new(index: &Cyclotomic, moduli: &[u64]) -> Result<Self, Error> {
        if moduli.is_empty() {
            return Err(Error::NoModuli);
        }
        for (i, &prime) in moduli.iter().enumerate() {
            if moduli[..i].contains(&prime) {
                return Err(Error::RepeatedModulus { prime });
            }
        }
        let moduli = moduli.iter().map(|&prime| Modulus::new(prime)).collect::<Result<Vec<_>, _>>()?;
        moduli.iter().try_for_each(|q| primitive_root_of_order(q, index.index().into()).map(drop))?;
        let transforms = if index.is_power_of_two() {
            moduli.chunks(TOGETHER).map(|_| OnceLock::new()).collect()
        } else {
            let made = moduli.chunks(TOGETHER).map(|primes| Transform::of_primes(primes, index).map(OnceLock::from));
            made.collect::<Result<Vec<_>, _>>().unwrap_or_default()
        };
        Ok(Self { index: *index, window: 0..moduli.len(), moduli: moduli.into(), transforms: transforms.into() })
    }

    /// Another window of the same list, by positions in the whole list.
    ///
    /// # Panics
    /// If the window is empty or reaches past the list.
    #[must_use]
    pub fn window(&self, window: Range<usize>) -> Self {
        assert!(
            window.start < window.end && window.end <= self.moduli.len(),
            "window {window:?} of {} primes does not exist",
            self.moduli.len()
        );
        Self { index: self.index, moduli: Arc::clone(&self.moduli), transforms: Arc::clone(&self.transforms), window }
    }

    /// The whole list.
    #[must_use]
    pub fn whole(&self) -> Self {
        self.window(0..self.moduli.len())
    }

    /// The window's positions in the whole list.
    #[must_use]
    pub fn range(&self) -> Range<usize> {
        self.window.clone()
    }

    /// The primes of the window, in order.
    #[must_use]
    pub fn moduli(&self) -> &[Modulus] {
        &self.moduli[self.window.clone()]
    }

    /// Whether there are transforms for the host.
    pub(crate) fn has_transforms(&self) -> bool {
        !self.transforms.is_empty()
    }

    /// The transform of prime `limb` of the whole list.
    ///
    /// # Panics
    /// If the list is shorter, or the primes lack roots for the host's transforms.
    #[must_use]
    pub fn transform(&self, limb: usize) -> &Transform {
        let (block, place) = (limb / TOGETHER, limb % TOGETHER);
        let made = self.transforms[block].get_or_init(|| {
            let end = self.moduli.len().min((block + 1) * TOGETHER);
            Transform::of_primes(&self.moduli[block * TOGETHER..end], &self.index).expect("every prime has its roots")
        });
        &made[place]
    }

    /// Prime `limb` of the whole list.
    ///
    /// # Panics
    /// If the list is shorter.
    #[must_use]
    pub fn modulus(&self, limb: usize) -> &Modulus {
        &self.moduli[limb]
    }

    /// The product of the primes at `limbs` of the whole list, modulo `q`.
    pub(crate) fn product_mod(&self, limbs: impl Iterator<Item = usize>, q: &Modulus) -> u64 {
        limbs.fold(1, |product, limb| q.mul(product, q.reduce(self.modulus(limb).value())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use noren_math::prime::primes_below;

    #[test]
    fn transforms_are_made_when_one_of_their_primes_is_used() {
        let index = Cyclotomic::power_of_two(16).expect("a degree");
        let moduli: Vec<u64> = primes_below(1 << 30, 32).take(2 * TOGETHER + 1).collect();
        let basis = RnsBasis::new(&index, &moduli).expect("primes with roots");
        let made = |basis: &RnsBasis| basis.transforms.iter().map(|block| block.get().is_some()).collect::<Vec<_>>();
        assert_eq!(made(&basis), [false; 3]);
        for limb in [TOGETHER, 2 * TOGETHER, 2 * TOGETHER - 1] {
            assert_eq!(basis.window(limb..limb + 1).transform(limb).modulus().value(), moduli[limb]);
        }
        assert_eq!(made(&basis), [false, true, true]);
        assert!(RnsBasis::new(&index, &[97, 13]).is_err(), "13 is not 1 modulo 32");
    }
}
