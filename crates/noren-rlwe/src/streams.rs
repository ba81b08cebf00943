//! Which streams a seed gives: by the purpose, the parameters and the secret key.
//!
//! A user may give one seed twice: to two sets of parameters, to two secret keys, to two schemes. If the streams were the
//! same, the difference of two public keys, or of two ciphertexts, would be without noise. So nothing is drawn from the seed
//! itself: each purpose draws from a child of it that is bound to the parameters, and where there is one to the secret key.

use noren_math::random::Seed;
use zeroize::Zeroize;

use crate::ciphertext::Ciphertext;
use crate::context::Context;
use crate::keys::SecretKey;
use crate::owner::{KeyId, Owner};
use crate::words::seed_of_residues;

/// The domain separator of seeds that follow from a secret key.
const SECRET_CONTEXT: &str = "noren seed of a secret key, version 1";

/// The purpose of randomness (domain separation). The labels are in `docs/wire.md`, section Randomness.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose<'a> {
    /// Keys over the rings of RLWE: secrets, public keys, evaluation keys.
    Keys,
    /// Keys over the torus: secrets, server keys.
    TorusKeys,
    /// Circuit bootstrapping keys over the torus.
    CircuitKeys,
    /// Light keys over the torus.
    LightKeys,
    /// Keys that switch between samples over the torus and those of RLWE.
    SwitchKeys,
    /// Encryption in the scheme of this name.
    Scheme(&'a str),
    /// Encryption with a public key.
    PublicEncryption,
    /// Encryption with a secret key.
    SymmetricEncryption,
    /// Encryption over the torus.
    TorusEncryption,
    /// Noise that floods that of results.
    Flood,
    /// The shares of a party in the keys of a joint secret.
    JointKeys,
    /// The floods of a party in decryptions of a joint secret.
    JointOpening,
    /// What covers ciphertexts that are re-encrypted for another owner.
    Reencryption,
}

impl Purpose<'_> {
    /// The seed of this purpose for parameters of this fingerprint: `child(seed, label || "/" || fingerprint)`, the
    /// fingerprint in hexadecimal digits.
    #[must_use]
    pub fn seed(self, seed: &Seed, fingerprint: &[u8; 32]) -> Seed {
        seed.derive(&format!("{}/{}", self.label(), hex(fingerprint)))
    }

    /// The seed of this purpose for parameters and a secret key: `child(seed, label || "/" || fingerprint || "/" || identity)`.
    #[must_use]
    pub fn seed_of(self, seed: &Seed, owner: &Owner) -> Seed {
        let Owner { fingerprint, key: KeyId(key) } = owner;
        seed.derive(&format!("{}/{}/{}", self.label(), hex(fingerprint), hex(key)))
    }

    fn label(self) -> String {
        match self {
            Self::Keys => "keys".into(),
            Self::TorusKeys => "torus/keys".into(),
            Self::CircuitKeys => "torus/circuit-keys".into(),
            Self::LightKeys => "torus/light-keys".into(),
            Self::SwitchKeys => "torus/switch-keys".into(),
            Self::Scheme(name) => format!("scheme/{name}"),
            Self::PublicEncryption => "encryption/public".into(),
            Self::SymmetricEncryption => "encryption/symmetric".into(),
            Self::TorusEncryption => "torus/encryption".into(),
            Self::Flood => "flood".into(),
            Self::JointKeys => "joint/keys".into(),
            Self::JointOpening => "joint/opening".into(),
            Self::Reencryption => "reencryption".into(),
        }
    }
}

/// The seed of a sample over the torus that encrypts these messages: other messages have other randomness, also where a seed
/// is used twice by mistake.
#[must_use]
pub fn seed_of_messages(seed: &Seed, messages: &[u64]) -> Seed {
    seed.derive_for("messages", &[messages])
}

/// The seed of what is drawn for a ciphertext of a secret key: whoever holds both draws the same again, and nobody else
/// anything. Other words, another seed.
///
/// ```text
/// child(s, label, parts || limbs || words || residues of all parts)
/// ```
/// with the number of words known from the label, and `s` BLAKE3 in its mode of key derivation, with the context
/// `noren seed of a secret key, version 1`, of the fingerprint of the parameters and one byte for each coefficient of the
/// secret, in two's complement.
///
/// # Panics
/// If the ciphertext is not over the first primes of the context.
#[must_use]
pub fn seed_of_decryption(
    context: &Context,
    secret: &SecretKey,
    ciphertext: &Ciphertext,
    label: &str,
    words: &[u64],
) -> Seed {
    let mut hasher = blake3::Hasher::new_derive_key(SECRET_CONTEXT);
    hasher.update(secret.fingerprint()).update(bytemuck::cast_slice(&secret.coefficients));
    let mut digest = hasher.finalize();
    let seed = Seed::from_bytes(*digest.as_bytes());
    digest.zeroize();
    hasher.zeroize();
    let ring = context.ring_q(ciphertext.limbs());
    let shape = [ciphertext.parts().len() as u64, ciphertext.limbs() as u64];
    let parts: Vec<_> = ciphertext.parts().iter().collect();
    seed_of_residues(&seed, label, &[&shape, words], &ring, &parts)
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_purpose_every_set_and_every_key_has_a_seed_of_its_own() {
        let purposes = [
            Purpose::Keys,
            Purpose::TorusKeys,
            Purpose::CircuitKeys,
            Purpose::LightKeys,
            Purpose::SwitchKeys,
            Purpose::Scheme("BFV"),
            Purpose::Scheme("BGV"),
            Purpose::PublicEncryption,
            Purpose::SymmetricEncryption,
            Purpose::TorusEncryption,
            Purpose::Flood,
            Purpose::JointKeys,
            Purpose::JointOpening,
            Purpose::Reencryption,
        ];
        let seed = Seed::from_bytes([1; 32]);
        let mut found = BTreeSet::from([*seed.as_bytes()]);
        let mut count = 1;
        for purpose in purposes {
            for fingerprint in [[0; 32], [1; 32]] {
                found.insert(*purpose.seed(&seed, &fingerprint).as_bytes());
                count += 1;
                for key in [KeyId([0; 16]), KeyId([1; 16])] {
                    found.insert(*purpose.seed_of(&seed, &Owner { fingerprint, key }).as_bytes());
                    count += 1;
                }
            }
        }
        assert_eq!(found.len(), count);
    }
}
