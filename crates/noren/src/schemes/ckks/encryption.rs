//! Encryption and decryption.

use std::sync::atomic::{AtomicU64, Ordering};

use noren_math::random::Seed;
use noren_ring::engine::Engine;
use noren_rlwe::ciphertext as rlwe;
use noren_rlwe::decrypt::decrypt;
use noren_rlwe::encrypt::Encryptor as RlweEncryptor;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::keys::{PublicKey, SecretKey};
use noren_rlwe::owner::KeyId;
use num_complex::Complex64;

use crate::schemes::ckks::context::Context;
use crate::schemes::ckks::encoder::{Encoder, Plaintext, limbs_to_read, transform_error};
use crate::schemes::ckks::estimate::Estimate;
use crate::schemes::ckks::message::Message;
use crate::schemes::ckks::noise::{self, Mode};

/// An encrypted vector.
pub type Ciphertext = Message<rlwe::Ciphertext>;

impl Ciphertext {
    /// How many multiplications can still follow one another.
    #[must_use]
    pub fn level(&self) -> usize {
        self.inner.level()
    }

    /// The identity of the secret key that decrypts it.
    #[must_use]
    pub const fn key_id(&self) -> KeyId {
        self.inner.key_id()
    }

    /// The same ciphertext with a better bound on its message, which the caller knows; errors of later products are
    /// then predicted more sharply. A wrong bound makes later error bounds wrong.
    #[must_use]
    pub fn with_magnitude(mut self, magnitude: f64) -> Self {
        self.estimate = self.estimate.with_magnitude(magnitude);
        self
    }

    /// The same ciphertext with this bound on its error, which the caller knows, in place of its own.
    ///
    /// For programs that shrink errors in a way that bounds of single operations cannot see, such as an iteration that
    /// contracts: their bounds grow with every step, the errors do not. A wrong bound makes later error bounds wrong, and
    /// [`Decryptor::decrypt_for_release`] unsafe. What is negative or not a number counts as infinite.
    #[must_use]
    pub fn with_error_bound(mut self, bound: f64) -> Self {
        self.estimate = self.estimate.with_error_bound(bound);
        self
    }

    /// A bound on the error of every decrypted slot, as a complex number: it holds but with probability `2^-40`.
    ///
    /// Infinite if the message may be too large for the modulus of this level, so that nothing can be said.
    #[must_use]
    pub fn error_bound(&self) -> f64 {
        let bound = self.estimate.bound(self.slots, self.parameters.max_slots());
        let largest = libm::log2((self.magnitude() + bound) * self.scale.to_f64()) + 1.0;
        // Written so that a bound that is not a number counts as none.
        if largest < self.parameters.rlwe().log_q(self.inner.limbs()) { bound } else { f64::INFINITY }
    }
}

/// Encrypts plaintexts, each with fresh randomness.
pub struct Encryptor<'a> {
    context: Context,
    inner: RlweEncryptor<'a>,
    mode: Mode,
    tags: Seed,
    calls: AtomicU64,
}

impl<'a> Encryptor<'a> {
    /// Encrypts with the public key, as anybody can.
    ///
    /// Never use a seed for two encryptors, nor for anything else; [`Seed::random`] makes seeds that never meet.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`] if the key was made with other
    /// parameters.
    pub fn public(context: &Context, key: &'a PublicKey, seed: Seed) -> Result<Self> {
        let tags = seed.derive(TAGS);
        Ok(Self::new(context, RlweEncryptor::public(context.rlwe(), key, seed)?, Mode::Public, tags))
    }

    /// Encrypts with the secret key: an error smaller by a factor of about `sqrt(n)`, and half the bytes. The seed: see
    /// [`Encryptor::public`].
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`] if the key was made with other
    /// parameters.
    pub fn symmetric(context: &Context, key: &'a SecretKey, seed: Seed) -> Result<Self> {
        let tags = seed.derive(TAGS);
        Ok(Self::new(context, RlweEncryptor::symmetric(context.rlwe(), key, seed)?, Mode::Symmetric, tags))
    }

    /// Encrypts at the level and scale of the plaintext.
    ///
    /// The ciphertext carries a bound on its message in clear. It is the largest absolute value of the plaintext,
    /// rounded up to a power of two, but at least 1: values within [-1, 1] give nothing away. Where larger values
    /// would, state the bound: [`Encryptor::encrypt_within`].
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`] if the plaintext was made with other
    /// parameters, [`Error::Insecure`] if the secret does not carry the modulus.
    pub fn encrypt(&self, plaintext: &Plaintext) -> Result<Ciphertext> {
        let mut magnitude = 1.0;
        while magnitude < plaintext.estimate.magnitude() {
            magnitude *= 2.0;
        }
        self.encrypt_within(plaintext, magnitude)
    }

    /// Encrypts a plaintext whose values are at most `magnitude` in absolute value; the bound is public.
    ///
    /// # Errors
    /// As [`Encryptor::encrypt`], and [`Error::Parameters`] if a value is larger.
    pub fn encrypt_within(&self, plaintext: &Plaintext, magnitude: f64) -> Result<Ciphertext> {
        let parameters = self.context.parameters();
        self.context.check(&plaintext.parameters, "the plaintext")?;
        let largest = plaintext.estimate.magnitude();
        if largest > magnitude || !magnitude.is_finite() {
            return Err(Error::parameter(
                "magnitude",
                magnitude,
                format!("at least {largest}, the largest value, and finite"),
            ));
        }
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        let tag = self.tags.xof(&call.to_string()).next_u64();
        // The rounding that the plaintext knows of depends on its values: it stays out of the public estimate.
        let exact = Estimate::exact(magnitude, tag).with_bias(magnitude * transform_error(plaintext.slots));
        Ok(Ciphertext {
            inner: self.inner.encrypt(&plaintext.inner)?,
            scale: plaintext.scale,
            slots: plaintext.slots,
            extent: plaintext.extent,
            estimate: noise::fresh(parameters.rlwe(), self.mode, &plaintext.scale, exact),
            parameters: parameters.clone(),
        })
    }

    fn new(context: &Context, inner: RlweEncryptor<'a>, mode: Mode, tags: Seed) -> Self {
        Self { context: context.clone(), inner, mode, tags, calls: AtomicU64::new(0) }
    }
}

/// The seed of the names of encryptions, which are public, is derived one-way with this label.
const TAGS: &str = "ckks/tags";

/// Decrypts ciphertexts of one secret key.
pub struct Decryptor<'a> {
    context: Context,
    encoder: Encoder,
    key: &'a SecretKey,
}

impl<'a> Decryptor<'a> {
    /// The decryptor of a secret key.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`] if the key was made with other
    /// parameters.
    pub fn new(context: &Context, key: &'a SecretKey) -> Result<Self> {
        context.parameters().rlwe().check_fingerprint(key.fingerprint(), "the secret key")?;
        Ok(Self { context: context.clone(), encoder: Encoder::new(context), key })
    }

    /// The threads on which independent ciphertexts are decrypted side by side.
    pub(crate) fn engine(&self) -> &Engine {
        self.context.rlwe().ring().engine()
    }

    /// Decrypts to a plaintext of the same level, scale and estimate.
    ///
    /// The result is for the owner of the key. Its error depends on the secret: handed to others, decryptions leak the
    /// key (Li and Micciancio, eprint 2020/1533). What is to leave goes through [`Decryptor::decrypt_for_release`].
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`] if the ciphertext was made with other parameters, [`Error::KeyMismatch`] if it belongs to
    /// another secret key.
    pub fn decrypt(&self, ciphertext: &Ciphertext) -> Result<Plaintext> {
        self.decrypt_limbs(ciphertext, ciphertext.inner.limbs())
    }

    /// The slots; see [`Decryptor::decrypt`] for who may see them.
    ///
    /// # Errors
    /// As [`Decryptor::decrypt`].
    pub fn decrypt_complex(&self, ciphertext: &Ciphertext) -> Result<Vec<Complex64>> {
        self.encoder.decode_complex(&self.decrypt_few(ciphertext)?)
    }

    /// The real parts of the slots; see [`Decryptor::decrypt`] for who may see them.
    ///
    /// # Errors
    /// As [`Decryptor::decrypt`].
    pub fn decrypt_real(&self, ciphertext: &Ciphertext) -> Result<Vec<f64>> {
        self.encoder.decode_real(&self.decrypt_few(ciphertext)?)
    }

    /// The real parts of the slots as multiples of `2^-bits`, made fit to be seen by others.
    ///
    /// Uniform noise in `[-2^-bits, 2^-bits)` is added to every slot, and the sum is rounded to a multiple of
    /// `2^-bits`. The error bound must be at most `2^-(bits + 20)`, so that the noise floods it: what a slot shows has
    /// a statistical distance of at most `2^-21` from what it would show without the error of the encryption, and the
    /// distances of all slots that are released add up. The result is within `1.5 * 2^-bits` of the decryption.
    ///
    /// Use a seed for one release only, and do not release one ciphertext twice under different seeds: the mean of many
    /// releases has less noise. The bound must be right: a ciphertext from outside proves nothing about its error.
    ///
    /// # Errors
    /// As [`Decryptor::decrypt`], and [`Error::Parameters`] if the error bound is
    /// too large for so many bits, with the number of bits that it allows.
    pub fn decrypt_for_release(&self, ciphertext: &Ciphertext, bits: i32, seed: &Seed) -> Result<Vec<f64>> {
        let bound = ciphertext.error_bound();
        let allowed = -libm::log2(bound) - FLOODING_BITS;
        if f64::from(bits) > allowed {
            let needed = format!("at most {:.0}: the error bound is {bound:.2e}", allowed.floor());
            return Err(Error::parameter("bits", bits, needed));
        }
        let unit = libm::exp2(-f64::from(bits));
        let mut noise = seed.xof("ckks/release");
        // 53 random bits over [-1, 1).
        let mut uniform = || ((noise.next_u64() >> 11) as f64 / (1u64 << 52) as f64) - 1.0;
        let values = self.decrypt_real(ciphertext)?;
        Ok(values.into_iter().map(|x| (x / unit + uniform()).round_ties_even() * unit).collect())
    }

    /// Decrypts modulo as few primes as hold the message: dropping limbs costs nothing and changes nothing.
    fn decrypt_few(&self, ciphertext: &Ciphertext) -> Result<Plaintext> {
        let limbs = ciphertext.inner.limbs();
        self.decrypt_limbs(ciphertext, limbs_to_read(&self.context, limbs, &ciphertext.scale, &ciphertext.estimate))
    }

    fn decrypt_limbs(&self, ciphertext: &Ciphertext, limbs: usize) -> Result<Plaintext> {
        self.context.check(&ciphertext.parameters, "the ciphertext")?;
        let context = self.context.rlwe();
        let inner = if limbs == ciphertext.inner.limbs() {
            decrypt(context, self.key, &ciphertext.inner)?
        } else {
            let ring = context.ring_q(limbs);
            let parts = ciphertext.inner.parts().iter().map(|part| ring.restrict(part)).collect();
            decrypt(context, self.key, &rlwe::Ciphertext::new(parts, ciphertext.key_id()))?
        };
        Ok(Plaintext {
            inner,
            scale: ciphertext.scale,
            slots: ciphertext.slots,
            extent: ciphertext.extent,
            estimate: ciphertext.estimate.clone(),
            parameters: ciphertext.parameters.clone(),
        })
    }
}

/// How many bits the noise of a release is above the error bound.
const FLOODING_BITS: f64 = 20.0;
