//! The data of a comparison, `data.json`: records, machine and libraries.

use std::io::{self, Read};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use noren_rlwe::wire::regular;
use serde::{Deserialize, Serialize};

use crate::compare::report::ComparisonReport;
use crate::failure::Failure;
use crate::machine;
use crate::measure::Record;

/// Tells the files of comparisons from others.
const FORMAT: &str = "noren comparison";
/// The version of the format.
const VERSION: u32 = 1;
/// The most bytes of a file that is read: a whole run has a tenth of a megabyte.
const MOST_BYTES: u64 = 64 << 20;
const SECONDS_OF_DAY: u64 = 86_400;

/// A comparison.
#[derive(Serialize, Deserialize)]
pub(super) struct Data {
    format: String,
    version: u32,
    /// Of noren.
    pub(super) noren: String,
    /// As year, month and day.
    pub(super) date: String,
    pub(super) machine: Machine,
    /// Whether fewer steps were measured, with fewer samples.
    pub(super) quick: bool,
    pub(super) threads: Vec<usize>,
    /// The time of the whole run.
    pub(super) seconds: f64,
    pub(super) libraries: Vec<Library>,
    /// Steps that failed.
    pub(super) left_out: Vec<LeftOut>,
    pub(super) records: Vec<Record>,
    /// The work of a client on devices, by the models of the advisor.
    #[serde(default)]
    pub(super) devices: Vec<Device>,
}

/// The machine of a comparison.
#[derive(Serialize, Deserialize)]
pub(super) struct Machine {
    pub(super) cpu: Option<String>,
    pub(super) cores: usize,
    pub(super) memory_bytes: Option<u64>,
    /// The instruction set of noren's kernels.
    pub(super) isa: String,
}

/// A library, and whether it took part.
#[derive(Serialize, Deserialize)]
pub(super) struct Library {
    pub(super) name: String,
    /// None of one that did not take part.
    pub(super) version: Option<String>,
    /// Why it did not.
    pub(super) absent: Option<String>,
}

/// A step that a library did not measure.
#[derive(Serialize, Deserialize)]
pub(super) struct LeftOut {
    pub(super) library: String,
    pub(super) step: String,
    pub(super) reason: String,
}

/// The work of a client on a device, by a model.
#[derive(Serialize, Deserialize)]
pub(super) struct Device {
    /// The device in words.
    pub(super) device: String,
    /// Its name in `noren advise --client`.
    #[serde(default)]
    pub(super) name: String,
    /// The table of kernels that the model is of.
    #[serde(default)]
    pub(super) kernels: String,
    /// The memory of the device.
    #[serde(default)]
    pub(super) memory_bytes: Option<u64>,
    pub(super) work: String,
    pub(super) milliseconds: f64,
    /// The peak memory of the work.
    pub(super) peak_bytes: Option<u64>,
    /// The basis of the costs: measured, or a model.
    #[serde(default)]
    pub(super) basis: String,
}

/// The file, with what the page shows.
#[derive(Serialize)]
struct Written<'a> {
    #[serde(flatten)]
    data: &'a Data,
    report: &'a ComparisonReport,
}

impl Data {
    /// A comparison on this machine in which nothing was measured yet.
    pub(super) fn here(quick: bool, threads: &[usize]) -> Self {
        Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            noren: env!("CARGO_PKG_VERSION").to_owned(),
            date: SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or_else(|_| String::new(), |now| date(now.as_secs())),
            machine: Machine {
                cpu: machine::cpu(),
                cores: machine::threads(),
                memory_bytes: machine::memory().map(|(total, _)| total),
                isa: noren_math::kernels::kernels().name().to_owned(),
            },
            quick,
            threads: threads.to_vec(),
            seconds: 0.0,
            libraries: Vec::new(),
            left_out: Vec::new(),
            records: Vec::new(),
            devices: Vec::new(),
        }
    }

    /// Reads a comparison that was written before.
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let mut bytes = Vec::new();
        let read = regular::open(path).and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes));
        read.map_err(|source: io::Error| Failure::Io { path: path.to_owned(), source })?;
        let wanted = "the data.json of noren compare";
        if bytes.len() as u64 > MOST_BYTES {
            return Err(Failure::input(path, "the file", format!("more than {MOST_BYTES} bytes"), wanted));
        }
        let data: Self =
            serde_json::from_slice(&bytes).map_err(|error| Failure::input(path, "the file", error, wanted))?;
        if data.format != FORMAT || data.version != VERSION {
            let found = format!("{:?}, version {}", data.format, data.version);
            return Err(Failure::input(path, "format", found, format!("{FORMAT:?}, version {VERSION}")));
        }
        if data.threads.is_empty() || data.records.is_empty() {
            return Err(Failure::input(path, "records", "none", "at least one, and the threads of each"));
        }
        Ok(data)
    }

    /// The bytes of the file.
    pub(super) fn to_json(&self, report: &ComparisonReport) -> Result<Vec<u8>, Failure> {
        let written = Written { data: self, report };
        serde_json::to_vec_pretty(&written).map_err(|error| Failure::Report(error.into()))
    }
}

/// The day of a time in seconds after the beginning of 1970, in the Gregorian calendar.
fn date(seconds: u64) -> String {
    let is_leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let (mut days, mut year) = (seconds / SECONDS_OF_DAY, 1970);
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let lengths = [31, 28 + u64::from(is_leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while days >= lengths[month] {
        days -= lengths[month];
        month += 1;
    }
    format!("{year}-{:02}-{:02}", month + 1, days + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        let days = [(0, "1970-01-01"), (59, "1970-03-01"), (11_016, "2000-02-29"), (20_782, "2026-11-25")];
        for (day, expected) in days {
            assert_eq!(date(day * SECONDS_OF_DAY + 86_399), expected);
        }
    }
}
