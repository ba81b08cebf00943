//! Whose a key or a ciphertext is: the identity of its secret key.
//!
//! Identities find mistakes, not forgery: whoever writes a file can write any identity into it.

use std::fmt;

use zeroize::Zeroize;

use crate::error::{Error, Result};

/// The domain separator of identities of secrets.
const CONTEXT: &str = "noren identity of a secret key, version 1";

/// The identity of a secret key: 16 bytes that its keys and ciphertexts carry. It is public, and says nothing of the secret.
///
/// Of ring learning with errors it is a hash of the secret ([`KeyId::of_secret`]), so that one secret has one identity
/// wherever it is loaded and whenever keys are made for it. Over the torus it comes one-way from the seed of the keys.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId(pub [u8; KeyId::BYTES]);

/// The owner of a key or a ciphertext: parameters, and a secret key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owner {
    /// The fingerprint of the parameters.
    pub fingerprint: [u8; 32],
    /// The secret key.
    pub key: KeyId,
}

impl KeyId {
    /// The bytes of an identity.
    pub const BYTES: usize = 16;

    /// The identity of a secret with these coefficients: the first 16 bytes of BLAKE3 in its mode of key derivation, with the
    /// context `noren identity of a secret key, version 1`, of the fingerprint of the parameters and one byte for each
    /// coefficient, in two's complement.
    ///
    /// It tests guesses of the whole secret, as a public key does, and nothing smaller: of the secrets that a
    /// [table](crate::security::TABLES) allows, the fewest (weight 32, degree `2^12`) are `2^298`.
    #[must_use]
    pub fn of_secret(fingerprint: &[u8; 32], coefficients: &[i8]) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key(CONTEXT);
        hasher.update(fingerprint).update(bytemuck::cast_slice(coefficients));
        let mut id = [0; Self::BYTES];
        hasher.finalize_xof().fill(&mut id);
        hasher.zeroize();
        Self(id)
    }

    /// All bytes in hexadecimal: 32 digits. [`Display`](fmt::Display) shows the first 8 of them.
    #[must_use]
    pub fn to_hex(self) -> String {
        format!("{:032x}", u128::from_be_bytes(self.0))
    }

    /// The identity of these 32 digits, as [`KeyId::to_hex`] writes them.
    #[must_use]
    pub fn from_hex(text: &str) -> Option<Self> {
        let digits = text.len() == 2 * Self::BYTES && text.bytes().all(|digit| digit.is_ascii_hexdigit());
        Some(Self(u128::from_str_radix(text, 16).ok().filter(|_| digits)?.to_be_bytes()))
    }

    /// Refuses a thing of another secret key than this one.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`] with both identities.
    pub fn check(self, found: Self, what: &'static str) -> Result<()> {
        if found == self {
            return Ok(());
        }
        Err(Error::KeyMismatch { left: self.to_string(), right: found.to_string(), what })
    }
}

impl Owner {
    /// Refuses a thing of other parameters or another secret key.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`], [`Error::KeyMismatch`].
    pub fn check(&self, found: &Self, what: &'static str) -> Result<()> {
        if found.fingerprint != self.fingerprint {
            return Err(Error::mismatch(&self.fingerprint, &found.fingerprint, what));
        }
        self.key.check(found.key, what)
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// As many bytes as errors show of fingerprints.
        const SHOWN: usize = 4;
        self.0[..SHOWN].iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyId({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identities_tell_apart_secrets_and_parameters() {
        let secret = [1, 0, -1, 1];
        let id = KeyId::of_secret(&[7; 32], &secret);
        assert_eq!(id, KeyId::of_secret(&[7; 32], &secret));
        assert_ne!(id, KeyId::of_secret(&[8; 32], &secret), "other parameters");
        assert_ne!(id, KeyId::of_secret(&[7; 32], &[1, 0, -1, 0]), "another secret");
        let (all, shown) = (id.to_hex(), id.to_string());
        assert!(all.len() == 32 && all.starts_with(&shown), "{all}");
        assert_eq!(KeyId([0x0a; 16]).to_hex(), "0a".repeat(16));
    }

    #[test]
    fn other_parameters_are_told_before_other_keys() {
        let owner = |fingerprint, key| Owner { fingerprint: [fingerprint; 32], key: KeyId([key; 16]) };
        let check = |found: Owner| owner(1, 2).check(&found, "the thing");
        assert!(check(owner(1, 2)).is_ok());
        assert!(matches!(check(owner(3, 4)), Err(Error::ParameterMismatch { .. })));
        let text = check(owner(1, 4)).expect_err("another key").to_string();
        assert!(text.starts_with("the thing belongs to key 04040404, in use is key 02020202: "), "{text}");
    }
}
