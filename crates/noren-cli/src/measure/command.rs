//! The verb `measure`: one suite of a comparison.

use clap::{Args, Subcommand};

use crate::console::Console;
use crate::failure::Failure;
use crate::measure::run::{After, Run};
use crate::measure::suites::{chain, client, reduction, tfhe, weak_client};

/// The name of the verb.
pub(crate) const VERB: &str = "measure";

/// Measures one suite of a comparison
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  noren measure chain --scheme bfv --depth 10\n  \
        noren measure tfhe --workload BOOL --threads 1,2 --json")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    suite: Suite,
    #[command(flatten)]
    budget: Budget,
}

/// The time of measurements.
#[derive(Debug, Clone, Copy, Args)]
pub struct Budget {
    /// The time spent on each operation
    #[arg(long, global = true, value_name = "SECONDS", default_value_t = 1.0, value_parser = parse_seconds)]
    pub seconds: f64,
}

/// The suites of a comparison, each with its options.
#[derive(Debug, Subcommand)]
pub enum Suite {
    /// Operations of the owner of the data: keys, encoding, encryption
    Client(client::Options),
    /// Products that follow one another in BFV, BGV and CKKS, for each depth
    Chain(chain::Options),
    /// The product of n numbers, in CKKS and in TFHE, one after the other and as a tree
    Product(reduction::Options),
    /// The inner product of two vectors of n numbers, in CKKS and in TFHE
    InnerProduct(reduction::Options),
    /// Keys, gates and bootstraps of TFHE, one by one and in batches, and integers
    Tfhe(tfhe::Options),
    /// Keys, encryption and decryption of a client with little memory, and the keys that a stronger device generates
    WeakClient(weak_client::Options),
}

impl Suite {
    /// Measures the suite.
    pub fn run(&self, run: &Run<'_>, after: &mut After<'_>) -> Result<(), Failure> {
        use reduction::Reduction;
        match self {
            Self::Client(options) => options.run(run, after),
            Self::Chain(options) => options.run(run, after),
            Self::Product(options) => options.run(Reduction::Product, run, after),
            Self::InnerProduct(options) => options.run(Reduction::InnerProduct, run, after),
            Self::Tfhe(options) => options.run(run, after),
            Self::WeakClient(options) => options.run(run),
        }
    }
}

pub(crate) fn run(arguments: &Arguments, threads: &[usize], console: &Console) -> Result<(), Failure> {
    let run = Run::new(console, VERB, arguments.budget.seconds, threads);
    arguments.suite.run(&run, &mut |_| Ok(()))?;
    run.finish()
}

fn parse_seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if (0.0..=3600.0).contains(&seconds) => Ok(seconds),
        _ => Err("a number of seconds from 0 to 3600 is needed".to_owned()),
    }
}
