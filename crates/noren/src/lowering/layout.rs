//! Where the elements of an array lie in the slots of ciphertexts.

use crate::graph::shape::{index_of, sums_of_strides};

/// The arrangement of an array in slots.
///
/// Addresses count the slots of all ciphertexts of the array, one ciphertext after the other. The address of an element is
/// the sum of the indices of its [dimensions](Dimension), each times its stride: the product of the sizes of the dimensions
/// before it. The first dimension is the innermost. After the last dimension everything repeats.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Layout {
    pub(crate) dimensions: Vec<Dimension>,
}

/// A range of indices of a [`Layout`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Dimension {
    /// The axis of the array that the index counts; none for a dimension that the array does not have.
    pub(crate) axis: Option<usize>,
    /// How many elements the axis has; 1 without an axis.
    pub(crate) length: usize,
    /// How many indices there are, a power of two.
    pub(crate) size: usize,
    /// The contents of the indices from `length` on.
    pub(crate) fill: Fill,
}

/// The contents of slots that hold no element of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Fill {
    /// Copies of the element of index 0; of dimensions without an axis.
    Copies,
    /// Zeros; of dimensions with an axis.
    Zeros,
    /// Anything.
    Unknown,
}

impl Dimension {
    /// The dimension of an axis.
    pub(crate) const fn of_axis(axis: usize, length: usize, fill: Fill) -> Self {
        Self { axis: Some(axis), length, size: length.next_power_of_two(), fill }
    }

    /// A dimension that the array does not have.
    pub(crate) const fn without_axis(size: usize, fill: Fill) -> Self {
        Self { axis: None, length: 1, size, fill }
    }

    /// Whether all indices hold elements or copies of them.
    pub(crate) fn is_full(&self) -> bool {
        self.length == self.size || self.fill == Fill::Copies
    }

    /// Whether what is no element is zero or a copy of one.
    fn is_known(&self) -> bool {
        self.length == self.size || self.fill != Fill::Unknown
    }
}

impl Layout {
    /// The layout with axes in this order, the innermost first.
    pub(crate) fn of_axes(shape: &[usize], order: &[usize], fill: Fill) -> Self {
        let axes = order.iter().filter(|&&axis| shape[axis] > 1);
        Self { dimensions: axes.map(|&axis| Dimension::of_axis(axis, shape[axis], fill)).collect() }.tidied()
    }

    /// After how many addresses everything repeats.
    pub(crate) fn period(&self) -> usize {
        self.dimensions.iter().map(|dimension| dimension.size).product()
    }

    /// The number of ciphertexts with this many slots that hold elements: those behind the last element are left out.
    pub(crate) fn parts(&self, slots: usize) -> usize {
        let used = match self.dimensions.split_last() {
            Some((outermost, inner)) if outermost.axis.is_some() => {
                outermost.length * inner.iter().map(|dimension| dimension.size).product::<usize>()
            }
            _ => self.period(),
        };
        used.div_ceil(slots)
    }

    /// The outermost dimension without an axis whose unknown contents reach over several ciphertexts.
    ///
    /// Values have none: such dimensions are filled with copies by rotations, within ciphertexts.
    pub(crate) fn crossing(&self, slots: usize) -> Option<usize> {
        let unknown = |d: &Dimension| d.axis.is_none() && d.fill == Fill::Unknown;
        let crosses = |at: usize| self.stride(at) * self.dimensions[at].size > slots;
        (0..self.dimensions.len()).rev().find(|&at| unknown(&self.dimensions[at]) && crosses(at))
    }

    /// The stride of a dimension.
    pub(crate) fn stride(&self, at: usize) -> usize {
        self.dimensions[..at].iter().map(|dimension| dimension.size).product()
    }

    /// The position of the dimension of an axis; none for an axis of one element.
    pub(crate) fn find(&self, axis: usize) -> Option<usize> {
        self.dimensions.iter().position(|dimension| dimension.axis == Some(axis))
    }

    /// Whether every slot holds an element.
    pub(crate) fn is_full(&self) -> bool {
        self.dimensions.iter().all(Dimension::is_full)
    }

    /// Whether every slot that holds no element is zero.
    pub(crate) fn is_known(&self) -> bool {
        self.dimensions.iter().all(Dimension::is_known)
    }

    /// The same with what is no element unknown.
    pub(crate) fn blurred(mut self) -> Self {
        let padded = self.dimensions.iter_mut().filter(|d| d.axis.is_some() && d.length < d.size);
        padded.for_each(|dimension| dimension.fill = Fill::Unknown);
        self
    }

    /// The same of an array whose axes have other names; axes without one vanish.
    pub(crate) fn renamed(mut self, name: impl Fn(usize) -> usize) -> Self {
        self.dimensions.iter_mut().for_each(|dimension| dimension.axis = dimension.axis.map(&name));
        self
    }

    /// The same with dimensions for axes that it lacks: instead of copies, or outermost.
    pub(crate) fn extended(mut self, shape: &[usize], fill: Fill) -> Self {
        for (axis, &length) in shape.iter().enumerate().filter(|(_, length)| **length > 1) {
            if self.find(axis).is_some() {
                continue;
            }
            let size = length.next_power_of_two();
            let free =
                self.dimensions.iter().position(|d| d.axis.is_none() && d.fill == Fill::Copies && d.size == size);
            let dimension = Dimension::of_axis(axis, length, fill);
            match free {
                Some(at) => self.dimensions[at] = dimension,
                None => self.dimensions.push(dimension),
            }
        }
        self.tidied()
    }

    /// Neighbouring dimensions without an axis as one, no dimension of one index, and no copies outermost.
    pub(crate) fn tidied(self) -> Self {
        let mut dimensions: Vec<Dimension> = Vec::with_capacity(self.dimensions.len());
        for dimension in self.dimensions.into_iter().filter(|dimension| dimension.size > 1) {
            match dimensions.last_mut() {
                Some(last) if last.axis.is_none() && dimension.axis.is_none() && last.fill == dimension.fill => {
                    last.size *= dimension.size;
                }
                _ => dimensions.push(dimension),
            }
        }
        while dimensions.last().is_some_and(|last| last.axis.is_none() && last.fill == Fill::Copies) {
            dimensions.pop();
        }
        Self { dimensions }
    }

    /// The layout of a result of an operation on arrays with these layouts, whose axes have the names of the result; none
    /// if their elements do not lie side by side. `fill` gives the contents of padding from those of both.
    pub(crate) fn joined(&self, other: &Self, fill: impl Fn(Fill, Fill) -> Fill) -> Option<Self> {
        let mut joined = Vec::new();
        let (mut left, mut right) = (self.dimensions.clone(), other.dimensions.clone());
        left.reverse();
        right.reverse();
        loop {
            let (a, b) = match (left.pop(), right.pop()) {
                (None, None) => break,
                (a, b) => {
                    let size = a.or(b).map_or(1, |dimension| dimension.size);
                    let copies = Dimension::without_axis(size, Fill::Copies);
                    (a.unwrap_or(copies), b.unwrap_or(copies))
                }
            };
            let (a, b) = (cut(a, b.size, &mut left)?, cut(b, a.size, &mut right)?);
            joined.push(match (a.axis, b.axis) {
                (Some(i), Some(j)) if i == j && a.length == b.length => Dimension { fill: fill(a.fill, b.fill), ..a },
                (Some(_), None) if b.fill == Fill::Copies => Dimension { fill: fill(a.fill, b.fill), ..a },
                (None, Some(_)) if a.fill == Fill::Copies => Dimension { fill: fill(a.fill, b.fill), ..b },
                (None, None) if a.fill == b.fill => a,
                (None, None) => Dimension { fill: Fill::Unknown, ..a },
                _ => return None,
            });
        }
        // An axis that stands beside copies on both sides would lie in two places.
        let is_single = |at: usize| joined[..at].iter().all(|d| d.axis.is_none() || d.axis != joined[at].axis);
        (0..joined.len()).all(is_single).then(|| Self { dimensions: joined }.tidied())
    }

    /// For each address of a period the index of its element, or none for an address without one. Copies are elements.
    pub(crate) fn elements(&self, axes: usize) -> impl Iterator<Item = Option<Vec<usize>>> + '_ {
        let sizes: Vec<usize> = self.dimensions.iter().rev().map(|dimension| dimension.size).collect();
        (0..self.period()).map(move |address| {
            let mut index = vec![0; axes];
            for (&i, dimension) in index_of(address, &sizes).iter().zip(self.dimensions.iter().rev()) {
                match dimension.axis {
                    Some(_) if i >= dimension.length => return None,
                    Some(axis) => index[axis] = i,
                    None if i > 0 && dimension.fill != Fill::Copies => return None,
                    None => {}
                }
            }
            Some(index)
        })
    }

    /// The same by positions in row-major order, of an array of this shape.
    pub(crate) fn positions(&self, shape: &[usize]) -> Vec<Option<usize>> {
        let mut positions = vec![Some(0)];
        for dimension in &self.dimensions {
            let stride = dimension.axis.map_or(0, |axis| shape[axis + 1..].iter().product());
            let held = if dimension.fill == Fill::Copies { dimension.size } else { dimension.length };
            let within = positions.clone();
            for i in 1..dimension.size {
                positions.extend(within.iter().map(|position| position.filter(|_| i < held).map(|at| at + i * stride)));
            }
        }
        positions
    }

    /// The first addresses of all elements of an array of this shape, in row-major order.
    pub(crate) fn addresses(&self, shape: &[usize]) -> Vec<usize> {
        let stride = |axis: usize| self.find(axis).map_or(0, |at| self.stride(at));
        sums_of_strides(shape, &(0..shape.len()).map(stride).collect::<Vec<_>>())
    }

    /// The first address of an element.
    pub(crate) fn address(&self, index: &[usize]) -> usize {
        let (mut address, mut stride) = (0, 1);
        for dimension in &self.dimensions {
            address += dimension.axis.map_or(0, |axis| index[axis]) * stride;
            stride *= dimension.size;
        }
        address
    }
}

/// The first `size` indices of a dimension; the rest goes back to those that follow. `None` if an axis would be cut.
fn cut(dimension: Dimension, size: usize, rest: &mut Vec<Dimension>) -> Option<Dimension> {
    if dimension.size <= size {
        return Some(dimension);
    }
    if dimension.axis.is_some() {
        return None;
    }
    rest.push(Dimension { size: dimension.size / size, ..dimension });
    Some(Dimension { size, ..dimension })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::shape::{indices, position_of};

    const KEEP: fn(Fill, Fill) -> Fill = |a, _| a;

    #[test]
    fn elements_have_the_addresses_of_their_indices() {
        let layout = Layout::of_axes(&[3, 1, 4], &[0, 1, 2], Fill::Zeros);
        assert_eq!((layout.period(), layout.parts(8), layout.stride(1)), (16, 2, 4));
        assert_eq!(Layout::of_axes(&[4, 5], &[0, 1], Fill::Zeros).parts(8), 3);
        assert_eq!(layout.address(&[2, 0, 3]), 14);
        for (address, index) in layout.elements(3).enumerate() {
            assert_eq!(index.is_some(), address % 4 < 3);
            assert!(index.is_none_or(|index| layout.address(&index) == address));
        }
        let copies = Dimension::without_axis(2, Fill::Copies);
        let unknown = Dimension::without_axis(2, Fill::Unknown);
        let (rows, columns) = (layout.dimensions[0], layout.dimensions[1]);
        for dimensions in
            [vec![], vec![rows, columns], vec![columns, copies, rows], vec![unknown, rows, copies, columns]]
        {
            let (layout, shape) = (Layout { dimensions }, [3, 1, 4]);
            let positions: Vec<_> = layout.elements(3).map(|index| index.map(|i| position_of(&i, &shape))).collect();
            assert_eq!(layout.positions(&shape), positions);
            let addresses: Vec<_> = indices(&shape).map(|index| layout.address(&index)).collect();
            assert_eq!(layout.addresses(&shape), addresses);
        }
    }

    #[test]
    fn a_vector_lies_beside_the_rows_of_a_table() {
        let table = Layout::of_axes(&[3, 4], &[1, 0], Fill::Zeros);
        let row = Layout::of_axes(&[4], &[0], Fill::Zeros).renamed(|_| 1);
        assert_eq!(table.joined(&row, KEEP), Some(table.clone()));
        let column = Layout::of_axes(&[3], &[0], Fill::Zeros);
        assert_eq!(table.joined(&column, KEEP), None);
        let spread = Layout { dimensions: vec![Dimension::without_axis(4, Fill::Copies), column.dimensions[0]] };
        assert_eq!(table.joined(&spread, KEEP), Some(table));
    }

    #[test]
    fn vectors_along_different_dimensions_do_not_lie_side_by_side() {
        let along_columns = Layout::of_axes(&[3], &[0], Fill::Zeros);
        let along_rows =
            Layout { dimensions: vec![Dimension::without_axis(4, Fill::Copies), along_columns.dimensions[0]] };
        assert_eq!(along_columns.joined(&along_rows, KEEP), None);
        assert_eq!(along_rows.joined(&along_columns, KEEP), None);
    }

    #[test]
    fn copies_make_room_for_axes() {
        let sums = Layout {
            dimensions: vec![Dimension::without_axis(4, Fill::Copies), Dimension::of_axis(1, 2, Fill::Zeros)],
        };
        let table = sums.extended(&[3, 2], Fill::Zeros);
        assert_eq!(table, Layout::of_axes(&[3, 2], &[0, 1], Fill::Zeros));
    }
}
