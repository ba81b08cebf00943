//! Polynomials and smooth functions, element by element.

use std::sync::Arc;

use noren_math::interpolation::through;
use noren_math::modulus::Modulus;
use noren_rlwe::error::Result;

use crate::circuits::approx::{Approximation, interpolate};
use crate::circuits::polynomial::Polynomial;
use crate::circuits::power::power;
use crate::graph::error::GraphError;
use crate::graph::inference::{polynomial_range, rounding};
use crate::graph::interval::Interval;
use crate::graph::operation::{Element, Function};
use crate::graph::shape::size;
use crate::lowering::error::NotNear;
use crate::lowering::nodes::{Lowering, Shared};
use crate::lowering::number::Number;
use crate::lowering::value::{Value, in_parts};

/// Up to this absolute value powers of arguments are evaluated as they are: above, the powers outgrow the polynomial, and the
/// Chebyshev basis takes one level more.
const LARGEST_ARGUMENT: f64 = 2.0;

/// Polynomials of so few coefficients are evaluated by powers for all arguments.
const FEW_COEFFICIENTS: usize = 4;

/// The most integers that functions are tabulated of: polynomials have that degree, and eight levels.
const LONGEST_TABLE: u64 = 256;

/// How much wider than the range of the elements, or of their results, that of the slots may be, before they are cleaned.
const WIDE: f64 = 4.0;

impl<E: Shared> Lowering<'_, E> {
    /// A polynomial of each element.
    pub(super) fn polynomial(
        &self,
        at: usize,
        x: &Arc<Value<E::Ciphertext>>,
        coefficients: &[f64],
    ) -> Result<Value<E::Ciphertext>> {
        let layout = if coefficients[0] == 0.0 { x.layout.clone() } else { x.layout.clone().blurred() };
        let bounds = polynomial_range(coefficients, x.bounds);
        if let [constant, factor] = coefficients {
            let (constant, factor) = (E::Scalar::number(*constant), E::Scalar::number(*factor));
            let parts =
                self.side_by_side(x.parts.len(), |part| self.ev.weighted_sum(&[(&x.parts[part], factor)], constant))?;
            return Ok(self.made(parts, layout, bounds));
        }
        let integers = self.graph.node(at).element != Element::Real;
        let (last, rest) = coefficients.split_last().unwrap_or((&0.0, &[]));
        let parts = if *last == 1.0 && rest.iter().skip(1).all(|&c| c == 0.0) {
            let exponent = u32::try_from(rest.len()).unwrap_or(u32::MAX);
            self.side_by_side(x.parts.len(), |part| self.plus(power(self.ev, &x.parts[part], exponent)?, rest[0]))?
        } else if let &[constant, linear, 1.0] = coefficients {
            // x (x + b) + c, with one level.
            self.side_by_side(x.parts.len(), |part| {
                let x = &x.parts[part];
                self.plus(self.ev.mul(x, &self.plus(x.clone(), linear)?)?, constant)
            })?
        } else if integers || coefficients.len() <= FEW_COEFFICIENTS || x.bounds.magnitude() <= LARGEST_ARGUMENT {
            let coefficients = coefficients.iter().map(|&c| E::Scalar::number(c)).collect();
            let polynomial = Polynomial::power(coefficients)?;
            self.side_by_side(x.parts.len(), |part| polynomial.evaluate(self.ev, &x.parts[part]))?
        } else {
            let interval = proper(x.bounds);
            let value = |x: f64| coefficients.iter().rev().fold(0.0, |value, c| value * x + c);
            let polynomial = Polynomial::chebyshev(interpolate(&value, interval, coefficients.len())?)?;
            // The values are rounded before they are interpolated, and the sum of the interpolation is as long again.
            let bias = 4.0 * rounding(coefficients, interval.into());
            let parts = self.on_interval(x, &polynomial, interval)?;
            parts.into_iter().map(|part| self.ev.with_errors(part, &[], bias)).collect()
        };
        Ok(self.made(parts, layout, bounds))
    }

    /// `x + c` in every slot.
    fn plus(&self, x: E::Ciphertext, c: f64) -> Result<E::Ciphertext> {
        if c == 0.0 { Ok(x) } else { self.ev.add_scalar(&x, E::Scalar::number(c)) }
    }

    /// A function of each element, an integer in `range`: the polynomial modulo the prime of the scheme through its values.
    pub(super) fn tabulated(
        &self,
        at: usize,
        x: &Arc<Value<E::Ciphertext>>,
        range: Interval,
        function: &dyn Fn(f64) -> f64,
    ) -> Result<Value<E::Ciphertext>> {
        let Some(modulus) = self.approximations.modulus else { return Err(self.refusal(at, "")) };
        let count = (range.high - range.low + 1.0) as u64;
        if count > LONGEST_TABLE.min(modulus) {
            return Err(self.refusal(at, &format!("functions of at most {LONGEST_TABLE} integers, found {count}")));
        }
        let values: Vec<f64> = (0..count).map(|step| function(range.low + step as f64)).collect();
        let integers: Vec<i64> = values.iter().map(|&value| value as i64).collect();
        let found = through(&Modulus::new(modulus)?, range.low as i64, &integers);
        let mut coefficients: Vec<f64> = found.into_iter().map(|c| c as f64).collect();
        let degree = coefficients.iter().rposition(|&c| c != 0.0).unwrap_or(0).max(1);
        coefficients.resize(degree + 1, 0.0);
        let value = self.polynomial(at, x, &coefficients)?;
        Ok(self.made(value.parts, value.layout, Interval::of(&values)))
    }

    /// A smooth function of each element, within an error that becomes part of the bound of the result.
    pub(super) fn function(
        &mut self,
        at: usize,
        of: usize,
        x: &Arc<Value<E::Ciphertext>>,
        function: Function,
        error: f64,
    ) -> Result<Value<E::Ciphertext>> {
        let elements = self.graph.node(of).range;
        let error = if error > 0.0 { error } else { self.approximations.error };
        let width = |range: Interval| (range.high - range.low).max(f64::MIN_POSITIVE);
        let is_wide = width(x.bounds) > WIDE * width(elements)
            || match (function.range(x.bounds), function.range(elements)) {
                (Ok(slots), Ok(elements)) => width(slots) > WIDE * width(elements),
                _ => true,
            };
        let cleaned = if is_wide { Some(self.cleaned(of, x, elements)?) } else { None };
        let x = cleaned.as_ref().unwrap_or(x);
        let range = function.range(x.bounds).map_err(|needed| {
            let node = self.graph.node(at);
            let (place, operation) = (node.place.clone(), node.operation.name());
            GraphError::Range { place, operation, low: x.bounds.low, high: x.bounds.high, needed: needed.to_owned() }
        })?;
        let found = Approximation::with_error(|t| function.of(t), proper(x.bounds), error);
        let approximation = found.map_err(NotNear::of)?;
        self.approximated(x, &approximation, range)
    }

    /// The function that a polynomial stands for: it is the message, and the distance of the polynomial a part of the error.
    fn approximated(
        &self,
        x: &Arc<Value<E::Ciphertext>>,
        approximation: &Approximation,
        range: Interval,
    ) -> Result<Value<E::Ciphertext>> {
        let parts = self.on_interval(x, approximation.polynomial(), approximation.interval())?;
        let parts = parts.into_iter().map(|part| self.ev.with_errors(part, &[], approximation.error())).collect();
        Ok(self.made(parts, x.layout.clone().blurred(), range))
    }

    fn on_interval(
        &self,
        x: &Arc<Value<E::Ciphertext>>,
        polynomial: &Polynomial,
        interval: [f64; 2],
    ) -> Result<Vec<E::Ciphertext>> {
        self.side_by_side(x.parts.len(), |part| E::Scalar::on_interval(self.ev, polynomial, interval, &x.parts[part]))
    }

    /// The same elements, and numbers of their range in all other slots; one level.
    fn cleaned(
        &mut self,
        of: usize,
        x: &Arc<Value<E::Ciphertext>>,
        range: Interval,
    ) -> Result<Arc<Value<E::Ciphertext>>> {
        let copied = self.copied(x)?;
        if copied.layout.is_full() {
            return Ok(Arc::new(Value {
                parts: self.ranged(&copied, range),
                layout: copied.layout.clone(),
                bounds: range,
            }));
        }
        let shape = self.graph.node(of).shape.clone();
        let count = size(&shape).unwrap_or(0);
        let masked = if copied.layout.is_known() {
            copied
        } else {
            let layout = copied.layout.clone();
            self.with_plain(true, &copied, layout, &shape, &vec![1.0; count])?.into()
        };
        // Zero in the other slots, the middle of the range added there, and taken away from the elements before.
        let middle = f64::midpoint(range.low, range.high);
        let value = self.filled(&masked, &shape, middle)?;
        Ok(Arc::new(Value { parts: self.ranged(&value, range), layout: value.layout.clone().blurred(), bounds: range }))
    }

    /// A number in all slots without an element, which hold zeros.
    fn filled(&self, x: &Value<E::Ciphertext>, shape: &[usize], number: f64) -> Result<Value<E::Ciphertext>> {
        let value = |at: Option<usize>| E::Scalar::number(if at.is_some() { 0.0 } else { number });
        let period: Vec<E::Scalar> = x.layout.positions(shape).into_iter().map(value).collect();
        let plains = in_parts(&period, self.slots);
        let parts = self.side_by_side(x.parts.len(), |part| {
            let a = &x.parts[part];
            self.ev.add_plain(a, &self.ev.encode_addend(&plains[part % plains.len()], a)?)
        })?;
        Ok(Value { parts, layout: x.layout.clone(), bounds: x.bounds })
    }

    fn ranged(&self, x: &Value<E::Ciphertext>, range: Interval) -> Vec<E::Ciphertext> {
        let period = x.layout.period().min(self.slots);
        let known = |part: &E::Ciphertext| self.ev.with_range(self.ev.with_period(part.clone(), period), range.into());
        x.parts.iter().map(known).collect()
    }
}

/// Whether functions of all integers in a range are tabulated.
pub(super) fn is_tabulated(range: Interval) -> bool {
    range.high - range.low < LONGEST_TABLE as f64
}

/// An interval that is not much narrower than it is far from zero: arguments are brought to [-1, 1], by a constant that is the
/// ratio of both, and that ciphertexts must hold. The sign of numbers in it stays.
fn proper(range: Interval) -> [f64; 2] {
    /// The part of the largest argument that the interval has at least.
    const NARROWEST: f64 = 1.0 / 32.0;
    let least = if range.magnitude() == 0.0 { NARROWEST } else { range.magnitude() * NARROWEST };
    if range.high - range.low > least { range.into() } else { range.widened(least).into() }
}
