//! The suite `tfhe`: keys, gates and bootstraps, one by one and in batches, and integers.

mod integers;
mod samples;
mod step;
mod workload;

use noren::tfhe::Context;

use crate::bench::run::Run;
use crate::bench::tfhe::step::Step;
pub(super) use crate::bench::tfhe::workload::Workload;
use crate::failure::Failure;
use crate::machine;

/// How many ciphertexts are bootstrapped together.
pub(super) const BATCHES: [usize; 4] = [1, 8, 64, 512];

/// Measures a workload with each number of threads.
pub(super) fn run(run: &Run<'_>, workload: &Workload, batches: &[usize]) -> Result<(), Failure> {
    for &threads in run.threads {
        machine::reset_peak_rss();
        let context = Context::with_threads(workload.parameters()?, Some(threads))?;
        let step = Step { run, workload, context, threads };
        match workload {
            Workload::Samples(_) => samples::run(&step, batches)?,
            Workload::Client(_) => samples::client(&step)?,
            Workload::Integers(bits) => integers::run(&step, *bits)?,
            Workload::Table => integers::table(&step)?,
        }
    }
    Ok(())
}
