//! The operations of the suite, by names that all drivers know.

use std::fmt;
use std::str::FromStr;

use noren::Error;
use noren::tfhe::{Parameters, Preset};

/// A name of the option `--workload`.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Workload {
    /// Keys, encryption, gates or bootstraps of a set.
    Samples(&'static Preset),
    /// The keys that a client makes for its server, in a set.
    Client(&'static Preset),
    /// Arithmetic of integers, by their number of bits.
    Integers(usize),
    /// Any function of two integers of 8 bits.
    Table,
}

/// Stands before the name of the set.
const CLIENT: &str = "client-";
/// Integers, by their bits.
const INTEGERS: [(&str, usize); 4] = [("u8", 8), ("u16", 16), ("u32", 32), ("u64", 64)];
/// Their set of parameters.
const DIGITS: &str = "2_2";
const TABLE: &str = "u8xu8";

impl Workload {
    /// Those that peers are measured beside.
    pub(super) const DEFAULT: [&'static str; 11] =
        ["BOOL", "BOOL_128", "1_1", "2_2", "3_3", "client-BOOL", "client-2_2", "u8", "u16", "u32", TABLE];

    /// The workloads of these names, or the default ones.
    pub(super) fn choose(named: &[Self]) -> Result<Vec<Self>, Error> {
        if named.is_empty() { Self::DEFAULT.iter().map(|name| name.parse()).collect() } else { Ok(named.to_vec()) }
    }

    /// The set that it runs on.
    pub(super) fn parameters(&self) -> Result<Parameters, Error> {
        match self {
            Self::Samples(preset) | Self::Client(preset) => preset.parameters(),
            Self::Integers(_) | Self::Table => Preset::named(DIGITS)?.parameters(),
        }
    }
}

impl FromStr for Workload {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        if let Some((_, bits)) = INTEGERS.iter().find(|(known, _)| *known == name) {
            return Ok(Self::Integers(*bits));
        }
        match name.strip_prefix(CLIENT) {
            _ if name == TABLE => Ok(Self::Table),
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
            Self::Integers(bits) => write!(f, "u{bits}"),
            Self::Table => f.write_str(TABLE),
        }
    }
}
