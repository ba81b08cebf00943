//! Keys: the secret one, the public one, and those that evaluation needs.

use std::collections::BTreeMap;
use std::sync::Arc;

use noren_math::random::Seed;
use noren_ring::key::KeyPairs;
use noren_ring::poly::{Eval, Poly};
use zeroize::Zeroizing;

use crate::ciphertext::Ciphertext;
use crate::error::{Error, Result};
use crate::owner::{KeyId, Owner};
use crate::parameters::Parameters;
use crate::security::SecretDistribution;
use crate::shape::KeyShape;

/// The secret `s`. Wiped when dropped; whoever holds it reads everything.
pub struct SecretKey {
    /// Over the whole ring, special primes included.
    pub(crate) poly: Poly<Eval>,
    /// The same secret as small integers; a distribution is never wider than 32.
    pub(crate) coefficients: Zeroizing<Vec<i8>>,
    pub(crate) distribution: SecretDistribution,
    pub(crate) owner: Owner,
}

impl SecretKey {
    /// How the secret was drawn.
    #[must_use]
    pub fn distribution(&self) -> SecretDistribution {
        self.distribution
    }

    /// The parameters that the key was made with, and its identity.
    #[must_use]
    pub const fn owner(&self) -> Owner {
        self.owner
    }

    /// The fingerprint of the parameters that the key was made with.
    #[must_use]
    pub fn fingerprint(&self) -> &[u8; 32] {
        &self.owner.fingerprint
    }
}

/// An encryption `(b, a) = (-a s + e, a)` of zero, which lets anybody encrypt.
#[derive(Debug, Clone)]
pub struct PublicKey {
    /// Modulo `q_0 ... q_L`, as `a`.
    pub(crate) b: Poly<Eval>,
    pub(crate) a: Poly<Eval>,
    /// `a` is `uniform(seed, "public")`.
    pub(crate) seed: Seed,
    pub(crate) owner: Owner,
}

impl PublicKey {
    /// The parameters that the key was made with, and the secret key that it belongs to.
    #[must_use]
    pub const fn owner(&self) -> Owner {
        self.owner
    }

    /// The fingerprint of the parameters that the key was made with.
    #[must_use]
    pub fn fingerprint(&self) -> &[u8; 32] {
        &self.owner.fingerprint
    }
}

/// A key that switches from a secret `s'` to a secret `s`: for each digit j the pair
/// `(b_j, a_j)` with `b_j = -a_j s + e_j + P g_j s'` modulo `P q_0 ... q_{limbs-1}`, for the P and the digits of its shape.
///
/// `g_j` is 1 modulo the primes of digit j and 0 modulo the others (hybrid key switching, eprint 2019/688).
///
/// The key of an automorphism `psi_k` switches from `s` to `psi_k^-1(s)`. So digits are never permuted: the inner
/// product of the digits of `c_1` with this key decrypts under `psi_k^-1(s)`, and one application of `psi_k` to the two
/// sums brings the image of `c_1` under `s`.
#[derive(Debug, Clone)]
pub struct KeySwitchKey {
    pub(crate) pairs: KeyPairs,
    pub(crate) shape: KeyShape,
    /// `a_j` is `uniform(seed, "digit/{j}")`.
    pub(crate) seed: Seed,
    pub(crate) limbs: usize,
    /// Of s.
    pub(crate) owner: Owner,
    /// The identity of s', or of the secret that s' is an image or a power of.
    pub(crate) from: KeyId,
}

impl KeySwitchKey {
    /// The pairs `(b_j, a_j)`.
    #[must_use]
    pub fn pairs(&self) -> &KeyPairs {
        &self.pairs
    }

    /// The number of limbs of the largest ciphertext that the key switches.
    #[must_use]
    pub fn limbs(&self) -> usize {
        self.limbs
    }

    /// What primes the key uses, and how they are cut.
    #[must_use]
    pub fn shape(&self) -> KeyShape {
        self.shape
    }

    /// The public seed of the uniform halves.
    #[must_use]
    pub fn seed(&self) -> &Seed {
        &self.seed
    }

    /// The identity of the secret key that it switches from. Of keys for relinearisation and automorphisms it is the one
    /// that they are encryptions under.
    #[must_use]
    pub const fn from(&self) -> KeyId {
        self.from
    }

    /// The parameters that the key was made with, and the secret key that it is an encryption under.
    #[must_use]
    pub const fn owner(&self) -> Owner {
        self.owner
    }

    /// The fingerprint of the parameters that the key was made with.
    #[must_use]
    pub fn fingerprint(&self) -> &[u8; 32] {
        &self.owner.fingerprint
    }
}

/// A key switching key without its polynomials.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyOutline {
    /// Its shape.
    pub shape: KeyShape,
    /// The number of limbs of the largest ciphertext that it switches.
    pub limbs: usize,
    /// The parameters, and the secret key that it is an encryption under.
    pub owner: Owner,
    /// The secret key that it switches from.
    pub from: KeyId,
}

/// The keys that evaluation needs, all of one secret key and one shape: nothing in them decrypts.
#[derive(Debug, Clone)]
pub struct EvaluationKeys {
    pub(crate) relinearization: Option<Arc<KeySwitchKey>>,
    pub(crate) galois: BTreeMap<u32, Arc<KeySwitchKey>>,
    pub(crate) parameters: Parameters,
    pub(crate) shape: KeyShape,
    pub(crate) key: KeyId,
}

impl EvaluationKeys {
    /// No keys yet, for those of the usual shape and of this secret key.
    #[must_use]
    pub fn new(parameters: &Parameters, key: KeyId) -> Self {
        Self::shaped(parameters, parameters.shape(), key)
    }

    /// No keys yet, for those of this shape and of this secret key.
    #[must_use]
    pub fn shaped(parameters: &Parameters, shape: KeyShape, key: KeyId) -> Self {
        Self { relinearization: None, galois: BTreeMap::new(), parameters: parameters.clone(), shape, key }
    }

    /// The parameters, and the secret key that all keys belong to.
    #[must_use]
    pub fn owner(&self) -> Owner {
        Owner { fingerprint: self.parameters.fingerprint(), key: self.key }
    }

    /// Refuses ciphertexts of another secret key.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`].
    pub fn check_ciphertext(&self, ciphertext: &Ciphertext) -> Result<()> {
        self.key.check(ciphertext.key_id(), "the ciphertext")
    }

    /// The parameters that the keys were made with.
    #[must_use]
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The shape of the keys.
    #[must_use]
    pub fn shape(&self) -> KeyShape {
        self.shape
    }

    /// The relinearisation key, for ciphertexts of so many limbs.
    ///
    /// # Errors
    /// [`Error::MissingKey`] if there is none, [`Error::KeyLevel`] if it was made for fewer limbs.
    pub fn relinearization(&self, limbs: usize) -> Result<&Arc<KeySwitchKey>> {
        self.usable(self.relinearization.as_ref(), limbs, || "relinearisation".into())
    }

    /// The key of the automorphism `X -> X^k`, for ciphertexts of so many limbs.
    ///
    /// # Errors
    /// [`Error::MissingKey`] if there is none, [`Error::KeyLevel`] if it was made for fewer limbs.
    pub fn galois(&self, k: u32, limbs: usize) -> Result<&Arc<KeySwitchKey>> {
        self.usable(self.galois.get(&k), limbs, || describe_automorphism(k, self.parameters.degree()))
    }

    /// Refuses uses whose keys are missing: of the relinearisation key for so many limbs, and of the keys of automorphisms, as
    /// `(k, limbs)`.
    ///
    /// # Errors
    /// [`Error::MissingKey`] names all keys that are missing, [`Error::KeyLevel`] one that was made for fewer limbs.
    pub fn check(&self, relinearization: Option<usize>, galois: impl IntoIterator<Item = (u32, usize)>) -> Result<()> {
        let missing = self.missing(relinearization, galois)?;
        if missing.is_empty() {
            return Ok(());
        }
        Err(Error::MissingKey { kind: missing.join(", "), available: self.describe() })
    }

    /// The names of the keys that [`EvaluationKeys::check`] misses, each once.
    ///
    /// # Errors
    /// [`Error::KeyLevel`] for a key that was made for fewer limbs.
    pub fn missing(
        &self,
        relinearization: Option<usize>,
        galois: impl IntoIterator<Item = (u32, usize)>,
    ) -> Result<Vec<String>> {
        let relinearization = relinearization.map(|limbs| self.relinearization(limbs));
        let galois = galois.into_iter().map(|(k, limbs)| self.galois(k, limbs));
        let mut missing = Vec::new();
        for key in relinearization.into_iter().chain(galois) {
            match key {
                Err(Error::MissingKey { kind, .. }) if missing.contains(&kind) => {}
                Err(Error::MissingKey { kind, .. }) => missing.push(kind),
                other => _ = other?,
            }
        }
        Ok(missing)
    }

    /// The exponents k of the automorphisms that there are keys for, in order, each with its key.
    pub fn automorphisms(&self) -> impl ExactSizeIterator<Item = (u32, &Arc<KeySwitchKey>)> {
        self.galois.iter().map(|(&k, key)| (k, key))
    }

    /// Whether there is a relinearisation key.
    #[must_use]
    pub fn has_relinearization(&self) -> bool {
        self.relinearization.is_some()
    }

    /// Takes in a relinearisation key, unless there is one for more limbs.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`] if it was made with other parameters, [`Error::KeyMismatch`] if it belongs to another
    /// secret key, [`Error::KeyShape`] if it has another shape.
    pub fn insert_relinearization(&mut self, key: Arc<KeySwitchKey>) -> Result<()> {
        self.check_key("the relinearisation key", &key)?;
        if self.relinearization.as_ref().is_none_or(|known| known.limbs < key.limbs) {
            self.relinearization = Some(key);
        }
        Ok(())
    }

    /// Takes in the key of the automorphism `X -> X^k`, unless there is one for more limbs.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`] if it was made with other parameters, [`Error::KeyMismatch`] if it belongs to another
    /// secret key, [`Error::KeyShape`] if it has another shape.
    pub fn insert_galois(&mut self, k: u32, key: Arc<KeySwitchKey>) -> Result<()> {
        self.check_key("the Galois key", &key)?;
        if self.galois.get(&k).is_none_or(|known| known.limbs < key.limbs) {
            self.galois.insert(k, key);
        }
        Ok(())
    }

    /// Takes in all keys of another set of the same secret; where both have a key, the one for more limbs stays.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`] if they were made with other parameters, [`Error::KeyMismatch`] if they belong to another
    /// secret key, [`Error::KeyShape`] if they have another shape.
    pub fn merge(&mut self, other: Self) -> Result<()> {
        self.owner().check(&other.owner(), "the other set of evaluation keys")?;
        self.check_shape("the other set of evaluation keys", other.shape)?;
        if let Some(key) = other.relinearization {
            self.insert_relinearization(key)?;
        }
        other.galois.into_iter().try_for_each(|(k, key)| self.insert_galois(k, key))
    }

    /// Refuses a key that is not of this set: relinearisation and automorphisms stay under one secret.
    pub(crate) fn check_key(&self, what: &'static str, key: &KeySwitchKey) -> Result<()> {
        self.owner().check(&key.owner, what)?;
        self.key.check(key.from, what)?;
        self.check_shape(what, key.shape)
    }

    fn check_shape(&self, what: &'static str, found: KeyShape) -> Result<()> {
        if found == self.shape { Ok(()) } else { Err(Error::KeyShape { what, found, needed: self.shape }) }
    }

    fn usable<'a>(
        &self,
        key: Option<&'a Arc<KeySwitchKey>>,
        limbs: usize,
        kind: impl Fn() -> String,
    ) -> Result<&'a Arc<KeySwitchKey>> {
        match key {
            None => Err(Error::MissingKey { kind: kind(), available: self.describe() }),
            Some(key) if key.limbs < limbs => Err(Error::KeyLevel { kind: kind(), found: key.limbs, needed: limbs }),
            Some(key) => Ok(key),
        }
    }

    /// What keys there are, in words.
    #[must_use]
    pub fn describe(&self) -> String {
        /// More names than this help nobody.
        const SHOWN: usize = 8;
        let n = self.parameters.degree();
        let mut names: Vec<String> = self.relinearization.iter().map(|_| "relinearisation".into()).collect();
        names.extend(self.galois.keys().take(SHOWN).map(|&k| describe_automorphism(k, n)));
        if self.galois.len() > SHOWN {
            names.push(format!("{} more automorphisms", self.galois.len() - SHOWN));
        }
        if names.is_empty() { "none".into() } else { names.join(", ") }
    }
}

/// The automorphism `X -> X^k` of the ring of degree n by what it does to slots: such as `rotation by 3 (X -> X^125)`.
///
/// The powers of 5 rotate the slots, to the left for positive steps, and `2n - 1` conjugates them, or swaps the rows of
/// exact integers.
#[must_use]
pub fn describe_automorphism(k: u32, n: usize) -> String {
    let m = 2 * n as u64;
    let k = u64::from(k);
    // 5 has order n/2 modulo 2n.
    let steps_of = |k: u64| {
        let mut power = 1;
        (0..n as i64 / 2).find(|_| {
            let found = power == k;
            power = power * 5 % m;
            found
        })
    };
    // The shorter way round.
    let signed = |steps: i64| {
        if steps > n as i64 / 4 { steps - n as i64 / 2 } else { steps }
    };
    match (steps_of(k), steps_of((m - k % m) % m)) {
        (Some(steps), _) => format!("rotation by {} (X -> X^{k})", signed(steps)),
        (None, Some(0)) => "conjugation or row swap".into(),
        (None, Some(steps)) => {
            format!("conjugation and rotation by {} (X -> X^{k})", signed(steps))
        }
        (None, None) => format!("X -> X^{k}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn automorphisms_are_described_by_what_they_do_to_slots() {
        for (k, text) in [
            (1, "rotation by 0 (X -> X^1)"),
            (125, "rotation by 3 (X -> X^125)"),
            // 5 * 205 = 1 modulo 1024.
            (205, "rotation by -1 (X -> X^205)"),
            (1023, "conjugation or row swap"),
            (1019, "conjugation and rotation by 1 (X -> X^1019)"),
            (6, "X -> X^6"),
        ] {
            assert_eq!(describe_automorphism(k, 512), text);
        }
    }
}
