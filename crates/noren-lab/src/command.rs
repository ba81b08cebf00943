//! Arguments, threads and exit codes.

use std::ffi::OsString;

use clap::{Parser, Subcommand, value_parser};
use noren_cli::measure::{Console, Failure, THREADS, program, set_quiet};

use crate::bench;

/// Measures noren: what reproduces publications, and what serves those who work on it.
#[derive(Debug, Parser)]
#[command(
    name = "noren-lab",
    version,
    arg_required_else_help = true,
    after_help = "Exit codes: 0 done, 1 refused, 2 wrong usage."
)]
struct Cli {
    /// The numbers of threads, such as 1,2 [default: 1; parallel: up to four for each core]
    #[arg(long, global = true, value_name = "N,...", value_delimiter = ',', value_parser = value_parser!(u16).range(THREADS))]
    threads: Vec<u16>,
    /// Print JSON instead of text, errors too
    #[arg(long, global = true)]
    json: bool,
    /// Show no progress
    #[arg(long, global = true)]
    quiet: bool,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Bench(bench::Arguments),
}

/// Runs the program with these arguments, and gives its exit code.
pub(crate) fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    program(arguments, Cli::try_parse_from, execute)
}

fn execute(cli: Cli) -> Result<(), Failure> {
    // A wrong NOREN_ISA is found here, where it is a message and not a panic.
    noren_math::kernels::select().map_err(noren::Error::from)?;
    set_quiet(cli.quiet);
    let console = Console::without_inputs(cli.json)?;
    let threads: Vec<usize> = cli.threads.iter().copied().map(usize::from).collect();
    match cli.verb {
        Verb::Bench(arguments) => bench::run(&arguments, &threads, &console),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn arguments_are_consistent() {
        Cli::command().debug_assert();
    }
}
