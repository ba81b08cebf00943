//! Where the results for pairs of columns lie: covariances and inner products.

use std::collections::{BTreeMap, BTreeSet};

use noren_math::machine::memory;
use noren_rlwe::error::{Error, Result};

use crate::programs::layout::TableLayout;

/// The arrangement of one number for each of some pairs of columns of a table.
///
/// With `per` columns in a ciphertext, the product of block `b` with block `b'` rotated by `d` columns holds the pairs
/// `(c, c + d mod per)` for all `c` at once: one [`Unit`] of work. A pair inside one block is taken with the smaller
/// of `d` and `per - d`. Unit `u` of all those that some pair needs, in order, ends up in ciphertext `u / height`, in
/// row `u % height` of each block of slots.
#[derive(Debug, Clone, PartialEq)]
pub struct PairLayout {
    table: TableLayout,
    pairs: Vec<(usize, usize)>,
    square: bool,
    exponent: i32,
    units: Vec<Unit>,
}

/// All pairs that lie `rotation` columns apart in two blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unit {
    /// The block of columns that is rotated.
    pub right: usize,
    /// The other block, not after the first.
    pub left: usize,
    /// By how many columns it is rotated.
    pub rotation: usize,
}

/// The most columns of which all pairs are taken: eight million pairs.
const LARGEST_SQUARE: usize = 1 << 12;

impl PairLayout {
    /// The layout of all pairs of columns of a table, read as a symmetric matrix.
    ///
    /// Results are divided by `2^exponent` on top of the powers of two of their columns.
    ///
    /// # Errors
    /// More than 4096 columns: name the pairs that are wanted instead.
    pub fn square(table: TableLayout, exponent: i32) -> Result<Self> {
        let columns = table.columns();
        if columns > LARGEST_SQUARE {
            return Err(Error::parameter(
                "columns",
                columns,
                format!("at most {LARGEST_SQUARE}, for all pairs of them"),
            ));
        }
        // The pairs, and the units that hold them.
        memory::ask_for::<[usize; 4]>(columns.saturating_mul(columns))?;
        let pairs = (0..columns).flat_map(|i| (i..columns).map(move |j| (i, j))).collect();
        Ok(Self::build(table, pairs, true, exponent))
    }

    /// The layout of some pairs of columns, read as one row for each.
    ///
    /// # Errors
    /// No pair; a column that the table does not have.
    pub fn list(table: TableLayout, pairs: Vec<(usize, usize)>, exponent: i32) -> Result<Self> {
        if pairs.is_empty() {
            return Err(Error::parameter("pairs", "an empty list", "at least one pair of columns"));
        }
        match pairs.iter().map(|(i, j)| *i.max(j)).find(|&column| column >= table.columns()) {
            Some(column) => Err(Error::parameter("column", column, format!("below {}", table.columns()))),
            None => Ok(Self::build(table, pairs, false, exponent)),
        }
    }

    fn build(table: TableLayout, pairs: Vec<(usize, usize)>, square: bool, exponent: i32) -> Self {
        let per = table.columns_per_ciphertext();
        let units: BTreeSet<Unit> = pairs.iter().map(|&(i, j)| locate(per, i, j).0).collect();
        Self { table, pairs, square, exponent, units: units.into_iter().collect() }
    }

    /// The layout of the table that the columns are from.
    #[must_use]
    pub const fn table(&self) -> &TableLayout {
        &self.table
    }

    /// The pairs, in the order in which they are listed.
    #[must_use]
    pub fn pairs(&self) -> &[(usize, usize)] {
        &self.pairs
    }

    /// Whether the results are all pairs of columns, read as a matrix.
    #[must_use]
    pub const fn is_square(&self) -> bool {
        self.square
    }

    /// Base-two logarithm of the number that all results are divided by, on top of those of their columns.
    #[must_use]
    pub const fn exponent(&self) -> i32 {
        self.exponent
    }

    /// The units of work, in the order in which their results are packed.
    #[must_use]
    pub fn units(&self) -> &[Unit] {
        &self.units
    }

    /// How many ciphertexts the results take.
    #[must_use]
    pub fn ciphertexts(&self) -> usize {
        self.units.len().div_ceil(self.table.height())
    }

    /// Ciphertext and slot of the result for a pair of columns, in either order.
    ///
    /// # Panics
    /// The pair is not one of the layout.
    #[must_use]
    pub fn place(&self, i: usize, j: usize) -> (usize, usize) {
        let (unit, column) = locate(self.table.columns_per_ciphertext(), i, j);
        let index = self.units.binary_search(&unit).expect("the pair is one of the layout");
        let height = self.table.height();
        (index / height, column * height + index % height)
    }

    /// For each unit the positions in the block at which results lie that somebody asked for.
    pub(super) fn wanted(&self) -> BTreeMap<Unit, BTreeSet<usize>> {
        let mut wanted = BTreeMap::<Unit, BTreeSet<usize>>::new();
        for &(i, j) in &self.pairs {
            let (unit, column) = locate(self.table.columns_per_ciphertext(), i, j);
            wanted.entry(unit).or_default().insert(column);
        }
        wanted
    }

    /// The base-two logarithm of the factor of the result for a pair.
    pub(super) fn exponent_of(&self, i: usize, j: usize) -> i32 {
        self.table.exponents()[i] + self.table.exponents()[j] + self.exponent
    }
}

/// The unit in which a pair of columns meets, and at which position of the block.
fn locate(per: usize, i: usize, j: usize) -> (Unit, usize) {
    let (i, j) = (i.min(j), i.max(j));
    let rotation = (per + j % per - i % per) % per;
    if i / per == j / per && 2 * rotation > per {
        return (Unit { left: i / per, right: j / per, rotation: per - rotation }, j % per);
    }
    (Unit { left: i / per, right: j / per, rotation }, i % per)
}
