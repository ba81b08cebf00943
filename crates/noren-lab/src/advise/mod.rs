//! The suite `advise`: workloads done by each scheme that can do them, beside what the advisor predicts.
//!
//! Each record is of one workload by one scheme with one number of threads: the time of a part (`keys`, `encrypt`, `server`,
//! `decrypt`), and what was predicted for it. Results are compared with the same computation in clear.

mod compiled;
mod measurement;
mod workloads;

use std::cell::Cell;

use clap::Args;
use noren::advisor::{Advice, Candidate, Limits, Workload, advise};
use noren::cost::Party;
use noren_cli::measure::{Failure, Run, apart, calibrated};

use crate::advise::measurement::Measurement;

/// The options of the suite.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Only the workloads of these numbers, from 0 on [default: all]
    #[arg(long, value_name = "NUMBER,...", value_delimiter = ',')]
    number: Vec<usize>,
    /// Only the candidate at this place of the advice, from 0 on, in this process [default: all, each in its own]
    #[arg(long, value_name = "PLACE", requires = "number")]
    place: Option<usize>,
}

impl Options {
    /// Measures the suite.
    pub(crate) fn run(&self, run: &Run<'_>) -> Result<(), Failure> {
        asked(run, &self.number, self.place)?.iter().try_for_each(|asked| measure(run, asked))
    }
}

/// A workload with a number of threads, and the candidates of the advice for it that are measured.
struct Asked {
    number: usize,
    workload: Workload,
    threads: usize,
    candidates: Vec<Candidate>,
    /// The one that this process measures; nothing where each has a process of its own.
    place: Option<usize>,
}

/// The workloads of these numbers, all if there are none, with advice for this machine, by its costs as they were measured before,
/// or now.
fn asked(run: &Run<'_>, numbers: &[usize], place: Option<usize>) -> Result<Vec<Asked>, Failure> {
    let all = workloads::all();
    let refuse = |what, found: usize, needed| Err(Failure::Unsuitable { what, found: found.to_string(), needed });
    if let Some(&found) = numbers.iter().find(|&&number| number >= all.len()) {
        return refuse("--number", found, format!("0 to {}, the numbers of the workloads", all.len() - 1));
    }
    let machine = calibrated(None)?;
    let mut asked = Vec::new();
    for (number, workload) in all.into_iter().enumerate() {
        if !numbers.is_empty() && !numbers.contains(&number) {
            continue;
        }
        for &threads in run.threads {
            let party = Party { machine: machine.clone(), threads };
            let Advice { candidates, .. } = advise(&workload, &party, &party, &Limits::default())?;
            if let Some(place) = place.filter(|&place| place >= candidates.len()) {
                return refuse("--place", place, format!("below {}, the number of candidates", candidates.len()));
            }
            asked.push(Asked { number, workload: workload.clone(), threads, candidates, place });
        }
    }
    Ok(asked)
}

/// Predicts and measures a workload by all schemes, or, in a process that measures one, by that.
///
/// Each candidate has a process of its own: what an allocator kept of others' memory changes times and sizes.
fn measure(run: &Run<'_>, asked: &Asked) -> Result<(), Failure> {
    let &Asked { number, ref workload, threads, ref candidates, place } = asked;
    match place {
        Some(place) => {
            let (candidate, memory) = (&candidates[place], Cell::default());
            compiled::run(&Measurement { run, number, workload, candidate, place, threads, memory })
        }
        None => {
            let number = number.to_string();
            let apart =
                |place: usize| apart(run, threads, &["advise", "--number", &number, "--place", &place.to_string()]);
            (0..candidates.len()).try_for_each(apart)
        }
    }
}
