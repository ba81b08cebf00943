//! `noren expand`: keys as they lie in memory, in a file that is mapped.

use std::path::PathBuf;

use clap::Args;
use noren::wire::{ExpandedFileKey, FileContext, Kind};
use noren::{EvaluationKeys, bfv, ckks};

use crate::console::Console;
use crate::describe::Describe;
use crate::failure::Failure;
use crate::files;
use crate::jobs::{Expansion, of_kind};
use crate::outputs::Force;
use crate::takes;
use crate::{bootstrap, lookup, tfhe};

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

/// Expands keys of a scheme.
type Run = fn(Expansion<'_>, &Console) -> Result<(), Failure>;

/// The expansion of each kind of keys.
const SCHEMES: [(Kind, Run); 7] = [
    (Kind::CKKS_EVALUATION_KEYS, evaluation_keys::<ckks::Context>),
    (Kind::INTEGER_EVALUATION_KEYS, evaluation_keys::<bfv::Context>),
    (Kind::LOOKUP_KEYS, lookup_keys),
    (Kind::BOOTSTRAP_KEYS, bootstrap::expand::run),
    (Kind::EXPANDED_BOOTSTRAP_KEYS, bootstrap::expand::run),
    (Kind::TFHE_KEYS, tfhe::expand::run),
    (Kind::TFHE_LIGHT_KEYS, tfhe::expand::run),
];

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<(), Failure> {
    let Arguments { input, output, force } = arguments;
    let kind = console.inputs().kind(input, &takes::EXPAND_INPUT)?;
    let run = of_kind(&SCHEMES, kind).unwrap_or_else(|| panic!("keys that the argument takes are expanded"));
    run(Expansion { input, output, force }, console)
}

fn evaluation_keys<C: FileContext<Parameters: Describe>>(job: Expansion<'_>, console: &Console) -> Result<(), Failure>
where
    EvaluationKeys: ExpandedFileKey<C>,
{
    let open = || files::open_evaluation_keys::<C>(job.input, &takes::EXPAND_INPUT, console);
    job.run(console, open, |keys, to| Ok(keys.write_expanded(to)?))
}

fn lookup_keys(job: Expansion<'_>, console: &Console) -> Result<(), Failure> {
    let open = || lookup::eval::open(job.input, &takes::EXPAND_INPUT, console);
    job.run(console, open, |keys, to| Ok(keys.write_expanded(to)?))
}
