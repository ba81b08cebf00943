//! An evaluator whose levels do not end.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

use noren_ring::engine::Engine;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::keys::EvaluationKeys;

use crate::bootstrapping::bootstrapper::Bootstrapper;
use crate::bootstrapping::renewal::Renewal;
use crate::schemes::ckks::{self, Ciphertext, Encoder, Estimate, Evaluator, Scale, factor};
use crate::schemes::extent::Extent;
use crate::schemes::slots::{Bounds, GiantStep, SlotEvaluator};

/// Evaluates programs of any depth: a ciphertext that has too few levels for an operation is bootstrapped before it.
///
/// All circuits run on it as on an [`Evaluator`]. Its rules:
///
/// - **Levels.** The levels between [`Parameters::input_level`](crate::bootstrapping::Parameters::input_level) and
///   [`Parameters::output_level`](crate::bootstrapping::Parameters::output_level) are for the program; those below are for
///   bootstrapping, and a ciphertext from above goes down to the level of results first, so that keys for that level
///   serve. [`BootstrappingEvaluator::levels_left`] says how many products can follow one another before the next bootstrap;
///   [`SlotEvaluator::level`] has no end.
/// - **When.** An operand is bootstrapped when the product needs a level that it does not have, and not before. A
///   polynomial whose depth fits between two bootstraps asks for all its levels at once, so that its argument is
///   bootstrapped and nothing within it; a deeper one is bootstrapped within, where its powers run out.
/// - **Once.** The last results are remembered, up to 256 MiB: the same ciphertext is not bootstrapped again.
/// - **Magnitudes.** Bootstrapping rests on the bound that a ciphertext carries, [`Ciphertext::magnitude`], and takes at
///   most [`MAX_MAGNITUDE`](crate::bootstrapping::MAX_MAGNITUDE). Products multiply these bounds, which after
///   some steps are far above the truth: the error of a result grows with the bound, and beyond the limit it is refused. A
///   program that knows better says so with [`Ciphertext::with_magnitude`].
/// - **Real or complex.** As the bootstrapper is: in [`Mode::Real`](crate::bootstrapping::Mode::Real) messages that may be
///   complex are refused.
///
/// Cheap to clone, and shared between threads; clones share the memory and the count.
///
/// # Examples
/// ```
/// use noren::bootstrapping::{BootstrapKeys, Bootstrapper, Mode, Preset, WithBootstrapping};
/// use noren::ckks::{Context, Decryptor, Encoder, Encryptor, Evaluator, KeyRequest};
/// use noren::schemes::slots::SlotEvaluator;
/// use noren::Seed;
/// use std::sync::Arc;
///
/// // A small ring for the example, without security.
/// let parameters = Preset::Toy.parameters()?;
/// let context = Context::new(parameters.ckks()?)?;
/// let level = parameters.output_level();
/// let request = KeyRequest { relinearization: true, level: Some(level), ..KeyRequest::default() };
/// let keys = context.generate_keys(Seed::random()?, &request)?;
/// let bootstrap = BootstrapKeys::generate(&context, &parameters, &keys.secret, Seed::random()?, None)?;
/// let bootstrapper = Bootstrapper::new(&context, &parameters, Arc::new(bootstrap), Mode::Real)?;
/// let ev = Evaluator::new(&context, keys.evaluation)?.with_bootstrapping(Arc::new(bootstrapper))?;
///
/// let x = Encoder::new(&context).encode(&[0.5, -0.9], 512, level)?;
/// let mut x = Encryptor::public(&context, &keys.public, Seed::random()?)?.encrypt(&x)?;
/// for _ in 0..5 {
///     // cos 2t = 2 cos^2 t - 1
///     x = ev.weighted_sum(&[(&ev.square(&x)?, 2.0)], -1.0)?.with_magnitude(1.0);
/// }
/// let values = Decryptor::new(&context, &keys.secret)?.decrypt_real(&x)?;
/// assert!((values[0] - (32.0 * 0.5f64.acos()).cos()).abs() < 1e-2);
/// assert_eq!(ev.bootstraps(), 4);
/// # Ok::<(), noren::Error>(())
/// ```
#[derive(Clone)]
pub struct BootstrappingEvaluator {
    evaluator: Evaluator,
    renewal: Arc<Renewal>,
}

/// The extension of [`Evaluator`] by this layer.
pub trait WithBootstrapping {
    /// The evaluator with levels that do not end.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`] if the bootstrapper is of other parameters, [`Error::KeyMismatch`] if its keys are of
    /// another secret key.
    fn with_bootstrapping(&self, bootstrapper: Arc<Bootstrapper>) -> Result<BootstrappingEvaluator>;
}

impl WithBootstrapping for Evaluator {
    fn with_bootstrapping(&self, bootstrapper: Arc<Bootstrapper>) -> Result<BootstrappingEvaluator> {
        self.context().check(&bootstrapper.parameters().ckks()?, "the bootstrapper")?;
        self.keys().owner().check(&bootstrapper.owner(), "the bootstrapper")?;
        Ok(BootstrappingEvaluator { evaluator: self.clone(), renewal: Arc::new(Renewal::new(bootstrapper, 0.0)?) })
    }
}

impl BootstrappingEvaluator {
    /// The evaluator for what needs no new levels.
    #[must_use]
    pub fn evaluator(&self) -> &Evaluator {
        &self.evaluator
    }

    /// The bootstrapper.
    #[must_use]
    pub fn bootstrapper(&self) -> &Bootstrapper {
        &self.renewal.bootstrapper
    }

    /// The same with other evaluation keys of the same secret; both share the memory and the count.
    ///
    /// # Errors
    /// As [`Evaluator::new`].
    pub fn with_keys(&self, keys: Arc<EvaluationKeys>) -> Result<Self> {
        let evaluator = Evaluator::new(self.evaluator.context(), keys)?;
        Ok(Self { evaluator, renewal: self.renewal.clone() })
    }

    /// The evaluator with a failure budget: what needs a bootstrap is refused
    /// ([`FailureBudgetExceeded`](crate::schemes::error::FailureBudgetExceeded)) if with it the probability that any
    /// bootstrap was wrong in some slot might exceed `2^log2_failure`. The count starts anew, for this evaluator and
    /// its clones.
    ///
    /// # Errors
    /// None of parameters that bootstrap.
    pub fn with_failure_budget(self, log2_failure: f64) -> Result<Self> {
        let renewal = Renewal::new(self.renewal.bootstrapper.clone(), log2_failure)?;
        Ok(Self { renewal: Arc::new(renewal), ..self })
    }

    /// The same message at the level of results, or, if it is there, as it is; see [`Bootstrapper::bootstrap`].
    ///
    /// # Errors
    /// As [`Bootstrapper::bootstrap`], but for levels that are too high.
    pub fn bootstrap(&self, a: &Ciphertext) -> Result<Ciphertext> {
        self.ready(a, self.bootstrapper().levels_left()).map(Cow::into_owned)
    }

    /// How many products can follow one another on `a` before the next bootstrap.
    #[must_use]
    pub fn levels_left(&self, a: &Ciphertext) -> usize {
        let parameters = self.bootstrapper().parameters();
        a.level().min(self.bootstrapper().output_level()).saturating_sub(parameters.input_level())
    }

    /// How many bootstraps there were, of this evaluator and all its clones.
    #[must_use]
    pub fn bootstraps(&self) -> u64 {
        self.renewal.count()
    }

    /// `log2` of a bound on the probability that any of these was wrong in some slot; minus infinity for none.
    ///
    /// See [`BootstrapPlan::log2_failure`](crate::bootstrapping::BootstrapPlan::log2_failure).
    #[must_use]
    pub fn log2_failure(&self) -> f64 {
        self.renewal.log2_failure()
    }

    /// The same vector with at least `levels` levels for the program, at most as many as results have.
    ///
    /// # Errors
    /// As [`Bootstrapper::bootstrap`].
    pub fn ready<'a>(&self, a: &'a Ciphertext, levels: usize) -> Result<Cow<'a, Ciphertext>> {
        let parameters = self.bootstrapper().parameters();
        let (input, output) = (parameters.input_level(), self.bootstrapper().output_level());
        if a.level() > output {
            return self.evaluator.at_level(a, output).map(Cow::Owned);
        }
        if levels == 0 || a.level() >= output.min(input + levels) {
            return Ok(Cow::Borrowed(a));
        }
        self.renewal.renew(&self.evaluator, a).map(Cow::Owned)
    }

    /// Both for a product.
    fn pair<'a>(&self, a: &'a Ciphertext, b: &'a Ciphertext) -> Result<[Cow<'a, Ciphertext>; 2]> {
        Ok([self.ready(a, 1)?, self.ready(b, 1)?])
    }

    /// The level that the operand of a product will have.
    fn encoded_level(&self, operand: &Ciphertext) -> usize {
        let output = self.bootstrapper().output_level();
        if self.levels_left(operand) == 0 { output } else { operand.level().min(output) }
    }

    /// Encodes for that level.
    fn encoded<T>(
        &self,
        values: &[f64],
        operand: &Ciphertext,
        encode: impl FnOnce(&Encoder, usize, &Scale) -> Result<T>,
    ) -> Result<Encoded<T>> {
        let level = self.encoded_level(operand);
        let scale = *self.evaluator.context().parameters().scale_at(level);
        let thing = Arc::new(encode(&Encoder::new(self.evaluator.context()), level, &scale)?);
        let last = Mutex::new((level, scale, thing));
        Ok(Encoded { values: values.to_vec(), slots: operand.slots(), last })
    }
}

/// Numbers that are encoded for a level where they are used, and kept for the next use there.
pub struct Encoded<T> {
    values: Vec<f64>,
    slots: usize,
    /// The last encoding, for operands of this level and scale.
    last: Mutex<(usize, Scale, Arc<T>)>,
}

/// A plain operand of any level.
pub type Plaintext = Encoded<ckks::Plaintext>;

/// A plain factor of any level.
pub type Factor = Encoded<ckks::Factor>;

impl<T> Encoded<T> {
    /// For this operand.
    fn at(&self, operand: &Ciphertext, encode: impl FnOnce() -> Result<T>) -> Result<Arc<T>> {
        if self.slots != operand.slots() {
            let (what, needed) = ("slots of the second operand", operand.slots().to_string());
            return Err(Error::Length { what, found: self.slots, needed });
        }
        let wanted = (operand.level(), *operand.scale());
        if let Some(known) = self.known(wanted) {
            return Ok(known);
        }
        // Without the lock: a thread that waits for loops of the encoding may take work meanwhile that encodes the same numbers.
        let thing = Arc::new(encode()?);
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = (wanted.0, wanted.1, thing.clone());
        Ok(thing)
    }

    /// The last encoding, if it is for this level and scale.
    fn known(&self, wanted: (usize, Scale)) -> Option<Arc<T>> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        ((last.0, last.1) == wanted).then(|| last.2.clone())
    }
}

impl SlotEvaluator for BootstrappingEvaluator {
    type Scalar = f64;
    type Ciphertext = Ciphertext;
    type Plaintext = Plaintext;
    type Factor = Factor;
    type Estimate = Estimate;

    fn engine(&self) -> Option<&Engine> {
        Some(self.evaluator.context().rlwe().ring().engine())
    }

    fn slots(&self, x: &Ciphertext) -> usize {
        x.slots()
    }

    fn period(&self, x: &Ciphertext) -> usize {
        x.extent().period()
    }

    /// Without end: the largest number there is, for every ciphertext. See [`BootstrappingEvaluator::levels_left`].
    fn level(&self, _: &Ciphertext) -> usize {
        usize::MAX
    }

    fn encode_for(&self, values: &[f64], operand: &Ciphertext) -> Result<Plaintext> {
        self.encoded(values, operand, |encoder, level, scale| {
            encoder.encode_real(values, operand.slots(), level, scale)
        })
    }

    fn encode_factor(&self, values: &[f64], operand: &Ciphertext) -> Result<Factor> {
        self.encoded(values, operand, |encoder, level, scale| {
            encoder.encode_factor(values, operand.slots(), level, scale)
        })
    }

    fn factor_bytes(&self, operand: &Ciphertext, period: usize) -> usize {
        let encoded = factor::bytes(operand.parameters(), self.encoded_level(operand), period);
        encoded.saturating_add(size_of::<f64>().saturating_mul(operand.slots()))
    }

    fn add(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext> {
        self.evaluator.add(&*self.ready(a, 0)?, &*self.ready(b, 0)?)
    }

    fn sub(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext> {
        self.evaluator.sub(&*self.ready(a, 0)?, &*self.ready(b, 0)?)
    }

    fn neg(&self, a: &Ciphertext) -> Result<Ciphertext> {
        self.evaluator.neg(a)
    }

    fn add_scalar(&self, a: &Ciphertext, c: f64) -> Result<Ciphertext> {
        self.evaluator.add_scalar(a, c)
    }

    fn add_plain(&self, a: &Ciphertext, p: &Plaintext) -> Result<Ciphertext> {
        let a = self.ready(a, 0)?;
        let encoder = Encoder::new(self.evaluator.context());
        let encode = || encoder.encode_real(&p.values, p.slots, a.level(), a.scale());
        let plain = p.at(&a, encode)?;
        if plain.scale() == a.scale() {
            return self.evaluator.add_plain(&a, &plain);
        }
        // It was encoded for products with this operand, whose scale is not canonical.
        self.evaluator.add_plain(&a, &encode()?)
    }

    fn mul(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext> {
        let [a, b] = self.pair(a, b)?;
        self.evaluator.mul(&a, &b)
    }

    fn square(&self, a: &Ciphertext) -> Result<Ciphertext> {
        self.evaluator.square(&*self.ready(a, 1)?)
    }

    fn mul_plain(&self, a: &Ciphertext, p: &Plaintext) -> Result<Ciphertext> {
        self.dot_plain(&[(a, p)])
    }

    fn mul_scalar(&self, a: &Ciphertext, c: f64) -> Result<Ciphertext> {
        self.evaluator.mul_scalar(&*self.ready(a, 1)?, c)
    }

    fn weighted_sum(&self, terms: &[(&Ciphertext, f64)], constant: f64) -> Result<Ciphertext> {
        let operands: Vec<_> = terms.iter().map(|(x, _)| self.ready(x, 1)).collect::<Result<_>>()?;
        let terms: Vec<_> = operands.iter().zip(terms).map(|(x, &(_, c))| (&**x, c)).collect();
        self.evaluator.weighted_sum(&terms, constant)
    }

    fn dot(&self, pairs: &[(&Ciphertext, &Ciphertext)]) -> Result<Ciphertext> {
        let operands: Vec<_> = pairs.iter().map(|(a, b)| self.pair(a, b)).collect::<Result<_>>()?;
        let pairs: Vec<_> = operands.iter().map(|[a, b]| (&**a, &**b)).collect();
        self.evaluator.dot(&pairs)
    }

    /// Operands of different levels go to the lowest of them.
    fn dot_plain(&self, pairs: &[(&Ciphertext, &Plaintext)]) -> Result<Ciphertext> {
        let operands: Vec<_> = pairs.iter().map(|(a, _)| self.ready(a, 1)).collect::<Result<_>>()?;
        let lowest = operands.iter().map(|a| a.level()).min().unwrap_or(0);
        let lowered = operands.iter().map(|a| self.evaluator.at_level(a, lowest)).collect::<Result<Vec<_>>>()?;
        let encode = |(a, (_, p)): (&Ciphertext, &(_, &Plaintext))| {
            p.at(a, || SlotEvaluator::encode_for(&self.evaluator, &p.values, a))
        };
        let plains = lowered.iter().zip(pairs).map(encode).collect::<Result<Vec<_>>>()?;
        let pairs: Vec<_> = lowered.iter().zip(&plains).map(|(a, p)| (a, &**p)).collect();
        self.evaluator.dot_plain(&pairs)
    }

    fn rotate(&self, a: &Ciphertext, steps: isize) -> Result<Ciphertext> {
        self.evaluator.rotate(&*self.ready(a, 0)?, steps)
    }

    fn rotate_many(&self, a: &Ciphertext, steps: &[isize]) -> Result<Vec<Ciphertext>> {
        self.evaluator.rotate_many(&*self.ready(a, 0)?, steps)
    }

    fn sum_rotations(&self, a: &Ciphertext, steps: &[isize]) -> Result<Ciphertext> {
        self.evaluator.sum_rotations(&*self.ready(a, 0)?, steps)
    }

    fn sum_rotations_in_turn(&self, a: &Ciphertext, sums: &[&[isize]]) -> Result<Ciphertext> {
        self.evaluator.sum_rotations_in_turn(&*self.ready(a, 0)?, sums)
    }

    fn sum_giant_steps(&self, a: &Ciphertext, babies: &[isize], giants: &[GiantStep<Factor>]) -> Result<Ciphertext> {
        let a = self.ready(a, 1)?;
        let encode =
            |factor: &Factor| factor.at(&a, || SlotEvaluator::encode_factor(&self.evaluator, &factor.values, &a));
        let giant = |giant: &GiantStep<Factor>| {
            let terms = giant.terms.iter().map(|(baby, factor)| Ok((*baby, encode(factor)?)));
            Ok(GiantStep { rotation: giant.rotation, terms: terms.collect::<Result<_>>()? })
        };
        let giants: Vec<GiantStep<Arc<ckks::Factor>>> = giants.iter().map(giant).collect::<Result<_>>()?;
        self.evaluator.sum_giant_steps(&a, babies, &giants)
    }

    fn check_rotations(&self, a: &Ciphertext, steps: &[isize]) -> Result<()> {
        SlotEvaluator::check_rotations(&self.evaluator, &*self.ready(a, 0)?, steps)
    }

    fn with_magnitude(&self, a: Ciphertext, bound: f64) -> Ciphertext {
        a.with_magnitude(bound)
    }

    fn with_range(&self, a: Ciphertext, [low, high]: [f64; 2]) -> Ciphertext {
        a.with_range(low, high)
    }

    fn with_period(&self, a: Ciphertext, period: usize) -> Ciphertext {
        SlotEvaluator::with_period(&self.evaluator, a, period)
    }

    fn extent(&self, x: &Ciphertext) -> Extent {
        x.extent()
    }

    fn with_length(&self, a: Ciphertext, length: Option<usize>) -> Result<Ciphertext> {
        a.with_length(length)
    }

    /// The vector as it is: its levels have no end, and stay so.
    fn at_level(&self, a: &Ciphertext, _: usize) -> Result<Ciphertext> {
        Ok(a.clone())
    }

    /// Bootstrapped if the circuit fits between two bootstraps, and the vector has fewer levels left; a deeper circuit is
    /// bootstrapped on its way.
    fn with_levels(&self, a: &Ciphertext, levels: usize) -> Result<Ciphertext> {
        let fits = levels <= self.bootstrapper().parameters().levels_left();
        self.ready(a, if fits { levels } else { 0 }).map(Cow::into_owned)
    }

    fn renewed_for_product(&self, a: Ciphertext) -> Result<Ciphertext> {
        let ready = match self.ready(&a, 1)? {
            Cow::Owned(ready) => Some(ready),
            Cow::Borrowed(_) => None,
        };
        Ok(ready.unwrap_or(a))
    }

    fn bounds(&self, a: &Ciphertext) -> Option<Bounds> {
        self.evaluator.bounds(a)
    }

    fn split_error(&self, a: Ciphertext) -> (Ciphertext, Estimate) {
        self.evaluator.split_error(a)
    }

    fn with_errors(&self, a: Ciphertext, errors: &[(&Estimate, f64)], bias: f64) -> Ciphertext {
        self.evaluator.with_errors(a, errors, bias)
    }
}

#[cfg(test)]
mod tests {
    use noren_math::random::Seed;

    use super::*;
    use crate::bootstrapping::Preset;
    use crate::schemes::ckks::{Context, Encryptor, KeyRequest};

    #[test]
    fn numbers_are_encoded_while_the_same_ones_are_encoded() {
        let parameters = Preset::Toy.parameters().expect("a preset");
        let context = Context::new(parameters.ckks().expect("primes")).expect("rings");
        let keys = context.generate_keys(Seed::from_bytes([1; 32]), &KeyRequest::default()).expect("keys");
        let plain = Encoder::new(&context).encode(&[0.5], 1, 1).expect("one number");
        let encryptor = Encryptor::public(&context, &keys.public, Seed::from_bytes([2; 32])).expect("its key");
        let x = encryptor.encrypt(&plain).expect("room");
        let last = Mutex::new((0, *x.scale(), Arc::new(0)));
        let encoded = Encoded { values: vec![0.5], slots: x.slots(), last };
        // As a thread does that takes other work while it waits for loops.
        let result = encoded.at(&x, || Ok(*encoded.at(&x, || Ok(1))? + 1)).expect("the same slots");
        assert_eq!((*result, *encoded.at(&x, || Ok(7)).expect("the same slots")), (2, 2));
    }
}
