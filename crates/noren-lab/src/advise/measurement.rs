//! The measurement of one candidate of a workload with one number of threads.

use std::cell::Cell;

use noren::advisor::{Candidate, Workload};
use noren_cli::measure::{Failure, Record, Run, Timing, drop_result, peak_rss, reset_peak_rss, time};
use serde_json::json;

/// The measurement of one candidate.
pub(super) struct Measurement<'a> {
    pub(super) run: &'a Run<'a>,
    pub(super) number: usize,
    pub(super) workload: &'a Workload,
    pub(super) candidate: &'a Candidate,
    /// The place among all candidates, 0 for the choice.
    pub(super) place: usize,
    pub(super) threads: usize,
    /// The most memory that the process held in the first run of the circuit, with all keys, inputs and results.
    pub(super) memory: Cell<Option<u64>>,
}

impl Measurement<'_> {
    /// Runs the circuit once, for the memory that it takes.
    pub(super) fn first<T>(&self, run: impl FnOnce() -> noren::Result<T>) -> Result<T, Failure> {
        reset_peak_rss();
        let results = run()?;
        self.memory.set(peak_rss());
        Ok(results)
    }

    /// Times a part, if results are right, and reports it beside its prediction.
    pub(super) fn part<T>(
        &self,
        op: &'static str,
        right: bool,
        predicted: f64,
        mut run: impl FnMut() -> noren::Result<T>,
    ) -> Result<(), Failure> {
        let timing = right.then(|| time(self.run.seconds, 1.0, || run().map(drop_result))).transpose()?;
        self.report(op, timing, predicted)
    }

    fn report(&self, op: &'static str, timing: Option<Timing>, predicted: f64) -> Result<(), Failure> {
        let record = Record::of_kernel(op, 0, 0.0, isa(), timing);
        let memory = if op == "server" { self.memory.get() } else { record.peak_rss_bytes };
        let record = Record { suite: "advise".into(), threads: self.threads, peak_rss_bytes: memory, ..record };
        let workload = serde_json::to_value(self.workload).unwrap_or_default();
        let ratio = timing.map(|timing| predicted * 1e9 / timing.median_ns);
        self.run.report(
            &record
                .with("workload", self.number)
                .with("what", workload)
                .with("scheme", json!(self.candidate.scheme))
                .with("place", self.place)
                .with("predicted_ns", predicted * 1e9)
                .with("ratio", json!(ratio))
                .with("predicted_rss_bytes", self.candidate.price.server_memory),
        )
    }
}

fn isa() -> &'static str {
    noren_math::kernels::kernels().name()
}
