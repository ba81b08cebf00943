//! `noren plan`: what bootstrapping, lookups or operations of TFHE cost and risk, before any key exists.

use std::path::PathBuf;

use clap::Args;

use crate::console::Console;
use crate::failure::Failure;
use crate::given::Given;
use crate::scheme::PLAN;
use crate::schemes::{self, Added};

/// Shows what bootstrapping, lookups or operations of TFHE cost and risk, before any key exists
#[derive(Debug, Args)]
#[command(
    after_help = "Presets: n16 (the default of the library), n16-132 (4 bits of margin above 128), n16-small (fewer \
        keys), n16-precise, n15, and others for tests and comparison.\n\n\
        Examples:\n  \
        noren plan --bootstrap n16\n  \
        noren plan --bootstrap n16 --slots 1024 --mode real --json\n  \
        noren plan --bootstrap n16 --switching 2_2\n  \
        noren plan --lookup 32768\n  \
        noren plan --tfhe 2_2"
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    given: Given,
    #[command(flatten)]
    _added: Added<PLAN>,
    /// The disk that the keys are for is that of this directory
    #[arg(long, value_name = "DIR", default_value = ".")]
    out: PathBuf,
}

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<(), Failure> {
    let Arguments { given, out, .. } = arguments;
    schemes::asked(|scheme| scheme.plans, given)(given, out, console)
}
