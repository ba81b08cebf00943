//! The suite `advise`: workloads done by each scheme that can do them, beside what the advisor predicts.
//!
//! Each record is of one workload by one scheme with one number of threads: the time of a part (`keys`, `encrypt`, `server`,
//! `decrypt`), and what was predicted for it. Results are compared with the same computation in clear.

mod integers;
mod lookups;
mod reals;
mod step;
mod torus;
mod workloads;

use std::cell::Cell;

use noren::advisor::{Advice, Limits, Plan, Scheme, Workload, advise};
use noren::cost::{Machine, Party};

use crate::bench::advise::step::Step;
use crate::bench::beside;
use crate::bench::run::Run;
use crate::calibrate;
use crate::failure::Failure;
pub(super) use workloads::all;

/// This machine: its costs as they were measured before, or now.
pub(super) fn measured() -> Result<Machine, Failure> {
    calibrate::machine(None)
}

/// Predicts and measures a workload by all schemes, or, for a process that measures one, by that of a place.
///
/// Each candidate has a process of its own: what an allocator kept of others' memory changes times and sizes.
pub(super) fn run(
    run: &Run<'_>,
    measured: &Machine,
    (number, workload): (usize, &Workload),
    place: Option<usize>,
) -> Result<(), Failure> {
    for &threads in run.threads {
        let party = Party { machine: measured.clone(), threads };
        let Advice { candidates, .. } = advise(workload, &party, &party, &Limits::default())?;
        match place {
            Some(place) => {
                let needed = format!("below {}, the number of candidates", candidates.len());
                let candidate = candidates.get(place).ok_or_else(|| Failure::Unsuitable {
                    what: "--place",
                    found: place.to_string(),
                    needed,
                })?;
                measure_here(&Step { run, number, workload, candidate, place, threads, memory: Cell::default() })?;
            }
            None => {
                let number = number.to_string();
                let apart = |place: usize| {
                    beside::apart(run, threads, &["advise", "--number", &number, "--place", &place.to_string()])
                };
                (0..candidates.len()).try_for_each(apart)?;
            }
        }
    }
    Ok(())
}

fn measure_here(step: &Step<'_>) -> Result<(), Failure> {
    if matches!(&step.candidate.plan, Plan::Integers(_, circuit, _) if circuit.domain > 0) {
        step.run.warn("functions as polynomials modulo t are measured by the tests of the advisor");
        return Ok(());
    }
    match &step.candidate.plan {
        Plan::Reals(parameters, circuit, draft) => reals::run(step, parameters, *circuit, draft),
        Plan::Integers(parameters, circuit, draft) if step.candidate.scheme == Scheme::Bgv => {
            integers::run::<noren::bgv::Bgv>(step, parameters, *circuit, draft)
        }
        Plan::Integers(parameters, circuit, draft) => {
            integers::run::<noren::bfv::Bfv>(step, parameters, *circuit, draft)
        }
        Plan::Lookup(plan) => lookups::run(step, plan),
        Plan::Torus(draft) => torus::run(step, draft),
        Plan::Renewed(preset, circuit, draft, _) => reals::renew(step, *preset, *circuit, draft),
        Plan::Switched(..) => {
            step.run.warn("comparisons by switching are measured by the suite switching");
            Ok(())
        }
    }
}
