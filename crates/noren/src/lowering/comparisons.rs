//! Comparisons of real numbers, and what follows from them, by approximate signs where nothing decides them.

use std::sync::Arc;

use noren_rlwe::error::Result;

use crate::circuits::power::power;
use crate::graph::interval::Interval;
use crate::graph::operation::{Binary, Element, Unary};
use crate::lowering::decisions::{Decide, Decided};
use crate::lowering::elementwise::Shaped;
use crate::lowering::error::CompileError;
use crate::lowering::functions::is_tabulated;
use crate::lowering::nodes::{Lowering, Shared};
use crate::lowering::number::Number;
use crate::lowering::signs::{Signs, affine};
use crate::lowering::value::{Operand, Value};

/// The smallest divisor.
const LEAST_UNIT: f64 = 1e-9;

/// What approximate signs end in.
pub(super) struct Ending {
    /// The numbers for -1 and 1.
    pub(super) range: [f64; 2],
    /// Levels that are left for what follows, where there can be as many.
    pub(super) levels: usize,
}

impl Ending {
    /// -1 and 1.
    const SIGN: Self = Self { range: [-1.0, 1.0], levels: 0 };
    /// 0 and 1.
    const STEP: Self = Self { range: [0.0, 1.0], levels: 0 };
}

/// How `x [x > 0]` is found.
pub(super) enum Excesses<'a, C> {
    /// By decisions.
    Decided(&'a dyn Decide<C>),
    /// By approximate signs of numbers up to a size.
    Approximate(f64, Arc<Signs>),
}

impl<'a, E: Shared> Lowering<'a, E> {
    /// Whether a relation holds, 1 or 0, of numbers that are not closer than the dead zone.
    pub(super) fn comparison(
        &mut self,
        at: usize,
        kind: Binary,
        a: Shaped<E>,
        b: Shaped<E>,
    ) -> Result<Operand<E::Ciphertext>> {
        if let Some(modulus) = self.approximations.modulus {
            return match kind {
                Binary::Equal | Binary::NotEqual if !is_tabulated(self.range_of_difference(a.0, b.0)) => {
                    self.equality(at, kind, a, b, modulus)
                }
                _ => self.of_difference(at, a, b, |x| kind.of(x, 0.0)),
            };
        }
        let (a, b) = match kind {
            Binary::Greater | Binary::GreaterEqual => (a, b),
            Binary::Less | Binary::LessEqual => (b, a),
            _ => return Err(self.refusal(at, "compare integers for equality")),
        };
        self.check_real(at)?;
        let difference = self.difference(at, a, b)?;
        let zone = self.dead_zone(at)?;
        let count = difference.parts.len();
        let parts = if let Some(decider) = self.decider {
            self.side_by_side(count, |part| self.stepped(at, decider, &difference.parts[part]))?
        } else {
            let size = unit(difference.bounds);
            let (zone, error) = ((zone / size).min(0.5), 2.0 * self.approximations.error);
            let signs = Signs::known(Some(zone), error)?;
            self.side_by_side(count, |part| {
                let step = self.sign_of(&difference.parts[part], size, Signs::slack(zone), &signs, true)?;
                Ok(self.ev.with_errors(step, &[], signs.error() / 2.0))
            })?
        };
        let layout = difference.layout.clone().blurred();
        Ok(Operand::Value(self.made(parts, layout, Interval::new(0.0, 1.0)).into()))
    }

    /// Whether integers are equal, or whether they are not: modulo a prime t, `d^(t - 1)` is 1 for all d but 0 (Fermat).
    fn equality(
        &mut self,
        at: usize,
        kind: Binary,
        a: Shaped<E>,
        b: Shaped<E>,
        modulus: u64,
    ) -> Result<Operand<E::Ciphertext>> {
        let range = self.range_of_difference(a.0, b.0);
        let exponent = u32::try_from(modulus - 1).ok().filter(|_| range.magnitude() < modulus as f64);
        let Some(exponent) = exponent else {
            return Err(self.refusal(at, "differences below 2^32, and below the modulus of results"));
        };
        let difference = self.difference(at, a, b)?;
        let parts =
            self.side_by_side(difference.parts.len(), |part| power(self.ev, &difference.parts[part], exponent))?;
        let differ = Operand::Value(self.made(parts, difference.layout.clone(), Interval::new(0.0, 1.0)).into());
        if kind == Binary::NotEqual { Ok(differ) } else { self.complement(at, (at, differ)) }
    }

    /// A function of integers.
    pub(super) fn of_integers(
        &mut self,
        at: usize,
        x: Shaped<E>,
        function: impl Fn(f64) -> f64,
    ) -> Result<Operand<E::Ciphertext>> {
        let range = self.graph.node(x.0).range;
        let x = self.value(x, None)?;
        Ok(Operand::Value(self.tabulated(at, &x, range, &function)?.into()))
    }

    /// Where the differences of the elements of two nodes lie.
    fn range_of_difference(&self, a: usize, b: usize) -> Interval {
        self.graph.node(a).range.binary(Binary::Sub, self.graph.node(b).range)
    }

    /// A function of the difference of integers.
    fn of_difference(
        &mut self,
        at: usize,
        a: Shaped<E>,
        b: Shaped<E>,
        function: impl Fn(f64) -> f64,
    ) -> Result<Operand<E::Ciphertext>> {
        let range = self.range_of_difference(a.0, b.0);
        let difference = self.difference(at, a, b)?;
        Ok(Operand::Value(self.tabulated(at, &difference, range, &function)?.into()))
    }

    /// The sign of numbers that are not closer to zero than the dead zone.
    pub(super) fn sign(&mut self, at: usize, x: Shaped<E>) -> Result<Operand<E::Ciphertext>> {
        if self.approximations.modulus.is_some() {
            return self.of_integers(at, x, |x| Unary::Sign.of(x));
        }
        self.check_real(at)?;
        let x = self.value(x, None)?;
        let zone = self.dead_zone(at)?;
        let parts = if let Some(decider) = self.decider {
            self.side_by_side(x.parts.len(), |part| self.as_sign(&self.stepped(at, decider, &x.parts[part])?))?
        } else {
            let size = unit(x.bounds);
            let zone = (zone / size).min(0.5);
            let signs = Signs::known(Some(zone), self.approximations.error)?;
            self.side_by_side(x.parts.len(), |part| {
                let sign = self.sign_of(&x.parts[part], size, Signs::slack(zone), &signs, false)?;
                Ok(self.ev.with_errors(sign, &[], signs.error()))
            })?
        };
        Ok(Operand::Value(self.made(parts, x.layout.clone(), Interval::new(-1.0, 1.0)).into()))
    }

    /// `|x| = x sign(x)`, within the error of approximations for all x.
    pub(super) fn abs(&mut self, at: usize, x: Shaped<E>) -> Result<Operand<E::Ciphertext>> {
        if self.approximations.modulus.is_some() {
            return self.of_integers(at, x, |x| Unary::Abs.of(x));
        }
        self.check_real(at)?;
        let x = self.value(x, None)?;
        if x.bounds.low >= 0.0 {
            return Ok(Operand::Value(x));
        }
        let parts = if let Some(decider) = self.decider {
            self.side_by_side(x.parts.len(), |part| self.magnitude_decided(decider, &x.parts[part]))?
        } else {
            let size = unit(x.bounds);
            let signs = Signs::known(None, self.approximations.error / size)?;
            self.side_by_side(x.parts.len(), |part| {
                let x = &x.parts[part];
                let (sign, error) = self.sign_of_factor(x, size, &signs, false)?;
                Ok(self.ev.with_errors(self.ev.mul(x, &sign)?, &[], error))
            })?
        };
        Ok(Operand::Value(self.made(parts, x.layout.clone(), x.bounds.abs()).into()))
    }

    /// The larger, `b + (a - b) [a > b]`, or the smaller, `a - (a - b) [a > b]`, within the error of approximations.
    pub(super) fn extreme(
        &mut self,
        at: usize,
        kind: Binary,
        a: Shaped<E>,
        b: Shaped<E>,
    ) -> Result<Operand<E::Ciphertext>> {
        if self.approximations.modulus.is_some() {
            let excess = self.of_difference(at, a, b.clone(), |x| kind.of(x, 0.0))?;
            return self.combined(at, Binary::Add, b, (at, excess));
        }
        let difference = self.difference(at, a.clone(), b.clone())?;
        let way = self.excesses(at, difference.bounds)?;
        let parts = self.side_by_side(difference.parts.len(), |part| self.excess(&difference.parts[part], &way))?;
        let bounds = Interval::new(0.0, difference.bounds.high.max(0.0));
        let excess = Operand::Value(self.made(parts, difference.layout.clone(), bounds).into());
        match kind {
            Binary::Maximum => self.combined(at, Binary::Add, b, (at, excess)),
            _ => self.combined(at, Binary::Sub, a, (at, excess)),
        }
    }

    /// The larger or smaller of two vectors whose slots lie in `bounds`.
    pub(super) fn extreme_of_slots(
        &self,
        kind: Binary,
        a: &E::Ciphertext,
        b: &E::Ciphertext,
        bounds: Interval,
        way: &Excesses<'_, E::Ciphertext>,
    ) -> Result<E::Ciphertext> {
        let excess = self.excess(&self.ev.sub(a, b)?, way)?;
        let result = if kind == Binary::Maximum { self.ev.add(b, &excess)? } else { self.ev.sub(a, &excess)? };
        Ok(self.ev.with_range(result, bounds.into()))
    }

    /// How excesses of differences within these bounds are found: with signs, half of differences times them have the error of
    /// approximations.
    ///
    /// # Errors
    /// Integers, which have no approximate signs; signs that no polynomials are near enough to.
    pub(super) fn excesses(&self, at: usize, bounds: Interval) -> Result<Excesses<'a, E::Ciphertext>> {
        self.check_real(at)?;
        if let Some(decider) = self.decider {
            return Ok(Excesses::Decided(decider));
        }
        let size = unit(bounds);
        Ok(Excesses::Approximate(size, Signs::known(None, 2.0 * self.approximations.error / size)?))
    }

    /// `x [x > 0]`. Numbers in the dead zone of a decision may become 0 or stay, which the error bound counts.
    fn excess(&self, x: &E::Ciphertext, way: &Excesses<'_, E::Ciphertext>) -> Result<E::Ciphertext> {
        let (above, error) = self.above(x, way)?;
        Ok(self.ev.with_errors(self.ev.mul(x, &above)?, &[], error))
    }

    /// Whether numbers are above 0, 1 or 0, for products with them alone, and a bound on the error of these but for what errors of
    /// the numbers add.
    pub(super) fn above(&self, x: &E::Ciphertext, way: &Excesses<'_, E::Ciphertext>) -> Result<(E::Ciphertext, f64)> {
        match way {
            Excesses::Decided(decider) => {
                let Decided { result, dead_zone } = decider.is_positive(x)?;
                Ok((result, dead_zone))
            }
            Excesses::Approximate(size, signs) => {
                let (above, error) = self.sign_of_factor(x, *size, signs, true)?;
                Ok((above, error / 2.0))
            }
        }
    }

    /// Whether numbers are above 0, with the dead zone that was stated.
    ///
    /// # Errors
    /// [`CompileError::DeadZone`] if numbers outside of it may be decided either way.
    fn stepped(&self, at: usize, decider: &dyn Decide<E::Ciphertext>, x: &E::Ciphertext) -> Result<E::Ciphertext> {
        let Decided { result, dead_zone: least } = decider.is_positive(x)?;
        let stated = self.dead_zone(at)?;
        // Written so that what is not a number is refused.
        if least <= stated {
            return Ok(result);
        }
        Err(CompileError::DeadZone { place: self.graph.node(at).place.clone(), stated, least }.into())
    }

    /// The sign 1 or -1 of a truth value 1 or 0: `2 x - 1`, which takes no level.
    fn as_sign(&self, x: &E::Ciphertext) -> Result<E::Ciphertext> {
        self.ev.add_scalar(&self.ev.add(x, x)?, E::Scalar::number(-1.0))
    }

    /// `|x|`. Numbers in the dead zone may become `-|x|`, which the error bound counts.
    fn magnitude_decided(&self, decider: &dyn Decide<E::Ciphertext>, x: &E::Ciphertext) -> Result<E::Ciphertext> {
        let Decided { result, dead_zone } = decider.is_positive(x)?;
        Ok(self.ev.with_errors(self.ev.mul(x, &self.as_sign(&result)?)?, &[], 2.0 * dead_zone))
    }

    /// As [`Lowering::sign_of`], for products with `x` alone, and a bound on the error of `x` times the sign.
    ///
    /// For `y = x + e`, `y s(y)` is near to `|y|`, whatever the slope of `s`, and `|y|` as near to `|x|` as y to x: the error of x
    /// counts in the product, and not in its sign.
    fn sign_of_factor(&self, x: &E::Ciphertext, size: f64, signs: &Signs, step: bool) -> Result<(E::Ciphertext, f64)> {
        let depth = signs.stages()[0].polynomial.depth() + usize::from(size != 1.0);
        let x = self.ev.with_levels(x, depth)?;
        // Written so that what is not a number is beyond.
        let within = self.ev.bounds(&x).is_none_or(|bounds| bounds.error <= self.margin * Signs::SLACK * size);
        let error = if within { size * signs.error() } else { f64::INFINITY };
        let (exact, _) = self.ev.split_error(x);
        Ok((self.sign_of(&exact, size, 0.0, signs, step)?, error))
    }

    /// The sign of `x / size`, or whether it is positive, as a number from 0 to 1. Errors of `x / size` within a slack, and those of
    /// intermediate results within theirs, change nothing, and are left out.
    pub(super) fn sign_of(
        &self,
        x: &E::Ciphertext,
        size: f64,
        slack: f64,
        signs: &Signs,
        step: bool,
    ) -> Result<E::Ciphertext> {
        self.composed(x, size, slack, signs, &if step { Ending::STEP } else { Ending::SIGN })
    }

    /// As [`Lowering::sign_of`], in place of -1 and 1 with the numbers of an ending.
    pub(super) fn composed(
        &self,
        x: &E::Ciphertext,
        size: f64,
        mut slack: f64,
        signs: &Signs,
        ending: &Ending,
    ) -> Result<E::Ciphertext> {
        let mut x = if size == 1.0 { x.clone() } else { self.ev.mul_scalar(x, E::Scalar::number(1.0 / size))? };
        let last = signs.stages().len() - 1;
        for (at, stage) in signs.stages().iter().enumerate() {
            let own = if at == last { ending } else { &Ending::SIGN };
            let [low, high] = own.range;
            let scaled = match own.range {
                [-1.0, 1.0] => None,
                _ => Some(affine(&stage.polynomial, (high - low) / 2.0, f64::midpoint(low, high))?),
            };
            let depth = stage.polynomial.depth();
            if own.levels > 0 {
                x = self.ev.with_levels(&x, depth + own.levels)?;
            }
            // One of them at least, where there cannot be as many.
            x = self.ev.with_levels(&x, depth + own.levels.min(1))?;
            if self.ev.bounds(&x).is_some_and(|bounds| bounds.error <= self.margin * slack) {
                (x, _) = self.ev.split_error(x);
            }
            x = E::Scalar::on_interval(self.ev, scaled.as_ref().unwrap_or(&stage.polynomial), [-1.0, 1.0], &x)?;
            x = self.ev.with_range(x, own.range);
            slack = stage.slack;
        }
        Ok(x)
    }

    fn difference(&mut self, at: usize, a: Shaped<E>, b: Shaped<E>) -> Result<Arc<Value<E::Ciphertext>>> {
        match self.combined(at, Binary::Sub, a, b)? {
            // The bounds of the node are those of its result, not of the difference.
            Operand::Value(value) => Ok(value),
            _ => Err(self.refusal(at, "compute it before the function is compiled")),
        }
    }

    pub(super) fn dead_zone(&self, at: usize) -> Result<f64> {
        self.approximations.dead_zone.filter(|zone| *zone > 0.0).ok_or_else(|| {
            self.refusal(
                at,
                "comparisons of real numbers are approximate: state dead_zone=d, so that numbers closer than d may compare \
                 either way, or use integers",
            )
        })
    }

    pub(super) fn check_real(&self, at: usize) -> Result<()> {
        let operands = self.graph.node(at).operation.operands();
        let reals = operands.iter().any(|&of| self.graph.node(of).element == Element::Real);
        if reals || E::Scalar::REAL { Ok(()) } else { Err(self.refusal(at, "")) }
    }
}

/// The divisor that brings the numbers of an interval into [-1, 1]: 1 for magnitudes from 0.5 to 1, which takes no level, or else the
/// magnitude.
fn unit(bounds: Interval) -> f64 {
    let magnitude = bounds.magnitude();
    if magnitude <= 1.0 && magnitude > 0.5 { 1.0 } else { magnitude.max(LEAST_UNIT) }
}
