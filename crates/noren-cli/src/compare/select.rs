//! Questions to records: which there are, their fields, their times, and how these are written.

use std::collections::BTreeSet;

use crate::describe::words;
use crate::measure::Record;

/// The libraries in the order of columns; others come after them.
const ORDER: [&str; 5] = ["noren", "openfhe", "lattigo", "tenseal", "tfhe-rs"];

/// Records, by what they say.
#[derive(Clone)]
pub(super) struct Selection<'a>(Vec<&'a Record>);

impl<'a> Selection<'a> {
    /// The records of a suite with this number of threads.
    pub(super) fn of(records: &'a [Record], suite: &str, threads: usize) -> Self {
        Self(records.iter().filter(|record| record.suite == suite && record.threads == threads).collect())
    }

    /// Those of a library.
    pub(super) fn library(&self, name: &str) -> Self {
        self.filter(|record| record.library == name)
    }

    /// Those of an operation.
    pub(super) fn op(&self, name: &str) -> Self {
        self.filter(|record| record.op == name)
    }

    /// Those of which a field is this text.
    pub(super) fn with(&self, field: &str, value: &str) -> Self {
        self.filter(|record| record.more.get(field).is_some_and(|found| found == value))
    }

    /// Those of which a field is this whole number.
    pub(super) fn at(&self, field: &str, value: usize) -> Self {
        self.filter(|record| whole(record, field) == Some(value))
    }

    fn filter(&self, keep: impl Fn(&Record) -> bool) -> Self {
        Self(self.0.iter().copied().filter(|record| keep(record)).collect())
    }

    /// All of them, in the order in which they were measured.
    pub(super) fn records(&self) -> &[&'a Record] {
        &self.0
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The fastest record that is right.
    pub(super) fn fastest(&self) -> Option<&'a Record> {
        let timed = self.0.iter().copied().filter(|record| time_of(record).is_some());
        timed.min_by(|a, b| a.median_ns.unwrap_or(f64::MAX).total_cmp(&b.median_ns.unwrap_or(f64::MAX)))
    }

    /// The time of the fastest, in nanoseconds.
    pub(super) fn time(&self) -> Option<f64> {
        self.fastest().and_then(time_of)
    }

    /// The most memory that any of them held, in bytes.
    pub(super) fn peak(&self) -> Option<f64> {
        self.0.iter().filter_map(|record| record.peak_rss_bytes).max().map(|bytes| bytes as f64)
    }

    /// The names of libraries, in the order of columns.
    pub(super) fn libraries(&self) -> Vec<String> {
        let names: BTreeSet<&str> = self.0.iter().map(|record| &*record.library).collect();
        let place = |name: &str| ORDER.iter().position(|known| *known == name).unwrap_or(ORDER.len());
        let mut names: Vec<&str> = names.into_iter().collect();
        names.sort_by_key(|name| (place(name), *name));
        names.into_iter().map(str::to_owned).collect()
    }

    /// The whole numbers of a field, ascending, each once.
    pub(super) fn values(&self, field: &str) -> Vec<usize> {
        let all: BTreeSet<usize> = self.0.iter().filter_map(|record| whole(record, field)).collect();
        all.into_iter().collect()
    }

    /// The degrees of rings, ascending, each once.
    pub(super) fn degrees(&self) -> Vec<usize> {
        let all: BTreeSet<usize> = self.0.iter().map(|record| record.n).collect();
        all.into_iter().collect()
    }

    /// Those in rings of this degree.
    pub(super) fn degree(&self, n: usize) -> Self {
        self.filter(|record| record.n == n)
    }
}

/// The time of a record, which a wrong result has not.
pub(super) fn time_of(record: &Record) -> Option<f64> {
    record.median_ns.filter(|time| *time > 0.0)
}

/// A field that is a whole number.
pub(super) fn whole(record: &Record, field: &str) -> Option<usize> {
    record.more.get(field)?.as_u64().map(|number| number as usize)
}

/// A field that is a number.
pub(super) fn number(record: &Record, field: &str) -> Option<f64> {
    record.more.get(field)?.as_f64()
}

/// A field that is a text.
pub(super) fn text<'a>(record: &'a Record, field: &str) -> Option<&'a str> {
    record.more.get(field)?.as_str()
}

/// A time in nanoseconds in three digits and its unit; nothing without one.
pub(super) fn duration(ns: Option<f64>) -> String {
    let Some(ns) = ns else { return String::new() };
    let (value, unit) = match ns {
        ns if ns < 1e3 => (ns, "ns"),
        ns if ns < 1e6 => (ns / 1e3, "\u{b5}s"),
        ns if ns < 1e9 => (ns / 1e6, "ms"),
        ns => (ns / 1e9, "s"),
    };
    format!("{} {unit}", digits(value))
}

/// A number in three digits.
pub(super) fn digits(value: f64) -> String {
    match value {
        value if value >= 100.0 => format!("{value:.0}"),
        value if value >= 10.0 => format!("{value:.1}"),
        value => format!("{value:.2}"),
    }
}

/// How many times as long; nothing without both times.
pub(super) fn ratio(theirs: Option<f64>, ours: Option<f64>) -> String {
    theirs.zip(ours).map_or_else(String::new, |(theirs, ours)| format!("{}x", digits(theirs / ours)))
}

/// Bytes; nothing without them.
pub(super) fn bytes(count: Option<f64>) -> String {
    count.map_or_else(String::new, words::bytes)
}

/// A degree as a power of two.
pub(super) fn power(n: usize) -> String {
    if n.is_power_of_two() { format!("2^{}", n.ilog2()) } else { n.to_string() }
}

/// A library as its authors write it.
pub(super) fn title(library: &str) -> &str {
    match library {
        "openfhe" => "OpenFHE",
        "lattigo" => "Lattigo",
        "tenseal" => "TenSEAL (SEAL)",
        "tfhe-rs" => "TFHE-rs",
        other => other,
    }
}
