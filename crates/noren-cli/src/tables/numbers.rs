//! A table of numbers, and which format its file has.

use std::fmt;
use std::io::Write;
use std::path::Path;

use noren_rlwe::wire::file::{self, Access};

use crate::failure::Failure;
use crate::files::Output;
use crate::tables::{csv, npy};

/// The most bytes that are read of a table.
pub(super) const MAX_BYTES: u64 = 1 << 33;

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

/// The format of a table's file, by the end of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Csv,
    Npy,
}

impl Numbers {
    /// Reads a table from a file; `header` says whether a CSV file has names in its first line.
    pub(crate) fn read(path: &Path, header: bool) -> Result<Self, Failure> {
        let format = Format::of(path)?;
        Self::of_bytes(path, format, &file::read(path, MAX_BYTES)?, header)
    }

    /// As [`Numbers::read`], of bytes that were read already; `path` is what messages show.
    fn of_bytes(path: &Path, format: Format, bytes: &[u8], header: bool) -> Result<Self, Failure> {
        let numbers = match format {
            Format::Csv => csv::read(path, bytes, header),
            Format::Npy => npy::read(path, bytes),
        }?;
        if let Some(index) = numbers.entries.iter().position(|x| !x.is_finite()) {
            let place = numbers.place(index);
            return Err(Failure::input(path, place, numbers.entries[index], "a finite number"));
        }
        Ok(numbers)
    }

    /// Where an entry is, in words: row and column from 1, and the name of the column.
    pub(crate) fn place(&self, index: usize) -> Place<'_> {
        let (row, column) = (index / self.columns, index % self.columns);
        Place { row: row + 1, column: column + 1, name: self.names.get(column).map(String::as_str) }
    }
}

/// Rows and columns of a table in the bytes of a file, as [`run`](crate::run) would read it: the end of `name` says the
/// format, `header` whether a CSV file has names in its first line.
///
/// # Errors
/// The message that the tool prints.
pub fn table_shape(name: &Path, bytes: &[u8], header: bool) -> Result<[usize; 2], String> {
    let numbers = Format::of(name).and_then(|format| Numbers::of_bytes(name, format, bytes, header));
    numbers.map(|numbers| [numbers.rows, numbers.columns]).map_err(|failure| failure.to_string())
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

/// Refuses a name that says no format, before any work.
pub(crate) fn check_name(path: &Path) -> Result<(), Failure> {
    Format::of(path).map(|_| ())
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

/// Writes decrypted numbers, for those whom `access` lets read them.
pub(crate) fn write(output: &Output, access: Access, decrypted: &Decrypted<'_>) -> Result<(), Failure> {
    let bytes = match Format::of(output.path())? {
        Format::Csv => csv::to_bytes(output.path(), decrypted)?,
        Format::Npy => npy::to_bytes(decrypted.values, decrypted.column_names.len()),
    };
    Ok(file::write_atomically(output.destination(), access, |file| file.write_all(&bytes))?)
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

impl Format {
    pub(super) fn of(path: &Path) -> Result<Self, Failure> {
        let extension = path.extension().map(|end| end.to_string_lossy().to_ascii_lowercase());
        match extension.as_deref() {
            Some("csv") => Ok(Self::Csv),
            Some("npy") => Ok(Self::Npy),
            other => {
                let found = other.map_or_else(|| "no ending".to_owned(), |end| format!(".{end}"));
                Err(Failure::input(path, "the name", found, ".csv or .npy, which says the format of a table"))
            }
        }
    }
}
