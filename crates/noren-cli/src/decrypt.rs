//! `noren decrypt`: an encrypted table to a table in clear.

use std::path::PathBuf;

use clap::Args;
use noren::ckks::Releases;
use noren::wire::Kind;

use crate::console::Console;
use crate::failure::Failure;
use crate::files;
use crate::jobs::{Decryption, of_kind};
use crate::outputs::{Force, Output};
use crate::tables::dialect::{Format, Style};
use crate::tables::numbers::Digits;
use crate::takes;
use crate::{ckks, integers, tfhe};

/// Decrypts a table
#[derive(Debug, Args)]
#[command(
    after_help = "Decrypted numbers are for the owner of the key: their last digits hold traces of it. To hand numbers \
        on, round them with --release, which adds noise that hides the traces. Files of numbers that are not released are \
        readable by their owner alone (mode 0600); --public is for exact integers, which hold no traces.\n\n\
        Examples:\n  \
        noren decrypt --key keys/secret.key mean.ct\n  \
        noren decrypt --key keys/secret.key mean.ct -o mean.csv\n  \
        noren decrypt --key keys/secret.key mean.ct -o - --format csv --digits full | sort\n  \
        noren decrypt --key keys/secret.key risk.ct -o risk.npy --release 10"
)]
pub(crate) struct Arguments {
    /// secret.key
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    /// The encrypted table, or - for standard input
    input: PathBuf,
    /// The file for the numbers: .csv, .tsv, .npy, .parquet or .arrow; - for standard output [default: a terminal shows
    /// the first rows and columns]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The format of the numbers [default: the end of the name; needed for standard output]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Write no line with the names of columns
    #[arg(long)]
    no_header: bool,
    /// Significant digits of numbers with a precision, 1 to 17, or full for all of them [default: those that the error
    /// bound supports; of released numbers all]
    #[arg(long, value_name = "N|full")]
    digits: Option<Digits>,
    /// Round encoded numbers to multiples of 2^-BITS with noise, so that they may be handed on
    #[arg(long, value_name = "BITS", allow_negative_numbers = true)]
    release: Option<i32>,
    /// How many tables of this key are released in all, this one among them
    #[arg(long, value_name = "COUNT", default_value_t = 1, requires = "release")]
    releases: u64,
    /// Bits of statistical security of all these releases together, at most 80
    #[arg(long, value_name = "BITS", default_value_t = Releases::DEFAULT_SECURITY, requires = "release")]
    statistical_security: u32,
    /// Exact integers from -t/2 to t/2 instead of 0 to t - 1
    #[arg(long)]
    signed: bool,
    /// Write numbers that may be wrong, too
    #[arg(long)]
    unchecked: bool,
    /// Let others read the file of exact integers, as the umask has it: without this it is for its owner alone
    #[arg(long)]
    public: bool,
    #[command(flatten)]
    force: Force,
}

/// Decrypts with the key of a scheme.
type Run = fn(Decryption<'_>, &Console) -> Result<(), Failure>;

/// The decryption of each kind of key.
const SCHEMES: [(Kind, Run); 3] = [
    (Kind::CKKS_SECRET_KEY, ckks::decrypt::run),
    (Kind::INTEGER_SECRET_KEY, integers::decrypt::run),
    (Kind::TFHE_SECRET_KEY, tfhe::decrypt::run),
];

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<(), Failure> {
    let &Arguments { ref output, format, no_header, digits, ref force, .. } = arguments;
    let (style, output) = match output {
        Some(output) => {
            let style = Style::new(output, format, !no_header, digits)?;
            (style, Output::or_standard(output, force, style.content(), console)?)
        }
        None => {
            let style = Style::of_terminal(format, !no_header, digits)?;
            (style, Output::terminal(console)?)
        }
    };
    let kind = files::key_kind(&arguments.key, &takes::DECRYPT_KEY, console)?;
    let run = of_kind(&SCHEMES, kind).unwrap_or_else(|| panic!("keys that the argument takes decrypt"));
    let &Arguments { ref key, ref input, release, releases, statistical_security, signed, unchecked, public, .. } =
        arguments;
    let job =
        Decryption { key, input, output, style, release, releases, statistical_security, signed, unchecked, public };
    run(job, console)
}
