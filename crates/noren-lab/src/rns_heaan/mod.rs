//! The suite `rns-heaan`: operations of ciphertexts and bootstrapping as it was first done in RNS, at the published set.

mod bootstrap;
mod operations;
mod sets;

use clap::Args;
use noren::Parallel;
use noren_cli::measure::{After, Failure, Run};

use crate::rns_heaan::bootstrap::measure;
use crate::rns_heaan::sets::sets;
use crate::sharing::{self, Sharing};

/// The options of the suite.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Base-two logarithms of the degrees of rings: 16, or 10, a small set for tests [default: 16]
    #[arg(long, value_name = "BITS,...", value_delimiter = ',')]
    log_n: Vec<u32>,
    /// In which ways threads share out loops [default: both, not named in records]
    #[arg(long, value_name = "WAY,...", value_delimiter = ',', value_parser = sharing::parser())]
    parallel: Vec<Parallel>,
}

impl Options {
    /// Measures the suite, and says after each step which it was.
    pub(crate) fn run(&self, run: &Run<'_>, after: &mut After<'_>) -> Result<(), Failure> {
        for spec in sets(&self.log_n)? {
            let log_n = spec.log_n.to_string();
            measure(run, spec, &Sharing::of(&self.parallel))?;
            after(&[("--suite", "rns-heaan"), ("--log-n", &log_n)])?;
        }
        Ok(())
    }
}
