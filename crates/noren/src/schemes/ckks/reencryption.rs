//! Re-encryption: ciphertexts of one secret key become those of another.

use noren_math::random::Seed;
use noren_ring::interrupt::Steps;
use noren_rlwe::error::Result;
use noren_rlwe::keygen::KeyGenerator;
use noren_rlwe::keys::SecretKey;
use noren_rlwe::reencryption::ReencryptionKey;

use crate::schemes::ckks::content::Content;
use crate::schemes::ckks::context::Context;
use crate::schemes::ckks::encryption::Ciphertext;
use crate::schemes::ckks::noise;

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

    /// The ciphertext under the new secret of a re-encryption key; its error grows as by a rotation.
    ///
    /// # Errors
    /// As [`ReencryptionKey::reencrypt`].
    pub fn reencrypt(&self, a: &Ciphertext, key: &ReencryptionKey) -> Result<Ciphertext> {
        self.check(a.parameters(), "the ciphertext")?;
        let inner = key.reencrypt(self.rlwe(), a.rlwe())?;
        let (parameters, limbs) = (self.parameters().rlwe(), a.rlwe().limbs());
        let estimate = noise::switched(a.estimate().clone(), parameters, a.scale(), limbs, 1);
        let content = Content::new(a.slots(), a.extent(), estimate);
        Ok(Ciphertext::new(inner, *a.scale(), content, self.parameters().clone()))
    }

    /// The ciphertexts, each as by [`Context::reencrypt`], side by side on the threads of the context.
    ///
    /// # Errors
    /// The first one of [`Context::reencrypt`].
    pub fn reencrypt_many(&self, ciphertexts: &[Ciphertext], key: &ReencryptionKey) -> Result<Vec<Ciphertext>> {
        let steps = Steps::new(ciphertexts.len());
        let reencrypt = |ciphertext: &Ciphertext| {
            steps.advance(1);
            self.reencrypt(ciphertext, key)
        };
        self.rlwe().ring().engine().map(ciphertexts.iter().collect(), reencrypt).into_iter().collect()
    }
}
