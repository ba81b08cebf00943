//! Sums, differences and products, element by element.

use std::collections::HashSet;
use std::sync::Arc;

use noren_rlwe::error::{Error, Result};

use crate::graph::interval::Interval;
use crate::graph::operation::Binary;
use crate::graph::shape::broadcast_positions;
use crate::lowering::layout::{Dimension, Fill, Layout};
use crate::lowering::nodes::{Lowering, Shared};
use crate::lowering::number::Number;
use crate::lowering::value::{Operand, Value, in_parts};
use crate::schemes::slots::SlotEvaluator;

/// An operand of an evaluator, and the node whose shape it has.
pub(super) type Shaped<E> = (usize, Operand<<E as SlotEvaluator>::Ciphertext>);

/// Two arrays whose elements lie side by side.
type Pair<E> = (Arc<Value<<E as SlotEvaluator>::Ciphertext>>, Arc<Value<<E as SlotEvaluator>::Ciphertext>>);

impl<E: Shared> Lowering<'_, E> {
    /// `a + b`, `a - b` or `a b`, in the shape of node `at`.
    pub(super) fn combined(
        &mut self,
        at: usize,
        kind: Binary,
        a: Shaped<E>,
        b: Shaped<E>,
    ) -> Result<Operand<E::Ciphertext>> {
        let shape = self.graph.node(at).shape.clone();
        match (&a.1, &b.1) {
            (Operand::Constant(x), Operand::Constant(y)) => {
                let (x, y) = (self.spread(x, a.0, &shape), self.spread(y, b.0, &shape));
                return Ok(Operand::Constant(x.into_iter().zip(y).map(|(x, y)| kind.of(x, y)).collect()));
            }
            (_, Operand::Constant(c)) => {
                let values = self.spread(c, b.0, &shape);
                let x = self.value(a.clone(), None)?;
                return self.with_constant(at, kind, &self.placed(&x, a.0, &shape), &values);
            }
            (Operand::Constant(c), _) => {
                let mut values = self.spread(c, a.0, &shape);
                let x = self.value(b.clone(), None)?;
                let x = self.placed(&x, b.0, &shape);
                if kind != Binary::Sub {
                    return self.with_constant(at, kind, &x, &values);
                }
                // c - x = c + (-x): the sign costs nothing.
                values.iter_mut().for_each(|c| *c = -*c);
                let difference =
                    self.with_constant(at, Binary::Sub, &x, &values.iter().map(|c| -c).collect::<Vec<_>>())?;
                return self.scaled((at, difference), -1.0);
            }
            _ => {}
        }
        let (x, y) = self.side_by_side_operands(at, a, b)?;
        Ok(Operand::Value(self.combined_values(kind, &x, &y)?.into()))
    }

    /// Both operands with axes of the result, and with elements side by side.
    pub(super) fn side_by_side_operands(&mut self, at: usize, a: Shaped<E>, b: Shaped<E>) -> Result<Pair<E>> {
        let shape = self.graph.node(at).shape.clone();
        let (x, y) = match (&a.1, &b.1) {
            (Operand::Free(left), Operand::Free(right)) => {
                if a.0 == b.0 && left == right {
                    let x = self.value(a.clone(), None)?;
                    let x = self.placed(&x, a.0, &shape);
                    return Ok((x.clone(), x));
                }
                let layout = self.suited(at);
                (self.free_in(&a, &shape, &layout)?, self.free_in(&b, &shape, &layout)?)
            }
            (Operand::Free(_), Operand::Value(value)) => {
                let y = self.placed(value, b.0, &shape);
                (self.beside(&a, &shape, &y)?, y)
            }
            (Operand::Value(value), Operand::Free(_)) => {
                let x = self.placed(value, a.0, &shape);
                let y = self.beside(&b, &shape, &x)?;
                (x, y)
            }
            _ => {
                let (x, y) = (self.value(a.clone(), None)?, self.value(b.clone(), None)?);
                (self.placed(&x, a.0, &shape), self.placed(&y, b.0, &shape))
            }
        };
        if x.layout.joined(&y.layout, |a, _| a).is_some() {
            return Ok((x, y));
        }
        // Copies in place of partial sums first, which is cheap; then any order of elements.
        let (x, y) = (self.copied(&x)?, self.copied(&y)?);
        if x.layout.joined(&y.layout, |a, _| a).is_some() {
            return Ok((x, y));
        }
        if x.layout.period() >= y.layout.period() {
            let target = x.layout.clone().extended(&shape, Fill::Zeros);
            let y = self.moved(at, &y, &target, &shape)?;
            Ok((x, y.into()))
        } else {
            let target = y.layout.clone().extended(&shape, Fill::Zeros);
            let x = self.moved(at, &x, &target, &shape)?;
            Ok((x.into(), y))
        }
    }

    /// An input beside a result: in the layout of the result, with dimensions for what the result lacks.
    fn beside(
        &mut self,
        free: &Shaped<E>,
        shape: &[usize],
        value: &Value<E::Ciphertext>,
    ) -> Result<Arc<Value<E::Ciphertext>>> {
        // Where the result has unknown slots, the input may have copies.
        let mut layout = value.layout.clone();
        layout.dimensions.iter_mut().filter(|d| d.axis.is_none()).for_each(|d| d.fill = Fill::Copies);
        self.free_in(free, shape, &layout.extended(shape, Fill::Zeros))
    }

    /// An input in a layout of the result's axes: without those that it does not have.
    fn free_in(
        &mut self,
        (at, operand): &Shaped<E>,
        shape: &[usize],
        layout: &Layout,
    ) -> Result<Arc<Value<E::Ciphertext>>> {
        let Operand::Free(free) = operand else {
            return Err(self.refusal(*at, "an input"));
        };
        let own = self.graph.node(*at).shape.clone();
        let missing = shape.len() - own.len();
        let fill = self.fill_of(free);
        let mut layout = layout.clone();
        for dimension in &mut layout.dimensions {
            let axis = dimension.axis.and_then(|axis| axis.checked_sub(missing)).filter(|&axis| own[axis] > 1);
            *dimension = match axis {
                Some(axis) => Dimension { axis: Some(axis), fill, ..*dimension },
                None => Dimension::without_axis(dimension.size, Fill::Copies),
            };
        }
        let value = self.view(free.clone(), &own, Some(layout.tidied()))?;
        Ok(self.placed(&value, *at, shape))
    }

    /// An array with the axes of a result that it is broadcast to.
    pub(super) fn placed(
        &self,
        value: &Arc<Value<E::Ciphertext>>,
        at: usize,
        shape: &[usize],
    ) -> Arc<Value<E::Ciphertext>> {
        let missing = shape.len() - self.graph.node(at).shape.len();
        if missing == 0 {
            return value.clone();
        }
        let layout = value.layout.clone().renamed(|axis| axis + missing);
        Arc::new(Value { parts: value.parts.clone(), layout, bounds: value.bounds })
    }

    /// The operation on arrays with elements side by side.
    pub(super) fn combined_values(
        &self,
        kind: Binary,
        x: &Arc<Value<E::Ciphertext>>,
        y: &Arc<Value<E::Ciphertext>>,
    ) -> Result<Value<E::Ciphertext>> {
        let product = kind == Binary::Mul;
        let fill = |a: Fill, b: Fill| match (a, b) {
            (Fill::Zeros, Fill::Zeros) => Fill::Zeros,
            (Fill::Zeros, _) | (_, Fill::Zeros) if product => Fill::Zeros,
            _ => Fill::Unknown,
        };
        let layout = x.layout.joined(&y.layout, fill);
        let layout = layout.ok_or_else(|| Error::parameter("layout", "apart", "elements side by side"))?;
        let cut = [x, y].iter().any(|operand| operand.is_cut(&layout, self.slots));
        let layout = if cut { layout.blurred() } else { layout };
        let square = product && Arc::ptr_eq(x, y);
        let parts = self.side_by_side(layout.parts(self.slots), |part| {
            let (a, b) = (x.part(part, self.slots), y.part(part, self.slots));
            match kind {
                Binary::Add => self.ev.add(a, b),
                Binary::Sub => self.ev.sub(a, b),
                _ if square => self.ev.square(a),
                _ => self.ev.mul(a, b),
            }
        })?;
        let bounds = if square { x.bounds.power(2) } else { x.bounds.binary(kind, y.bounds) };
        Ok(self.made(parts, layout, bounds))
    }

    /// `x + c`, `x - c` or `x c` for numbers in clear, in the shape of node `at`.
    pub(super) fn with_constant(
        &self,
        at: usize,
        kind: Binary,
        x: &Arc<Value<E::Ciphertext>>,
        values: &[f64],
    ) -> Result<Operand<E::Ciphertext>> {
        let range = Interval::of(values);
        let uniform = range.low == range.high;
        if uniform && kind == Binary::Mul {
            return Ok(Operand::Value(self.multiple(x, range.low)?));
        }
        if kind == Binary::Sub {
            return self.with_constant(at, Binary::Add, x, &values.iter().map(|c| -c).collect::<Vec<_>>());
        }
        if uniform && range.low == 0.0 {
            return Ok(Operand::Value(x.clone()));
        }
        // Zeros beside the elements are kept for sums alone.
        let any = x.layout.is_full() || !x.layout.is_known() || self.summed(at, &mut HashSet::new()).is_empty();
        if uniform && any {
            let parts = self
                .side_by_side(x.parts.len(), |part| self.ev.add_scalar(&x.parts[part], E::Scalar::number(range.low)))?;
            let value = self.made(parts, x.layout.clone().blurred(), x.bounds.plus(range));
            return Ok(Operand::Value(value.into()));
        }
        let shape = &self.graph.node(at).shape;
        let product = kind == Binary::Mul;
        let layout = if uniform {
            x.layout.clone()
        } else {
            x.layout.clone().extended(shape, if product { Fill::Zeros } else { Fill::Unknown })
        };
        Ok(Operand::Value(self.with_plain(product, x, layout, shape, values)?.into()))
    }

    /// `x + c` or `x c` in a layout that extends that of x; zero beside the elements.
    pub(super) fn with_plain(
        &self,
        product: bool,
        x: &Value<E::Ciphertext>,
        layout: Layout,
        shape: &[usize],
        values: &[f64],
    ) -> Result<Value<E::Ciphertext>> {
        let full = layout.is_full();
        let unknown = layout.dimensions.iter().any(|d| d.axis.is_none() && d.fill == Fill::Unknown);
        // Slots of partial sums, which have no element, are treated as the element beside them: the numbers repeat earlier.
        let copies = layout.dimensions.iter().map(|&d| match d.axis {
            None => Dimension::without_axis(d.size, Fill::Copies),
            Some(_) => d,
        });
        let plain = Layout { dimensions: copies.collect() }.tidied();
        let number = |at: Option<usize>| E::Scalar::number(at.map_or(0.0, |at| values[at]));
        let period: Vec<E::Scalar> = plain.positions(shape).into_iter().map(number).collect();
        let plains = in_parts(&period, self.slots);
        let parts = self.side_by_side(layout.parts(self.slots), |part| {
            let a = x.part(part, self.slots);
            let plain = &plains[part % plains.len()];
            if product {
                self.ev.mul_plain(a, &self.ev.encode_for(plain, a)?)
            } else {
                self.ev.add_plain(a, &self.ev.encode_addend(plain, a)?)
            }
        })?;
        // Ciphertexts that the smaller array lacks have had copies of others in place of its padding.
        let cut = x.is_cut(&layout, self.slots);
        let range = Interval::of(values);
        let range = if full && !unknown { range } else { range.hull(Interval::point(0.0)) };
        let bounds = if product { x.bounds.times(range) } else { x.bounds.plus(range) };
        let mut layout = if cut { layout.blurred() } else { layout };
        if product {
            let padded = layout.dimensions.iter_mut().filter(|d| d.axis.is_some() && d.length < d.size);
            padded.for_each(|dimension| dimension.fill = Fill::Zeros);
        }
        Ok(self.made(parts, layout, bounds))
    }

    /// `c x`.
    pub(super) fn scaled(&mut self, (of, x): Shaped<E>, c: f64) -> Result<Operand<E::Ciphertext>> {
        if let Operand::Constant(values) = &x {
            return Ok(Operand::Constant(values.iter().map(|x| c * x).collect()));
        }
        let x = self.value((of, x), None)?;
        Ok(Operand::Value(self.multiple(&x, c)?))
    }

    /// `x + c`, in the shape of node `at`.
    pub(super) fn shifted(&mut self, at: usize, (of, x): Shaped<E>, c: f64) -> Result<Operand<E::Ciphertext>> {
        if let Operand::Constant(values) = &x {
            return Ok(Operand::Constant(values.iter().map(|x| c + x).collect()));
        }
        let x = self.value((of, x), None)?;
        let count = self.graph.node(at).shape.iter().product();
        self.with_constant(at, Binary::Add, &x, &vec![c; count])
    }

    /// `1 - x` of truth values, in the shape of node `at`.
    pub(super) fn complement(&mut self, at: usize, x: Shaped<E>) -> Result<Operand<E::Ciphertext>> {
        let negative = self.scaled(x, -1.0)?;
        self.shifted(at, (at, negative), 1.0)
    }

    /// `c x`; without a level for a few numbers.
    pub(super) fn multiple(&self, x: &Arc<Value<E::Ciphertext>>, c: f64) -> Result<Arc<Value<E::Ciphertext>>> {
        if c == 1.0 {
            return Ok(x.clone());
        }
        let parts = self.side_by_side(x.parts.len(), |part| {
            let x = &x.parts[part];
            match c {
                -1.0 => self.ev.neg(x),
                2.0 => self.ev.add(x, x),
                _ => self.ev.mul_scalar(x, E::Scalar::number(c)),
            }
        })?;
        Ok(Arc::new(self.made(parts, x.layout.clone(), x.bounds.times(Interval::point(c)))))
    }

    /// `a or b`, or `a xor b`, of truth values: `a + b - a b`, or `(a - b)^2`.
    pub(super) fn either(
        &mut self,
        at: usize,
        kind: Binary,
        a: Shaped<E>,
        b: Shaped<E>,
    ) -> Result<Operand<E::Ciphertext>> {
        if kind == Binary::Xor {
            let difference = self.combined(at, Binary::Sub, a, b)?;
            return self.combined(at, Binary::Mul, (at, difference.clone()), (at, difference));
        }
        let sum = self.combined(at, Binary::Add, a.clone(), b.clone())?;
        let product = self.combined(at, Binary::Mul, a, b)?;
        self.combined(at, Binary::Sub, (at, sum), (at, product))
    }

    /// `b + c (a - b)` for a truth value c.
    pub(super) fn selected(&mut self, at: usize, [c, a, b]: [Shaped<E>; 3]) -> Result<Operand<E::Ciphertext>> {
        let difference = self.combined(at, Binary::Sub, a, b.clone())?;
        let chosen = self.combined(at, Binary::Mul, c, (at, difference))?;
        self.combined(at, Binary::Add, (at, chosen), b)
    }

    /// Numbers in clear, broadcast to a shape.
    fn spread(&self, values: &[f64], at: usize, shape: &[usize]) -> Vec<f64> {
        let own = &self.graph.node(at).shape;
        // A constant that was computed already has the shape of the result.
        if values.len() == shape.iter().product::<usize>() && own.as_slice() == shape {
            return values.to_vec();
        }
        broadcast_positions(own, shape).into_iter().map(|position| values[position]).collect()
    }
}
