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
use noren_rlwe::streams::Purpose;
use num_complex::Complex64;

use crate::schemes::ckks::content::Content;
use crate::schemes::ckks::context::Context;
use crate::schemes::ckks::encoder::{Encoder, Plaintext, check_real, decoding_error, limbs_to_read, transform_error};
use crate::schemes::ckks::error::CkksError;
use crate::schemes::ckks::estimate::Estimate;
use crate::schemes::ckks::message::Message;
use crate::schemes::ckks::names;
use crate::schemes::ckks::noise::{self, Mode};
use crate::schemes::error::SlotError;
use crate::schemes::range::Range;

/// The part of a range by which it may be too narrow, as it is rounded: far more than the operations of any program add up to.
const RANGE_ROUNDING: f64 = 1.0 / (1u64 << 40) as f64;

/// An encrypted vector.
pub type Ciphertext = Message<rlwe::Ciphertext>;

impl Ciphertext {
    /// How many multiplications can still follow one another.
    #[must_use]
    pub fn level(&self) -> usize {
        self.rlwe().level()
    }

    /// The identity of the secret key that decrypts it.
    #[must_use]
    pub const fn key_id(&self) -> KeyId {
        self.rlwe().key_id()
    }

    /// The same ciphertext with a better bound on its message, which the caller knows; errors of later products are
    /// then predicted more sharply. A wrong bound makes later error bounds wrong.
    #[must_use]
    pub fn with_magnitude(self, magnitude: f64) -> Self {
        self.estimated(|estimate| estimate.with_magnitude(magnitude))
    }

    /// The same ciphertext, of which the caller knows that all slots are real and lie in `[low, high]`: also those that
    /// no value was given for, which hold zero. The narrower range counts.
    ///
    /// Polynomials on an interval ask for it where the range that is known is wider. A wrong range makes results and later
    /// error bounds wrong. What is no interval states nothing.
    #[must_use]
    pub fn with_range(self, low: f64, high: f64) -> Self {
        self.estimated(|estimate| estimate.with_range(low, high))
    }

    /// Refuses decrypted slots that are further from the range of the ciphertext than its error bound allows.
    fn check_slots(&self, (re, im): &(Vec<f64>, Vec<f64>)) -> Result<()> {
        let (range, bound) = (self.estimate().range(), self.error_bound());
        // Ranges are rounded to nearest.
        let allowed = bound + RANGE_ROUNDING * range.magnitude();
        let near = |(&re, &im): (&f64, &f64)| range.is_near(Complex64::new(re, im), allowed);
        match re.iter().zip(im).enumerate().find(|&(_, slot)| !near(slot)) {
            None => Ok(()),
            Some((slot, (re, im))) => {
                let value = Complex64::new(*re, *im).to_string();
                Err(CkksError::NotAsStated { slot, value, range: range.to_string(), bound }.into())
            }
        }
    }

    /// The same ciphertext with this bound on its error, which the caller knows, in place of its own.
    ///
    /// For programs that shrink errors in a way that bounds of single operations cannot see, such as an iteration that
    /// contracts: their bounds grow with every step, the errors do not. A wrong bound makes later error bounds wrong, and
    /// [`Decryptor::decrypt_for_release`] unsafe. What is negative or not a number counts as infinite.
    #[must_use]
    pub fn with_error_bound(self, bound: f64) -> Self {
        self.estimated(|estimate| estimate.with_error_bound(bound))
    }

    /// A bound on the error of every decrypted slot, as a complex number: it holds but with probability `2^-40`.
    ///
    /// Infinite if the message may be too large for the modulus of this level, so that nothing can be said.
    #[must_use]
    pub fn error_bound(&self) -> f64 {
        if self.fits() { self.expected_error() } else { f64::INFINITY }
    }

    /// The bound without regard to the modulus: on the message and error, and on the rounding of their sum when it is decoded.
    fn expected_error(&self) -> f64 {
        let error = self.estimate().bound(self.slots(), self.parameters().max_slots());
        error + decoding_error(self.slots()) * (self.magnitude() + error)
    }

    /// How many bits message and error take at the scale, with their sign.
    fn needed_bits(&self) -> f64 {
        libm::log2((self.magnitude() + self.expected_error()) * self.scale().to_f64()) + 1.0
    }

    /// Whether the modulus holds the message with its error.
    fn fits(&self) -> bool {
        // Written so that a bound that is not a number counts as none.
        self.needed_bits() < self.parameters().rlwe().log_q(self.rlwe().limbs())
    }

    /// Refuses a ciphertext of which nothing is known.
    ///
    /// # Errors
    /// [`CkksError::Unbounded`].
    pub(crate) fn check_bound(&self) -> Result<()> {
        if self.error_bound().is_finite() {
            return Ok(());
        }
        Err(CkksError::Unbounded {
            magnitude: self.magnitude(),
            error: self.expected_error(),
            scale_log2: self.scale().log2(),
            modulus_log2: self.parameters().rlwe().log_q(self.rlwe().limbs()),
            level: self.level(),
        }
        .into())
    }
}

/// The seed of the streams of CKKS, which no other scheme draws from.
fn seed_of_scheme(context: &Context, seed: &Seed) -> Seed {
    Purpose::Scheme("CKKS").seed(seed, &context.parameters().fingerprint())
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
        let seed = seed_of_scheme(context, &seed);
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
        let seed = seed_of_scheme(context, &seed);
        let tags = seed.derive(TAGS);
        Ok(Self::new(context, RlweEncryptor::symmetric(context.rlwe(), key, seed)?, Mode::Symmetric, tags))
    }

    /// Encrypts at the level and scale of the plaintext.
    ///
    /// The ciphertext carries a bound on its message in clear. It is the largest absolute value of the plaintext, rounded
    /// up to an eighth of the power of two below it, but at least 1: values within [-1, 1] give nothing away, and of larger
    /// ones the largest is told up to 12.5 %. Where that says too much, state the bound: [`Encryptor::encrypt_within`].
    /// Whether the values are real is public too.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`] if the plaintext was made with other
    /// parameters, [`Error::Insecure`] if the secret does not carry the modulus.
    pub fn encrypt(&self, plaintext: &Plaintext) -> Result<Ciphertext> {
        self.encrypt_within(plaintext, public_magnitude(plaintext.estimate().magnitude()))
    }

    /// Encrypts a plaintext whose values are at most `magnitude` in absolute value; the bound is public.
    ///
    /// # Errors
    /// As [`Encryptor::encrypt`], and [`Error::Parameters`] if a value is larger.
    pub fn encrypt_within(&self, plaintext: &Plaintext, magnitude: f64) -> Result<Ciphertext> {
        let largest = plaintext.estimate().magnitude();
        if largest > magnitude || !magnitude.is_finite() {
            return Err(Error::parameter(
                "magnitude",
                format!("{magnitude:?}"),
                format!("at least {largest:?}, the largest value, and finite"),
            ));
        }
        let range = match plaintext.estimate().range() {
            Range::Real { .. } => Range::symmetric(magnitude),
            Range::Complex { .. } => Range::disc(magnitude),
        };
        self.encrypt_known(plaintext, range)
    }

    /// Encrypts a plaintext of real values in `[low, high]`, zeros that fill slots included; the interval is public.
    ///
    /// # Errors
    /// As [`Encryptor::encrypt`], [`SlotError::NotReal`] for complex values, and [`Error::Parameters`] if a value is
    /// outside.
    pub fn encrypt_in(&self, plaintext: &Plaintext, interval: [f64; 2]) -> Result<Ciphertext> {
        let range = interval_of(plaintext, interval)?;
        self.encrypt_known(plaintext, range)
    }

    /// As [`Encryptor::encrypt_in`], for an encryption with this number among those of a computation: sources of errors are told apart by
    /// their names, and with the names that [`NoiseModel`](crate::ckks::NoiseModel) gives them bounds are those that it predicts.
    /// Encryptions of one number are taken for dependent on each other.
    ///
    /// # Errors
    /// As [`Encryptor::encrypt_in`].
    pub(crate) fn encrypt_numbered(
        &self,
        plaintext: &Plaintext,
        interval: [f64; 2],
        number: u64,
    ) -> Result<Ciphertext> {
        let range = interval_of(plaintext, interval)?;
        self.encrypt_named(plaintext, range, names::encryption(number))
    }

    fn encrypt_known(&self, plaintext: &Plaintext, range: Range) -> Result<Ciphertext> {
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        self.encrypt_named(plaintext, range, self.tags.xof(&call.to_string()).next_u64())
    }

    fn encrypt_named(&self, plaintext: &Plaintext, range: Range, tag: u64) -> Result<Ciphertext> {
        let parameters = self.context.parameters();
        self.context.check(plaintext.parameters(), "the plaintext")?;
        // The rounding that the plaintext knows of depends on its values: it stays out of the public estimate.
        let exact = Estimate::exact(range, tag).with_bias(range.magnitude() * transform_error(plaintext.slots()));
        let estimate = noise::fresh(parameters.rlwe(), self.mode, plaintext.scale(), exact);
        let content = Content::new(plaintext.slots(), plaintext.extent(), estimate);
        Ok(Ciphertext::new(self.inner.encrypt(plaintext.rlwe())?, *plaintext.scale(), content, parameters.clone()))
    }

    fn new(context: &Context, inner: RlweEncryptor<'a>, mode: Mode, tags: Seed) -> Self {
        Self { context: context.clone(), inner, mode, tags, calls: AtomicU64::new(0) }
    }
}

/// The range of real values in an interval.
///
/// # Errors
/// Those of [`Encryptor::encrypt_in`] about the plaintext and the interval.
fn interval_of(plaintext: &Plaintext, [low, high]: [f64; 2]) -> Result<Range> {
    let Some([lowest, highest]) = plaintext.estimate().range().interval() else {
        return Err(SlotError::NotReal { what: "the plaintext", remedy: "state a bound on absolute values" }.into());
    };
    if !(low <= lowest && highest <= high && low.is_finite() && high.is_finite()) {
        let needed = format!("finite, and hold {lowest:?} to {highest:?}: the values, and zeros in slots without one");
        return Err(Error::parameter("interval", format!("[{low:?}, {high:?}]"), needed));
    }
    Ok(Range::real(low, high))
}

/// How many magnitudes there are from a power of two to the next: with `k` factors of up to `1 + 1/8` too much, ranges of
/// products of degree k are at most `1.125^k` times too wide.
const MAGNITUDES_PER_OCTAVE: f64 = 8.0;

/// The bound that a ciphertext tells of values up to `largest`, unless another is stated: at least 1.
fn public_magnitude(largest: f64) -> f64 {
    if largest <= 1.0 {
        return 1.0;
    }
    let (mantissa, exponent) = libm::frexp(largest); // mantissa in [1/2, 1)
    libm::ldexp((mantissa * 2.0 * MAGNITUDES_PER_OCTAVE).ceil() / (2.0 * MAGNITUDES_PER_OCTAVE), exponent)
}

/// The seed of the names of encryptions, which are public, is derived one-way with this label.
const TAGS: &str = "ckks/tags";

/// Decrypts ciphertexts of one secret key.
///
/// A ciphertext whose message may have left its modulus, so that its [`error_bound`](Ciphertext::error_bound) is
/// infinite, is refused with [`CkksError::Unbounded`]: its slots could be any numbers. [`Decryptor::allow_unbounded`]
/// decrypts it all the same.
pub struct Decryptor<'a> {
    context: Context,
    encoder: Encoder,
    key: &'a SecretKey,
    unbounded: bool,
}

impl<'a> Decryptor<'a> {
    /// The decryptor of a secret key.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`] if the key was made with other
    /// parameters.
    pub fn new(context: &Context, key: &'a SecretKey) -> Result<Self> {
        context.parameters().rlwe().check_fingerprint(key.fingerprint(), "the secret key")?;
        Ok(Self { context: context.clone(), encoder: Encoder::new(context), key, unbounded: false })
    }

    /// The decryptor that also decrypts ciphertexts of which nothing is known: the numbers may be wrong by any amount.
    #[must_use]
    pub fn allow_unbounded(self) -> Self {
        Self { unbounded: true, ..self }
    }

    /// Whether ciphertexts of which nothing is known are decrypted, too.
    pub(crate) const fn allows_unbounded(&self) -> bool {
        self.unbounded
    }

    /// The context and the key.
    pub(crate) const fn parts(&self) -> (&Context, &SecretKey) {
        (&self.context, self.key)
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
    /// another secret key, [`CkksError::Unbounded`] if its message may have left its modulus.
    pub fn decrypt(&self, ciphertext: &Ciphertext) -> Result<Plaintext> {
        self.decrypt_limbs(ciphertext, ciphertext.rlwe().limbs())
    }

    /// The slots; see [`Decryptor::decrypt`] for who may see them.
    ///
    /// # Errors
    /// As [`Decryptor::decrypt`], and [`CkksError::NotAsStated`] if a slot is further from the range of the ciphertext
    /// than its error bound allows.
    pub fn decrypt_complex(&self, ciphertext: &Ciphertext) -> Result<Vec<Complex64>> {
        let (re, im) = self.decrypt_slots(ciphertext)?;
        Ok(re.into_iter().zip(im).map(|(re, im)| Complex64::new(re, im)).collect())
    }

    /// The slots of a ciphertext that is known to be real; see [`Decryptor::decrypt`] for who may see them.
    ///
    /// # Errors
    /// As [`Decryptor::decrypt_complex`], and [`SlotError::NotReal`] if the slots may be complex.
    pub fn decrypt_real(&self, ciphertext: &Ciphertext) -> Result<Vec<f64>> {
        check_real(ciphertext.estimate(), "the ciphertext")?;
        self.decrypt_real_parts(ciphertext)
    }

    /// The real parts of the slots; imaginary parts are dropped. See [`Decryptor::decrypt`] for who may see them.
    ///
    /// # Errors
    /// As [`Decryptor::decrypt_complex`].
    pub fn decrypt_real_parts(&self, ciphertext: &Ciphertext) -> Result<Vec<f64>> {
        Ok(self.decrypt_slots(ciphertext)?.0)
    }

    /// Real and imaginary parts of the slots. Decrypts modulo as few primes as hold the message: dropping limbs costs nothing
    /// and changes nothing.
    fn decrypt_slots(&self, ciphertext: &Ciphertext) -> Result<(Vec<f64>, Vec<f64>)> {
        let limbs = limbs_to_read(&self.context, ciphertext.rlwe().limbs(), ciphertext.scale(), ciphertext.estimate());
        let slots = self.encoder.decode(&self.decrypt_limbs(ciphertext, limbs)?)?;
        if !self.unbounded {
            ciphertext.check_slots(&slots)?;
        }
        Ok(slots)
    }

    fn decrypt_limbs(&self, ciphertext: &Ciphertext, limbs: usize) -> Result<Plaintext> {
        self.context.check(ciphertext.parameters(), "the ciphertext")?;
        if !self.unbounded {
            ciphertext.check_bound()?;
        }
        let context = self.context.rlwe();
        let inner = if limbs == ciphertext.rlwe().limbs() {
            decrypt(context, self.key, ciphertext.rlwe())?
        } else {
            let ring = context.ring_q(limbs);
            let parts = ciphertext.rlwe().parts().iter().map(|part| ring.restrict(part)).collect();
            decrypt(context, self.key, &rlwe::Ciphertext::new(parts, ciphertext.key_id()))?
        };
        let content = ciphertext.content().clone();
        Ok(Plaintext::new(inner, *ciphertext.scale(), content, ciphertext.parameters().clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn public_magnitudes_are_eighths_of_powers_of_two() {
        for (largest, told) in [
            (0.0, 1.0),
            (1.0, 1.0),
            (1.0 + f64::EPSILON, 1.125),
            (1.5, 1.5),
            (3.0, 3.0),
            (3.01, 3.25),
            (7.9, 8.0),
            (1000.0, 1024.0),
            (1e300, 1.5 * 2f64.powi(996)),
        ] {
            assert_eq!(public_magnitude(largest), told, "{largest}");
        }
        assert_eq!(public_magnitude(f64::MAX), f64::INFINITY);
    }
}
