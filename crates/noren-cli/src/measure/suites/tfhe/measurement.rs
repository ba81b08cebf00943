//! The measurement of one workload with one number of threads.

use noren::Error;
use noren::tfhe::Context;

use crate::failure::Failure;
use crate::measure::record::Record;
use crate::measure::run::Run;
use crate::measure::suites::tfhe::workload::Workload;
use crate::measure::timing::{self, Timing};

/// The measurement of one workload with one number of threads.
pub(super) struct Measurement<'a> {
    pub(super) run: &'a Run<'a>,
    pub(super) workload: &'a Workload,
    pub(super) context: Context,
    pub(super) threads: usize,
}

impl Measurement<'_> {
    /// Times a call that does `batch` operations, if its result is right, and reports the time of one.
    pub(super) fn report(
        &self,
        op: &'static str,
        batch: usize,
        right: bool,
        call: impl FnMut() -> Result<(), Error>,
    ) -> Result<(), Failure> {
        self.report_with(op, batch, right, call, |record| record)
    }

    /// The same with further fields.
    pub(super) fn report_with(
        &self,
        op: &'static str,
        batch: usize,
        right: bool,
        call: impl FnMut() -> Result<(), Error>,
        more: impl FnOnce(Record) -> Record,
    ) -> Result<(), Failure> {
        let timing = right.then(|| timing::time(self.run.seconds, batch as f64, call)).transpose()?;
        self.run.report(&more(self.record(op, batch, timing)))
    }

    pub(super) fn record(&self, op: &'static str, batch: usize, timing: Option<Timing>) -> Record {
        let parameters = self.context.parameters();
        let record = Record::of_torus(op, &parameters.spec().torus, self.threads, timing);
        let record = record.with("workload", self.workload.to_string()).with("batch", batch);
        record.with("log2_failure", parameters.failure().log2)
    }
}
