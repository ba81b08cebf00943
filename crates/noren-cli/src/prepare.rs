//! `noren prepare`: what the server makes once and uses in many computations, functions and matrices.

use std::path::PathBuf;

use clap::Args;

use crate::console::Console;
use crate::failure::Failure;
use crate::given::Given;
use crate::jobs::Preparation;
use crate::outputs::{Force, Output};
use crate::scheme::PREPARE;
use crate::schemes::{self, Added};

/// Prepares a function of two encrypted integers for `eval lookup`, or a matrix for `eval matrix`
#[derive(Debug, Args)]
#[command(
    after_help = "The file of a function serves all keys of its parameters that noren keygen --lookup makes for such a domain, that \
        of a matrix all of its parameters. It is read where it lies: several processes share it.\n\n\
        Examples:\n  \
        noren prepare --function div --domain 32768 --undefined 0 -o div.prepared\n  \
        noren prepare --table dose.csv --params keys/public.key -o dose.prepared\n  \
        noren prepare --matrix weights.npy --params keys/public.key -o weights.prepared"
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    given: Given,
    #[command(flatten)]
    _added: Added<PREPARE>,
    /// The parameters, or a key that carries them [default: those of numbers modulo 65537 at 128-bit security]
    #[arg(long, value_name = "FILE")]
    params: Option<PathBuf>,
    /// The file for what is prepared
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    force: Force,
}

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<(), Failure> {
    let Arguments { given, params, output, force, .. } = arguments;
    let job = Preparation { params: params.as_deref(), output: Output::new(output, force)?, given };
    schemes::asked(|scheme| scheme.preparations, given)(&job, console)
}
