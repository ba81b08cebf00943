//! The primes of a ring and their transforms.

use std::ops::Range;
use std::sync::Arc;

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
    moduli: Arc<[Modulus]>,
    /// The transforms of the host; none if the primes lack roots for those of an index that is not a power of two.
    transforms: Arc<[Transform]>,
    window: Range<usize>,
}

impl RnsBasis {
    /// Computes the transforms of all `moduli` for the ring of that index.
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
        let transforms = match Transform::of_primes(&moduli, index) {
            Ok(transforms) => transforms,
            Err(error) if index.is_power_of_two() => return Err(error.into()),
            Err(_) => {
                moduli.iter().try_for_each(|q| primitive_root_of_order(q, index.index().into()).map(drop))?;
                Vec::new()
            }
        };
        Ok(Self { window: 0..moduli.len(), moduli: moduli.into(), transforms: transforms.into() })
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
        Self { moduli: Arc::clone(&self.moduli), transforms: Arc::clone(&self.transforms), window }
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
        &self.transforms[limb]
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
