//! `Releases`: how many decryptions are handed on, and what they may tell.

use std::sync::{Mutex, MutexGuard, PoisonError};

use noren::ckks::Releases;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;

use crate::errors::raise;
use crate::whole::whole;

/// How many decryptions of one secret key are handed on, and how much they may tell of it together.
///
/// planned: how many releases there will be. The same release made again counts once.
/// statistical_security: bits s from 1 to 80: whoever sees all releases, and chooses each after seeing earlier ones, tells
///     them from numbers without the error of the encryption with an advantage of at most 2^-((s + 1) / 2). 80 bits are an
///     advantage of 2^-40.5.
///
/// A release of k values adds Gaussian noise of a standard deviation of at least error_bound * sqrt(k * planned * 2^(s - 1)).
/// Source: Li, Micciancio, Schultz and Sorrell, eprint 2022/816.
///
/// Raises Error for numbers out of range.
#[pyclass(frozen, module = "noren.ckks", name = "Releases")]
pub(crate) struct PyReleases(Mutex<Releases>);

impl PyReleases {
    /// The releases of a caller, or one. Without the interpreter.
    pub(crate) fn with<T>(
        given: Option<&Self>,
        work: impl FnOnce(&mut Releases) -> noren::Result<T>,
    ) -> noren::Result<T> {
        match given {
            Some(releases) => work(&mut releases.0.lock().unwrap_or_else(PoisonError::into_inner)),
            None => work(&mut Releases::new(1)?),
        }
    }

    /// Waits without the interpreter, which a release at work may need.
    fn lock(&self, py: Python<'_>) -> MutexGuard<'_, Releases> {
        self.0.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl PyReleases {
    #[new]
    #[pyo3(signature = (planned = 1, *, statistical_security = 40))]
    fn new(
        #[pyo3(from_py_with = whole)] planned: u64,
        #[pyo3(from_py_with = whole)] statistical_security: u32,
    ) -> PyResult<Self> {
        let releases =
            Releases::new(planned).and_then(|releases| releases.with_statistical_security(statistical_security));
        Ok(Self(Mutex::new(releases.map_err(raise)?)))
    }

    /// How many releases are planned.
    #[getter]
    fn planned(&self, py: Python<'_>) -> u64 {
        self.lock(py).planned()
    }

    /// How many were made.
    #[getter]
    fn made(&self, py: Python<'_>) -> u64 {
        self.lock(py).made()
    }

    /// The bits of statistical security of all planned releases together.
    #[getter]
    fn statistical_security(&self, py: Python<'_>) -> u32 {
        self.lock(py).statistical_security()
    }

    /// The most bits after the point with which ``values`` values of this error bound can be released.
    #[pyo3(signature = (error_bound, values = 1))]
    fn bits(&self, py: Python<'_>, error_bound: f64, #[pyo3(from_py_with = whole)] values: usize) -> i32 {
        self.lock(py).bits(error_bound, values)
    }

    /// The largest error bound with which ``values`` values can be released with these bits after the point.
    #[pyo3(signature = (bits, values = 1))]
    fn error_bound(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = whole)] bits: i32,
        #[pyo3(from_py_with = whole)] values: usize,
    ) -> f64 {
        self.lock(py).error_bound(bits, values)
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        format!("Releases({})", *self.lock(py))
    }
}
