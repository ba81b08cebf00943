//! What the caller of the compiler chooses.

use std::fmt;
use std::str::FromStr;

use noren_rlwe::error::{Error, Result};
use noren_rlwe::security::Security;
use serde::{Deserialize, Serialize};

/// A scheme that functions are compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scheme {
    /// Real numbers in slots, with an error bound.
    Ckks,
    /// The same of any depth, with bootstraps where levels run out.
    CkksBootstrapping,
    /// Integers in slots, exact: sums and products.
    Bgv,
    /// Integers and truth values one by one, exact: comparisons, quotients and tables too.
    Tfhe,
}

impl Scheme {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Ckks, Self::CkksBootstrapping, Self::Bgv, Self::Tfhe];
}

/// Choices of a compilation.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// The scheme; the compiler chooses without one.
    pub scheme: Option<Scheme>,
    /// The absolute error that results of real numbers may have; a thousandth of the largest result, or of 1 if results are
    /// smaller, without one.
    pub precision: Option<f64>,
    /// Real numbers that are closer than this may compare either way; comparisons of them are refused without it.
    pub dead_zone: Option<f64>,
    /// The security of keys and ciphertexts.
    pub security: Security,
}

impl Default for Options {
    fn default() -> Self {
        Self { scheme: None, precision: None, dead_zone: None, security: Security::Bits128 }
    }
}

impl Options {
    /// Refuses numbers that are not positive.
    ///
    /// # Errors
    /// [`Error::Parameters`] names the option.
    pub(super) fn check(&self) -> Result<()> {
        for (name, value) in [("precision", self.precision), ("dead_zone", self.dead_zone)] {
            if let Some(value) = value.filter(|value| !(*value > 0.0 && value.is_finite())) {
                return Err(Error::parameter(name, value, "finite, and above 0"));
            }
        }
        Ok(())
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ckks => "ckks",
            Self::CkksBootstrapping => "ckks-bootstrapping",
            Self::Bgv => "bgv",
            Self::Tfhe => "tfhe",
        })
    }
}

impl FromStr for Scheme {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Self::ALL
            .into_iter()
            .find(|scheme| scheme.to_string() == name)
            .ok_or_else(|| Error::parameter("scheme", name, "auto, ckks, ckks-bootstrapping, bgv or tfhe"))
    }
}
