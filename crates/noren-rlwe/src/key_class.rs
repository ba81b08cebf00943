//! Keys that are planned: how many, how large, under which secret.

use crate::security::SecretDistribution;

/// Keys of one use and one size, before any is made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KeyClass<R> {
    /// The use of the keys.
    pub role: R,
    /// How many there are.
    pub count: usize,
    /// How many primes `q_0, q_1, ..` they cover.
    pub limbs: usize,
    /// How many special primes they use.
    pub special: usize,
    /// Of how many pairs of polynomials each consists.
    pub digits: usize,
    /// The secret that they are encryptions under.
    pub secret: SecretDistribution,
    /// The size of their modulus in bits.
    pub log_qp: f64,
    /// The degree of the ring.
    pub degree: usize,
}

impl<R> KeyClass<R> {
    /// The bytes of all these keys in memory: `2 digits (limbs + special) n` words.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        (self.count * 2 * self.digits * (self.limbs + self.special)) as u64 * (self.degree * size_of::<u64>()) as u64
    }

    /// About the bytes of all these keys in files: one half of each pair, packed to the sizes of the primes; the other
    /// half is a seed.
    #[must_use]
    pub fn disk_bytes(&self) -> u64 {
        (self.count * self.digits * self.degree / 8) as u64 * self.log_qp.ceil() as u64
    }
}
