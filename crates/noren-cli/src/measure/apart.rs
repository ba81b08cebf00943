//! Records of other processes: of this program, and of drivers of other libraries.

use std::process::Command;

use crate::failure::Failure;
use crate::measure::record::Record;
use crate::measure::run::Run;

/// Runs a suite of this program in a process of its own, where nothing else keeps memory or threads, and reports its records.
pub fn apart(run: &Run<'_>, threads: usize, suite: &[&str]) -> Result<(), Failure> {
    let mut command = run.itself()?;
    command.args(suite).arg("--json");
    command.args(["--threads", &threads.to_string(), "--seconds", &run.seconds.to_string()]);
    // Contexts without a number of threads take that of the global pool.
    command.env("RAYON_NUM_THREADS", threads.to_string());
    let failed = |reason| Failure::Program { program: suite.join(" "), reason };
    records(&mut command).map_err(failed)?.iter().try_for_each(|record| run.report(record))
}

/// The output of a program, or why that is no list of records.
pub fn records(command: &mut Command) -> Result<Vec<Record>, String> {
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
