//! Other libraries in the same run: programs that take the options of a step and print records.

use std::path::PathBuf;
use std::process::Command;

use crate::bench::record::Record;
use crate::bench::run::Run;
use crate::failure::Failure;

/// Programs that are run after each step, so that they see the same machine as noren.
pub(super) struct Beside {
    /// Those that have not failed yet.
    programs: Vec<PathBuf>,
}

impl Beside {
    pub(super) fn new(programs: &[PathBuf]) -> Self {
        Self { programs: programs.to_vec() }
    }

    /// Runs every program with these options, the threads and the time of the run, and reports its records. A program
    /// that fails or prints anything else is named in a warning and not run again.
    pub(super) fn step(&mut self, run: &Run<'_>, options: &[(&str, &str)]) -> Result<(), Failure> {
        let threads: Vec<String> = run.threads.iter().map(usize::to_string).collect();
        let (threads, seconds) = (threads.join(","), run.seconds.to_string());
        let common = [("--threads", threads.as_str()), ("--seconds", seconds.as_str())];
        let mut well = Vec::new();
        for program in std::mem::take(&mut self.programs) {
            let arguments = options.iter().chain(&common).flat_map(|&(name, value)| [name, value]);
            match records(Command::new(&program).args(arguments)) {
                Ok(records) => {
                    records.iter().try_for_each(|record| run.report(record))?;
                    well.push(program);
                }
                Err(reason) => run.warn(&format!("{}: {reason}: left out from here on", program.display())),
            }
        }
        self.programs = well;
        Ok(())
    }
}

/// Runs a suite of this program in a process of its own, where nothing else keeps memory or threads, and reports its records.
pub(super) fn apart(run: &Run<'_>, threads: usize, suite: &[&str]) -> Result<(), Failure> {
    let mut command = run.console.itself()?;
    command.arg("bench").args(suite).arg("--json");
    command.args(["--threads", &threads.to_string(), "--seconds", &run.seconds.to_string()]);
    // Contexts without a number of threads take that of the global pool.
    command.env("RAYON_NUM_THREADS", threads.to_string());
    let failed = |reason| Failure::Program { program: format!("noren bench {}", suite.join(" ")), reason };
    records(&mut command).map_err(failed)?.iter().try_for_each(|record| run.report(record))
}

/// The output of a program, or why that is no list of records.
pub(crate) fn records(command: &mut Command) -> Result<Vec<Record>, String> {
    let output = command.output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{}, {:?}", output.status, message.trim()));
    }
    let text = String::from_utf8(output.stdout).map_err(|_| "prints no text".to_owned())?;
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.map(|line| serde_json::from_str(line).map_err(|error| format!("prints no record: {error}"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn what_is_no_record_is_an_error() {
        let say = |script: &str| records(Command::new("sh").args(["-c", script]));
        assert!(say("true").expect("nothing is fine").is_empty());
        assert!(say("echo hello").is_err_and(|error| error.contains("prints no record")));
        assert!(say("echo '{\"op\":\"add\"}'").is_err_and(|error| error.contains("prints no record")));
        assert!(say("echo 'no such ring' >&2; exit 3").is_err_and(|error| error.contains("no such ring")));
        assert!(records(&mut Command::new("/no/such/program")).is_err());
    }
}
