//! `noren expand`: keys as they lie in memory, in a file that is mapped.

use std::path::PathBuf;

use clap::Args;
use noren::wire::Kind;

use crate::console::Console;
use crate::failure::Failure;
use crate::files;
use crate::jobs::{Expansion, of_kind};
use crate::outputs::Force;
use crate::{bootstrap, tfhe};

/// Expands keys of bootstrapping, or server keys of TFHE, into a file that programs use where it lies
#[derive(Debug, Args)]
#[command(
    after_help = "The file is about three times as large. Programs map it: they start at once, and several share one copy. \
        It is for this machine; what travels is the file that it is made from.\n\n\
        Examples:\n  \
        noren expand keys/bootstrap.keys -o keys/bootstrap.mapped\n  \
        noren expand keys/server.keys -o keys/server.mapped"
)]
pub(crate) struct Arguments {
    /// bootstrap.keys, or server.keys of TFHE
    input: PathBuf,
    /// The file for the expanded keys
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    force: Force,
}

/// Expands keys of a scheme.
type Run = fn(Expansion<'_>, &Console) -> Result<(), Failure>;

/// The expansion of each kind of keys.
const SCHEMES: [(Kind, Run); 4] = [
    (Kind::BOOTSTRAP_KEYS, bootstrap::expand::run),
    (Kind::EXPANDED_BOOTSTRAP_KEYS, bootstrap::expand::run),
    (Kind::TFHE_KEYS, tfhe::expand::run),
    (Kind::TFHE_LIGHT_KEYS, tfhe::expand::run),
];

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<(), Failure> {
    let Arguments { input, output, force } = arguments;
    let kind = files::kind(input)?;
    let Some(run) = of_kind(&SCHEMES, kind) else {
        let (found, needed) = (kind.to_string(), format!("{}, or {}", Kind::BOOTSTRAP_KEYS, Kind::TFHE_KEYS));
        return Err(Failure::file(input)(noren::Error::WrongKind { found, needed }));
    };
    run(Expansion { input, output, force }, console)
}
