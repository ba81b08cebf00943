//! Plain factors of sums of giant steps.

use noren_ring::poly::{Eval, Poly};

use crate::schemes::ckks::message::Message;
use crate::schemes::ckks::parameters::Parameters;
use crate::schemes::costs::factor_words;

/// An encoded vector modulo the special primes and those of its level: a factor of rotations that were not divided by the
/// special modulus yet.
///
/// With l limbs, k special primes and n coefficients it takes `8 (l + k) n` bytes. Values that repeat after fewer slots lie in
/// a [subring](noren_ring::ring::Ring::subring), and take as much less. The special primes are those of the
/// [shape](noren_rlwe::shape::KeyShape) of the keys that rotate, or more.
pub type Factor = Message<Poly<Eval>>;

/// How many words a row of a factor has whose values repeat after `period` slots.
pub(crate) const fn row_words(degree: usize, period: usize) -> usize {
    factor_words(degree, 2 * period)
}

/// The bytes of a factor of a level whose values repeat after `period` slots.
pub(crate) fn bytes(parameters: &Parameters, level: usize, period: usize) -> usize {
    let rows = level + 1 + parameters.rlwe().p().len();
    rows.saturating_mul(row_words(parameters.degree(), period)).saturating_mul(size_of::<u64>())
}

impl Factor {
    /// The level that it was encoded for.
    #[must_use]
    pub fn level(&self) -> usize {
        self.rlwe().window().end - self.parameters().rlwe().p().len() - 1
    }

    /// How many special primes it has: the last of the list.
    pub(crate) fn special(&self) -> usize {
        self.parameters().rlwe().p().len() - self.rlwe().window().start
    }
}
