//! Decryption by all parties that share a secret.

use noren_math::random::Seed;
use noren_ring::poly::{Eval, Poly};
use noren_rlwe::error::{Error, Result};
use noren_rlwe::joint::opening::{Opener, SecondPart, divided, share};
use noren_rlwe::owner::KeyId;
use noren_rlwe::security::SecretDistribution;

use crate::schemes::integers::context::Context;
use crate::schemes::integers::encryption::{Ciphertext, limbs_to_read, message};
use crate::schemes::integers::error::IntegerError;
use crate::schemes::integers::parameters::Parameters;
use crate::schemes::integers::plaintext::Plaintext;
use crate::schemes::integers::scheme::Scheme;

/// What is opened under a joint secret: the parties, the ciphertexts that they ever decrypt together, and how well their floods hide the
/// noise.
///
/// Each party adds noise that is uniform from `-2^b` to `2^b`, with the largest b for which all floods together leave the result right.
/// The shares of a party are within a statistical distance of `2^-distance`, over all coefficients of all results, of what follows from
/// the results alone: `n results |e| / 2^b` for noise below |e| in a ring of degree n (smudging lemma: Asharov et al., eprint 2011/613,
/// lemma 1). One honest flood suffices, so that all parties but one may work together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Opening {
    /// The parties that share the secret.
    pub parties: usize,
    /// The most ciphertexts that are opened under it.
    pub results: u64,
    /// The bits of the distance.
    pub distance: u32,
}

/// The most results, which 128-bit parameters have no room for anyway.
const MOST_RESULTS: u64 = 1 << 40;
/// The bits of the distance that are taken.
const DISTANCES: std::ops::RangeInclusive<u32> = 40..=128;
/// Floods take a quarter of what noise may be, rounded down to a power of two.
const FLOOD_BITS: f64 = 2.0;

impl Opening {
    /// The distribution of the secret.
    #[must_use]
    pub const fn secret(&self) -> SecretDistribution {
        SecretDistribution::Joint(self.parties)
    }

    /// The noise budget that a ciphertext must have left, in bits, in a ring of this degree.
    #[must_use]
    pub fn budget(&self, degree: usize) -> f64 {
        self.hidden(degree) + libm::log2(self.parties as f64) + FLOOD_BITS
    }

    /// The bits of the flood of each party for a ciphertext, and the limbs of its shares.
    ///
    /// # Errors
    /// [`IntegerError::NoiseExhausted`] if the ciphertext has too much noise to be hidden; parameters of other parties, or in which
    /// nothing is opened.
    pub fn flood<S: Scheme>(&self, ciphertext: &Ciphertext<S>) -> Result<(u32, usize)> {
        self.flood_of(ciphertext.parameters(), ciphertext.noise_budget(), ciphertext.limbs())
    }

    /// As [`Opening::flood`], for a ciphertext with this noise budget and limbs.
    pub(crate) fn flood_of(&self, parameters: &Parameters, noise_budget: f64, limbs: usize) -> Result<(u32, usize)> {
        self.check()?;
        self.check_parameters(parameters)?;
        let missing = self.budget(parameters.degree()) - noise_budget;
        if missing.is_nan() || missing > 0.0 {
            return Err(IntegerError::NoiseExhausted { what: "a joint decryption", missing }.into());
        }
        let room = parameters.laws().log2_q(limbs) - parameters.modulus().log2();
        let bits = libm::floor(room - FLOOD_BITS - libm::log2(self.parties as f64)) as u32;
        Ok((bits, limbs_to_read(parameters, limbs, self.parties + 1)))
    }

    /// The share of a party in the decryption of a ciphertext with this second part and noise budget: the same one whenever it is asked
    /// for.
    ///
    /// # Errors
    /// As [`Opening::flood`]; ciphertexts of another secret, or whose second part is zero.
    pub(crate) fn share(
        &self,
        context: &Context,
        opener: &Opener<'_>,
        session: (KeyId, &Seed),
        (part, noise_budget): (&SecondPart, f64),
    ) -> Result<Poly<Eval>> {
        let flood = self.flood_of(context.parameters(), noise_budget, part.poly().limbs())?;
        share(context.rlwe(), opener, session, part, flood)
    }

    /// The message of a ciphertext, from the shares of all parties that open it: as many as there are, or fewer.
    ///
    /// # Errors
    /// As [`Opening::flood`]; shares with other limbs.
    pub(crate) fn message<S: Scheme>(
        &self,
        context: &Context,
        ciphertext: &Ciphertext<S>,
        shares: &[&Poly<Eval>],
    ) -> Result<Plaintext> {
        let (_, kept) = self.flood(ciphertext)?;
        if let Some(other) = shares.iter().find(|share| share.limbs() != kept) {
            return Err(Error::parameter("limbs of a share", other.limbs(), kept));
        }
        let ring = context.rlwe().ring_q(kept);
        let first = ciphertext.rlwe().parts()[0].clone();
        let mut phase = divided(context.rlwe(), first, ciphertext.limbs(), kept);
        shares.iter().for_each(|share| ring.add_assign(&mut phase, share));
        Ok(message(context, &phase, ciphertext))
    }

    /// Refuses what cannot be planned.
    ///
    /// # Errors
    /// [`Error::Parameters`] names what is outside of its range.
    pub(crate) fn check(&self) -> Result<()> {
        let most = SecretDistribution::MAX_PARTIES;
        if !(2..=most).contains(&self.parties) {
            return Err(Error::parameter("parties", self.parties, format!("2 to {most}")));
        }
        if !(1..=MOST_RESULTS).contains(&self.results) {
            return Err(Error::parameter("results", self.results, format!("1 to {MOST_RESULTS}")));
        }
        if !DISTANCES.contains(&self.distance) {
            let needed = format!("{} to {} bits", DISTANCES.start(), DISTANCES.end());
            return Err(Error::parameter("distance", self.distance, needed));
        }
        Ok(())
    }

    /// Refuses parameters that are not those of this secret.
    ///
    /// # Errors
    /// [`Error::Parameters`].
    pub(crate) fn check_parameters(&self, parameters: &Parameters) -> Result<()> {
        let (found, needed) = (parameters.rlwe().secret(), self.secret());
        if found != needed {
            return Err(Error::parameter("secret", found, needed));
        }
        if parameters.rlwe().index().is_power_of_two() {
            return Ok(());
        }
        Err(Error::parameter("ring", "an index that is no power of two", "a power of two, in which floods are uniform"))
    }

    /// The bits between the noise of a ciphertext and a flood.
    fn hidden(&self, degree: usize) -> f64 {
        f64::from(self.distance) + libm::log2(degree as f64) + libm::log2(self.results as f64)
    }
}
