//! `noren encrypt`: a table in clear to a table of ciphertexts.

use std::fmt;
use std::path::{Path, PathBuf};

use clap::Args;
use noren::ckks::{Ciphertext, Context, Encoder, Encryptor};
use noren::programs::columns::Element;
use noren::programs::layout::TableLayout;
use noren::programs::table::EncryptedTable;
use noren::wire::Kind;
use noren::{PublicKey, SecretKey, Seed};
use serde::Serialize;

use crate::bounds;
use crate::console::Console;
use crate::describe::words::{bytes, count};
use crate::failure::Failure;
use crate::files::{self, Force, Output};
use crate::progress;
use crate::tables::numbers::Numbers;
use crate::{integers, tfhe};

/// Encrypts a table of numbers, or of whole numbers with a key of exact integers or of TFHE
#[derive(Debug, Args)]
#[command(
    after_help = "The names and the number of rows and columns stay readable, and so does the power of two that each \
        column is divided by. It comes from the bounds of columns, or, without --bounds, from their largest numbers.\n\
        With a key of exact integers (BFV, BGV) numbers are whole, and stay exact. Those that are to be looked up take \
        --domain, and more room. With a secret key of TFHE each number is encrypted by itself, as an integer of --type.\n\n\
        Examples:\n  \
        noren encrypt --key keys/public.key patients.csv -o patients.ct\n  \
        noren encrypt --key keys/secret.key measurements.npy --bounds bounds.json -o measurements.ct\n  \
        noren encrypt --key keys/public.key pairs.csv --domain 32768 -o pairs.ct\n  \
        noren encrypt --key keys/secret.key --type uint16 readings.csv -o readings.ct"
)]
pub(crate) struct Arguments {
    /// public.key; or secret.key, which makes files of half the size
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    /// The table: .csv with names of columns in the first line, or .npy
    input: PathBuf,
    /// The file for the ciphertexts
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// The CSV file has no names of columns
    #[arg(long)]
    no_header: bool,
    /// The largest absolute values of columns, as JSON: a number, a list, or names with numbers
    #[arg(long, value_name = "FILE")]
    bounds: Option<PathBuf>,
    /// Whole numbers to be looked up, from 0 to below SIZE: one for all columns, or one for each
    #[arg(long, value_name = "SIZE,...", value_delimiter = ',', conflicts_with = "bounds")]
    domain: Vec<usize>,
    /// The type of numbers with a key of TFHE: bool, or uint or int with 8, 16, 32 or 64 behind; one for all columns, or one for each
    #[arg(long = "type", value_name = "TYPE,...", value_delimiter = ',', conflicts_with_all = ["bounds", "domain"])]
    types: Vec<Element>,
    #[command(flatten)]
    force: Force,
}

#[derive(Serialize)]
struct Report {
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

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<(), Failure> {
    let output = Output::new(&arguments.output, &arguments.force)?;
    let numbers = Numbers::read(&arguments.input, !arguments.no_header)?;
    let kind = files::key_kind(&arguments.key, console)?;
    if kind == Kind::TfheSecretKey {
        let Arguments { key, input, types, bounds, domain, .. } = arguments;
        if bounds.is_some() || !domain.is_empty() {
            let (what, found) = ("--bounds and --domain", format!("{kind}"));
            let needed = "none: --type says what numbers are".to_owned();
            return Err(Failure::Unsuitable { what, found, needed });
        }
        return tfhe::encrypt::run(tfhe::encrypt::Job { key, input, numbers, types, output }, console);
    }
    if !arguments.types.is_empty() {
        let (what, found, needed) = ("--type", format!("{kind}"), format!("a {}", Kind::TfheSecretKey));
        return Err(Failure::Unsuitable { what, found, needed });
    }
    if matches!(kind, Kind::IntegerSecretKey | Kind::IntegerPublicKey) {
        let Arguments { key, input, bounds, domain, .. } = arguments;
        if bounds.is_some() {
            return Err(Failure::of_integers("--bounds", "none: --domain says how large whole numbers can be"));
        }
        return integers::encrypt::run(integers::encrypt::Job { key, input, numbers, domain, output }, console);
    }
    if !arguments.domain.is_empty() {
        let (what, found) = ("--domain", format!("{kind}"));
        let needed = "a key with integer parameters: look-ups are for exact integers".to_owned();
        return Err(Failure::Unsuitable { what, found, needed });
    }
    let (context, table) = if kind == Kind::CkksSecretKey {
        let file = files::read_key::<Context, SecretKey>(&arguments.key, console)?;
        let encryptor = Encryptor::symmetric(&file.context, &file.key, random()?)?;
        let table = encrypt(arguments, &file.context, &encryptor, &numbers)?;
        (file.context, table)
    } else {
        let file = files::read_key::<Context, PublicKey>(&arguments.key, console)?;
        let encryptor = Encryptor::public(&file.context, &file.key, random()?)?;
        let table = encrypt(arguments, &file.context, &encryptor, &numbers)?;
        (file.context, table)
    };
    let size = output.write(&context, &table)?;
    let layout = table.columns()?;
    console.report(&Report {
        path: output.path().to_owned(),
        rows: layout.rows(),
        columns: layout.columns(),
        ciphertexts: layout.ciphertexts(),
        slots: layout.slots(),
        level: context.parameters().max_level(),
        bytes: size,
        error_bound: table.ciphertexts().iter().map(Ciphertext::error_bound).fold(0.0, f64::max),
        exponents: layout.exponents().to_vec(),
        bounds_from_data: arguments.bounds.is_none(),
    })
}

fn encrypt(
    arguments: &Arguments,
    context: &Context,
    encryptor: &Encryptor<'_>,
    numbers: &Numbers,
) -> Result<EncryptedTable<Ciphertext>, Failure> {
    let parameters = context.parameters();
    let layout = TableLayout::new(numbers.rows, numbers.columns, parameters.max_slots())?
        .with_column_names(numbers.names.clone())?;
    let layout = scaled(&arguments.input, arguments.bounds.as_deref(), layout, numbers)?;
    let _shown = progress::spinner(format!("encrypting {} ciphertexts", layout.ciphertexts()));
    let (encoder, level) = (Encoder::new(context), parameters.max_level());
    EncryptedTable::encrypt(&encoder, encryptor, layout, &numbers.entries, level)
        .map_err(Failure::file(&arguments.input))
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

/// A seed that nobody knows.
pub(crate) fn random() -> Result<Seed, Failure> {
    Ok(Seed::random().map_err(noren::Error::from)?)
}

impl fmt::Display for Report {
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
