//! How precise results will be, before any key exists.

use std::f64::consts::{PI, SQRT_2, TAU};

use noren_rlwe::noise;

use crate::bootstrapping::dft::Direction;
use crate::bootstrapping::iteration::enlarged_bits;
use crate::bootstrapping::mode::Mode;
use crate::bootstrapping::parameters::{Parameters, Transform};

/// By how many bits the bound on the error of a first result is above what is expected, at most: so much less the error is
/// enlarged for the second iteration. The stages in `docs/bootstrapping.md` show it.
const LOOSE: f64 = 3.0;

/// The expected largest error in the slots of a message of size 1. A model, right to about a bit.
///
/// It counts the systematic error, and noise where most of it arises; r is the rounding of a division in a slot, at the
/// scale that is left:
///
/// - in u, which `K rho` multiplies: `4 (r^2 + e^2)` for both parts, and the switch of a conjugation. Here e is what rounding
///   the diagonals of coefficient to slot makes of raised slots: a matrix of l layers halves a square l times;
/// - in the exponentials: every squaring doubles what came before, and the series multiplies it by its slope
///   `rho |b| (2 + |c|) / 2 pi` at most;
/// - at the end, of the series `4 r^2`, and the switch of a conjugation. A second iteration leaves this alone, and the
///   rounding of the way down. Bringing both parts together rounds once more.
///
/// Noise differs between the copies of a message in the ring, and its mean counts. Errors are products of two Gaussian
/// numbers, an error and the secret, in every slot, see [`deviations`].
pub(super) fn expected_error(parameters: &Parameters, mode: Mode) -> f64 {
    noise(parameters, mode, parameters.spec().iterations) + systematic_error(parameters, mode)
}

/// The error of exact arithmetic for a message of size 1, all iterations together: of two real parts with
/// [`Parameters::systematic_error`], unless there are only real numbers. A second iteration divides it by as much as it enlarges
/// the error of the first result.
pub(super) fn systematic_error(parameters: &Parameters, mode: Mode) -> f64 {
    let once = match mode {
        Mode::Complex | Mode::Paired => SQRT_2 * parameters.systematic_error(),
        Mode::Real => parameters.systematic_error(),
    };
    if parameters.spec().iterations == 1 {
        return once;
    }
    let first = once + noise(parameters, mode, 1);
    let bits = libm::floor(-libm::log2(first) - LOOSE).clamp(0.0, f64::from(enlarged_bits(parameters)));
    once * libm::exp2(-bits)
}

/// The largest random error of a message of size 1, for `iterations` iterations.
fn noise(parameters: &Parameters, mode: Mode, iterations: usize) -> f64 {
    let spec = parameters.spec();
    let rlwe = parameters.chosen().rlwe();
    let degree = parameters.degree() as f64;
    let at = |deviation: f64, log_scale: f64| degree * deviation * deviation * libm::exp2(-2.0 * log_scale);
    let rounding = |log_scale: f64| at(noise::rounding(rlwe), log_scale);
    let switch = |level: usize, log_scale: f64| at(noise::key_switch(rlwe, level + 1), log_scale);

    let (application, reduction) = (f64::from(spec.application.bits), f64::from(spec.eval_mod.bits));
    let joint = if mode == Mode::Paired { rounding(application) } else { 0.0 };
    let end = 4.0 * rounding(application) + switch(parameters.reduced_level(), application) + joint;
    let worst = deviations(parameters.slots(), mode) / (parameters.gap() as f64).sqrt();
    if iterations > 1 {
        return worst * (end + rounding(application)).sqrt();
    }
    let (series, exponential) = (parameters.series(), parameters.exponential());
    let stretch = exponential.half_width() * series.ratio();
    let t = rounding(reduction) + encoding(parameters);
    let u = 4.0 * t + switch(parameters.slots_level(), reduction);
    let slope = series.ratio() * series.double().abs() * (2.0 + series.shift().abs()) / TAU;
    let scales = parameters.exponential_scales(application);
    let squared = scales.iter().zip((0..=spec.eval_mod.doublings).rev()).map(|(&scale, left)| {
        let doubled = libm::exp2(f64::from(left));
        doubled * doubled * rounding(scale)
    });
    let variance = u * stretch * stretch + slope * slope * squared.sum::<f64>() + end;
    worst * variance.sqrt()
}

/// The variance in a slot of the error of all diagonals of coefficient to slot.
fn encoding(parameters: &Parameters) -> f64 {
    let spec = parameters.spec();
    let Transform { bits, groups, .. } = &spec.coeff_to_slot;
    let width = 2.0 * parameters.exponential().half_width();
    let raised = 2.0 * parameters.slots() as f64 * (f64::from(spec.ephemeral_weight) + 1.0) / 12.0 / (width * width);
    // How far the scale falls in each matrix.
    let start = f64::from(spec.log_base) + libm::log2(width * parameters.gap() as f64);
    let part = (start - f64::from(spec.eval_mod.bits)) / groups.len() as f64;
    let scale = libm::exp2(2.0 * (f64::from(*bits) - part));
    let below = Direction::CoeffToSlot.below(groups);
    let matrices = groups.iter().zip(below).filter(|(group, _)| group.layers > 0).map(|(group, below)| {
        let diagonals = group.offsets(parameters.slots(), below).len() as f64;
        let others = f64::from(spec.log_slots - group.layers);
        diagonals * parameters.degree() as f64 / 12.0 / scale * raised * libm::exp2(-others)
    });
    matrices.sum()
}

/// How many deviations the largest of `count` errors is. Given the secret in a slot, exponential of mean 1 as a square, a
/// complex error is Gaussian: it is larger than x deviations with the probability `sqrt(pi x) exp(-2 x)`. Of real numbers half the
/// variance is left, in one part: `exp(-2 x)`.
fn deviations(count: usize, mode: Mode) -> f64 {
    /// Each step brings x nearer by a factor of `1 / 4 x`.
    const STEPS: usize = 20;
    let count = libm::log(count as f64);
    let factor = |x: f64| if mode == Mode::Real { 0.0 } else { libm::log(PI * x) / 2.0 };
    (0..STEPS).fold(1.0, |x, _| ((count + factor(x)) / 2.0).max(1.0))
}
