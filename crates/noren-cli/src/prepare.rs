//! `noren prepare`: what the server makes once and uses in many computations, functions and matrices.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::console::Console;
use crate::failure::Failure;
use crate::integers::prepare as matrix;
use crate::lookup::function::Given;
use crate::lookup::prepare as lookup;
use crate::outputs::{Force, Output};

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
    /// A matrix of whole numbers, .csv without names of columns or .npy
    #[arg(long, value_name = "FILE", conflicts_with_all = ["function", "table"], requires = "params")]
    matrix: Option<PathBuf>,
    /// The parameters, or a key that carries them [default: those of numbers modulo 65537 at 128-bit security]
    #[arg(long, value_name = "FILE")]
    params: Option<PathBuf>,
    /// The file for what is prepared
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Say what the preparation of a function takes, and stop
    #[arg(long, conflicts_with = "matrix")]
    dry_run: bool,
    #[command(flatten)]
    force: Force,
}

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<(), Failure> {
    let Arguments { given, matrix, params, output, dry_run, force } = arguments;
    let (output, params) = (Output::new(output, force)?, params.as_deref());
    match matrix {
        Some(matrix) => {
            // It is there wherever a matrix is.
            let params = params.unwrap_or(Path::new(""));
            matrix::run(&matrix::Preparation { matrix, params, output }, console)
        }
        None => lookup::run(&lookup::Preparation { given, params, output, dry_run: *dry_run }, console),
    }
}
