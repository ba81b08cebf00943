//! Running a comparison: each step in a process of its own, ours and then those of peers, so that all see the same machine.

use std::process::Command;
use std::time::Instant;

use crate::compare::data::{Data, LeftOut, Library};
use crate::compare::peers::Peer;
use crate::compare::plan::{ComparisonStep, SECONDS, steps};
use crate::console::Console;
use crate::failure::Failure;
use crate::measure::{self, Record};
use crate::progress;

/// The name of ours in records.
const OURS: &str = "noren";

/// Measures all steps of a quick or a whole run.
///
/// A step that fails is named and left out. A peer that fails is left out of the suite from there on.
pub(super) fn measure(quick: bool, threads: &[usize], peers: &[Peer], console: &Console) -> Result<Data, Failure> {
    let mut data = Data::here(quick, threads);
    let start = Instant::now();
    let all = steps(quick);
    let shown = progress::bar("comparing", all.len());
    let mut failed: Vec<(&str, &str)> = Vec::new();
    for (done, step) in all.iter().enumerate() {
        shown.set(done, all.len());
        shown.say(&step.name());
        let mut ours = console.itself()?;
        ours.args([measure::VERB, step.suite, "--json"]);
        match records(ours, step, quick, threads) {
            Ok(records) => data.records.extend(records),
            Err(reason) => leave_out(&mut data, console, OURS, step, reason),
        }
        let takes_part = |peer: &&Peer| step.peers && peer.is_built() && peer.has(step.suite);
        for peer in peers.iter().filter(takes_part) {
            if failed.contains(&(peer.name, step.suite)) {
                continue;
            }
            let mut theirs = peer.command();
            theirs.args(["--suite", step.suite]);
            match records(theirs, step, quick, threads) {
                Ok(records) => data.records.extend(records),
                Err(reason) => {
                    failed.push((peer.name, step.suite));
                    leave_out(&mut data, console, peer.name, step, reason);
                }
            }
        }
    }
    drop(shown);
    if !data.records.iter().any(|record| record.library == OURS) {
        let reason = data.left_out.pop().map_or_else(|| "measured nothing".to_owned(), |step| step.reason);
        return Err(Failure::Program { program: OURS.to_owned(), reason });
    }
    let version = |name: &str| data.records.iter().find(|record| record.library == name).map(|found| &*found.version);
    let listed = |peer: &Peer| {
        let version = version(peer.name).map(str::to_owned);
        let absent = match (&version, peer.is_built()) {
            (Some(_), _) => None,
            (None, false) => Some("not built: see bench/setup.sh".to_owned()),
            (None, true) => Some("measured nothing".to_owned()),
        };
        Library { name: peer.name.to_owned(), version, absent }
    };
    data.libraries = peers.iter().map(listed).collect();
    data.seconds = start.elapsed().as_secs_f64();
    Ok(data)
}

/// The record of a program in a step, or why there is none.
fn records(mut command: Command, step: &ComparisonStep, quick: bool, threads: &[usize]) -> Result<Vec<Record>, String> {
    let threads: Vec<String> = if step.single { &[1] } else { threads }.iter().map(usize::to_string).collect();
    command.args(step.options.iter().flat_map(|(name, value)| [*name, value]));
    command.args(["--threads", &threads.join(","), "--seconds", &SECONDS[usize::from(!quick)].to_string()]);
    measure::records(&mut command)
}

fn leave_out(data: &mut Data, console: &Console, library: &str, step: &ComparisonStep, reason: String) {
    console.warn(format!("{library}: {}: {reason}: left out", step.name()));
    data.left_out.push(LeftOut { library: library.to_owned(), step: step.name(), reason });
}
