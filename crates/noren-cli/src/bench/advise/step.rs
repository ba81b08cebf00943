//! One candidate of a workload with one number of threads.

use noren::advisor::{Candidate, Workload};
use serde_json::json;

use crate::bench::measure::Timing;
use crate::bench::record::Record;
use crate::bench::run::Run;
use crate::failure::Failure;

/// One candidate that is measured.
pub(super) struct Step<'a> {
    pub(super) run: &'a Run<'a>,
    pub(super) number: usize,
    pub(super) workload: &'a Workload,
    pub(super) candidate: &'a Candidate,
    /// The place among all candidates, 0 for the choice.
    pub(super) place: usize,
    pub(super) threads: usize,
}

impl Step<'_> {
    /// Reports the time of a part beside its prediction.
    pub(super) fn report(&self, op: &'static str, timing: Option<Timing>, predicted: f64) -> Result<(), Failure> {
        let price = &self.candidate.price;
        let record =
            Record { suite: "advise".into(), threads: self.threads, ..Record::of_kernel(op, 0, 0.0, isa(), timing) };
        let workload = serde_json::to_value(self.workload).unwrap_or_default();
        let (ratio, bytes) = (timing.map(|timing| predicted * 1e9 / timing.median_ns), price.server_memory);
        self.run.report(
            &record
                .with("workload", self.number)
                .with("what", workload)
                .with("scheme", json!(self.candidate.scheme))
                .with("place", self.place)
                .with("predicted_ns", predicted * 1e9)
                .with("ratio", json!(ratio))
                .with("predicted_rss_bytes", bytes),
        )
    }
}

fn isa() -> &'static str {
    noren_math::kernels::kernels().name()
}
