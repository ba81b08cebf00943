//! Printing: reports on standard output as text or JSON, everything else on standard error.

use std::fmt::Display;
use std::io::{self, ErrorKind, Write};

use noren::Security;
use serde::Serialize;

use crate::failure::Failure;
use crate::inputs::Inputs;

/// Where a verb says what it did, and what all verbs are asked for alike.
pub(crate) struct Console {
    json: bool,
    min_security: Security,
    inputs: Inputs,
}

impl Console {
    pub(crate) const fn new(json: bool, min_security: Security, inputs: Inputs) -> Self {
        Self { json, min_security, inputs }
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
            Self::line(&line)
        } else {
            Self::line(&report.to_string())
        }
    }

    /// Prints a line that is for people only.
    pub(crate) fn text(&self, line: impl Display) -> Result<(), Failure> {
        if self.json { Ok(()) } else { Self::line(&line.to_string()) }
    }

    /// Says on standard error what the user should know, although the thing is done.
    pub(crate) fn warn(&self, message: impl Display) {
        // Where standard error is closed, nobody listens.
        let _ = writeln!(io::stderr(), "warning: {message}");
    }

    /// Says on standard error why the thing is not done.
    pub(crate) fn error(failure: &Failure) {
        let _ = writeln!(io::stderr(), "error: {failure}");
    }

    fn line(line: &str) -> Result<(), Failure> {
        let mut out = io::stdout().lock();
        match writeln!(out, "{line}").and_then(|()| out.flush()) {
            // `noren ... | head`: the reader has seen enough.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            result => result.map_err(Failure::Report),
        }
    }
}
