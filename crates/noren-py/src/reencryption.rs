//! How ciphertexts for another owner are covered, as Python says it.

use noren::{Cover, Error};
use pyo3::PyResult;

use crate::errors::raise;

/// The ciphertexts that the owner ever gets, and the bits of the distance, where nothing is said.
pub(crate) const DEFAULT_RESULTS: u64 = 1 << 16;
pub(crate) const DEFAULT_DISTANCE: u32 = 64;

/// The most ciphertexts, and the bits that are taken.
const MOST_RESULTS: u64 = 1 << 40;
const DISTANCES: std::ops::RangeInclusive<u32> = 40..=128;

/// The cover of these arguments.
pub(crate) fn cover_of(flood: bool, results: u64, distance: u32) -> PyResult<Cover> {
    if !flood {
        return Ok(Cover::NoFlood);
    }
    if !(1..=MOST_RESULTS).contains(&results) {
        return Err(raise(Error::parameter("results", results, format!("1 to {MOST_RESULTS}"))));
    }
    if !DISTANCES.contains(&distance) {
        let needed = format!("{} to {} bits", DISTANCES.start(), DISTANCES.end());
        return Err(raise(Error::parameter("distance", distance, needed)));
    }
    Ok(Cover::Flood { results, distance })
}
