//! How precise results will be, before any key exists.

use std::f64::consts::{PI, SQRT_2, TAU};

use noren_math::sample::GAUSSIAN_SIGMA;
use noren_rlwe::security::SecretDistribution;

use crate::bootstrapping::parameters::Parameters;

/// What the largest error in the slots of a complex message of size 1 is expected to be. A model, right to about a bit.
///
/// It counts the systematic error and the rounding of divisions, `r^2 = N (1 + |s|^2) / 12` in a slot over the scale, where
/// most of the noise arises:
///
/// - in u, at the scale of the modular reduction, which `K rho` multiplies: the last matrix and a conjugation, together
///   `5 r^2` for both parts;
/// - in the exponentials, at their scales: every squaring doubles what came before, and the series multiplies it by its slope
///   `rho |b| (2 + |c|) / 2 pi` at most;
/// - at the end, at the scale of results: of the series and of a conjugation, `5 r^2`. A second iteration leaves this alone,
///   and the rounding of the way down.
///
/// Noise differs between the copies of a message in the ring, and its mean counts. Errors are products of two Gaussian
/// numbers, an error and the secret, in every slot: larger than x deviations with the probability `sqrt(pi x) exp(-2 x)`.
pub(super) fn expected_error(parameters: &Parameters) -> f64 {
    let spec = parameters.spec();
    let degree = parameters.degree() as f64;
    let secret = match spec.secret {
        SecretDistribution::Ternary => degree * 2.0 / 3.0,
        SecretDistribution::SparseTernary(weight) => weight as f64,
        SecretDistribution::Gaussian => degree * GAUSSIAN_SIGMA * GAUSSIAN_SIGMA,
    };
    let rounding = |log_scale: f64| degree * (1.0 + secret) / 12.0 * libm::exp2(-2.0 * log_scale);
    let application = f64::from(spec.application.bits);
    let worst = deviations(parameters.slots()) / (parameters.gap() as f64).sqrt();
    if spec.iterations > 1 {
        return worst * (6.0 * rounding(application)).sqrt();
    }
    let (series, exponential) = (parameters.series(), parameters.exponential());
    let stretch = exponential.half_width() * series.ratio();
    let u = 5.0 * rounding(f64::from(spec.eval_mod.bits)) * stretch * stretch;
    let slope = series.ratio() * series.double().abs() * (2.0 + series.shift().abs()) / TAU;
    let scales = parameters.exponential_scales(application);
    let doublings = spec.eval_mod.doublings;
    let squared = scales.iter().zip((0..=doublings).rev()).map(|(&scale, left)| {
        let doubled = libm::exp2(f64::from(left));
        doubled * doubled * rounding(scale)
    });
    let variance = u + slope * slope * squared.sum::<f64>() + 5.0 * rounding(application);
    worst * variance.sqrt() + SQRT_2 * parameters.systematic_error()
}

/// How many deviations the largest of so many errors is: `count sqrt(pi x) exp(-2 x) = 1`.
fn deviations(count: usize) -> f64 {
    /// Each step brings x nearer by a factor of `1 / 4 x`.
    const STEPS: usize = 20;
    (0..STEPS).fold(1.0, |x, _| ((libm::log(count as f64) + libm::log(PI * x) / 2.0) / 2.0).max(1.0))
}
