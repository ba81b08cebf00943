//! The schemes that suites are measured in, by names that all drivers know.

use std::fmt;

use clap::ValueEnum;

use crate::failure::Failure;

/// A scheme of the comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Scheme {
    /// Exact integers, products that are scaled
    Bfv,
    /// Exact integers, limbs dropped after each product
    Bgv,
    /// Approximate numbers
    Ckks,
    /// Integers of digits
    Tfhe,
}

impl Scheme {
    /// The named schemes, or all of a suite; a scheme that the suite lacks is refused.
    pub(super) fn choose(named: &[Self], all: &[Self]) -> Result<Vec<Self>, Failure> {
        if let Some(found) = named.iter().find(|named| !all.contains(named)) {
            let all: Vec<String> = all.iter().map(ToString::to_string).collect();
            let needed = format!("one of {}", all.join(", "));
            return Err(Failure::Unsuitable { what: "--scheme", found: found.to_string(), needed });
        }
        Ok(if named.is_empty() { all } else { named }.to_vec())
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.to_possible_value().expect("no scheme is hidden").get_name())
    }
}
