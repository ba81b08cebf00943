//! `Evaluator` of TFHE.

use std::sync::Arc;

use noren::error::Result;
use noren::programs::columns::{Binary, Column, ColumnEvaluator, Unary};
use noren::tfhe::{Context, Evaluator};
use pyo3::prelude::*;

use crate::array::detached;
use crate::errors::EncodingError;
use crate::tfhe::array::PyEncryptedArray;
use crate::tfhe::context::PyTfheContext;
use crate::tfhe::keys::{PyTfheCircuitKeys, PyTfheServerKeys};
use crate::tfhe::numbers::ExactNumbers;

/// Evaluates on encrypted arrays with server keys; for all threads at once.
///
/// Where a method takes an operand `y`, this is an EncryptedArray of the type and shape of `x`, or clear: a number, or an array
/// that numpy spreads over the shape. Every method raises ParameterMismatchError for an array of other parameters, EncodingError for
/// shapes that differ and numbers out of range, Error for arrays of other keys or types, and for operations that a type does not have.
#[pyclass(frozen, name = "TfheEvaluator", module = "noren._noren")]
#[derive(Clone)]
pub(crate) struct PyTfheEvaluator(Arc<Inner>);

struct Inner {
    columns: ColumnEvaluator,
    context: Context,
}

impl PyTfheEvaluator {
    pub(crate) fn new(
        py: Python<'_>,
        context: &Context,
        keys: &PyTfheServerKeys,
        circuit: Option<&PyTfheCircuitKeys>,
    ) -> PyResult<Self> {
        let columns = detached(py, || {
            let mut evaluator = Evaluator::new(context, Arc::new(context.expand(&keys.file.key)?))?;
            if let Some(circuit) = circuit {
                evaluator = evaluator.with_circuit_keys(Arc::new(context.expand_circuit(&circuit.file.key)?))?;
            }
            ColumnEvaluator::new(evaluator)
        })?;
        Ok(Self(Arc::new(Inner { columns, context: context.clone() })))
    }

    /// An array whose operators use this evaluator.
    fn wrap(&self, shape: &[usize], column: Column) -> PyEncryptedArray {
        PyEncryptedArray::new(&self.0.context, shape.to_vec(), column).bound(self)
    }

    fn run(
        &self,
        py: Python<'_>,
        shape: &[usize],
        work: impl FnOnce(&ColumnEvaluator) -> Result<Column> + Send,
    ) -> PyResult<PyEncryptedArray> {
        detached(py, || work(&self.0.columns)).map(|column| self.wrap(shape, column))
    }

    /// What stands beside an encrypted array, as a column of its type and shape.
    pub(crate) fn operand(&self, py: Python<'_>, y: &Bound<'_, PyAny>, beside: &PyEncryptedArray) -> PyResult<Column> {
        if let Ok(y) = y.cast::<PyEncryptedArray>() {
            let y = y.get();
            if y.shape != beside.shape {
                let (x, y) = (&beside.shape, &y.shape);
                let message = format!("arrays of the shapes {x:?} and {y:?} meet: one shape is needed");
                return Err(EncodingError::new_err(message));
            }
            return Ok(y.column.clone());
        }
        let (parameters, element) = (self.0.context.parameters(), beside.column.element());
        let values = ExactNumbers::spread(y, parameters, element, &beside.shape)?;
        detached(py, || self.0.columns.trivial(element, &values))
    }

    pub(crate) fn join(
        &self,
        py: Python<'_>,
        operation: Binary,
        x: &PyEncryptedArray,
        y: &Bound<'_, PyAny>,
    ) -> PyResult<PyEncryptedArray> {
        let y = self.operand(py, y, x)?;
        self.join_columns(py, operation, &x.column, &y, &x.shape)
    }

    pub(crate) fn join_columns(
        &self,
        py: Python<'_>,
        operation: Binary,
        x: &Column,
        y: &Column,
        shape: &[usize],
    ) -> PyResult<PyEncryptedArray> {
        self.run(py, shape, |columns| columns.binary(operation, x, y))
    }

    pub(crate) fn each(&self, py: Python<'_>, operation: Unary, x: &PyEncryptedArray) -> PyResult<PyEncryptedArray> {
        self.run(py, &x.shape, |columns| columns.unary(operation, &x.column))
    }
}

#[pymethods]
impl PyTfheEvaluator {
    /// The context.
    #[getter]
    fn context(&self) -> PyTfheContext {
        PyTfheContext(self.0.context.clone())
    }

    /// The same array, whose operators use this evaluator.
    fn bind(&self, x: &PyEncryptedArray) -> PyEncryptedArray {
        x.clone().bound(self)
    }

    /// The smaller of both elements.
    fn minimum(&self, py: Python<'_>, x: &PyEncryptedArray, y: &Bound<'_, PyAny>) -> PyResult<PyEncryptedArray> {
        self.join(py, Binary::Min, x, y)
    }

    /// The larger of both elements.
    fn maximum(&self, py: Python<'_>, x: &PyEncryptedArray, y: &Bound<'_, PyAny>) -> PyResult<PyEncryptedArray> {
        self.join(py, Binary::Max, x, y)
    }

    /// Elements of `x` where the condition, an encrypted array of truth values, holds, and of `y` elsewhere.
    #[pyo3(name = "where")]
    fn choose(
        &self,
        py: Python<'_>,
        condition: &PyEncryptedArray,
        x: &PyEncryptedArray,
        y: &Bound<'_, PyAny>,
    ) -> PyResult<PyEncryptedArray> {
        let y = self.operand(py, y, x)?;
        self.run(py, &x.shape, |columns| columns.select(&condition.column, &x.column, &y))
    }

    fn __repr__(&self) -> String {
        format!("Evaluator({})", PyTfheContext(self.0.context.clone()).parameters().__repr__())
    }
}
