//! Noise flooding: ciphertexts that tell whoever has the secret key the message, and nothing of how it came about.

use noren_math::random::Seed;
use noren_rlwe::error::Result;
use noren_rlwe::flood::uniform;
use noren_rlwe::keys::PublicKey;
use noren_rlwe::streams::Purpose;

use crate::schemes::integers::encryption::{Ciphertext, Encryptor, check_limbs};
use crate::schemes::integers::error::IntegerError;
use crate::schemes::integers::evaluator::Evaluator;
use crate::schemes::integers::growth::State;
use crate::schemes::integers::noise::{Mode, Noise};
use crate::schemes::integers::parameters::Parameters;
use crate::schemes::integers::plaintext::Plaintext;
use crate::schemes::integers::scheme::Scheme;

/// How much noise is added to ciphertexts before they are published: uniform from `-2^b` to `2^b` in each coefficient.
///
/// Where noise is below B in absolute value, the sums of both are within a statistical distance of `n c B / 2^b` of one another for c
/// ciphertexts in a ring of degree n, whatever the noise was (smudging lemma: Asharov et al., eprint 2011/613, lemma 1).
#[derive(Debug, Clone, PartialEq)]
pub struct Flood {
    /// The bits b.
    bits: u32,
    /// The noise that is flooded, with that of an encryption of zero.
    flooded: Noise,
    limbs: usize,
}

impl Flood {
    /// The flood for `count` ciphertexts of up to this noise at `limbs` limbs, at a distance of at most `2^-distance`.
    ///
    /// # Errors
    /// [`IntegerError::NoiseExhausted`] if a ciphertext does not decrypt with it, [`Error::Parameters`](noren_rlwe::error::Error::Parameters) for no limbs or more than there
    /// are.
    pub fn new(parameters: &Parameters, noise: &Noise, limbs: usize, count: usize, distance: u32) -> Result<Self> {
        check_limbs(limbs, parameters.max_limbs())?;
        let laws = parameters.laws();
        let flooded = noise.with(&laws.fresh(Mode::Public, limbs));
        let largest = laws.log2_q(limbs) - parameters.modulus().log2() - 1.0 - laws.budget(&flooded);
        let coefficients = libm::log2(parameters.degree() as f64 * count.max(1) as f64);
        let bits = libm::ceil(largest.max(0.0) + coefficients + f64::from(distance)) as u32;
        let flood = Self { bits, flooded, limbs };
        let budget = laws.budget(&flood.noise(parameters));
        if budget >= 0.0 {
            Ok(flood)
        } else {
            Err(IntegerError::NoiseExhausted { what: "a flood", missing: -budget }.into())
        }
    }

    /// The bits of the noise that is added.
    #[must_use]
    pub const fn bits(&self) -> u32 {
        self.bits
    }

    /// The noise of flooded ciphertexts.
    #[must_use]
    pub fn noise(&self, parameters: &Parameters) -> Noise {
        self.flooded.plus(&parameters.laws().uniform(f64::from(self.bits), self.limbs))
    }
}

impl<S: Scheme> Evaluator<S> {
    /// `a` with an encryption of zero and a flood added, so that whoever has the secret key learns its message alone.
    ///
    /// The noise that the result carries is that of the flood: it tells nothing of `a` either. Whoever made the public key is taken to
    /// have made it as keys are made.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`](noren_rlwe::error::Error::KeyMismatch) for the public key of another secret, [`IntegerError::NoiseExhausted`] if `a` has more noise than the
    /// flood is for.
    pub fn flood(&self, a: &Ciphertext<S>, flood: &Flood, key: &PublicKey, seed: &Seed) -> Result<Ciphertext<S>> {
        self.check_linear(a)?;
        let parameters = self.context.parameters();
        let lowered = self.mod_switch(a, flood.limbs)?;
        let (found, most) = (lowered.noise().log2_std(), flood.flooded.log2_std());
        if found > most {
            return Err(IntegerError::NoiseExhausted { what: "noise that is flooded", missing: found - most }.into());
        }
        let seed = Purpose::Flood.seed_of(seed, &key.owner());
        let zero = Plaintext::new(parameters, vec![0; parameters.degree()], a.content());
        let encryptor = Encryptor::<S>::public(&self.context, key, seed.derive("zero"))?;
        let zero = encryptor.encrypt_at(&zero, flood.limbs)?.with_factor(a.factor());
        let mut sum = self.add(&lowered, &zero)?;
        let ring = self.ring(flood.limbs);
        let numbers = uniform(&ring, flood.bits, seed.xof("flood"));
        ring.add_assign(&mut sum.inner.parts_mut()[0], &numbers);
        let state = State { limbs: flood.limbs, factor: sum.factor(), noise: flood.noise(parameters) };
        Ok(self.result(sum.inner, state, a.content()))
    }
}

#[cfg(test)]
mod tests {
    use noren_rlwe::error::{Error, cause};
    use noren_rlwe::security::Security;

    use super::*;
    use crate::schemes::bfv::{
        Bfv, Context, Decryptor, Encoder, Encryptor as BfvEncryptor, KeyRequest, ParametersSpec,
    };

    #[test]
    fn flooded_ciphertexts_have_the_message_and_the_noise_of_the_flood() -> Result<()> {
        let spec = ParametersSpec {
            log_n: 10,
            plaintext_modulus: 12289,
            log_q: vec![45; 4],
            security: Security::None,
            ..ParametersSpec::default()
        };
        let context = Context::new(spec.build()?)?;
        let (parameters, seed) = (context.parameters(), |at| Seed::from_bytes([at; 32]));
        let keys = context.generate_keys(seed(1), &KeyRequest::default())?;
        let stranger = context.generate_keys(seed(2), &KeyRequest::default())?;
        let (encoder, decryptor) = (Encoder::new(&context), Decryptor::new(&context, &keys.secret)?);
        let evaluator = Evaluator::<Bfv>::new(&context, keys.evaluation.clone())?;
        let values: Vec<i64> = (0..1024).collect();
        let fresh = BfvEncryptor::symmetric(&context, &keys.secret, seed(3))?.encrypt(&encoder.encode(&values)?)?;
        let product = evaluator.mul_plain(&fresh, &encoder.encode(&values)?)?;
        let squares: Vec<i64> = values.iter().map(|x| x * x % 12289).collect();
        for (limbs, count, distance) in [(4, 1, 40), (3, 1000, 64), (2, 1, 30)] {
            let flood = Flood::new(parameters, product.noise(), limbs, count, distance)?;
            let flooded = evaluator.flood(&product, &flood, &keys.public, &seed(4))?;
            assert_eq!(encoder.decode(&decryptor.decrypt(&flooded)?)?, squares);
            // That of uniform numbers, in units of parts of the modulus.
            let unit = parameters.modulus().log2() - parameters.laws().log2_q(limbs);
            let uniform = unit + f64::from(flood.bits()) - libm::log2(3.0) / 2.0;
            let measured = libm::log2(decryptor.measure_noise(&flooded)?.std);
            assert!((measured - uniform).abs() < 0.1, "{measured} for {uniform}");
            assert!(measured <= flooded.noise().log2_std() + 0.1);
            // The noise of the product is smaller by what was asked for.
            let before =
                libm::log2(decryptor.measure_noise(&evaluator.mod_switch(&product, limbs.min(product.limbs()))?)?.max);
            let needed = f64::from(distance) + libm::log2(1024.0 * count as f64);
            assert!(unit + f64::from(flood.bits()) - before >= needed, "{before}");
            // What it tells of its noise does not depend on where it comes from.
            let other = evaluator.flood(&fresh, &flood, &keys.public, &seed(5));
            assert_eq!(other.map(|other| other.noise().clone()).ok(), Some(flooded.noise().clone()), "{limbs}");
            assert!(matches!(
                evaluator.flood(&product, &flood, &stranger.public, &seed(4)),
                Err(Error::KeyMismatch { .. })
            ));
        }
        let small = Flood::new(parameters, fresh.noise(), 4, 1, 40)?;
        let refused = evaluator.flood(&product, &small, &keys.public, &seed(4));
        assert!(matches!(cause(&refused), Some(IntegerError::NoiseExhausted { .. })));
        assert!(matches!(
            cause(&Flood::new(parameters, fresh.noise(), 1, 1, 64)),
            Some(IntegerError::NoiseExhausted { .. })
        ));
        Ok(())
    }
}
