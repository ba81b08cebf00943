//! Plain factors of sums of giant steps.

use noren_ring::poly::{Eval, Poly};

use crate::schemes::ckks::estimate::Estimate;
use crate::schemes::ckks::parameters::Parameters;
use crate::schemes::ckks::scale::Scale;

/// An encoded vector modulo the special primes and those of its level: a factor of rotations that were not divided by the
/// special modulus yet.
///
/// With l limbs, k special primes and n coefficients it takes `8 (l + k) n` bytes.
#[derive(Clone)]
pub struct Factor {
    pub(crate) poly: Poly<Eval>,
    pub(crate) level: usize,
    pub(crate) scale: Scale,
    pub(crate) slots: usize,
    pub(crate) estimate: Estimate,
    pub(crate) parameters: Parameters,
}

impl Factor {
    /// How many slots it has.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// The level that it was encoded for.
    #[must_use]
    pub fn level(&self) -> usize {
        self.level
    }

    /// The scale.
    #[must_use]
    pub fn scale(&self) -> &Scale {
        &self.scale
    }
}
