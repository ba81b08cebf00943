//! Printing: reports on standard output as text or JSON, everything else on standard error.

use std::env;
use std::ffi::OsString;
use std::fmt::Display;
use std::io::{self, ErrorKind, Write};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use noren::{OutOfMemory, Security};
use serde::Serialize;
use serde_json::json;

use crate::failure::Failure;
use crate::inputs::{InputOptions, Inputs};

/// Where a verb says what it did, and what all verbs are asked for alike.
pub struct Console {
    json: bool,
    min_security: Security,
    inputs: Inputs,
    /// The program and the first arguments that start the tool; nothing where it is the program of this process.
    itself: Vec<OsString>,
    /// Standard output has the result, so that reports go to standard error.
    result_on_output: AtomicBool,
}

impl Console {
    pub(crate) const fn new(json: bool, min_security: Security, inputs: Inputs, itself: Vec<OsString>) -> Self {
        Self { json, min_security, inputs, itself, result_on_output: AtomicBool::new(false) }
    }

    /// For a program that reads no files.
    pub fn without_inputs(json: bool) -> Result<Self, Failure> {
        Ok(Self::new(json, Security::Bits128, Inputs::new(InputOptions::default())?, Vec::new()))
    }

    /// The tool, to be started in a process of its own.
    pub(crate) fn itself(&self) -> Result<Command, Failure> {
        if let [program, first @ ..] = &self.itself[..] {
            let mut command = Command::new(program);
            command.args(first);
            return Ok(command);
        }
        let own = env::current_exe().map_err(|error| Failure::Program {
            program: "noren".to_owned(),
            reason: format!("its own file is not found: {error}"),
        })?;
        Ok(Command::new(own))
    }

    /// Reports go to standard error from now on, because standard output gets the result.
    pub(crate) fn report_on_standard_error(&self) {
        self.result_on_output.store(true, Ordering::Relaxed);
    }

    /// The least security of keys and parameters in files that are used.
    pub(crate) const fn min_security(&self) -> Security {
        self.min_security
    }

    /// Opens the files that are read.
    pub(crate) const fn inputs(&self) -> &Inputs {
        &self.inputs
    }

    /// Whether a program reads the output.
    pub(crate) const fn is_json(&self) -> bool {
        self.json
    }

    /// Prints a report: its text, or one line of JSON.
    pub(crate) fn report(&self, report: &(impl Serialize + Display)) -> Result<(), Failure> {
        if self.json {
            let line = serde_json::to_string(report).map_err(|error| Failure::Report(error.into()))?;
            self.line(&line)
        } else {
            self.line(&report.to_string())
        }
    }

    /// Prints a plan that is all that is asked for.
    pub(crate) fn plan_alone(&self, plan: &(impl Serialize + Display)) -> Result<(), Failure> {
        self.report(plan).map_err(before_work)
    }

    /// Prints a plan before the work begins, for people: for programs it is a part of the report.
    pub(crate) fn plan(&self, plan: impl Display) -> Result<(), Failure> {
        self.text(plan).map_err(before_work)
    }

    /// Prints a line that is for people only.
    pub(crate) fn text(&self, line: impl Display) -> Result<(), Failure> {
        if self.json { Ok(()) } else { self.line(&line.to_string()) }
    }

    /// Says on standard error what the user should know, although the thing is done.
    pub(crate) fn warn(&self, message: impl Display) {
        match self.json {
            true => to_standard_error(json!({ "warning": message.to_string() })),
            false => to_standard_error(format_args!("warning: {message}")),
        }
    }

    fn line(&self, line: &str) -> Result<(), Failure> {
        if self.result_on_output.load(Ordering::Relaxed) {
            to_standard_error(line);
            return Ok(());
        }
        let mut out = io::stdout().lock();
        match writeln!(out, "{line}").and_then(|()| out.flush()) {
            // `noren ... | head`: the reader has seen enough.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            result => result.map_err(Failure::Report),
        }
    }
}

/// The refusal of a report that cannot be printed, where there are no files yet.
fn before_work(failure: Failure) -> Failure {
    match failure {
        Failure::Report(error) => Failure::Plan(error),
        failure => failure,
    }
}

/// Says on standard error why a thing is not done: as text, or as a line of JSON with the exit code.
pub(crate) fn refuse(failure: &impl Display, code: u8, json: bool) {
    match json {
        true => to_standard_error(json!({ "error": failure.to_string(), "exit_code": code })),
        false => to_standard_error(format_args!("error: {failure}")),
    }
}

/// As [`refuse`], without allocating.
pub(crate) fn refuse_without_memory(missing: OutOfMemory, code: u8, json: bool) {
    let mut err = io::stderr();
    // The text has no sign that JSON writes in another way.
    let _ = match json {
        true => writeln!(err, "{{\"error\":\"{missing}\",\"exit_code\":{code}}}"),
        false => writeln!(err, "error: {missing}"),
    };
}

fn to_standard_error(line: impl Display) {
    // Where standard error is closed, nobody listens.
    let _ = writeln!(io::stderr(), "{line}");
}
