//! The suite `advise`: workloads done by each scheme that can do them, beside what the advisor predicts.
//!
//! Each record is of one workload by one scheme with one number of threads: the time of a part (`keys`, `encrypt`, `server`,
//! `decrypt`), and what was predicted for it. Results are compared with the same computation in clear.

mod integers;
mod reals;
mod step;
mod torus;
mod workloads;

use noren::advisor::{Advice, Limits, Machine, Party, Plan, Scheme, Workload, advise};

use crate::bench::advise::step::Step;
use crate::bench::run::Run;
use crate::calibrate;
use crate::failure::Failure;
use crate::machine;
pub(super) use workloads::all;

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
