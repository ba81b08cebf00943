//! Shapes: broadcasting, and positions in row-major order.

/// The number of elements, if it fits a word.
#[must_use]
pub fn size(shape: &[usize]) -> Option<usize> {
    shape.iter().try_fold(1usize, |size, &extent| size.checked_mul(extent))
}

/// The shape of operands that are broadcast as those of numpy; `None` if they do not fit.
#[must_use]
pub fn broadcast(a: &[usize], b: &[usize]) -> Option<Vec<usize>> {
    let dimensions = a.len().max(b.len());
    let extent =
        |shape: &[usize], axis: usize| (axis + shape.len()).checked_sub(dimensions).map_or(1, |axis| shape[axis]);
    let joined = |axis: usize| match (extent(a, axis), extent(b, axis)) {
        (x, y) if x == y => Some(x),
        (1, y) => Some(y),
        (x, 1) => Some(x),
        _ => None,
    };
    (0..dimensions).map(joined).collect()
}

/// For each element of a result of this shape the position of the element of an operand that is broadcast to it.
#[must_use]
pub fn broadcast_positions(operand: &[usize], result: &[usize]) -> Vec<usize> {
    let missing = result.len() - operand.len();
    let mut strides = vec![0; result.len()];
    let mut stride = 1;
    for axis in (0..operand.len()).rev() {
        if operand[axis] != 1 {
            strides[missing + axis] = stride;
        }
        stride *= operand[axis];
    }
    sums_of_strides(result, &strides)
}

/// For each index of a shape, in row-major order, the sum of its parts, each times the stride of its axis.
#[must_use]
pub fn sums_of_strides(shape: &[usize], strides: &[usize]) -> Vec<usize> {
    let each = |sums: Vec<usize>, (&extent, &stride): (&usize, &usize)| {
        sums.into_iter().flat_map(|sum| (0..extent).map(move |i| sum + i * stride)).collect()
    };
    shape.iter().zip(strides).fold(vec![0], each)
}

/// For each index of a shape, in row-major order, the position of what is left of it without some axes.
#[must_use]
pub fn positions_without(shape: &[usize], axes: &[usize]) -> Vec<usize> {
    let (mut strides, mut stride) = (vec![0; shape.len()], 1);
    for axis in (0..shape.len()).rev().filter(|axis| !axes.contains(axis)) {
        strides[axis] = stride;
        stride *= shape[axis];
    }
    sums_of_strides(shape, &strides)
}

/// Whether the elements of each row come from the same row, of `row` elements, and in all rows from the same places.
#[must_use]
pub fn moves_within_rows(row: usize, rows: usize, positions: &[i64]) -> bool {
    let (from, to) = (row.cast_signed() as i64, positions.len() / rows);
    let within = |(at, &position): (usize, &i64)| match (positions[at % to], position) {
        (-1, position) => position == -1,
        (first, position) => (0..from).contains(&first) && position == first + (at / to) as i64 * from,
    };
    positions.iter().enumerate().all(within)
}

/// All indices of a shape in row-major order.
#[cfg(test)]
pub fn indices(shape: &[usize]) -> impl Iterator<Item = Vec<usize>> + '_ {
    let count = size(shape).unwrap_or(0);
    (0..count).map(move |position| index_of(position, shape))
}

/// The index of a position in row-major order.
#[must_use]
pub fn index_of(mut position: usize, shape: &[usize]) -> Vec<usize> {
    let mut index = vec![0; shape.len()];
    for axis in (0..shape.len()).rev() {
        index[axis] = position % shape[axis];
        position /= shape[axis];
    }
    index
}

/// The position of an index in row-major order.
#[must_use]
pub fn position_of(index: &[usize], shape: &[usize]) -> usize {
    index.iter().zip(shape).fold(0, |position, (i, extent)| position * extent + i)
}

/// The shape without some axes, and the others.
#[must_use]
pub fn without(shape: &[usize], axes: &[usize]) -> Vec<usize> {
    shape.iter().enumerate().filter(|(axis, _)| !axes.contains(axis)).map(|(_, &extent)| extent).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_broadcast_as_those_of_numpy() {
        assert_eq!(broadcast(&[3, 1], &[4]), Some(vec![3, 4]));
        assert_eq!(broadcast(&[], &[2, 2]), Some(vec![2, 2]));
        assert_eq!(broadcast(&[3], &[4]), None);
        assert_eq!(broadcast_positions(&[2, 1], &[2, 3]), [0, 0, 0, 1, 1, 1]);
        assert_eq!(broadcast_positions(&[3], &[2, 3]), [0, 1, 2, 0, 1, 2]);
        assert_eq!(broadcast_positions(&[], &[2]), [0, 0]);
    }

    #[test]
    fn positions_are_in_row_major_order() {
        let shape = [2, 3, 4];
        for (position, index) in indices(&shape).enumerate() {
            assert_eq!((position_of(&index, &shape), index_of(position, &shape)), (position, index));
        }
        assert_eq!(without(&shape, &[1]), [2, 4]);
        for axes in [vec![], vec![1], vec![0, 2], vec![0, 1, 2]] {
            let left = |index: Vec<usize>| position_of(&without(&index, &axes), &without(&shape, &axes));
            assert_eq!(positions_without(&shape, &axes), indices(&shape).map(left).collect::<Vec<_>>(), "{axes:?}");
        }
    }
}
