//! Tables are read from all formats, and written in all.

use std::path::Path;

use noren_rlwe::wire::file::{self, Access};

use crate::failure::Failure;
use crate::outputs::Output;
use crate::tables::dialect::{Dialect, Format, MAX_BYTES, Style, chosen};
use crate::tables::numbers::{Decrypted, Numbers, Values};
use crate::tables::{columnar, csv, npy, shown};

impl Numbers {
    /// Reads a table from a file, for verbs without options for it; `header` says whether a CSV file has names in its first line.
    pub(crate) fn read(path: &Path, header: bool) -> Result<Self, Failure> {
        let format = Format::of(path)?;
        let dialect = Dialect { missing_option: false, ..Dialect::of(format, header) };
        Self::parse(path, format, file::read(path, MAX_BYTES)?, &dialect)
    }

    /// As [`Numbers::read`], of bytes that were read already; `path` is what messages show.
    pub(super) fn parse(path: &Path, format: Format, bytes: Vec<u8>, dialect: &Dialect<'_>) -> Result<Self, Failure> {
        let numbers = match format {
            Format::Csv | Format::Tsv => csv::read(path, &bytes, dialect),
            Format::Npy => npy::read(path, &bytes)?.only(path, dialect.columns),
            Format::Parquet | Format::Arrow => columnar::read(path, format, bytes, dialect.columns),
        }?;
        let admitted = |x: &f64| x.is_finite() || (dialect.admits_missing && x.is_nan());
        if let Some(index) = numbers.entries.iter().position(|x| !admitted(x)) {
            let (place, x) = (numbers.place(index), numbers.entries[index]);
            let needed = if x.is_nan() { dialect.missing_refused() } else { "a finite number" };
            return Err(Failure::input(path, place, x, needed));
        }
        Ok(numbers)
    }

    /// These columns of the table, by name or position; all if there are none. `path` is what messages show.
    fn only(self, path: &Path, columns: &[String]) -> Result<Self, Failure> {
        if columns.is_empty() {
            return Ok(self);
        }
        let chosen = chosen(path, columns, &self.names, self.columns)?;
        let names =
            if self.names.is_empty() { Vec::new() } else { chosen.iter().map(|&c| self.names[c].clone()).collect() };
        let to = |row: usize, column: usize| {
            let position = chosen.iter().position(|&c| c == column)?;
            Some(row * chosen.len() + position)
        };
        Ok(Self { names, ..self.moved(chosen.len(), to) })
    }
}

/// Rows and columns of a table in the bytes of a file, as [`run`](crate::run) would read it: the end of `name` says the
/// format, `header` whether a CSV file has names in its first line.
///
/// # Errors
/// The message that the tool prints.
pub fn table_shape(name: &Path, bytes: &[u8], header: bool) -> Result<[usize; 2], String> {
    let parse = |format| Numbers::parse(name, format, bytes.to_vec(), &Dialect::of(format, header));
    let numbers = Format::of(name).and_then(parse);
    numbers.map(|numbers| [numbers.rows, numbers.columns]).map_err(|failure| failure.to_string())
}

/// Writes decrypted numbers, for those whom `access` lets read them.
pub(crate) fn write(output: &Output, access: Access, decrypted: &Decrypted<'_>, style: &Style) -> Result<(), Failure> {
    if let (Values::Whole(_), Some(_)) = (decrypted.values, style.digits) {
        let (found, needed) = ("exact integers".to_owned(), "none: they have all their digits".to_owned());
        return Err(Failure::Unsuitable { what: "--digits", found, needed });
    }
    if style.shown {
        return output.write_bytes(access, shown::text(decrypted, style).as_bytes());
    }
    match style.format {
        Format::Csv => output.write_with(access, |sink| csv::write(sink, decrypted, style, b',')),
        Format::Tsv => output.write_with(access, |sink| csv::write(sink, decrypted, style, b'\t')),
        Format::Npy => {
            output.write_with(access, |sink| npy::write(sink, decrypted.values, decrypted.column_names.len()))
        }
        Format::Parquet | Format::Arrow => {
            output.write_bytes(access, &columnar::to_bytes(output.path(), style.format, decrypted)?)
        }
    }
}
