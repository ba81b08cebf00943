//! Which format the file of a table has: tables are read from both formats, and written in both.

use std::io::Write;
use std::path::Path;

use noren_rlwe::wire::file::{self, Access};

use crate::failure::Failure;
use crate::outputs::Output;
use crate::tables::numbers::{Decrypted, Numbers};
use crate::tables::{csv, npy};

/// The most bytes that are read of a table.
pub(super) const MAX_BYTES: u64 = 1 << 33;

/// The format of a table's file, by the end of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Csv,
    Npy,
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

/// Refuses a name that says no format, before any work.
pub(crate) fn check_name(path: &Path) -> Result<(), Failure> {
    Format::of(path).map(|_| ())
}

/// Writes decrypted numbers, for those whom `access` lets read them.
pub(crate) fn write(output: &Output, access: Access, decrypted: &Decrypted<'_>) -> Result<(), Failure> {
    let bytes = match Format::of(output.path())? {
        Format::Csv => csv::to_bytes(output.path(), decrypted)?,
        Format::Npy => npy::to_bytes(decrypted.values, decrypted.column_names.len()),
    };
    Ok(file::write_atomically(output.destination(), access, |file| file.write_all(&bytes))?)
}
