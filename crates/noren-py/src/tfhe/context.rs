//! `Context` of TFHE: key generation, encryption and decryption.

use noren::programs::columns::{Column, Element};
use noren::tfhe::{CompactKeys, Context, Decryptor, Encryptor, LightKeys};
use pyo3::prelude::*;

use crate::admission::warn;
use crate::array::detached;
use crate::errors::raise;
use crate::failure_budget::budget;
use crate::key_classes::KeyClass;
use crate::pickle::{ContextPickle, Shared, Threading, shared_context};
use crate::progress::Heard;
use crate::seeds::seed_of;
use crate::tfhe::classes::{PyEncryptedArray, PyTfheContext, PyTfheEvaluator};
use crate::tfhe::keys::{
    AnyServerKeys, PyTfheCircuitKeys, PyTfheKeys, PyTfheLightKeys, PyTfheSecretKey, PyTfheServerKeys,
};
use crate::tfhe::numbers::{self, ExactNumbers};
use crate::tfhe::parameters::PyTfheParameters;
use crate::whole::whole;

/// Server keys as they travel.
enum Travelling {
    Compact(CompactKeys),
    Light(LightKeys),
}

#[pymethods]
impl PyTfheContext {
    #[new]
    #[pyo3(signature = (parameters, *, threads = None))]
    fn new(
        py: Python<'_>,
        parameters: &PyTfheParameters,
        #[pyo3(from_py_with = whole)] threads: Option<usize>,
    ) -> PyResult<Self> {
        let parameters = parameters.0.clone();
        warn(py, "Context", parameters.spec().torus.security)?;
        detached(py, || Context::with_threads(parameters, threads)).map(Self)
    }

    /// The parameters.
    #[getter]
    pub(crate) fn parameters(&self) -> PyTfheParameters {
        PyTfheParameters(self.0.parameters().clone())
    }

    /// How many threads a call can use.
    #[getter]
    fn threads(&self) -> usize {
        self.0.engine().threads()
    }

    /// Makes a secret key and the keys that compute.
    ///
    /// circuit: whether there are keys of circuit bootstrapping, for ``Evaluator.lookup`` of functions of 8 bits and more.
    /// seed: 32 secret bytes from which all keys follow; None draws them from the operating system.
    /// progress: called with (done, of) as the work goes on. What it raises ends the work.
    ///
    /// Raises Error if the parameters have no circuit bootstrapping.
    #[pyo3(signature = (*, circuit = false, seed = None, progress = None))]
    fn keygen(
        &self,
        py: Python<'_>,
        circuit: bool,
        seed: Option<&[u8]>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<PyTfheKeys> {
        let (seed, context) = (seed_of(seed)?, &self.0);
        warn(py, "keygen", context.parameters().spec().torus.security)?;
        let (secret, server, circuit) = Heard::new(progress).follow(py, raise, || {
            let secret = context.secret_key(&seed);
            let server = if context.parameters().torus().spec().light.is_some() {
                Travelling::Light(context.light_keys(&seed, &secret)?)
            } else {
                Travelling::Compact(context.compact_keys(&seed, &secret)?)
            };
            let circuit = circuit.then(|| context.circuit_keys(&seed, &secret)).transpose()?;
            Ok((secret, server, circuit))
        })?;
        Ok(PyTfheKeys {
            secret: PyTfheSecretKey::new(py, context, secret)?,
            server: match server {
                Travelling::Compact(keys) => PyTfheServerKeys::new(py, context, keys)?.into_any(),
                Travelling::Light(keys) => PyTfheLightKeys::new(py, context, keys)?.into_any(),
            },
            circuit: circuit.map(|keys| PyTfheCircuitKeys::new(py, context, keys)).transpose()?,
        })
    }

    /// Encrypts an array of truth values or of integers of 8, 16, 32 or 64 bits, each element by itself.
    ///
    /// The type and the shape are public. Integers need parameters of digits of two bits, such as "2_2".
    ///
    /// digits: each number becomes a single digit, with room for carries: numbers below 2^message_bits, for any parameters of
    ///     integers.
    /// seed: 32 secret bytes that are used for this call alone; None draws them from the operating system.
    ///
    /// Raises TypeError for other types, EncodingError for numbers out of range and for no numbers, Error if the parameters do not
    /// hold such elements, ParameterMismatchError for a key of other parameters.
    #[pyo3(signature = (values, key, *, digits = false, seed = None))]
    fn encrypt(
        &self,
        py: Python<'_>,
        values: &Bound<'_, PyAny>,
        key: &PyTfheSecretKey,
        digits: bool,
        seed: Option<&[u8]>,
    ) -> PyResult<PyEncryptedArray> {
        let ExactNumbers { shape, entries, element } = ExactNumbers::of(values)?;
        let element = if digits { Element::Digit } else { element };
        numbers::check_range(&entries, element, &element.range(self.0.parameters()))?;
        let (seed, key) = (seed_of(seed)?, key.0.key());
        let column = detached(py, || Column::encrypt(&Encryptor::new(&self.0, key, seed)?, element, &entries))?;
        Ok(PyEncryptedArray::new(&self.0, shape, column))
    }

    /// Decrypts to an array of the shape and type that was encrypted; single digits to uint8.
    ///
    /// Raises ParameterMismatchError for other parameters, Error for other keys, and for values that no computation gives.
    fn decrypt<'py>(
        &self,
        py: Python<'py>,
        x: &PyEncryptedArray,
        key: &PyTfheSecretKey,
    ) -> PyResult<Bound<'py, PyAny>> {
        let key = key.0.key();
        let values = detached(py, || x.column.decrypt(&Decryptor::new(&self.0, key)?))?;
        numbers::into_array(py, &values, x.column.element(), &x.shape)
    }

    /// The evaluator of these keys: ServerKeys, LightKeys or ExpandedServerKeys.
    ///
    /// failure_budget: the base-two logarithm of the largest probability with which any bootstrap may fail; an operation that would
    ///     exceed it raises Error. ``bootstraps`` and ``log2_failure`` count.
    /// progress: called with (done, of) while keys are expanded. What it raises ends the work.
    ///
    /// Raises ParameterMismatchError for keys of other parameters, Error for keys of different owners.
    #[pyo3(signature = (keys, circuit = None, *, failure_budget = None, progress = None))]
    fn evaluator(
        &self,
        py: Python<'_>,
        keys: AnyServerKeys<'_>,
        circuit: Option<&PyTfheCircuitKeys>,
        failure_budget: Option<f64>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<PyTfheEvaluator> {
        PyTfheEvaluator::new(py, &self.0, &keys, circuit, budget(failure_budget)?, progress)
    }

    #[staticmethod]
    fn _unpickle(py: Python<'_>, parameters: &PyTfheParameters, threading: Threading) -> PyResult<Self> {
        shared_context(py, &parameters.0, &threading).map(Self)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<ContextPickle<'py, PyTfheParameters>> {
        Ok((py.get_type::<Self>().getattr("_unpickle")?, (self.parameters(), self.0.threading())))
    }

    fn __repr__(&self) -> String {
        format!("Context({})", self.parameters().__repr__())
    }
}
