//! Re-encryption: a ciphertext of one secret key becomes one of another, by whoever has a key for that and no secret.

use noren_math::machine::memory;

use crate::ciphertext::Ciphertext;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::keygen::KeyGenerator;
use crate::keys::{KeySwitchKey, SecretKey};
use crate::keyswitch::switch_secret;
use crate::owner::{KeyId, Owner};

/// Switches ciphertexts of a secret `s'` to a secret `s`: a [`KeySwitchKey`] from the one to the other, of the usual shape.
///
/// Its pairs are samples of ring learning with errors under s. They tell nothing of either secret to whoever has none; with s they
/// decrypt to `P g_j s'` and a small error, so that **whoever has s and this key has s' too**.
#[derive(Debug, Clone)]
pub struct ReencryptionKey {
    pub(crate) switch: KeySwitchKey,
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
        Ok(ReencryptionKey { switch: self.switching(from, to, limbs)? })
    }

    /// Refuses secrets of other parameters, and parameters whose keys cannot switch.
    pub(crate) fn check_reencryption(&self, from: &SecretKey) -> Result<()> {
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

    /// Bytes in memory.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.switch.bytes()
    }

    /// The ciphertext under the new secret: with the digits `d_j` of `c_1` and the pairs `(b_j, a_j)` of the key
    /// `(c_0 + round(sum d_j b_j / P), round(sum d_j a_j / P))`. The noise that is added has the standard deviation
    /// [`key_switch`](crate::noise::key_switch).
    ///
    /// # Errors
    /// [`Error::KeyMismatch`] for a ciphertext of another secret, [`Error::DegreeTooHigh`] for a product that is not relinearised,
    /// [`Error::KeyLevel`] for one of more limbs than the key serves, [`Error::ParameterMismatch`] for a context of other parameters,
    /// [`Error::Memory`] if there is not memory for the result.
    pub fn reencrypt(&self, context: &Context, ciphertext: &Ciphertext) -> Result<Ciphertext> {
        memory::refusing(|| switch_secret(context, ciphertext, &self.switch))?
    }
}

#[cfg(test)]
mod tests {
    use noren_math::prime::primes_below;
    use noren_math::random::Seed;
    use noren_math::sample::GAUSSIAN_SIGMA;

    use super::*;
    use crate::keygen::Digits;
    use crate::parameters::ParametersSpec;
    use crate::security::Security;

    const N: usize = 1 << 10;

    #[test]
    fn pairs_of_a_key_encrypt_multiples_of_the_old_secret_under_the_new_one() -> Result<()> {
        let primes = |bits: u32, count| primes_below(1 << bits, 2 * N as u64).take(count).collect();
        let (q, p) = (primes(40, 4), primes(48, 2));
        let spec = ParametersSpec { index: 2 * N as u32, q, p, security: Security::None, ..ParametersSpec::default() };
        let context = Context::new(spec.build()?)?;
        let generator = |at| KeyGenerator::new(&context, Seed::from_bytes([at; 32]));
        let (old, new) = (generator(1).secret(), generator(2).secret());
        let key = generator(3).reencryption(&old, &new, None)?;
        let digits = Digits::new(&*context.switching(context.parameters().shape())?, 4);
        let ring = &digits.ring;
        let zero = ring.ntt(ring.from_signed(&vec![0; N]));
        for j in 0..digits.count() {
            // b + a s - P g_j s' is the error.
            let [b, a] = ring.key_pair(&key.switch.pairs, j);
            let mut e = ring.mul(&a, &new.over(ring));
            ring.add_assign(&mut e, &b);
            ring.sub_assign(&mut e, &digits.hidden(j, zero.clone(), &zero, [&old.over(ring), &zero]));
            let coefficients = ring.to_centered_f64(&ring.intt(e));
            let deviation = (coefficients.iter().map(|x| x * x).sum::<f64>() / N as f64).sqrt();
            assert!((deviation / GAUSSIAN_SIGMA - 1.0).abs() < 0.1, "digit {j}: {deviation}");
        }
        Ok(())
    }
}
