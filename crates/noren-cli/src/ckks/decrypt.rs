//! `noren decrypt` with a secret key of CKKS: an encrypted table to a table in clear, with its error bound.

use std::fmt;
use std::path::PathBuf;

use clap::Args;
use noren::SecretKey;
use noren::ckks::{Ciphertext, CkksError, Context, Decryptor, Releases};
use noren::programs::{EncryptedTable, Layout, Matrix};
use noren_rlwe::wire::file::Access;
use rayon::prelude::*;
use serde::Serialize;

use crate::console::Console;
use crate::describe::words::{count, error};
use crate::failure::Failure;
use crate::files;
use crate::jobs::Decryption;
use crate::tables::format;
use crate::tables::numbers::{Decrypted, Values};
use crate::takes;

/// Its own options.
#[derive(Debug, Args)]
#[group(skip)]
pub(super) struct ReleaseOptions {
    /// Round encoded numbers to multiples of 2^-BITS with noise, so that they may be handed on
    #[arg(long, value_name = "BITS", allow_negative_numbers = true)]
    release: Option<i32>,
    /// How many tables of this key are released in all, this one among them
    #[arg(long, value_name = "COUNT", default_value_t = 1, requires = "release")]
    releases: u64,
    /// Bits of statistical security of all these releases together, at most 80
    #[arg(long, value_name = "BITS", default_value_t = Releases::DEFAULT_SECURITY, requires = "release")]
    statistical_security: u32,
}

#[derive(Serialize)]
struct DecryptionReport {
    path: PathBuf,
    rows: usize,
    columns: usize,
    /// The largest of all numbers as they are written: rounding is in it.
    error_bound: f64,
    /// For each column, the largest of its numbers.
    error_bounds: Vec<f64>,
    column_names: Vec<String>,
    released_bits: Option<i32>,
    /// Of what is released.
    statistical_security: Option<u32>,
    planned_releases: Option<u64>,
}

/// Decrypts; a key of another kind is refused when it is read.
pub(super) fn run(job: Decryption<'_>, console: &Console) -> Result<(), Failure> {
    let ReleaseOptions { release, releases, statistical_security } = job.given.own();
    if job.signed {
        let (what, found) = ("--signed", "numbers with a precision".to_owned());
        return Err(Failure::Unsuitable { what, found, needed: "exact integers".to_owned() });
    }
    if job.public && release.is_none() {
        let found = "numbers with traces of the secret key".to_owned();
        let needed = "--release BITS, which hides them and lets others read the file".to_owned();
        return Err(Failure::Unsuitable { what: "--public", found, needed });
    }
    let key = files::read_key::<Context, SecretKey>(job.key, &takes::DECRYPT_KEY, console)?;
    let table = files::read::<EncryptedTable<Ciphertext>>(&key.context, job.input, &takes::DECRYPT_INPUT, console)?;
    let decryptor = Decryptor::new(&key.context, &key.key)?;
    let decryptor = if job.unchecked { decryptor.allow_unbounded() } else { decryptor };
    let of_input = || Failure::file(job.input);
    let slots = |decryptor: &Decryptor<'_>| {
        table.ciphertexts().par_iter().map(|c| decryptor.decrypt_real(c)).collect::<noren::Result<Vec<_>>>()
    };
    let slots = match slots(&decryptor) {
        Err(error) if matches!(error.downcast_ref(), Some(CkksError::NotAsStated { .. })) => {
            // Arguments outside their interval are the better reason.
            let any = slots(&Decryptor::new(&key.context, &key.key)?.allow_unbounded()).map_err(of_input())?;
            let matrix = table.layout().read(&any, &vec![0.0; any.len()]).map_err(of_input())?;
            return Err(match doubt(&table, &matrix) {
                Some(what) => Failure::Unconfirmed { path: job.input.to_owned(), what },
                None => of_input()(error),
            });
        }
        slots => slots.map_err(of_input())?,
    };
    let matrix = match release {
        None => {
            let bounds: Vec<f64> = table.ciphertexts().iter().map(Ciphertext::error_bound).collect();
            table.layout().read(&slots, &bounds)
        }
        Some(bits) => {
            let mut releases = Releases::new(releases)?.with_statistical_security(statistical_security)?;
            table.decrypt_for_release(&decryptor, bits, &mut releases)
        }
    }
    .map_err(of_input())?;
    if let Some(what) = doubt(&table, &matrix) {
        if !job.unchecked {
            return Err(Failure::Unconfirmed { path: job.input.to_owned(), what });
        }
        console.warn(format_args!("{}: {what}", job.input.display()));
    }
    check_size(&job, &table, &slots)?;
    let has_row_names = match table.layout() {
        Layout::Table(layout) => !layout.row_names().is_empty(),
        Layout::Pairs(_) => true,
    };
    let row_names = has_row_names.then_some(matrix.row_names.as_slice());
    // Released numbers are rounded as they are to be.
    let (errors, written) = match release {
        Some(_) if job.style.digits.is_none() => (None, matrix.errors.clone()),
        _ => (Some(matrix.errors.as_slice()), job.style.written_errors(&matrix.values, &matrix.errors)),
    };
    let (column_names, values) = (matrix.column_names.as_slice(), Values::Real(&matrix.values, errors));
    let access = if release.is_some() { Access::Default } else { Access::Owner };
    format::write(&job.output, access, &Decrypted { row_names, column_names, values }, &job.style)?;
    let columns = matrix.column_names.len();
    let largest = |column| written.iter().skip(column).step_by(columns).fold(0.0, |m: f64, e| m.max(*e));
    console.report(&DecryptionReport {
        path: job.output.path().to_owned(),
        rows: matrix.row_names.len(),
        columns,
        error_bound: written.iter().fold(0.0, |most: f64, error| most.max(*error)),
        error_bounds: (0..columns).map(largest).collect(),
        released_bits: release,
        statistical_security: release.map(|_| statistical_security),
        planned_releases: release.map(|_| releases),
        column_names: matrix.column_names,
    })
}

/// Refuses numbers that are larger than the ciphertexts state.
fn check_size(job: &Decryption<'_>, table: &EncryptedTable<Ciphertext>, slots: &[Vec<f64>]) -> Result<(), Failure> {
    if job.unchecked {
        return Ok(());
    }
    let largest: Vec<f64> = match table.layout() {
        // Slots between the entries are not promised to be small.
        Layout::Table(layout) => {
            let mut largest = vec![0.0f64; slots.len()];
            for (row, column) in
                (0..layout.rows()).flat_map(|row| (0..layout.columns()).map(move |column| (row, column)))
            {
                let (ciphertext, slot) = layout.place(row, column);
                largest[ciphertext] = largest[ciphertext].max(slots[ciphertext][slot].abs());
            }
            largest
        }
        Layout::Pairs(_) => {
            slots.iter().map(|slots| slots.iter().fold(0.0, |most: f64, x| most.max(x.abs()))).collect()
        }
    };
    for (ciphertext, found) in table.ciphertexts().iter().zip(largest) {
        let needed = ciphertext.magnitude() + ciphertext.error_bound();
        if found > needed {
            let path = job.input.to_owned();
            let found = format!("decrypts to numbers up to {found:.3e}");
            let needed = format!("its ciphertexts hold at most {needed:.3e}");
            return Err(Failure::FalseStatement { path, found, needed });
        }
    }
    Ok(())
}

/// Why the numbers may be wrong, if they may.
fn doubt(table: &EncryptedTable<Ciphertext>, matrix: &Matrix) -> Option<String> {
    let columns = matrix.column_names.len();
    let place = |row: usize, column: usize| format!("row {}, column {:?}", row + 1, matrix.column_names[column]);
    if let Some(&(row, column)) = matrix.out_of_range.first() {
        let guarantee = match table.layout() {
            Layout::Table(layout) => layout.guarantee(),
            Layout::Pairs(_) => None,
        };
        let function = guarantee.map_or_else(String::new, |guarantee| {
            let [low, high] = guarantee.interval;
            format!(": {} holds for scores between {low} and {high}", guarantee.function)
        });
        let (count, value) = (matrix.out_of_range.len(), matrix.values[row * columns + column]);
        if !matrix.errors[row * columns + column].is_finite() {
            return Some(format!(
                "{} lies in a ciphertext with an argument outside the interval{function}; {count} numbers are like that, and \
                 none of them can be trusted. Widen the interval of the model",
                place(row, column)
            ));
        }
        return Some(format!(
            "{} is {value}, which no argument inside the interval gives{function}; {count} numbers are like that, \
             and no number of the table can be trusted. Widen the interval of the model",
            place(row, column)
        ));
    }
    let index = matrix.errors.iter().position(|error| !error.is_finite())?;
    Some(format!(
        "nothing can be said of the error of {}: the numbers may be too large for the parameters. Use parameters with a \
         larger first prime, or state smaller bounds",
        place(index / columns, index % columns)
    ))
}

impl fmt::Display for DecryptionReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}, {}", count(self.rows, "row"), count(self.columns, "column"))?;
        writeln!(f, "every number is within {} of the true one", error(self.error_bound))?;
        let note = match (self.planned_releases, self.statistical_security) {
            (Some(planned), Some(security)) => format!(
                "the numbers are rounded and may be handed on: {} of this key in all, with {security} bits of statistical \
                 security",
                count(planned as usize, "table")
            ),
            _ => "the numbers are for the owner of the key only: to hand them on, see --release".to_owned(),
        };
        write!(f, "{note}\nwrote {}", self.path.display())
    }
}
