//! `noren encrypt`: a table in clear to a table of ciphertexts.

use std::path::PathBuf;

use clap::Args;
use noren::programs::columns::Element;

use crate::console::Console;
use crate::failure::Failure;
use crate::files;
use crate::jobs::Encryption;
use crate::outputs::{Content, Force, Output};
use crate::schemes;
use crate::tables::options::TableOptions;
use crate::takes;

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
        noren encrypt --key keys/public.key export.csv --decimal-comma --columns age,bmi --missing drop -o export.ct\n  \
        noren encrypt --key keys/public.key - --format csv -o - < patients.csv > patients.ct\n  \
        noren encrypt --key keys/public.key pairs.csv --domain 32768 -o pairs.ct\n  \
        noren encrypt --key keys/public.key doses.csv --domain 100 --beside 32768 -o doses.ct\n  \
        noren encrypt --key keys/secret.key --type uint16 readings.csv -o readings.ct"
)]
pub(crate) struct Arguments {
    /// public.key; or secret.key, which makes files of half the size
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    /// The table: .csv or .tsv with names of columns in the first line, .npy, .parquet or .arrow; - for standard input
    input: PathBuf,
    /// The file for the ciphertexts, or - for standard output
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    table: TableOptions,
    /// The largest absolute values of columns, as JSON: a number, a list, or names with numbers
    #[arg(long, value_name = "FILE")]
    bounds: Option<PathBuf>,
    /// Whole numbers to be looked up, from 0 to below SIZE: one for all columns, or one for each
    #[arg(long, value_name = "SIZE,...", value_delimiter = ',', conflicts_with = "bounds")]
    domain: Vec<usize>,
    /// These numbers are looked up together with numbers below SIZE of another table: room for those too
    #[arg(long, value_name = "SIZE", requires = "domain")]
    beside: Option<usize>,
    /// The type of numbers with a key of TFHE: bool, or uint or int with 8, 16, 32 or 64 behind; one for all columns, or one for each
    #[arg(long = "type", value_name = "TYPE,...", value_delimiter = ',', conflicts_with_all = ["bounds", "domain"])]
    types: Vec<Element>,
    #[command(flatten)]
    force: Force,
}

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<(), Failure> {
    let output = Output::or_standard(&arguments.output, &arguments.force, Content::Binary, console)?;
    let numbers = arguments.table.read(&arguments.input, console)?;
    let kind = files::key_kind(&arguments.key, &takes::ENCRYPT_KEY, console)?;
    let run = schemes::row(|scheme| scheme.encryptions, kind);
    let &Arguments { ref key, ref input, ref bounds, ref domain, beside, ref types, .. } = arguments;
    run(Encryption { key, kind, input, numbers, bounds: bounds.as_deref(), domain, beside, types, output }, console)
}
