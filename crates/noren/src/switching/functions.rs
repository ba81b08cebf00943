//! Functions of encrypted reals: signs, comparisons, and any function of few values or of limited precision.

use noren_rlwe::error::{Error, Result};

use crate::bootstrapping::Mode;
use crate::bootstrapping::ends::Affine;
use crate::schemes::ckks::encryption::Ciphertext;
use crate::schemes::ckks::evaluator::operands::Operand;
use crate::schemes::error::SlotError;
use crate::schemes::failures::log2_sum;
use crate::schemes::slots::SlotEvaluator;
use crate::switching::law::{LOG2_FAILURE, SwitchingLaw, margin};
use crate::switching::readout::Readout;
use crate::switching::resolution::{Resolution, Steps};
use crate::switching::switch::{Lowered, Reading, SchemeSwitch};
use crate::switching::tables::{Function, QUARTER, check_finite};
use crate::switching::variation::{Asked, Variation};

/// The part of the circle that the largest value of a sign is: what is left keeps it from the other end.
pub(super) const SIGN_PART: f64 = 0.45;

/// The part of the circle that half the range of a function of reals is: tables have half of the circle for themselves.
const RANGE_PART: f64 = 0.225;

/// The part of the failure of a result that decisions take, nearly all: `log2` of 31/32. The rest is for the way up, which fails far less often.
const LOG2_DECIDED: f64 = -0.0459;

/// Bounds of CKKS hold but with probability `2^-40`. Tails of its errors fall at least as `exp(-2x)` in deviations, so that
/// twice the bound is exceeded with the probability `2^-80` at most.
pub(crate) const BOUND_ROOM: f64 = 2.0;

/// Points of a function of reals for each coefficient of its table, where it is asked.
const POINTS: usize = 4;

/// The values of signs that are read as 1 or 0.
pub(super) const ZERO_OR_ONE: Affine = Affine { factor: 0.5, constant: 0.5 };

/// The result of a comparison.
#[derive(Clone)]
pub struct Decision {
    /// The result. In the dead zone it may be either.
    pub result: Ciphertext,
    /// Up to this distance from where the result changes it may be either.
    pub dead_zone: f64,
    /// `log2` of a bound on how likely any value outside is wrong.
    pub log2_failure: f64,
}

impl Decision {
    /// The largest [failure](Decision::log2_failure) of a decision, where the way up fails with 1/32 of it at most, unless
    /// another probability [was asked for](SchemeSwitch::with_failure).
    pub const LOG2_FAILURE: f64 = LOG2_FAILURE;
}

impl SwitchingLaw {
    /// The [dead zone](Decision::dead_zone) of so many numbers up to 1 in size, without the error bound that they have.
    #[must_use]
    pub fn dead_zone(&self, steps: Steps, values: usize) -> f64 {
        Resolution::new(self, steps, log2_of_each(LOG2_FAILURE, values)).dead_zone / SIGN_PART
    }
}

/// Numbers on their way to a decision.
pub(super) struct Question {
    pub lowered: Lowered,
    resolution: Resolution,
    /// Up to this distance from 0 the decision may be either.
    pub dead_zone: f64,
}

impl SchemeSwitch {
    /// The signs of real numbers, 1 or -1.
    ///
    /// The [dead zone](Decision::dead_zone) is proportional to the magnitude that the ciphertext states, so a range that the
    /// caller knows ([`Ciphertext::with_range`]) makes it smaller.
    ///
    /// # Errors
    /// As [`SchemeSwitch::down`].
    pub fn sign(&self, x: &Ciphertext) -> Result<Decision> {
        self.decide(x, Affine { factor: 1.0, constant: 0.0 }, None)
    }

    /// 1 where a number is above 0, and 0 where it is below.
    ///
    /// # Errors
    /// As [`SchemeSwitch::down`].
    pub fn is_positive(&self, x: &Ciphertext) -> Result<Decision> {
        self.decide(x, ZERO_OR_ONE, None)
    }

    /// As [`SchemeSwitch::is_positive`], with 1 in slots that hold no value.
    pub(super) fn is_positive_or_absent(&self, x: &Ciphertext) -> Result<Decision> {
        self.decide(x, ZERO_OR_ONE, Some(QUARTER))
    }

    /// 1 where a number is above `least`, and 0 where it is below.
    ///
    /// # Errors
    /// As [`SchemeSwitch::is_positive`]; [`SlotError::NotFinite`] for what is not a number.
    pub fn threshold(&self, x: &Ciphertext, least: f64) -> Result<Decision> {
        check_finite(&[least])?;
        self.is_positive(&self.ckks().add_const(x, (-least).into())?)
    }

    /// The nearest whole number, of numbers from 0 to p - 1: the [lookup](SchemeSwitch::lookup) of the identity.
    ///
    /// # Errors
    /// As [`SchemeSwitch::lookup`].
    pub fn round(&self, x: &Ciphertext) -> Result<Ciphertext> {
        self.lookup(x, |z| z as f64)
    }

    /// 1 where `x < y`, and 0 elsewhere.
    ///
    /// # Errors
    /// As [`SchemeSwitch::down`] and [`Evaluator::sub_operand`](crate::ckks::Evaluator::sub_operand).
    pub fn less<'a>(&self, x: &Ciphertext, y: impl Into<Operand<'a>>) -> Result<Decision> {
        self.is_positive(&self.ckks().neg(&self.ckks().sub_operand(x, y)?)?)
    }

    /// 1 where `x > y`, and 0 elsewhere.
    ///
    /// # Errors
    /// As [`SchemeSwitch::less`].
    pub fn greater<'a>(&self, x: &Ciphertext, y: impl Into<Operand<'a>>) -> Result<Decision> {
        self.is_positive(&self.ckks().sub_operand(x, y)?)
    }

    /// The larger of two numbers. Where they are nearer to each other than the dead zone, it may be the smaller one, which its error
    /// bound counts. With numbers in clear it is `y + max(x - y, 0)`.
    ///
    /// # Errors
    /// As [`SchemeSwitch::less`] and [`Evaluator::select`](crate::ckks::Evaluator::select).
    pub fn maximum<'a>(&self, x: &Ciphertext, y: impl Into<Operand<'a>>) -> Result<Ciphertext> {
        let y = y.into();
        if let Operand::Ciphertext(y) = y {
            x.extent().check_fits(y.extent())?;
            return self.chosen(&self.less(x, y)?, y, x);
        }
        self.ckks().add_operand(&self.relu(&self.ckks().sub_operand(x, y)?)?, y)
    }

    /// The smaller of two numbers; as [`SchemeSwitch::maximum`]. With numbers in clear it is `x - max(x - y, 0)`.
    ///
    /// # Errors
    /// As [`SchemeSwitch::maximum`].
    pub fn minimum<'a>(&self, x: &Ciphertext, y: impl Into<Operand<'a>>) -> Result<Ciphertext> {
        let y = y.into();
        if let Operand::Ciphertext(y) = y {
            x.extent().check_fits(y.extent())?;
            return self.chosen(&self.less(x, y)?, x, y);
        }
        self.ckks().sub(x, &self.relu(&self.ckks().sub_operand(x, y)?)?)
    }

    /// `max(x, 0)`. Numbers in the dead zone may become 0 or stay, which the error bound counts.
    ///
    /// # Errors
    /// As [`SchemeSwitch::is_positive`].
    pub fn relu(&self, x: &Ciphertext) -> Result<Ciphertext> {
        let decision = self.is_positive(x)?;
        let result = SlotEvaluator::mul(self.ckks(), &decision.result, x)?;
        let result = self.ckks().with_errors(result, &[], decision.dead_zone);
        Ok(match x.estimate().range().interval() {
            Some([low, high]) => result.with_range(low.min(0.0), high.max(0.0)),
            None => result,
        })
    }

    /// Any function of whole numbers below p, the number of values of the TFHE set: the result is right for slots that are within
    /// a [distance](SchemeSwitch::box_distance) of a whole number, which is nearly half for parameters of few failures. Slots
    /// between two numbers may become the value of either.
    ///
    /// Functions of two values alone are read as bits, which are more precise.
    ///
    /// # Errors
    /// As [`SchemeSwitch::down`]; [`Error::Parameters`] for a range that is not from 0 to p - 1, or for a set of bits;
    /// [`SlotError::NotFinite`] for a value that is not a number.
    pub fn lookup(&self, x: &Ciphertext, function: impl Fn(u64) -> f64) -> Result<Ciphertext> {
        let encoding = self.context().tfhe().parameters().encoding();
        encoding.needs_integers()?;
        let size = encoding.size();
        let [low, high] = self.interval(x)?;
        let most = (size - 1) as f64;
        if low < -0.5 || high > most + 0.5 {
            let needed = format!("from 0 to {most}: state it (with_range) if it is known");
            return Err(Error::parameter("range", format!("{low} to {high}"), needed));
        }
        let values: Vec<f64> = (0..size).map(function).collect();
        check_finite(&values)?;
        let distance = self.box_distance(x.extent().values())?;
        let lowered = self.lower(x, 0.5 / size as f64)?;
        let error = BOUND_ROOM * lowered.error_of_values();
        // Written so that what is not a number is refused.
        let near = error < distance;
        if !near {
            let needed = format!("below {distance}, so that whole numbers are told apart");
            return Err(Error::parameter("twice the error bound", error, needed));
        }
        let function = Function::of_boxes(self.table_degree(), &values);
        let log2_failure = log2_of_each(self.failure(), x.extent().values());
        self.by_table(&lowered, &function, 0, log2_failure)
    }

    /// How far slots of [`SchemeSwitch::lookup`] may be from a whole number, with errors of CKKS: further away the value may be that of the
    /// next one.
    ///
    /// # Errors
    /// [`Error::Parameters`] for a set of bits.
    pub fn box_distance(&self, values: usize) -> Result<f64> {
        let encoding = self.context().tfhe().parameters().encoding();
        encoding.needs_integers()?;
        let part = 0.5 / encoding.size() as f64;
        Ok(0.5 - margin(self.law().decision, log2_of_each(self.failure(), values)) / part)
    }

    /// Any function of real numbers in the range that the ciphertext states, of few bits: a bootstrap tells as many numbers apart as
    /// its noise lets it ([`SwitchingLaw::decision`]).
    ///
    /// The error bound of the result has the most that the function changes within that noise, between the numbers where it is
    /// asked as the variation says, which is a statement of the caller; so does the range of the result.
    ///
    /// # Errors
    /// As [`SchemeSwitch::down`]; [`SlotError::NotFinite`] for a value that is not a number, [`Error::Parameters`] for values that
    /// contradict the variation.
    pub fn function(&self, x: &Ciphertext, variation: &Variation, function: impl Fn(f64) -> f64) -> Result<Ciphertext> {
        let [low, high] = self.interval(x)?;
        let (centred, middle) = self.centred(x)?;
        let part = RANGE_PART / reach(centred.magnitude(), x.estimate().worst());
        let degree = self.table_degree();
        // Phases (c + 1/2) / 2N, a quarter of the circle ahead.
        let number = |place: f64| ((place / (2 * degree) as f64 - 0.25) / part + middle).clamp(low, high);

        let lowered = self.lower(&centred, part)?;
        let noise = SwitchingLaw::bound(self.law().decision, x.extent().values()) + lowered.error;
        if RANGE_PART + noise > 0.25 {
            let needed = format!("at most {}", (0.25 - RANGE_PART) / part);
            return Err(Error::parameter("error bound", lowered.error_of_values(), needed));
        }
        let inside = (0..=degree * POINTS).map(|i| number(i as f64 / POINTS as f64));
        let asked = Asked::new([low, high], inside, variation, function)?;
        // In coefficients, with the one that is looked up.
        let span = noise * (2 * degree) as f64 + 0.5;
        let (mut values, mut change) = (Vec::with_capacity(degree), 0.0);
        for c in 0..degree {
            let centre = c as f64 + 0.5;
            let value = asked.at(number(centre));
            let [least, most] = asked.bounds([number(centre - span), number(centre + span)]);
            change = f64::max(change, (most - value).max(value - least));
            values.push(value);
        }
        let function = Function::of_values(&values, asked.all());
        let log2_failure = log2_of_each(self.failure(), x.extent().values());
        let result = self.by_table(&lowered, &function, QUARTER, log2_failure)?;
        Ok(self.ckks().with_errors(result, &[], change))
    }

    fn decide(&self, x: &Ciphertext, affine: Affine, others: Option<u64>) -> Result<Decision> {
        let question = self.question(x, self.steps())?;
        let others = others.unwrap_or_else(|| question.lowered.absent(Readout::Bits));
        let result = self.answer(&question, affine, others)?;
        Ok(Decision { result, dead_zone: question.dead_zone, log2_failure: self.log2_failure(1) })
    }

    /// `log2` of how likely any result of a decision is wrong that came up in so many ciphertexts: that any value was decided wrong,
    /// or a coefficient left the interval of the way up.
    pub(super) fn log2_failure(&self, ciphertexts: usize) -> f64 {
        log2_sum(self.failure() + LOG2_DECIDED, self.bootstrapper().sine_failure() + libm::log2(ciphertexts as f64))
    }

    /// Numbers on their way to a decision in so many steps.
    ///
    /// # Errors
    /// As [`SchemeSwitch::down`].
    pub(super) fn question(&self, x: &Ciphertext, steps: Steps) -> Result<Question> {
        let [low, high] = self.interval(x)?;
        let part = SIGN_PART / reach(low.abs().max(high.abs()), x.estimate().worst());
        Ok(self.asked(self.lower(x, part)?, steps))
    }

    /// Numbers that came down, on their way to a decision in so many steps.
    pub(super) fn asked(&self, lowered: Lowered, steps: Steps) -> Question {
        let resolution = Resolution::new(self.law(), steps, log2_of_each(self.failure(), lowered.values()));
        let dead_zone = lowered.distance(resolution.dead_zone) + BOUND_ROOM * lowered.error_of_values();
        Question { lowered, resolution, dead_zone }
    }

    /// `factor sign(x) + constant`.
    ///
    /// # Errors
    /// As [`SchemeSwitch::up`].
    pub(super) fn answer(&self, question: &Question, affine: Affine, others: u64) -> Result<Ciphertext> {
        let reading = Reading { readout: Readout::Bits, affine };
        self.through(&question.lowered, reading, others, |samples| self.decide_each(samples, question.resolution))
    }

    /// The values of a function at phases that are moved by `offset`.
    fn by_table(&self, lowered: &Lowered, function: &Function, offset: u64, log2_failure: f64) -> Result<Ciphertext> {
        let reading = Reading { readout: function.readout, affine: function.affine };
        self.through(lowered, reading, lowered.absent(function.readout), |mut samples| {
            samples.iter_mut().for_each(|sample| sample.add_constant(offset));
            self.look_up(&samples, &function.table, log2_failure)
        })
    }

    /// x where the decision is 1, y elsewhere: in the dead zone they differ by less than it.
    fn chosen(&self, decision: &Decision, x: &Ciphertext, y: &Ciphertext) -> Result<Ciphertext> {
        let chosen = self.ckks().select(&decision.result, x, y)?;
        Ok(self.ckks().with_errors(chosen, &[], decision.dead_zone))
    }

    /// The numbers less the middle of their range, and that.
    pub(super) fn centred(&self, x: &Ciphertext) -> Result<(Ciphertext, f64)> {
        let [low, high] = self.interval(x)?;
        let middle = (low + high) / 2.0;
        let centred = self.ckks().add_const(x, (-middle).into())?.with_range(low - middle, high - middle);
        Ok((centred, middle))
    }

    /// The range of real slots.
    pub(super) fn interval(&self, x: &Ciphertext) -> Result<[f64; 2]> {
        let mode = self.bootstrapper().mode();
        if mode != Mode::Real {
            return Err(Error::parameter("mode", mode, "real, for functions of real numbers"));
        }
        let remedy = "take its real part, or state its range (with_range) if it is known to be real";
        let interval = x.estimate().range().interval();
        interval.ok_or_else(|| SlotError::NotReal { what: "the ciphertext to switch", remedy }.into())
    }
}

/// The largest value of slots of this magnitude, and of errors up to `worst` whatever their distribution, for which a part of the
/// circle is chosen.
///
/// A value of this size takes nine tenths of half of the circle; the rest holds the errors, once as those of the value and once
/// as part of what comes down, with room for those of the way: a ninth of the reach is more than twice a twentieth.
pub(crate) fn reach(magnitude: f64, worst: f64) -> f64 {
    /// In errors.
    const LEAST: f64 = 20.0;
    let reach = magnitude.max(LEAST * worst);
    if reach > 0.0 { reach } else { 1.0 }
}

/// `log2` of how likely one of so many values may be decided wrong, where all together are wrong with probability `2^failure`.
pub(super) fn log2_of_each(failure: f64, values: usize) -> f64 {
    failure + LOG2_DECIDED - libm::log2(values as f64)
}
