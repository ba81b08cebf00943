//! Which format the file of a table has, and how its text is read and written.

use std::path::Path;

use clap::ValueEnum;

use crate::columns::position;
use crate::failure::Failure;
use crate::outputs::Content;
use crate::streams::names_standard_input;
use crate::tables::numbers::Digits;

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
    /// Apache Parquet, where the tool is built with the feature parquet
    Parquet,
    /// Apache Arrow IPC files (Feather 2), with the same feature
    Arrow,
}

/// How decrypted numbers are written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Style {
    pub(crate) format: Format,
    /// Whether the first line of a text has the names of columns.
    pub(crate) header: bool,
    /// The digits of numbers in a text; nothing for those that their error bound supports.
    pub(crate) digits: Option<Digits>,
    /// Whether the first rows and columns are shown to people, and no file is made.
    pub(crate) shown: bool,
}

impl Format {
    /// The format that the end of a name says.
    pub(crate) fn of(path: &Path) -> Result<Self, Failure> {
        let extension = path.extension().map(|end| end.to_string_lossy().to_ascii_lowercase());
        match extension.as_deref() {
            Some("csv") => Ok(Self::Csv),
            Some("tsv") => Ok(Self::Tsv),
            Some("npy") => Ok(Self::Npy),
            Some("parquet") => Ok(Self::Parquet),
            Some("arrow" | "feather") => Ok(Self::Arrow),
            _ if names_standard_input(path) => {
                let needed =
                    "--format csv, tsv, npy, parquet or arrow, which says the format of a table without a name";
                Err(Failure::input(path, "the name", "standard input or output", needed))
            }
            other => {
                let found = other.map_or_else(|| "no ending".to_owned(), |end| format!(".{end}"));
                let needed = ".csv, .tsv, .npy, .parquet, .arrow or .feather, which says the format of a table";
                Err(Failure::input(path, "the name", found, needed))
            }
        }
    }

    /// Whether it is text.
    pub(super) const fn is_text(self) -> bool {
        matches!(self, Self::Csv | Self::Tsv)
    }

    /// A file of this format, in words.
    pub(super) const fn noun(self) -> &'static str {
        match self {
            Self::Csv => "a CSV file",
            Self::Tsv => "a TSV file",
            Self::Npy => "an NPY file",
            Self::Parquet => "a Parquet file",
            Self::Arrow => "an Arrow IPC file",
        }
    }

    /// Refuses an option of text, if one is given, for other formats.
    pub(super) fn check_for_text(self, given: &[(&'static str, bool)]) -> Result<(), Failure> {
        match given.iter().find(|(_, given)| *given) {
            Some((what, _)) if !self.is_text() => {
                let needed = "a table in text: .csv or .tsv".to_owned();
                Err(Failure::Unsuitable { what, found: self.noun().to_owned(), needed })
            }
            _ => Ok(()),
        }
    }
}

impl Style {
    /// The style for an output, in the format that its name says unless another is named; refuses what the format does not have.
    pub(crate) fn new(
        output: &Path,
        format: Option<Format>,
        header: bool,
        digits: Option<Digits>,
    ) -> Result<Self, Failure> {
        let format = format.map_or_else(|| Format::of(output), Ok)?;
        format.check_for_text(&[("--no-header", !header), ("--digits", digits.is_some())])?;
        Ok(Self { format, header, digits, shown: false })
    }

    /// The style for a terminal; refuses a format, which asks for a file.
    pub(crate) fn of_terminal(format: Option<Format>, header: bool, digits: Option<Digits>) -> Result<Self, Failure> {
        match format {
            None => Ok(Self { format: Format::Csv, header, digits, shown: true }),
            Some(format) => {
                let needed = "-o FILE too, or -o - for standard output".to_owned();
                Err(Failure::Unsuitable { what: "--format", found: format.noun().to_owned(), needed })
            }
        }
    }

    /// Whether a terminal shows the file.
    pub(crate) const fn content(&self) -> Content {
        if self.format.is_text() { Content::Text } else { Content::Binary }
    }

    /// How far each number may be from the true one as it is written: errors of these bounds, and rounding.
    pub(crate) fn written_errors(&self, values: &[f64], errors: &[f64]) -> Vec<f64> {
        if !self.format.is_text() {
            return errors.to_vec();
        }
        let digits = self.digits.unwrap_or(Digits::Supported);
        values.iter().zip(errors).map(|(&x, &error)| error + digits.rounding(x, error)).collect()
    }
}

/// How the text of a table is read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Dialect<'a> {
    /// Whether the first line has names.
    pub(crate) header: bool,
    pub(crate) separator: u8,
    pub(crate) decimal_comma: bool,
    /// The columns that are read; all if there are none.
    pub(crate) columns: &'a [String],
    /// Whether missing numbers are read as NaN.
    pub(crate) admits_missing: bool,
    /// Whether the verb has `--missing`, which the refusal of a missing number then names.
    pub(crate) missing_option: bool,
}

impl Dialect<'_> {
    /// Separators of a format, and all columns.
    pub(crate) const fn of(format: Format, header: bool) -> Self {
        let separator = if matches!(format, Format::Tsv) { b'\t' } else { b',' };
        Self { header, separator, decimal_comma: false, columns: &[], admits_missing: false, missing_option: true }
    }

    /// The requirement on a number that is missing.
    pub(super) const fn missing_refused(&self) -> &'static str {
        if self.missing_option { FINITE_OR_MISSING } else { FINITE }
    }
}

/// The character between fields of an output that has texts; refuses formats of numbers.
pub(crate) fn separator_of_texts(path: &Path) -> Result<u8, Failure> {
    match Format::of(path)? {
        Format::Csv => Ok(b','),
        Format::Tsv => Ok(b'\t'),
        _ => Err(Failure::input(path, "the name", "a format of numbers", ".csv or .tsv: answers have texts")),
    }
}

/// The positions of columns that are read.
pub(crate) fn chosen(path: &Path, wanted: &[String], names: &[String], columns: usize) -> Result<Vec<usize>, Failure> {
    let positions: Vec<String> = (0..columns).map(|column| column.to_string()).collect();
    let names = if names.is_empty() { &positions } else { names };
    let chosen = wanted.iter().map(|text| position(names, text, path)).collect::<Result<Vec<_>, _>>()?;
    match chosen.iter().enumerate().find(|(index, column)| chosen[..*index].contains(column)) {
        Some((index, _)) => {
            let found = format!("{:?} once more", wanted[index]);
            Err(Failure::Unsuitable { what: "--columns", found, needed: "each column once".to_owned() })
        }
        None => Ok(chosen),
    }
}

/// The requirement on a number, where a verb takes no missing ones.
const FINITE: &str = "a finite number: none may be missing";

/// The same, where `--missing` says what to do about them.
const FINITE_OR_MISSING: &str = "a finite number (for missing numbers: --missing drop leaves out their rows, \
    --missing mean puts the mean of the column in their place)";
