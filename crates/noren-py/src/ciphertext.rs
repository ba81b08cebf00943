//! `Ciphertext`, with operators where an evaluator made it.

use noren::ckks::{Ciphertext, Context};
use noren::wire::{Form, Object};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::array::detached;
use crate::context::{PyContext, context_of};
use crate::errors::raise;
use crate::evaluator::PyEvaluator;
use crate::parameters::PyParameters;

/// An encrypted vector.
#[pyclass(frozen, name = "Ciphertext", module = "noren.ckks")]
#[derive(Clone)]
pub(crate) struct PyCiphertext {
    pub(crate) inner: Ciphertext,
    context: Context,
    /// The evaluator that made it, which its operators use.
    evaluator: Option<PyEvaluator>,
}

impl PyCiphertext {
    pub(crate) fn new(context: &Context, inner: Ciphertext, evaluator: Option<PyEvaluator>) -> Self {
        Self { inner, context: context.clone(), evaluator }
    }

    fn evaluator(&self, other: Option<&Bound<'_, PyAny>>) -> PyResult<PyEvaluator> {
        let of_other = || other?.cast::<Self>().ok()?.get().evaluator.clone();
        self.evaluator.clone().or_else(of_other).ok_or_else(|| {
            PyTypeError::new_err(
                "no operand was made by an evaluator, so there are no keys: use ev.bind(x), or methods such as ev.mul(x, y)",
            )
        })
    }
}

#[pymethods]
impl PyCiphertext {
    #[getter]
    fn level(&self) -> usize {
        self.inner.level()
    }

    #[getter]
    fn slots(&self) -> usize {
        self.inner.slots()
    }

    #[getter]
    fn scale(&self) -> f64 {
        self.inner.scale().to_f64()
    }

    #[getter]
    fn error_bound(&self) -> f64 {
        self.inner.error_bound()
    }

    #[getter]
    fn magnitude(&self) -> f64 {
        self.inner.magnitude()
    }

    #[getter]
    fn parameters(&self) -> PyParameters {
        PyParameters(self.inner.parameters().clone())
    }

    fn with_magnitude(&self, magnitude: f64) -> Self {
        let inner = self.inner.clone().with_magnitude(magnitude);
        Self { inner, context: self.context.clone(), evaluator: self.evaluator.clone() }
    }

    fn __add__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.evaluator(Some(other))?.add(py, self, other)
    }

    fn __radd__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.__add__(py, other)
    }

    fn __sub__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.evaluator(Some(other))?.sub(py, self, other)
    }

    fn __rsub__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        let evaluator = self.evaluator(Some(other))?;
        evaluator.add(py, &evaluator.neg(py, self)?, other)
    }

    fn __mul__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.evaluator(Some(other))?.mul(py, self, other)
    }

    fn __rmul__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.__mul__(py, other)
    }

    fn __neg__(&self, py: Python<'_>) -> PyResult<Self> {
        self.evaluator(None)?.neg(py, self)
    }

    /// Keeps numpy from taking a ciphertext for an array of objects in `array * ciphertext`.
    #[classattr]
    fn __array_ufunc__() -> Option<u8> {
        None
    }

    #[pyo3(signature = (*, packed = true))]
    fn to_bytes<'py>(&self, py: Python<'py>, packed: bool) -> Bound<'py, PyBytes> {
        let form = if packed { Form::Packed } else { Form::Raw };
        let bytes = py.detach(|| self.inner.to_bytes(&self.context, form));
        PyBytes::new(py, &bytes)
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.to_bytes(py, true)
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, context: &PyContext, data: &[u8]) -> PyResult<Self> {
        let inner = detached(py, || Ciphertext::from_bytes(&context.0, data))?;
        Ok(Self::new(&context.0, inner, None))
    }

    #[staticmethod]
    fn _unpickle(py: Python<'_>, parameters: &PyParameters, data: &[u8]) -> PyResult<Self> {
        let context = context_of(&parameters.0).map_err(raise)?;
        Self::from_bytes(py, &PyContext(context), data)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (PyParameters, Bound<'py, PyBytes>))> {
        let unpickle = py.get_type::<Self>().getattr("_unpickle")?;
        Ok((unpickle, (self.parameters(), self.__bytes__(py))))
    }

    fn __repr__(&self) -> String {
        format!(
            "Ciphertext(slots={}, level={}, error_bound={:.2e})",
            self.slots(),
            self.level(),
            self.error_bound()
        )
    }
}
