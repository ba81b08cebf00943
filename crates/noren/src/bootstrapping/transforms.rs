//! Both transforms on ciphertexts, and the errors of a message that they make.
//!
//! A matrix of m layers has `2^m` entries of one absolute value in each row, and is a multiple of a unitary one. What a
//! matrix adds to its slots therefore reaches a number at the end as the mean, up to signs, of as many slots as the layers
//! between them join: a block of them. Two things follow, which no bound on a single slot shows:
//!
//! - random errors of one size add as squares, and what their size depends on in a slot is averaged over the block;
//! - the rounding `e_k` of a diagonal is multiplied by the slots that the diagonal meets. With the D diagonals of the
//!   matrix, `sum_k e_k x_k` over the block has a variance of D times the mean of `|x|^2` over all slots that are met.
//!   That mean takes the place of the largest slot.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use noren_rlwe::error::Result;

use crate::bootstrapping::matrix::{Matrix, Place};
use crate::bootstrapping::parameters::Parameters;
use crate::schemes::ckks::{Ciphertext, Estimate, Evaluator, Scale};
use crate::schemes::range::Range;
use crate::schemes::slots::SlotEvaluator;

/// `-log2` of the probability that a mean of raised slots is larger than its bound, in a matrix.
const FAILURE_BITS: f64 = 43.0;

/// How many last matrices at other scales than the usual one are kept: programs lead to the same few scales again and again.
const KEPT: usize = 4;

/// The encoded matrices of slot to coefficient.
pub(super) struct SlotToCoeff {
    places: Vec<Place>,
    matrices: Vec<Matrix>,
    /// The last matrix at other scales, the latest last.
    kept: Mutex<VecDeque<Arc<Matrix>>>,
}

impl SlotToCoeff {
    pub(super) fn new(places: Vec<Place>, matrices: Vec<Matrix>) -> Self {
        Self { places, matrices, kept: Mutex::default() }
    }

    /// The scale of the last matrix, by which messages of size 1 come to the usual scale of coefficients.
    pub(super) fn last_scale(&self) -> &Scale {
        self.matrices.last().expect("a transform has a matrix").scale()
    }

    /// Slots U z from slots z, whose error is not looked at, with the last matrix at this scale, for which `encode` makes it
    /// where it is not the usual one. The estimate of the result is of the error that all this makes of *the message*, which
    /// is in the coefficients: behind `U^-1`, as if that were exact.
    ///
    /// After l layers the slots have `2^l` times their mean square, in every block. The block of a matrix is that of its own
    /// layers and those before.
    ///
    /// # Errors
    /// As `encode`, and those of [`Evaluator::sum_giant_steps`].
    pub(super) fn apply(
        &self,
        evaluator: &Evaluator,
        x: Ciphertext,
        scale: &Scale,
        encode: impl Fn(Place) -> Result<Matrix>,
    ) -> Result<Ciphertext> {
        let (magnitude, slots) = (x.magnitude(), x.slots());
        let mut x = x;
        let mut errors = Vec::with_capacity(self.matrices.len());
        for (i, (matrix, place)) in self.matrices.iter().zip(&self.places).enumerate() {
            let before = magnitude * libm::exp2(0.5 * f64::from(place.below));
            let exact = x.estimated(|x| Estimate::exact(Range::disc(before), x.tag()));
            let last = i + 1 == self.matrices.len();
            let product = match last && scale != matrix.scale() {
                true => self.at_scale(scale, || encode(*place))?.apply(evaluator, &exact)?,
                false => matrix.apply(evaluator, &exact)?,
            };
            let (next, error) = evaluator.split_error(product);
            errors.push(error.averaged(1 << (place.below + place.group.layers), 1, slots));
            x = next;
        }
        let x = x.estimated(|x| Estimate::exact(Range::disc(magnitude), x.tag()));
        let errors: Vec<_> = errors.iter().map(|error| (error, 1.0)).collect();
        Ok(evaluator.with_errors(x, &errors, 0.0))
    }

    /// The last matrix at this scale.
    fn at_scale(&self, scale: &Scale, encode: impl FnOnce() -> Result<Matrix>) -> Result<Arc<Matrix>> {
        let kept = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(matrix) = kept().iter().find(|matrix| matrix.scale() == scale) {
            return Ok(matrix.clone());
        }
        let matrix = Arc::new(encode()?);
        let mut kept = kept();
        if kept.len() == KEPT {
            kept.pop_front();
        }
        kept.push_back(matrix.clone());
        Ok(matrix)
    }
}

/// The encoded matrices of coefficient to slot.
pub(super) struct CoeffToSlot {
    matrices: Vec<(Place, Matrix)>,
    /// For each matrix the root of the mean square of slots that it meets, in deviations of raised slots.
    met: Vec<f64>,
}

impl CoeffToSlot {
    pub(super) fn new(parameters: &Parameters, places: Vec<Place>, matrices: Vec<Matrix>) -> Self {
        let slots = parameters.slots();
        let layers = |place: &Place| slots.ilog2() - place.below - place.group.layers;
        // Blocks of slots, one for each diagonal, that do not meet: the diagonals are as far apart as the block is long.
        let met = |place: &Place| {
            let count = place.group.offsets(slots, place.below).len() << place.below;
            (mean_square(count, slots) * libm::exp2(-f64::from(layers(place)))).sqrt()
        };
        Self { met: places.iter().map(met).collect(), matrices: places.into_iter().zip(matrices).collect() }
    }

    /// Slots `U^-1 x`, where the slots x have this deviation, over the first matrices; the last one takes what `last` makes of
    /// them. The estimate of the result is of what arises here and of the errors of x.
    ///
    /// After l layers the slots have `2^-l` of their mean square. The block of a matrix is that of the layers behind it.
    ///
    /// # Errors
    /// As [`Evaluator::sum_giant_steps`].
    pub(super) fn apply(
        &self,
        evaluator: &Evaluator,
        x: Ciphertext,
        deviation: f64,
        last: impl Fn(Ciphertext) -> Ciphertext,
    ) -> Result<Ciphertext> {
        let (mut x, error) = evaluator.split_error(x);
        let mut error = error;
        for (i, ((place, matrix), met)) in self.matrices.iter().zip(&self.met).enumerate() {
            x = x.estimated(|x| Estimate::exact(Range::disc(deviation * met), x.tag()));
            if i + 1 == self.matrices.len() {
                x = last(x);
            }
            let (next, own) = evaluator.split_error(matrix.apply(evaluator, &x)?);
            let carried = error.averaged(1 << place.group.layers, 1 << place.below, x.slots());
            error = own.with_errors(&[(&carried, 1.0)]);
            x = next;
        }
        Ok(evaluator.with_errors(x, &[(&error, 1.0)], 0.0))
    }
}

/// The bound that the mean of `count` products of two independent exponential numbers of mean 1 exceeds in one of `slots` places but with
/// probability `2^-43`.
///
/// A raised slot is such a product, times its mean square: Gaussian for given secret, with the square of the secret in
/// that slot as its variance. After some layers slots are sums of such, with lighter tails. By Markov's inequality for the best
/// moment q: those of a product are `(q!)^2`, so that those of a sum, over `q!`, are the coefficients of the power
/// `(sum_k k! z^k)^count`.
fn mean_square(count: usize, slots: usize) -> f64 {
    /// The largest mean comes from about the square root of the count; more is not representable for small ones.
    const MOMENTS: usize = 150;
    let count = count as f64;
    let level = libm::log(slots as f64) + FAILURE_BITS * std::f64::consts::LN_2;
    // k! / count^k: moments of the mean.
    let terms: Vec<f64> =
        (1..=MOMENTS).scan(1.0, |term, k| Some(std::mem::replace(term, *term * k as f64 / count))).collect();
    let mut power = vec![1.0];
    let (mut log_factorial, mut best) = (0.0, f64::INFINITY);
    for q in 1..MOMENTS {
        let term = |k: usize| (count * k as f64 - (q - k) as f64) * terms[k] * power[q - k];
        power.push((1..=q).map(term).sum::<f64>() / q as f64);
        log_factorial += libm::log(q as f64);
        best = f64::min(best, libm::exp((libm::log(power[q]) + log_factorial + level) / q as f64));
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `P(v w > t)` for exponential v and w, by integrating `exp(-t / w - w)` over w.
    fn tail(t: f64) -> f64 {
        let step = 1e-3;
        (0..200_000).map(|i| (f64::from(i) + 0.5) * step).map(|w| (-t / w - w).exp() * step).sum()
    }

    #[test]
    fn means_of_raised_slots_are_bounded() {
        // One product: the probability is kept, and not undercut by more than the square root of what it is.
        for slots in [1, 512, 1 << 15] {
            let (bound, wanted) = (mean_square(1, slots), 2f64.powi(-43) / slots as f64);
            assert!(tail(bound) < wanted && tail(0.8 * bound) > wanted, "{slots}: {bound}");
        }
        // The larger the mean, the nearer to 1, where it would be for all.
        let bounds: Vec<f64> = (0..=15).map(|log| mean_square(1 << log, 1 << 15)).collect();
        assert!(bounds.windows(2).all(|pair| pair[1] < pair[0]) && bounds[15] > 1.0, "{bounds:?}");
        assert!(bounds[15] < 1.5, "{bounds:?}");
    }
}
