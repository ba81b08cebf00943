//! Plain factors of sums of giant steps.

use noren_ring::poly::{Eval, Poly};

use crate::schemes::ckks::message::Message;

/// An encoded vector modulo the special primes and those of its level: a factor of rotations that were not divided by the
/// special modulus yet.
///
/// With l limbs, k special primes and n coefficients it takes `8 (l + k) n` bytes.
pub type Factor = Message<Poly<Eval>>;

impl Factor {
    /// The level that it was encoded for.
    #[must_use]
    pub fn level(&self) -> usize {
        self.inner.limbs() - self.parameters.rlwe().p().len() - 1
    }
}
