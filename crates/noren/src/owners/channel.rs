//! Seeds that two parties have and nobody else: each encapsulates one to every other, by ML-KEM-768 (FIPS 203).

use ml_kem::kem::{Decapsulate, KeyExport};
use ml_kem::{Ciphertext, DecapsulationKey, EncapsulationKey, MlKem768};
use noren_math::random::Seed;
use zeroize::Zeroizing;

/// The bytes of a key that others encapsulate to.
pub(super) const KEY_BYTES: usize = 1184;
/// The bytes of an encapsulated seed.
pub(super) const SEALED_BYTES: usize = 1088;

/// The key of a party that reads what others encapsulate to it.
pub(super) struct Mailbox(DecapsulationKey<MlKem768>);

impl Mailbox {
    /// The one of a secret seed.
    pub fn new(seed: &Seed) -> Self {
        let halves = ["d", "z"].map(|label| seed.derive(label));
        let bytes = Zeroizing::new(halves.each_ref().map(|half| *half.as_bytes()).concat());
        Self(DecapsulationKey::from_seed(bytes[..].try_into().expect("two halves of 32 bytes")))
    }

    /// The key that others encapsulate to.
    pub fn key(&self) -> Vec<u8> {
        self.0.encapsulation_key().to_bytes().to_vec()
    }

    /// The seed in what another party encapsulated; one that nobody else has for bytes that nobody did.
    pub fn unseal(&self, sealed: &[u8]) -> Option<Seed> {
        let sealed: &Ciphertext<MlKem768> = sealed.try_into().ok()?;
        let shared = Zeroizing::new(self.0.decapsulate(sealed));
        Some(Seed::from_bytes(shared[..].try_into().ok()?))
    }
}

/// A seed for the party with this key, as it travels, and itself. It follows from a secret seed.
pub(super) fn seal(key: &[u8], secret: &Seed) -> Option<(Vec<u8>, Seed)> {
    let key = EncapsulationKey::<MlKem768>::new(key.try_into().ok()?).ok()?;
    let (sealed, shared) = key.encapsulate_deterministic(&(*secret.as_bytes()).into());
    let shared = Zeroizing::new(shared);
    Some((sealed.to_vec(), Seed::from_bytes(shared[..].try_into().ok()?)))
}

/// Whether bytes are a key that a seed can be encapsulated to.
pub(super) fn is_key(bytes: &[u8]) -> bool {
    bytes.try_into().is_ok_and(|bytes| EncapsulationKey::<MlKem768>::new(bytes).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_have_one_seed_and_bytes_of_nobody_another() {
        let [mailbox, other] = [1, 2].map(|at| Mailbox::new(&Seed::from_bytes([at; 32])));
        let key = mailbox.key();
        assert!(key.len() == KEY_BYTES && is_key(&key));
        let (sealed, seed) = seal(&key, &Seed::from_bytes([3; 32])).expect("a key");
        assert_eq!(sealed.len(), SEALED_BYTES);
        assert_eq!(mailbox.unseal(&sealed).as_ref().map(Seed::as_bytes), Some(seed.as_bytes()));
        assert_ne!(other.unseal(&sealed).as_ref().map(Seed::as_bytes), Some(seed.as_bytes()));
        assert!(mailbox.unseal(&sealed[1..]).is_none());
        assert!(!is_key(&[0xff; KEY_BYTES]) && !is_key(&key[1..]));
    }
}
