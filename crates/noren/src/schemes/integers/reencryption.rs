//! Re-encryption: ciphertexts of one secret key become those of another.

use noren_math::random::Seed;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::keygen::KeyGenerator;
use noren_rlwe::keys::SecretKey;
use noren_rlwe::reencryption::{Cover, ReceiverKey, ReencryptionKey};

use crate::schemes::integers::context::Context;
use crate::schemes::integers::encryption::Ciphertext;
use crate::schemes::integers::evaluator::flooding::Flood;
use crate::schemes::integers::growth::Growth;
use crate::schemes::integers::noise::{Mode, Noise};
use crate::schemes::integers::scheme::Scheme;
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

    /// The ciphertext under the new secret of a re-encryption key of one owner; its noise grows as by a rotation.
    ///
    /// # Errors
    /// As [`ReencryptionKey::reencrypt`]; [`Error::Parameters`] for a key for another owner;
    /// [`IntegerError::NoiseExhausted`](crate::schemes::integers::IntegerError::NoiseExhausted) if the result might not decrypt.
    pub fn reencrypt<S: Scheme>(&self, a: &Ciphertext<S>, key: &ReencryptionKey) -> Result<Ciphertext<S>> {
        self.check(&a.parameters, "the ciphertext")?;
        key.check_use(false)?;
        let inner = key.reencrypt(self.rlwe(), &a.inner)?;
        let state = Growth::<S>::new(self.parameters()).reencrypted(a.state())?;
        Ok(Ciphertext::new(inner, state.factor, state.noise, a.content(), self.parameters().clone()))
    }

    /// The ciphertext for another owner, who learns its message and, with a [flood](Cover::Flood), nothing else.
    ///
    /// The flood is as wide as the noise that the ciphertext states asks for; the noise that the result states is that of the flood.
    /// The seed is used for this ciphertext alone; [`Seed::random`] makes one.
    ///
    /// # Errors
    /// As [`ReencryptionKey::reencrypt`]; [`Error::Parameters`] for a key that is for no other owner, and for a flood in a ring whose
    /// index is no power of two; [`IntegerError::NoiseExhausted`](crate::schemes::integers::IntegerError::NoiseExhausted) if the
    /// noise leaves no room for the flood, or might not decrypt.
    pub fn reencrypt_for<S: Scheme>(
        &self,
        a: &Ciphertext<S>,
        key: &ReencryptionKey,
        cover: Cover,
        seed: &Seed,
    ) -> Result<Ciphertext<S>> {
        self.check(&a.parameters, "the ciphertext")?;
        key.check_use(true)?;
        let (parameters, limbs) = (self.parameters(), a.limbs());
        let switched = Growth::<S>::new(parameters).reencrypted_for(a.state())?;
        let (bits, noise) = self.cover(&switched.noise, limbs, cover)?;
        let inner = key.cover(self.rlwe(), key.reencrypt(self.rlwe(), &a.inner)?, bits, seed)?;
        Ok(Ciphertext::new(inner, switched.factor, noise, a.content(), parameters.clone()))
    }

    /// The bits of the flood of a cover, and the noise of what it covers.
    fn cover(&self, noise: &Noise, limbs: usize, cover: Cover) -> Result<(Option<u32>, Noise)> {
        let parameters = self.parameters();
        match cover {
            Cover::NoFlood => Ok((None, noise.with(&parameters.laws().fresh(Mode::Public, limbs)))),
            Cover::Flood { .. } if !parameters.rlwe().index().is_power_of_two() => {
                let needed = "a power of two, in which floods are uniform, or no flood";
                Err(Error::parameter("ring", "an index that is no power of two", needed))
            }
            Cover::Flood { results, distance } => {
                let results = usize::try_from(results).unwrap_or(usize::MAX);
                let flood = Flood::new(parameters, noise, limbs, results, distance)?;
                Ok((Some(flood.bits()), flood.noise(parameters)))
            }
        }
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
        side_by_side(Some(self.rlwe().ring().engine()), ciphertexts, |_, ciphertext| self.reencrypt(ciphertext, key))
    }

    /// The ciphertexts, each as by [`Context::reencrypt_for`] with a seed of its own, side by side on the threads of the context.
    ///
    /// # Errors
    /// The first one of [`Context::reencrypt_for`].
    pub fn reencrypt_many_for<S: Scheme>(
        &self,
        ciphertexts: &[Ciphertext<S>],
        key: &ReencryptionKey,
        cover: Cover,
        seed: &Seed,
    ) -> Result<Vec<Ciphertext<S>>> {
        side_by_side(Some(self.rlwe().ring().engine()), ciphertexts, |at, ciphertext| {
            self.reencrypt_for(ciphertext, key, cover, &seed.derive(&at.to_string()))
        })
    }
}
