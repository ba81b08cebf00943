//! Parameters from the operations that are wanted.

use noren_rlwe::error::{Error, Result};
use noren_rlwe::security::{SecretDistribution, Security, max_log_qp};

use crate::schemes::integers::noise::{Mode, Noise};
use crate::schemes::integers::parameters::{Parameters, ParametersSpec};
use crate::schemes::integers::scheme::{Scheme, product};

/// Requirements on parameters; [`Requirements::choose`] finds parameters.
///
/// # Examples
/// ```
/// use noren::bfv::{Bfv, Requirements};
///
/// let parameters = Requirements { depth: 2, plaintext_modulus: 65537, ..Requirements::default() }.choose::<Bfv>()?;
/// assert!(parameters.has_slots() && parameters.rlwe().log_qp() <= 430.0);
/// # Ok::<(), noren::error::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirements {
    /// How many multiplications of ciphertexts follow one another.
    pub depth: usize,
    /// The plaintext modulus.
    pub plaintext_modulus: u64,
    /// How many slots or coefficients are needed at least.
    pub slots: usize,
    /// How many ciphertexts, or rotations of one, are added up before each multiplication.
    pub terms: usize,
    /// How many are added up in the end.
    pub sum: usize,
    /// How many products with plaintexts follow one another besides, one before each multiplication as far as they go.
    pub plain_products: usize,
    /// The security of the keys.
    pub security: Security,
}

impl Default for Requirements {
    /// One multiplication modulo 65537, at 128-bit security.
    fn default() -> Self {
        let security = Security::Bits128;
        Self { depth: 1, plaintext_modulus: 65537, slots: 1, terms: 1, sum: 1, plain_products: 0, security }
    }
}

/// The sizes of rings that are tried.
const LOG_N: std::ops::RangeInclusive<u32> = 10..=17;
/// The sizes of the primes that are tried.
const PRIME_BITS: std::ops::RangeInclusive<u32> = 24..=50;
/// The size of special primes: transforms are faster below 2^48.
const SPECIAL_BITS: u32 = 48;
/// A digit stays this many bits below the special modulus.
const MARGIN_BITS: u32 = 6;
/// The most primes that are tried.
const MOST_LIMBS: usize = 48;

impl Requirements {
    /// The smallest ring, and in it the fewest and smallest primes, that leave a noise budget after all operations at this
    /// security.
    ///
    /// Predicted is a public encryption: see [`Requirements::predicted_noise`]. The modulus has as many special primes as
    /// the security allows, for fast key switching.
    ///
    /// # Errors
    /// [`Error::Parameters`] says which requirement cannot be met.
    pub fn choose<S: Scheme>(&self) -> Result<Parameters> {
        let most = 1 << LOG_N.end();
        if self.slots > most {
            return Err(Error::parameter("slots", self.slots, format!("at most {most}")));
        }
        // Requirements that no number of primes meets.
        let probe = ParametersSpec {
            log_n: *LOG_N.start(),
            plaintext_modulus: self.plaintext_modulus,
            log_q: vec![*PRIME_BITS.end()],
            security: Security::None,
            ..ParametersSpec::default()
        };
        probe.build()?;
        for log_n in LOG_N.filter(|log_n| 1usize << log_n >= self.slots) {
            let mut best: Option<Parameters> = None;
            for bits in PRIME_BITS.rev() {
                let fewest = best.as_ref().map_or(MOST_LIMBS, Parameters::max_limbs);
                match self.fewest_primes::<S>(log_n, bits, fewest)? {
                    Some(parameters) => best = Some(parameters),
                    None if best.is_some() => break,
                    None => {}
                }
            }
            if let Some(parameters) = best {
                return Ok(parameters);
            }
        }
        let wanted = format!("{} multiplications modulo {}", self.depth, self.plaintext_modulus);
        Err(Error::parameter("depth", wanted, format!("less: degree 2^{} does not carry such a modulus", LOG_N.end())))
    }

    /// The noise that a public encryption has after all operations: before each multiplication as many terms are added as
    /// asked for, all of one source, one is rotated, and it is multiplied with a plaintext as long as there are such
    /// products; then it is squared. In the end the sum is taken.
    #[must_use]
    pub fn predicted_noise<S: Scheme>(&self, parameters: &Parameters) -> Noise {
        let laws = parameters.laws();
        let mut limbs = parameters.max_limbs();
        let mut noise = laws.fresh(Mode::Public, limbs);
        let mut plain_products = self.plain_products;
        for left in (0..=self.depth).rev() {
            let terms = if left == 0 { self.sum } else { self.terms };
            noise = noise.scaled(libm::log2(terms.max(1) as f64));
            if terms > 1 {
                noise = noise.with(&laws.switches(1, limbs, limbs));
            }
            let now = if left == 0 { plain_products } else { plain_products.min(1) };
            plain_products -= now;
            for _ in 0..now {
                let modulus = parameters.modulus().log2();
                noise = noise.scaled(modulus + libm::log2(parameters.degree() as f64 / 12.0) / 2.0);
                let kept = S::limbs_to_keep(laws, &noise, limbs);
                if kept < limbs {
                    (noise, limbs) = (noise.with(&laws.rounding(kept)), kept);
                }
            }
            // Noise only grows: what is lost stays lost.
            if left == 0 || noise.log2_std() >= 0.0 {
                break;
            }
            (noise, limbs) = product::<S>(laws, &noise, &noise, limbs);
        }
        noise
    }

    /// Parameters with the fewest primes of this size, at most `most`.
    fn fewest_primes<S: Scheme>(&self, log_n: u32, bits: u32, most: usize) -> Result<Option<Parameters>> {
        for limbs in self.least_limbs(log_n, bits)..=most {
            let Some(spec) = self.specification(log_n, bits, limbs) else { return Ok(None) };
            let parameters = match spec.build() {
                Ok(parameters) => parameters,
                // Primes of this size lie too thin.
                Err(Error::Parameters { .. } | Error::Insecure { .. }) => return Ok(None),
                Err(other) => return Err(other),
            };
            if parameters.laws().budget(&self.predicted_noise::<S>(&parameters)) >= 0.0 {
                return Ok(Some(parameters));
            }
        }
        Ok(None)
    }

    /// How many primes of this size are needed at least.
    ///
    /// A product of either scheme multiplies noise by `t sqrt(n (h+1)/12)` or more, where h is 2n/3: `t n / sqrt(18)`.
    fn least_limbs(&self, log_n: u32, bits: u32) -> usize {
        let growth = libm::log2(self.plaintext_modulus as f64) + f64::from(log_n) - libm::log2(18.0) / 2.0;
        let log_q = self.depth as f64 * growth.max(0.0);
        ((log_q / f64::from(bits)).floor() as usize).max(1)
    }

    /// The specification with the fewest digits that is secure; `None` if even one special prime is too much.
    fn specification(&self, log_n: u32, bits: u32, limbs: usize) -> Option<ParametersSpec> {
        let secret = SecretDistribution::default();
        let most = match self.security {
            Security::None => f64::INFINITY,
            _ => max_log_qp(1 << log_n, secret, self.security)?,
        };
        let log_q = limbs as u32 * bits;
        let one_digit = (log_q + MARGIN_BITS).div_ceil(SPECIAL_BITS);
        let special = (1..=one_digit).rev().find(|special| f64::from(log_q + special * SPECIAL_BITS) <= most)?;
        Some(ParametersSpec {
            log_n,
            plaintext_modulus: self.plaintext_modulus,
            log_q: vec![bits; limbs],
            log_p: vec![SPECIAL_BITS; special as usize],
            secret,
            security: self.security,
            ..ParametersSpec::default()
        })
    }
}
