//! `noren decrypt`: an encrypted table to a table in clear.

use std::path::PathBuf;

use clap::Args;

use crate::console::Console;
use crate::failure::Failure;
use crate::files;
use crate::given::Given;
use crate::jobs::Decryption;
use crate::outputs::{Force, Output};
use crate::scheme::DECRYPT;
use crate::schemes::{self, Added};
use crate::tables::dialect::{Format, Style};
use crate::tables::numbers::Digits;
use crate::takes;

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
    #[command(flatten)]
    given: Given,
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
    #[command(flatten)]
    _added: Added<DECRYPT>,
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
    let run = schemes::row(|scheme| scheme.decryptions, kind);
    let &Arguments { ref key, ref input, signed, unchecked, public, ref given, .. } = arguments;
    run(Decryption { key, input, output, style, signed, unchecked, public, given }, console)
}
