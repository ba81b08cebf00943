//! Costs of rotations and sizes of factors: as much of a scheme as a circuit needs to choose between plans.

use noren_math::kernels::rows::places::GROUP;

/// The costs of a sum of rotations of one ciphertext, in nanoseconds, and the size of the keys that it takes.
///
/// All rotations of one sum share a decomposition and a division of the second part by the special modulus; each adds an
/// inner product of the digits with its own key. Sums of sums, in a row, divide the first part once, in the end. Keys that together take at most half of the cache, which they share with what is worked
/// on, are found there when the same sums are taken again; others come from memory each time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RotationCosts {
    /// The common cost of the rotations of a sum.
    pub shared: f64,
    /// The common cost of sums in a row.
    pub end: f64,
    /// The cost of each rotation, with a key that lies in the cache.
    pub cached: f64,
    /// The cost of each rotation, with a key that comes from memory.
    pub streamed: f64,
    /// The bytes of one key.
    pub key_bytes: u64,
    /// The bytes of the cache that all threads share.
    pub cache_bytes: u64,
}

impl RotationCosts {
    /// The cost of `sums` sums, in `rows` rows of such as follow each other, that have `rotations` rotations together and use
    /// `keys` different keys.
    #[must_use]
    pub fn total(&self, rows: usize, sums: usize, rotations: usize, keys: usize) -> f64 {
        let fit = self.bytes_of(keys) <= self.cache_bytes / 2;
        let rotation = if fit { self.cached } else { self.streamed };
        rows as f64 * self.end + sums as f64 * self.shared + rotations as f64 * rotation
    }

    /// The bytes of `keys` keys.
    #[must_use]
    pub fn bytes_of(&self, keys: usize) -> u64 {
        (keys as u64).saturating_mul(self.key_bytes)
    }
}

/// How many words a row of a factor has that lies in the subring of `words` words: the degree of the smallest subring that
/// holds it, if its words stand for groups of the `degree` words of the ring, or else all.
pub(crate) const fn factor_words(degree: usize, words: usize) -> usize {
    let words = if words > GROUP { words } else { GROUP };
    if degree / words >= GROUP { words } else { degree }
}
