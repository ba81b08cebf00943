//! The names of all ways to compute.

use std::fmt;
use std::str::FromStr;

use noren_rlwe::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// A scheme, or a way to use one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scheme {
    /// CKKS, with as many levels as the computation needs.
    Ckks,
    /// CKKS with bootstrapping.
    CkksBootstrapping,
    /// BGV.
    Bgv,
    /// BFV.
    Bfv,
    /// Lookups of BFV.
    BfvLookups,
    /// TFHE.
    Tfhe,
    /// CKKS, with comparisons in TFHE.
    CkksSwitching,
}

impl Scheme {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Ckks, Self::CkksBootstrapping, Self::Bgv, Self::Bfv, Self::BfvLookups, Self::Tfhe, Self::CkksSwitching];

    /// The name in files, which is that of its [`Backend`](crate::backends::Backend).
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ckks => "ckks",
            Self::CkksBootstrapping => "ckks-bootstrapping",
            Self::Bgv => "bgv",
            Self::Bfv => "bfv",
            Self::BfvLookups => "bfv-lookups",
            Self::Tfhe => "tfhe",
            Self::CkksSwitching => "ckks-switching",
        }
    }
}

impl FromStr for Scheme {
    type Err = Error;

    /// The scheme by its [name](Scheme::name).
    fn from_str(name: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|scheme| scheme.name() == name);
        found.ok_or_else(|| Error::parameter("scheme", name, Self::ALL.map(Self::name).join(", ")))
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ckks => "CKKS",
            Self::CkksBootstrapping => "CKKS with bootstrapping",
            Self::Bgv => "BGV",
            Self::Bfv => "BFV",
            Self::BfvLookups => "BFV with lookups",
            Self::Tfhe => "TFHE",
            Self::CkksSwitching => "CKKS and TFHE with switching",
        })
    }
}
