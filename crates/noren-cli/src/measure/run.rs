//! Options of all suites, and where they report.

use std::process::Command;
use std::sync::{Mutex, Once, PoisonError};

use crate::console::Console;
use crate::failure::Failure;
use crate::machine;
use crate::measure::record::Record;

/// Options of a suite, and where it reports.
pub struct Run<'a> {
    /// The time that goes to each operation.
    pub seconds: f64,
    /// The numbers of threads, each of which is measured.
    pub threads: &'a [usize],
    /// Whether they were asked for.
    pub threads_are_asked_for: bool,
    console: &'a Console,
    /// The verb by which this program measures a suite.
    verb: &'static str,
    head: Once,
    wrong: Mutex<Vec<String>>,
}

/// The call after each step of a suite, with the options by which other programs measure the same step.
pub type After<'a> = dyn FnMut(&[(&str, &str)]) -> Result<(), Failure> + 'a;

impl<'a> Run<'a> {
    /// A run of the program whose verb for suites this is. Without numbers of threads it has one.
    pub fn new(console: &'a Console, verb: &'static str, seconds: f64, threads: &'a [usize]) -> Self {
        Self {
            seconds,
            threads: if threads.is_empty() { &[1] } else { threads },
            threads_are_asked_for: !threads.is_empty(),
            console,
            verb,
            head: Once::new(),
            wrong: Mutex::default(),
        }
    }

    /// Reports a measurement as soon as it is there.
    pub fn report(&self, record: &Record) -> Result<(), Failure> {
        let mut headed = Ok(());
        self.head.call_once(|| headed = self.console.text(Record::head()));
        headed?;
        if record.median_ns.is_none() {
            let Record { library, op, n, isa, .. } = record;
            let mut wrong = self.wrong.lock().unwrap_or_else(PoisonError::into_inner);
            wrong.push(format!("{library} {op} (n = {n}, {isa})"));
        }
        machine::reset_peak_rss();
        self.console.report(record)
    }

    /// Tells the user what no record says.
    pub fn warn(&self, message: &str) {
        self.console.warn(message);
    }

    /// This program with its verb for suites, to be started in a process of its own.
    pub(super) fn itself(&self) -> Result<Command, Failure> {
        let mut command = self.console.itself()?;
        command.arg(self.verb);
        Ok(command)
    }

    /// The end of the run, which refuses if results were wrong.
    pub fn finish(self) -> Result<(), Failure> {
        match self.wrong.into_inner().unwrap_or_else(PoisonError::into_inner) {
            wrong if wrong.is_empty() => Ok(()),
            wrong => Err(Failure::WrongResults(wrong)),
        }
    }
}
