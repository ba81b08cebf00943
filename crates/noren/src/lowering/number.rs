//! Numbers that slots hold: real ones, or integers modulo t.

use noren_rlwe::error::{Error, Result};

use crate::circuits::polynomial::Polynomial;
use crate::schemes::slots::{Scalar, SlotEvaluator};

/// A scalar of an evaluator, made of a number of a graph.
pub(crate) trait Number: Scalar + Default {
    /// Whether the numbers are real.
    const REAL: bool;

    /// The number.
    fn number(x: f64) -> Self;

    /// A polynomial of the Chebyshev basis on an interval, of each slot.
    ///
    /// # Errors
    /// As [`Polynomial::evaluate_on`]; integers have no interval.
    fn on_interval<E: SlotEvaluator<Scalar = Self>>(
        ev: &E,
        polynomial: &Polynomial,
        interval: [f64; 2],
        x: &E::Ciphertext,
    ) -> Result<E::Ciphertext>;
}

impl Number for f64 {
    const REAL: bool = true;

    fn number(x: f64) -> Self {
        x
    }

    fn on_interval<E: SlotEvaluator<Scalar = Self>>(
        ev: &E,
        polynomial: &Polynomial,
        interval: [f64; 2],
        x: &E::Ciphertext,
    ) -> Result<E::Ciphertext> {
        if interval == [-1.0, 1.0] {
            return polynomial.evaluate(ev, &ev.with_range(x.clone(), interval));
        }
        polynomial.evaluate_on(ev, x, interval)
    }
}

/// Integers of at most 2^53, which the numbers of graphs of integers are.
impl Number for i64 {
    const REAL: bool = false;

    fn number(x: f64) -> Self {
        x as Self
    }

    fn on_interval<E: SlotEvaluator<Scalar = Self>>(
        _: &E,
        polynomial: &Polynomial,
        interval: [f64; 2],
        _: &E::Ciphertext,
    ) -> Result<E::Ciphertext> {
        let found = format!("degree {} on [{}, {}]", polynomial.degree(), interval[0], interval[1]);
        Err(Error::parameter("polynomial of integers", found, "a polynomial with integer coefficients"))
    }
}
