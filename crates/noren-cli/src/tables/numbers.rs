//! Tables of numbers, as they are read and as they are written.

use std::fmt;

/// A table of finite numbers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Numbers {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    /// Names of the columns, or nothing.
    pub(crate) names: Vec<String>,
    /// The numbers, row after row.
    pub(crate) entries: Vec<f64>,
}

impl Numbers {
    /// Where an entry is, in words: row and column from 1, and the name of the column.
    pub(crate) fn place(&self, index: usize) -> Place<'_> {
        let (row, column) = (index / self.columns, index % self.columns);
        Place { row: row + 1, column: column + 1, name: self.names.get(column).map(String::as_str) }
    }
}

/// Row and column, from 1, as messages show them.
pub(crate) struct Place<'a> {
    pub(crate) row: usize,
    pub(crate) column: usize,
    pub(crate) name: Option<&'a str>,
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "row {}, column {}", self.row, self.column)?;
        self.name.map_or(Ok(()), |name| write!(f, " ({name:?})"))
    }
}

/// Decrypted numbers, as they are written.
pub(crate) struct Decrypted<'a> {
    /// They become the first column.
    pub(crate) row_names: Option<&'a [String]>,
    pub(crate) column_names: &'a [String],
    pub(crate) values: Values<'a>,
}

/// Numbers row after row.
#[derive(Clone, Copy)]
pub(crate) enum Values<'a> {
    Real(&'a [f64]),
    Whole(&'a [i64]),
}

impl Values<'_> {
    /// Each number as text, with as many digits as tell it from all others.
    pub(super) fn texts(&self) -> Vec<String> {
        match self {
            Self::Real(values) => values.iter().map(|x| format!("{x:?}")).collect(),
            Self::Whole(values) => values.iter().map(ToString::to_string).collect(),
        }
    }
}
