//! The suite `kernels`: the arithmetic on one row, for each instruction set, and what memory gives.

mod clock;
mod conversion;
mod memory;
mod rows;
mod torus;

pub(super) use rows::{largest_primes, row};

use std::ops::RangeInclusive;

use clap::Args;
use noren_cli::measure::{After, Failure, Run};
use noren_math::kernels::available;

/// The degrees that are measured: rows of 2^9 to 2^19 bytes.
const DEGREES: RangeInclusive<u32> = 6..=16;
/// The degrees that can be measured.
const ALLOWED: RangeInclusive<u32> = 3..=17;
/// The degree whose rows are also measured where they fill more than the caches.
const MEMORY_DEGREE: u32 = 16;

/// The options of the suite.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Base-two logarithms of the degrees of rings [default: 6 to 16]
    #[arg(long, value_name = "BITS,...", value_delimiter = ',')]
    log_n: Vec<u32>,
}

impl Options {
    /// Measures the suite, and says after each step which it was.
    pub(crate) fn run(&self, run: &Run<'_>, after: &mut After<'_>) -> Result<(), Failure> {
        for log_n in degrees(&self.log_n, DEGREES, ALLOWED)? {
            measure(run, log_n)?;
            after(&[("--suite", "kernels"), ("--log-n", &log_n.to_string())])?;
        }
        Ok(())
    }
}

/// These degrees, or the usual ones if there are none; refuses those that are not allowed.
pub(super) fn degrees(
    wanted: &[u32],
    usual: RangeInclusive<u32>,
    allowed: RangeInclusive<u32>,
) -> Result<Vec<u32>, Failure> {
    match wanted.iter().find(|log_n| !allowed.contains(log_n)) {
        Some(log_n) => Err(Failure::Unsuitable {
            what: "--log-n",
            found: log_n.to_string(),
            needed: format!("{} to {}", allowed.start(), allowed.end()),
        }),
        None if wanted.is_empty() => Ok(usual.collect()),
        None => Ok(wanted.to_vec()),
    }
}

/// Measures all kernels of all instruction sets of this machine at one degree.
fn measure(run: &Run<'_>, log_n: u32) -> Result<(), Failure> {
    let mut rows = rows::Rows::new(log_n)?;
    for table in available() {
        rows.measure(run, table)?;
        torus::measure(run, log_n, table)?;
    }
    if log_n == MEMORY_DEGREE { memory::run(run, log_n, &memory::Amount::LARGE) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn degrees_out_of_range_are_refused() {
        assert!(degrees(&[3, 17], DEGREES, ALLOWED).is_ok());
        assert!(degrees(&[14, 18], DEGREES, ALLOWED).is_err());
        assert_eq!(degrees(&[], DEGREES, ALLOWED).expect("a list").len(), 11);
    }
}
