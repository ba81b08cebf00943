//! Matrices in clear by the entries that are not zero.

use serde::{Deserialize, Serialize};

use crate::graph::interval::Interval;

/// The most entries of a matrix, all blocks together.
const MOST_ENTRIES: usize = 1 << 24;

/// The most axes of a pattern.
const MOST_AXES: usize = 8;

/// A matrix by blocks of equal entries; all other entries are zero.
///
/// A block is a value that stands at `(row + sum_a i_a rows_a, column + sum_a i_a columns_a)` for all indices `i_a` below the extents
/// of the axes of its pattern. The matrix of a convolution has one for each weight: the axes are those of space. A block of a
/// pattern without axes is one entry. Entries of several blocks at one place are added.
///
/// # Examples
/// ```
/// use noren::graph::SparseMatrix;
///
/// // The differences of neighbours of four numbers.
/// let patterns = vec![vec![[3, 1, 1]]];
/// let matrix = SparseMatrix { patterns, blocks: vec![[0, 0, 0], [0, 1, 0]], values: vec![-1.0, 1.0] };
/// assert_eq!(matrix.dense(4, 3), [-1.0, 0.0, 0.0, 1.0, -1.0, 0.0, 0.0, 1.0, -1.0, 0.0, 0.0, 1.0]);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SparseMatrix {
    /// The axes of each pattern: extent, and the rows and columns from one index to the next.
    pub patterns: Vec<Vec<[u32; 3]>>,
    /// Of each block the pattern, and the row and column of its first entry.
    pub blocks: Vec<[u32; 3]>,
    /// The value of each block.
    pub values: Vec<f64>,
}

impl SparseMatrix {
    /// What is wrong with it as a matrix of so many rows and columns.
    pub(super) fn fault(&self, rows: usize, columns: usize) -> Option<String> {
        if self.blocks.len() != self.values.len() {
            return Some(format!("{} blocks with {} values", self.blocks.len(), self.values.len()));
        }
        if let Some(value) = self.values.iter().find(|value| !value.is_finite()) {
            return Some(format!("an entry of {value}"));
        }
        let mut spans = Vec::with_capacity(self.patterns.len());
        for pattern in &self.patterns {
            match span(pattern) {
                Some(span) => spans.push(span),
                None => return Some(format!("a pattern of the axes {pattern:?}")),
            }
        }
        let mut entries = 0;
        for &[pattern, row, column] in &self.blocks {
            let Some(&(count, last)) = spans.get(pattern as usize) else {
                return Some(format!("pattern {pattern} of {}", spans.len()));
            };
            let [row, column] = [last[0] + row as usize, last[1] + column as usize];
            if row >= rows || column >= columns {
                return Some(format!("an entry at ({row}, {column}) of {rows} x {columns}"));
            }
            entries += count;
            if entries > MOST_ENTRIES {
                return Some(format!("more than {MOST_ENTRIES} entries"));
            }
        }
        None
    }

    /// Hears of all entries: row, column and value.
    pub(crate) fn each(&self, mut hear: impl FnMut(usize, usize, f64)) {
        let places: Vec<Vec<[usize; 2]>> = self.patterns.iter().map(|pattern| places(pattern)).collect();
        for (&[pattern, row, column], &value) in self.blocks.iter().zip(&self.values) {
            for place in &places[pattern as usize] {
                hear(row as usize + place[0], column as usize + place[1], value);
            }
        }
    }

    /// All entries of a matrix of this many rows and columns, row after row.
    ///
    /// # Panics
    /// There is an entry outside.
    #[must_use]
    pub fn dense(&self, rows: usize, columns: usize) -> Vec<f64> {
        let mut entries = vec![0.0; rows * columns];
        self.each(|row, column, value| entries[row * columns + column] += value);
        entries
    }

    /// `sum_c x[c] matrix[c][k]` of each row of `rows` numbers.
    pub(super) fn product(&self, x: &[f64], rows: usize, columns: usize) -> Vec<f64> {
        let count = x.len() / rows;
        let mut sums = vec![0.0; count * columns];
        self.each(|row, column, value| {
            (0..count).for_each(|at| sums[at * columns + column] += value * x[at * rows + row]);
        });
        sums
    }

    /// Where the sums of all columns lie, each of the terms of its entries.
    pub(crate) fn sums_of_columns(&self, columns: usize, term: impl Fn(f64) -> Interval) -> Interval {
        let mut sums = vec![Interval::point(0.0); columns];
        self.each(|_, column, value| sums[column] = sums[column].plus(term(value)));
        sums.into_iter().reduce(Interval::hull).unwrap_or(Interval::point(0.0))
    }
}

/// How many entries a block has, and how far its last one is from the first; none if there are none, or too many.
fn span(pattern: &[[u32; 3]]) -> Option<(usize, [usize; 2])> {
    let (mut count, mut last) = (1usize, [0usize; 2]);
    for &[extent, rows, columns] in pattern {
        let steps = (extent as usize).checked_sub(1)?;
        count = count.checked_mul(extent as usize).filter(|&count| count <= MOST_ENTRIES)?;
        for (last, step) in last.iter_mut().zip([rows, columns]) {
            *last = last.checked_add(steps.checked_mul(step as usize)?)?;
        }
    }
    let bounded = pattern.len() <= MOST_AXES && last.iter().all(|&last| last <= u32::MAX as usize);
    bounded.then_some((count, last))
}

/// How far each entry of a block is from the first.
fn places(pattern: &[[u32; 3]]) -> Vec<[usize; 2]> {
    let mut places = vec![[0; 2]];
    for &[extent, rows, columns] in pattern {
        let moved = |i: usize, place: &[usize; 2]| [place[0] + i * rows as usize, place[1] + i * columns as usize];
        places = (0..extent as usize).flat_map(|i| places.iter().map(move |place| moved(i, place))).collect();
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A convolution of 3 x 3 over 4 x 5 pixels without padding, transposed or not.
    fn convolution() -> SparseMatrix {
        let blocks = (0..3).flat_map(|y| (0..3).map(move |x| [0, 5 * y + x, 0])).collect();
        let values = (0..9).map(|k| f64::from(k) - 4.0).collect();
        SparseMatrix { patterns: vec![vec![[2, 5, 3], [3, 1, 1]]], blocks, values }
    }

    #[test]
    fn blocks_stand_where_their_axes_lead() {
        let (matrix, x) = (convolution(), (0..20).map(|k| f64::from(k * k % 7)).collect::<Vec<_>>());
        assert_eq!(matrix.fault(20, 6), None);
        let found = matrix.product(&x, 20, 6);
        for (y, x0) in (0..2).flat_map(|y| (0..3).map(move |x| (y, x))) {
            let terms = (0..9).map(|k| (k as f64 - 4.0) * x[(y + k / 3) * 5 + x0 + k % 3]);
            assert_eq!(found[3 * y + x0], terms.sum::<f64>());
        }
        let dense = matrix.dense(20, 6);
        let product: Vec<f64> = (0..6).map(|k| (0..20).map(|c| x[c] * dense[6 * c + k]).sum()).collect();
        assert_eq!(found, product);
    }

    #[test]
    fn matrices_that_would_lead_outside_are_named() {
        let whole = convolution();
        let with = |change: &dyn Fn(&mut SparseMatrix)| {
            let mut matrix = whole.clone();
            change(&mut matrix);
            matrix.fault(20, 6).expect("a fault")
        };
        assert!(whole.fault(19, 6).expect("a fault").contains("(19, 5) of 19 x 6"));
        assert!(whole.fault(20, 5).expect("a fault").contains(", 5) of 20 x 5"));
        assert!(with(&|m| m.values.clear()).contains("9 blocks with 0 values"));
        assert!(with(&|m| m.values[3] = f64::NAN).contains("NaN"));
        assert!(with(&|m| m.blocks[2][0] = 1).contains("pattern 1 of 1"));
        assert!(with(&|m| m.patterns[0][1][0] = 0).contains("[0, 1, 1]"));
        let endless = [[u32::MAX; 3]; 3];
        assert!(with(&|m| m.patterns[0] = endless.to_vec()).contains("axes"));
        assert!(with(&|m| m.patterns[0] = vec![[1, 0, 0]; 9]).contains("axes"));
        let many = |m: &mut SparseMatrix| {
            m.patterns[0] = vec![[1 << 23, 0, 0]];
            (m.blocks, m.values) = (vec![[0, 0, 0]; 3], vec![1.0; 3]);
        };
        assert!(with(&many).contains("more than"));
    }

    #[test]
    fn a_matrix_without_entries_is_zero() {
        let nothing = SparseMatrix::default();
        assert_eq!((nothing.fault(3, 2), nothing.product(&[1.0, 2.0, 3.0], 3, 2)), (None, vec![0.0, 0.0]));
    }
}
