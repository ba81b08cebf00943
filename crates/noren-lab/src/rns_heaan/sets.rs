//! Which set is measured, and how records name it.

use noren::bootstrapping::rns_heaan::{Parameters, ParametersSpec};
use noren_cli::measure::{Failure, Record, Timing};

use crate::sharing::Sharing;

/// The name of the set.
const SET: &str = "rns-heaan";

/// The sets of these degrees: the published one, or the small one for tests.
pub(super) fn sets(degrees: &[u32]) -> Result<Vec<ParametersSpec>, Failure> {
    let degrees = if degrees.is_empty() { &[16] } else { degrees };
    let set = |log_n: &u32| match log_n {
        10 => Ok(ParametersSpec::toy()),
        16 => Ok(ParametersSpec::published()),
        _ => Err(Failure::Unsuitable { what: "--log-n", found: log_n.to_string(), needed: "10 or 16".to_owned() }),
    };
    degrees.iter().map(set).collect()
}

/// The fields that all records of a set and a number of threads share.
pub(super) struct Setting<'a> {
    pub(super) parameters: &'a Parameters,
    pub(super) threads: usize,
    pub(super) sharing: Sharing,
}

impl Setting<'_> {
    pub(super) fn record(&self, op: &'static str, timing: Option<Timing>, note: &'static str) -> Record {
        let record = Record::of_scheme("rns-heaan", op, self.parameters.ckks(), self.threads, timing, note);
        let record = record.with("set", SET).with("secure_log_qp", self.parameters.secure_log_qp());
        self.sharing.name(record)
    }
}
