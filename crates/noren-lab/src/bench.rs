//! The verb `bench`: all suites, those of `noren compare` too.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use noren_cli::measure::{self, After, Budget, Console, Failure, Run};

use crate::beside::Beside;
use crate::{
    advise, bootstrap, ckks, cyclotomic, fused, kernels, lookup, matvec, parallel, rns_heaan, switching, trace,
};

/// The name of the verb.
const VERB: &str = "bench";

/// Measures how fast this machine is
#[derive(Debug, Args)]
#[command(
    after_help = "Every time is the median of at least five samples after a warm-up, with the median of the absolute \
        deviations from it; results are checked before they are timed. NOREN_ISA chooses the instruction set; kernels \
        measures all.\n\n\
        Examples:\n  \
        noren-lab bench ckks --threads 1,2 --log-n 14,15\n  \
        noren-lab bench kernels --json\n  \
        noren-lab bench kernels --beside bench/peers/tfhe-ntt/target/release/bench-tfhe-ntt"
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    suite: Suite,
    #[command(flatten)]
    budget: Budget,
    /// Run this program after each step, with the options of the step, and show its records too (repeatable)
    #[arg(long, global = true, value_name = "PROGRAM")]
    beside: Vec<PathBuf>,
}

/// The suites, each with its options.
#[derive(Debug, Subcommand)]
enum Suite {
    /// Arithmetic and transforms of rows, for each instruction set, and what memory gives
    Kernels(kernels::Options),
    /// A product and a sum in one pass and in two, over rows of many moduli, through all caches
    Fused(fused::Options),
    /// Operations on ciphertexts
    Ckks(ckks::Options),
    /// Sums over 128 slots by repeated doubling and unrolled in all ways, and field traces
    Trace(trace::Options),
    /// Bootstrapping: set-up, time of one and of its stages, precision
    Bootstrap(bootstrap::Options),
    /// Operations and bootstrapping as it was first done in RNS, without security by today's tables, to compare with
    RnsHeaan(rns_heaan::Options),
    /// A matrix of 512 x 512 times an encrypted vector of integers, in BGV
    Matvec,
    /// A matrix of all slots times an encrypted vector, in BGV over rings whose index is no power of two
    Cyclotomic(cyclotomic::Options),
    /// A function of two encrypted numbers of 15 bits: three methods, each step, and preparation
    Lookup(lookup::Options),
    /// From CKKS to TFHE and back: both ways, and signs [default: 16 values, and all slots]
    Switching(switching::Options),
    /// Workloads by each scheme, beside the times that `noren advise` predicts
    Advise(advise::Options),
    /// Three ways to share out loops, against threads and levels, and a model of more
    Parallel(parallel::Options),
    #[command(flatten)]
    Compared(measure::Suite),
}

impl Suite {
    fn run(&self, run: &Run<'_>, after: &mut After<'_>) -> Result<(), Failure> {
        match self {
            Self::Kernels(options) => options.run(run, after),
            Self::Fused(options) => options.run(run),
            Self::Ckks(options) => options.run(run, after),
            Self::Trace(options) => options.run(run, after),
            Self::Bootstrap(options) => options.run(run, after),
            Self::RnsHeaan(options) => options.run(run, after),
            Self::Matvec => matvec::run(run, after),
            Self::Cyclotomic(options) => options.run(run, after),
            Self::Lookup(options) => options.run(run, after),
            Self::Switching(options) => options.run(run, after),
            Self::Advise(options) => options.run(run),
            Self::Parallel(options) => options.run(run),
            Self::Compared(suite) => suite.run(run, after),
        }
    }

    /// Whether no other program has it: none shares out loops in these ways, or has light keys beside CKKS.
    fn is_ours_alone(&self) -> bool {
        use measure::Suite::WeakClient;
        matches!(self, Self::Fused(_) | Self::Advise(_) | Self::Parallel(_) | Self::Compared(WeakClient(_)))
    }
}

pub(crate) fn run(arguments: &Arguments, threads: &[usize], console: &Console) -> Result<(), Failure> {
    if !arguments.beside.is_empty() && arguments.suite.is_ours_alone() {
        let needed = "a suite that other programs have".to_owned();
        return Err(Failure::Unsuitable { what: "--beside", found: "a suite of noren alone".to_owned(), needed });
    }
    let run = Run::new(console, VERB, arguments.budget.seconds, threads);
    let mut beside = Beside::new(&arguments.beside);
    arguments.suite.run(&run, &mut |options| beside.step(&run, options))?;
    run.finish()
}
