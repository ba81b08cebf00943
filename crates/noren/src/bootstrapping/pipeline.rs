//! One pass through all stages of bootstrapping.

use std::fmt;
use std::sync::Arc;

use noren_rlwe::error::{Error, Result};
use noren_rlwe::keyswitch::switch_secret;
use noren_rlwe::noise::{key_switch_shaped, raise_switch};
use noren_rlwe::raise::mod_raise_switch;

use crate::bootstrapping::dft::Direction;
use crate::bootstrapping::eval_mod::EvalMod;
use crate::bootstrapping::keys::BootstrapKeys;
use crate::bootstrapping::matrix::{Matrix, Place, places};
use crate::bootstrapping::mode::Mode;
use crate::bootstrapping::parameters::Parameters;
use crate::bootstrapping::slots::{Joint, project};
use crate::bootstrapping::transforms::{CoeffToSlot, SlotToCoeff};
use crate::schemes::ckks::content::Content;
use crate::schemes::ckks::estimate::{Nature, mix};
use crate::schemes::ckks::{Ciphertext, Context, Estimate, Evaluator, Scale};
use crate::schemes::extent::Extent;
use crate::schemes::range::Range;
use crate::schemes::slots::SlotEvaluator;

/// By what part a message may be larger than `q_0 / rho`: scales of different levels differ by less.
pub(super) const ROOM: f64 = 1.0 / 1024.0;

/// The series is odd and of the fifth degree: within the room its error grows at most by so much.
const SERIES_ROOM: f64 = 1.0 + 1.0 / 32.0;

/// The slots of a raised ciphertext are sums of products of two numbers, each about Gaussian. Beyond this number of deviations
/// there is one in `2^15` slots with a probability below `2^-40`.
const RAISED_DEVIATIONS: f64 = 20.0;

/// Domain separators of the names of results.
const RAISED: u64 = 0x71;
const SWITCHED: u64 = 0x72;

/// A part of the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Slots become coefficients.
    SlotToCoeff,
    /// To the ephemeral secret, to all limbs, and back.
    Raise,
    /// Onto the subring of fewer slots.
    Projection,
    /// Coefficients become slots.
    CoeffToSlot,
    /// Real and imaginary parts.
    Parts,
    /// The exponentials.
    Exponential,
    /// The series, and one number again.
    Series,
}

impl Stage {
    /// The name of the stage in records.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::SlotToCoeff => "slot_to_coeff",
            Self::Raise => "raise",
            Self::Projection => "projection",
            Self::CoeffToSlot => "coeff_to_slot",
            Self::Parts => "parts",
            Self::Exponential => "exponential",
            Self::Series => "series",
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A ciphertext on its way, for tests and diagnosis. The estimates of `raised` and what follows are of their own errors
/// alone: those from before are counted in the result.
#[derive(Clone)]
pub struct Stages {
    /// Slots U z, at level 0: the packed coefficients are z in bit-reversed order, at this scale.
    pub coefficients: Ciphertext,
    /// The same polynomial plus `q_0 I`, at the highest level and the scale `2 K q_0` times the gap of the slots. Fewer slots
    /// than the ring has: what of it lies in their subring.
    pub raised: Ciphertext,
    /// Its packed coefficients over `2 K q_0` in the slots, in the order of z.
    pub slots: Ciphertext,
    /// `i u`: the real parts, and the imaginary ones of complex messages, over `K q_0`, times i; side by side they are one
    /// vector.
    pub parts: Vec<Ciphertext>,
    /// `exp(2 pi i K u)` of each.
    pub exponentials: Vec<Ciphertext>,
    /// `E (E + c)` of each.
    pub series: Vec<Ciphertext>,
    /// The message.
    pub result: Ciphertext,
}

/// The scaling between coefficients and their exponentials; see [`Stages`].
pub(super) struct Climb {
    pub raised: Ciphertext,
    /// The noise that switches of secrets add to the coefficients.
    pub switch_error: Estimate,
    pub slots: Ciphertext,
    pub parts: Vec<Ciphertext>,
    pub exponentials: Vec<Ciphertext>,
}

/// The stages with what they need: encoded matrices, keys, and an evaluator.
pub(super) struct Pipeline {
    pub parameters: Parameters,
    pub evaluator: Evaluator,
    /// With the keys of slot to coefficient.
    lower: Evaluator,
    keys: Arc<BootstrapKeys>,
    pub mode: Mode,
    slot_to_coeff: SlotToCoeff,
    coeff_to_slot: CoeffToSlot,
    /// For real and imaginary parts that lie side by side.
    joint: Option<Joint>,
}

impl Pipeline {
    /// Refuses results of keys that lie in a file that has changed.
    pub fn check_files(&self) -> Result<()> {
        self.keys.check_files()
    }

    /// Encodes the matrices, for keys that were checked.
    ///
    /// # Errors
    /// As [`Encoder::encode_factor_shaped`](crate::schemes::ckks::Encoder::encode_factor_shaped).
    pub fn new(context: &Context, parameters: &Parameters, keys: Arc<BootstrapKeys>, mode: Mode) -> Result<Self> {
        let ckks = context.parameters();

        // Slot to coefficient: the scale stays, until the last matrix leads to `q_0 / rho`.
        let input = ckks.scale_at(parameters.input_level());
        let encode = |direction: Direction, start: Scale, targets: Vec<Scale>| {
            let groups = &parameters.transform(direction).groups;
            let matrices = direction.matrices(parameters.slots(), groups);
            let mut before = start;
            let encode = |((place, diagonals), target): ((Place, _), Scale)| {
                let factor = target.mul_u64(ckks.prime(place.level)).div(&before);
                before = target;
                let last = direction == Direction::CoeffToSlot && place.level == parameters.slots_level() + 1;
                let beside = last && mode == Mode::Paired;
                Matrix::encode(context, parameters, direction, place, diagonals, &factor, beside)
            };
            let places = places(parameters, direction);
            let encoded = places.iter().copied().zip(&matrices).zip(targets).map(encode).collect::<Result<Vec<_>>>()?;
            Ok::<_, noren_rlwe::error::Error>((places, encoded))
        };
        let mut targets = vec![*input; parameters.input_level()];
        *targets.last_mut().expect("a transform has a matrix") = base_scale(context, parameters)?;
        let (at, matrices) = encode(Direction::SlotToCoeff, *input, targets)?;
        let slot_to_coeff = SlotToCoeff::new(at, matrices);

        // Coefficient to slot: each matrix takes an equal part of the way down to the scale of the exponential, so that all are
        // encoded at large scales.
        let end = EvalMod::input_scale(parameters, ckks);
        let start = raised_scale(context, parameters)?.mul_u64(parameters.gap() as u64);
        let count = parameters.max_level() - parameters.slots_level();
        let part = libm::log2(start.ratio_to(&end)) / count as f64;
        let above = |left: usize| positive(libm::exp2(part * left as f64)).map(|factor| end.mul(&factor));
        let targets = (0..count).rev().map(above).collect::<Result<_>>()?;
        let (at, matrices) = encode(Direction::CoeffToSlot, start, targets)?;
        let coeff_to_slot = CoeffToSlot::new(parameters, at, matrices);

        let evaluator = Evaluator::new(context, keys.evaluation.clone())?;
        let lower = Evaluator::new(context, keys.slot_to_coeff.clone())?;
        let joint = if mode == Mode::Paired { Some(Joint::encode(context, parameters)?) } else { None };
        Ok(Self { parameters: parameters.clone(), evaluator, lower, keys, mode, slot_to_coeff, coeff_to_slot, joint })
    }

    /// The level of results: one less where parts that lie side by side become one number.
    pub fn output_level(&self) -> usize {
        self.parameters.output_level() - usize::from(self.joint.is_some())
    }

    /// Takes a ciphertext that was checked through all stages, to a result at the scale `end`.
    ///
    /// # Errors
    /// As the operations of [`Evaluator`].
    pub fn run(&self, a: &Ciphertext, end: &Scale, done: &mut dyn FnMut(Stage)) -> Result<Stages> {
        let context = self.evaluator.context();
        // The raised polynomial is the message with its error.
        let size = a.magnitude() + a.error_bound();
        let (input, input_error) = self.evaluator.split_error(a.clone());
        let scale = self.lowered(&input, size)?;
        let coefficients = self.stage(|| self.slots_to_coefficients(&input, size, &scale))?;
        done(Stage::SlotToCoeff);
        let eval_mod = EvalMod { evaluator: &self.evaluator, parameters: &self.parameters };
        let series_scale = eval_mod.series_scale(end, coefficients.scale())?;
        let Climb { raised, switch_error, slots, parts, exponentials } =
            self.exponentials(&coefficients, &series_scale, done)?;
        let series = self.stage(|| exponentials.iter().map(|e| eval_mod.series(e)).collect::<Result<Vec<_>>>())?;
        let (exact, series_errors): (Vec<_>, Vec<_>) =
            series.iter().map(|p| self.evaluator.split_error(p.clone())).unzip();
        let whole = self.stage(|| self.imaginary_parts(&exact))?;

        // Read so that z is the message; up to 2^-100 this is the scale that was asked for.
        let result = self.evaluator.reinterpret(whole, &end.div(series[0].scale()))?;
        let result = match &self.joint {
            Some(joint) => joint.apply(&self.evaluator, &result.with_magnitude(a.magnitude()))?,
            None => result,
        };
        let result = like(a, result, *end);
        let base = base_scale(context, &self.parameters)?.ratio_to(coefficients.scale());
        let real_parts = if self.mode == Mode::Real { 1.0 } else { 2.0 };
        let series_error = real_parts * self.parameters.series().error() * SERIES_ROOM * base;
        let own = coefficients.estimate();
        let mut errors = vec![(&input_error, 1.0 + ROOM), (own, 1.0 + ROOM), (&switch_error, 1.0 + ROOM)];
        // Twice the imaginary part of P is read. Those of two circular errors are together one such error of their mean square.
        let read = 2.0 * series[0].scale().ratio_to(end) / (parts.len() as f64).sqrt();
        errors.extend(series_errors.iter().map(|error| (error, read)));
        // A systematic error is in each real part, whether they are side by side or not.
        let systematic: f64 = series_errors.iter().map(|error| error.bias() * read).sum();
        let rest = systematic * (real_parts / (parts.len() as f64).sqrt() - 1.0);
        let result = self.evaluator.with_errors(result, &errors, series_error + rest);
        done(Stage::Series);
        Ok(Stages { coefficients, raised, slots, parts, exponentials, series, result })
    }

    /// From coefficients at level 0 to their exponentials, `exp(2 pi i c / q_0)`, at a scale that makes the series arrive at
    /// `series_scale`.
    ///
    /// # Errors
    /// As the operations of [`Evaluator`].
    pub fn exponentials(
        &self,
        coefficients: &Ciphertext,
        series_scale: &Scale,
        done: &mut dyn FnMut(Stage),
    ) -> Result<Climb> {
        let (raised, switch_error) = self.raise(coefficients)?;
        done(Stage::Raise);
        let raised = if self.parameters.gap() == 1 { raised } else { self.project(raised, done)? };
        // Side by side there are twice as many; what is repeated is repeated twice as often.
        let count = self.parameters.slots() << usize::from(self.joint.is_some());
        let beside = |x: Ciphertext| x.read_in(count, Extent::of_slots(count));
        let matrices = || self.coeff_to_slot.apply(&self.evaluator, raised.clone(), self.raised_deviation(), beside);
        let slots = self.stage(matrices)?;
        let (slots, own) = self.evaluator.split_error(slots);
        let known = |slots: Estimate| Estimate::exact(Range::disc(std::f64::consts::FRAC_1_SQRT_2), slots.tag());
        let slots = self.evaluator.with_errors(slots.estimated(known), &[(&own, 1.0)], 0.0);
        done(Stage::CoeffToSlot);
        let parts = self.stage(|| self.parts(&slots))?;
        done(Stage::Parts);

        let eval_mod = EvalMod { evaluator: &self.evaluator, parameters: &self.parameters };
        // One after another: all threads share the rows of one part, which stay nearer than those of two.
        let exponentials = || parts.iter().map(|u| eval_mod.exponential(u, series_scale)).collect::<Result<Vec<_>>>();
        let exponentials = self.stage(exponentials)?;
        done(Stage::Exponential);
        Ok(Climb { raised, switch_error, slots, parts, exponentials })
    }

    /// Runs a stage on one of the threads: see [`Engine::enter`](noren_ring::engine::Engine::enter).
    pub fn stage<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.evaluator.context().rlwe().ring_q(1).engine().enter(work)
    }

    /// The scale of the last matrix of slot to coefficient for slots of this size: lower by as many powers of two as the message
    /// stands higher than it should.
    fn lowered(&self, a: &Ciphertext, size: f64) -> Result<Scale> {
        let canonical = self.evaluator.context().parameters().scale_at(self.parameters.input_level());
        let excess = libm::log2(size.max(1.0) * a.scale().ratio_to(canonical));
        let excess = libm::ceil(excess - ROOM);
        Ok(self.slot_to_coeff.last_scale().mul(&positive(libm::exp2(-excess))?))
    }

    /// The matrices of slot to coefficient, the last one at this scale, for slots of this size. Fewer slots are repeated in all,
    /// which is how the polynomial stands already.
    fn slots_to_coefficients(&self, a: &Ciphertext, size: f64, scale: &Scale) -> Result<Ciphertext> {
        let context = self.evaluator.context();
        let dropped = self.evaluator.drop_level(a, self.parameters.input_level())?;
        let all = self.parameters.slots();
        let known = |_| Estimate::exact(Range::disc(size), a.estimate().tag());
        let x = dropped.read_in(all, Extent::of_slots(all)).estimated(known);
        let encode = |place: Place| {
            let direction = Direction::SlotToCoeff;
            let matrices = direction.matrices(self.parameters.slots(), &self.parameters.transform(direction).groups);
            let diagonals = matrices.last().expect("a transform has a matrix");
            Matrix::encode(context, &self.parameters, direction, place, diagonals, scale, false)
        };
        self.slot_to_coeff.apply(&self.lower, x, scale, encode)
    }

    /// Slots as coefficients at level 0, of which one of size 1 is `part q_0`: the way down of a bootstrap, to a scale of the
    /// caller's. The estimate has the error of the operand too.
    ///
    /// # Errors
    /// As the operations of [`Evaluator`].
    pub fn coefficients(&self, a: &Ciphertext, part: f64) -> Result<Ciphertext> {
        let context = self.evaluator.context();
        let size = a.magnitude() + a.error_bound();
        let (input, input_error) = self.evaluator.split_error(a.clone());
        // The last matrix leaves level 1.
        let target = base_modulus(context).mul(&positive(part)?);
        let scale = target.mul_u64(context.parameters().prime(1)).div(a.scale());
        let coefficients = self.stage(|| self.slots_to_coefficients(&input, size, &scale))?;
        Ok(self.evaluator.with_errors(coefficients, &[(&input_error, 1.0 + ROOM)], 0.0))
    }

    /// To the ephemeral secret, to all limbs, and back; and the error that this adds to the message.
    fn raise(&self, a: &Ciphertext) -> Result<(Ciphertext, Estimate)> {
        let context = self.evaluator.context();
        let rlwe = context.parameters().rlwe();
        let sparse = switch_secret(context.rlwe(), a.rlwe(), &self.keys.to_ephemeral)?;
        let inner = mod_raise_switch(context.rlwe(), &sparse, &self.keys.from_ephemeral)?;

        let there = key_switch_shaped(rlwe, 1, self.keys.to_ephemeral.shape())?;
        let back = raise_switch(rlwe, 1, inner.limbs(), self.keys.from_ephemeral.shape())?;
        // Two coefficients are a number, of sums of so many terms that they are Gaussian. Errors of a message are the same in all its copies: their mean does not help.
        let variance = 2.0 * self.parameters.gap() as f64 * (there * there + back * back)
            / (a.scale().to_f64() * a.scale().to_f64());
        let tag = a.estimate().tag();
        let error = Estimate::exact(Range::disc(0.0), mix(tag, SWITCHED)).with_source(Nature::Plain, variance, 0);

        // Where fewer slots are projected, of all the ring: the root of the gap more.
        let deviation = self.raised_deviation() * (self.parameters.gap() as f64).sqrt();
        let scale = raised_scale(context, &self.parameters)?;
        let estimate = Estimate::exact(Range::disc(RAISED_DEVIATIONS * deviation), mix(tag, RAISED));
        let content = Content::new(a.slots(), Extent::of_slots(a.slots()), estimate);
        Ok((Ciphertext::new(inner, scale, content, a.parameters().clone()), error))
    }

    /// The root of the mean square of raised slots: a coefficient over `q_0` is a sum of h + 1 uniform numbers, and a slot is one
    /// of 2n coefficients.
    fn raised_deviation(&self) -> f64 {
        let weight = f64::from(self.parameters.spec().ephemeral_weight);
        let square = 2.0 * self.parameters.slots() as f64 * (weight + 1.0) / 12.0;
        square.sqrt() / (2.0 * self.parameters.exponential().half_width())
    }

    /// The part in the subring of the slots.
    fn project(&self, raised: Ciphertext, done: &mut dyn FnMut(Stage)) -> Result<Ciphertext> {
        let projected = project(&self.parameters, &self.evaluator, raised)?;
        done(Stage::Projection);
        Ok(projected)
    }

    /// `i (t + conj t)`, and `t - conj t` for complex messages: side by side t holds `(t, -i t)` already.
    fn parts(&self, t: &Ciphertext) -> Result<Vec<Ciphertext>> {
        let conjugate = self.evaluator.conjugate(t)?;
        let mut parts = vec![self.evaluator.mul_i(&self.evaluator.add(t, &conjugate)?)?];
        if self.mode == Mode::Complex {
            parts.push(self.evaluator.sub(t, &conjugate)?);
        }
        Ok(parts.into_iter().map(|part| part.with_magnitude(1.0)).collect())
    }

    /// `-2 (Im P_0 + i Im P_1)`: i times a difference of conjugates. The sign is that of the series.
    pub fn imaginary_parts(&self, series: &[Ciphertext]) -> Result<Ciphertext> {
        let evaluator = &self.evaluator;
        let difference = match series {
            [p0, p1, ..] => {
                let turned = evaluator.mul_i(p1)?;
                evaluator.sub(&evaluator.add(p0, &turned)?, &evaluator.conjugate(&evaluator.sub(p0, &turned)?)?)?
            }
            [p0] => evaluator.sub(p0, &evaluator.conjugate(p0)?)?,
            [] => unreachable!("a message has a real part"),
        };
        evaluator.mul_i(&difference)
    }
}

/// The result of bootstrapping at its scale, whose message is that of the input: in its slots, as large, and real where that was
/// real.
pub(super) fn like(input: &Ciphertext, result: Ciphertext, scale: Scale) -> Ciphertext {
    let estimate = result.estimate().clone();
    let result = result.read_at(scale, estimate).read_in(input.slots(), input.extent());
    match input.estimate().range().interval() {
        Some([low, high]) => result.with_range(low, high),
        None => result.with_magnitude(input.magnitude()),
    }
}

/// `q_0 / rho`: the scale of messages of size 1 before the modulus is raised.
pub(super) fn base_scale(context: &Context, parameters: &Parameters) -> Result<Scale> {
    Ok(base_modulus(context).div(&positive(parameters.series().ratio())?))
}

/// `2 K q_0`: at this scale the coefficients of a raised polynomial are at most 1/2, and their double is u.
fn raised_scale(context: &Context, parameters: &Parameters) -> Result<Scale> {
    Ok(base_modulus(context).mul(&positive(2.0 * parameters.exponential().half_width())?))
}

/// `q_0` as a scale.
pub(super) fn base_modulus(context: &Context) -> Scale {
    Scale::from_log2(0).mul_u64(context.parameters().prime(0))
}

pub(super) fn positive(value: f64) -> Result<Scale> {
    Scale::from_f64(value).ok_or_else(|| Error::parameter("scale", value, "positive"))
}

#[cfg(test)]
mod reduction;
