//! `noren decrypt` with a secret key of TFHE: encrypted columns to a table in clear.

use std::fmt;
use std::path::PathBuf;

use noren::programs::columns::{Columns, Element};
use noren::tfhe::{Context, Decryptor, SecretKey};
use serde::Serialize;

use crate::console::Console;
use crate::describe::words::count;
use crate::failure::Failure;
use crate::files;
use crate::jobs::Decryption;
use crate::tables::format;
use crate::tables::numbers::{Decrypted, Values};
use crate::takes;
use crate::tfhe::files::read_key;

#[derive(Serialize)]
struct DecryptionReport {
    path: PathBuf,
    rows: usize,
    columns: usize,
    column_names: Vec<String>,
    types: Vec<Element>,
}

pub(super) fn run(job: Decryption<'_>, console: &Console) -> Result<(), Failure> {
    let refuse = |what, needed: &str| {
        Err(Failure::Unsuitable { what, found: "a key of TFHE".to_owned(), needed: needed.to_owned() })
    };
    if job.given.has("release") {
        return refuse("--release", "none: exact integers hold no traces of the key");
    }
    if job.unchecked {
        return refuse("--unchecked", "none: integers that may be wrong are worth nothing");
    }
    if job.signed {
        return refuse("--signed", "none: columns know their types");
    }
    let file = read_key::<SecretKey>(job.key, &takes::DECRYPT_KEY, console)?;
    let table = files::read::<Columns>(&file.parameters, job.input, &takes::DECRYPT_INPUT, console)?;
    let context = Context::new(file.parameters.clone())?;
    let decryptor = Decryptor::new(&context, &file.key)?;
    let layout = table.layout();
    let [rows] = layout.shape[..] else {
        let (found, needed) = (format!("{:?}", layout.shape), "the number of rows: read it in Python");
        return Err(Failure::input(job.input, "the shape of columns", found, needed));
    };
    let columns = table.columns().iter().map(|column| column.decrypt(&decryptor).map_err(Failure::file(job.input)));
    let columns = columns.collect::<Result<Vec<_>, _>>()?;
    let places = (0..rows).flat_map(|row| (0..columns.len()).map(move |column| (row, column)));
    let values: Vec<i128> = places.map(|(row, column)| columns[column][row]).collect();
    let name = |(index, name): (usize, &str)| if name.is_empty() { index.to_string() } else { name.to_owned() };
    let column_names: Vec<String> =
        layout.columns.iter().map(|column| column.name.as_str()).enumerate().map(name).collect();
    format::write(
        &job.output,
        job.access_to_integers(),
        &Decrypted { row_names: None, column_names: &column_names, values: Values::Whole(&values) },
        &job.style,
    )?;
    console.report(&DecryptionReport {
        path: job.output.path().to_owned(),
        rows,
        columns: columns.len(),
        column_names,
        types: layout.columns.iter().map(|column| column.element).collect(),
    })
}

impl fmt::Display for DecryptionReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rows, columns) = (count(self.rows, "row"), count(self.columns, "column"));
        let types: Vec<String> = self.types.iter().map(ToString::to_string).collect();
        write!(f, "{rows}, {columns} of {}\nwrote {}", types.join(", "), self.path.display())
    }
}
