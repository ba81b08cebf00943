//! Plaintexts and ciphertexts: polynomials, always in evaluation form.

use noren_math::random::Seed;
use noren_ring::poly::{Eval, Poly};
use noren_ring::ring::Ring;

use crate::owner::KeyId;

/// A plaintext: a polynomial modulo the first primes q.
#[derive(Debug, Clone)]
pub struct Plaintext {
    /// The polynomial. Its limbs are those of the level.
    pub poly: Poly<Eval>,
}

impl Plaintext {
    /// How many primes the modulus has.
    #[must_use]
    pub fn limbs(&self) -> usize {
        self.poly.limbs()
    }

    /// The level: how many primes can be dropped.
    #[must_use]
    pub fn level(&self) -> usize {
        self.limbs() - 1
    }
}

/// An encryption: parts `c_0 ... c_d` with `c_0 + c_1 s + ... + c_d s^d = message + noise` modulo the first primes q.
#[derive(Debug, Clone)]
pub struct Ciphertext {
    parts: Vec<Poly<Eval>>,
    seed: Option<Seed>,
    /// The identity of s.
    key: KeyId,
}

impl Ciphertext {
    /// The ciphertext of these parts, the constant one first, under the secret key of this identity.
    ///
    /// # Panics
    /// If there are none, or their windows differ.
    #[must_use]
    pub fn new(parts: Vec<Poly<Eval>>, key: KeyId) -> Self {
        assert!(!parts.is_empty(), "a ciphertext has at least one part");
        assert!(parts.iter().all(|part| part.window() == parts[0].window()), "parts have different moduli");
        Self { parts, seed: None, key }
    }

    /// A fresh symmetric ciphertext, whose second part is `uniform(seed, "ciphertext")`.
    pub(crate) fn seeded(parts: [Poly<Eval>; 2], seed: Seed, key: KeyId) -> Self {
        Self { seed: Some(seed), ..Self::new(parts.into(), key) }
    }

    /// The identity of the secret key that decrypts it.
    #[must_use]
    pub const fn key_id(&self) -> KeyId {
        self.key
    }

    /// The parts, the constant one first.
    #[must_use]
    pub fn parts(&self) -> &[Poly<Eval>] {
        &self.parts
    }

    /// The parts, to be changed; the seed is forgotten, as they may no longer come from it.
    #[must_use]
    pub fn parts_mut(&mut self) -> &mut [Poly<Eval>] {
        self.seed = None;
        &mut self.parts
    }

    /// The parts, the constant one first.
    #[must_use]
    pub fn into_parts(self) -> Vec<Poly<Eval>> {
        self.parts
    }

    /// Appends parts of higher degree.
    pub(crate) fn extend(&mut self, parts: impl Iterator<Item = Poly<Eval>>) {
        self.seed = None;
        self.parts.extend(parts);
    }

    /// Keeps only the limbs of this ring; a seed stays right, as the streams do not depend on the window.
    pub(crate) fn truncate(&mut self, ring: &Ring) {
        self.parts = self.parts.iter().map(|part| ring.restrict(part)).collect();
    }

    /// The public seed of the second part, which only fresh symmetric ciphertexts have: they travel at half the size.
    #[must_use]
    pub fn seed(&self) -> Option<&Seed> {
        self.seed.as_ref()
    }

    /// The degree in the secret: 1 when fresh, 2 after a product.
    #[must_use]
    pub fn degree(&self) -> usize {
        self.parts.len() - 1
    }

    /// How many primes the modulus has.
    #[must_use]
    pub fn limbs(&self) -> usize {
        self.parts[0].limbs()
    }

    /// The level: how many primes can be dropped.
    #[must_use]
    pub fn level(&self) -> usize {
        self.limbs() - 1
    }
}
