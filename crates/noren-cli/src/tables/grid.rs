//! Large tables of whole numbers, which stay as they are in their file.

use std::path::Path;

use noren_rlwe::wire::file;
use rayon::prelude::*;

use crate::failure::Failure;
use crate::tables::dialect::{Format, MAX_BYTES};
use crate::tables::npy::Array;
use crate::tables::numbers::{Numbers, Place};

/// A table of numbers from 0 to below a bound.
pub(crate) enum Grid {
    Read(Numbers),
    Npy(Array<Vec<u8>>),
}

impl Grid {
    /// Reads a table from a file; `header` says whether a CSV file has names in its first line.
    pub(crate) fn read(path: &Path, header: bool) -> Result<Self, Failure> {
        match Format::of(path)? {
            Format::Npy => Array::new(path, file::read(path, MAX_BYTES)?).map(Self::Npy),
            _ => Numbers::read(path, header).map(Self::Read),
        }
    }

    /// Refuses numbers that are not whole, or above `most`; `path` is what messages show.
    pub(crate) fn check(&self, path: &Path, most: u64) -> Result<(), Failure> {
        let needed = format!("a whole number from 0 to {most}");
        let [rows, columns] = self.shape();
        let wrong = |row: usize| (0..columns).find(|&column| self.value(row, column).is_none_or(|x| x > most));
        let wrong = (0..rows).into_par_iter().find_map_first(|row| Some((row, wrong(row)?)));
        match wrong {
            None => Ok(()),
            Some((row, column)) => Err(Failure::input(path, self.place(row, column), self.text(row, column), needed)),
        }
    }

    /// Rows and columns.
    pub(crate) fn shape(&self) -> [usize; 2] {
        match self {
            Self::Read(numbers) => [numbers.rows, numbers.columns],
            Self::Npy(array) => [array.rows, array.columns],
        }
    }

    /// The number in a row and column, if it is whole and not negative.
    pub(crate) fn value(&self, row: usize, column: usize) -> Option<u64> {
        u64::try_from(self.whole(row, column).ok()?).ok()
    }

    /// The whole number in a row and column; or what stands there instead, in words.
    fn whole(&self, row: usize, column: usize) -> Result<i128, String> {
        match self {
            Self::Read(numbers) => numbers.whole(row * numbers.columns + column),
            Self::Npy(array) => {
                let (x, exact) = array.at(row, column);
                let exact = exact.map(|exact| (0, exact)).into_iter().collect();
                Numbers { rows: 1, columns: 1, names: Vec::new(), entries: vec![x], exact }.whole(0)
            }
        }
    }

    /// A number as messages show it.
    fn text(&self, row: usize, column: usize) -> String {
        self.whole(row, column).map_or_else(|found| found, |whole| whole.to_string())
    }

    fn place(&self, row: usize, column: usize) -> String {
        match self {
            Self::Read(numbers) => numbers.place(row * numbers.columns + column).to_string(),
            Self::Npy(_) => Place { row: row + 1, column: column + 1, name: None }.to_string(),
        }
    }
}
