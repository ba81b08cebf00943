//! `noren plan`: what bootstrapping, lookups or operations of TFHE cost and risk, before any key exists.

use std::path::PathBuf;

use clap::Args;
use noren::bootstrapping::{Mode, Preset};
use noren::tfhe;

use crate::bootstrap::plan::{self as bootstrap, parse_mode, parse_preset};
use crate::console::Console;
use crate::failure::Failure;
use crate::lookup::plan::{self as lookup, parse_domain};
use crate::switching::plan as switching;
use crate::tfhe::plan::{self, parse_set};

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
    /// Bootstrapping with these parameters
    #[arg(long, value_name = "PRESET", value_parser = parse_preset, required_unless_present_any = ["lookup", "tfhe"])]
    bootstrap: Option<Preset>,
    /// Functions of x and y below these numbers, or both below one
    #[arg(long, value_name = "X[,Y]", value_parser = parse_domain, conflicts_with = "bootstrap")]
    lookup: Option<[usize; 2]>,
    /// Integers and truth values that are encrypted one by one, with this set of docs/tfhe.md
    #[arg(long, value_name = "SET", value_parser = parse_set,
        conflicts_with_all = ["bootstrap", "lookup", "params", "slots", "mode"])]
    tfhe: Option<&'static tfhe::Preset>,
    /// The parameters of lookups, or a key that carries them [default: those of numbers modulo 65537 at 128-bit security]
    #[arg(long, value_name = "FILE", conflicts_with = "bootstrap")]
    params: Option<PathBuf>,
    /// The number of complex slots that are bootstrapped, a power of two [default: all of the ring]
    #[arg(long, value_name = "COUNT", conflicts_with = "lookup")]
    slots: Option<usize>,
    /// What messages are: complex or real numbers, or complex ones with both parts side by side in few slots
    #[arg(long, value_name = "MODE", default_value = "complex", value_parser = parse_mode, conflicts_with = "lookup")]
    mode: Mode,
    /// Also keys for switching to TFHE with this set of docs/tfhe.md
    #[arg(long, value_name = "SET", value_parser = parse_set, requires = "bootstrap")]
    switching: Option<&'static tfhe::Preset>,
    /// The disk that the keys are for is that of this directory
    #[arg(long, value_name = "DIR", default_value = ".")]
    out: PathBuf,
}

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<(), Failure> {
    let &Arguments { bootstrap, lookup, tfhe, ref params, slots, mode, switching, ref out } = arguments;
    if let Some(preset) = tfhe {
        return plan::run(preset, console);
    }
    if let Some(domain) = lookup {
        return lookup::run(&lookup::PlanOptions { domain, parameters: params.as_deref() }, out, console);
    }
    // It is there wherever no lookup is.
    let preset = bootstrap.unwrap_or_default();
    let switching = switching.map(|set| switching::PlanOptions { set, tables: None });
    bootstrap::run(&bootstrap::PlanOptions { preset, slots, mode, switching }, out, console)
}
