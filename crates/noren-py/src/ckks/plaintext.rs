//! `Plaintext`: an encoded vector.

use noren::ckks::{Context, Plaintext};
use noren::wire::{Form, Object};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::array::detached;
use crate::ckks::classes::{PyContext, PyPlaintext};
use crate::ckks::parameters::PyParameters;
use crate::pickle::{Pickle, Shared, Threading, bytes_beside, shared_context};

impl PyPlaintext {
    pub(crate) fn new(context: &Context, inner: Plaintext) -> Self {
        Self { inner, context: context.clone() }
    }
}

#[pymethods]
impl PyPlaintext {
    /// The level that it was encoded for.
    #[getter]
    fn level(&self) -> usize {
        self.inner.level()
    }

    /// How many values it has, as (n,).
    #[getter]
    fn shape(&self) -> (usize,) {
        (self.inner.extent().values(),)
    }

    /// The number of slots.
    #[getter]
    fn slots(&self) -> usize {
        self.inner.slots()
    }

    /// The scale: the coefficients are this multiple of the message, rounded.
    #[getter]
    fn scale(&self) -> f64 {
        self.inner.scale().to_f64()
    }

    /// A bound on the absolute error of every slot.
    #[getter]
    fn error_bound(&self) -> f64 {
        self.inner.error_bound()
    }

    /// The context that it belongs to.
    #[getter]
    fn context(&self) -> PyContext {
        PyContext(self.context.clone())
    }

    /// The parameters that it belongs to.
    #[getter]
    fn parameters(&self) -> PyParameters {
        PyParameters(self.context.parameters().clone())
    }

    /// The plaintext that ``bytes(plaintext)`` gave.
    ///
    /// Raises WireError for bytes that are damaged or of another kind, ParameterMismatchError for other parameters.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, context: &PyContext, data: &[u8]) -> PyResult<Self> {
        let inner = detached(py, || Plaintext::from_bytes(&context.0, data))?;
        Ok(Self::new(&context.0, inner))
    }

    #[staticmethod]
    fn _unpickle(py: Python<'_>, parameters: &PyParameters, data: &[u8], threading: Threading) -> PyResult<Self> {
        Self::from_bytes(py, &PyContext(shared_context(py, &parameters.0, &threading)?), data)
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        bytes_beside(py, &self.inner, &self.context, Form::Packed)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Pickle<'py, PyParameters>> {
        let unpickle = py.get_type::<Self>().getattr("_unpickle")?;
        Ok((unpickle, (self.parameters(), self.__bytes__(py)?, self.context.threading())))
    }

    fn __repr__(&self) -> String {
        format!("Plaintext(slots={}, level={})", self.slots(), self.level())
    }
}
