//! What the suite measures, by names that all drivers know.

use std::fmt;
use std::str::FromStr;

use noren::Error;
use noren::tfhe::{Parameters, Preset};

/// A name of the option `--workload`.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::bench) enum Workload {
    /// Keys, encryption, gates or bootstraps of a set.
    Samples(&'static Preset),
    /// What a client makes for its server, in a set.
    Client(&'static Preset),
}

/// Stands before the name of the set.
const CLIENT: &str = "client-";

impl Workload {
    /// Those that peers are measured beside.
    pub(super) const DEFAULT: [&'static str; 6] = ["BOOL", "1_1", "2_2", "3_3", "client-BOOL", "client-2_2"];

    /// The workloads of these names, or the default ones.
    pub(in crate::bench) fn choose(named: &[Self]) -> Result<Vec<Self>, Error> {
        if named.is_empty() { Self::DEFAULT.iter().map(|name| name.parse()).collect() } else { Ok(named.to_vec()) }
    }

    /// The set that it runs on.
    pub(super) fn parameters(&self) -> Result<Parameters, Error> {
        match self {
            Self::Samples(preset) | Self::Client(preset) => preset.parameters(),
        }
    }
}

impl FromStr for Workload {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        match name.strip_prefix(CLIENT) {
            Some(set) => Preset::named(set).map(Self::Client),
            None => Preset::named(name).map(Self::Samples),
        }
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Samples(preset) => f.write_str(preset.name),
            Self::Client(preset) => write!(f, "{CLIENT}{}", preset.name),
        }
    }
}
