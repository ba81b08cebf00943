//! The errors that operations add, in units of the message.

use noren_math::sample::GAUSSIAN_SIGMA;
use noren_rlwe::error::Result;
use noren_rlwe::noise;
use noren_rlwe::parameters::Parameters;
use noren_rlwe::shape::KeyShape;

use crate::schemes::ckks::estimate::{Estimate, Nature};
use crate::schemes::ckks::scale::Scale;

/// Domain separators of the sources of one operation.
const FIRST: u64 = 1;
const SECOND: u64 = 2;
const THIRD: u64 = 3;

/// The variance of rounding to integers.
const ROUNDING_VARIANCE: f64 = 1.0 / 12.0;

/// How an encryption is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Public,
    Symmetric,
}

/// Adds the rounding of a message to integers, and the error of a fresh encryption.
///
/// With the public key the error is `e v + e_0 + e_1 s`: the first product follows the error of the key, the last the
/// secret.
pub(crate) fn fresh(parameters: &Parameters, mode: Mode, scale: &Scale, encoded: Estimate) -> Estimate {
    let slot = slot_factor(parameters, scale);
    let error = GAUSSIAN_SIGMA * GAUSSIAN_SIGMA;
    let estimate = encoded.with_source(Nature::Plain, slot * (error + ROUNDING_VARIANCE), FIRST);
    match mode {
        Mode::Symmetric => estimate,
        Mode::Public => {
            let secret = error * noise::secret_square_norm(parameters);
            let total = square(noise::fresh_public(parameters));
            estimate.with_source(Nature::Secret, slot * secret, SECOND).with_source(
                Nature::PublicKey,
                slot * (total - secret - error),
                THIRD,
            )
        }
    }
}

/// Adds the rounding of one rescaling; `scale` is that of the result.
pub(crate) fn rescaled(estimate: Estimate, parameters: &Parameters, scale: &Scale) -> Estimate {
    let slot = slot_factor(parameters, scale);
    rounded(estimate, parameters, slot)
}

/// Adds the error of `terms` key switches at `limbs` limbs with one division by the special modulus.
pub(crate) fn switched(
    estimate: Estimate,
    parameters: &Parameters,
    scale: &Scale,
    limbs: usize,
    terms: usize,
) -> Estimate {
    with_switch(estimate, parameters, scale, noise::key_switch_sum(parameters, limbs, terms), 1.0)
}

/// Adds the error of one switch at `limbs` limbs with a re-encryption key under a public key.
pub(crate) fn switched_for(estimate: Estimate, parameters: &Parameters, scale: &Scale, limbs: usize) -> Estimate {
    let (noise, growth) = (noise::key_switch(parameters, limbs), noise::public_switch_growth(parameters));
    with_switch(estimate, parameters, scale, noise, growth)
}

/// Adds the error of one relinearisation at `limbs` limbs.
pub(crate) fn relinearized(estimate: Estimate, parameters: &Parameters, scale: &Scale, limbs: usize) -> Estimate {
    let (noise, growth) = (noise::key_switch(parameters, limbs), noise::relinearization_growth(parameters));
    with_switch(estimate, parameters, scale, noise, growth)
}

/// Adds the error of one relinearisation at `limbs` limbs, divided by the special modulus and the last prime at once;
/// `scale` is that of the result.
pub(crate) fn switched_rescaled(estimate: Estimate, parameters: &Parameters, scale: &Scale, limbs: usize) -> Estimate {
    with_switch(estimate, parameters, scale, noise::key_switch_rescale(parameters, limbs), 1.0)
}

/// Adds the error of a key switch of this noise, whose part before the rounding has a variance that is larger by a factor.
fn with_switch(estimate: Estimate, parameters: &Parameters, scale: &Scale, noise: f64, growth: f64) -> Estimate {
    let slot = slot_factor(parameters, scale);
    let digits = (square(noise) - square(noise::rounding(parameters))).max(0.0) * growth;
    rounded(estimate.with_source(Nature::Secret, slot * digits, THIRD), parameters, slot)
}

/// Adds the error of a key switch at `limbs` limbs, with a key of this shape, that is not divided by the special modulus
/// yet.
///
/// # Errors
/// As [`noise::key_switch_shaped`].
pub(crate) fn undivided(
    estimate: Estimate,
    parameters: &Parameters,
    scale: &Scale,
    limbs: usize,
    shape: KeyShape,
) -> Result<Estimate> {
    let rounding = square(noise::rounding(parameters));
    let digits = (square(noise::key_switch_shaped(parameters, limbs, shape)?) - rounding).max(0.0);
    Ok(estimate.with_source(Nature::Secret, slot_factor(parameters, scale) * digits, THIRD))
}

/// Adds the rounding of the second part alone to a message that is not divided by the special modulus: `tau_1 s`.
pub(crate) fn second_part_rounded(estimate: Estimate, parameters: &Parameters, scale: &Scale) -> Estimate {
    let secret = ROUNDING_VARIANCE * noise::secret_square_norm(parameters);
    estimate.with_source(Nature::Secret, slot_factor(parameters, scale) * secret, SECOND)
}

/// `tau_0 + tau_1 s` for two parts rounded.
fn rounded(estimate: Estimate, parameters: &Parameters, slot: f64) -> Estimate {
    let secret = ROUNDING_VARIANCE * noise::secret_square_norm(parameters);
    estimate.with_source(Nature::Plain, slot * ROUNDING_VARIANCE, FIRST).with_source(
        Nature::Secret,
        slot * secret,
        SECOND,
    )
}

/// From the variance of a coefficient to that of a slot in units of the message: a slot is a sum of n coefficients
/// times roots of unity.
fn slot_factor(parameters: &Parameters, scale: &Scale) -> f64 {
    parameters.degree() as f64 / square(scale.to_f64())
}

fn square(x: f64) -> f64 {
    x * x
}
