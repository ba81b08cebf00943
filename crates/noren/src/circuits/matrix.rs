//! Matrix times vector for every vector: by the map that its period and the keys allow.

use noren_rlwe::error::{Error, Result};

use crate::circuits::linear::LinearMap;
use crate::schemes::slots::{Scalar, SlotEvaluator};

/// A matrix that multiplies the first `columns` slots of vectors.
///
/// A vector that repeats takes [`LinearMap::repeated`], any other [`LinearMap::windowed`], which has a diagonal for each row and
/// column and is right whatever the other slots hold. Of the result the first `rows` slots are the product, and the slots after
/// them are zero, up to the next power of two at least; it repeats after its [period](SlotEvaluator::period), which may be that
/// power of two.
///
/// Keys of [`Matrix::rotations`] without a period serve every vector. With a period they are fewer, and serve vectors of that
/// period and smaller ones. What the keys allow is used: the cheap way first.
///
/// # Examples
/// ```
/// use noren::circuits::matrix::Matrix;
/// use noren::schemes::clear::{ClearEvaluator, ClearVector};
///
/// let shift = Matrix::new(3, 3, vec![0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0])?;
/// let x = ClearVector::new(vec![1.0, 2.0, 3.0, 0.0, 7.0, 7.0, 7.0, 7.0], Matrix::DEPTH)?;
/// assert_eq!(shift.apply(&ClearEvaluator, &x)?.values(), [2.0, 3.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
/// # Ok::<(), noren::error::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix<T = f64> {
    rows: usize,
    columns: usize,
    entries: Vec<T>,
    windowed: LinearMap<T>,
}

impl Matrix {
    /// The levels that a product uses.
    pub const DEPTH: usize = LinearMap::DEPTH;
}

impl<T: Scalar> Matrix<T> {
    /// The matrix with these entries, row after row.
    ///
    /// # Errors
    /// No entry, a number of entries that is not `rows * columns`, an entry that is not finite.
    pub fn new(rows: usize, columns: usize, entries: Vec<T>) -> Result<Self> {
        let windowed = LinearMap::windowed(rows, columns, &entries)?;
        Ok(Self { rows, columns, entries, windowed })
    }

    /// How many rows there are.
    #[must_use]
    pub const fn rows(&self) -> usize {
        self.rows
    }

    /// How many columns there are.
    #[must_use]
    pub const fn columns(&self) -> usize {
        self.columns
    }

    /// The rotations for which [`Matrix::apply`] needs keys, each once, in ascending order: for vectors that repeat after
    /// `period` slots, a power of two, or for every vector.
    ///
    /// # Errors
    /// A period that is not a power of two.
    pub fn rotations(&self, period: Option<usize>) -> Result<Vec<isize>> {
        Ok(match period {
            Some(period) => self.repeated(period)?.rotations(),
            None => self.windowed.rotations(),
        })
    }

    /// `A x`; one level.
    ///
    /// # Errors
    /// A vector of fewer slots than rows or columns; missing keys: the error names those with which every vector can be
    /// multiplied; no level left.
    pub fn apply<E: SlotEvaluator<Scalar = T>>(&self, ev: &E, x: &E::Ciphertext) -> Result<E::Ciphertext> {
        let (slots, least) = (ev.slots(x), self.rows.max(self.columns));
        if slots < least {
            let needed = format!("at least {least}, the larger of the rows and columns");
            return Err(Error::Length { what: "slots of the vector", found: slots, needed });
        }
        let period = ev.period(x);
        if period < slots || slots == least.next_power_of_two() {
            // Keys for larger periods serve too, and those for every vector, with their number of baby steps.
            let most = least.next_power_of_two().max(period);
            let periods = std::iter::successors(Some(period), |period| Some(2 * period)).take_while(|&p| p <= slots);
            let shared = || {
                LinearMap::dense_in(most, self.rows, self.columns, &self.entries)?
                    .with_baby_steps(self.windowed.baby_steps())
            };
            // Made only if it is needed: a map has as many entries as all its diagonals.
            let maps = periods.map(|period| self.repeated(period)).chain(std::iter::once_with(shared));
            for map in maps.flatten() {
                if ev.check_rotations(x, &map.rotations()).is_ok() {
                    return map.apply(ev, x);
                }
            }
        }
        self.windowed.apply(ev, x)
    }

    /// The map for vectors of a period.
    fn repeated(&self, period: usize) -> Result<LinearMap<T>> {
        LinearMap::repeated(period, self.rows, self.columns, &self.entries)
    }
}
