//! Workloads: what is to be computed, on which values, how often, and for whom.

use std::str::FromStr;

use noren_rlwe::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// A computation on encrypted values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Computation {
    /// The product of `count` values.
    Product {
        /// How many there are.
        count: usize,
    },
    /// The sum of `count` values.
    Sum {
        /// How many there are.
        count: usize,
    },
    /// The inner product of two encrypted vectors.
    InnerProduct {
        /// Their length.
        length: usize,
    },
    /// `x^(2^depth)` of one value, by squarings. At `|x| = 1` each squaring doubles an error; deep ones of reals are
    /// therefore also offered for values that stay a little below 1, which the reasons then name.
    Squarings {
        /// How many follow one another.
        depth: usize,
    },
    /// A polynomial of one value.
    Polynomial {
        /// Its degree.
        degree: usize,
    },
    /// A matrix in clear times an encrypted vector.
    Matrix {
        /// Rows of the matrix.
        rows: usize,
        /// Columns of the matrix.
        columns: usize,
    },
    /// Whether the first of two values is less than the second.
    Compare,
    /// Any function of one value, or of two, by its table.
    Table {
        /// The number of values, 1 or 2.
        inputs: usize,
    },
}

/// The kind of values.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Values {
    /// Real numbers in `[-1, 1]`, as intermediate results are; results with an error of at most `2^-bits`.
    Real {
        /// Bits of precision.
        bits: f64,
    },
    /// Unsigned integers.
    Integer {
        /// Bits of an input.
        bits: u32,
        /// Bits of the results, which are exact; fewer than the largest result has mean modulo a power of two. As many as it
        /// has, up to 64, where there is no number.
        #[serde(default)]
        result_bits: Option<u32>,
    },
}

/// The time that candidates are ordered by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Objective {
    /// The server's time; or all of both parties' time, as for [`Once`](Self::Once), where the client is a slower device.
    #[default]
    Auto,
    /// The server's time for all instances, which come together.
    Server,
    /// The time from the inputs to the results: encryption, the server, decryption.
    Latency,
    /// The time of both parties with all keys, for work that is done once.
    Once,
}

impl FromStr for Objective {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "auto" => Ok(Self::Auto),
            "server" => Ok(Self::Server),
            "latency" => Ok(Self::Latency),
            "once" => Ok(Self::Once),
            _ => Err(Error::parameter("objective", name, "auto, server, latency or once")),
        }
    }
}

/// A workload.
///
/// # Examples
/// ```
/// use noren::advisor::{Computation, Values, Workload};
///
/// let workload = Workload::new(Computation::InnerProduct { length: 100 }, Values::Real { bits: 20.0 });
/// assert_eq!(workload.instances, 1);
/// # Ok::<(), noren::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// The computation.
    pub computation: Computation,
    /// The kind of values.
    pub values: Values,
    /// How many times it is done, on values of their own, all at once.
    #[serde(default = "one")]
    pub instances: usize,
    /// The time that candidates are ordered by.
    #[serde(default)]
    pub objective: Objective,
    /// The largest base-two logarithm of the probability that any result is wrong.
    #[serde(default = "usual_failure")]
    pub log2_failure: f64,
    /// For comparisons of reals: within this distance either answer is right.
    #[serde(default)]
    pub dead_zone: Option<f64>,
    /// For sums and products of integers: results are exact modulo this number, whatever their size.
    #[serde(default)]
    pub modulus: Option<u64>,
}

const fn one() -> usize {
    1
}

const fn usual_failure() -> f64 {
    -40.0
}

/// The most of anything that can be asked for.
const MOST: usize = 1 << 24;
/// The most bits of an integer.
const MOST_BITS: u32 = 64;
/// The largest modulus of integers.
const MOST_MODULUS: u64 = 1 << 60;

impl Workload {
    /// One instance, with the usual objective and probability of failure.
    #[must_use]
    pub const fn new(computation: Computation, values: Values) -> Self {
        let (objective, log2_failure) = (Objective::Auto, usual_failure());
        Self { computation, values, instances: 1, objective, log2_failure, dead_zone: None, modulus: None }
    }

    /// Reads a workload from JSON.
    ///
    /// # Errors
    /// [`Error::Parameters`] for what is no workload.
    pub fn parse(json: &str) -> Result<Self> {
        let needed = "a workload, such as `noren advise --json` shows";
        serde_json::from_str(json).map_err(|error| Error::parameter("workload", error.to_string(), needed))
    }

    /// Refuses what no scheme can be asked for.
    ///
    /// # Errors
    /// [`Error::Parameters`] names what is outside of its range.
    pub fn check(&self) -> Result<()> {
        let within = |name: &'static str, found: usize, least: usize| match found {
            found if (least..=MOST).contains(&found) => Ok(()),
            found => Err(Error::parameter(name, found, format!("{least} to {MOST}"))),
        };
        within("instances", self.instances, 1)?;
        match self.computation {
            Computation::Product { count } | Computation::Sum { count } => within("count", count, 1)?,
            Computation::InnerProduct { length } => within("length", length, 1)?,
            Computation::Squarings { depth } => within("depth", depth, 1)?,
            Computation::Polynomial { degree } => within("degree", degree, 1)?,
            Computation::Matrix { rows, columns } => {
                within("rows", rows, 1)?;
                within("columns", columns, 1)?;
            }
            Computation::Table { inputs } if !(1..=2).contains(&inputs) => {
                return Err(Error::parameter(
                    "inputs",
                    inputs,
                    "1 or 2: longer tables are out of reach of all schemes",
                ));
            }
            Computation::Compare | Computation::Table { .. } => {}
        }
        self.check_modulus()?;
        match self.values {
            Values::Real { bits } if !(bits.is_finite() && bits > 0.0) => {
                Err(Error::parameter("bits", bits, "a positive number"))
            }
            Values::Integer { bits, result_bits }
                if ![bits, result_bits.unwrap_or(1)].iter().all(|bits| (1..=MOST_BITS).contains(bits)) =>
            {
                Err(Error::parameter("bits", format!("{bits} and {result_bits:?}"), format!("1 to {MOST_BITS}")))
            }
            _ if !(self.log2_failure.is_finite() && self.log2_failure < 0.0) => {
                Err(Error::parameter("log2_failure", self.log2_failure, "a negative number"))
            }
            _ => Ok(()),
        }
    }

    /// Refuses a modulus where nothing is computed modulo one.
    fn check_modulus(&self) -> Result<()> {
        let Some(modulus) = self.modulus else { return Ok(()) };
        let refused = |needed: &str| Err(Error::parameter("modulus", modulus, needed));
        match (self.values, self.computation) {
            (_, Computation::Compare | Computation::Table { .. }) => {
                refused("left out: comparisons and tables are of integers as they are")
            }
            (Values::Integer { result_bits: None, .. }, _) if (2..=MOST_MODULUS).contains(&modulus) => Ok(()),
            (Values::Integer { result_bits: None, .. }, _) => refused("from 2 to 2^60"),
            (Values::Integer { .. }, _) => refused("given without bits of results: results are modulo this number"),
            (Values::Real { .. }, _) => refused("left out: real numbers are not taken modulo anything"),
        }
    }

    /// How many values one instance takes.
    #[must_use]
    pub const fn inputs(&self) -> usize {
        match self.computation {
            Computation::Product { count } | Computation::Sum { count } => count,
            Computation::InnerProduct { length } => 2 * length,
            Computation::Squarings { .. } | Computation::Polynomial { .. } => 1,
            Computation::Matrix { columns, .. } => columns,
            Computation::Compare => 2,
            Computation::Table { inputs } => inputs,
        }
    }

    /// How many values one instance gives.
    #[must_use]
    pub const fn outputs(&self) -> usize {
        match self.computation {
            Computation::Matrix { rows, .. } => rows,
            _ => 1,
        }
    }

    /// The bits of integer results: those asked for, or of the largest.
    #[must_use]
    pub fn result_bits(&self, bits: u32, asked: Option<u32>) -> u32 {
        asked.unwrap_or_else(|| self.exact_bits(bits).ceil().clamp(1.0, f64::from(MOST_BITS)) as u32)
    }

    /// The bits of the largest result of exact arithmetic on integers.
    ///
    /// Entries of matrices and coefficients of polynomials have as many bits as the values.
    #[must_use]
    pub fn exact_bits(&self, bits: u32) -> f64 {
        let bits = f64::from(bits);
        let log2 = |count: usize| libm::log2(count.max(1) as f64);
        match self.computation {
            Computation::Product { count } => bits * count as f64,
            Computation::Sum { count } => bits + log2(count),
            Computation::InnerProduct { length } => 2.0 * bits + log2(length),
            Computation::Squarings { depth } => bits * libm::exp2(depth as f64),
            Computation::Polynomial { degree } => bits * (degree + 1) as f64 + 1.0,
            Computation::Matrix { columns, .. } => 2.0 * bits + log2(columns),
            Computation::Compare => 1.0,
            Computation::Table { .. } => bits,
        }
    }
}
