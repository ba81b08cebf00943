//! Encryption and decryption of integers and bits.

use std::sync::atomic::{AtomicU64, Ordering};

use noren_math::random::Seed;
use noren_rlwe::error::Result;
use noren_rlwe::owner::Owner;
use noren_rlwe::streams::Purpose;
use noren_rlwe::torus::secret::TorusSecret;

use crate::schemes::tfhe::ciphertext::{Bit, Ciphertext};
use crate::schemes::tfhe::context::Context;
use crate::schemes::tfhe::error::TfheError;

/// Fresh noise is below that of a bootstrap, which is a sum of more such noises.
pub(crate) const FRESH_NOISE: f64 = 1.0;

/// Encrypts, each value with fresh randomness.
///
/// The n-th call takes its randomness from child n of a seed that is bound to the parameters and the secret key
/// ([`Purpose::TorusEncryption`]), and from the messages. A seed that serves two encryptors of one key by mistake tells only
/// whether their n-th messages are equal.
pub struct Encryptor<'a> {
    pub(crate) context: Context,
    pub(crate) secret: &'a TorusSecret,
    pub(crate) owner: Owner,
    seed: Seed,
    calls: AtomicU64,
}

/// Decrypts.
pub struct Decryptor<'a> {
    context: Context,
    secret: &'a TorusSecret,
    owner: Owner,
}

impl<'a> Encryptor<'a> {
    /// Encrypts under this secret.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`](noren_rlwe::error::Error::ParameterMismatch) if the key was made with other
    /// parameters.
    pub fn new(context: &Context, secret: &'a TorusSecret, seed: Seed) -> Result<Self> {
        let owner = secret.owner();
        context.check_keys(&owner, "the secret key")?;
        let (owner, context) = (context.owner(&owner), context.clone());
        let seed = Purpose::TorusEncryption.seed_of(&seed, &owner);
        Ok(Self { context, secret, owner, seed, calls: AtomicU64::new(0) })
    }

    /// The context.
    #[must_use]
    pub const fn context(&self) -> &Context {
        &self.context
    }

    /// Encrypts an integer below `2^message_bits`.
    ///
    /// # Errors
    /// [`TfheError::OutOfRoom`] for a larger one, [`Error::Parameters`](noren_rlwe::error::Error::Parameters) if the
    /// parameters are for bits.
    pub fn encrypt(&self, value: u64) -> Result<Ciphertext> {
        self.encrypt_at_most(value, self.context.parameters().message_size() - 1)
    }

    /// Encrypts an integer that everybody may know to be at most `max`, itself below `2^message_bits`.
    pub(crate) fn encrypt_at_most(&self, value: u64, max: u64) -> Result<Ciphertext> {
        let message = self.integer_message(value, max)?;
        let sample = self.secret.encrypt(&self.next_seed(), message);
        Ok(Ciphertext { sample, owner: self.owner, max, noise: FRESH_NOISE })
    }

    /// Encrypts a bit.
    ///
    /// # Errors
    /// [`Error::Parameters`](noren_rlwe::error::Error::Parameters) if the parameters are for integers.
    pub fn encrypt_bit(&self, value: bool) -> Result<Bit> {
        self.context.parameters().encoding().needs_bits()?;
        let sample = self.secret.encrypt(&self.next_seed(), self.bit_message(value));
        Ok(Bit { sample, owner: self.owner, noise: FRESH_NOISE })
    }

    /// The phase of an integer of at most `max`.
    pub(crate) fn integer_message(&self, value: u64, max: u64) -> Result<u64> {
        let parameters = self.context.parameters();
        parameters.encoding().needs_integers()?;
        if value > max {
            let hint = "cut it into digits, or use parameters of larger messages";
            return Err(TfheError::OutOfRoom {
                what: "the message",
                found: value,
                needed: format!("at most {max}"),
                hint,
            }
            .into());
        }
        Ok(value * parameters.encoding().unit())
    }

    /// 2^61 or -2^61, without a branch.
    pub(crate) fn bit_message(&self, value: bool) -> u64 {
        (2 * u64::from(value)).wrapping_sub(1).wrapping_mul(self.context.parameters().encoding().unit())
    }

    /// The seed of this call.
    pub(crate) fn next_seed(&self) -> Seed {
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        self.seed.derive(&call.to_string())
    }
}

impl<'a> Decryptor<'a> {
    /// Decrypts with this secret.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`](noren_rlwe::error::Error::ParameterMismatch) if the key was made with other
    /// parameters.
    pub fn new(context: &Context, secret: &'a TorusSecret) -> Result<Self> {
        let owner = secret.owner();
        context.check_keys(&owner, "the secret key")?;
        Ok(Self { context: context.clone(), secret, owner: context.owner(&owner) })
    }

    /// The context.
    #[must_use]
    pub const fn context(&self) -> &Context {
        &self.context
    }

    /// The integer.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`](noren_rlwe::error::Error::ParameterMismatch) and
    /// [`Error::KeyMismatch`](noren_rlwe::error::Error::KeyMismatch) for ciphertexts of others;
    /// [`TfheError::OutOfRoom`] if the value is larger than the ciphertext says, as of one that was damaged.
    pub fn decrypt(&self, ciphertext: &Ciphertext) -> Result<u64> {
        self.owner.check(&ciphertext.owner, "the ciphertext")?;
        // A unit is a power of two: a shift in place of a division, whose time would depend on the phase.
        let unit = self.context.parameters().encoding().unit();
        let value = self.secret.phase(&ciphertext.sample)?.wrapping_add(unit / 2) >> unit.trailing_zeros();
        check_value(value, ciphertext.max)?;
        Ok(value)
    }

    /// The bit: whether the phase is in the upper half of the circle.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`](noren_rlwe::error::Error::ParameterMismatch) and
    /// [`Error::KeyMismatch`](noren_rlwe::error::Error::KeyMismatch) for ciphertexts of others.
    pub fn decrypt_bit(&self, bit: &Bit) -> Result<bool> {
        self.owner.check(&bit.owner, "the bit")?;
        Ok(self.secret.phase(&bit.sample)?.cast_signed() >= 0)
    }
}

/// Refuses a decrypted value above what its ciphertext says. It branches by the value, and tells no more than its result
/// does; it is a function of its own so that `tests/constant_time` can name what is allowed to.
#[inline(never)]
fn check_value(value: u64, max: u64) -> Result<()> {
    if value <= max {
        return Ok(());
    }
    let (what, needed) = ("the decrypted value", format!("at most {max}"));
    Err(TfheError::OutOfRoom { what, found: value, needed, hint: "the ciphertext was damaged or forged" }.into())
}
