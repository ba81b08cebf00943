//! Records of measurements: one line of JSON, or one of a table, each.

use std::borrow::Cow;
use std::fmt;

use noren::Security;
use noren::ckks::Parameters;
use noren::tfhe::TorusSpec;
use noren_rlwe::parameters as rlwe;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::describe::words::bytes;
use crate::machine;
use crate::measure::timing::Timing;

/// A name that is the program's own, or was read from another program's record.
type Name = Cow<'static, str>;

/// A record: the operation, the library, and how long it took.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Record {
    pub suite: Name,
    pub op: Name,
    pub library: Name,
    pub version: Name,
    pub n: usize,
    pub limbs: usize,
    pub log_qp: f64,
    pub special: usize,
    pub dnum: usize,
    pub slots: usize,
    pub security: String,
    pub isa: Name,
    pub threads: usize,
    /// `None` where the result was wrong: a wrong result has no time.
    pub median_ns: Option<f64>,
    pub mad_ns: Option<f64>,
    pub reps: usize,
    /// The most memory that the process has held since the record before this one.
    pub peak_rss_bytes: Option<u64>,
    pub note: Name,
    /// Fields of some operations only.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// The note of a record without a time.
const WRONG: &str = "wrong result: no time";

impl Record {
    /// A record for one ring of one prime, on the kernels of one instruction set.
    pub fn of_kernel(op: &'static str, n: usize, log_q: f64, isa: &'static str, timing: Option<Timing>) -> Self {
        Self {
            suite: "kernels".into(),
            op: op.into(),
            library: "noren".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            n,
            limbs: 1,
            log_qp: log_q,
            special: 0,
            dnum: 0,
            slots: 0,
            security: "none".to_owned(),
            isa: isa.into(),
            threads: 1,
            median_ns: timing.map(|timing| timing.median_ns),
            mad_ns: timing.map(|timing| timing.mad_ns),
            reps: timing.map_or(0, |timing| timing.reps),
            peak_rss_bytes: machine::peak_rss(),
            note: if timing.is_some() { "" } else { WRONG }.into(),
            more: Map::new(),
        }
    }

    /// A record for parameters of CKKS.
    pub fn of_scheme(
        suite: &'static str,
        op: &'static str,
        parameters: &Parameters,
        threads: usize,
        timing: Option<Timing>,
        note: &'static str,
    ) -> Self {
        Self { slots: parameters.max_slots(), ..Self::of_rlwe(suite, op, parameters.rlwe(), threads, timing, note) }
    }

    /// A record for parameters of exact integers.
    pub fn of_integers(
        suite: &'static str,
        op: &'static str,
        parameters: &noren::bfv::Parameters,
        threads: usize,
        timing: Option<Timing>,
        note: &'static str,
    ) -> Self {
        let slots = if parameters.has_slots() { parameters.slots() } else { 0 };
        Self { slots, ..Self::of_rlwe(suite, op, parameters.rlwe(), threads, timing, note) }
    }

    /// A record for a ring with its primes, without slots.
    pub fn of_rlwe(
        suite: &'static str,
        op: &'static str,
        rlwe: &rlwe::Parameters,
        threads: usize,
        timing: Option<Timing>,
        note: &'static str,
    ) -> Self {
        Self {
            suite: suite.into(),
            limbs: rlwe.max_limbs(),
            special: rlwe.p().len(),
            dnum: rlwe.dnum(),
            security: security(rlwe.security()),
            threads,
            note: if timing.is_some() { note } else { WRONG }.into(),
            ..Self::of_kernel(op, rlwe.degree(), rlwe.log_qp(), noren_math::kernels::kernels().name(), timing)
        }
    }

    /// A record for samples over the torus, in words of 64 bits.
    pub fn of_torus(op: &'static str, spec: &TorusSpec, threads: usize, timing: Option<Timing>) -> Self {
        Self {
            suite: "tfhe".into(),
            security: security(spec.security),
            threads,
            ..Self::of_kernel(op, 1 << spec.log_degree, 64.0, noren_math::kernels::kernels().name(), timing)
        }
    }

    /// The record with one field more.
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.more.insert(name.to_owned(), value.into());
        self
    }

    /// The names of the columns that [`Record`] shows.
    pub(super) fn head() -> String {
        let (suite, op, n, limbs, isa, threads) = ("suite", "op", "n", "limbs", "isa", "threads");
        format!(
            "{suite:<8} {op:<18} {n:>6} {limbs:>5} {isa:>9} {threads:>7} {:>12} {:>10} {:>6} {:>10}  note",
            "median", "mad", "reps", "peak rss"
        )
    }
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { suite, op, n, limbs, isa, threads, reps, note, .. } = self;
        let shown = |time: Option<f64>| time.map_or_else(|| "failed".to_owned(), duration);
        let (median, mad) = (shown(self.median_ns), shown(self.mad_ns));
        let peak = self.peak_rss_bytes.map_or_else(|| "unknown".to_owned(), |peak| bytes(peak as f64));
        write!(
            f,
            "{suite:<8} {op:<18} {n:>6} {limbs:>5} {isa:>9} {threads:>7} {median:>12} {mad:>10} {reps:>6} {peak:>10}  "
        )?;
        let flat = self.more.iter().filter(|(_, value)| !value.is_object());
        let more = flat.map(|(name, value)| further(name, value));
        let notes: Vec<String> = more.chain((!note.is_empty()).then(|| note.to_string())).collect();
        f.write_str(&notes.join(", "))
    }
}

/// How records say what security there is.
fn security(level: Security) -> String {
    match level.bits() {
        0 => "none".to_owned(),
        bits => bits.to_string(),
    }
}

/// A field of some operations: what it is called, and how much.
fn further(name: &str, value: &Value) -> String {
    match (value, value.as_f64()) {
        (Value::String(text), _) => format!("{name} {text}"),
        (_, Some(ns)) if name.ends_with("_ns") => format!("{} {}", name.trim_end_matches("_ns"), duration(ns)),
        (_, Some(count)) if name.ends_with("_bytes") => format!("{} {}", name.trim_end_matches("_bytes"), bytes(count)),
        (_, Some(number)) if value.is_f64() => format!("{name} {number:.2}"),
        _ => format!("{name} {value}"),
    }
}

/// A time with three or four digits.
fn duration(ns: f64) -> String {
    let (value, unit) = match ns {
        ns if ns < 1e3 => (ns, "ns"),
        ns if ns < 1e6 => (ns / 1e3, "us"),
        ns if ns < 1e9 => (ns / 1e6, "ms"),
        ns => (ns / 1e9, "s"),
    };
    format!("{value:.2} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_have_the_fields_of_the_schema_in_order() {
        let timing = Timing { median_ns: 1500.0, mad_ns: 2.0, reps: 7 };
        let record = Record::of_kernel("add", 4096, 50.0, "portable", Some(timing)).with("gb_per_s", 1.5);
        let line = serde_json::to_string(&record).expect("JSON");
        let fields = [
            "suite",
            "op",
            "library",
            "version",
            "n",
            "limbs",
            "log_qp",
            "special",
            "dnum",
            "slots",
            "security",
            "isa",
            "threads",
            "median_ns",
            "mad_ns",
            "reps",
            "peak_rss_bytes",
            "note",
            "gb_per_s",
        ];
        let places: Vec<usize> = fields.iter().map(|field| line.find(&format!("\"{field}\":")).expect(field)).collect();
        assert!(places.is_sorted(), "{line}");
        assert!(record.to_string().contains("1.50 us"), "{record}");
        let read: Record = serde_json::from_str(&line).expect("a record");
        assert_eq!(serde_json::to_string(&read).expect("JSON"), line);
    }

    #[test]
    fn a_wrong_result_has_no_time() {
        let record = Record::of_kernel("add", 4096, 50.0, "portable", None);
        assert!(serde_json::to_string(&record).expect("JSON").contains("\"median_ns\":null"));
        assert!(record.to_string().contains("failed"), "{record}");
    }
}
