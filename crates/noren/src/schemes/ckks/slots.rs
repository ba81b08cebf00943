//! CKKS as an evaluator of circuits.

use std::borrow::Borrow;

use noren_ring::engine::Engine;
use noren_rlwe::error::Result;
use num_complex::Complex64;

use crate::schemes::ckks::encoder::{Encoder, Plaintext};
use crate::schemes::ckks::encryption::Ciphertext;
use crate::schemes::ckks::estimate::Estimate;
use crate::schemes::ckks::evaluator::Evaluator;
use crate::schemes::ckks::factor::{self, Factor};
use crate::schemes::ckks::scale::Scale;
use crate::schemes::slots::{Bounds, GiantStep, SlotEvaluator};

impl SlotEvaluator for Evaluator {
    type Scalar = f64;
    type Ciphertext = Ciphertext;
    type Plaintext = Plaintext;
    type Factor = Factor;
    type Estimate = Estimate;

    fn engine(&self) -> Option<&Engine> {
        Some(self.context().rlwe().ring().engine())
    }

    fn slots(&self, x: &Ciphertext) -> usize {
        x.slots()
    }

    fn period(&self, x: &Ciphertext) -> usize {
        x.extent().period()
    }

    fn level(&self, x: &Ciphertext) -> usize {
        x.level()
    }

    /// At the scale that brings the product to the canonical scale one level below; at level 0, at that of the operand.
    fn encode_for(&self, values: &[f64], operand: &Ciphertext) -> Result<Plaintext> {
        let scale = scale_for(self, operand)?;
        Encoder::new(self.context()).encode_real(values, operand.slots(), operand.level(), &scale)
    }

    /// At the scale of the operand, which is not the one for products where scales start anew below.
    fn encode_addend(&self, values: &[f64], operand: &Ciphertext) -> Result<Plaintext> {
        self.context().check(operand.parameters(), "the ciphertext")?;
        Encoder::new(self.context()).encode_real(values, operand.slots(), operand.level(), operand.scale())
    }

    /// At the scale of [`encode_for`](Self::encode_for).
    fn encode_factor(&self, values: &[f64], operand: &Ciphertext) -> Result<Factor> {
        let scale = scale_for(self, operand)?;
        Encoder::new(self.context()).encode_factor(values, operand.slots(), operand.level(), &scale)
    }

    fn factor_bytes(&self, operand: &Ciphertext, period: usize) -> usize {
        factor::bytes(operand.parameters(), operand.level(), period)
    }

    fn add(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext> {
        Evaluator::add(self, a, b)
    }

    fn sub(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext> {
        Evaluator::sub(self, a, b)
    }

    fn neg(&self, a: &Ciphertext) -> Result<Ciphertext> {
        Evaluator::neg(self, a)
    }

    fn add_scalar(&self, a: &Ciphertext, c: f64) -> Result<Ciphertext> {
        self.add_const(a, Complex64::from(c))
    }

    fn add_plain(&self, a: &Ciphertext, p: &Plaintext) -> Result<Ciphertext> {
        Evaluator::add_plain(self, a, p)
    }

    fn mul(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext> {
        Evaluator::mul(self, a, b)
    }

    fn square(&self, a: &Ciphertext) -> Result<Ciphertext> {
        Evaluator::square(self, a)
    }

    fn mul_plain(&self, a: &Ciphertext, p: &Plaintext) -> Result<Ciphertext> {
        Evaluator::mul_plain(self, a, p)
    }

    fn mul_scalar(&self, a: &Ciphertext, c: f64) -> Result<Ciphertext> {
        self.mul_const(a, Complex64::from(c))
    }

    fn weighted_sum(&self, terms: &[(&Ciphertext, f64)], constant: f64) -> Result<Ciphertext> {
        Evaluator::weighted_sum(self, terms, constant)
    }

    fn dot(&self, pairs: &[(&Ciphertext, &Ciphertext)]) -> Result<Ciphertext> {
        Evaluator::dot(self, pairs)
    }

    fn dot_plain(&self, pairs: &[(&Ciphertext, &Plaintext)]) -> Result<Ciphertext> {
        Evaluator::dot_plain(self, pairs)
    }

    fn rotate(&self, a: &Ciphertext, steps: isize) -> Result<Ciphertext> {
        Evaluator::rotate(self, a, steps)
    }

    fn rotate_many(&self, a: &Ciphertext, steps: &[isize]) -> Result<Vec<Ciphertext>> {
        Evaluator::rotate_many(self, a, steps)
    }

    fn sum_rotations(&self, a: &Ciphertext, steps: &[isize]) -> Result<Ciphertext> {
        Evaluator::sum_rotations(self, a, steps)
    }

    fn sum_rotations_in_turn(&self, a: &Ciphertext, sums: &[&[isize]]) -> Result<Ciphertext> {
        Evaluator::sum_rotations_in_turn(self, a, sums)
    }

    fn sum_giant_steps<F: Borrow<Factor>>(
        &self,
        a: &Ciphertext,
        babies: &[isize],
        giants: &[GiantStep<F>],
    ) -> Result<Ciphertext> {
        Evaluator::sum_giant_steps(self, a, babies, giants)
    }

    fn check_rotations(&self, a: &Ciphertext, steps: &[isize]) -> Result<()> {
        Evaluator::check_rotations(self, a, steps)
    }

    fn with_magnitude(&self, a: Ciphertext, bound: f64) -> Ciphertext {
        a.with_magnitude(bound)
    }

    fn with_range(&self, a: Ciphertext, [low, high]: [f64; 2]) -> Ciphertext {
        a.with_range(low, high)
    }

    fn with_period(&self, a: Ciphertext, period: usize) -> Ciphertext {
        let (slots, extent) = (a.slots(), a.extent().repeated(period));
        a.read_in(slots, extent)
    }

    fn at_level(&self, a: &Ciphertext, level: usize) -> Result<Ciphertext> {
        Evaluator::at_level(self, a, level)
    }

    fn bounds(&self, a: &Ciphertext) -> Option<Bounds> {
        let error = if a.estimate().overflows() { f64::INFINITY } else { a.estimate().worst() };
        Some(Bounds { range: *a.estimate().range(), error })
    }

    fn split_error(&self, a: Ciphertext) -> (Ciphertext, Estimate) {
        let estimate = a.estimate().clone();
        (a.estimated(|estimate| estimate.without_error()), estimate)
    }

    fn with_errors(&self, a: Ciphertext, errors: &[(&Estimate, f64)], bias: f64) -> Ciphertext {
        a.estimated(|estimate| estimate.with_errors(errors).with_bias(bias))
    }
}

/// The scale of a plain operand of a product with a ciphertext.
fn scale_for(evaluator: &Evaluator, operand: &Ciphertext) -> Result<Scale> {
    let (context, level) = (evaluator.context(), operand.level());
    context.check(operand.parameters(), "the ciphertext")?;
    let canonical = operand.scale() == context.parameters().scale_at(level);
    if level == 0 || canonical && context.parameters().follows(level) {
        return Ok(*operand.scale());
    }
    Ok(evaluator.scale_before_rescale(level).div(operand.scale()))
}
