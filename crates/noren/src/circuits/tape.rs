//! Straight-line programs that know their own derivatives, so that every error reaches the result in its true size.
//!
//! Estimates that are carried from operation to operation add what two operands have in common with the worst signs,
//! and take each derivative at its own worst slot: `2 x^2 - 1` and `x` move together, or against each other, but a sum
//! of both sees only two sizes. A program in one variable x is known as a whole. Step v computes
//!
//! ```text
//! v = c + sum c_i v_i + sum v_j v_k + e_v
//! ```
//!
//! from earlier steps, where `e_v` is the error that this one operation adds. Where every operand is declared free of
//! error, `e_v` is what the evaluator estimates. With `E_v` for the whole error of step v, the error of the result is
//! exactly
//!
//! ```text
//! a_x(x) E_x + sum_v a_v(x) (e_v + sum E_j E_k),        a_v = d result / d v
//! ```
//!
//! with all derivatives taken at the exact x. As functions of x the values and the derivatives are polynomials of no
//! higher degree than the result, so their values on a grid bound them: on the interval of a real x, or on the circle
//! about the disc of a complex one. `docs/noise.md` has the proof.

use noren_ring::interrupt;
use noren_rlwe::error::Result;
use num_complex::Complex64;

use crate::circuits::grid;
use crate::schemes::range::Range;
use crate::schemes::slots::{Bounds, Scalar, SlotEvaluator};

/// Runs slot-by-slot operations on one input, and gives the result its error in the end.
///
/// Where the evaluator estimates no errors, a tape does nothing but to hand on the operations.
pub(super) struct Tape<'a, E: SlotEvaluator> {
    ev: &'a E,
    /// Where values and derivatives are followed in clear.
    points: Vec<Complex64>,
    /// Where the input lies.
    range: Range,
    /// The input, then every operation; none where no errors are estimated.
    steps: Vec<TapeStep<E::Estimate>>,
}

/// The result of a step.
pub(super) struct Value<E: SlotEvaluator> {
    /// Its estimate knows of no error.
    ciphertext: E::Ciphertext,
    step: usize,
}

/// The record of a result.
struct TapeStep<T> {
    /// Its operands, apart from constants.
    terms: Vec<Term>,
    /// In clear, at the points.
    values: Vec<Complex64>,
    /// Bound on the absolute value.
    magnitude: f64,
    /// Bound on the whole error in every slot; far above it where errors cancel.
    worst: f64,
    /// The error that the step adds.
    error: T,
}

/// A term of a sum; numbers of steps.
#[derive(Clone, Copy)]
enum Term {
    /// `c v_i`
    Multiple(f64, usize),
    /// `v_i v_j`
    Product(usize, usize),
}

impl<'a, E: SlotEvaluator> Tape<'a, E> {
    /// A tape whose results are polynomials in `x` of at most this degree, for messages in the range of `x`; and the input,
    /// as its first value.
    pub fn new(ev: &'a E, x: E::Ciphertext, degree: usize) -> (Self, Value<E>) {
        let mut tape = Self { ev, points: Vec::new(), range: Range::symmetric(f64::INFINITY), steps: Vec::new() };
        let Some(Bounds { range, error: worst }) = ev.bounds(&x) else {
            return (tape, Value { ciphertext: x, step: 0 });
        };
        tape.points = grid::points(degree, range);
        tape.range = range;
        let (x, error) = ev.split_error(x);
        let (values, magnitude) = (tape.points.clone(), range.magnitude());
        tape.steps.push(TapeStep { terms: Vec::new(), values, magnitude, worst, error });
        (tape, Value { ciphertext: x, step: 0 })
    }

    /// How many multiplications can still follow one another.
    pub fn level(&self, a: &Value<E>) -> usize {
        self.ev.level(&a.ciphertext)
    }

    /// `a + b`.
    pub fn add(&mut self, a: &Value<E>, b: &Value<E>) -> Result<Value<E>> {
        let sum = self.ev.add(&a.ciphertext, &b.ciphertext)?;
        Ok(self.record(sum, vec![Term::Multiple(1.0, a.step), Term::Multiple(1.0, b.step)], 0.0))
    }

    /// `a - b`.
    pub fn sub(&mut self, a: &Value<E>, b: &Value<E>) -> Result<Value<E>> {
        let difference = self.ev.sub(&a.ciphertext, &b.ciphertext)?;
        Ok(self.record(difference, vec![Term::Multiple(1.0, a.step), Term::Multiple(-1.0, b.step)], 0.0))
    }

    /// `a + c`.
    pub fn add_scalar(&mut self, a: &Value<E>, c: E::Scalar) -> Result<Value<E>> {
        let sum = self.ev.add_scalar(&a.ciphertext, c)?;
        Ok(self.record(sum, vec![Term::Multiple(1.0, a.step)], c.to_f64()))
    }

    /// `a b`; one level.
    pub fn mul(&mut self, a: &Value<E>, b: &Value<E>) -> Result<Value<E>> {
        let product = self.ev.mul(&a.ciphertext, &b.ciphertext)?;
        Ok(self.record(product, vec![Term::Product(a.step, b.step)], 0.0))
    }

    /// `a a`; one level.
    pub fn square(&mut self, a: &Value<E>) -> Result<Value<E>> {
        let square = self.ev.square(&a.ciphertext)?;
        Ok(self.record(square, vec![Term::Product(a.step, a.step)], 0.0))
    }

    /// `constant + sum c_k x_k`; one level.
    pub fn weighted_sum(&mut self, terms: &[(&Value<E>, E::Scalar)], constant: E::Scalar) -> Result<Value<E>> {
        let operands: Vec<_> = terms.iter().map(|(x, c)| (&x.ciphertext, *c)).collect();
        let sum = self.ev.weighted_sum(&operands, constant)?;
        let multiples = terms.iter().map(|(x, c)| Term::Multiple(c.to_f64(), x.step));
        Ok(self.record(sum, multiples.collect(), constant.to_f64()))
    }

    /// `sum a_k b_k`; one level.
    pub fn dot(&mut self, pairs: &[(&Value<E>, &Value<E>)]) -> Result<Value<E>> {
        let operands: Vec<_> = pairs.iter().map(|(a, b)| (&a.ciphertext, &b.ciphertext)).collect();
        let sum = self.ev.dot(&operands)?;
        Ok(self.record(sum, pairs.iter().map(|(a, b)| Term::Product(a.step, b.step)).collect(), 0.0))
    }

    /// `a` at a lower level.
    pub fn at_level(&mut self, a: &Value<E>, level: usize) -> Result<Value<E>> {
        let lowered = self.ev.at_level(&a.ciphertext, level)?;
        Ok(self.record(lowered, vec![Term::Multiple(1.0, a.step)], 0.0))
    }

    /// The result, with the errors of all steps, each by the largest derivative of the result with respect to it.
    pub fn finish(self, result: Value<E>) -> E::Ciphertext {
        let mut errors = Vec::with_capacity(self.steps.len());
        let mut second_order = 0.0;
        let sensitivities = self.sensitivities(result.step);
        for (step, sensitivity) in self.steps.iter().zip(sensitivities).filter(|(_, sensitivity)| *sensitivity > 0.0) {
            let crossed = step.terms.iter().map(|term| match *term {
                Term::Multiple(..) => 0.0,
                Term::Product(i, j) => self.steps[i].worst * self.steps[j].worst,
            });
            second_order += sensitivity * crossed.sum::<f64>();
            if !step.worst.is_finite() {
                // A value that may be too large for its modulus: nothing is known of what follows.
                second_order = f64::INFINITY;
            }
            errors.push((&step.error, sensitivity));
        }
        self.ev.with_errors(result.ciphertext, &errors, second_order)
    }

    /// Bounds on the derivative of a step with respect to each step up to it, from the last to the first.
    fn sensitivities(&self, result: usize) -> Vec<f64> {
        let Some(known) = self.steps.get(..=result) else {
            return Vec::new();
        };
        let mut derivatives = vec![vec![Complex64::ZERO; self.points.len()]; known.len()];
        derivatives[result].fill(Complex64::ONE);
        let mut sensitivities = vec![0.0; known.len()];
        for (index, step) in known.iter().enumerate().rev() {
            interrupt::check();
            let outer = std::mem::take(&mut derivatives[index]);
            sensitivities[index] = grid::bound(&outer);
            for term in &step.terms {
                match *term {
                    Term::Multiple(c, i) => add_product(&mut derivatives[i], &outer, |_| Complex64::from(c)),
                    Term::Product(i, j) => {
                        add_product(&mut derivatives[i], &outer, |at| known[j].values[at]);
                        add_product(&mut derivatives[j], &outer, |at| known[i].values[at]);
                    }
                }
            }
        }
        sensitivities
    }

    /// Notes what was computed, and takes its error from it.
    fn record(&mut self, result: E::Ciphertext, terms: Vec<Term>, constant: f64) -> Value<E> {
        interrupt::check();
        let step = self.steps.len();
        if self.steps.is_empty() {
            return Value { ciphertext: result, step: 0 };
        }
        let mut values = vec![Complex64::from(constant); self.points.len()];
        let mut worst = 0.0;
        for term in &terms {
            match *term {
                Term::Multiple(c, i) => {
                    let a = &self.steps[i];
                    add_product(&mut values, &a.values, |_| Complex64::from(c));
                    worst += c.abs() * a.worst;
                }
                Term::Product(i, j) => {
                    let (a, b) = (&self.steps[i], &self.steps[j]);
                    add_product(&mut values, &a.values, |at| b.values[at]);
                    worst += a.magnitude * b.worst + b.magnitude * a.worst + a.worst * b.worst;
                }
            }
        }
        let range = grid::range_of(&values, &self.range);
        let result = match range.interval() {
            Some(interval) => self.ev.with_range(result, interval),
            None => self.ev.with_magnitude(result, range.magnitude()),
        };
        // The error that the step adds is known once the size of the result is.
        worst += self.ev.bounds(&result).map_or(0.0, |bounds| bounds.error);
        let magnitude = range.magnitude();
        let (ciphertext, error) = self.ev.split_error(result);
        self.steps.push(TapeStep { terms, values, magnitude, worst, error });
        Value { ciphertext, step }
    }
}

/// Adds `a(j) b(j)` to `sum(j)` for every point j.
fn add_product(sum: &mut [Complex64], a: &[Complex64], b: impl Fn(usize) -> Complex64) {
    sum.iter_mut().zip(a).enumerate().for_each(|(at, (sum, a))| *sum += a * b(at));
}
