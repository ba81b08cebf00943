//! How tables in clear are read: their format, separators, columns, and what stands for missing numbers.

use std::collections::BTreeMap;
use std::path::Path;

use clap::{Args, ValueEnum};
use noren::tables::Cells;

use crate::console::Console;
use crate::describe::words::count;
use crate::failure::Failure;
use crate::tables::csv;
use crate::tables::dialect::{Dialect, Format, MAX_BYTES};
use crate::tables::numbers::Numbers;
use crate::tables::texts::Texts;

/// The options of verbs that read a table from a user.
#[derive(Debug, Default, Args)]
pub(crate) struct TableOptions {
    /// The format of the table [default: the end of its name; needed for standard input]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// The text file has no names of columns
    #[arg(long)]
    no_header: bool,
    /// The character between fields: one character, or tab [default: a comma; a tab in .tsv; a semicolon with
    /// --decimal-comma]
    #[arg(long, value_name = "CHARACTER", value_parser = parse_separator)]
    separator: Option<u8>,
    /// Numbers have a decimal comma, as in 2,5; then fields are separated by semicolons
    #[arg(long)]
    decimal_comma: bool,
    /// The columns that are read, by name or position from 0, in this order; others may hold text [default: all]
    #[arg(long, value_name = "COLUMN,...", value_delimiter = ',')]
    columns: Vec<String>,
    /// Missing numbers (empty fields, NA, N/A, NaN, null): refuse them, leave out their rows, or put the mean of the
    /// column in their place
    #[arg(long, value_enum, default_value_t = Missing::Error)]
    missing: Missing,
}

/// The policy for missing numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Missing {
    /// They are refused
    #[default]
    Error,
    /// Their rows are left out
    Drop,
    /// The mean of the other numbers of the column is put in their place
    Mean,
}

impl TableOptions {
    /// Reads a table from a file or standard input.
    pub(crate) fn read(&self, path: &Path, console: &Console) -> Result<Numbers, Failure> {
        let format = self.format.map_or_else(|| Format::of(path), Ok)?;
        self.check(format)?;
        let bytes = console.inputs().bytes(path, MAX_BYTES)?;
        let numbers = Numbers::parse(path, format, bytes, &self.dialect(format))?;
        match self.missing {
            Missing::Error => Ok(numbers),
            Missing::Drop => without_missing(numbers, path, console),
            Missing::Mean => with_means(numbers, path, console),
        }
    }

    /// Reads the columns of a table with texts from a file or standard input: `is_text` says which have texts, where it is known.
    pub(crate) fn read_columns(
        &self,
        path: &Path,
        is_text: &dyn Fn(&str) -> Option<bool>,
        console: &Console,
    ) -> Result<BTreeMap<String, Cells>, Failure> {
        let unsuitable = |what, found: &str, needed: &str| {
            Err(Failure::Unsuitable { what, found: found.to_owned(), needed: needed.to_owned() })
        };
        if self.no_header {
            return unsuitable("--no-header", "columns without names", "names, which questions ask by");
        }
        if self.missing != Missing::Error {
            return unsuitable("--missing", "missing cells", "none: fill them, or leave their rows out");
        }
        let format = self.format.map_or_else(|| Format::of(path), Ok)?;
        if format.is_text() {
            self.check(format)?;
            let bytes = console.inputs().bytes(path, MAX_BYTES)?;
            return Ok(csv::columns(path, &bytes, &self.dialect(format), is_text)?.into_iter().collect());
        }
        let numbers = self.read(path, console)?;
        if numbers.names.is_empty() {
            return Err(Failure::input(path, "the table", "columns without names", "names, which questions ask by"));
        }
        let column = |(at, name): (usize, &String)| {
            let entries = numbers.entries.iter().skip(at).step_by(numbers.columns).copied();
            (name.clone(), Cells::Numbers(entries.collect()))
        };
        Ok(numbers.names.iter().enumerate().map(column).collect())
    }

    /// Reads all columns of a table as texts, which may be empty, from a file or standard input; those that `--columns` names are chosen
    /// by [`TableOptions::columns`].
    pub(crate) fn read_texts(&self, path: &Path, console: &Console) -> Result<Texts, Failure> {
        if self.missing != Missing::Error {
            let (found, needed) = ("a policy for missing numbers".to_owned(), "none: cells are texts here".to_owned());
            return Err(Failure::Unsuitable { what: "--missing", found, needed });
        }
        let format = self.format.map_or_else(|| Format::of(path), Ok)?;
        if !format.is_text() {
            return Err(Failure::input(path, "the table", format.noun(), "one of texts: .csv or .tsv"));
        }
        self.check(format)?;
        let bytes = console.inputs().bytes(path, MAX_BYTES)?;
        csv::texts(path, &bytes, &Dialect { columns: &[], ..self.dialect(format) })
    }

    /// The columns that were asked for.
    pub(crate) fn columns(&self) -> &[String] {
        &self.columns
    }

    /// How a file of this format is read.
    fn dialect(&self, format: Format) -> Dialect<'_> {
        let mut dialect = Dialect::of(format, !self.no_header);
        if self.decimal_comma {
            (dialect.decimal_comma, dialect.separator) = (true, b';');
        }
        dialect.separator = self.separator.unwrap_or(dialect.separator);
        dialect.columns = &self.columns;
        dialect.admits_missing = self.missing != Missing::Error;
        dialect
    }

    fn check(&self, format: Format) -> Result<(), Failure> {
        format.check_for_text(&[
            ("--separator", self.separator.is_some()),
            ("--decimal-comma", self.decimal_comma),
            ("--no-header", self.no_header && format != Format::Npy),
        ])?;
        if self.decimal_comma && self.separator == Some(b',') {
            let (found, needed) = ("a comma, which numbers have".to_owned(), "another character".to_owned());
            return Err(Failure::Unsuitable { what: "--separator", found, needed });
        }
        Ok(())
    }
}

/// Leaves out rows with missing numbers.
fn without_missing(numbers: Numbers, path: &Path, console: &Console) -> Result<Numbers, Failure> {
    let (rows, columns) = (numbers.rows, numbers.columns);
    let mut left = 0;
    // The new position of each row that stays.
    let places: Vec<Option<usize>> = numbers
        .entries
        .chunks(columns)
        .map(|row| {
            let stays = row.iter().all(|x| !x.is_nan());
            left += usize::from(stays);
            stays.then(|| left - 1)
        })
        .collect();
    if left == 0 {
        let found = "no row without missing numbers";
        return Err(Failure::input(
            path,
            "the file",
            found,
            "one, for --missing drop: see --columns and --missing mean",
        ));
    }
    if left == rows {
        return Ok(numbers);
    }
    console.warn(format_args!("{}: {} with missing numbers left out", path.display(), count(rows - left, "row")));
    Ok(numbers.moved(columns, |row, column| Some(places[row]? * columns + column)))
}

/// Puts means of columns in the place of missing numbers.
fn with_means(mut numbers: Numbers, path: &Path, console: &Console) -> Result<Numbers, Failure> {
    let (columns, mut filled) = (numbers.columns, 0);
    for column in 0..columns {
        let values = || numbers.entries.iter().skip(column).step_by(columns);
        let present = values().filter(|x| !x.is_nan()).count();
        let missing = numbers.rows - present;
        if missing == 0 {
            continue;
        }
        if present == 0 {
            let place = numbers.place(column);
            let needed = "one number at least, for the mean of the column: see --columns";
            return Err(Failure::input(path, place, "a column of missing numbers", needed));
        }
        // Divided first: sums of large numbers do not overflow.
        let mean = values().filter(|x| !x.is_nan()).map(|x| x / present as f64).sum::<f64>();
        numbers.entries.iter_mut().skip(column).step_by(columns).filter(|x| x.is_nan()).for_each(|x| *x = mean);
        filled += missing;
    }
    if filled > 0 {
        let filled = count(filled, "missing number");
        console.warn(format_args!("{}: {filled} replaced by the mean of the column", path.display()));
    }
    Ok(numbers)
}

fn parse_separator(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        _ if text == "tab" || text == "\\t" => Ok(b'\t'),
        [byte] if byte.is_ascii() && !byte.is_ascii_alphanumeric() && !b"\"\n\r.+-".contains(byte) => Ok(*byte),
        _ => Err("one character that is no part of a number is needed, such as ';', or tab".to_owned()),
    }
}
