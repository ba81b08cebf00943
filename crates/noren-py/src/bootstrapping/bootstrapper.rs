//! `Bootstrapper`: new levels for ciphertexts.

use std::sync::Arc;

use noren::bootstrapping::{Bootstrapper, Mode};
use pyo3::prelude::*;

use crate::array::detached;
use crate::bootstrapping::keys::{PyBootstrapKeys, PyBootstrapParameters};
use crate::ckks::classes::PyCiphertext;
use crate::errors::raise;

/// Gives ciphertexts new levels. Shared between threads.
///
/// mode: "real" for real numbers, which takes less time and refuses what may be complex, or "complex".
///
/// Making one encodes the matrices. Messages may be of any magnitude up to 1024, as the ciphertext states it; the error
/// of a result grows with it.
///
/// >>> from noren import bootstrapping, ckks
/// >>> params = bootstrapping.Parameters("toy")  # a small ring, for an example
/// >>> ctx = ckks.Context(params.ckks)
/// >>> keys = ctx.keygen(level=params.output_level)
/// >>> boot = bootstrapping.Bootstrapper(bootstrapping.BootstrapKeys.generate(params, keys.secret))
/// >>> ev = ctx.evaluator(keys.evaluation).with_bootstrapping(boot)
/// >>> x = ev.bind(ctx.encrypt([0.9, -0.99], keys.public, slots=2, level=params.output_level))
/// >>> for _ in range(6):
/// ...     x = x * x
/// >>> ctx.decrypt(x, keys.secret).round(3)
/// array([0.001, 0.526])
/// >>> ev.bootstraps, ev.log2_failure < -64
/// (2, True)
#[pyclass(frozen, name = "Bootstrapper", module = "noren.bootstrapping")]
pub(crate) struct PyBootstrapper {
    pub(crate) inner: Arc<Bootstrapper>,
    mode: Mode,
}

#[pymethods]
impl PyBootstrapper {
    #[new]
    #[pyo3(signature = (keys, *, mode = "real"))]
    fn new(py: Python<'_>, keys: &PyBootstrapKeys, mode: &str) -> PyResult<Self> {
        let mode: Mode = mode.parse().map_err(raise)?;
        let file = keys.0.clone();
        let inner = detached(py, || Bootstrapper::new(&file.context, &file.parameters, file.keys.clone(), mode))?;
        Ok(Self { inner: Arc::new(inner), mode })
    }

    /// The parameters.
    #[getter]
    fn parameters(&self) -> PyBootstrapParameters {
        PyBootstrapParameters(self.inner.parameters().clone())
    }

    /// "real", "complex", or "paired": complex, with at most half the slots of the ring and a level less.
    #[getter]
    fn mode(&self) -> &'static str {
        self.mode.name()
    }

    /// The same message at the level of results.
    ///
    /// Raises ParameterMismatchError for a ciphertext of other parameters, LevelError for too few levels, EncodingError
    /// for more slots than are bootstrapped, Error for a level that is not below that of results, or a stated magnitude
    /// that is above 1024 with the error bound.
    fn bootstrap(&self, py: Python<'_>, x: &PyCiphertext) -> PyResult<PyCiphertext> {
        detached(py, || self.inner.bootstrap(&x.inner)).map(|inner| x.beside(inner))
    }

    fn __repr__(&self) -> String {
        format!("Bootstrapper({:?}, mode={:?})", self.inner.parameters().name(), self.mode())
    }
}
