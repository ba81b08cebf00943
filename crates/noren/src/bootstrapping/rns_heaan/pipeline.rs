//! One pass through all stages of the baseline.

use std::f64::consts::{PI, SQRT_2, TAU};
use std::fmt;
use std::sync::Arc;

use noren_rlwe::error::{Error, Result};
use noren_rlwe::keys::EvaluationKeys;
use noren_rlwe::raise::mod_raise;
use num_complex::Complex64;

use crate::bootstrapping::dft::Direction;
use crate::bootstrapping::pipeline::like;
use crate::bootstrapping::rns_heaan::levels::DoubleLevels;
use crate::bootstrapping::rns_heaan::parameters::{Parameters, limb_level};
use crate::bootstrapping::rns_heaan::transform::Transform;
use crate::schemes::ckks::content::Content;
use crate::schemes::ckks::estimate::mix;
use crate::schemes::ckks::{Ciphertext, Context, Estimate, Evaluator, Scale};
use crate::schemes::extent::Extent;
use crate::schemes::range::Range;
use crate::schemes::slots::SlotEvaluator;

/// The slots of a raised ciphertext are sums of products of two numbers, each about Gaussian. Beyond this number of deviations
/// there is one in `2^15` slots with a probability below `2^-40`.
const RAISED_DEVIATIONS: f64 = 20.0;

/// By what part the polynomial and its powers are larger than the exponential, at most: `2^r y^8 / 8!` is below.
const POLYNOMIAL_ROOM: f64 = 1.0 + 1.0 / 1024.0;

/// By what part errors of the message grow in the sine: its derivative is at most 1, and not the same in all coefficients.
const SINE_ROOM: f64 = 1.0 + 1.0 / 64.0;

/// A sum of n independent complex numbers of size at most b and mean 0 is below `13 sqrt(n) b` but with probability `2^-40`, by
/// Hoeffding's inequality, in all of `2^15` slots: `sqrt(2) sqrt(2 ln(4 2^15 2^40))` is 12.6.
const SUM_DEVIATIONS: f64 = 13.0;

/// The domain separator of the names of raised ciphertexts.
const RAISED: u64 = 0x73;

/// A part of the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stage {
    /// To all limbs.
    Raise,
    /// Coefficients become slots.
    CoeffToSlot,
    /// Real and imaginary parts.
    Parts,
    /// The exponentials.
    Exponential,
    /// Their imaginary parts.
    Imaginary,
    /// Slots become coefficients.
    SlotToCoeff,
}

impl Stage {
    /// The name of the stage in records.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Raise => "raise",
            Self::CoeffToSlot => "coeff_to_slot",
            Self::Parts => "parts",
            Self::Exponential => "exponential",
            Self::Imaginary => "imaginary",
            Self::SlotToCoeff => "slot_to_coeff",
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
    /// The message z at double level 0, at the scale S; its packed coefficients v are z times the inverse special DFT.
    pub lowered: Ciphertext,
    /// The same polynomial plus `q_0 I`, at the highest double level.
    pub raised: Ciphertext,
    /// `pi x / 2^r` for its packed coefficients `x = v S / q_0 + I`, in bit-reversed order, in the slots.
    pub slots: Ciphertext,
    /// `2 pi Re x / 2^r` and `2 pi Im x / 2^r`.
    pub parts: [Ciphertext; 2],
    /// `exp(2 pi i Re x)` and `exp(2 pi i Im x)`.
    pub exponentials: [Ciphertext; 2],
    /// `(sin(2 pi Re x) + i sin(2 pi Im x)) q_0 / (2 pi S)`: v in bit-reversed order.
    pub coefficients: Ciphertext,
    /// The message.
    pub result: Ciphertext,
}

/// The stages with what they need: encoded matrices, keys, and an evaluator.
pub(super) struct Pipeline {
    pub parameters: Parameters,
    pub evaluator: Evaluator,
    coeff_to_slot: Transform,
    slot_to_coeff: Transform,
}

impl Pipeline {
    /// Encodes the matrices, for keys that were checked.
    ///
    /// # Errors
    /// As [`Encoder::encode_factor_complex`](crate::schemes::ckks::Encoder::encode_factor_complex).
    pub fn new(context: &Context, parameters: &Parameters, keys: Arc<EvaluationKeys>) -> Result<Self> {
        let encode = |direction, scales| Transform::encode(context, parameters, direction, scales);
        let to_slot = [&raised_scale(parameters)?, parameters.scale_at(parameters.slots_level())];
        let to_coeff = [&sine_scale(parameters)?, parameters.scale_at(parameters.output_level())];
        Ok(Self {
            parameters: parameters.clone(),
            evaluator: Evaluator::new(context, keys)?,
            coeff_to_slot: encode(Direction::CoeffToSlot, to_slot)?,
            slot_to_coeff: encode(Direction::SlotToCoeff, to_coeff)?,
        })
    }

    /// Takes a ciphertext that was checked through all stages.
    ///
    /// # Errors
    /// As the operations of [`Evaluator`].
    pub fn run(&self, a: &Ciphertext, done: &mut dyn FnMut(Stage)) -> Result<Stages> {
        let parameters = &self.parameters;
        let (lowered, input_error) = self.evaluator.split_error(self.lowered(a)?);
        let magnitude = a.magnitude();
        let raised = self.raised(&lowered)?;
        done(Stage::Raise);

        // In units of q_0 the message adds less than 1 to the largest multiple.
        let half_turns =
            (f64::from(parameters.spec().interval) + 1.0) / libm::exp2(f64::from(parameters.spec().doublings));
        let whole = raised.magnitude();
        // Layers of the inverse transform take means of two: the sums of random numbers shrink by the root of that.
        let bound = |layers: u32| whole * libm::exp2(-0.5 * f64::from(layers));
        let slots = self.coeff_to_slot.apply(&self.evaluator, &raised, bound)?;
        let slots = slots.with_magnitude(SQRT_2 * PI * half_turns);
        done(Stage::CoeffToSlot);
        let conjugate = self.evaluator.conjugate(&slots)?;
        let imaginary = self.evaluator.mul_i(&self.evaluator.sub(&conjugate, &slots)?)?;
        let parts = [self.evaluator.add(&slots, &conjugate)?, imaginary];
        let parts = parts.map(|part| part.with_magnitude(TAU * half_turns));
        done(Stage::Parts);

        let end = self.exponential_scale(lowered.scale())?;
        let exponentials = [self.exponential(&parts[0], &end)?, self.exponential(&parts[1], &end)?];
        done(Stage::Exponential);
        let coefficients = self.imaginary_parts(&exponentials)?;
        // Read so that v is the message; up to 2^-100 this is the scale that the matrices were encoded for.
        let factor = sine_scale(parameters)?.div(coefficients.scale());
        // |v|^2 is at most the mean of |z|^2.
        let coefficients = self.evaluator.reinterpret(coefficients, &factor)?.with_magnitude(magnitude);
        done(Stage::Imaginary);

        let (exact, error) = self.evaluator.split_error(coefficients.clone());
        let bound = |layers: u32| SINE_ROOM * magnitude * libm::exp2(0.5 * f64::from(layers));
        let result = self.slot_to_coeff.apply(&self.evaluator, &exact, bound)?;
        let scale = *parameters.scale_at(parameters.output_level());
        let result = like(a, result, scale);
        // The transform is the root of n times a unitary matrix: so much random errors grow, and with them what rounding the
        // entries of matrices did to the multiples of `q_0`, which are random.
        let spread = (parameters.slots() as f64).sqrt();
        let systematic = self.systematic_error(&lowered) + (SUM_DEVIATIONS - 1.0) * spread * error.bias();
        let result = self.evaluator.with_errors(result, &[(&error, spread), (&input_error, SINE_ROOM)], systematic);
        done(Stage::SlotToCoeff);
        Ok(Stages { lowered, raised, slots, parts, exponentials, coefficients, result })
    }

    /// At double level 0, in all slots of the ring. Above it the scale becomes `q_0 / rho`, over the power of two not below the
    /// magnitude; there already, it stays.
    fn lowered(&self, a: &Ciphertext) -> Result<Ciphertext> {
        let base = self.parameters.base();
        let excess = libm::ceil(libm::log2(a.magnitude())).max(0.0);
        let target = base.div(&positive(self.parameters.ratio() * libm::exp2(excess))?);
        let slots = self.parameters.slots();
        let a = a.clone().read_in(slots, Extent::of_slots(slots));
        let terms = [(&a, Complex64::ONE)];
        match a.level() {
            level if level == limb_level(0) => Ok(a),
            level if level == limb_level(0) + 1 => {
                self.evaluator.combine(&terms, Complex64::ZERO, limb_level(0), &target)
            }
            _ => DoubleLevels::new(&self.evaluator).combine(&terms, Complex64::ZERO, 0, &target),
        }
    }

    /// The polynomial modulo all primes. Under a sparse secret it is the message plus small multiples of `q_0`.
    fn raised(&self, a: &Ciphertext) -> Result<Ciphertext> {
        let (parameters, context) = (&self.parameters, self.evaluator.context());
        let inner = mod_raise(context.rlwe(), a.rlwe(), limb_level(parameters.spec().levels) + 1)?;
        // A coefficient over q_0 is a sum of h + 1 uniform numbers, and a slot one of n coefficients.
        let weight = f64::from(parameters.spec().weight);
        let deviation = (parameters.ckks().degree() as f64 * (weight + 1.0) / 12.0).sqrt();
        let unit = PI / libm::exp2(f64::from(parameters.spec().doublings));
        let estimate =
            Estimate::exact(Range::disc(RAISED_DEVIATIONS * deviation * unit), mix(a.estimate().tag(), RAISED));
        let scale = raised_scale(parameters)?;
        let content = Content::new(a.slots(), Extent::of_slots(a.slots()), estimate);
        Ok(Ciphertext::new(inner, scale, content, a.parameters().clone()))
    }

    /// The scale of the exponentials for which the doubled sines, read as v, stand at [`sine_scale`], for a message at a scale
    /// `S_0` modulo `q_0`: the canonical one where `S_0` is `q_0 / rho`.
    fn exponential_scale(&self, lowered: &Scale) -> Result<Scale> {
        let ratio = positive(self.parameters.ratio())?;
        let canonical = self.parameters.scale_at(self.parameters.reduced_level());
        Ok(canonical.mul(&self.parameters.base()).div(lowered).div(&ratio))
    }

    /// `exp(2 pi i x)` for `y = 2 pi x / 2^r` in the slots, at this scale in the end.
    ///
    /// The polynomial is `(c_0 + c_1 y) + y^2 (c_2 + c_3 y) + y^4 ((c_4 + c_5 y) + y^2 (c_6 + c_7 y))`: three levels, and four
    /// relinearisations. The error of y reaches it times its derivative, of size 1: it is taken apart before, and put together
    /// again afterwards.
    fn exponential(&self, y: &Ciphertext, end: &Scale) -> Result<Ciphertext> {
        let (parameters, double) = (&self.parameters, DoubleLevels::new(&self.evaluator));
        let c = parameters.exponential().coefficients();
        let level = parameters.slots_level();
        let last = parameters.reduced_level() + parameters.spec().doublings as usize;
        // A square divided by the primes Q is at `S^2 / Q`: from the end, every scale is a geometric mean.
        let levels = parameters.reduced_level() + 1..=last;
        let target = levels.fold(*end, |scale, level| scale.mul(&parameters.primes(level)).sqrt());

        let (y, error) = self.evaluator.split_error(y.clone());
        let y2 = double.square(&y)?;
        let y4 = double.square(&y2)?;
        let [above, before] = [level - 1, level - 2].map(|level| parameters.primes(level));
        let linear = |low: usize, scale: &Scale| double.combine(&[(&y, c[low + 1])], c[low], level - 1, scale);
        let high_scale = target.mul(&before).div(y4.scale());
        let top = linear(6, &high_scale.mul(&above).div(y2.scale()))?;
        let high = double.dot_combine(&[(&y2, &top)], &[(&y, c[5])], c[4], level - 2, &high_scale)?;
        let low = linear(2, &target.mul(&before).div(y2.scale()))?;
        let e = double.dot_combine(&[(&y4, &high), (&y2, &low)], &[(&y, c[1])], c[0], last, &target)?;
        let e = self.evaluator.with_errors(e.with_magnitude(1.0), &[(&error, POLYNOMIAL_ROOM)], 0.0);
        (0..parameters.spec().doublings).try_fold(e, |e, _| Ok(double.square(&e)?.with_magnitude(POLYNOMIAL_ROOM)))
    }

    /// `2 (Im E_0 + i Im E_1)`, as `i (conj(E_0 - i E_1) - (E_0 + i E_1))`.
    fn imaginary_parts(&self, [e0, e1]: &[Ciphertext; 2]) -> Result<Ciphertext> {
        let evaluator = &self.evaluator;
        let turned = evaluator.mul_i(e1)?;
        let conjugate = evaluator.conjugate(&evaluator.sub(e0, &turned)?)?;
        evaluator.mul_i(&evaluator.sub(&conjugate, &evaluator.add(e0, &turned)?)?)
    }

    /// The error of an exact computation, see [`Parameters::systematic_error`], for this message at its own scale.
    fn systematic_error(&self, lowered: &Ciphertext) -> f64 {
        let (parameters, magnitude) = (&self.parameters, lowered.magnitude());
        let ratio = parameters.base().ratio_to(lowered.scale());
        parameters.error_at(ratio, magnitude)
    }
}

/// `q_0 2^r / pi`: at this scale the coefficients of a raised polynomial are `pi x / 2^r`, whose double is the argument of the
/// polynomial.
fn raised_scale(parameters: &Parameters) -> Result<Scale> {
    let turn = libm::exp2(f64::from(parameters.spec().doublings)) / PI;
    Ok(parameters.base().mul(&positive(turn)?))
}

/// `4 pi S / rho` for the canonical scale S: the double of a sine at the scale S is the message at this one.
fn sine_scale(parameters: &Parameters) -> Result<Scale> {
    let factor = positive(2.0 * TAU / parameters.ratio())?;
    Ok(parameters.scale_at(parameters.reduced_level()).mul(&factor))
}

fn positive(value: f64) -> Result<Scale> {
    Scale::from_f64(value).ok_or_else(|| Error::parameter("scale", value, "positive"))
}
