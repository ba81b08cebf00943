//! `noren decrypt` with a key of exact integers: an encrypted table of whole numbers to a table in clear.

use std::fmt;
use std::path::PathBuf;

use noren::SecretKey;
use noren::bfv::{Context, Decryptor, Encoder, Parameters};
use noren::programs::IntegerTable;
use noren_rlwe::wire::file::Access;
use serde::Serialize;

use crate::console::Console;
use crate::describe::words::count;
use crate::failure::Failure;
use crate::files;
use crate::jobs::Decryption;
use crate::outputs::Output;
use crate::tables::dialect::Style;
use crate::tables::format;
use crate::tables::numbers::{Decrypted, Values};
use crate::takes;

/// The table in clear that was written.
#[derive(Serialize)]
pub(crate) struct DecryptionReport {
    path: PathBuf,
    rows: usize,
    columns: usize,
    column_names: Vec<String>,
    plaintext_modulus: u64,
    /// The least of all ciphertexts, in bits.
    noise_budget: f64,
    /// When the numbers are right.
    #[serde(skip)]
    guarantee: &'static str,
}

/// How numbers are written, and where.
pub(crate) struct Target<'a> {
    pub(crate) output: &'a Output,
    pub(crate) access: Access,
    pub(crate) style: &'a Style,
    /// From -t/2 to t/2.
    pub(crate) signed: bool,
}

pub(super) fn run(job: Decryption<'_>, console: &Console) -> Result<(), Failure> {
    if job.given.has("release") {
        return Err(Failure::of_integers("--release", "none: exact integers hold no traces of the key"));
    }
    if job.unchecked {
        return Err(Failure::of_integers("--unchecked", "none: integers that may be wrong are worth nothing"));
    }
    let file = files::read_key::<Context, SecretKey>(job.key, &takes::DECRYPT_KEY, console)?;
    let table = files::read::<IntegerTable>(&file.context, job.input, &takes::DECRYPT_INPUT, console)?;
    let decryptor = Decryptor::new(&file.context, &file.key)?;
    let values = table.decrypt(&decryptor, &Encoder::new(&file.context)).map_err(Failure::file(job.input))?;
    check_noise(&job, &table, &decryptor)?;
    let target =
        Target { output: &job.output, access: job.access_to_integers(), style: &job.style, signed: job.signed };
    let guarantee = "every number is exact but with a probability of 2^-128";
    console.report(&write(&table, values, file.context.parameters(), &target, guarantee)?)
}

/// Writes the numbers of a table, which are given row after row and from 0 to t - 1. `guarantee` says when they are right.
pub(crate) fn write(
    table: &IntegerTable,
    mut values: Vec<i64>,
    parameters: &Parameters,
    target: &Target<'_>,
    guarantee: &'static str,
) -> Result<DecryptionReport, Failure> {
    let modulus = parameters.modulus();
    if target.signed {
        values.iter_mut().for_each(|x| *x = modulus.center(x.cast_unsigned()));
    }
    let values: Vec<i128> = values.into_iter().map(i128::from).collect();
    let layout = table.layout();
    let column_names = match layout.column_names() {
        [] => (0..layout.columns()).map(|column| column.to_string()).collect(),
        names => names.to_vec(),
    };
    format::write(
        target.output,
        target.access,
        &Decrypted { row_names: None, column_names: &column_names, values: Values::Whole(&values) },
        target.style,
    )?;
    let budgets = table.ciphertexts().iter().map(|ciphertext| ciphertext.noise_budget());
    Ok(DecryptionReport {
        path: target.output.path().to_owned(),
        rows: layout.rows(),
        columns: layout.columns(),
        column_names,
        plaintext_modulus: modulus.value(),
        noise_budget: budgets.fold(f64::INFINITY, f64::min),
        guarantee,
    })
}

/// Refuses ciphertexts with more noise than they state.
fn check_noise(job: &Decryption<'_>, table: &IntegerTable, decryptor: &Decryptor<'_>) -> Result<(), Failure> {
    for ciphertext in table.ciphertexts() {
        let largest = (-ciphertext.noise_budget() - 1.0).exp2();
        if decryptor.measure_noise(ciphertext)?.max > largest {
            let (path, found) = (job.input.to_owned(), "has more noise than that".to_owned());
            let needed = format!("its ciphertexts have at most 2^{:.0} of the modulus", largest.log2());
            return Err(Failure::FalseStatement { path, found, needed });
        }
    }
    Ok(())
}

impl fmt::Display for DecryptionReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rows, columns) = (count(self.rows, "row"), count(self.columns, "column"));
        writeln!(f, "{rows}, {columns} of integers modulo {}", self.plaintext_modulus)?;
        writeln!(f, "{}; noise budget {:.1} bits", self.guarantee, self.noise_budget)?;
        write!(f, "wrote {}", self.path.display())
    }
}
