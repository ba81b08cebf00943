//! Order statistics along an axis, and masks of its largest elements, by searches with several thresholds at once.
//!
//! For each order statistic an interval that holds it begins at an encrypted number. All elements are compared with thresholds that
//! cut the interval into pieces, the elements above each are counted, and counts are compared with the rank: the order statistic
//! lies above as many thresholds as have enough elements above them. An element within the zone of a threshold may count as any
//! part of one, but then a threshold is undecided only if it is as near to the order statistic, and whatever is found for it the
//! next interval holds it. So the search is right for all elements, equal ones too.

use std::sync::Arc;

use noren_rlwe::error::Result;

use crate::circuits::trace;
use crate::graph::interval::Interval;
use crate::lowering::comparisons::Ending;
use crate::lowering::layout::{Dimension, Fill};
use crate::lowering::nodes::{Lowering, Shared};
use crate::lowering::number::Number;
use crate::lowering::orders::Line;
use crate::lowering::signs::Signs;
use crate::lowering::thresholds::{APPROXIMATED, NOISE, Round, Search, Size};
use crate::lowering::value::Value;
use crate::schemes::slots::SlotEvaluator;

/// The most that approximations of comparisons add to a count, and the most that noise does. Counts are a half from the edge between
/// two ranks.
const ERROR_OF_COUNTS: f64 = 1.0 / 16.0;
const NOISE_OF_COUNTS: f64 = 1.0 / 6.0;

/// Noise below this is that of levels of a ciphertext that is not bootstrapped in between.
const BOOTSTRAPPED: f64 = 1e-5;

/// The count of all elements, which are less than 1 each where they are more: the encoding of a mask has an error that such counts
/// are multiplied with, and those of comparisons are added up.
const LARGEST_COUNT: f64 = 512.0;

/// The parts of the dead zone of masks that comparisons with the last threshold leave, and that errors of elements may have.
const ZONE_OF_MASKS: f64 = 0.25;
const ERROR_OF_ELEMENTS: f64 = 1.0 / 32.0;

/// Masks are no better than this for the sake of their sums.
const LEAST_ERROR_OF_MASKS: f64 = 1e-4;

/// By how much more than by exact arithmetic elements may be from thresholds.
const ROOM: f64 = 1.0 / 1024.0;

/// Half of the last intervals, in errors of approximations: results have hardly any others.
const SHARE_OF_WIDTHS: f64 = 1.5;

/// Where the elements along an axis lie in a ciphertext. What differs from one threshold to the next lies in blocks behind them.
struct Places {
    line: Line,
    /// The slots of a block, and of the ciphertext.
    block: usize,
    slots: usize,
}

/// Elements that are searched, from 0 to the inverse of [`Search::reach`].
struct Searched<E: SlotEvaluator> {
    parts: Vec<E::Ciphertext>,
    /// The errors that they came with, and the largest.
    errors: Vec<E::Estimate>,
    largest_error: f64,
    places: Places,
    search: Search,
    /// The number that 0 stands for, and what 1 stands for more.
    low: f64,
    scale: f64,
}

impl Places {
    /// The place along the axis of the element of a slot.
    const fn index(&self, slot: usize) -> usize {
        slot / self.line.stride % self.line.size
    }

    /// A number for each slot, of the place along the axis and of the block.
    fn numbers<S: Number>(&self, number: impl Fn(usize, usize) -> f64) -> Vec<S> {
        (0..self.slots).map(|slot| S::number(number(self.index(slot), slot / self.block))).collect()
    }

    const fn blocks(&self) -> usize {
        self.slots / self.block
    }

    /// Whether rotations along the axis go round all that lies outside of it.
    const fn is_outermost(&self) -> bool {
        self.line.stride * self.line.size == self.block
    }
}

impl<E: Shared> Lowering<'_, E> {
    /// Weighted sums of order statistics along an axis, which the layout of the result has no more.
    pub(super) fn order_statistic(
        &mut self,
        at: usize,
        x: &Arc<Value<E::Ciphertext>>,
        axis: usize,
        terms: &[(usize, f64)],
    ) -> Result<Value<E::Ciphertext>> {
        let size: f64 = terms.iter().map(|(_, weight)| weight.abs()).sum();
        let x = self.copied(x)?;
        let Some(line) = self.line(at, &x.layout, axis)? else {
            let sum = terms.iter().map(|(_, weight)| weight).sum();
            let all = self.multiple(&x, sum)?;
            return Ok(self.made(all.parts.clone(), all.layout.clone(), all.bounds));
        };
        let ranks: Vec<usize> = terms.iter().map(|&(rank, _)| rank).collect();
        let width = 2.0 * SHARE_OF_WIDTHS * self.approximations.error / size;
        let dimension = line.dimension;
        let searched = self.searched(&x, line, ranks.len(), |range| width / range)?;
        let lows = self.ends_of_intervals(&searched, &ranks)?;
        let Searched { errors, places, search, low, scale, .. } = &searched;

        // The middle of each interval.
        let half = search.width / 2.0 / search.reach() / (1.0 + ROOM);
        let shift: f64 = terms.iter().map(|(_, weight)| weight * (low + half * scale)).sum();
        let of_part = |(part, error): (usize, &E::Estimate)| {
            let own = lows.iter().zip(terms).map(|(low, (_, weight))| (&low[part], E::Scalar::number(weight * scale)));
            let sum = self.ev.weighted_sum(&own.collect::<Vec<_>>(), E::Scalar::number(shift))?;
            Ok(self.ev.with_errors(sum, &[(error, size * scale)], size * half * scale))
        };
        let parts = errors.iter().enumerate().map(of_part).collect::<Result<Vec<_>>>()?;
        let mut layout = x.layout.clone();
        layout.dimensions[dimension] = Dimension::without_axis(places.line.size, Fill::Copies);
        let layout = layout.tidied();
        let bounds = terms.iter().map(|&(_, weight)| x.bounds.times(Interval::point(weight)));
        let bounds = bounds.reduce(Interval::plus).unwrap_or(Interval::point(0.0));
        Ok(self.made(parts, layout, bounds))
    }

    /// Whether elements are no smaller than the one that is the last of the `count` largest along an axis: 1 for these, and 0 for
    /// others that are smaller than it by the dead zone.
    pub(super) fn top(
        &mut self,
        at: usize,
        x: &Arc<Value<E::Ciphertext>>,
        axis: usize,
        count: usize,
    ) -> Result<Value<E::Ciphertext>> {
        let x = self.copied(x)?;
        let zone = self.dead_zone(at)?.min((x.bounds.high - x.bounds.low).max(f64::MIN_POSITIVE.sqrt()));
        let within = Interval::new(0.0, 1.0);
        let Some(line) = self.line(at, &x.layout, axis)? else {
            let one = |part: usize| {
                let zero = self.ev.sub(&x.parts[part], &x.parts[part])?;
                self.ev.add_scalar(&zero, E::Scalar::number(1.0))
            };
            return Ok(self.made(self.side_by_side(x.parts.len(), one)?, x.layout.clone(), within));
        };
        let (count_of_elements, rank) = (line.count, line.count - count);
        let for_width = 1.0 - 2.0 * ZONE_OF_MASKS - 4.0 * ERROR_OF_ELEMENTS;
        let searched = self.searched(&x, line, 1, |range| for_width * zone / range)?;
        let lows = self.ends_of_intervals(&searched, &[rank])?.swap_remove(0);
        let Searched { parts, largest_error, scale, .. } = &searched;

        // The largest elements are above the interval's lower end but for twice the errors of elements: above this threshold by the
        // zone.
        let own = ZONE_OF_MASKS * zone / scale;
        let allowed = ERROR_OF_ELEMENTS * zone / scale;
        let threshold = own + 2.0 * allowed;
        let search = &searched.search;
        // Few rounds leave elements farther from the threshold than those before it.
        let size = ((1.0 + search.width) / search.reach() / (1.0 + ROOM) + threshold).max(1.0);
        // Masks are added up along their axis.
        let error = self.approximations.error;
        let error = (error / count_of_elements as f64).max(error.min(LEAST_ERROR_OF_MASKS));
        let signs = Signs::known(Some(own / size), 2.0 * error)?;
        let is_within = *largest_error <= self.margin * allowed;
        let error = if is_within { signs.error() / 2.0 } else { f64::INFINITY };
        let parts = self.side_by_side(parts.len(), |part| {
            let above = self.ev.sub(&parts[part], &lows[part])?;
            let above = self.ev.with_range(self.ev.add_scalar(&above, E::Scalar::number(threshold))?, [-size, size]);
            let mask = self.sign_of(&above, size, Signs::slack(own / size), &signs, true)?;
            Ok(self.ev.with_errors(mask, &[], error))
        })?;
        Ok(self.made(parts, x.layout.clone().blurred(), within))
    }

    /// Whether the errors of a vector are at most this.
    fn is_within(&self, x: &E::Ciphertext, most: f64) -> bool {
        // Written so that what is not a number is beyond.
        self.ev.bounds(x).is_none_or(|bounds| bounds.error <= self.margin * most)
    }

    /// Elements along an axis, as they are searched until intervals have the length that `width` gives for the length of their range.
    fn searched(
        &self,
        x: &Value<E::Ciphertext>,
        line: Line,
        ranks: usize,
        width: impl Fn(f64) -> f64,
    ) -> Result<Searched<E>> {
        let range = x.bounds.high - x.bounds.low;
        let block = x.layout.period().min(self.slots);
        let places = Places { line, block, slots: self.slots };
        let size = Size { ranks, elements: places.line.size, blocks: places.blocks() };
        let range = range.max(f64::MIN_POSITIVE.sqrt());
        let search = Search::new(width(range), size);
        let scale = range * search.reach() * (1.0 + ROOM);
        let Line { count, size, .. } = places.line;
        // Behind the last element the largest number, which changes no rank.
        let factor = places.numbers(|index, _| if index < count { 1.0 / scale } else { 0.0 });
        let shift = places.numbers(|index, _| if index < count { -x.bounds.low / scale } else { range / scale });
        let parts = self.side_by_side(x.parts.len(), |part| {
            // Each round computes with the elements: with all levels none of its ciphertexts is bootstrapped for their sake.
            let x = &self.ev.renewed(x.parts[part].clone())?;
            if count == size {
                let scaled = self.ev.mul_scalar(x, factor[0])?;
                return self.ev.add_scalar(&scaled, shift[0]);
            }
            let scaled = self.ev.mul_plain(x, &self.ev.encode_for(&factor, x)?)?;
            self.plus_each(&scaled, &shift)
        })?;
        let error_of = |part| self.ev.bounds(part).map_or(0.0, |bounds| bounds.error);
        let largest_error = parts.iter().map(error_of).fold(0.0, |a: f64, b| if b > a || b.is_nan() { b } else { a });
        let all = parts.into_iter().map(|part| {
            let part = self.ev.with_range(part, [0.0, range / scale]);
            // What is searched are the elements with their errors, which results have once.
            self.ev.split_error(part)
        });
        let (parts, errors) = all.unzip();
        Ok(Searched { parts, errors, largest_error, places, search, low: x.bounds.low, scale })
    }

    /// The lower ends of the last intervals, for each rank those of all ciphertexts.
    fn ends_of_intervals(&self, x: &Searched<E>, ranks: &[usize]) -> Result<Vec<Vec<E::Ciphertext>>> {
        let mut ends: Option<Vec<Vec<E::Ciphertext>>> = None;
        for (at, round) in x.search.rounds.iter().enumerate() {
            let width = round.step * (x.search.thresholds + 1) as f64;
            let of_part = |part: usize| {
                let own = ends.as_ref().map(|ends| ends.iter().map(|ends| &ends[part]).collect::<Vec<_>>());
                self.ends_after(x, part, round, own.as_deref(), ranks, if at == 0 { 0.0 } else { width })
            };
            let parts = (0..x.parts.len()).map(of_part).collect::<Result<Vec<_>>>()?;
            let of_rank = |rank: usize| parts.iter().map(|ends| ends[rank].clone()).collect();
            ends = Some((0..ranks.len()).map(of_rank).collect());
        }
        Ok(ends.unwrap_or_default())
    }

    /// The lower ends of the intervals of all ranks after a round, of one ciphertext.
    fn ends_after(
        &self,
        x: &Searched<E>,
        part: usize,
        round: &Round,
        ends: Option<&[&E::Ciphertext]>,
        ranks: &[usize],
        width: f64,
    ) -> Result<Vec<E::Ciphertext>> {
        let Searched { places, search, .. } = x;
        let unit = 1.0 / search.reach() / (1.0 + ROOM);
        let (elements, thresholds) = (places.line.size, search.thresholds);
        let groups = thresholds.div_ceil(places.blocks());
        let threshold = |group: usize, block: usize| group * places.blocks() + block + 1;
        // As many elements above a threshold as there are from the rank on.
        let edge = |rank: usize| (elements - rank) as f64 - 0.5;
        let reach = ranks.iter().map(|&rank| edge(rank).max(elements as f64 - edge(rank))).fold(1.0, f64::max);
        // Somewhat less than 1 with its error, above which bootstraps are half as precise.
        let reach = reach * (1.0 + ROOM);

        let comparing = Signs::known(Some(round.zone * unit), 2.0 * ERROR_OF_COUNTS / elements as f64)?;
        let apart = 0.5 - ERROR_OF_COUNTS;
        let counting = Signs::allowing(apart / reach, NOISE_OF_COUNTS / reach, 2.0 * APPROXIMATED / thresholds as f64)?;
        // Many counts are compared with the levels that are left, so that the noise of bootstraps meets results that are apart.
        let first = counting.stages().first().map_or(0, |stage| stage.polynomial.depth());
        let one = (LARGEST_COUNT / elements as f64).min(1.0);
        let levels = if NOISE_OF_COUNTS / reach < BOOTSTRAPPED { first + 1 } else { 1 };
        let ending = Ending { range: [0.0, one], levels };

        let places_used = ranks.len() * groups;
        let mut counts: Option<E::Ciphertext> = None;
        let mut count_at = |counted: &E::Ciphertext, place: usize| -> Result<()> {
            let own = if places_used == 1 {
                self.ev.mul_scalar(counted, E::Scalar::number(1.0 / (reach * one)))?
            } else {
                let mask = places.numbers(|index, _| if index == 0 { 1.0 / (reach * one) } else { 0.0 });
                let masked = self.ev.mul_plain(counted, &self.ev.encode_for(&mask, counted)?)?;
                match place {
                    0 => masked,
                    _ => self.ev.rotate(&masked, -(place * places.line.stride).cast_signed())?,
                }
            };
            counts = Some(match &counts {
                Some(counts) => self.ev.add(counts, &own)?,
                None => own,
            });
            Ok(())
        };
        let counted = |base: &E::Ciphertext, group: usize| -> Result<E::Ciphertext> {
            let number = |_, block: usize| -(threshold(group, block).min(thresholds) as f64) * round.step * unit;
            let above = self.plus_each(base, &places.numbers(number))?;
            let above = self.ev.with_range(above, [-1.0, 1.0]);
            let above = self.composed(&above, 1.0, Signs::slack(round.zone * unit), &comparing, &ending)?;
            let count = trace::sum(self.ev, &above, elements, places.line.stride.cast_signed())?;
            Ok(self.ev.with_range(count, [0.0, elements as f64 * one]))
        };
        match ends {
            None => {
                for group in 0..groups {
                    let counted = counted(&x.parts[part], group)?;
                    (0..ranks.len()).try_for_each(|rank| count_at(&counted, rank * groups + group))?;
                }
            }
            Some(ends) => {
                for (rank, end) in ends.iter().enumerate() {
                    let base = self.ev.sub(&x.parts[part], end)?;
                    (0..groups).try_for_each(|group| count_at(&counted(&base, group)?, rank * groups + group))?;
                }
            }
        }
        let counts = counts.expect("a threshold");
        let rank_of = |index: usize| (index / groups).min(ranks.len() - 1);
        let excess = self.plus_each(&counts, &places.numbers(|index, _| -edge(ranks[rank_of(index)]) / reach))?;
        let largest = 1.0 / (1.0 + ROOM);
        let excess = self.ev.with_range(excess, [-largest, largest]);
        let steps = self.sign_of(&excess, 1.0, NOISE_OF_COUNTS / reach, &counting, true)?;
        // With all levels, so that intervals have some, whose ends are not bootstrapped again.
        let steps = self.ev.renewed(self.ev.with_range(steps, [0.0, 1.0]))?;
        // Masks leave the errors of as many steps as there are thresholds, and sums along the axis have no others.
        let (steps, error_of_steps) = self.ev.split_error(steps);
        let end = |rank: usize| -> Result<E::Ciphertext> {
            let own = |index: usize, block: usize| {
                let is_own = index / groups == rank && index < places_used;
                is_own && threshold(index % groups, block) <= thresholds
            };
            let mask = places.numbers(|index, block| f64::from(u8::from(own(index, block))));
            let own = self.ev.mul_plain(&steps, &self.ev.encode_for(&mask, &steps)?)?;
            let sum = self.everywhere(&own, places, places_used)?;
            let most = thresholds as f64;
            let sum = self.ev.with_errors(self.ev.with_range(sum, [0.0, most]), &[(&error_of_steps, most)], 0.0);
            // Behind the sum, whose noise is that of all slots.
            let moved = self.ev.mul_scalar(&sum, E::Scalar::number(round.step * unit))?;
            let end = match ends {
                Some(ends) => self.ev.add(ends[rank], &moved)?,
                None => moved,
            };
            let error = if self.is_within(&end, NOISE * round.step * unit) { 0.0 } else { f64::INFINITY };
            let end = self.ev.add_scalar(&end, E::Scalar::number(-round.slack * unit))?;
            let end = self.ev.with_range(end, [-(width + round.slack) * unit, unit * (1.0 + width)]);
            // The interval is longer by them.
            let (end, _) = self.ev.split_error(end);
            Ok(self.ev.with_errors(end, &[], error))
        };
        (0..ranks.len()).map(end).collect()
    }

    /// `x + c`, of a number for each slot.
    fn plus_each(&self, x: &E::Ciphertext, numbers: &[E::Scalar]) -> Result<E::Ciphertext> {
        if numbers.iter().all(|number| *number == numbers[0]) {
            return self.ev.add_scalar(x, numbers[0]);
        }
        self.ev.add_plain(x, &self.ev.encode_addend(numbers, x)?)
    }

    /// The sums of the first `used` elements along the axis of all blocks, in place of all elements; the others are zero.
    fn everywhere(&self, x: &E::Ciphertext, places: &Places, used: usize) -> Result<E::Ciphertext> {
        let Line { stride, size, .. } = places.line;
        let step = stride.cast_signed();
        if places.is_outermost() {
            return trace::sum(self.ev, x, places.slots / stride, step);
        }
        let mut sums = x.clone();
        if places.blocks() > 1 {
            sums = trace::sum(self.ev, &sums, places.blocks(), places.block.cast_signed())?;
        }
        if used > 1 {
            sums = trace::sum(self.ev, &sums, used, step)?;
            let first = places.numbers(|index, _| f64::from(u8::from(index == 0)));
            sums = self.ev.mul_plain(&sums, &self.ev.encode_for(&first, &sums)?)?;
        }
        trace::replicate(self.ev, &sums, size, step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::dag::Graph;
    use crate::graph::operation::{Element, Operation, Reduction};
    use crate::lowering::error::CompileError;
    use crate::lowering::nodes::Approximations;
    use crate::lowering::tests::{Clear, read};
    use crate::schemes::clear::ClearEvaluator;

    const ERROR: f64 = SHARE_OF_WIDTHS * 1e-3;
    const ZONE: f64 = 0.02;
    const RANGE: [f64; 2] = [-2.0, 1.0];

    /// An operation of an array, or of sums over an axis of its own, whose padding holds anything.
    fn result(
        shape: &[usize],
        values: &[f64],
        is_sum: bool,
        operation: &dyn Fn(usize) -> Operation,
        slots: usize,
    ) -> Result<Vec<f64>> {
        let mut graph = Graph::default();
        let mut push = |operation| graph.push(operation, "here").expect("an operation");
        let given = if is_sum { [shape, &[2]].concat() } else { shape.to_vec() };
        let range = Interval::from(RANGE.map(|end| if is_sum { end / 2.0 } else { end }));
        let mut x = push(Operation::Input { name: "x".into(), shape: given, element: Element::Real, range });
        if is_sum {
            x = push(Operation::Reduce(Reduction::Sum, x, vec![shape.len()]));
        }
        let y = push(operation(x));
        graph.finish(vec![y]).expect("an output");
        let halves = |values: &[f64]| values.iter().flat_map(|x| [x / 2.0, x / 2.0]).collect();
        let inputs = [if is_sum { halves(values) } else { values.to_vec() }];
        let mut source = Clear { inputs: &inputs, nodes: graph.inputs(), slots };
        let approximations = Approximations::of_reals(ERROR / SHARE_OF_WIDTHS, Some(ZONE));
        let found = Lowering::new(&ClearEvaluator, &graph, slots, approximations, &mut source).run(|_, _, _| {})?;
        Ok(read(&found[0], &graph.node(y).shape, slots))
    }

    /// Elements in any order, equal ones, some that are close to each other, and those at the ends of the range.
    fn arrays(count: usize) -> Vec<Vec<f64>> {
        let [low, high] = RANGE;
        let mixed = |at: usize| low + (high - low) * ((at * 37 + 11) % 101) as f64 / 100.0;
        let each = |of: &dyn Fn(usize) -> f64| (0..count).map(of).collect::<Vec<f64>>();
        vec![
            each(&mixed),
            each(&|_| 0.1),
            each(&|_| low),
            each(&|_| high),
            each(&|at| if at % 2 == 0 { low } else { high }),
            each(&|at| (mixed(at) * 2.0).round() / 2.0),
            each(&|at| 0.3 + mixed(at) * ERROR),
        ]
    }

    /// The same in ciphertexts of as many slots as are needed, if these are too few.
    fn searched(
        shape: &[usize],
        values: &[f64],
        is_sum: bool,
        operation: &dyn Fn(usize) -> Operation,
        slots: usize,
    ) -> Vec<f64> {
        let found = result(shape, values, is_sum, operation, slots);
        match found.as_ref().err().and_then(|error| error.downcast_ref()) {
            Some(&CompileError::Apart { slots, .. }) => result(shape, values, is_sum, operation, slots),
            _ => found,
        }
        .expect("a search")
    }

    /// Shapes, and axes, with the slots of ciphertexts that hold several thresholds, or a part of the array.
    const CASES: [(&[usize], usize, usize); 6] = [
        (&[20], 0, 32),
        (&[32], 0, 256),
        (&[3, 17], 1, 128),
        (&[17, 3], 0, 512),
        (&[17, 5], 0, 64),
        (&[2, 18, 2], 1, 64),
    ];

    fn lines(shape: &[usize], axis: usize) -> Vec<Vec<usize>> {
        let step: usize = shape[axis + 1..].iter().product();
        let starts = (0..shape.iter().product()).filter(|at| (at / step).is_multiple_of(shape[axis]));
        starts.map(|start| (0..shape[axis]).map(|place| start + place * step).collect()).collect()
    }

    #[test]
    fn order_statistics_are_within_the_error_whatever_the_elements_are() {
        for (shape, axis, slots) in CASES {
            let (count, extent) = (shape.iter().product(), shape[axis]);
            for (at, values) in arrays(count).into_iter().enumerate() {
                let middle = vec![(extent / 2 - 1, 0.5), (extent / 2, 0.5)];
                let terms = [vec![(0, 1.0)], vec![(extent - 1, 1.0)], middle][at % 3].clone();
                let operation = |of| Operation::OrderStatistic { of, axis, terms: terms.clone() };
                let found = searched(shape, &values, at % 2 == 1, &operation, slots);
                let lines = lines(shape, axis);
                assert_eq!(found.len(), lines.len());
                for (found, line) in found.into_iter().zip(lines) {
                    let mut sorted: Vec<f64> = line.iter().map(|&at| values[at]).collect();
                    sorted.sort_by(f64::total_cmp);
                    let expected: f64 = terms.iter().map(|&(rank, weight)| weight * sorted[rank]).sum();
                    assert!(
                        (found - expected).abs() <= ERROR,
                        "{shape:?} {terms:?} of {values:?}: {found} for {expected}"
                    );
                }
            }
        }
    }

    #[test]
    fn masks_have_the_largest_and_no_elements_below_the_dead_zone() {
        for (shape, axis, slots) in CASES {
            let (elements, extent) = (shape.iter().product(), shape[axis]);
            for (at, values) in arrays(elements).into_iter().enumerate() {
                let count = [3, 1, extent, extent - 1][at % 4];
                let operation = |of| Operation::Top { of, axis, count };
                let found = searched(shape, &values, at % 2 == 1, &operation, slots);
                for line in lines(shape, axis) {
                    let mut sorted: Vec<f64> = line.iter().map(|&at| values[at]).collect();
                    sorted.sort_by(f64::total_cmp);
                    let least = sorted[extent - count];
                    for at in line {
                        let within = match values[at] {
                            x if x >= least => 1.0..=1.0,
                            x if x < least - ZONE => 0.0..=0.0,
                            _ => 0.0..=1.0,
                        };
                        let (low, high) = (within.start() - ERROR, within.end() + ERROR);
                        assert!(
                            (low..=high).contains(&found[at]),
                            "{shape:?} {count} of {values:?}: {} at {at}",
                            found[at]
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn elements_that_lie_in_several_ciphertexts_are_refused_with_the_slots_that_hold_them() {
        let operation = |of| Operation::Top { of, axis: 0, count: 1 };
        let error = result(&[100], &[0.0; 100], false, &operation, 64).expect_err("two ciphertexts");
        assert!(matches!(error.downcast_ref(), Some(CompileError::Apart { slots: 128, .. })), "{error}");
    }
}
