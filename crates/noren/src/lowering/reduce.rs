//! Sums, products and extremes along an axis, and copies along one that is gone.

use std::collections::BTreeMap;
use std::sync::Arc;

use noren_rlwe::error::{Error, Result};

use crate::circuits::power::power;
use crate::circuits::trace;
use crate::graph::interval::Interval;
use crate::graph::operation::Reduction;
use crate::lowering::layout::{Dimension, Fill, Layout};
use crate::lowering::nodes::{Lowering, Shared};
use crate::lowering::number::Number;
use crate::lowering::value::{Value, in_parts};
use crate::schemes::slots::Scalar;

/// How the indices of a dimension are spread over slots and ciphertexts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spread {
    /// The slots from one index to the next.
    pub(super) stride: usize,
    /// How many indices lie in one ciphertext.
    pub(super) within: usize,
    /// How many ciphertexts hold the indices.
    pub(super) groups: usize,
    /// The ciphertexts from one group to the next.
    pub(super) apart: usize,
    /// Whether the indices within a ciphertext are its outermost: rotations go round them.
    pub(super) cyclic: bool,
}

/// An operation on two vectors that is associative and commutative.
type Combine<'a, L, C> = dyn FnMut(&mut L, &C, &C) -> Result<C> + 'a;

impl Spread {
    /// That of a dimension, in ciphertexts of this many slots.
    pub(super) fn of(layout: &Layout, dimension: usize, slots: usize) -> Self {
        let (stride, size) = (layout.stride(dimension), layout.dimensions[dimension].size);
        let within = (slots / stride).clamp(1, size);
        let cyclic = stride.saturating_mul(within) == slots.min(layout.period());
        Self { stride, within, groups: size / within, apart: (stride / slots).max(1), cyclic }
    }

    /// The ciphertexts of all groups, for each of the other indices that ciphertexts are told apart by: the order of the
    /// ciphertexts of the array without the dimension, which may need fewer.
    pub(super) fn parts(&self, parts: usize) -> Vec<Vec<usize>> {
        let block = self.apart * self.groups;
        let first = (0..parts).filter(|part| part % block < self.apart);
        first.map(|part| (0..self.groups).map(|group| part + group * self.apart).collect()).collect()
    }
}

impl<E: Shared> Lowering<'_, E> {
    /// The sum along a dimension, which has no axis any more.
    pub(super) fn sum(&self, x: &Value<E::Ciphertext>, dimension: usize) -> Result<Value<E::Ciphertext>> {
        let of = x.layout.dimensions[dimension];
        let spread = Spread::of(&x.layout, dimension, self.slots);
        let known = of.length == of.size || of.fill == Fill::Zeros;
        let stride = spread.stride.cast_signed();
        let total = |parts: &[usize]| {
            let (first, rest) = (x.parts[parts[0]].clone(), &parts[1..]);
            rest.iter().try_fold(first, |sum, &part| self.ev.add(&sum, &x.parts[part]))
        };
        // Groups without an element need not be added, and the last may have fewer elements.
        let last = (of.length - 1) / spread.within;
        let rest = of.length - last * spread.within;
        let whole = known || rest == spread.within;
        let fill = if spread.cyclic && whole { Fill::Copies } else { Fill::Unknown };
        let layout = without(&x.layout, dimension, spread.within, fill);
        let groups = spread.parts(x.parts.len());
        let parts = self.side_by_side(layout.parts(self.slots), |at| {
            let parts = &groups[at];
            if spread.within == 1 {
                return total(&parts[..=last]);
            }
            if known || rest == spread.within {
                return trace::sum(self.ev, &total(&parts[..=last])?, spread.within, stride);
            }
            let partial = trace::sum(self.ev, &x.parts[parts[last]], rest, stride)?;
            if last == 0 {
                return Ok(partial);
            }
            self.ev.add(&trace::sum(self.ev, &total(&parts[..last])?, spread.within, stride)?, &partial)
        })?;
        // Padding that is zero is added too, and beside elements of other dimensions it may not be.
        let padded = known && of.length < of.size && !x.layout.is_known();
        let count = if padded { of.size } else { of.length };
        Ok(self.made(parts, layout, x.bounds.repeated(count)))
    }

    /// The product along a dimension. Zeros behind its elements become ones, so that halves of the same length are multiplied.
    pub(super) fn product(&mut self, x: &Value<E::Ciphertext>, dimension: usize) -> Result<Value<E::Ciphertext>> {
        let of = x.layout.dimensions[dimension];
        let filled = match of.fill == Fill::Zeros && of.length < of.size {
            true => Some(self.filled_with_ones(x, dimension)?),
            false => None,
        };
        let x = filled.as_ref().unwrap_or(x);
        let count = of.size;
        let sizes = x.bounds.abs().power(u32::try_from(count).unwrap_or(u32::MAX));
        let bounds = Interval::new(-sizes.high.max(x.bounds.magnitude()), sizes.high.max(x.bounds.magnitude()));
        self.folded(x, dimension, false, bounds, &mut |this, a, b| {
            if std::ptr::eq(a, b) { this.ev.square(a) } else { this.ev.mul(a, b) }
        })
    }

    /// The same array with ones for the zeros behind the elements of a dimension, in the ciphertexts that there are.
    fn filled_with_ones(&self, x: &Value<E::Ciphertext>, dimension: usize) -> Result<Value<E::Ciphertext>> {
        let is_behind = |address: usize| {
            let dimensions = x.layout.dimensions.iter().enumerate();
            dimensions.into_iter().all(|(at, of)| {
                let is_element = of.axis.is_none() || address / x.layout.stride(at) % of.size < of.length;
                is_element != (at == dimension)
            })
        };
        let one = |address: usize| if is_behind(address) { E::Scalar::ONE } else { E::Scalar::ZERO };
        let ones = in_parts(&(0..x.layout.period()).map(one).collect::<Vec<_>>(), self.slots);
        let parts = self.side_by_side(x.parts.len(), |part| {
            self.ev.add_plain(&x.parts[part], &self.ev.encode_for(&ones[part % ones.len()], &x.parts[part])?)
        })?;
        let mut layout = x.layout.clone();
        let of = &mut layout.dimensions[dimension];
        of.length = of.length.next_multiple_of(Spread::of(&x.layout, dimension, self.slots).within);
        Ok(self.made(parts, layout, x.bounds.hull(Interval::new(0.0, 1.0))))
    }

    /// The largest or smallest along a dimension.
    pub(super) fn extreme_of(
        &mut self,
        at: usize,
        kind: Reduction,
        x: &Arc<Value<E::Ciphertext>>,
        dimension: usize,
    ) -> Result<Value<E::Ciphertext>> {
        let bounds = x.bounds;
        let way = self.excesses(at, bounds.plus(bounds.negated()))?;
        self.folded(x, dimension, true, bounds, &mut |this, a, b| {
            this.extreme_of_slots(kind.binary(), a, b, bounds, &way)
        })
    }

    /// All elements along a dimension, combined by an operation that does not depend on their order. Where it may take the same
    /// element more than once, fewer rotations do.
    fn folded(
        &mut self,
        x: &Value<E::Ciphertext>,
        dimension: usize,
        repeatable: bool,
        bounds: Interval,
        combine: &mut Combine<'_, Self, E::Ciphertext>,
    ) -> Result<Value<E::Ciphertext>> {
        let of = x.layout.dimensions[dimension];
        let spread = Spread::of(&x.layout, dimension, self.slots);
        let last = (of.length - 1) / spread.within;
        let rest = of.length - last * spread.within;
        let fill = if spread.cyclic && rest == spread.within { Fill::Copies } else { Fill::Unknown };
        let layout = without(&x.layout, dimension, spread.within, fill);
        let mut parts = Vec::new();
        for group in spread.parts(x.parts.len()).into_iter().take(layout.parts(self.slots)) {
            let mut terms: Vec<E::Ciphertext> = Vec::new();
            if rest == spread.within {
                let whole = group[..=last].iter().map(|&part| x.parts[part].clone()).collect();
                let joined = self.tree(whole, combine)?;
                terms.push(self.folded_slots(joined, spread.within, spread.stride, repeatable, combine)?);
            } else {
                let whole: Vec<_> = group[..last].iter().map(|&part| x.parts[part].clone()).collect();
                if !whole.is_empty() {
                    let joined = self.tree(whole, combine)?;
                    terms.push(self.folded_slots(joined, spread.within, spread.stride, repeatable, combine)?);
                }
                let partial = x.parts[group[last]].clone();
                terms.push(self.folded_slots(partial, rest, spread.stride, repeatable, combine)?);
            }
            parts.push(self.tree(terms, combine)?);
        }
        Ok(self.made(parts, layout, bounds))
    }

    /// Ciphertexts, combined two by two.
    fn tree(
        &mut self,
        mut terms: Vec<E::Ciphertext>,
        combine: &mut Combine<'_, Self, E::Ciphertext>,
    ) -> Result<E::Ciphertext> {
        while terms.len() > 1 {
            let mut next = Vec::with_capacity(terms.len().div_ceil(2));
            for pair in terms.chunks(2) {
                next.push(match pair {
                    [a, b] => combine(self, a, b)?,
                    _ => pair[0].clone(),
                });
            }
            terms = next;
        }
        Ok(terms.swap_remove(0))
    }

    /// `count` slots that lie `stride` apart, combined: halves of the halves, rounded up and down.
    fn folded_slots(
        &mut self,
        x: E::Ciphertext,
        count: usize,
        stride: usize,
        repeatable: bool,
        combine: &mut Combine<'_, Self, E::Ciphertext>,
    ) -> Result<E::Ciphertext> {
        let mut folds = BTreeMap::from([(1, x)]);
        for bits in (0..=count.ilog2()).rev() {
            let halves =
                if repeatable { [count.div_ceil(1 << bits); 2] } else { [count >> bits, count.div_ceil(1 << bits)] };
            for n in halves {
                if folds.contains_key(&n) {
                    continue;
                }
                let high = n.div_ceil(2);
                // Of what may be repeated the upper half twice, overlapping.
                let low = if repeatable { high } else { n / 2 };
                let moved = self.ev.rotate(&folds[&low], ((n - low) * stride).cast_signed())?;
                let folded = combine(self, &folds[&high].clone(), &moved)?;
                folds.insert(n, folded);
            }
        }
        // The halves of a count lead from 1 to it.
        folds.remove(&count).ok_or_else(|| Error::parameter("elements", count, "at least 1"))
    }

    /// The reduction of all elements along axes that hold `count` copies of one.
    pub(super) fn copies_reduced(
        &self,
        kind: Reduction,
        x: &Arc<Value<E::Ciphertext>>,
        count: usize,
    ) -> Result<Value<E::Ciphertext>> {
        let exponent = u32::try_from(count).unwrap_or(u32::MAX);
        let parts = self.side_by_side(x.parts.len(), |part| match kind {
            Reduction::Sum => self.ev.mul_scalar(&x.parts[part], E::Scalar::number(count as f64)),
            Reduction::Product => power(self.ev, &x.parts[part], exponent),
            Reduction::Maximum | Reduction::Minimum => Ok(x.parts[part].clone()),
        })?;
        let bounds = match kind {
            Reduction::Sum => x.bounds.repeated(count),
            Reduction::Product => x.bounds.power(exponent),
            Reduction::Maximum | Reduction::Minimum => x.bounds,
        };
        Ok(self.made(parts, x.layout.clone(), bounds))
    }

    /// The same array with copies of elements in the slots that partial sums have left; one level if there are any.
    pub(super) fn copied(&self, x: &Arc<Value<E::Ciphertext>>) -> Result<Arc<Value<E::Ciphertext>>> {
        let unknown = |d: &Dimension| d.axis.is_none() && d.fill == Fill::Unknown;
        let strides: Vec<(usize, usize)> = x
            .layout
            .dimensions
            .iter()
            .enumerate()
            .filter(|(_, dimension)| unknown(dimension))
            .map(|(at, dimension)| (dimension.size, x.layout.stride(at)))
            .collect();
        if strides.is_empty() {
            return Ok(x.clone());
        }
        let number = |index: Option<Vec<usize>>| if index.is_some() { E::Scalar::ONE } else { E::Scalar::ZERO };
        let mask: Vec<E::Scalar> = x.layout.elements(self.axes(x)).map(number).collect();
        let masks = in_parts(&mask, self.slots);
        let parts = self.side_by_side(x.parts.len(), |part| {
            let masked =
                self.ev.mul_plain(&x.parts[part], &self.ev.encode_for(&masks[part % masks.len()], &x.parts[part])?)?;
            strides
                .iter()
                .try_fold(masked, |x, &(size, stride)| trace::replicate(self.ev, &x, size, stride.cast_signed()))
        })?;
        let mut layout = x.layout.clone();
        for dimension in &mut layout.dimensions {
            dimension.fill = if dimension.axis.is_some() { Fill::Zeros } else { Fill::Copies };
        }
        let bounds = x.bounds.hull(Interval::point(0.0));
        Ok(Arc::new(self.made(parts, layout.tidied(), bounds)))
    }

    /// More axes than any that the layout names.
    pub(super) fn axes(&self, x: &Value<E::Ciphertext>) -> usize {
        x.layout.dimensions.iter().filter_map(|dimension| dimension.axis).max().map_or(0, |axis| axis + 1)
    }
}

/// The layout without an axis: of its dimension only what lies within a ciphertext is left.
pub(super) fn without(layout: &Layout, at: usize, within: usize, fill: Fill) -> Layout {
    let mut layout = layout.clone();
    layout.dimensions[at] = Dimension::without_axis(within, fill);
    layout.tidied()
}
