//! Products with matrices in clear, along one axis.

use std::collections::BTreeMap;
use std::sync::Arc;

use noren_math::machine::memory;
use noren_rlwe::error::Result;

use crate::circuits::linear::LinearMap;
use crate::circuits::trace;
use crate::graph::interval::{Interval, sums_of_columns};
use crate::graph::sparse::SparseMatrix;
use crate::lowering::kept::{Place, Role};
use crate::lowering::layout::{Dimension, Fill, Layout};
use crate::lowering::nodes::{Lowering, Shared};
use crate::lowering::number::Number;
use crate::lowering::reduce::{Spread, without};
use crate::lowering::value::{Value, in_parts};
use crate::schemes::slots::Scalar;

/// The diagonals of all matrices that bring elements into another order.
const MOST_MOVES: usize = 1 << 14;

/// The entries of a sparse matrix that is taken as one with all of its entries, where it has no diagonals.
const MOST_DENSE: usize = 1 << 24;

/// A matrix by blocks.
struct Blocks<'a, T> {
    rows: usize,
    columns: usize,
    /// Where all entries lie.
    entries: Interval,
    /// The map of one block of results from one block of elements, of these sizes.
    map: &'a MapOfBlock<'a, T>,
}

type MapOfBlock<'a, T> = dyn Fn((usize, usize), (usize, usize)) -> Result<LinearMap<T>> + Sync + 'a;

impl<E: Shared> Lowering<'_, E> {
    /// `sum_c x[.., c] matrix[c][k]`.
    pub(super) fn matrix_product(
        &mut self,
        at: usize,
        x: &Arc<Value<E::Ciphertext>>,
        columns: usize,
        matrix: &[f64],
    ) -> Result<Value<E::Ciphertext>> {
        let axis = self.graph.node(at).shape.len() - 1;
        let rows = matrix.len() / columns;
        let (terms, padding) = self.terms(x, columns);
        let bounds = sums_of_columns(matrix, columns, terms);
        let bounds = padding.map_or(bounds, |zero| bounds.hull(zero));
        let Some(dimension) = x.layout.find(axis) else {
            let sum = |k: usize| matrix[k..].iter().step_by(columns).sum();
            return self.copies_times(at, x, columns, &(0..columns).map(sum).collect::<Vec<f64>>());
        };
        let spread = Spread::of(&x.layout, dimension, self.slots);
        if spread.within == 1 {
            return self.weighted_parts(x, (dimension, spread), columns, matrix, bounds);
        }
        if columns == 1 {
            return self.weighted_slots(x, dimension, matrix, bounds);
        }
        if !self.is_in_place(x, (dimension, spread), columns) {
            // The axis comes to lie outermost first.
            let moved = self.outermost(at, x, axis, rows)?;
            return self.matrix_product(at, &moved.into(), columns, matrix);
        }
        let map = |(h, g): (usize, usize), (elements, results): (usize, usize)| {
            LinearMap::hybrid_apart(spread.stride, elements, results, |row, column| {
                let (c, k) = (g * elements + column, h * results + row);
                E::Scalar::number(if c < rows && k < columns { matrix[c * columns + k] } else { 0.0 })
            })
        };
        let blocks = Blocks { rows, columns, entries: Interval::of(matrix), map: &map };
        self.by_diagonals(at, x, (dimension, spread), &blocks, bounds)
    }

    /// [`Lowering::matrix_product`] with a matrix by its entries that are not zero.
    pub(super) fn sparse_product(
        &mut self,
        at: usize,
        x: &Arc<Value<E::Ciphertext>>,
        (rows, columns): (usize, usize),
        matrix: &SparseMatrix,
    ) -> Result<Value<E::Ciphertext>> {
        let axis = self.graph.node(at).shape.len() - 1;
        let spread = x.layout.find(axis).map(|dimension| (dimension, Spread::of(&x.layout, dimension, self.slots)));
        let (dimension, spread) = match spread {
            Some((dimension, spread)) if spread.within > 1 && columns > 1 => (dimension, spread),
            // Of copies, of an element in each ciphertext, and of a column, there is no diagonal.
            _ if rows.saturating_mul(columns) <= MOST_DENSE => {
                return self.matrix_product(at, x, columns, &matrix.dense(rows, columns));
            }
            _ => return Err(self.refusal(at, "use fewer rows, whose ciphertexts hold more of each")),
        };
        if !self.is_in_place(x, (dimension, spread), columns) {
            let moved = self.outermost(at, x, axis, rows)?;
            return self.sparse_product(at, &moved.into(), (rows, columns), matrix);
        }
        let (bounds, entries) = {
            let (terms, padding) = self.terms(x, columns);
            let bounds = matrix.sums_of_columns(columns, terms);
            let entries =
                matrix.values.iter().fold(Interval::point(0.0), |all, &value| all.hull(Interval::point(value)));
            (padding.map_or(bounds, |zero| bounds.hull(zero)), entries)
        };
        let map = |(h, g): (usize, usize), (elements, results): (usize, usize)| {
            LinearMap::sparse_apart(spread.stride, elements, results, |hear| {
                matrix.each(|c, k, value| {
                    if c / elements == g && k / results == h {
                        hear(k % results, c % elements, E::Scalar::number(value));
                    }
                });
            })
        };
        let blocks = Blocks { rows, columns, entries, map: &map };
        self.by_diagonals(at, x, (dimension, spread), &blocks, bounds)
    }

    /// Where a product of an entry with an element lies, and, if there are results of nothing, where they lie: slots without an
    /// element, and columns behind the last, may hold zeros.
    fn terms(&self, x: &Value<E::Ciphertext>, columns: usize) -> (impl Fn(f64) -> Interval + use<E>, Option<Interval>) {
        let (zero, bounds) = (Interval::point(0.0), x.bounds);
        let full = x.layout.is_full() && columns.is_power_of_two();
        let term = move |entry: f64| {
            let term = bounds.times(Interval::point(entry));
            if full { term } else { term.hull(zero) }
        };
        (term, (!columns.is_power_of_two()).then_some(zero))
    }

    /// Whether the elements along an axis lie as a product by diagonals needs them.
    fn is_in_place(&self, x: &Value<E::Ciphertext>, (dimension, spread): (usize, Spread), columns: usize) -> bool {
        // Behind the last dimension there is room for more columns than rows, in further ciphertexts too.
        let grows = spread.groups == 1 && dimension + 1 == x.layout.dimensions.len();
        let fits = columns.next_power_of_two() <= spread.within || spread.groups > 1 || grows;
        spread.cyclic && fits
    }

    /// The array with an axis outermost.
    fn outermost(
        &mut self,
        at: usize,
        x: &Arc<Value<E::Ciphertext>>,
        axis: usize,
        rows: usize,
    ) -> Result<Value<E::Ciphertext>> {
        let shape = row_shape(x, axis, rows);
        let inner = (0..shape.len()).filter(|&other| other != axis).chain([axis]).collect::<Vec<_>>();
        let target = Layout::of_axes(&shape, &inner, Fill::Zeros);
        if target == x.layout {
            return Err(self.refusal(at, "use a table with fewer rows, whose ciphertexts hold whole columns"));
        }
        self.moved(at, x, &target, &shape)
    }

    /// The product with one column: the elements times its entries, added up.
    fn weighted_slots(
        &self,
        x: &Value<E::Ciphertext>,
        dimension: usize,
        column: &[f64],
        bounds: Interval,
    ) -> Result<Value<E::Ciphertext>> {
        let spread = Spread::of(&x.layout, dimension, self.slots);
        let size = x.layout.dimensions[dimension].size;
        // Entries repeat after the dimension; where there is no element they are zero.
        let period = (spread.stride * size).min(x.layout.period());
        let mut numbers = Vec::with_capacity(period);
        for index in 0..period / spread.stride {
            let entry = column.get(index).copied().unwrap_or(0.0);
            numbers.resize(numbers.len() + spread.stride, E::Scalar::number(entry));
        }
        let plains = in_parts(&numbers, self.slots);
        let fill = if spread.cyclic { Fill::Copies } else { Fill::Unknown };
        let layout = without(&x.layout, dimension, spread.within, fill);
        let groups = spread.parts(x.parts.len());
        let last = (column.len() - 1) / spread.within;
        let parts = self.side_by_side(layout.parts(self.slots), |at| {
            let used = &groups[at][..=last];
            let encode = |&part: &usize| self.ev.encode_for(&plains[part % plains.len()], &x.parts[part]);
            let plains = used.iter().map(encode).collect::<Result<Vec<_>>>()?;
            let pairs: Vec<_> = used.iter().map(|&part| &x.parts[part]).zip(&plains).collect();
            trace::sum(self.ev, &self.ev.dot_plain(&pairs)?, spread.within, spread.stride.cast_signed())
        })?;
        let known = x.layout.is_known();
        let bounds = if known { bounds } else { bounds.hull(x.bounds.times(Interval::of(column)).repeated(size)) };
        Ok(self.made(parts, layout, bounds))
    }

    /// The product where each ciphertext holds one index of the axis: weighted sums of ciphertexts.
    fn weighted_parts(
        &self,
        x: &Value<E::Ciphertext>,
        (dimension, spread): (usize, Spread),
        columns: usize,
        matrix: &[f64],
        bounds: Interval,
    ) -> Result<Value<E::Ciphertext>> {
        let rows = matrix.len() / columns;
        let size = columns.next_power_of_two();
        let groups = spread.parts(x.parts.len());
        let sums = self.side_by_side(groups.len() * columns, |work| {
            let (group, k) = (&groups[work / columns], work % columns);
            let terms: Vec<_> = group[..rows]
                .iter()
                .enumerate()
                .map(|(c, &part)| (&x.parts[part], E::Scalar::number(matrix[c * columns + k])))
                .collect();
            self.ev.weighted_sum(&terms, E::Scalar::ZERO)
        })?;
        let mut layout = x.layout.clone();
        let axis = layout.dimensions[dimension].axis;
        layout.dimensions[dimension] = Dimension { axis, length: columns, size, fill: Fill::Unknown };
        // With one column the next dimension may be the outermost one, which has fewer ciphertexts.
        let layout = layout.tidied();
        // Ciphertexts of the same group lie as far apart as before; what has no column repeats one.
        let count = layout.parts(self.slots);
        let part = |part: usize| {
            let (inner, k) = (part % spread.apart, part / spread.apart % size);
            let outer = part / (spread.apart * size);
            sums[(outer * spread.apart + inner) * columns + k.min(columns - 1)].clone()
        };
        let parts = (0..count).map(part).collect();
        Ok(self.made(parts, layout, bounds))
    }

    /// The product by [`LinearMap::hybrid`]: of every ciphertext as many diagonals as the smaller of its rows and columns at most, and
    /// one sum over blocks for all of its ciphertexts.
    fn by_diagonals(
        &self,
        at: usize,
        x: &Value<E::Ciphertext>,
        (dimension, spread): (usize, Spread),
        matrix: &Blocks<'_, E::Scalar>,
        bounds: Interval,
    ) -> Result<Value<E::Ciphertext>> {
        let (rows, columns, layout) = (matrix.rows, matrix.columns, &x.layout);
        let size = columns.next_power_of_two();
        let last = dimension + 1 == x.layout.dimensions.len();
        let room = if spread.groups == 1 && last { self.slots / spread.stride } else { spread.within };
        let within = size.min(room);
        // Of output block h and input block g.
        let map = |h: usize, g: usize| (matrix.map)((h, g), (spread.within, within));
        let groups = spread.parts(x.parts.len());
        // Behind the last dimension nothing is counted by blocks.
        let blocks = if last { columns.div_ceil(within) } else { size / within };
        let prepared = |h: usize, g: usize, x: &E::Ciphertext| {
            let role = Role::Multiplies { results: h, elements: g };
            self.prepared(&Place { node: at, from: layout.clone(), role }, x, || map(h, g))
        };
        // Each once, for all groups.
        let used = rows.div_ceil(spread.within);
        let maps = self
            .side_by_side(blocks * used, |work| prepared(work / used, work % used, &x.parts[groups[0][work % used]]))?;
        let products = self.side_by_side(groups.len() * blocks, |work| {
            let (group, h) = (&groups[work / blocks], work % blocks);
            let (maps, x) = (&maps[h * used..][..used], |g: usize| &x.parts[group[g]]);
            let sum = (1..used).try_fold(maps[0].blocks(self.ev, x(0))?, |sum, g| {
                self.ev.add(&sum, &maps[g].blocks(self.ev, x(g))?)
            })?;
            maps[0].sum_of_blocks(self.ev, sum)
        })?;
        let mut layout = layout.clone();
        let axis = layout.dimensions[dimension].axis;
        layout.dimensions[dimension] = Dimension { axis, length: columns, size, fill: Fill::Zeros };
        if within < spread.within {
            let copies = Dimension::without_axis(spread.within / within, Fill::Copies);
            layout.dimensions.insert(dimension + 1, copies);
        }
        let known = x.layout.is_known();
        let bounds = if known { bounds } else { bounds.hull(x.bounds.times(matrix.entries).repeated(rows)) };
        Ok(self.made(products, layout.tidied(), bounds))
    }

    /// The product of copies along an axis: each with the sum of a column.
    fn copies_times(
        &mut self,
        at: usize,
        x: &Arc<Value<E::Ciphertext>>,
        columns: usize,
        sums: &[f64],
    ) -> Result<Value<E::Ciphertext>> {
        let shape = self.graph.node(at).shape.clone();
        let layout = x.layout.clone().extended(&shape, Fill::Zeros);
        let count = shape.iter().product::<usize>();
        let values: Vec<f64> = (0..count).map(|position| sums[position % columns]).collect();
        self.with_plain(true, x, layout, &shape, &values)
    }

    /// The same elements in another layout; one level.
    pub(super) fn moved(
        &self,
        at: usize,
        x: &Value<E::Ciphertext>,
        target: &Layout,
        shape: &[usize],
    ) -> Result<Value<E::Ciphertext>> {
        self.gathered(at, x, target, shape, &mut |index| Some(x.layout.address(index)))
    }

    /// An array whose elements are those at some addresses of another, or zero; one level.
    pub(super) fn gathered(
        &self,
        at: usize,
        x: &Value<E::Ciphertext>,
        target: &Layout,
        shape: &[usize],
        source: &mut dyn FnMut(&[usize]) -> Option<usize>,
    ) -> Result<Value<E::Ciphertext>> {
        let (from, to) = (x.layout.period(), target.period());
        let dimension = from.max(to).min(self.slots);
        // By ciphertext of the result, ciphertext of the operand, and diagonal: the slots of the result.
        let mut moves: BTreeMap<(usize, usize), BTreeMap<usize, Vec<usize>>> = BTreeMap::new();
        let elements: Vec<Option<Vec<usize>>> = target.elements(shape.len()).collect();
        for address in 0..to.max(dimension) {
            let Some(place) = elements[address % to].as_ref().and_then(|index| source(index)) else { continue };
            let slot = address % self.slots;
            let diagonal = (place % self.slots + dimension - slot) % from.min(self.slots);
            let diagonals = moves.entry((address / self.slots, place / self.slots)).or_default();
            diagonals.entry(diagonal).or_default().push(slot);
        }
        let count: usize = moves.values().map(BTreeMap::len).sum();
        if count > MOST_MOVES {
            let needed =
                format!("elements that move by at most {MOST_MOVES} distances, found {count}: apply it to the input");
            return Err(self.refusal(at, &needed));
        }
        let nothing = BTreeMap::new();
        let parts = self.side_by_side(target.parts(self.slots), |result| {
            let map = |diagonals: &BTreeMap<usize, Vec<usize>>| {
                memory::ask_for::<E::Scalar>(diagonals.len().saturating_mul(dimension))?;
                let diagonal = |(&k, slots): (&usize, &Vec<usize>)| {
                    let mut diagonal = vec![E::Scalar::ZERO; dimension];
                    slots.iter().for_each(|&slot| diagonal[slot] = E::Scalar::ONE);
                    (k, diagonal)
                };
                LinearMap::from_diagonals(dimension, diagonals.iter().map(diagonal).collect())
            };
            let moved = |part: usize, diagonals: &BTreeMap<usize, Vec<usize>>| {
                let role = Role::Moves { target: target.clone(), result, part };
                let place = Place { node: at, from: x.layout.clone(), role };
                self.prepared(&place, &x.parts[part], || map(diagonals))?.apply(self.ev, &x.parts[part])
            };
            let mut of = moves.range((result, 0)..(result + 1, 0)).map(|(&(_, part), diagonals)| (part, diagonals));
            let (part, diagonals) = of.next().unwrap_or((0, &nothing));
            of.try_fold(moved(part, diagonals)?, |sum, (part, diagonals)| self.ev.add(&sum, &moved(part, diagonals)?))
        })?;
        Ok(self.made(parts, target.clone(), x.bounds.hull(Interval::point(0.0))))
    }
}

/// The shape of an array by its layout, with as many axes as it takes.
fn row_shape<C>(x: &Value<C>, axis: usize, rows: usize) -> Vec<usize> {
    let mut shape = vec![1; axis + 1];
    for dimension in &x.layout.dimensions {
        if let Some(axis) = dimension.axis {
            shape[axis] = dimension.length;
        }
    }
    shape[axis] = rows;
    shape
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schemes::clear::{ClearEvaluator, ClearVector};

    #[test]
    fn sparse_maps_of_many_diagonals_take_few_keys() {
        // Distances of -3 to 3 in each of two axes of 16, and all of one of 4.
        let distances = || (0..4).flat_map(|c| (-3..4).flat_map(move |y| (-3..4).map(move |x| 256 * c + 16 * y + x)));
        let entry = |row: usize, k: i32| (row, (row as i32 + k).rem_euclid(1024) as usize);
        let value = |row: usize, column: usize| ((row * 7 + column * 3) % 11) as f64 - 5.0;
        let each = |hear: &mut dyn FnMut(usize, usize, f64)| {
            let places = (0..1024).flat_map(|row| distances().map(move |k| entry(row, k)));
            places.for_each(|(row, column)| hear(row, column, value(row, column)));
        };
        let map = LinearMap::sparse_apart(1, 1024, 1024, each).expect("a map");
        assert!(map.rotations().len() <= 24, "{:?}", map.rotations());
        let x: Vec<f64> = (0..1024).map(|k| f64::from(k * 5 % 13) - 6.0).collect();
        let mut expected = vec![0.0; 1024];
        each(&mut |row, column, value| expected[row] += value * x[column]);
        let x = ClearVector::new(x, 1).expect("a vector");
        let found = map.apply(&ClearEvaluator, &x).expect("a product");
        found.values().iter().zip(&expected).for_each(|(a, b)| assert!((a - b).abs() < 1e-9, "{a} for {b}"));
    }
}
