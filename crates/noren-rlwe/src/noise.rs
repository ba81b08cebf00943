//! Noise: predicted without the key, measured with it.
//!
//! All values are standard deviations of one coefficient, in units of the coefficients: not divided by a scale. In a ring
//! whose index is not a power of two they are those of the values at the roots of unity, divided by `sqrt(n)`: a
//! coefficient may be larger by the root of [`growth`](noren_math::powerful::PowerfulBasis::growth).

use std::ops::Range;

use noren_math::sample::GAUSSIAN_SIGMA;

use crate::ciphertext::{Ciphertext, Plaintext};
use crate::context::Context;
use crate::decrypt::decrypt;
use crate::error::{Error, Result};
use crate::keys::SecretKey;
use crate::parameters::Parameters;
use crate::security::SecretDistribution;
use crate::shape::KeyShape;

/// The variance of a coefficient that is uniform in {-1, 0, 1}.
const TERNARY_VARIANCE: f64 = 2.0 / 3.0;
/// The variance of rounding to integers: uniform on an interval of length 1.
const ROUNDING_VARIANCE: f64 = 1.0 / 12.0;

/// The noise of a fresh error: `sigma`, and of one of m coefficients that is reduced modulo `Phi_m` `sigma sqrt(m/n)`.
#[must_use]
pub fn error(parameters: &Parameters) -> f64 {
    let ring = parameters.index();
    if ring.is_power_of_two() {
        return GAUSSIAN_SIGMA;
    }
    GAUSSIAN_SIGMA * (f64::from(ring.index()) / ring.degree() as f64).sqrt()
}

/// The noise of a fresh encryption with the public key: `sigma sqrt(2n/3 k + 1 + |s|^2)` for a secret of k
/// [parties](SecretDistribution::parties).
///
/// From `e v + e_0 + e_1 s`, with v ternary, e the sum of the errors of all parties, and `|s|^2` the expected square norm of the secret.
#[must_use]
pub fn fresh_public(parameters: &Parameters) -> f64 {
    let mask = TERNARY_VARIANCE * parameters.degree() as f64 * parties(parameters);
    error(parameters) * (mask + 1.0 + secret_square_norm(parameters)).sqrt()
}

/// The noise of a fresh encryption with the secret key: `sigma = 3.19`.
#[must_use]
pub fn fresh_symmetric(parameters: &Parameters) -> f64 {
    error(parameters)
}

/// The noise that one rescaling or modulus switch adds by rounding two parts: `sqrt((|s|^2 + 1)/12)`.
#[must_use]
pub fn rounding(parameters: &Parameters) -> f64 {
    ((secret_square_norm(parameters) + 1.0) * ROUNDING_VARIANCE).sqrt()
}

/// The noise that one key switch of a ciphertext of `limbs` limbs adds, its rounding included.
///
/// The digits `d_j`, uniform in `(-D_j/2, D_j/2)`, meet the errors of the key, and the sum is divided by P:
/// `sqrt(sum_j n D_j^2/12 k sigma^2/P^2 + (|s|^2 + 1)/12)`, with `D_j` the product of the primes that digit j has among
/// the limbs, and k the [parties](SecretDistribution::parties) of the secret. Of a relinearisation key the first part is larger:
/// [`relinearization_growth`].
///
/// # Panics
/// If there are no special primes, or fewer limbs.
#[must_use]
pub fn key_switch(parameters: &Parameters, limbs: usize) -> f64 {
    key_switch_sum(parameters, limbs, 1)
}

/// [`key_switch`] with a key of this shape.
///
/// # Errors
/// [`Error::Parameters`] if the parameters have no keys of this shape.
pub fn key_switch_shaped(parameters: &Parameters, limbs: usize, shape: KeyShape) -> Result<f64> {
    let digits = parameters.gadget_of(shape)?.digits_at(limbs).into_iter();
    Ok((products_variance(parameters, digits, parameters.log_p_of(shape)) + rounding(parameters).powi(2)).sqrt())
}

/// The noise that a sum of key switches with one division adds: see [`key_switch`], of which only the part
/// before the rounding counts several times.
///
/// # Panics
/// As [`key_switch`].
#[must_use]
pub fn key_switch_sum(parameters: &Parameters, limbs: usize, terms: usize) -> f64 {
    (terms as f64 * digit_variance(parameters, limbs) + rounding(parameters).powi(2)).sqrt()
}

/// The noise that [`relinearize_rescale`](crate::multiply::relinearize_rescale) adds to a ciphertext of `limbs` limbs,
/// after its division by the last of them.
///
/// # Panics
/// As [`key_switch`].
#[must_use]
pub fn key_switch_rescale(parameters: &Parameters, limbs: usize) -> f64 {
    let dropped = parameters.q()[limbs - 1] as f64;
    let digits = relinearization_growth(parameters) * digit_variance(parameters, limbs);
    (digits / (dropped * dropped) + rounding(parameters).powi(2)).sqrt()
}

/// By what the variance of the errors of a relinearisation key is larger than that of other keys: 1 for one owner, `4 n k/3 + 2` for k
/// parties.
///
/// The parties make the key in two rounds, the second of which multiplies errors of the first by secrets: its error is
/// `s e + u e' + e''`, with s and u the sums of k ternary polynomials, and e, e' and e'' those of k errors (Mouchet et al., eprint
/// 2020/304, protocol 2; e'' are two errors a party there).
#[must_use]
pub fn relinearization_growth(parameters: &Parameters) -> f64 {
    match parties(parameters) {
        1.0 => 1.0,
        parties => 2.0 * TERNARY_VARIANCE * parameters.degree() as f64 * parties + 2.0,
    }
}

/// By what the variance of the errors of a re-encryption key under a public key is larger than that of a key from two secrets:
/// `2n/3 + (1 + |z|^2)/k` for a receiver's secret z of k parties.
///
/// Its errors are those of encryptions with the public key: `e r + e' + e'' z`, see [`fresh_public`].
#[must_use]
pub fn public_switch_growth(parameters: &Parameters) -> f64 {
    let ratio = fresh_public(parameters) / error(parameters);
    ratio * ratio / parties(parameters)
}

/// The noise that one switch with a re-encryption key under a public key adds: [`key_switch`] with errors that are larger by
/// [`public_switch_growth`].
///
/// # Panics
/// As [`key_switch`].
#[must_use]
pub fn public_key_switch(parameters: &Parameters, limbs: usize) -> f64 {
    (public_switch_growth(parameters) * digit_variance(parameters, limbs) + rounding(parameters).powi(2)).sqrt()
}

fn parties(parameters: &Parameters) -> f64 {
    parameters.secret().parties() as f64
}

/// The noise that [`mod_raise_switch`](crate::raise::mod_raise_switch) adds to a ciphertext of `from` limbs that it raises
/// to `limbs` with a key of this shape: `sqrt(d n Q'^2/12 sigma^2/P^2 + (|s|^2 + 1)/12)`, with d the number of the key's digits, and Q' the product
/// of the first `from` primes.
///
/// # Errors
/// [`Error::Parameters`] if the parameters have no keys of this shape.
pub fn raise_switch(parameters: &Parameters, from: usize, limbs: usize, shape: KeyShape) -> Result<f64> {
    let digits = parameters.gadget_of(shape)?.digits_at(limbs).into_iter().map(|_| 0..from);
    Ok((products_variance(parameters, digits, parameters.log_p_of(shape)) + rounding(parameters).powi(2)).sqrt())
}

/// The expected square norm `|s|^2` of a secret: how many nonzero coefficients a ternary one has.
#[must_use]
pub fn secret_square_norm(parameters: &Parameters) -> f64 {
    let n = parameters.degree() as f64;
    match parameters.secret() {
        SecretDistribution::Ternary => TERNARY_VARIANCE * n,
        SecretDistribution::SparseTernary(weight) => weight as f64,
        SecretDistribution::Gaussian => GAUSSIAN_SIGMA * GAUSSIAN_SIGMA * n,
        SecretDistribution::Joint(parties) => TERNARY_VARIANCE * n * parties as f64,
    }
}

/// The distance of a decryption from the expected one, in units of the coefficients.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// The root of the mean square over all coefficients.
    pub std: f64,
    /// The largest absolute value.
    pub max: f64,
}

/// Measures the noise of a ciphertext, for tests and diagnosis.
///
/// Measured noise is a function of the secret: given to others, it helps to recover the key. It is never serialised and
/// has no place in a server.
///
/// # Errors
/// As [`decrypt`], and [`Error::LevelMismatch`] if the expected plaintext has fewer limbs than the ciphertext.
pub fn measure(
    context: &Context,
    secret: &SecretKey,
    ciphertext: &Ciphertext,
    expected: &Plaintext,
) -> Result<Measured> {
    if expected.limbs() < ciphertext.limbs() {
        return Err(Error::LevelMismatch { left: ciphertext.level(), right: expected.level() });
    }
    let ring = context.ring_q(ciphertext.limbs());
    let mut noise = decrypt(context, secret, ciphertext)?.poly;
    ring.sub_assign(&mut noise, &ring.restrict(&expected.poly));
    let coefficients = ring.to_centered_f64(&ring.intt(noise));
    let squares: f64 = coefficients.iter().map(|x| x * x).sum();
    let max = coefficients.iter().fold(0.0, |max: f64, x| max.max(x.abs()));
    Ok(Measured { std: (squares / coefficients.len() as f64).sqrt(), max })
}

/// The variance of the digits times the errors of the key, after the division by P.
fn digit_variance(parameters: &Parameters, limbs: usize) -> f64 {
    let Some(gadget) = parameters.gadget() else { panic!("key switching without special primes") };
    products_variance(parameters, gadget.digits_at(limbs).into_iter(), parameters.log_p())
}

/// The variance of digits, each uniform modulo the product D of some primes, times the errors of a key, after the division
/// by P: `n sigma^2/12 sum D^2/P^2`.
fn products_variance(parameters: &Parameters, digits: impl Iterator<Item = Range<usize>>, log_p: f64) -> f64 {
    let n = parameters.degree() as f64;
    let ratio_squared = |digit: Range<usize>| {
        // Divided one by one: neither D^2 nor P^2 need fit a double.
        let bits: f64 = digit.map(|i| libm::log2(parameters.q()[i] as f64)).sum();
        libm::exp2(2.0 * (bits - log_p))
    };
    let digits: f64 = digits.map(ratio_squared).sum();
    n * ROUNDING_VARIANCE * error(parameters) * error(parameters) * parties(parameters) * digits
}
