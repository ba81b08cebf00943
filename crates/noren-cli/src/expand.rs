//! `noren expand`: keys as they lie in memory, in a file that is mapped.

use std::path::PathBuf;

use clap::Args;

use crate::console::Console;
use crate::failure::Failure;
use crate::jobs::Expansion;
use crate::outputs::Force;
use crate::schemes;
use crate::takes;

/// Expands evaluation, lookup, bootstrapping or TFHE server keys into a file that programs use where it lies
#[derive(Debug, Args)]
#[command(
    after_help = "The file is two to three times as large. Programs map it: they start at once, and several share one copy. \
        It is for this machine; what travels is the file that it is made from.\n\n\
        Examples:\n  \
        noren expand keys/eval.keys -o keys/eval.mapped\n  \
        noren expand keys/bootstrap.keys -o keys/bootstrap.mapped\n  \
        noren expand keys/server.keys -o keys/server.mapped"
)]
pub(crate) struct Arguments {
    /// eval.keys, lookup.keys, bootstrap.keys, or server.keys of TFHE
    input: PathBuf,
    /// The file for the expanded keys
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    force: Force,
}

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<(), Failure> {
    let Arguments { input, output, force } = arguments;
    let kind = console.inputs().kind(input, &takes::EXPAND_INPUT)?;
    let run = schemes::row(|scheme| scheme.expansions, kind);
    run(Expansion { input, output, force }, console)
}
