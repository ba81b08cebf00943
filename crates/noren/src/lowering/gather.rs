//! Elements in another order and shape.

use std::sync::Arc;

use noren_rlwe::error::Result;

use crate::graph::shape::{index_of, position_of};
use crate::lowering::layout::{Dimension, Fill, Layout};
use crate::lowering::nodes::{Lowering, Shared};
use crate::lowering::reduce::Spread;
use crate::lowering::value::{Free, Operand, Value};

impl<E: Shared> Lowering<'_, E> {
    /// The elements of node `of` at some positions.
    ///
    /// Of an input the client brings them into place. A part of a result whose axes only change names is where it was, or one
    /// rotation away; any other order is a product with a matrix.
    pub(super) fn gather(
        &mut self,
        at: usize,
        of: usize,
        operand: Operand<E::Ciphertext>,
        positions: &[i64],
    ) -> Result<Operand<E::Ciphertext>> {
        let value = match operand {
            Operand::Constant(values) => {
                let value = |&at: &i64| usize::try_from(at).map_or(0.0, |at| values[at]);
                return Ok(Operand::Constant(positions.iter().map(value).collect()));
            }
            Operand::Free(free) => {
                let inner = |at: usize| free.positions.as_ref().map_or(at as i64, |positions| positions[at]);
                let positions = positions.iter().map(|&at| usize::try_from(at).map_or(-1, inner)).collect();
                let range = self.graph.node(at).range;
                return Ok(Operand::Free(Free { positions: Some(positions), range, ..free }));
            }
            Operand::Value(value) => value,
        };
        let (from, to) = (&self.graph.node(of).shape, &self.graph.node(at).shape);
        if let Some(renamed) = self.renamed(&value, from, to, positions)? {
            return Ok(Operand::Value(renamed.into()));
        }
        let value = self.copied(&value)?;
        let target = self.suited(at);
        let layout = value.layout.clone();
        let mut source = |index: &[usize]| {
            let position = position_of(index, to);
            usize::try_from(positions[position]).ok().map(|at| layout.address(&index_of(at, from)))
        };
        let gathered = self.gathered(at, &value, &target, to, &mut source)?;
        Ok(Operand::Value(gathered.into()))
    }

    /// The part of an array whose axes are those of the array by other names, or fixed.
    fn renamed(
        &self,
        value: &Arc<Value<E::Ciphertext>>,
        from: &[usize],
        to: &[usize],
        positions: &[i64],
    ) -> Result<Option<Value<E::Ciphertext>>> {
        let Some(Renaming { first, names }) = renaming(from, to, positions) else {
            return Ok(None);
        };
        let first = value.layout.address(&index_of(first, from));
        if first != 0 && value.parts.len() > 1 {
            return Ok(None);
        }
        let dimension = |d: &Dimension| {
            let Some(axis) = d.axis else { return *d };
            match names.iter().position(|&name| name == Some(axis)) {
                Some(new) if to[new] == d.length => Dimension { axis: Some(new), ..*d },
                Some(new) => Dimension { axis: Some(new), length: to[new], fill: Fill::Unknown, ..*d },
                None => Dimension::without_axis(d.size, Fill::Unknown),
            }
        };
        let mut layout = Layout { dimensions: value.layout.dimensions.iter().map(dimension).collect() };
        if first != 0 {
            layout = layout.blurred();
        }
        let parts = match first {
            0 => value.parts.clone(),
            _ => vec![self.ev.rotate(&value.parts[0], first.cast_signed())?],
        };
        let (parts, layout) = self.kept(parts, layout.tidied());
        Ok(Some(self.made(parts, layout, value.bounds)))
    }

    /// Ciphertexts that stay side by side with those of the whole array: of a dimension that has lost its axis, those of its
    /// first indices in place of the others, and none behind the last element.
    fn kept(&self, mut parts: Vec<E::Ciphertext>, mut layout: Layout) -> (Vec<E::Ciphertext>, Layout) {
        while let Some(at) = layout.crossing(self.slots) {
            let Spread { within, groups, apart, .. } = Spread::of(&layout, at, self.slots);
            let block = apart * groups;
            parts = (0..parts.len()).map(|part| parts[part / block * block + part % apart].clone()).collect();
            layout.dimensions[at] = Dimension::without_axis(within, Fill::Unknown);
            layout.dimensions.insert(at + 1, Dimension::without_axis(groups, Fill::Copies));
            layout = layout.tidied();
        }
        parts.truncate(layout.parts(self.slots));
        (parts, layout)
    }
}

/// Axes of a result that are axes of an operand.
struct Renaming {
    /// The position of the first element.
    first: usize,
    /// For each axis of the result the axis of the operand; none for axes of one element, and along which it repeats.
    names: Vec<Option<usize>>,
}

/// How positions follow from axes, if they do so in steps of whole axes.
fn renaming(from: &[usize], to: &[usize], positions: &[i64]) -> Option<Renaming> {
    let first = usize::try_from(*positions.first()?).ok()?;
    let stride = |shape: &[usize], axis: usize| shape[axis + 1..].iter().product::<usize>();
    let mut names = vec![None; to.len()];
    let mut steps = vec![0; to.len()];
    for axis in (0..to.len()).filter(|&axis| to[axis] > 1) {
        let step = usize::try_from(positions[stride(to, axis)]).ok()?.checked_sub(first)?;
        steps[axis] = step;
        if step > 0 {
            let of = (0..from.len()).find(|&of| from[of] > 1 && stride(from, of) == step)?;
            let inside = index_of(first, from)[of] + to[axis] <= from[of];
            if !inside || names.contains(&Some(of)) {
                return None;
            }
            names[axis] = Some(of);
        }
    }
    let (mut index, mut expected) = (vec![0; to.len()], first);
    for &position in positions {
        if expected as i64 != position {
            return None;
        }
        for axis in (0..to.len()).rev() {
            (index[axis], expected) = (index[axis] + 1, expected + steps[axis]);
            if index[axis] < to[axis] {
                break;
            }
            (index[axis], expected) = (0, expected - steps[axis] * to[axis]);
        }
    }
    Some(Renaming { first, names })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transposed_and_fixed_axes_are_renamed() {
        let found = renaming(&[2, 3], &[3, 2], &[0, 3, 1, 4, 2, 5]).expect("a transposition");
        assert_eq!((found.first, found.names), (0, vec![Some(1), Some(0)]));
        let found = renaming(&[2, 3], &[2], &[1, 4]).expect("a column");
        assert_eq!((found.first, found.names), (1, vec![Some(0)]));
        let found = renaming(&[3], &[2, 3], &[0, 1, 2, 0, 1, 2]).expect("copies");
        assert_eq!((found.first, found.names), (0, vec![None, Some(0)]));
    }

    #[test]
    fn other_orders_are_not() {
        assert!(renaming(&[4], &[4], &[3, 2, 1, 0]).is_none());
        assert!(renaming(&[4], &[2, 2], &[0, 1, 2, 3]).is_none());
        assert!(renaming(&[4], &[2], &[0, -1]).is_none());
        assert!(renaming(&[4], &[2], &[0, 2]).is_none());
    }
}
