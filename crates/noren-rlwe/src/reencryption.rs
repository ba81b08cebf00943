//! Re-encryption: a ciphertext of one secret key becomes one of another, by whoever has a key for that and no secret.
//!
//! Where both secrets are of one owner, the key is made from both. For another owner it is made under a public key of the receiver's,
//! whose secret the giver does not need.

use noren_math::machine::memory;
use noren_math::random::Seed;
use noren_math::sample;
use noren_ring::poly::{Eval, Poly};
use zeroize::Zeroizing;

use crate::ciphertext::{Ciphertext, Plaintext};
use crate::context::Context;
use crate::encrypt::Encryptor;
use crate::error::{Error, Result};
use crate::flood::uniform;
use crate::keygen::{Digits, KeyGenerator, check_public, error, error_coefficients, masked, public_half};
use crate::keys::{KeySwitchKey, PublicKey, SecretKey};
use crate::keyswitch::switch_secret;
use crate::linear::add_assign;
use crate::owner::{KeyId, Owner};
use crate::streams::{Purpose, hex};
use crate::words::seed_of_residues;

/// Switches ciphertexts of a secret `s'` to a secret `s`: a [`KeySwitchKey`] from the one to the other, of the usual shape.
///
/// Its pairs are samples of ring learning with errors under s. They tell nothing of either secret to whoever has none; with s they
/// decrypt to `P g_j s'` and a small error, so that **whoever has s and this key has s' too**.
#[derive(Debug, Clone)]
pub struct ReencryptionKey {
    pub(crate) switch: KeySwitchKey,
    /// The public key modulo Q of another owner, under whose public key the pairs were made.
    pub(crate) receiver: Option<PublicKey>,
}

/// A public key `(b, a) = (-a s + e, a)` modulo all primes, the special ones too: with it others make re-encryption keys for ciphertexts
/// that are to be decrypted with s. Modulo `q_0 ... q_L` it is an ordinary public key.
#[derive(Debug, Clone)]
pub struct ReceiverKey {
    pub(crate) b: Poly<Eval>,
    pub(crate) a: Poly<Eval>,
    /// `a` is `uniform(seed, "public")`.
    pub(crate) seed: Seed,
    pub(crate) owner: Owner,
}

/// How ciphertexts that go to another owner are kept from telling more than their messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cover {
    /// An encryption of zero is added, and noise that floods the noise of the ciphertext: what the receiver sees of all `results`
    /// ciphertexts together is within a statistical distance of `2^-distance` of what follows from their messages.
    Flood {
        /// The most ciphertexts that ever go to the receiver.
        results: u64,
        /// The bits of the distance.
        distance: u32,
    },
    /// An encryption of zero is added, and nothing else: the receiver sees the noise, which depends on the giver's secret and on
    /// what was computed.
    NoFlood,
}

impl Default for Cover {
    /// A flood for 2^16 ciphertexts at a distance of 2^-64.
    fn default() -> Self {
        Self::Flood { results: 1 << 16, distance: 64 }
    }
}

impl KeyGenerator {
    /// The key that re-encrypts ciphertexts of up to `limbs` limbs from one secret to another of the same parameters; `None` means
    /// all. Its errors are drawn as those of [`KeyGenerator::switching`], which it is.
    ///
    /// # Errors
    /// [`Error::Parameters`] without special primes, for more limbs than there are, and where both secrets are one;
    /// [`Error::ParameterMismatch`] for a secret of other parameters; [`Error::Insecure`] if the new secret does not carry the modulus
    /// of the key.
    pub fn reencryption(&self, from: &SecretKey, to: &SecretKey, limbs: Option<usize>) -> Result<ReencryptionKey> {
        self.check_reencryption(from)?;
        self.check_secret(to)?;
        check_distinct(from.owner.key, to.owner.key)?;
        Ok(ReencryptionKey { switch: self.switching(from, to, limbs)?, receiver: None })
    }

    /// The public key for those who re-encrypt for this secret, modulo all primes of keys.
    ///
    /// # Errors
    /// As [`KeyGenerator::public`], and [`Error::Parameters`] without special primes.
    pub fn receiver(&self, secret: &SecretKey) -> Result<ReceiverKey> {
        self.check_reencryption(secret)?;
        let (switching, limbs) = self.check("public key for re-encryption", secret, None)?;
        let ring = switching.ring_qp(limbs);
        let own = self.own_seed(&format!("receiver/{}", self.binding(&[secret])));
        let seed = own.derive("uniform");
        let (b, a) = memory::refusing(|| {
            let a = public_half(&ring, &seed);
            (masked(&ring, error(&ring, &own, "error"), &a, &secret.over(&ring)).into_public(), a)
        })?;
        check_public(&ring, &b)?;
        Ok(ReceiverKey { b, a, seed, owner: secret.owner })
    }

    /// The key that re-encrypts ciphertexts of up to `limbs` limbs for another owner, of whom the giver has a public key `(pb, pa)`
    /// modulo `P Q` alone. The pair of digit j is
    ///
    /// ```text
    /// (pb r_j + e_j + P g_j s, pa r_j + e'_j)
    /// ```
    /// for the giver's secret s, a ternary `r_j` and errors of deviation 3.19. Under the receiver's secret z, with e the error of the public
    /// key, it has the error `e r_j + e_j + e'_j z`: [`public_switch_growth`](crate::noise::public_switch_growth).
    ///
    /// # Errors
    /// [`Error::Parameters`] without special primes, for more limbs than there are, and for the giver's own key;
    /// [`Error::ParameterMismatch`] for keys of other parameters.
    pub fn reencryption_for(
        &self,
        from: &SecretKey,
        receiver: &ReceiverKey,
        limbs: Option<usize>,
    ) -> Result<ReencryptionKey> {
        self.check_reencryption(from)?;
        self.context().parameters().check_fingerprint(&receiver.owner.fingerprint, "the receiver's public key")?;
        check_distinct(from.owner.key, receiver.owner.key)?;
        let (switching, limbs) = self.check_limbs_of_key(limbs)?;
        let digits = Digits::new(&switching, limbs);
        let ring = &digits.ring;
        let own = self.own_seed(&format!("reencryption/{}/{}", self.binding(&[from]), hex(&receiver.owner.key.0)));
        let own = seed_of_residues(&own, "receiver", &[], ring, &[&receiver.b, &receiver.a]);
        let pairs = memory::refusing(|| {
            let s = from.over(ring);
            let mut pairs = ring.zero_key(digits.count());
            for j in 0..digits.count() {
                let own = own.derive(&format!("digit/{j}"));
                let mut r = Zeroizing::new(vec![0; ring.degree()]);
                sample::ternary(&mut own.xof("mask"), &mut r);
                let [e_0, e_1] = ["error/0", "error/1"].map(|label| error_coefficients(ring, &own, label));
                let pair = ring.mask([&receiver.b, &receiver.a], &r, [&e_0, &e_1], &digits.multiple(j, &s));
                let [b, a] = pair.map(Poly::into_public);
                ring.set_key_pair(&mut pairs, j, [&b, &a]);
            }
            pairs
        })?;
        let shape = self.context().parameters().shape();
        let (owner, from) = (receiver.owner, from.owner.key);
        let switch = KeySwitchKey { pairs, shape, seed: None, limbs, owner, from };
        Ok(ReencryptionKey { switch, receiver: Some(receiver.public_key(self.context())) })
    }

    /// Refuses secrets of other parameters, and parameters whose keys cannot switch.
    fn check_reencryption(&self, from: &SecretKey) -> Result<()> {
        if !self.has_special_primes() {
            let needed = "at least one special prime, which re-encryption divides by: decrypt and encrypt anew, with parameters \
                that have some (log_p)";
            return Err(Error::parameter("p", "empty", needed));
        }
        self.check_secret(from)
    }
}

/// Refuses a key that leads from a secret to itself.
pub(crate) fn check_distinct(from: KeyId, to: KeyId) -> Result<()> {
    if from != to {
        return Ok(());
    }
    Err(Error::parameter(
        "new secret key",
        format!("key {to}, which is the old one"),
        "another one, of the same parameters",
    ))
}

impl ReceiverKey {
    /// The parameters, and the secret key that it belongs to.
    #[must_use]
    pub const fn owner(&self) -> Owner {
        self.owner
    }

    /// Bytes in memory.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        (2 * size_of::<u64>() * self.b.degree() * self.b.limbs()) as u64
    }

    /// The same key modulo `q_0 ... q_L`, which encrypts.
    #[must_use]
    pub fn public_key(&self, context: &Context) -> PublicKey {
        let ring = context.ring_q(context.parameters().max_limbs());
        let [b, a] = [&self.b, &self.a].map(|half| ring.restrict(half));
        PublicKey { b, a, seed: self.seed.clone(), owner: self.owner }
    }
}

impl ReencryptionKey {
    /// The parameters, and the secret key of the ciphertexts that it makes.
    #[must_use]
    pub const fn owner(&self) -> Owner {
        self.switch.owner()
    }

    /// The identity of the secret key of the ciphertexts that it takes.
    #[must_use]
    pub const fn from(&self) -> KeyId {
        self.switch.from()
    }

    /// The number of limbs of the largest ciphertext that it takes.
    #[must_use]
    pub fn limbs(&self) -> usize {
        self.switch.limbs()
    }

    /// Whether it was made under a public key of another owner, for whom ciphertexts are [covered](ReencryptionKey::cover).
    #[must_use]
    pub const fn is_for_another_owner(&self) -> bool {
        self.receiver.is_some()
    }

    /// Refuses a key for another owner where one between two secrets of one owner is needed, and the other way round.
    ///
    /// # Errors
    /// [`Error::Parameters`].
    pub fn check_use(&self, for_another: bool) -> Result<()> {
        match (self.is_for_another_owner(), for_another) {
            (true, false) => {
                let needed = "one of a single owner: ciphertexts for another owner are covered, by `reencrypt_for`";
                Err(Error::parameter("re-encryption key", "one for another owner", needed))
            }
            (false, true) => {
                let needed = "one for another owner: what stays with its owner needs no cover, see `reencrypt`";
                Err(Error::parameter("re-encryption key", "one of a single owner", needed))
            }
            _ => Ok(()),
        }
    }

    /// Bytes in memory.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.switch.bytes() + self.receiver.as_ref().map_or(0, PublicKey::bytes)
    }

    /// The ciphertext under the new secret: with the digits `d_j` of `c_1` and the pairs `(b_j, a_j)` of the key
    /// `(c_0 + round(sum d_j b_j / P), round(sum d_j a_j / P))`. The noise that is added has the standard deviation
    /// [`key_switch`](crate::noise::key_switch), with a key for another owner that of
    /// [`public_key_switch`](crate::noise::public_key_switch).
    ///
    /// # Errors
    /// [`Error::KeyMismatch`] for a ciphertext of another secret, [`Error::DegreeTooHigh`] for a product that is not relinearised,
    /// [`Error::KeyLevel`] for one of more limbs than the key serves, [`Error::ParameterMismatch`] for a context of other parameters,
    /// [`Error::Memory`] if there is not memory for the result.
    pub fn reencrypt(&self, context: &Context, ciphertext: &Ciphertext) -> Result<Ciphertext> {
        memory::refusing(|| switch_secret(context, ciphertext, &self.switch))?
    }

    /// A ciphertext that this key has made for another owner, with an encryption of zero under the owner's public key added, and noise
    /// that is uniform from `-2^bits` to `2^bits - 1`, if there are bits. Both follow from the seed and the ciphertext.
    ///
    /// # Errors
    /// [`Error::Parameters`] for a key that is for no other owner; [`Error::KeyMismatch`] for a ciphertext of another secret.
    pub fn cover(
        &self,
        context: &Context,
        mut ciphertext: Ciphertext,
        bits: Option<u32>,
        seed: &Seed,
    ) -> Result<Ciphertext> {
        let Some(public) = &self.receiver else {
            let needed = "one for another owner, whose public key covers ciphertexts";
            return Err(Error::parameter("re-encryption key", "one between two secrets of one owner", needed));
        };
        self.owner().key.check(ciphertext.key_id(), "the ciphertext")?;
        let ring = context.ring_q(ciphertext.limbs());
        let seed = Purpose::Reencryption.seed_of(seed, &public.owner);
        let parts: Vec<_> = ciphertext.parts().iter().collect();
        let seed = seed_of_residues(&seed, "cover", &[&[bits.map_or(u64::MAX, u64::from)]], &ring, &parts);
        let zero = Plaintext { poly: ring.zero() };
        let zero = Encryptor::public(context, public, seed.derive("zero"))?.encrypt(&zero)?;
        add_assign(context, &mut ciphertext, &zero)?;
        if let Some(bits) = bits {
            let numbers = uniform(&ring, bits, seed.xof("flood"));
            ring.add_assign(&mut ciphertext.parts_mut()[0], &numbers);
        }
        Ok(ciphertext)
    }
}

#[cfg(test)]
mod tests {
    use noren_math::prime::primes_below;
    use noren_math::sample::GAUSSIAN_SIGMA;

    use noren_ring::ring::Ring;

    use super::*;
    use crate::parameters::ParametersSpec;
    use crate::security::Security;

    const N: usize = 1 << 10;

    fn context() -> Result<Context> {
        let primes = |bits: u32, count| primes_below(1 << bits, 2 * N as u64).take(count).collect();
        let (q, p) = (primes(40, 4), primes(48, 2));
        let spec = ParametersSpec { index: 2 * N as u32, q, p, security: Security::None, ..ParametersSpec::default() };
        Context::new(spec.build()?)
    }

    fn deviation_of(ring: &Ring, e: Poly<Eval>) -> f64 {
        let coefficients = ring.to_centered_f64(&ring.intt(e));
        (coefficients.iter().map(|x| x * x).sum::<f64>() / N as f64).sqrt()
    }

    /// The deviations of the errors `b + a s - P g_j s'` of all pairs.
    fn deviations(context: &Context, key: &ReencryptionKey, [old, new]: [&SecretKey; 2]) -> Result<Vec<f64>> {
        let digits = Digits::new(&*context.switching(context.parameters().shape())?, 4);
        let ring = &digits.ring;
        let error = |j| {
            let [b, a] = ring.key_pair(&key.switch.pairs, j);
            let mut e = ring.mul(&a, &new.over(ring));
            ring.add_assign(&mut e, &b);
            ring.sub_assign(&mut e, &digits.multiple(j, &old.over(ring)));
            deviation_of(ring, e)
        };
        Ok((0..digits.count()).map(error).collect())
    }

    #[test]
    fn pairs_of_a_key_encrypt_multiples_of_the_old_secret_under_the_new_one() -> Result<()> {
        let context = context()?;
        let generator = |at| KeyGenerator::new(&context, Seed::from_bytes([at; 32]));
        let (old, new) = (generator(1).secret(), generator(2).secret());
        let key = generator(3).reencryption(&old, &new, None)?;
        for (j, deviation) in deviations(&context, &key, [&old, &new])?.into_iter().enumerate() {
            assert!((deviation / GAUSSIAN_SIGMA - 1.0).abs() < 0.1, "digit {j}: {deviation}");
        }
        Ok(())
    }

    #[test]
    fn pairs_for_another_owner_have_the_errors_of_a_public_encryption() -> Result<()> {
        let context = context()?;
        let generator = |at| KeyGenerator::new(&context, Seed::from_bytes([at; 32]));
        let (giver, receiver) = (generator(1).secret(), generator(2).secret());
        let public = generator(2).receiver(&receiver)?;
        let key = generator(3).reencryption_for(&giver, &public, None)?;
        let law = crate::noise::fresh_public(context.parameters());
        for (j, deviation) in deviations(&context, &key, [&giver, &receiver])?.into_iter().enumerate() {
            // Products of Gaussian polynomials: see `samples/small.rs`.
            assert!((deviation / law - 1.0).abs() < 0.2, "digit {j}: {deviation} for {law}");
        }
        // Half the errors of the public key itself are those of a fresh error.
        let ring = context.ring_qp(4);
        let mut e = ring.mul(&public.a, &receiver.over(&ring));
        ring.add_assign(&mut e, &public.b);
        assert!((deviation_of(&ring, e) / GAUSSIAN_SIGMA - 1.0).abs() < 0.1);
        // Other public keys, secrets and seeds have other masks.
        let half =
            |key: &ReencryptionKey| context.ring_qp(4).to_words(&context.ring_qp(4).key_pair(&key.switch.pairs, 0)[1]);
        let again = generator(3).reencryption_for(&giver, &public, None)?;
        assert_eq!(half(&key), half(&again));
        let other = generator(4).receiver(&receiver)?;
        for other in [
            generator(3).reencryption_for(&giver, &other, None)?,
            generator(5).reencryption_for(&giver, &public, None)?,
        ] {
            assert_ne!(half(&key), half(&other));
        }
        Ok(())
    }
}
