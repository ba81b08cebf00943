//! BGV and BFV without ciphertexts: the noise, limbs and factors that ciphertexts would have.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use noren_rlwe::error::{Error, Result};

use crate::schemes::integers::context::Context;
use crate::schemes::integers::encoder::Encoder;
use crate::schemes::integers::encryption::READ_BUDGET;
use crate::schemes::integers::evaluator::first;
use crate::schemes::integers::growth::{GiantTerms, Growth, State};
use crate::schemes::integers::keys::KeyRequest;
use crate::schemes::integers::noise::Mode;
use crate::schemes::integers::parameters::Parameters;
use crate::schemes::integers::plaintext::Norms;
use crate::schemes::integers::scheme::{Scheme, depth};
use crate::schemes::slots::{Bounds, GiantStep, SlotEvaluator};

/// An evaluator that follows the noise of ciphertexts through every operation, and refuses what an
/// [`Evaluator`](crate::schemes::integers::Evaluator) of these parameters refuses.
///
/// Vectors have no values: whether parameters carry a computation is known before any key exists. Plaintexts are encoded for their
/// norms.
pub(crate) struct NoiseModel<'a, S> {
    context: &'a Context,
    parameters: &'a Parameters,
    growth: Growth<'a, S>,
    needs: Mutex<Needs>,
}

/// The most limbs at which each key was needed.
#[derive(Debug, Default)]
struct Needs {
    relinearization: Option<usize>,
    rotations: BTreeMap<isize, usize>,
}

/// A vector of slots without values.
#[derive(Debug, Clone)]
pub(crate) struct ModelVector {
    slots: usize,
    period: usize,
    pub(crate) state: State,
}

impl ModelVector {
    /// Of another period.
    fn repeated(self, period: usize) -> Self {
        Self { period, ..self }
    }
}

impl<'a, S: Scheme> NoiseModel<'a, S> {
    pub(crate) fn new(context: &'a Context) -> Self {
        let parameters = context.parameters();
        Self { context, parameters, growth: Growth::new(parameters), needs: Mutex::default() }
    }

    /// An encryption with the secret key, of `slots` slots.
    pub(crate) fn fresh(&self, slots: usize, period: usize) -> ModelVector {
        let limbs = self.parameters.max_limbs();
        let noise = self.parameters.laws().fresh(Mode::Symmetric, limbs);
        ModelVector { slots, period, state: State { limbs, factor: 1, noise } }
    }

    /// Whether a decryption is right but with the probability of a failure.
    pub(crate) fn is_decrypted(&self, a: &ModelVector) -> bool {
        self.parameters.laws().budget(&a.state.noise) >= READ_BUDGET
    }

    /// The keys that everything so far has needed, each for as many limbs.
    pub(crate) fn needs(&self) -> KeyRequest {
        let needs = self.lock();
        KeyRequest {
            relinearization: needs.relinearization.is_some(),
            limbs: needs.relinearization,
            rotations_at: needs.rotations.iter().map(|(&steps, &limbs)| (steps, limbs)).collect(),
            ..KeyRequest::default()
        }
    }

    fn lock(&self) -> MutexGuard<'_, Needs> {
        self.needs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a rotation by these steps moves anything, for which there is a key then.
    fn moves(&self, steps: isize, limbs: usize) -> bool {
        if steps.unsigned_abs().is_multiple_of(self.parameters.row_slots()) {
            return false;
        }
        let mut needs = self.lock();
        let most = needs.rotations.entry(steps).or_insert(limbs);
        *most = limbs.max(*most);
        true
    }

    /// Notes a relinearisation at these limbs.
    fn relinearizes(&self, limbs: usize) {
        let mut needs = self.lock();
        needs.relinearization = needs.relinearization.max(Some(limbs));
    }

    fn settled(&self, a: &ModelVector, state: State) -> ModelVector {
        ModelVector { state: self.growth.settled(state), ..*a }
    }
}

impl<S: Scheme> SlotEvaluator for NoiseModel<'_, S> {
    type Scalar = i64;
    type Ciphertext = ModelVector;
    type Plaintext = Norms;
    type Factor = Norms;
    type Estimate = ();

    fn slots(&self, x: &ModelVector) -> usize {
        x.slots
    }

    fn period(&self, x: &ModelVector) -> usize {
        x.period
    }

    fn level(&self, x: &ModelVector) -> usize {
        depth::<S>(self.parameters.laws(), &x.state.noise, x.state.limbs)
    }

    fn encode_for(&self, values: &[i64], _operand: &ModelVector) -> Result<Norms> {
        Ok(Encoder::new(self.context).encode_row(values)?.norms())
    }

    fn encode_factor(&self, values: &[i64], operand: &ModelVector) -> Result<Norms> {
        self.encode_for(values, operand)
    }

    fn add(&self, a: &ModelVector, b: &ModelVector) -> Result<ModelVector> {
        let state = self.growth.sum(a.state.clone(), b.state.clone());
        Ok(ModelVector { slots: a.slots, period: a.period.max(b.period), state })
    }

    fn sub(&self, a: &ModelVector, b: &ModelVector) -> Result<ModelVector> {
        self.add(a, b)
    }

    fn neg(&self, a: &ModelVector) -> Result<ModelVector> {
        Ok(a.clone())
    }

    fn add_scalar(&self, a: &ModelVector, _c: i64) -> Result<ModelVector> {
        Ok(ModelVector { state: self.growth.with_addend(a.state.clone()), ..*a })
    }

    fn add_plain(&self, a: &ModelVector, _p: &Norms) -> Result<ModelVector> {
        Ok(self.add_scalar(a, 0)?.repeated(a.slots))
    }

    fn mul(&self, a: &ModelVector, b: &ModelVector) -> Result<ModelVector> {
        self.dot(&[(a, b)])
    }

    fn square(&self, a: &ModelVector) -> Result<ModelVector> {
        self.mul(a, a)
    }

    fn mul_plain(&self, a: &ModelVector, p: &Norms) -> Result<ModelVector> {
        let product = self.growth.plain_product(a.state.clone(), *p)?;
        Ok(self.settled(a, product).repeated(a.slots))
    }

    fn mul_scalar(&self, a: &ModelVector, c: i64) -> Result<ModelVector> {
        let modulus = self.parameters.modulus();
        let c = modulus.center(modulus.reduce(c.into()));
        Ok(ModelVector { state: self.growth.multiple(a.state.clone(), c), ..*a })
    }

    fn weighted_sum(&self, terms: &[(&ModelVector, i64)], constant: i64) -> Result<ModelVector> {
        let &(operand, weight) = first("terms of a weighted sum", terms)?;
        let start = self.mul_scalar(operand, weight)?;
        let sum = terms[1..].iter().try_fold(start, |sum, &(x, c)| self.add(&sum, &self.mul_scalar(x, c)?))?;
        self.add_scalar(&sum, constant)
    }

    fn dot(&self, pairs: &[(&ModelVector, &ModelVector)]) -> Result<ModelVector> {
        let &(operand, _) = first("products of a sum", pairs)?;
        let period = pairs.iter().map(|(a, b)| a.period.max(b.period)).max().unwrap_or(operand.period);
        let products = |pairs: &[(&ModelVector, &ModelVector)]| {
            self.growth.products(pairs.iter().map(|(a, b)| [a.state.clone(), b.state.clone()]))
        };
        let sum = products(pairs);
        self.relinearizes(sum.limbs);
        let state = if sum.alike {
            self.growth.relinearized(&sum)?
        } else {
            let tensors = pairs.chunks(1).map(|pair| self.growth.tensor(&products(pair)));
            let sum = tensors
                .reduce(|sum, tensor| Ok(self.growth.sum(sum?, tensor?)))
                .unwrap_or_else(|| self.growth.tensor(&sum))?;
            self.growth.settled(self.growth.relinearized_alone(sum))
        };
        Ok(ModelVector { slots: operand.slots, period, state })
    }

    fn dot_plain(&self, pairs: &[(&ModelVector, &Norms)]) -> Result<ModelVector> {
        let &(operand, _) = first("products of a sum", pairs)?;
        if pairs.iter().any(|(a, _)| a.state.factor != operand.state.factor) {
            let products = pairs.iter().map(|&(a, p)| self.mul_plain(a, p)).collect::<Result<Vec<_>>>()?;
            return products[1..].iter().try_fold(products[0].clone(), |sum, product| self.add(&sum, product));
        }
        let limbs = pairs.iter().map(|(a, _)| a.state.limbs).min().unwrap_or(operand.state.limbs);
        let lowered = |&(a, p): &(&ModelVector, &Norms)| (self.growth.lowered(a.state.clone(), limbs), *p);
        let terms: Vec<_> = pairs.iter().map(lowered).collect();
        let sum = self.growth.sum_of_plain_products(&terms)?;
        Ok(self.settled(operand, sum).repeated(operand.slots))
    }

    fn rotate(&self, a: &ModelVector, steps: isize) -> Result<ModelVector> {
        let moves = self.moves(steps, a.state.limbs);
        let state = if moves { self.growth.switched(a.state.clone()) } else { a.state.clone() };
        Ok(ModelVector { state, ..*a })
    }

    fn rotate_many(&self, a: &ModelVector, steps: &[isize]) -> Result<Vec<ModelVector>> {
        steps.iter().map(|&steps| self.rotate(a, steps)).collect()
    }

    fn sum_rotations(&self, a: &ModelVector, steps: &[isize]) -> Result<ModelVector> {
        self.sum_rotations_in_turn(a, &[steps])
    }

    fn sum_rotations_in_turn(&self, a: &ModelVector, sums: &[&[isize]]) -> Result<ModelVector> {
        let limbs = a.state.limbs;
        let images = |steps: &&[isize]| (steps.len(), steps.iter().filter(|&&steps| self.moves(steps, limbs)).count());
        Ok(ModelVector { state: self.growth.sums_of_images(a.state.clone(), sums.iter().map(images))?, ..*a })
    }

    fn sum_giant_steps<F: Borrow<Norms>>(
        &self,
        a: &ModelVector,
        babies: &[isize],
        giants: &[GiantStep<F>],
    ) -> Result<ModelVector> {
        first("giant steps", giants)?;
        let moves = |steps: isize| self.moves(steps, a.state.limbs);
        let babies: Vec<bool> = babies.iter().map(|&baby| moves(baby)).collect();
        let terms = |giant: &GiantStep<F>| GiantTerms {
            moves: moves(giant.rotation),
            terms: giant.terms.iter().map(|(baby, factor)| (babies[*baby], *factor.borrow())).collect(),
        };
        let giants: Vec<_> = giants.iter().map(terms).collect();
        let sum = self.growth.giant_steps(a.state.clone(), &giants)?;
        Ok(self.settled(a, sum).repeated(a.slots))
    }

    fn with_magnitude(&self, a: ModelVector, _bound: f64) -> ModelVector {
        a
    }

    fn with_period(&self, a: ModelVector, period: usize) -> ModelVector {
        a.repeated(period)
    }

    fn at_level(&self, a: &ModelVector, level: usize) -> Result<ModelVector> {
        let left = self.level(a);
        if level > left {
            return Err(Error::LevelExhausted { needed: level, left });
        }
        let limbs = self.growth.limbs_of_level(&a.state, level);
        Ok(ModelVector { state: self.growth.lowered(a.state.clone(), limbs), ..*a })
    }

    fn bounds(&self, _a: &ModelVector) -> Option<Bounds> {
        None
    }

    fn split_error(&self, a: ModelVector) -> (ModelVector, ()) {
        (a, ())
    }

    fn with_errors(&self, a: ModelVector, _errors: &[(&(), f64)], _bias: f64) -> ModelVector {
        a
    }
}
