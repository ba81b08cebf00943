//! The classes of BGV and those of BFV: their names and how they are made. The methods are those of their bases.

use std::sync::Arc;

use noren::bgv::Context;
use noren::schemes::integers::Evaluator;
use pyo3::prelude::*;

use crate::admission;
use crate::array::detached;
use crate::errors::raise;
use crate::evaluators::Registration;
use crate::integers::classes::{PyEncrypted, PyIntegerContext, PyIntegerEvaluator};
use crate::integers::either::{AnyEvaluator, Either, each, other_class};
use crate::integers::keys::PyIntegerEvaluationKeys;
use crate::integers::parameters::PyIntegerParameters;
use crate::whole::whole;

/// Parameters of exact integers with their tables, for BGV: makes keys, encrypts and decrypts.
///
/// Results do not depend on `threads`: None works on all cores, 1 starts no thread, n starts n of its own. All
/// methods let other Python threads run. A pickle holds the parameters alone.
#[pyclass(frozen, extends = PyIntegerContext, name = "Context", module = "noren.bgv")]
pub(crate) struct PyBgvContext;

/// Parameters of exact integers with their tables, for BFV: makes keys, encrypts and decrypts.
///
/// Results do not depend on `threads`: None works on all cores, 1 starts no thread, n starts n of its own. All
/// methods let other Python threads run. A pickle holds the parameters alone.
#[pyclass(frozen, extends = PyIntegerContext, name = "Context", module = "noren.bfv")]
pub(crate) struct PyBfvContext;

/// A vector of integers modulo t, encrypted for BGV.
///
/// The operators ``+``, ``-``, ``*``, ``**`` and ``matrix @ x`` are those of the evaluator that made
/// one of the operands, or of the one that there is for their parameters and key; where there are several with
/// different keys, ``Evaluator.bind`` says which. Ciphertexts are immutable, and can be pickled.
#[pyclass(frozen, extends = PyEncrypted, name = "Ciphertext", module = "noren.bgv")]
pub(crate) struct PyBgvCiphertext;

/// A vector of integers modulo t, encrypted for BFV.
///
/// The operators ``+``, ``-``, ``*``, ``**`` and ``matrix @ x`` are those of the evaluator that made
/// one of the operands, or of the one that there is for their parameters and key; where there are several with
/// different keys, ``Evaluator.bind`` says which. Ciphertexts are immutable, and can be pickled.
#[pyclass(frozen, extends = PyEncrypted, name = "Ciphertext", module = "noren.bfv")]
pub(crate) struct PyBfvCiphertext;

/// Computes on ciphertexts of BGV with evaluation keys; for all threads at once. Can be pickled.
///
/// Where a method takes an operand `y`, this is a Ciphertext, a whole number, or an array as ``Context.encrypt``
/// takes it. Every method raises ParameterMismatchError for a ciphertext of other parameters, Error if the noise
/// could reach the message, and MissingKeyError that names the key if one is missing.
#[pyclass(frozen, extends = PyIntegerEvaluator, name = "Evaluator", module = "noren.bgv")]
pub(crate) struct PyBgvEvaluator;

/// Computes on ciphertexts of BFV with evaluation keys; for all threads at once. Can be pickled.
///
/// Where a method takes an operand `y`, this is a Ciphertext, a whole number, or an array as ``Context.encrypt``
/// takes it. Every method raises ParameterMismatchError for a ciphertext of other parameters, Error if the noise
/// could reach the message, and MissingKeyError that names the key if one is missing.
#[pyclass(frozen, extends = PyIntegerEvaluator, name = "Evaluator", module = "noren.bfv")]
pub(crate) struct PyBfvEvaluator;

#[pymethods]
impl PyBgvContext {
    #[new]
    #[pyo3(signature = (parameters, *, threads = None))]
    fn new(
        py: Python<'_>,
        parameters: &PyIntegerParameters,
        #[pyo3(from_py_with = whole)] threads: Option<usize>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let base = PyIntegerContext(Either::Bgv(made(py, parameters, threads)?));
        Ok(PyClassInitializer::from(base).add_subclass(Self))
    }
}

#[pymethods]
impl PyBfvContext {
    #[new]
    #[pyo3(signature = (parameters, *, threads = None))]
    fn new(
        py: Python<'_>,
        parameters: &PyIntegerParameters,
        #[pyo3(from_py_with = whole)] threads: Option<usize>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let base = PyIntegerContext(Either::Bfv(made(py, parameters, threads)?));
        Ok(PyClassInitializer::from(base).add_subclass(Self))
    }
}

fn made(py: Python<'_>, parameters: &PyIntegerParameters, threads: Option<usize>) -> PyResult<Context> {
    let parameters = parameters.0.clone();
    admission::warn(py, "Context", parameters.rlwe().security())?;
    detached(py, || Context::with_threads(parameters, threads))
}

#[pymethods]
impl PyBgvEvaluator {
    #[new]
    fn new(context: &PyIntegerContext, keys: &PyIntegerEvaluationKeys) -> PyResult<PyClassInitializer<Self>> {
        let Either::Bgv(context) = &context.0 else { return Err(other_class("Context")) };
        let evaluator = Evaluator::new(context, Arc::new(keys.0.key().clone())).map_err(raise)?;
        Ok(PyIntegerEvaluator::held(Either::Bgv(evaluator)).add_subclass(PyBgvEvaluator))
    }
}

#[pymethods]
impl PyBfvEvaluator {
    #[new]
    fn new(context: &PyIntegerContext, keys: &PyIntegerEvaluationKeys) -> PyResult<PyClassInitializer<Self>> {
        let Either::Bfv(context) = &context.0 else { return Err(other_class("Context")) };
        let evaluator = Evaluator::new(context, Arc::new(keys.0.key().clone())).map_err(raise)?;
        Ok(PyIntegerEvaluator::held(Either::Bfv(evaluator)).add_subclass(PyBfvEvaluator))
    }
}

impl PyIntegerEvaluator {
    /// An evaluator for Python to hold.
    fn held(evaluator: AnyEvaluator) -> PyClassInitializer<Self> {
        let registration = Registration::new(Self::unregistered(evaluator.clone()));
        Self { inner: evaluator, registration: Some(registration) }.into()
    }
}

impl<'py> IntoPyObject<'py> for PyIntegerContext {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let scheme = each!(&self.0, |_| ());
        let base = PyClassInitializer::from(self);
        match scheme {
            Either::Bgv(()) => Bound::new(py, base.add_subclass(PyBgvContext)).map(Bound::into_any),
            Either::Bfv(()) => Bound::new(py, base.add_subclass(PyBfvContext)).map(Bound::into_any),
        }
    }
}

impl<'py> IntoPyObject<'py> for PyEncrypted {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let scheme = each!(&self.inner, |_| ());
        let base = PyClassInitializer::from(self);
        match scheme {
            Either::Bgv(()) => Bound::new(py, base.add_subclass(PyBgvCiphertext)).map(Bound::into_any),
            Either::Bfv(()) => Bound::new(py, base.add_subclass(PyBfvCiphertext)).map(Bound::into_any),
        }
    }
}

impl<'py> IntoPyObject<'py> for PyIntegerEvaluator {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let base = Self::held(self.inner.clone());
        match self.inner {
            Either::Bgv(_) => Bound::new(py, base.add_subclass(PyBgvEvaluator)).map(Bound::into_any),
            Either::Bfv(_) => Bound::new(py, base.add_subclass(PyBfvEvaluator)).map(Bound::into_any),
        }
    }
}
