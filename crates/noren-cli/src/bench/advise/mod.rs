//! The suite `advise`: workloads done by each scheme that can do them, beside what the advisor predicts.
//!
//! Each record is of one workload by one scheme with one number of threads: the time of a part (`keys`, `encrypt`, `server`,
//! `decrypt`), and what was predicted for it. Results are compared with the same computation in clear.

mod integers;
mod reals;
mod torus;
mod workloads;

use noren::advisor::{Advice, Candidate, Limits, Machine, Party, Plan, Scheme, Workload, advise};
use serde_json::json;

use crate::bench::measure::Timing;
use crate::bench::record::Record;
use crate::bench::run::Run;
use crate::calibrate;
use crate::failure::Failure;
use crate::machine;
pub(super) use workloads::all;

/// One candidate that is measured.
pub(super) struct Step<'a> {
    run: &'a Run<'a>,
    number: usize,
    workload: &'a Workload,
    candidate: &'a Candidate,
    /// The place among all candidates, 0 for the choice.
    place: usize,
    threads: usize,
}

/// This machine: its costs as they were measured before, or now.
pub(super) fn measured() -> Result<Machine, Failure> {
    calibrate::machine(None)
}

/// Predicts and measures a workload, by all schemes.
pub(super) fn run(run: &Run<'_>, measured: &Machine, number: usize, workload: &Workload) -> Result<(), Failure> {
    for &threads in run.threads {
        let party = Party { machine: measured.clone(), threads };
        let Advice { candidates, .. } = advise(workload, &party, &party, &Limits::default())?;
        for (place, candidate) in candidates.iter().enumerate() {
            machine::reset_peak_rss();
            let step = Step { run, number, workload, candidate, place, threads };
            match &candidate.plan {
                Plan::Reals(parameters, circuit, draft) => reals::run(&step, parameters, *circuit, draft)?,
                Plan::Integers(parameters, circuit, draft) if candidate.scheme == Scheme::Bgv => {
                    integers::run::<noren::bgv::Bgv>(&step, parameters, *circuit, draft)?;
                }
                Plan::Integers(parameters, circuit, draft) => {
                    integers::run::<noren::bfv::Bfv>(&step, parameters, *circuit, draft)?;
                }
                Plan::Lookup(plan) => integers::look_up(&step, plan)?,
                Plan::Torus(draft) => torus::run(&step, draft)?,
                Plan::Renewed(preset, circuit, draft, _) => reals::renew(&step, *preset, *circuit, draft)?,
                Plan::Switched(..) => run.warn("comparisons by switching are measured by the suite switching"),
            }
        }
    }
    Ok(())
}

impl Step<'_> {
    /// Reports the time of a part beside its prediction.
    fn report(&self, op: &'static str, timing: Option<Timing>, predicted: f64) -> Result<(), Failure> {
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
