//! Exact integers as evaluators of circuits: on each of the two rows.

use std::borrow::Borrow;

use noren_ring::engine::Engine;
use noren_rlwe::error::Result;

use crate::schemes::extent::Extent;
use crate::schemes::integers::encoder::Encoder;
use crate::schemes::integers::encryption::Ciphertext;
use crate::schemes::integers::evaluator::Evaluator;
use crate::schemes::integers::plaintext::{self, Plaintext};
use crate::schemes::integers::scheme::Scheme;
use crate::schemes::slots::{Bounds, GiantStep, SlotEvaluator};

/// A vector is a row: n/2 slots. Circuits do the same to both rows, and plain operands are the same in both.
///
/// The level is what the predicted noise leaves: an operation that uses a level may leave more than one less.
impl<S: Scheme> SlotEvaluator for Evaluator<S> {
    type Scalar = i64;
    type Ciphertext = Ciphertext<S>;
    type Plaintext = Plaintext;
    type Factor = Plaintext;
    type Estimate = ();

    fn engine(&self) -> Option<&Engine> {
        Some(self.context().rlwe().ring().engine())
    }

    fn slots(&self, x: &Ciphertext<S>) -> usize {
        x.parameters().row_slots()
    }

    fn period(&self, x: &Ciphertext<S>) -> usize {
        x.content().extent().period().min(self.slots(x))
    }

    fn level(&self, x: &Ciphertext<S>) -> usize {
        x.level()
    }

    fn encode_for(&self, values: &[i64], operand: &Ciphertext<S>) -> Result<Plaintext> {
        let encoder = Encoder::new(self.context());
        encoder.prepare(encoder.encode_row(values)?, operand.limbs())
    }

    fn encode_factor(&self, values: &[i64], operand: &Ciphertext<S>) -> Result<Plaintext> {
        let encoder = Encoder::new(self.context());
        encoder.prepare_factor(encoder.encode_row(values)?, operand.limbs())
    }

    fn factor_bytes(&self, operand: &Ciphertext<S>, period: usize) -> usize {
        plaintext::factor_bytes(operand.parameters(), operand.limbs(), period)
    }

    fn add(&self, a: &Ciphertext<S>, b: &Ciphertext<S>) -> Result<Ciphertext<S>> {
        Evaluator::add(self, a, b)
    }

    fn sub(&self, a: &Ciphertext<S>, b: &Ciphertext<S>) -> Result<Ciphertext<S>> {
        Evaluator::sub(self, a, b)
    }

    fn neg(&self, a: &Ciphertext<S>) -> Result<Ciphertext<S>> {
        Evaluator::neg(self, a)
    }

    fn add_scalar(&self, a: &Ciphertext<S>, c: i64) -> Result<Ciphertext<S>> {
        Evaluator::add_scalar(self, a, c)
    }

    fn add_plain(&self, a: &Ciphertext<S>, p: &Plaintext) -> Result<Ciphertext<S>> {
        Evaluator::add_plain(self, a, p)
    }

    fn mul(&self, a: &Ciphertext<S>, b: &Ciphertext<S>) -> Result<Ciphertext<S>> {
        Evaluator::mul(self, a, b)
    }

    fn square(&self, a: &Ciphertext<S>) -> Result<Ciphertext<S>> {
        Evaluator::square(self, a)
    }

    fn mul_plain(&self, a: &Ciphertext<S>, p: &Plaintext) -> Result<Ciphertext<S>> {
        Evaluator::mul_plain(self, a, p)
    }

    fn mul_scalar(&self, a: &Ciphertext<S>, c: i64) -> Result<Ciphertext<S>> {
        Evaluator::mul_scalar(self, a, c)
    }

    fn weighted_sum(&self, terms: &[(&Ciphertext<S>, i64)], constant: i64) -> Result<Ciphertext<S>> {
        Evaluator::weighted_sum(self, terms, constant)
    }

    fn dot(&self, pairs: &[(&Ciphertext<S>, &Ciphertext<S>)]) -> Result<Ciphertext<S>> {
        Evaluator::dot(self, pairs)
    }

    fn dot_plain(&self, pairs: &[(&Ciphertext<S>, &Plaintext)]) -> Result<Ciphertext<S>> {
        Evaluator::dot_plain(self, pairs)
    }

    fn rotate(&self, a: &Ciphertext<S>, steps: isize) -> Result<Ciphertext<S>> {
        Evaluator::rotate(self, a, steps)
    }

    fn rotate_many(&self, a: &Ciphertext<S>, steps: &[isize]) -> Result<Vec<Ciphertext<S>>> {
        Evaluator::rotate_many(self, a, steps)
    }

    fn sum_rotations(&self, a: &Ciphertext<S>, steps: &[isize]) -> Result<Ciphertext<S>> {
        Evaluator::sum_rotations(self, a, steps)
    }

    fn sum_rotations_in_turn(&self, a: &Ciphertext<S>, sums: &[&[isize]]) -> Result<Ciphertext<S>> {
        Evaluator::sum_rotations_in_turn(self, a, sums)
    }

    fn sum_giant_steps<F: Borrow<Plaintext>>(
        &self,
        a: &Ciphertext<S>,
        babies: &[isize],
        giants: &[GiantStep<F>],
    ) -> Result<Ciphertext<S>> {
        Evaluator::sum_giant_steps(self, a, babies, giants)
    }

    fn check_rotations(&self, a: &Ciphertext<S>, steps: &[isize]) -> Result<()> {
        Evaluator::check_rotations(self, a, steps)
    }

    fn with_magnitude(&self, a: Ciphertext<S>, _bound: f64) -> Ciphertext<S> {
        a
    }

    /// Of rows that may differ nothing is said: each repeats for itself.
    fn with_period(&self, a: Ciphertext<S>, period: usize) -> Ciphertext<S> {
        let content = a.content().repeated(period, self.slots(&a));
        a.holding(content)
    }

    fn extent(&self, x: &Ciphertext<S>) -> Extent {
        x.content().extent()
    }

    fn with_length(&self, a: Ciphertext<S>, length: Option<usize>) -> Result<Ciphertext<S>> {
        a.with_length(length)
    }

    fn at_level(&self, a: &Ciphertext<S>, level: usize) -> Result<Ciphertext<S>> {
        Evaluator::at_level(self, a, level)
    }

    fn bounds(&self, _a: &Ciphertext<S>) -> Option<Bounds> {
        None
    }

    fn split_error(&self, a: Ciphertext<S>) -> (Ciphertext<S>, ()) {
        (a, ())
    }

    fn with_errors(&self, a: Ciphertext<S>, _errors: &[(&(), f64)], _bias: f64) -> Ciphertext<S> {
        a
    }
}
