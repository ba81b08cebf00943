//! One reduction with one number of threads: what it is called, and its record.

use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::measure::record::Record;
use crate::measure::run::Run;
use crate::measure::suites::reduction::case::Case;
use crate::measure::timing::Timing;

/// One reduction with one number of threads.
pub(super) struct Task<'a> {
    pub(super) run: &'a Run<'a>,
    pub(super) case: &'a Case,
    pub(super) threads: usize,
}

/// The fields of a record that only these suites have, beside those of the case.
pub(super) struct Fields {
    pub(super) log_q: f64,
    /// Levels used, or products that follow one another.
    pub(super) depth: usize,
    /// Of ciphertexts of CKKS, or of samples of TFHE.
    pub(super) bootstraps: u64,
    /// The time of all keys.
    pub(super) keys_ns: f64,
    /// Of the worst slot; none of exact integers.
    pub(super) worst_bits: Option<f64>,
}

impl Task<'_> {
    /// Reports a record with the fields of the case.
    pub(super) fn report(&self, record: Record, fields: &Fields) -> Result<(), Failure> {
        let Case { reduction, scheme, way, count, .. } = self.case;
        let mut more = Map::new();
        more.insert("scheme".to_owned(), scheme.name().into());
        more.insert("way".to_owned(), way.name().into());
        more.insert("count".to_owned(), (*count).into());
        more.insert("log_q".to_owned(), fields.log_q.into());
        more.insert("depth".to_owned(), fields.depth.into());
        more.insert("bootstraps".to_owned(), fields.bootstraps.into());
        more.insert("keys_ns".to_owned(), fields.keys_ns.into());
        more.extend(fields.worst_bits.map(|bits| ("worst_bits".to_owned(), Value::from(bits))));
        more.extend(record.more);
        self.run.report(&Record { suite: reduction.suite().into(), more, ..record })
    }

    /// The timing of a result that is right; a wrong one is warned of, and has none.
    pub(super) fn judged(&self, error: f64, bound: f64, timing: Timing) -> Option<Timing> {
        if error <= bound {
            return Some(timing);
        }
        let op = self.case.reduction.op();
        self.run.warn(&format!("{op}: the result is off by {error:e}, its bound is {bound:e}"));
        None
    }
}
