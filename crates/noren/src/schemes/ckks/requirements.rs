//! Parameters from what a computation needs: depth, precision and slots.

use noren_ring::interrupt;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::parameters::MAX_PRIMES;
use noren_rlwe::security::{SecretDistribution, Security, max_log_qp};

use crate::schemes::ckks::encoder::{decoding_error, transform_error};
use crate::schemes::ckks::estimate::Estimate;
use crate::schemes::ckks::noise::{self, Mode};
use crate::schemes::ckks::parameters::{Parameters, ParametersSpec};
use crate::schemes::range::Range;

/// Requirements of a computation on its parameters; see [`Parameters::for_requirements`].
///
/// # Examples
/// ```
/// use noren::schemes::ckks::{Parameters, Requirements};
///
/// let requirements = Requirements { depth: 3, precision_bits: 15.0, ..Requirements::default() };
/// let parameters = Parameters::for_requirements(&requirements)?;
/// assert_eq!(parameters.max_level(), 3);
/// # Ok::<(), noren::error::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Requirements {
    /// How many multiplications follow one another.
    pub depth: usize,
    /// How many levels are left in the end: results are held by as many primes more than the first, and may be as much larger.
    pub levels_left: usize,
    /// The error of the results is at most `2^-precision_bits`.
    pub precision_bits: f64,
    /// All inputs, intermediate values and results are at most this in absolute value; so are the ranges that are known of
    /// them.
    pub max_abs: f64,
    /// How many slots are needed.
    pub slots: usize,
    /// The security of the keys.
    pub security: Security,
    /// Whether all inputs are encrypted with the secret key, with smaller errors, and not with a public key.
    pub secret_key: bool,
}

impl Default for Requirements {
    /// One multiplication of values in [-1, 1] in any number of slots to 20 bits, at 128-bit security, with a public key.
    fn default() -> Self {
        let security = Security::Bits128;
        Self { depth: 1, levels_left: 0, precision_bits: 20.0, max_abs: 1.0, slots: 1, security, secret_key: false }
    }
}

/// The sizes of rings that are tried.
pub(crate) const LOG_N: std::ops::RangeInclusive<u32> = 10..=17;
/// The most slots that a ring has.
pub(crate) const MOST_SLOTS: usize = 1 << (*LOG_N.end() - 1);
/// The sizes of scales that are tried.
pub(super) const LOG_SCALE: std::ops::RangeInclusive<u32> = 20..=50;
/// The sizes of special primes that are tried: transforms are faster for primes below 2^48, and larger ones may save a
/// digit.
const SPECIAL_BITS: [u32; 2] = [48, 50];
/// The largest size of `q_0`. The scales are tried from the smallest up, so that it passes 48 bits only where the
/// precision asks for it.
pub(super) const FIRST_BITS: u32 = 50;
/// `q_0` is larger than the largest value at the scale by this many bits at least: one for the sign, one for the error.
pub(super) const HEADROOM_BITS: u32 = 2;
/// By how much `q_0`, of which half is for the sign, holds more than the largest number that is known: errors, and primes that
/// are not powers of two.
const ROOM_MARGIN: f64 = 1.0 + 1.0 / 256.0;
/// A digit stays this many bits below the special modulus.
const MARGIN_BITS: u32 = 6;
/// The most levels: each takes a prime, and so do level 0 and key switching.
pub(super) const MOST_DEPTH: usize = MAX_PRIMES - 2;

impl Parameters {
    /// A bound on the error, in each of `slots` slots, of products of `depth` levels whose factors, intermediate results and
    /// result are at most `max_abs`, as far as is known of their ranges: the worst that `depth` multiplications can do.
    /// Additions are not counted.
    ///
    /// In units of the ranges, errors of two factors add up in their product. Ranges are at least 1 unless less is stated,
    /// and at most `max_abs`, so that nothing exceeds `max_abs` times the error of a public encryption of values in
    /// [-1, 1] that is squared `depth` times: `a z^(2^depth - 1)`, with a up to `max_abs` and z up to 1, comes near it. For a
    /// `max_abs` below 1, all factors are taken to be known to be as small.
    ///
    /// # Panics
    /// If there are fewer levels or slots.
    #[must_use]
    pub fn predicted_error(&self, depth: usize, max_abs: f64, slots: usize) -> f64 {
        self.predicted_error_from(self.max_level(), depth, max_abs, slots, false)
    }

    /// [`Parameters::predicted_error`] of encryptions with either key at this level.
    pub(crate) fn predicted_error_from(
        &self,
        level: usize,
        depth: usize,
        max_abs: f64,
        slots: usize,
        secret_key: bool,
    ) -> f64 {
        let mode = if secret_key { Mode::Symmetric } else { Mode::Public };
        assert!(depth <= level, "depth {depth} of {level} levels");
        let (slots, known) = (slots.next_power_of_two(), max_abs.min(1.0));
        let exact = Estimate::exact(Range::symmetric(known), 0).with_bias(known * transform_error(slots));
        let mut estimate = noise::fresh(self.rlwe(), mode, self.scale_at(level), exact);
        for below in (level - depth..level).rev() {
            let product = estimate.product(&estimate).with_magnitude(known);
            estimate = noise::switched_rescaled(product, self.rlwe(), self.scale_at(below), below + 2);
        }
        let error = estimate.bound(slots, self.max_slots());
        (error + decoding_error(slots) * (known + error)) * max_abs.max(1.0)
    }
}

impl Requirements {
    /// The sizes of scales that a ring has primes for, with a first prime that holds `room`.
    pub(crate) fn scales(&self, log_n: u32, room: f64) -> Vec<u32> {
        LOG_SCALE.take_while(|&bits| !self.specifications(log_n, bits, room).is_empty()).collect()
    }

    /// The parameters of a ring and a scale with the fewest digits, of equal ones the first: of whatever precision.
    ///
    /// # Errors
    /// Those of [`ParametersSpec::build`] but refusals of sizes.
    pub(crate) fn of_scale(&self, log_n: u32, log_scale: u32, room: f64) -> Result<Option<Parameters>> {
        let mut fewest: Option<Parameters> = None;
        for spec in self.specifications(log_n, log_scale, room) {
            interrupt::check();
            match spec.build() {
                Ok(found) if fewest.as_ref().is_none_or(|fewest| found.rlwe().dnum() < fewest.rlwe().dnum()) => {
                    fewest = Some(found);
                }
                // Primes of this size lie too thin, or a few bits too far from their targets.
                Ok(_) | Err(Error::Parameters { .. } | Error::Insecure { .. }) => {}
                Err(other) => return Err(other),
            }
        }
        Ok(fewest)
    }

    /// The candidates for a ring and a scale.
    fn specifications(&self, log_n: u32, log_scale: u32, room: f64) -> Vec<ParametersSpec> {
        // More levels than primes: nothing is made of such a length.
        let levels = self.depth.saturating_add(self.levels_left);
        if levels > MOST_DEPTH {
            return Vec::new();
        }
        let bits = |largest: f64| libm::log2(largest).ceil().max(0.0);
        let integer_bits = bits(self.max_abs).max(bits(room * ROOM_MARGIN) - 1.0);
        let held = self.levels_left as f64 * f64::from(log_scale);
        let first = f64::from(log_scale + HEADROOM_BITS) + (integer_bits - held).max(0.0);
        if first > f64::from(FIRST_BITS) {
            return Vec::new();
        }
        let of = |special: &u32| specification(log_n, log_scale, first as u32, levels, *special, self.security);
        SPECIAL_BITS.iter().filter_map(of).collect()
    }
}

/// The specification with the fewest digits that is secure; `None` if even one special prime is too much.
fn specification(
    log_n: u32,
    log_scale: u32,
    first: u32,
    depth: usize,
    special_bits: u32,
    security: Security,
) -> Option<ParametersSpec> {
    let secret = SecretDistribution::default();
    let most = match security {
        Security::None => f64::INFINITY,
        _ => max_log_qp(1 << log_n, secret, security)?,
    };
    let log_q = first as usize + depth * log_scale as usize;
    let one_digit = (log_q + MARGIN_BITS as usize).div_ceil(special_bits as usize);
    let fits = |special: &usize| (log_q + special * special_bits as usize) as f64 <= most;
    let special = (1..=one_digit).rev().find(fits)?;
    let log_q = std::iter::once(first).chain(std::iter::repeat_n(log_scale, depth)).collect();
    let log_p = vec![special_bits; special];
    Some(ParametersSpec { log_n, log_q, log_p, log_scale, secret, security, ..ParametersSpec::default() })
}
