//! Encryption, with the public or the secret key.

use std::sync::atomic::{AtomicU64, Ordering};

use noren_math::random::Seed;
use noren_math::sample;
use noren_ring::poly::{Eval, Poly};
use noren_ring::ring::Ring;
use zeroize::Zeroizing;

use crate::ciphertext::{Ciphertext, Plaintext};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::keygen::{error, error_coefficients, masked};
use crate::keys::{PublicKey, SecretKey};
use crate::security;
use crate::streams::Purpose;
use crate::words::seed_of_residues;

/// Encrypts plaintexts, each with fresh randomness.
///
/// The n-th call takes its randomness from child n of a seed that is bound to the parameters, the secret key and the kind of
/// key ([`Purpose`]), and from the message. So a seed gives the same ciphertexts again, and a seed that serves two
/// encryptors by mistake tells only whether their n-th messages are equal: other messages have other randomness.
/// [`Seed::random`] makes seeds that never meet.
pub struct Encryptor<'a> {
    context: Context,
    key: Key<'a>,
    seed: Seed,
    calls: AtomicU64,
}

enum Key<'a> {
    Public(&'a PublicKey),
    Secret(&'a SecretKey),
}

impl<'a> Encryptor<'a> {
    /// Encrypts with the public key, as anybody can.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`] if the key was made with other parameters.
    pub fn public(context: &Context, key: &'a PublicKey, seed: Seed) -> Result<Self> {
        context.parameters().check_fingerprint(key.fingerprint(), "the public key")?;
        let seed = Purpose::PublicEncryption.seed_of(&seed, &key.owner);
        Ok(Self::new(context, Key::Public(key), seed))
    }

    /// Encrypts with the secret key: less noise, and half the bytes, as the second part travels as a seed.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`] if the key was made with other parameters.
    pub fn symmetric(context: &Context, key: &'a SecretKey, seed: Seed) -> Result<Self> {
        context.parameters().check_fingerprint(key.fingerprint(), "the secret key")?;
        let seed = Purpose::SymmetricEncryption.seed_of(&seed, &key.owner);
        Ok(Self::new(context, Key::Secret(key), seed))
    }

    /// Encrypts at the level of the plaintext.
    ///
    /// With the public key `(b, a)`: `(b v + e_0 + m, a v + e_1)` for a ternary v. With the secret key:
    /// `(-a s + e + m, a)`.
    ///
    /// # Errors
    /// [`Error::Length`] if the plaintext has another degree or more limbs than the parameters, [`Error::Insecure`] if
    /// the secret does not carry this modulus.
    ///
    /// # Panics
    /// If the plaintext is not over the first primes q.
    pub fn encrypt(&self, plaintext: &Plaintext) -> Result<Ciphertext> {
        let ring = self.ring(plaintext)?;
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        let seed = seed_of_residues(&self.seed, &call.to_string(), &[], &telling(&ring), &[&plaintext.poly]);
        match self.key {
            Key::Public(key) => Ok(with_public(&ring, key, &seed, &plaintext.poly)),
            Key::Secret(key) => {
                let parameters = self.context.parameters();
                let log_q = parameters.log_q(plaintext.limbs());
                security::check("ciphertext", ring.degree(), key.distribution, log_q, parameters.security())?;
                Ok(with_secret(&ring, key, &seed, &plaintext.poly))
            }
        }
    }

    fn new(context: &Context, key: Key<'a>, seed: Seed) -> Self {
        Self { context: context.clone(), key, seed, calls: AtomicU64::new(0) }
    }

    fn ring(&self, plaintext: &Plaintext) -> Result<Ring> {
        let parameters = self.context.parameters();
        check_length(
            "coefficients of the plaintext",
            plaintext.poly.degree(),
            parameters.degree()..=parameters.degree(),
        )?;
        check_length("limbs of the plaintext", plaintext.limbs(), 1..=parameters.max_limbs())?;
        Ok(self.context.ring_q(plaintext.limbs()))
    }
}

/// The ring whose residues of a message tell it from others: that of the first two primes, whose product no difference of messages
/// reaches.
fn telling(ring: &Ring) -> Ring {
    let range = ring.range();
    ring.window(range.start..range.end.min(range.start + 2))
}

fn with_public(ring: &Ring, key: &PublicKey, seed: &Seed, m: &Poly<Eval>) -> Ciphertext {
    let mut v = Zeroizing::new(vec![0; ring.degree()]);
    sample::ternary(&mut seed.xof("mask"), &mut v);
    let [e_0, e_1] = ["error/0", "error/1"].map(|label| error_coefficients(ring, seed, label));
    let parts = ring.mask([&key.b, &key.a], &v, [&e_0, &e_1], m);
    Ciphertext::new(parts.map(Poly::into_public).into(), key.owner.key)
}

fn with_secret(ring: &Ring, key: &SecretKey, seed: &Seed, m: &Poly<Eval>) -> Ciphertext {
    let public = seed.derive("uniform");
    let c1 = uniform_half(ring, &public);
    let mut c0 = masked(ring, error(ring, seed, "error/0"), &c1, &key.over(ring));
    ring.add_assign(&mut c0, m);
    Ciphertext::seeded([c0.into_public(), c1], public, key.owner.key)
}

/// The second part of a fresh symmetric ciphertext, from its public seed.
pub(crate) fn uniform_half(ring: &Ring, seed: &Seed) -> Poly<Eval> {
    ring.uniform(seed, "ciphertext")
}

fn check_length(what: &'static str, found: usize, allowed: std::ops::RangeInclusive<usize>) -> Result<()> {
    if allowed.contains(&found) {
        return Ok(());
    }
    let needed = if allowed.start() == allowed.end() {
        allowed.end().to_string()
    } else {
        format!("{} to {}", allowed.start(), allowed.end())
    };
    Err(Error::Length { what, found, needed })
}
