//! `noren encrypt` with a secret key of TFHE: a table of whole numbers, each encrypted by itself.

use std::fmt;
use std::path::PathBuf;

use noren::programs::columns::{Column, Columns, Element};
use noren::tfhe::{Context, Encoding, Encryptor, Parameters, SecretKey};
use serde::Serialize;

use crate::console::Console;
use crate::describe::words::{bytes, count};
use crate::failure::Failure;
use crate::jobs::Encryption;
use crate::progress;
use crate::seeds::random;
use crate::tables::numbers::Numbers;
use crate::takes;
use crate::tfhe::files::read_key;

#[derive(Serialize)]
struct EncryptionReport {
    path: PathBuf,
    rows: usize,
    columns: usize,
    /// The type of each column.
    types: Vec<Element>,
    ciphertexts: usize,
    bytes: u64,
}

pub(super) fn run(job: Encryption<'_>, console: &Console) -> Result<(), Failure> {
    if job.bounds.is_some() || !job.domain.is_empty() {
        let (what, found) = ("--bounds and --domain", format!("{}", job.kind));
        let needed = "none: --type says what numbers are".to_owned();
        return Err(Failure::Unsuitable { what, found, needed });
    }
    let file = read_key::<SecretKey>(job.key, &takes::ENCRYPT_KEY, console)?;
    let parameters = &file.parameters;
    let types = types(&job, parameters)?;
    let context = Context::new(parameters.clone())?;
    let encryptor = Encryptor::new(&context, &file.key, random()?)?;
    let Numbers { rows, columns, .. } = job.numbers;
    let shown = progress::spinner(format!("encrypting {}", count(rows * columns, "number")));
    let mut encrypted = Vec::with_capacity(columns);
    for (index, &element) in types.iter().enumerate() {
        let values = column(&job, parameters, index, element)?;
        let column = Column::encrypt(&encryptor, element, &values).map_err(Failure::file(job.input))?;
        encrypted.push((job.numbers.names.get(index).cloned().unwrap_or_else(|| index.to_string()), column));
    }
    let table = Columns::new(vec![rows], encrypted)?;
    drop(shown);
    let size = job.output.write(parameters, &table)?;
    let digits = types.iter().map(|element| element.digits(parameters)).sum::<noren::Result<usize>>()?;
    console.report(&EncryptionReport {
        path: job.output.path().to_owned(),
        rows,
        columns,
        types,
        ciphertexts: rows * digits,
        bytes: size,
    })
}

/// The type of each column.
fn types(job: &Encryption<'_>, parameters: &Parameters) -> Result<Vec<Element>, Failure> {
    let refuse =
        |found: String, needed: &str| Err(Failure::Unsuitable { what: "--type", found, needed: needed.to_owned() });
    let columns = job.numbers.columns;
    let types = match (job.types, parameters.encoding()) {
        ([], Encoding::Bits) => vec![Element::Bool; columns],
        ([], _) => return refuse("none".to_owned(), "the type of all columns, or one for each, such as uint16"),
        ([one], _) => vec![*one; columns],
        (types, _) if types.len() == columns => types.to_vec(),
        (types, _) => {
            let needed = format!("one, or one for each of {}", count(columns, "column"));
            return refuse(count(types.len(), "type"), &needed);
        }
    };
    types.iter().try_for_each(|element| element.digits(parameters).map(|_| ()).map_err(Failure::file(job.key)))?;
    Ok(types)
}

/// The numbers of a column, which must be whole and of its type.
fn column(
    job: &Encryption<'_>,
    parameters: &Parameters,
    column: usize,
    element: Element,
) -> Result<Vec<i128>, Failure> {
    let range = element.range(parameters);
    let why = format!("as {element} holds");
    let places = (column..job.numbers.entries.len()).step_by(job.numbers.columns);
    places.map(|index| job.numbers.whole_in(index, job.input, range.clone(), &why)).collect()
}

impl fmt::Display for EncryptionReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rows, columns) = (count(self.rows, "row"), count(self.columns, "column"));
        let types: Vec<String> = self.types.iter().map(ToString::to_string).collect();
        writeln!(f, "{rows}, {columns} of {} in {}", types.join(", "), count(self.ciphertexts, "ciphertext"))?;
        write!(f, "wrote {}, {}", self.path.display(), bytes(self.bytes as f64))
    }
}
