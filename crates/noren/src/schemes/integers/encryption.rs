//! Encryption and decryption.

use std::marker::PhantomData;

use noren_math::random::Seed;
use noren_ring::engine::Engine;
use noren_ring::poly::{Coeff, Eval, Poly};
use noren_rlwe::ciphertext as rlwe;
use noren_rlwe::decrypt::decrypt;
use noren_rlwe::encrypt::Encryptor as RlweEncryptor;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::keys::{PublicKey, SecretKey};
use noren_rlwe::noise::Measured;
use noren_rlwe::owner::KeyId;
use noren_rlwe::streams::Purpose;

use crate::schemes::integers::content::Content;
use crate::schemes::integers::context::Context;
use crate::schemes::integers::error::IntegerError;
use crate::schemes::integers::noise::{Mode, Noise};
use crate::schemes::integers::parameters::Parameters;
use crate::schemes::integers::plaintext::Plaintext;
use crate::schemes::integers::scheme::{Scheme, depth};

/// An encrypted polynomial modulo t: `c_0 + c_1 s = (Q/t) f m + e` modulo Q, for the message m, a factor f and an error e.
#[derive(Clone)]
pub struct Ciphertext<S> {
    pub(crate) inner: rlwe::Ciphertext,
    /// f, a unit modulo t.
    pub(crate) factor: u64,
    pub(crate) noise: Noise,
    content: Content,
    pub(crate) parameters: Parameters,
    scheme: PhantomData<S>,
}

impl<S: Scheme> Ciphertext<S> {
    pub(crate) fn new(
        inner: rlwe::Ciphertext,
        factor: u64,
        noise: Noise,
        content: Content,
        parameters: Parameters,
    ) -> Self {
        Self { inner, factor, noise, content, parameters, scheme: PhantomData }
    }

    /// The same polynomials, which hold this.
    pub(crate) fn holding(self, content: Content) -> Self {
        Self { content, ..self }
    }

    /// The same polynomials, which are the message with another factor.
    pub(crate) fn with_factor(self, factor: u64) -> Self {
        Self { factor, ..self }
    }

    /// How many primes the modulus has.
    #[must_use]
    pub fn limbs(&self) -> usize {
        self.inner.limbs()
    }

    /// The degree in the secret: 1, or 2 for a product that was not relinearised.
    #[must_use]
    pub fn degree(&self) -> usize {
        self.inner.degree()
    }

    /// The plaintext factor f. Range: out `[1, t)`.
    #[must_use]
    pub fn factor(&self) -> u64 {
        self.factor
    }

    /// The noise, as predicted from the operations.
    #[must_use]
    pub fn noise(&self) -> &Noise {
        &self.noise
    }

    /// How many bits the noise may still grow before a decryption fails with more than the probability `2^-128`; negative
    /// if it may fail already. Predicted. A decryption takes `2^-8` bits of it for its own roundings.
    #[must_use]
    pub fn noise_budget(&self) -> f64 {
        self.parameters.laws().budget(&self.noise)
    }

    /// How many multiplications can still follow one another, as predicted for squarings.
    #[must_use]
    pub fn level(&self) -> usize {
        depth::<S>(self.parameters.laws(), &self.noise, self.limbs())
    }

    /// The identity of the secret key that decrypts it.
    #[must_use]
    pub const fn key_id(&self) -> KeyId {
        self.inner.key_id()
    }

    /// How it is encoded, and which slots are values.
    #[must_use]
    pub fn content(&self) -> Content {
        self.content
    }

    /// The same ciphertext, of which the first `length` slots are the vector; `None` for all slots of a period.
    ///
    /// # Errors
    /// [`Error::Length`] for a length of 0 or above the slots.
    pub fn with_length(mut self, length: Option<usize>) -> Result<Self> {
        self.content = self.content.with_length(length, &self.parameters)?;
        Ok(self)
    }

    /// The same ciphertext, of which the caller knows that both rows are the same and repeat after `period` slots: matrices
    /// of that dimension are then applied with fewer rotations. A period that is wrong makes such results wrong.
    ///
    /// # Errors
    /// [`Error::Length`] for what is no power of two up to n/2.
    pub fn with_period(mut self, period: usize) -> Result<Self> {
        self.content = self.content.with_period(period, &self.parameters)?;
        Ok(self)
    }

    /// The same ciphertext, of which the caller knows what [`Plaintext::with_stretch`] says.
    ///
    /// # Errors
    /// As [`Plaintext::with_stretch`].
    pub fn with_stretch(mut self, stretch: usize) -> Result<Self> {
        self.content = self.content.with_stretch(stretch, &self.parameters)?;
        Ok(self)
    }

    /// The parameters.
    #[must_use]
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The polynomials without their meaning.
    #[must_use]
    pub fn rlwe(&self) -> &rlwe::Ciphertext {
        &self.inner
    }

    /// The same ciphertext in another scheme: no word changes, and the same keys serve.
    #[must_use]
    pub fn convert<T: Scheme>(self) -> Ciphertext<T> {
        let Self { inner, factor, noise, content, parameters, .. } = self;
        Ciphertext::new(inner, factor, noise, content, parameters)
    }
}

/// Encrypts plaintexts, each with fresh randomness.
pub struct Encryptor<'a, S> {
    context: Context,
    inner: RlweEncryptor<'a>,
    mode: Mode,
    scheme: PhantomData<S>,
}

impl<'a, S: Scheme> Encryptor<'a, S> {
    /// Encrypts with the public key, as anybody can.
    ///
    /// Never use a seed for two encryptors, nor for anything else; [`Seed::random`] makes seeds that never meet.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`] if the key was made with other parameters.
    pub fn public(context: &Context, key: &'a PublicKey, seed: Seed) -> Result<Self> {
        let inner = RlweEncryptor::public(context.rlwe(), key, Self::seed(context, &seed))?;
        Ok(Self { context: context.clone(), inner, mode: Mode::Public, scheme: PhantomData })
    }

    /// Encrypts with the secret key: an error smaller by a factor of about `sqrt(n)`, and half the bytes. The seed: see
    /// [`Encryptor::public`].
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`] if the key was made with other parameters.
    pub fn symmetric(context: &Context, key: &'a SecretKey, seed: Seed) -> Result<Self> {
        let inner = RlweEncryptor::symmetric(context.rlwe(), key, Self::seed(context, &seed))?;
        Ok(Self { context: context.clone(), inner, mode: Mode::Symmetric, scheme: PhantomData })
    }

    /// The seed of the streams of this scheme, which no other scheme draws from.
    fn seed(context: &Context, seed: &Seed) -> Seed {
        Purpose::Scheme(S::NAME).seed(seed, &context.parameters().fingerprint())
    }

    /// Encrypts with all limbs.
    ///
    /// # Errors
    /// As [`Encryptor::encrypt_at`].
    pub fn encrypt(&self, plaintext: &Plaintext) -> Result<Ciphertext<S>> {
        self.encrypt_at(plaintext, self.context.parameters().max_limbs())
    }

    /// Encrypts with `limbs` limbs.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`] if the plaintext was made with other parameters, [`Error::Insecure`] if the secret does
    /// not carry the modulus, [`Error::Parameters`] for more limbs than there are.
    pub fn encrypt_at(&self, plaintext: &Plaintext, limbs: usize) -> Result<Ciphertext<S>> {
        let parameters = self.context.parameters();
        self.context.check(&plaintext.parameters, "the plaintext")?;
        check_limbs(limbs, parameters.max_limbs())?;
        let poly = scaled(&self.context, &plaintext.coefficients, 1, limbs);
        let (inner, noise) =
            (self.inner.encrypt(&rlwe::Plaintext { poly })?, parameters.laws().fresh(self.mode, limbs));
        Ok(Ciphertext::new(inner, 1, noise, plaintext.content(), parameters.clone()))
    }
}

/// Decrypts ciphertexts of one secret key.
pub struct Decryptor<'a> {
    context: Context,
    key: &'a SecretKey,
}

/// Decryption reads as many limbs as are larger than t by this many bits: what it rounds stays below `2^-16`, and below
/// `2^-10` where coefficients in the powerful basis are sums of up to `2^6`.
const READ_BITS: f64 = 16.0;
/// The roundings of decryption take less than this from the budget.
pub(super) const READ_BUDGET: f64 = 1.0 / (1u64 << 8) as f64;
/// Measuring reads as many limbs as are larger than the predicted noise by this many bits.
const MEASURED_BITS: f64 = 40.0;

impl<'a> Decryptor<'a> {
    /// The decryptor of a secret key.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`] if the key was made with other parameters.
    pub fn new(context: &Context, key: &'a SecretKey) -> Result<Self> {
        context.parameters().rlwe().check_fingerprint(key.fingerprint(), "the secret key")?;
        Ok(Self { context: context.clone(), key })
    }

    /// The threads on which independent ciphertexts are decrypted side by side.
    pub(crate) fn engine(&self) -> &Engine {
        self.context.rlwe().ring().engine()
    }

    /// The message.
    ///
    /// It is the exact one but with a probability of `2^-128`: where the noise may be too large for that, decryption
    /// refuses. The prediction is about ciphertexts that were made by this library; one from a stranger may decrypt to
    /// anything, and what it decrypts to can tell a stranger about the key.
    ///
    /// # Errors
    /// [`IntegerError::NoiseExhausted`] if the noise may have reached the message, [`Error::ParameterMismatch`] if the
    /// ciphertext was made with other parameters.
    pub fn decrypt<S: Scheme>(&self, ciphertext: &Ciphertext<S>) -> Result<Plaintext> {
        let budget = ciphertext.noise_budget();
        if budget.is_nan() || budget < READ_BUDGET {
            return Err(IntegerError::NoiseExhausted { what: "decryption", missing: READ_BUDGET - budget }.into());
        }
        let limbs = ciphertext.limbs();
        let kept = limbs_to_read(self.context.parameters(), limbs, 1);
        let mut phase = self.phase(ciphertext)?;
        if kept < limbs {
            let rlwe = self.context.rlwe();
            phase = rlwe.ring().divide_round(phase, &rlwe.mod_switch(limbs, kept));
        }
        Ok(message(&self.context, &phase, ciphertext))
    }

    /// Measures the noise of a ciphertext, as parts of its modulus, for tests and diagnosis. A decryption is right where
    /// the largest stays below 1/2.
    ///
    /// Measured noise is a function of the secret, and so is whether a decryption succeeds: given to others, either is an
    /// oracle that helps to recover the key. It is never serialised and has no place in a server.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`] if the ciphertext was made with other parameters.
    pub fn measure_noise<S: Scheme>(&self, ciphertext: &Ciphertext<S>) -> Result<Measured> {
        let laws = self.context.parameters().laws();
        let limbs = ciphertext.limbs();
        let expected = laws.log2_q(limbs) + laws.log2_coefficient(&ciphertext.noise) + MEASURED_BITS;
        let few = (1..limbs).find(|&few| laws.log2_q(few) >= expected).unwrap_or(limbs);
        let ring = self.context.rlwe().ring_q(few);
        let noise = times_t(&self.context, &ring.restrict(&self.phase(ciphertext)?), few);
        let noise = small(&self.context, noise, few);
        let noise = ring.to_centered_f64(&noise);
        // Neither the modulus nor all squares fit a double.
        let unit = libm::exp2(-laws.log2_q(limbs) / 2.0);
        let parts = noise.iter().map(|x| x * unit * unit);
        let max = parts.clone().fold(0.0, |max: f64, x| max.max(x.abs()));
        if max == 0.0 {
            return Ok(Measured { std: 0.0, max });
        }
        let mean = parts.map(|x| (x / max) * (x / max)).sum::<f64>() / noise.len() as f64;
        Ok(Measured { std: max * mean.sqrt(), max })
    }

    /// `c_0 + c_1 s + ..`, modulo all limbs.
    fn phase<S: Scheme>(&self, ciphertext: &Ciphertext<S>) -> Result<Poly<Eval>> {
        self.context.check(&ciphertext.parameters, "the ciphertext")?;
        Ok(decrypt(self.context.rlwe(), self.key, &ciphertext.inner)?.poly)
    }
}

/// How many limbs decryption reads of `limbs`: so many that `terms` roundings stay below what it allows for one.
pub(super) fn limbs_to_read(parameters: &Parameters, limbs: usize, terms: usize) -> usize {
    let enough = parameters.modulus().log2() + READ_BITS + libm::log2(terms as f64);
    (1..limbs).find(|&kept| parameters.laws().log2_q(kept) >= enough).unwrap_or(limbs)
}

/// The message of a ciphertext whose phase, divided to a few limbs, is this.
pub(super) fn message<S: Scheme>(context: &Context, phase: &Poly<Eval>, ciphertext: &Ciphertext<S>) -> Plaintext {
    let (parameters, modulus, kept) = (context.parameters(), context.parameters().modulus(), phase.limbs());
    // t phase = Q f m + noise, so that the noise is -Q f m modulo t.
    let noise = times_t(context, phase, kept);
    let numbers = context.rlwe().ring_q(kept).to_centered_i128(&small(context, noise, kept));
    let numbers = numbers.expect("fewer than 126 bits are read");
    let factor = modulus.neg(modulus.inv(modulus.mul(parameters.q_mod_t(kept), ciphertext.factor)));
    let factor = modulus.factor(factor);
    let mut message: Vec<_> = numbers.into_iter().map(|x| factor.mul_wide(x)).collect();
    if let Some(basis) = context.powerful() {
        let (mut powers, mut scratch) = (vec![0; message.len()], vec![0; basis.ring().index() as usize]);
        let sub = |x, y| modulus.add(x, modulus.neg(y));
        basis.write_powers(&message, &mut powers, &mut scratch, |x, y| modulus.add(x, y), sub);
        message = powers;
    }
    let message = message.into_iter().map(|x| modulus.center(x));
    Plaintext::new(parameters, message.collect(), ciphertext.content)
}

/// An element over `limbs` limbs in the basis in which its coefficients are small.
fn small(context: &Context, a: Poly<Coeff>, limbs: usize) -> Poly<Coeff> {
    match context.powerful() {
        Some(basis) => context.rlwe().ring_q(limbs).to_powerful(&a, basis),
        None => a,
    }
}

/// t times the phase modulo `limbs` limbs.
fn times_t(context: &Context, phase: &Poly<Eval>, limbs: usize) -> Poly<Coeff> {
    let ring = context.rlwe().ring_q(limbs);
    let t = context.parameters().modulus().value();
    ring.intt(ring.mul_integer(phase, t.cast_signed()))
}

/// `round(Q/t f m)` at `limbs` limbs: with `u = -Q f m mod t`, centred, it is `(Q f m + u)/t`, which is `u/t` modulo Q.
pub(crate) fn scaled(context: &Context, message: &[i64], factor: u64, limbs: usize) -> Poly<Eval> {
    let (parameters, modulus) = (context.parameters(), context.parameters().modulus());
    let factor = modulus.factor(modulus.neg(modulus.mul(parameters.q_mod_t(limbs), factor)));
    let rest = message.iter().map(|&m| modulus.center(factor.mul_signed(m)));
    let ring = context.rlwe().ring_q(limbs);
    let mut poly = ring.ntt(ring.from_signed(&rest.collect::<Vec<i64>>()));
    let inverses: Vec<_> = ring.moduli().map(|q| q.inv(q.reduce(modulus.value()))).collect();
    ring.mul_scalar_assign(&mut poly, &inverses);
    poly
}

/// Refuses numbers of limbs that there are not.
pub(crate) fn check_limbs(limbs: usize, most: usize) -> Result<()> {
    if (1..=most).contains(&limbs) { Ok(()) } else { Err(Error::parameter("limbs", limbs, format!("1 to {most}"))) }
}
