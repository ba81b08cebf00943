//! The two secrets, and samples under the long one.

use noren_math::machine::aligned::AlignedVec;
use noren_math::random::{Seed, Xof};
use noren_math::torus_products::product::Grouping;
use noren_math::torus_sample;
use noren_ring::torus::lwe::Lwe;
use zeroize::Zeroizing;

use crate::error::{Error, Result};
use crate::owner::{KeyId, Owner};
use crate::streams::seed_of_messages;
use crate::torus::noise::TorusNoise;
use crate::torus::parameters::TorusParameters;

/// The short secret of n bits and the long one of kN bits, the coefficients of k polynomials. Wiped when dropped, on
/// pages that the system is asked to keep in memory and out of core dumps ([`AlignedVec::guarded`]); whoever holds it reads
/// everything.
pub struct TorusSecret {
    pub(crate) short: AlignedVec<i8>,
    pub(crate) long: AlignedVec<i8>,
    pub(crate) parameters: TorusParameters,
    pub(crate) key: KeyId,
}

impl TorusSecret {
    /// The parameters.
    #[must_use]
    pub const fn parameters(&self) -> &TorusParameters {
        &self.parameters
    }

    /// The owner of the secret.
    #[must_use]
    pub fn owner(&self) -> Owner {
        Owner { fingerprint: self.parameters.fingerprint(), key: self.key }
    }

    /// Bytes in memory.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.short.len() + self.long.len()
    }

    /// A fresh sample of dimension kN and phase `message + e`. With the [seed of the message](seed_of_messages), the mask is
    /// drawn from the stream `ciphertext` of its `derive("uniform")`, the error from its stream `error`. The seed is for this
    /// sample alone.
    #[must_use]
    pub fn encrypt(&self, seed: &Seed, message: u64) -> Lwe {
        let seed = seed_of_messages(seed, &[message]);
        let dimension = self.parameters.dimension();
        let mut words = vec![0; dimension + 1];
        fresh_mask(&seed.derive("uniform"), &mut words[..dimension]);
        let mut error = Zeroizing::new([0]);
        self.parameters.spec().glwe_noise.sample(&mut seed.xof("error"), &mut error[..]);
        let hidden = self.hidden(&words[..dimension]);
        words[dimension] = hidden.wrapping_add(message).wrapping_add(error[0]);
        Lwe::from_words(words)
    }

    /// `sum_i a_i s_i` of a mask under the long secret: what a body hides its message behind, besides an error. Nobody else may
    /// see it.
    ///
    /// # Panics
    /// If the mask has not kN words.
    #[must_use]
    pub fn hidden(&self, mask: &[u64]) -> u64 {
        inner_product(mask, &self.long)
    }

    /// The phase `b - sum_i a_i s_i` of a sample of dimension kN: message and noise.
    ///
    /// # Errors
    /// [`Error::Length`] if the sample has another dimension.
    pub fn phase(&self, sample: &Lwe) -> Result<u64> {
        let needed = self.parameters.dimension();
        if sample.dimension() != needed {
            let needed = needed.to_string();
            return Err(Error::Length { what: "dimension of the sample", found: sample.dimension(), needed });
        }
        Ok(sample.body().wrapping_sub(self.hidden(sample.mask())))
    }

    /// The phase of a short sample, in words of 32 bits.
    ///
    /// # Panics
    /// If the sample has not n + 1 words.
    #[must_use]
    pub fn short_phase(&self, sample: &[u32]) -> u32 {
        let (mask, body) = sample.split_at(sample.len() - 1);
        body[0].wrapping_sub(short_inner_product(mask, &self.short))
    }

    /// The bits of the short secret.
    #[must_use]
    pub fn short_bits(&self) -> &[i8] {
        &self.short
    }

    /// The long secret, and the noise of samples under it.
    pub(crate) fn polynomials(&self) -> (&[i8], TorusNoise) {
        (&self.long, self.parameters.spec().glwe_noise)
    }

    /// The message of GGSW sample number `matrix` of a step of blind rotation: its bit, or of a pair the first one, the second
    /// one, or their product.
    pub(crate) fn rotated_bit(&self, step: usize, matrix: usize) -> i8 {
        match (self.parameters.rotation().grouping, matrix) {
            (Grouping::Single, _) => self.short[step],
            (Grouping::Pair, 2) => self.short[2 * step] & self.short[2 * step + 1],
            (Grouping::Pair, matrix) => self.short[2 * step + matrix],
        }
    }

    /// The coefficients of the polynomials of the long secret.
    #[must_use]
    pub fn long_bits(&self) -> &[i8] {
        &self.long
    }
}

/// The mask of a fresh sample, from its public seed.
pub fn fresh_mask(seed: &Seed, out: &mut [u64]) {
    seed.xof("ciphertext").fill_u64(out);
}

/// Independent uniform bits, not all of them zero: such a draw, as likely as a guess of the whole secret, is repeated.
pub(crate) fn secret_bits(mut xof: Xof, count: usize) -> AlignedVec<i8> {
    let mut bits = Zeroizing::new(vec![0; count]);
    loop {
        torus_sample::binary(&mut xof, &mut bits);
        if !is_zero(&bits) {
            return AlignedVec::guarded(&bits);
        }
    }
}

/// Whether all bits are zero: all of them are looked at, whatever they are.
pub(crate) fn is_zero(bits: &[i8]) -> bool {
    bits.iter().fold(0, |any, bit| any | bit) == 0
}

/// `sum_i a_i s_i` over words of 32 bits.
pub(crate) fn short_inner_product(mask: &[u32], bits: &[i8]) -> u32 {
    assert_eq!(mask.len(), bits.len(), "a word for each bit");
    // A bit as all bits of a word: no product is needed.
    mask.iter().zip(bits).fold(0, |sum: u32, (a, &s)| sum.wrapping_add(a & (s as u32).wrapping_neg()))
}

fn inner_product(mask: &[u64], bits: &[i8]) -> u64 {
    assert_eq!(mask.len(), bits.len(), "a word for each bit");
    mask.iter().zip(bits).fold(0, |sum: u64, (a, &s)| sum.wrapping_add(a.wrapping_mul(s as u64)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_secret_is_drawn_that_is_zero() {
        for seed in 0..100u8 {
            for count in 1..4 {
                assert!(
                    !is_zero(&secret_bits(Seed::from_bytes([seed; 32]).xof("secret"), count)),
                    "{count} bits, seed {seed}"
                );
            }
        }
    }
}
