//! Elements in order along an axis, and the places of the largest: comparisons of all slots side by side.

use std::sync::Arc;

use noren_rlwe::error::Result;

use crate::graph::interval::Interval;
use crate::lowering::comparisons::Excesses;
use crate::lowering::decisions::{Decide, Decided};
use crate::lowering::error::CompileError;
use crate::lowering::layout::{Fill, Layout};
use crate::lowering::nodes::{Lowering, Shared};
use crate::lowering::number::Number;
use crate::lowering::reduce::{Spread, without};
use crate::lowering::value::{Value, in_parts};

/// Comparators of a sorting network that work side by side: each on an element and the one that lies so far behind it.
struct Layer {
    apart: usize,
    /// For each element whether it is the first of a comparator.
    firsts: Vec<bool>,
}

/// Batcher's odd-even merge sort of so many elements (Knuth, The Art of Computer Programming, volume 3, 5.2.2, algorithm M).
fn layers(count: usize) -> Vec<Layer> {
    let powers = |below: usize| (0..usize::BITS).map(|log| 1 << log).take_while(move |&power| power < below);
    let mut layers = Vec::new();
    for merged in powers(count) {
        for apart in powers(merged + 1).collect::<Vec<usize>>().into_iter().rev() {
            let first = |at: usize| {
                let offset = at.checked_sub(apart % merged);
                let chosen = offset.is_some_and(|offset| offset % (2 * apart) < apart);
                chosen && at + apart < count && at / (2 * merged) == (at + apart) / (2 * merged)
            };
            layers.push(Layer { apart, firsts: (0..count).map(first).collect() });
        }
    }
    layers
}

impl<E: Shared> Lowering<'_, E> {
    /// The elements in ascending order along an axis.
    pub(super) fn sorted(
        &mut self,
        at: usize,
        mut x: Arc<Value<E::Ciphertext>>,
        axis: usize,
    ) -> Result<Arc<Value<E::Ciphertext>>> {
        // Copies of one element are in order.
        let Some(line) = self.line(at, &x.layout, axis)? else { return Ok(x) };
        let way = self.excesses(at, x.bounds.plus(x.bounds.negated()))?;
        // Minima and maxima do not enlarge the errors of their operands, so that those of all layers add up in the end; before it
        // numbers are what the comparators made of them, which no later decision has to allow for.
        let mut missed = 0.0;
        for Layer { apart, firsts } in layers(line.count) {
            let masks = self.masks(&x.layout, |index| f64::from(u8::from(firsts[index[axis]])));
            let steps = (apart * line.stride).cast_signed();
            let (mut parts, mut most) = (Vec::new(), 0.0);
            for (part, own) in x.parts.iter().enumerate() {
                let (exchanged, error) = self.exchanged(own, &masks[part % masks.len()], steps, &way)?;
                parts.push(exchanged);
                most = larger(most, error);
            }
            missed += most;
            x = Arc::new(self.made(parts, x.layout.clone(), x.bounds));
        }
        let parts = x.parts.iter().map(|part| self.ev.with_errors(part.clone(), &[], missed)).collect();
        Ok(Arc::new(self.made(parts, x.layout.clone(), x.bounds)))
    }

    /// The places of the largest elements along an axis, by a tournament of halves of what is left.
    ///
    /// # Errors
    /// No decisions, as a place between two is none; [`CompileError::DeadZone`] if an element that is smaller by more than the dead
    /// zone may be found.
    pub(super) fn place_of_largest(
        &mut self,
        at: usize,
        x: &Arc<Value<E::Ciphertext>>,
        axis: usize,
    ) -> Result<Arc<Value<E::Ciphertext>>> {
        let decider = self.decider.ok_or_else(|| self.refusal(at, ""))?;
        let stated = self.dead_zone(at)?;
        let Some(line) = self.line(at, &x.layout, axis)? else {
            let parts = self.side_by_side(x.parts.len(), |part| self.ev.sub(&x.parts[part], &x.parts[part]))?;
            return Ok(Arc::new(self.made(parts, x.layout.clone(), Interval::point(0.0))));
        };
        let places = Interval::new(0.0, (line.count - 1) as f64);
        let (mut values, mut found): (Vec<E::Ciphertext>, Option<Vec<E::Ciphertext>>) = (x.parts.clone(), None);
        let (mut left, mut least) = (line.count, 0.0);
        while left > 1 {
            let half = left.next_power_of_two() / 2;
            let paired =
                |factor: f64| self.masks(&x.layout, |index| if index[axis] < left - half { factor } else { 0.0 });
            let round = Round { steps: (half * line.stride).cast_signed(), masks: [paired(1.0), paired(half as f64)] };
            let (mut next, mut numbers, mut zone) = (Vec::new(), Vec::new(), 0.0);
            for (part, value) in values.iter().enumerate() {
                let number = found.as_ref().map(|found| &found[part]);
                let winner = self.winner(decider, value, number, part, &round)?;
                next.push(self.ev.with_range(winner.value, x.bounds.into()));
                numbers.push(self.ev.with_range(winner.place, places.into()));
                zone = larger(zone, winner.dead_zone);
            }
            // The candidates left are elements; each round may have missed a larger one.
            least += zone;
            (values, found, left) = (next, Some(numbers), half);
        }
        if least.is_nan() || least > stated {
            return Err(CompileError::DeadZone { place: self.graph.node(at).place.clone(), stated, least }.into());
        }
        let layout = without(&x.layout, line.dimension, line.size, Fill::Unknown);
        Ok(Arc::new(self.made(found.unwrap_or_default(), layout, places)))
    }

    /// A layer of comparators: `x - c (x - y)` for the first x, and `y + c (x - y)` for the second y, where c is whether x is above y;
    /// and how far they may be from the smaller and the larger number because of c.
    ///
    /// Of two numbers each becomes one of both, with their errors, and not with the errors of what cancels.
    fn exchanged(
        &self,
        x: &E::Ciphertext,
        firsts: &[E::Scalar],
        steps: isize,
        way: &Excesses<'_, E::Ciphertext>,
    ) -> Result<(E::Ciphertext, f64)> {
        let (x, error) = self.ev.split_error(self.ev.renewed_for_product(x.clone())?);
        let difference = self.ev.sub(&x, &self.ev.rotate(&x, steps)?)?;
        let (above, missed) = self.above(&self.ev.with_errors(difference.clone(), &[(&error, 2.0)], 0.0), way)?;
        let above = self.ev.mul_plain(&above, &self.ev.encode_for(firsts, &above)?)?;
        let excess = self.ev.mul(&difference, &above)?;
        let exchanged = self.ev.add(&self.ev.sub(&x, &excess)?, &self.ev.rotate(&excess, -steps)?)?;
        Ok((self.ev.with_errors(exchanged, &[(&error, 1.0)], 0.0), missed))
    }

    /// A round of a tournament: of each pair the larger number, and its place.
    fn winner(
        &self,
        decider: &dyn Decide<E::Ciphertext>,
        value: &E::Ciphertext,
        place: Option<&E::Ciphertext>,
        part: usize,
        round: &Round<E::Scalar>,
    ) -> Result<Winner<E::Ciphertext>> {
        let (value, error) = self.ev.split_error(self.ev.renewed_for_product(value.clone())?);
        let further = self.ev.sub(&self.ev.rotate(&value, round.steps)?, &value)?;
        let Decided { result, dead_zone } =
            decider.is_positive(&self.ev.with_errors(further.clone(), &[(&error, 2.0)], 0.0))?;
        let masked = |masks: &[Vec<E::Scalar>]| {
            self.ev.mul_plain(&result, &self.ev.encode_for(&masks[part % masks.len()], &result)?)
        };
        let (loses, mut moved) = (masked(&round.masks[0])?, masked(&round.masks[1])?);
        if let Some(place) = place {
            let (place, error) = self.ev.split_error(self.ev.renewed_for_product(place.clone())?);
            let change = self.ev.sub(&self.ev.rotate(&place, round.steps)?, &place)?;
            let place = self.ev.add(&place, &self.ev.mul(&change, &loses)?)?;
            moved = self.ev.with_errors(self.ev.add(&moved, &place)?, &[(&error, 1.0)], 0.0);
        }
        let value = self.ev.add(&value, &self.ev.mul(&further, &loses)?)?;
        Ok(Winner { value: self.ev.with_errors(value, &[(&error, 1.0)], 0.0), place: moved, dead_zone })
    }

    /// The elements along an axis, which lie in one ciphertext; none if there is one element, and perhaps copies of it.
    pub(super) fn line(&self, at: usize, layout: &Layout, axis: usize) -> Result<Option<Line>> {
        let Some(dimension) = layout.find(axis) else { return Ok(None) };
        let Spread { stride, within, groups, .. } = Spread::of(layout, dimension, self.slots);
        if groups > 1 {
            let (node, slots) = (self.graph.node(at), stride * layout.dimensions[dimension].size);
            return Err(
                CompileError::Apart { place: node.place.clone(), operation: node.operation.name(), slots }.into()
            );
        }
        Ok(Some(Line { dimension, stride, count: layout.dimensions[dimension].length, size: within }))
    }

    /// A factor for each element, by its index, and 0 for slots without an element: those of each ciphertext.
    fn masks(&self, layout: &Layout, factor: impl Fn(&[usize]) -> f64) -> Vec<Vec<E::Scalar>> {
        let axes = layout.dimensions.iter().filter_map(|d| d.axis).max().map_or(0, |axis| axis + 1);
        let number = |index: Option<Vec<usize>>| E::Scalar::number(index.map_or(0.0, |index| factor(&index)));
        in_parts(&layout.elements(axes).map(number).collect::<Vec<_>>(), self.slots)
    }
}

/// The larger of two numbers, or what is none.
const fn larger(a: f64, b: f64) -> f64 {
    if a >= b || a.is_nan() { a } else { b }
}

/// Where the elements along an axis lie.
pub(super) struct Line {
    pub(super) dimension: usize,
    pub(super) stride: usize,
    pub(super) count: usize,
    /// How many indices there are.
    pub(super) size: usize,
}

/// A round of a tournament.
struct Round<S> {
    /// The slots from a number to the one that it is compared with.
    steps: isize,
    /// 1, and how far apart places are, for numbers that are compared.
    masks: [Vec<Vec<S>>; 2],
}

/// A ciphertext after a round.
struct Winner<C> {
    value: C,
    place: C,
    dead_zone: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_sort() {
        // Zeros and ones suffice (Knuth, 5.3.4, theorem Z).
        for count in 1..=12 {
            for bits in 0..1_u32 << count {
                let mut values: Vec<u32> = (0..count).map(|at| bits >> at & 1).collect();
                for Layer { apart, firsts } in layers(count) {
                    let pairs: Vec<usize> = (0..count).filter(|&at| firsts[at]).collect();
                    // No element is in two comparators of a layer.
                    assert!(pairs.iter().all(|&at| !firsts[at + apart]), "{pairs:?}, {apart} apart");
                    for at in pairs {
                        if values[at] > values[at + apart] {
                            values.swap(at, at + apart);
                        }
                    }
                }
                assert!(values.is_sorted(), "{values:?}");
            }
        }
        assert_eq!([2, 4, 8, 16].map(|count| layers(count).len()), [1, 3, 6, 10]);
    }
}
