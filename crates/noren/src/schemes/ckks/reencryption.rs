//! Re-encryption: ciphertexts of one secret key become those of another.

use noren_math::random::Seed;
use noren_rlwe::ciphertext as rlwe;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::keygen::KeyGenerator;
use noren_rlwe::keys::SecretKey;
use noren_rlwe::reencryption::{Cover, ReceiverKey, ReencryptionKey};

use crate::schemes::ckks::content::Content;
use crate::schemes::ckks::context::Context;
use crate::schemes::ckks::encryption::Ciphertext;
use crate::schemes::ckks::estimate::{Estimate, mix};
use crate::schemes::ckks::noise::{self, Mode};
use crate::schemes::side_by_side::side_by_side;

impl Context {
    /// Makes the key that re-encrypts ciphertexts of one secret for another of the same owner (key rotation). Nothing in it decrypts,
    /// but whoever has it and the new secret has the old one too.
    ///
    /// The seed is as secret as the keys, and is used for nothing else; [`Seed::random`] makes one.
    ///
    /// # Errors
    /// As [`KeyGenerator::reencryption`].
    pub fn reencryption_key(&self, from: &SecretKey, to: &SecretKey, seed: Seed) -> Result<ReencryptionKey> {
        KeyGenerator::new(self.rlwe(), seed).reencryption(from, to, None)
    }

    /// Makes the public key for those who re-encrypt for this secret. The seed: see [`Context::reencryption_key`].
    ///
    /// # Errors
    /// As [`KeyGenerator::receiver`].
    pub fn receiver_key(&self, secret: &SecretKey, seed: Seed) -> Result<ReceiverKey> {
        KeyGenerator::new(self.rlwe(), seed).receiver(secret)
    }

    /// Makes the key that re-encrypts ciphertexts of a secret for another owner, without the owner's secret. **Whoever has it and that
    /// secret has the giver's secret too**: the key is for a server that does not work together with the receiver. The seed: see
    /// [`Context::reencryption_key`].
    ///
    /// # Errors
    /// As [`KeyGenerator::reencryption_for`].
    pub fn reencryption_key_for(&self, from: &SecretKey, to: &ReceiverKey, seed: Seed) -> Result<ReencryptionKey> {
        KeyGenerator::new(self.rlwe(), seed).reencryption_for(from, to, None)
    }

    /// The ciphertext under the new secret of a re-encryption key of one owner; its error grows as by a rotation.
    ///
    /// # Errors
    /// As [`ReencryptionKey::reencrypt`]; [`Error::Parameters`] for a key for another owner.
    pub fn reencrypt(&self, a: &Ciphertext, key: &ReencryptionKey) -> Result<Ciphertext> {
        self.check(a.parameters(), "the ciphertext")?;
        key.check_use(false)?;
        let inner = key.reencrypt(self.rlwe(), a.rlwe())?;
        let estimate = renamed(a.estimate().clone());
        let switched = noise::switched(estimate, self.parameters().rlwe(), a.scale(), inner.limbs(), 1);
        Ok(self.reencrypted(a, inner, switched))
    }

    /// The ciphertext for another owner, re-randomised: [`Cover::NoFlood`] must be asked for by name. The last digits that the receiver
    /// decrypts depend on the giver's secret and on what was computed: a flood would take them, and as many as hide them, from the
    /// message. What must tell nothing else goes as exact integers. The seed is used for this ciphertext alone.
    ///
    /// # Errors
    /// As [`ReencryptionKey::reencrypt`]; [`Error::Parameters`] for a flood, and for a key that is for no other owner.
    pub fn reencrypt_for(
        &self,
        a: &Ciphertext,
        key: &ReencryptionKey,
        cover: Cover,
        seed: &Seed,
    ) -> Result<Ciphertext> {
        self.check(a.parameters(), "the ciphertext")?;
        key.check_use(true)?;
        if let Cover::Flood { .. } = cover {
            let needed = "none, by name (`Cover::NoFlood`, `flood=False`, `--no-flood`), as it would take the precision of real \
                numbers: what must tell nothing but its message goes as integers of BFV or BGV";
            return Err(Error::parameter("flood", "asked for, as where nothing else is said", needed));
        }
        let inner = key.cover(self.rlwe(), key.reencrypt(self.rlwe(), a.rlwe())?, None, seed)?;
        let (parameters, limbs) = (self.parameters().rlwe(), inner.limbs());
        let switched = noise::switched_for(renamed(a.estimate().clone()), parameters, a.scale(), limbs);
        let covered = noise::fresh(parameters, Mode::Public, a.scale(), renamed(switched));
        Ok(self.reencrypted(a, inner, covered))
    }

    fn reencrypted(&self, a: &Ciphertext, inner: rlwe::Ciphertext, estimate: Estimate) -> Ciphertext {
        Ciphertext::new(inner, *a.scale(), Content::new(a.slots(), a.extent(), estimate), self.parameters().clone())
    }

    /// The ciphertexts, each as by [`Context::reencrypt`], side by side on the threads of the context.
    ///
    /// # Errors
    /// The first one of [`Context::reencrypt`].
    pub fn reencrypt_many(&self, ciphertexts: &[Ciphertext], key: &ReencryptionKey) -> Result<Vec<Ciphertext>> {
        side_by_side(Some(self.rlwe().ring().engine()), ciphertexts, |_, ciphertext| self.reencrypt(ciphertext, key))
    }

    /// The ciphertexts, each as by [`Context::reencrypt_for`] with a seed of its own, side by side on the threads of the context.
    ///
    /// # Errors
    /// The first one of [`Context::reencrypt_for`].
    pub fn reencrypt_many_for(
        &self,
        ciphertexts: &[Ciphertext],
        key: &ReencryptionKey,
        cover: Cover,
        seed: &Seed,
    ) -> Result<Vec<Ciphertext>> {
        side_by_side(Some(self.rlwe().ring().engine()), ciphertexts, |at, ciphertext| {
            self.reencrypt_for(ciphertext, key, cover, &seed.derive(&at.to_string()))
        })
    }
}

/// The name of what is computed from an estimate: the domain separator of re-encryption.
const REENCRYPTION: u64 = 0x61;

/// The same message as another ciphertext, whose new errors have names of their own.
fn renamed(estimate: Estimate) -> Estimate {
    let name = mix(estimate.tag(), REENCRYPTION);
    estimate.named(name)
}
