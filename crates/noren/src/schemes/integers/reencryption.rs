//! Re-encryption: ciphertexts of one secret key become those of another.

use noren_math::random::Seed;
use noren_ring::interrupt::Steps;
use noren_rlwe::error::Result;
use noren_rlwe::keygen::KeyGenerator;
use noren_rlwe::keys::SecretKey;
use noren_rlwe::reencryption::ReencryptionKey;

use crate::schemes::integers::context::Context;
use crate::schemes::integers::encryption::Ciphertext;
use crate::schemes::integers::growth::Growth;
use crate::schemes::integers::scheme::Scheme;

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

    /// The ciphertext under the new secret of a re-encryption key; its noise grows as by a rotation.
    ///
    /// # Errors
    /// As [`ReencryptionKey::reencrypt`]; [`IntegerError::NoiseExhausted`](crate::schemes::integers::IntegerError::NoiseExhausted) if
    /// the result might not decrypt.
    pub fn reencrypt<S: Scheme>(&self, a: &Ciphertext<S>, key: &ReencryptionKey) -> Result<Ciphertext<S>> {
        self.check(&a.parameters, "the ciphertext")?;
        let inner = key.reencrypt(self.rlwe(), &a.inner)?;
        let state = Growth::<S>::new(self.parameters()).reencrypted(a.state())?;
        Ok(Ciphertext::new(inner, state.factor, state.noise, a.content(), self.parameters().clone()))
    }

    /// The ciphertexts, each as by [`Context::reencrypt`], side by side on the threads of the context.
    ///
    /// # Errors
    /// The first one of [`Context::reencrypt`].
    pub fn reencrypt_many<S: Scheme>(
        &self,
        ciphertexts: &[Ciphertext<S>],
        key: &ReencryptionKey,
    ) -> Result<Vec<Ciphertext<S>>> {
        let steps = Steps::new(ciphertexts.len());
        let reencrypt = |ciphertext: &Ciphertext<S>| {
            steps.advance(1);
            self.reencrypt(ciphertext, key)
        };
        self.rlwe().ring().engine().map(ciphertexts.iter().collect(), reencrypt).into_iter().collect()
    }
}
