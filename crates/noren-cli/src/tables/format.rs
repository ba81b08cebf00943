//! Which format the file of a table has: tables are read from both formats, and written in both.

use std::path::Path;

use clap::ValueEnum;
use noren_rlwe::wire::file::{self, Access};

use crate::failure::Failure;
use crate::outputs::{Content, Output, names_standard_input};
use crate::tables::numbers::{Decrypted, Digits, Numbers, Values};
use crate::tables::options::Dialect;
use crate::tables::{csv, npy};

/// The most bytes that are read of a table.
pub(super) const MAX_BYTES: u64 = 1 << 33;

/// The format of a table's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Text with commas
    Csv,
    /// Text with tabs
    Tsv,
    /// Arrays of numpy
    Npy,
}

/// How decrypted numbers are written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Style {
    pub(crate) format: Format,
    /// Whether the first line of a text has the names of columns.
    pub(crate) header: bool,
    /// The digits of numbers in a text; nothing for those that their error bound supports.
    pub(crate) digits: Option<Digits>,
}

impl Format {
    /// The format that the end of a name says.
    pub(super) fn of(path: &Path) -> Result<Self, Failure> {
        let extension = path.extension().map(|end| end.to_string_lossy().to_ascii_lowercase());
        match extension.as_deref() {
            Some("csv") => Ok(Self::Csv),
            Some("tsv") => Ok(Self::Tsv),
            Some("npy") => Ok(Self::Npy),
            _ if names_standard_input(path) => {
                let needed = "--format csv, tsv or npy, which says the format of a table without a name";
                Err(Failure::input(path, "the name", "standard input or output", needed))
            }
            other => {
                let found = other.map_or_else(|| "no ending".to_owned(), |end| format!(".{end}"));
                Err(Failure::input(path, "the name", found, ".csv, .tsv or .npy, which says the format of a table"))
            }
        }
    }
}

impl Numbers {
    /// Reads a table from a file; `header` says whether a CSV file has names in its first line.
    pub(crate) fn read(path: &Path, header: bool) -> Result<Self, Failure> {
        let format = Format::of(path)?;
        Self::parse(path, format, &file::read(path, MAX_BYTES)?, &Dialect::of(format, header))
    }

    /// As [`Numbers::read`], of bytes that were read already; `path` is what messages show.
    pub(super) fn parse(path: &Path, format: Format, bytes: &[u8], dialect: &Dialect<'_>) -> Result<Self, Failure> {
        let numbers = match format {
            Format::Csv | Format::Tsv => csv::read(path, bytes, dialect),
            Format::Npy => npy::read(path, bytes)?.only(path, dialect.columns),
        }?;
        let admitted = |x: &f64| x.is_finite() || (dialect.admits_missing && x.is_nan());
        if let Some(index) = numbers.entries.iter().position(|x| !admitted(x)) {
            let (place, x) = (numbers.place(index), numbers.entries[index]);
            let needed = if x.is_nan() { FINITE_OR_MISSING } else { "a finite number" };
            return Err(Failure::input(path, place, x, needed));
        }
        Ok(numbers)
    }
}

/// Rows and columns of a table in the bytes of a file, as [`run`](crate::run) would read it: the end of `name` says the
/// format, `header` whether a CSV file has names in its first line.
///
/// # Errors
/// The message that the tool prints.
pub fn table_shape(name: &Path, bytes: &[u8], header: bool) -> Result<[usize; 2], String> {
    let parse = |format| Numbers::parse(name, format, bytes, &Dialect::of(format, header));
    let numbers = Format::of(name).and_then(parse);
    numbers.map(|numbers| [numbers.rows, numbers.columns]).map_err(|failure| failure.to_string())
}

/// What is needed in the place of a number that is not finite, or missing.
pub(super) const FINITE_OR_MISSING: &str = "a finite number (for missing numbers: --missing drop leaves out their rows, \
    --missing mean puts the mean of the column in their place)";

impl Style {
    /// The style for an output, in the format that its name says unless another is named; refuses what the format does not have.
    pub(crate) fn new(
        output: &Path,
        format: Option<Format>,
        header: bool,
        digits: Option<Digits>,
    ) -> Result<Self, Failure> {
        let format = format.map_or_else(|| Format::of(output), Ok)?;
        let given = [("--no-header", !header), ("--digits", digits.is_some())];
        if let (Format::Npy, Some((what, _))) = (format, given.into_iter().find(|(_, given)| *given)) {
            let needed = "a table in text, .csv or .tsv: NPY files have no header, and all digits".to_owned();
            return Err(Failure::Unsuitable { what, found: "an NPY file".to_owned(), needed });
        }
        Ok(Self { format, header, digits })
    }

    /// Whether a terminal shows the file.
    pub(crate) const fn content(&self) -> Content {
        if matches!(self.format, Format::Npy) { Content::Binary } else { Content::Text }
    }

    /// How far each number may be from the true one as it is written: errors of these bounds, and rounding.
    pub(crate) fn written_errors(&self, values: &[f64], errors: &[f64]) -> Vec<f64> {
        match (self.format, self.digits) {
            (Format::Npy, _) => errors.to_vec(),
            (_, digits) => {
                let rounded = |(&x, &error)| error + digits.unwrap_or(Digits::Supported).rounding(x, error);
                values.iter().zip(errors).map(rounded).collect()
            }
        }
    }
}

/// Writes decrypted numbers, for those whom `access` lets read them.
pub(crate) fn write(output: &Output, access: Access, decrypted: &Decrypted<'_>, style: &Style) -> Result<(), Failure> {
    if let (Values::Whole(_), Some(_)) = (decrypted.values, style.digits) {
        let (found, needed) = ("exact integers".to_owned(), "none: they have all their digits".to_owned());
        return Err(Failure::Unsuitable { what: "--digits", found, needed });
    }
    let separator = |separator| csv::to_bytes(output.path(), decrypted, style, separator);
    let bytes = match style.format {
        Format::Csv => separator(b',')?,
        Format::Tsv => separator(b'\t')?,
        Format::Npy => npy::to_bytes(decrypted.values, decrypted.column_names.len()),
    };
    output.write_bytes(access, &bytes)
}
