//! CKKS without ciphertexts: numbers in clear with the levels, ranges and error estimates that ciphertexts would have.

use std::borrow::Borrow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use noren_math::random::{Seed, Xof};
use noren_ring::interrupt;
use noren_rlwe::error::{Error, Result};

use crate::schemes::ckks::encoder::{decoding_error, transform_error};
use crate::schemes::ckks::estimate::{Estimate, mix};
use crate::schemes::ckks::evaluator::rotations::rotated;
use crate::schemes::ckks::message::room;
use crate::schemes::ckks::model_plaintext::{ModelPlaintext, check_fits};
use crate::schemes::ckks::names;
use crate::schemes::ckks::noise::{self, Mode};
use crate::schemes::ckks::parameters::Parameters;
use crate::schemes::ckks::scale::Scale;
use crate::schemes::range::Range;
use crate::schemes::slots::{Bounds, GiantStep, Repeated, Scalar, SlotEvaluator};

/// An evaluator of vectors in clear that follows the error estimate of CKKS through every operation.
///
/// Circuits run on it as on an [`Evaluator`](crate::schemes::ckks::Evaluator) with canonical scales, and end with the bounds
/// that ciphertexts would have: precision and levels of a computation are known before any key exists. With a seed, noise
/// of the variance that each operation adds is added to the numbers too.
///
/// # Examples
/// ```
/// use noren::ckks::{NoiseModel, Parameters, Requirements};
/// use noren::schemes::slots::SlotEvaluator;
///
/// let requirements = Requirements { depth: 1, precision_bits: 20.0, ..Requirements::default() };
/// let model = NoiseModel::new(Parameters::for_requirements(&requirements)?, None);
/// let x = model.encrypt(&[0.5, -0.25], [-1.0, 1.0], 1)?;
/// let y = model.square(&x)?;
/// assert_eq!(y.values(), [0.25, 0.0625]);
/// assert!(model.error_bound(&y) < 1e-6);
/// # Ok::<(), noren::error::Error>(())
/// ```
pub struct NoiseModel {
    parameters: Parameters,
    noise: Option<Mutex<Xof>>,
    /// How many encryptions there were: each has a name of its own.
    encryptions: AtomicU64,
}

/// A vector in clear with the level and the estimate of a ciphertext.
#[derive(Debug, Clone)]
pub struct ModelVector {
    /// One for each slot, or none: operations on no values give none.
    values: Vec<f64>,
    slots: usize,
    level: usize,
    period: usize,
    estimate: Estimate,
}

/// Domain separators of the names of results.
const RENEWAL: u64 = 0x52;
const DECISION: u64 = 0x53;

/// The errors, besides the one that is predicted, that a modulus has room for.
const SLACK_OF_ERRORS: f64 = 3.0;

/// How far integers may be from scaled numbers, relative to the scale: half a unit.
const HALF: f64 = 0.5;

/// The part of a message by which a vector misses it when its scale is brought to that of a lower level.
const LEVEL_MISS: f64 = 1.0 / (1u64 << 40) as f64;

impl ModelVector {
    /// The slots.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// A bound on the errors of all slots of the ring, whatever their distribution.
    pub(crate) fn worst_error(&self) -> f64 {
        self.estimate.worst()
    }

    /// Where the message lies in every slot, as far as the ciphertext would know.
    #[must_use]
    pub fn range(&self) -> &Range {
        self.estimate.range()
    }
}

impl NoiseModel {
    /// The model of parameters without restarts of scales; with the noise of this seed, or none.
    #[must_use]
    pub fn new(parameters: Parameters, noise: Option<&Seed>) -> Self {
        let noise = noise.map(|seed| Mutex::new(seed.xof("noise-model")));
        Self { parameters, noise, encryptions: AtomicU64::new(0) }
    }

    /// The parameters.
    #[must_use]
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// An encryption of real numbers in this interval with the secret key, at a level.
    ///
    /// # Errors
    /// A number of slots that the parameters do not have, or a level.
    pub fn encrypt(&self, values: &[f64], interval: [f64; 2], level: usize) -> Result<ModelVector> {
        self.fresh(values.to_vec(), values.len(), interval, level, Mode::Symmetric)
    }

    /// An encryption of numbers in `[-1, 1]` with the public key. It has no [values](ModelVector::values), and neither has what is
    /// computed from it: circuits on large vectors are followed for their ranges and errors alone.
    ///
    /// # Errors
    /// As [`encrypt`](Self::encrypt).
    pub fn unknown(&self, slots: usize, level: usize) -> Result<ModelVector> {
        self.fresh(Vec::new(), slots, [-1.0, 1.0], level, Mode::Public)
    }

    /// An encryption of values, or of none.
    pub(crate) fn fresh(
        &self,
        values: Vec<f64>,
        slots: usize,
        interval: [f64; 2],
        level: usize,
        mode: Mode,
    ) -> Result<ModelVector> {
        if !slots.is_power_of_two() || slots > self.parameters.max_slots() {
            let needed = format!("a power of two up to {}", self.parameters.max_slots());
            return Err(Error::Length { what: "slots of a vector", found: slots, needed });
        }
        if level > self.parameters.max_level() {
            return Err(Error::LevelExhausted { needed: level, left: self.parameters.max_level() });
        }
        let range = Range::real(interval[0], interval[1]);
        let name = names::encryption(self.encryptions.fetch_add(1, Ordering::Relaxed));
        let exact = Estimate::exact(range, name).with_bias(range.magnitude() * transform_error(slots));
        let scale = self.parameters.scale_at(level);
        let estimate = noise::fresh(self.parameters.rlwe(), mode, scale, exact.clone());
        let fresh = ModelVector { values, slots, level, period: slots, estimate: exact };
        Ok(self.after(&fresh, fresh.values.clone(), level, &fresh.estimate, estimate))
    }

    /// The same vector at a higher level, as a bootstrap gives it: with errors of at most `bound` more, whose standard deviation is
    /// `deviation`.
    ///
    /// # Errors
    /// A level that the parameters do not have.
    pub fn renewed(&self, a: &ModelVector, level: usize, deviation: f64, bound: f64) -> Result<ModelVector> {
        if level > self.parameters.max_level() {
            return Err(Error::LevelExhausted { needed: level, left: self.parameters.max_level() });
        }
        let mut values = a.values.clone();
        self.disturb(&mut values, deviation);
        let estimate = a.estimate.clone().with_bias(bound).named(mix(a.estimate.tag(), RENEWAL));
        let estimate = self.in_room(estimate, level, self.parameters.scale_at(level));
        Ok(ModelVector { values, slots: a.slots, level, period: a.period, estimate })
    }

    /// The decision about a vector, in new levels: numbers of an interval, with errors of at most `bound`, whose standard deviation
    /// is `deviation`.
    ///
    /// # Errors
    /// As [`NoiseModel::renewed`].
    pub(crate) fn decided(
        &self,
        a: &ModelVector,
        (decision, [low, high]): (impl Fn(f64) -> f64, [f64; 2]),
        level: usize,
        [deviation, bound]: [f64; 2],
    ) -> Result<ModelVector> {
        let values = a.values.iter().map(|&x| decision(x)).collect();
        let estimate = Estimate::exact(Range::real(low, high), mix(a.estimate.tag(), DECISION));
        self.renewed(&ModelVector { values, estimate, ..a.clone() }, level, deviation, bound)
    }

    /// A bound on the error of every decrypted slot: see [`Ciphertext::error_bound`](crate::ckks::Ciphertext::error_bound).
    #[must_use]
    pub fn error_bound(&self, x: &ModelVector) -> f64 {
        if x.estimate.overflows() {
            return f64::INFINITY;
        }
        let error = x.estimate.bound(x.slots, self.parameters.max_slots());
        error + decoding_error(x.slots) * (x.estimate.magnitude() + error)
    }

    /// Adds normal numbers of a standard deviation, if there is noise.
    fn disturb(&self, values: &mut [f64], deviation: f64) {
        if let Some(noise) = self.noise.as_ref().filter(|_| deviation.is_finite() && deviation > 0.0) {
            let mut words = noise.lock().unwrap_or_else(PoisonError::into_inner);
            values.iter_mut().for_each(|x| *x += deviation * normal(&mut words));
        }
    }

    /// The result of an operation: `before` is the estimate without what the operation adds.
    fn after(
        &self,
        operand: &ModelVector,
        mut values: Vec<f64>,
        level: usize,
        before: &Estimate,
        estimate: Estimate,
    ) -> ModelVector {
        interrupt::check();
        let scale = self.parameters.scale_at(level);
        let added = (estimate.std() * estimate.std() - before.std() * before.std()).max(0.0);
        // Half of the variance is that of real parts, and a slot is the mean of several of the full embedding.
        let copies = self.parameters.max_slots() / operand.slots;
        self.disturb(&mut values, (added / 2.0 / copies as f64).sqrt());
        let estimate = self.in_room(estimate, level, scale);
        ModelVector { values, slots: operand.slots, level, period: operand.period, estimate }
    }

    fn unary(&self, a: &ModelVector, values: Vec<f64>, estimate: Estimate) -> ModelVector {
        self.after(a, values, a.level, &estimate, estimate.clone())
    }

    /// Both at the lower level.
    fn level_pair(&self, a: &ModelVector, b: &ModelVector) -> Result<[ModelVector; 2]> {
        check_slots(a.slots, b.slots)?;
        let level = a.level.min(b.level);
        Ok([self.at_level(a, level)?, self.at_level(b, level)?])
    }

    fn joined(
        &self,
        a: &ModelVector,
        b: &ModelVector,
        operation: impl Fn(f64, f64) -> f64,
        known: impl Fn(&Estimate, &Estimate) -> Estimate,
    ) -> Result<ModelVector> {
        let [a, b] = self.level_pair(a, b)?;
        let values = a.values.iter().zip(&b.values).map(|(x, y)| operation(*x, *y)).collect();
        let period = a.period.max(b.period);
        Ok(ModelVector { period, ..self.unary(&a, values, known(&a.estimate, &b.estimate)) })
    }

    fn encoded(&self, values: &[f64], operand: &ModelVector) -> Result<ModelPlaintext> {
        ModelPlaintext::new(&self.parameters, values, (operand.slots, operand.level), !operand.values.is_empty())
    }

    /// An estimate at a level, whose modulus holds a few times its error: that of ciphertexts differs, with the names of
    /// encryptions outside of compiled functions.
    fn in_room(&self, estimate: Estimate, level: usize, scale: &Scale) -> Estimate {
        let slack = SLACK_OF_ERRORS * estimate.worst();
        estimate.with_room(room(&self.parameters, level + 1, scale) - slack)
    }

    fn check_fits(&self, value: f64, limbs: usize, scale: &Scale) -> Result<()> {
        check_fits(&self.parameters, value, limbs, scale)
    }

    /// A product's estimate after relinearisation and rescaling.
    fn product(&self, a: &ModelVector, values: Vec<f64>, estimate: &Estimate) -> Result<ModelVector> {
        let below = one_below(a.level)?;
        let scale = self.parameters.scale_at(below);
        let after = noise::switched_rescaled(estimate.clone(), self.parameters.rlwe(), scale, a.level + 1);
        Ok(self.after(a, values, below, estimate, after))
    }

    fn rescaled(&self, a: &ModelVector, values: Vec<f64>, estimate: Estimate) -> Result<ModelVector> {
        let below = one_below(a.level)?;
        let estimate = estimate.settled();
        let after = noise::rescaled(estimate.clone(), self.parameters.rlwe(), self.parameters.scale_at(below));
        Ok(self.after(a, values, below, &estimate, after))
    }

    fn switched(&self, a: &ModelVector, estimate: Estimate, terms: usize) -> Estimate {
        noise::switched(estimate, self.parameters.rlwe(), self.parameters.scale_at(a.level), a.level + 1, terms)
    }
}

/// The multiple of a unit of a scale that stands for a constant.
fn rounded(c: f64, scale: &Scale) -> f64 {
    scale.round_multiple(c).map_or(c, |(_, missed)| c - missed)
}

/// A standard normal number, by the transform of Box and Muller.
fn normal(words: &mut Xof) -> f64 {
    let unit = |word: u64| ((word >> 11) as f64 + HALF) / (1u64 << 53) as f64;
    let (radius, angle) = (unit(words.next_u64()), unit(words.next_u64()));
    (-2.0 * libm::log(radius)).sqrt() * libm::cos(2.0 * std::f64::consts::PI * angle)
}

impl SlotEvaluator for NoiseModel {
    type Scalar = f64;
    type Ciphertext = ModelVector;
    type Plaintext = ModelPlaintext;
    type Factor = ModelPlaintext;
    type Estimate = Estimate;

    fn slots(&self, x: &ModelVector) -> usize {
        x.slots
    }

    fn period(&self, x: &ModelVector) -> usize {
        x.period
    }

    fn level(&self, x: &ModelVector) -> usize {
        x.level
    }

    fn encode_for(&self, values: &[f64], operand: &ModelVector) -> Result<ModelPlaintext> {
        self.encoded(values, operand)
    }

    fn encode_factor(&self, values: &[f64], operand: &ModelVector) -> Result<ModelPlaintext> {
        self.encoded(values, operand)
    }

    fn encode_repeated_factor(&self, values: &Repeated<'_, f64>, operand: &ModelVector) -> Result<ModelPlaintext> {
        if operand.values.is_empty() {
            return ModelPlaintext::repeated(&self.parameters, values, (operand.slots, operand.level));
        }
        self.encoded(&values.all(operand.slots), operand)
    }

    fn add(&self, a: &ModelVector, b: &ModelVector) -> Result<ModelVector> {
        self.joined(a, b, |x, y| x + y, Estimate::sum)
    }

    fn sub(&self, a: &ModelVector, b: &ModelVector) -> Result<ModelVector> {
        self.joined(a, b, |x, y| x - y, Estimate::difference)
    }

    fn neg(&self, a: &ModelVector) -> Result<ModelVector> {
        Ok(self.unary(a, a.values.iter().map(|x| -x).collect(), a.estimate.clone().negated()))
    }

    fn add_scalar(&self, a: &ModelVector, c: f64) -> Result<ModelVector> {
        f64::check(&[c])?;
        self.check_fits(c, a.level + 1, self.parameters.scale_at(a.level))?;
        let miss = HALF / self.parameters.scale_at(a.level).to_f64();
        let constant = Estimate::exact(Range::real(c, c), names::constant(c.into())).with_bias(miss);
        let c = rounded(c, self.parameters.scale_at(a.level));
        Ok(self.unary(a, a.values.iter().map(|x| x + c).collect(), a.estimate.sum(&constant)))
    }

    fn add_plain(&self, a: &ModelVector, p: &ModelPlaintext) -> Result<ModelVector> {
        check_plain(a, p)?;
        let values = a.values.iter().zip(&p.values).map(|(x, y)| x + y).collect();
        Ok(ModelVector { period: a.slots, ..self.unary(a, values, a.estimate.sum(&p.estimate)) })
    }

    fn mul(&self, a: &ModelVector, b: &ModelVector) -> Result<ModelVector> {
        if std::ptr::eq(a, b) {
            return self.square(a);
        }
        self.dot(&[(a, b)])
    }

    fn square(&self, a: &ModelVector) -> Result<ModelVector> {
        self.product(a, a.values.iter().map(|x| x * x).collect(), &a.estimate.squared())
    }

    fn mul_plain(&self, a: &ModelVector, p: &ModelPlaintext) -> Result<ModelVector> {
        self.dot_plain(&[(a, p)])
    }

    fn mul_scalar(&self, a: &ModelVector, c: f64) -> Result<ModelVector> {
        self.weighted_sum(&[(a, c)], 0.0)
    }

    fn weighted_sum(&self, terms: &[(&ModelVector, f64)], constant: f64) -> Result<ModelVector> {
        let lowest = terms.iter().map(|(x, _)| *x).min_by_key(|x| x.level).ok_or_else(no_terms)?;
        let below = one_below(lowest.level)?;
        let before = self.parameters.scale_at(below).mul_u64(self.parameters.prime(lowest.level));
        self.check_fits(constant, lowest.level + 1, &before)?;
        let miss = HALF / before.to_f64();
        let mut values = vec![rounded(constant, &before); lowest.values.len()];
        let mut estimate: Option<Estimate> = None;
        for &(x, c) in terms {
            check_slots(x.slots, lowest.slots)?;
            f64::check(&[c])?;
            let weight_scale = before.div(self.parameters.scale_at(x.level));
            self.check_fits(c, lowest.level + 1, &weight_scale)?;
            let weight = rounded(c, &weight_scale);
            values.iter_mut().zip(&x.values).for_each(|(sum, value)| *sum += weight * value);
            let miss = HALF * self.parameters.scale_at(x.level).to_f64() / before.to_f64();
            let tag = names::weighted(x.estimate.tag(), c.into());
            let term = x.estimate.clone().multiplied(c.into()).with_bias(miss * x.estimate.magnitude()).named(tag);
            estimate = Some(estimate.map_or_else(|| term.clone(), |sum| sum.sum(&term)));
        }
        let name = names::weighted_constant(constant.into());
        let constant = Estimate::exact(Range::real(constant, constant), name).with_bias(miss);
        let estimate = estimate.ok_or_else(no_terms)?.sum(&constant);
        let period = terms.iter().map(|(x, _)| x.period).max().unwrap_or(1);
        let scale = self.parameters.scale_at(below);
        let after = noise::rescaled(estimate.clone(), self.parameters.rlwe(), scale);
        Ok(ModelVector { period, ..self.after(lowest, values, below, &estimate, after) })
    }

    fn dot(&self, pairs: &[(&ModelVector, &ModelVector)]) -> Result<ModelVector> {
        let level = pairs.iter().map(|(a, b)| a.level.min(b.level)).min().ok_or_else(no_terms)?;
        one_below(level)?;
        let mut sum: Option<(ModelVector, Estimate)> = None;
        for (a, b) in pairs {
            check_slots(a.slots, b.slots)?;
            let (a, b) = (self.at_level(a, level)?, self.at_level(b, level)?);
            let values: Vec<f64> = a.values.iter().zip(&b.values).map(|(x, y)| x * y).collect();
            let estimate = a.estimate.product(&b.estimate);
            let period = a.period.max(b.period);
            sum = Some(match sum {
                None => (ModelVector { values, period, ..a }, estimate),
                Some((total, known)) => {
                    let values = total.values.iter().zip(&values).map(|(x, y)| x + y).collect();
                    let period = total.period.max(period);
                    (ModelVector { values, period, ..total }, known.sum(&estimate))
                }
            });
        }
        let (total, estimate) = sum.ok_or_else(no_terms)?;
        self.product(&total, total.values.clone(), &estimate)
    }

    fn dot_plain(&self, pairs: &[(&ModelVector, &ModelPlaintext)]) -> Result<ModelVector> {
        let (first, _) = pairs.first().ok_or_else(no_terms)?;
        let mut values = vec![0.0; first.values.len()];
        let mut estimate: Option<Estimate> = None;
        for (a, p) in pairs {
            check_slots(a.slots, first.slots)?;
            check_plain(a, p)?;
            check_plain(first, p)?;
            values.iter_mut().zip(a.values.iter().zip(&p.values)).for_each(|(sum, (x, y))| *sum += x * y);
            let product = a.estimate.product(&p.estimate);
            estimate = Some(estimate.map_or_else(|| product.clone(), |sum| sum.sum(&product)));
        }
        let result = self.rescaled(first, values, estimate.ok_or_else(no_terms)?)?;
        Ok(ModelVector { period: first.slots, ..result })
    }

    fn rotate(&self, a: &ModelVector, steps: isize) -> Result<ModelVector> {
        let slots = a.slots;
        if steps % slots.cast_signed() == 0 {
            return Ok(a.clone());
        }
        let before = rotated(&a.estimate, steps, slots);
        let estimate = self.switched(a, before.clone(), 1);
        Ok(self.after(a, moved(&a.values, steps), a.level, &before, estimate))
    }

    fn rotate_many(&self, a: &ModelVector, steps: &[isize]) -> Result<Vec<ModelVector>> {
        steps.iter().map(|&steps| self.rotate(a, steps)).collect()
    }

    fn sum_rotations(&self, a: &ModelVector, steps: &[isize]) -> Result<ModelVector> {
        let mut values = a.values.clone();
        let mut estimate = a.estimate.clone();
        for &steps in steps {
            values.iter_mut().zip(moved(&a.values, steps)).for_each(|(sum, x)| *sum += x);
            estimate = estimate.sum(&rotated(&a.estimate, steps, a.slots));
        }
        let switches = steps.iter().filter(|&&steps| steps % a.slots.cast_signed() != 0).count();
        let before = estimate.named(names::summed_rotations(a.estimate.tag(), steps, a.slots));
        let after = if switches == 0 { before.clone() } else { self.switched(a, before.clone(), switches) };
        Ok(self.after(a, values, a.level, &before, after))
    }

    /// Sums in between may leave the modulus: the last one is right if it is within it, as in the scheme.
    fn sum_rotations_in_turn(&self, a: &ModelVector, sums: &[&[isize]]) -> Result<ModelVector> {
        sums.iter().enumerate().try_fold(a.clone(), |mut sum, (index, steps)| {
            if index > 0 {
                sum.estimate = sum.estimate.with_room(f64::INFINITY);
            }
            self.sum_rotations(&sum, steps)
        })
    }

    /// The errors of key switches count before the factors, as in the scheme.
    fn sum_giant_steps<F: Borrow<ModelPlaintext>>(
        &self,
        a: &ModelVector,
        babies: &[isize],
        giants: &[GiantStep<F>],
    ) -> Result<ModelVector> {
        let (slots, parameters) = (a.slots, self.parameters.rlwe());
        let (scale, shape) = (self.parameters.scale_at(a.level), parameters.shape());
        let moves = |steps: isize| steps % slots.cast_signed() != 0;
        let image = |&steps: &isize| {
            let estimate = rotated(&a.estimate, steps, slots);
            let estimate = if moves(steps) {
                noise::undivided(estimate, parameters, scale, a.level + 1, shape)?
            } else {
                estimate
            };
            Ok((moved(&a.values, steps), estimate))
        };
        let images: Vec<(Vec<f64>, Estimate)> = babies.iter().map(image).collect::<Result<_>>()?;
        let mut values = vec![0.0; a.values.len()];
        let mut total: Option<Estimate> = None;
        for giant in giants {
            let mut inner = vec![0.0; a.values.len()];
            let mut estimate: Option<Estimate> = None;
            for (baby, factor) in &giant.terms {
                let factor = factor.borrow();
                check_plain(a, factor)?;
                let (image, known) = &images[*baby];
                inner.iter_mut().zip(image.iter().zip(&factor.values)).for_each(|(sum, (x, y))| *sum += x * y);
                let product = known.product(&factor.estimate);
                estimate = Some(estimate.map_or_else(|| product.clone(), |sum| sum.sum(&product)));
            }
            let mut estimate = rotated(&estimate.ok_or_else(no_terms)?, giant.rotation, slots);
            if moves(giant.rotation) {
                let product = scale.mul(scale);
                let divided = noise::second_part_rounded(estimate, parameters, &product);
                estimate = noise::undivided(divided, parameters, &product, a.level + 1, shape)?;
            }
            values.iter_mut().zip(moved(&inner, giant.rotation)).for_each(|(sum, x)| *sum += x);
            total = Some(total.map_or_else(|| estimate.clone(), |sum| sum.sum(&estimate)));
        }
        let result = self.rescaled(a, values, total.ok_or_else(no_terms)?)?;
        Ok(ModelVector { period: slots, ..result })
    }

    fn with_magnitude(&self, a: ModelVector, bound: f64) -> ModelVector {
        ModelVector { estimate: a.estimate.with_magnitude(bound), ..a }
    }

    fn with_range(&self, a: ModelVector, [low, high]: [f64; 2]) -> ModelVector {
        ModelVector { estimate: a.estimate.with_range(low, high), ..a }
    }

    fn with_period(&self, a: ModelVector, period: usize) -> ModelVector {
        ModelVector { period, ..a }
    }

    fn at_level(&self, a: &ModelVector, level: usize) -> Result<ModelVector> {
        if level > a.level {
            return Err(Error::LevelExhausted { needed: level, left: a.level });
        }
        if level == a.level {
            return Ok(a.clone());
        }
        let scale = self.parameters.scale_at(level);
        let tag = names::lowered(a.estimate.tag(), level, scale);
        let before = a.estimate.clone().with_bias(LEVEL_MISS * a.estimate.magnitude()).named(tag);
        let after = noise::rescaled(before.clone(), self.parameters.rlwe(), scale);
        Ok(self.after(a, a.values.clone(), level, &before, after))
    }

    fn bounds(&self, a: &ModelVector) -> Option<Bounds> {
        let error = if a.estimate.overflows() { f64::INFINITY } else { a.estimate.worst() };
        Some(Bounds { range: *a.estimate.range(), error })
    }

    fn split_error(&self, mut a: ModelVector) -> (ModelVector, Estimate) {
        let exact = a.estimate.without_error();
        let estimate = std::mem::replace(&mut a.estimate, exact);
        (a, estimate)
    }

    fn with_errors(&self, mut a: ModelVector, errors: &[(&Estimate, f64)], bias: f64) -> ModelVector {
        a.estimate = a.estimate.with_errors(errors).with_bias(bias);
        a
    }
}

/// Slot j holds what slot `j + steps` held.
fn moved(values: &[f64], steps: isize) -> Vec<f64> {
    let mut moved = values.to_vec();
    moved.rotate_left(steps.rem_euclid(values.len().max(1).cast_signed()).cast_unsigned());
    moved
}

fn one_below(level: usize) -> Result<usize> {
    level.checked_sub(1).ok_or(Error::LevelExhausted { needed: 1, left: 0 })
}

fn no_terms() -> Error {
    Error::Length { what: "terms of a sum", found: 0, needed: "at least 1".to_owned() }
}

fn check_slots(found: usize, needed: usize) -> Result<()> {
    let what = "slots of the second operand";
    if found == needed { Ok(()) } else { Err(Error::Length { what, found, needed: needed.to_string() }) }
}

fn check_plain(a: &ModelVector, p: &ModelPlaintext) -> Result<()> {
    check_slots(p.slots, a.slots)?;
    if p.level == a.level { Ok(()) } else { Err(Error::LevelMismatch { left: a.level, right: p.level }) }
}
