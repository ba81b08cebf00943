//! Options of all suites, and where they report.

use std::sync::{Mutex, PoisonError};

use crate::bench::record::Record;
use crate::console::Console;
use crate::failure::Failure;
use crate::machine;

/// Options of a suite, and where it reports.
pub(super) struct Run<'a> {
    pub(super) seconds: f64,
    pub(super) threads: &'a [usize],
    pub(super) console: &'a Console,
    pub(super) wrong: Mutex<Vec<String>>,
}

impl Run<'_> {
    /// Reports a measurement as soon as it is there.
    pub(super) fn report(&self, record: &Record) -> Result<(), Failure> {
        if record.median_ns.is_none() {
            let Record { library, op, n, isa, .. } = record;
            let mut wrong = self.wrong.lock().unwrap_or_else(PoisonError::into_inner);
            wrong.push(format!("{library} {op} (n = {n}, {isa})"));
        }
        machine::reset_peak_rss();
        self.console.report(record)
    }

    /// Tells the user what no record says.
    pub(super) fn warn(&self, message: &str) {
        self.console.warn(message);
    }
}
