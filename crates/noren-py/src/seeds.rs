//! Seeds from Python.

use noren::Seed;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::errors::raise;

/// 32 bytes from the caller, or fresh ones from the operating system.
pub(crate) fn seed_of(bytes: Option<&[u8]>) -> PyResult<Seed> {
    match bytes {
        None => Seed::random().map_err(|error| raise(error.into())),
        Some(bytes) => {
            let bytes: [u8; 32] = bytes
                .try_into()
                .map_err(|_| PyValueError::new_err(format!("a seed has 32 bytes, found {}", bytes.len())))?;
            Ok(Seed::from_bytes(bytes))
        }
    }
}
