//! Parameters in words and numbers: security, precision, sizes.
//!
//! | room | what it holds |
//! |---|---|
//! | `ring` | what all schemes have: primes, security, sizes |
//! | `ckks`, `integers` | what a scheme adds |
//! | `tfhe` | parameters of TFHE |
//! | `keys` | keys that are planned |
//! | `words` | numbers as people read them |

pub(crate) mod ckks;
pub(crate) mod integers;
pub(crate) mod keys;
pub(crate) mod ring;
pub(crate) mod tfhe;
pub(crate) mod words;

use std::fmt;

use noren::wire::SchemeParameters;
use noren::{bfv, ckks as scheme};
use noren_rlwe::parameters::Parameters;
use serde::Serialize;

pub(crate) use ckks::Ckks;
pub(crate) use integers::{Grid, Integers};
pub(crate) use tfhe::Tfhe;

/// The description of parameters of any scheme.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Description {
    Ckks(Ckks),
    Integers(Integers),
    Tfhe(Tfhe),
}

/// Parameters of a scheme, which can be described.
pub(crate) trait Describe {
    /// The ring and its primes.
    fn rlwe(&self) -> &Parameters;

    /// The description.
    fn describe(&self) -> Description;
}

impl Describe for scheme::Parameters {
    fn rlwe(&self) -> &Parameters {
        Self::rlwe(self)
    }

    fn describe(&self) -> Description {
        Description::Ckks(Ckks::new(self))
    }
}

impl Describe for bfv::Parameters {
    fn rlwe(&self) -> &Parameters {
        Self::rlwe(self)
    }

    fn describe(&self) -> Description {
        Description::Integers(Integers::new(self))
    }
}

impl From<SchemeParameters> for Description {
    fn from(parameters: SchemeParameters) -> Self {
        match parameters {
            SchemeParameters::Ckks(parameters) => parameters.describe(),
            SchemeParameters::Integers(parameters) => parameters.describe(),
            SchemeParameters::Tfhe(parameters) => Self::Tfhe(Tfhe::new(&parameters)),
        }
    }
}

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ckks(description) => description.fmt(f),
            Self::Integers(description) => description.fmt(f),
            Self::Tfhe(description) => description.fmt(f),
        }
    }
}
