//! Other libraries in the same run: programs that take the options of a step and print records.

use std::path::PathBuf;
use std::process::Command;

use noren_cli::measure::{Failure, Run, records};

/// Programs that are run after each step, so that they see the same machine as noren.
pub(crate) struct Beside {
    /// Those that have not failed yet.
    programs: Vec<PathBuf>,
}

impl Beside {
    pub(crate) fn new(programs: &[PathBuf]) -> Self {
        Self { programs: programs.to_vec() }
    }

    /// Runs every program with these options, the threads and the time of the run, and reports its records. A program
    /// that fails or prints anything else is named in a warning and not run again.
    pub(crate) fn step(&mut self, run: &Run<'_>, options: &[(&str, &str)]) -> Result<(), Failure> {
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
