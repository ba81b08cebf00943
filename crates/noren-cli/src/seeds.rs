//! Seeds of the system.

use noren::Seed;

use crate::failure::Failure;

/// A seed that nobody knows.
pub(crate) fn random() -> Result<Seed, Failure> {
    Ok(Seed::random().map_err(noren::Error::from)?)
}
