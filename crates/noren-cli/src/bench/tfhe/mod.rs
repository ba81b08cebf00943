//! The suite `tfhe`: keys, gates and bootstraps, one by one and in batches, and integers.

mod integers;
mod samples;
mod workload;

use noren::Error;
use noren::tfhe::Context;

use crate::bench::measure::{self, Timing};
use crate::bench::record::Record;
use crate::bench::suite::Run;
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

/// One workload with one number of threads.
struct Step<'a> {
    run: &'a Run<'a>,
    workload: &'a Workload,
    context: Context,
    threads: usize,
}

impl Step<'_> {
    /// Times a call that does `batch` operations, if its result is right, and reports the time of one.
    fn report(
        &self,
        op: &'static str,
        batch: usize,
        right: bool,
        call: impl FnMut() -> Result<(), Error>,
    ) -> Result<(), Failure> {
        self.report_with(op, batch, right, call, |record| record)
    }

    /// The same with further fields.
    fn report_with(
        &self,
        op: &'static str,
        batch: usize,
        right: bool,
        call: impl FnMut() -> Result<(), Error>,
        more: impl FnOnce(Record) -> Record,
    ) -> Result<(), Failure> {
        let timing = right.then(|| measure::time(self.run.seconds, batch as f64, call)).transpose()?;
        self.run.report(&more(self.record(op, batch, timing)))
    }

    fn record(&self, op: &'static str, batch: usize, timing: Option<Timing>) -> Record {
        let parameters = self.context.parameters();
        let record = Record::of_torus(op, &parameters.spec().torus, self.threads, timing);
        let record = record.with("workload", self.workload.to_string()).with("batch", batch);
        record.with("log2_failure", parameters.failure().log2)
    }
}
