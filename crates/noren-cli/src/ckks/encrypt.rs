//! `noren encrypt` with a key of CKKS: a table of real numbers.

use std::fmt;
use std::path::{Path, PathBuf};

use noren::ckks::{Ciphertext, Context, Encoder, Encryptor};
use noren::programs::EncryptedTable;
use noren::programs::TableLayout;
use noren::wire::Kind;
use noren::{PublicKey, SecretKey};
use serde::Serialize;

use crate::bounds;
use crate::console::Console;
use crate::describe::words::{bytes, count};
use crate::failure::Failure;
use crate::files;
use crate::jobs::Encryption;
use crate::progress;
use crate::seeds::random;
use crate::tables::numbers::Numbers;
use crate::takes;

#[derive(Serialize)]
struct EncryptionReport {
    path: PathBuf,
    rows: usize,
    columns: usize,
    ciphertexts: usize,
    slots: usize,
    level: usize,
    bytes: u64,
    /// Bounds of encoded numbers and their error, in units of the column's power of two.
    error_bound: f64,
    /// Each column is divided by two to this power, which everybody can read.
    exponents: Vec<i32>,
    bounds_from_data: bool,
}

/// The largest absolute number of a table.
const LARGEST: f64 = 3e150; // below 2^500, the largest power of two that a column can be divided by

/// Encrypts with a secret or a public key; a key of another kind is refused when it is read.
pub(super) fn run(job: Encryption<'_>, console: &Console) -> Result<(), Failure> {
    job.refuse_types()?;
    if !job.domain.is_empty() {
        let (what, found) = ("--domain", format!("{}", job.kind));
        let needed = "a key with integer parameters: look-ups are for exact integers".to_owned();
        return Err(Failure::Unsuitable { what, found, needed });
    }
    let (context, table) = if job.kind == Kind::CKKS_SECRET_KEY {
        let file = files::read_key::<Context, SecretKey>(job.key, &takes::ENCRYPT_KEY, console)?;
        let encryptor = Encryptor::symmetric(&file.context, &file.key, random()?)?;
        let table = encrypt(&job, &file.context, &encryptor)?;
        (file.context, table)
    } else {
        let file = files::read_key::<Context, PublicKey>(job.key, &takes::ENCRYPT_KEY, console)?;
        let encryptor = Encryptor::public(&file.context, &file.key, random()?)?;
        let table = encrypt(&job, &file.context, &encryptor)?;
        (file.context, table)
    };
    let size = job.output.write(&context, &table)?;
    let layout = table.columns()?;
    console.report(&EncryptionReport {
        path: job.output.path().to_owned(),
        rows: layout.rows(),
        columns: layout.columns(),
        ciphertexts: layout.ciphertexts(),
        slots: layout.slots(),
        level: context.parameters().max_level(),
        bytes: size,
        error_bound: table.ciphertexts().iter().map(Ciphertext::error_bound).fold(0.0, f64::max),
        exponents: layout.exponents().to_vec(),
        bounds_from_data: job.bounds.is_none(),
    })
}

fn encrypt(
    job: &Encryption<'_>,
    context: &Context,
    encryptor: &Encryptor<'_>,
) -> Result<EncryptedTable<Ciphertext>, Failure> {
    let (parameters, numbers) = (context.parameters(), &job.numbers);
    let layout = TableLayout::new(numbers.rows, numbers.columns, parameters.max_slots())?
        .with_column_names(numbers.names.clone())?;
    let layout = scaled(job.input, job.bounds, layout, numbers)?;
    let _shown = progress::spinner(format!("encrypting {} ciphertexts", layout.ciphertexts()));
    let (encoder, level) = (Encoder::new(context), parameters.max_level());
    EncryptedTable::encrypt(&encoder, encryptor, layout, &numbers.entries, level).map_err(Failure::file(job.input))
}

/// The layout with the scaling that the bounds ask for, or the numbers themselves.
fn scaled(input: &Path, bounds: Option<&Path>, layout: TableLayout, numbers: &Numbers) -> Result<TableLayout, Failure> {
    if let Some(index) = numbers.entries.iter().position(|x| x.abs() > LARGEST) {
        let needed = format!("at most {LARGEST:e} in absolute value");
        return Err(Failure::input(input, numbers.place(index), format!("{:e}", numbers.entries[index]), needed));
    }
    match bounds {
        Some(path) => bounds::scale(layout, path, input, numbers),
        None => layout.with_exponents_of(&numbers.entries).map_err(Failure::file(input)),
    }
}

impl fmt::Display for EncryptionReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rows, columns) = (count(self.rows, "row"), count(self.columns, "column"));
        let ciphertexts = count(self.ciphertexts, "ciphertext");
        write!(f, "{rows}, {columns} in {ciphertexts} of {} slots at level {}", self.slots, self.level)?;
        if self.bounds_from_data {
            write!(f, "\nscaled by the largest number of each column, whose power of two is readable: see --bounds")?;
        }
        write!(f, "\nwrote {}, {}", self.path.display(), bytes(self.bytes as f64))
    }
}
