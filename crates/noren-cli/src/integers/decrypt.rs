//! `noren decrypt` with a key of exact integers: an encrypted table of whole numbers to a table in clear.

use std::fmt;
use std::path::PathBuf;

use noren::SecretKey;
use noren::bfv::{Context, Decryptor, Encoder};
use noren::programs::IntegerTable;
use serde::Serialize;

use crate::console::Console;
use crate::describe::words::count;
use crate::failure::Failure;
use crate::files;
use crate::jobs::Decryption;
use crate::tables::format;
use crate::tables::numbers::{Decrypted, Values};
use crate::takes;

#[derive(Serialize)]
struct DecryptionReport {
    path: PathBuf,
    rows: usize,
    columns: usize,
    column_names: Vec<String>,
    plaintext_modulus: u64,
    /// The least of all ciphertexts, in bits.
    noise_budget: f64,
}

pub(crate) fn run(job: Decryption<'_>, console: &Console) -> Result<(), Failure> {
    if job.release.is_some() {
        return Err(Failure::of_integers("--release", "none: exact integers hold no traces of the key"));
    }
    if job.unchecked {
        return Err(Failure::of_integers("--unchecked", "none: integers that may be wrong are worth nothing"));
    }
    let file = files::read_key::<Context, SecretKey>(job.key, &takes::DECRYPT_KEY, console)?;
    let table = files::read::<IntegerTable>(&file.context, job.input, &takes::DECRYPT_INPUT, console)?;
    let decryptor = Decryptor::new(&file.context, &file.key)?;
    let of_input = || Failure::file(job.input);
    let mut values = table.decrypt(&decryptor, &Encoder::new(&file.context)).map_err(of_input())?;
    check_noise(&job, &table, &decryptor)?;
    let modulus = file.context.parameters().modulus();
    if job.signed {
        values.iter_mut().for_each(|x| *x = modulus.center(x.cast_unsigned()));
    }
    let values: Vec<i128> = values.into_iter().map(i128::from).collect();
    let layout = table.layout();
    let column_names = match layout.column_names() {
        [] => (0..layout.columns()).map(|column| column.to_string()).collect(),
        names => names.to_vec(),
    };
    format::write(
        &job.output,
        job.access_to_integers(),
        &Decrypted { row_names: None, column_names: &column_names, values: Values::Whole(&values) },
        &job.style,
    )?;
    let budgets = table.ciphertexts().iter().map(|ciphertext| ciphertext.noise_budget());
    console.report(&DecryptionReport {
        path: job.output.path().to_owned(),
        rows: layout.rows(),
        columns: layout.columns(),
        column_names,
        plaintext_modulus: modulus.value(),
        noise_budget: budgets.fold(f64::INFINITY, f64::min),
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
        writeln!(
            f,
            "every number is exact but with a probability of 2^-128; noise budget {:.1} bits",
            self.noise_budget
        )?;
        write!(f, "wrote {}", self.path.display())
    }
}
