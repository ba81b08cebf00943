//! `SecretKey`, `PublicKey`, `EvaluationKeys`, and `Keys`, which holds one of each.

use std::path::PathBuf;
use std::sync::Arc;

use noren::ckks::{Context, Keys};
use noren::wire::{Form, Limits, Object};
use noren::{EvaluationKeys, PublicKey, SecretKey};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::array::detached;
use crate::context::{PyContext, context_of};
use crate::errors::raise;
use crate::parameters::PyParameters;

/// The three keys of one owner.
#[pyclass(frozen, name = "Keys", module = "noren.ckks")]
pub(crate) struct PyKeys {
    #[pyo3(get)]
    secret: Py<PySecretKey>,
    #[pyo3(get)]
    public: Py<PyPublicKey>,
    #[pyo3(get)]
    evaluation: Py<PyEvaluationKeys>,
}

impl PyKeys {
    pub(crate) fn new(py: Python<'_>, context: &Context, keys: Keys) -> PyResult<Self> {
        let context = context.clone();
        Ok(Self {
            secret: Py::new(py, PySecretKey { key: Arc::new(keys.secret), context: context.clone() })?,
            public: Py::new(py, PyPublicKey { key: Arc::new(keys.public), context: context.clone() })?,
            evaluation: Py::new(py, PyEvaluationKeys { key: keys.evaluation, context })?,
        })
    }
}

/// A key class: the key, the context that it belongs to, and its bytes.
macro_rules! key_class {
    ($(#[$doc:meta])* $name:ident, $python:literal, $inner:ty) => {
        $(#[$doc])*
        #[pyclass(frozen, name = $python, module = "noren.ckks")]
        pub(crate) struct $name {
            pub(crate) key: Arc<$inner>,
            pub(crate) context: Context,
        }

        #[pymethods]
        impl $name {
            #[staticmethod]
            fn from_bytes(py: Python<'_>, context: &PyContext, data: &[u8]) -> PyResult<Self> {
                let context = context.0.clone();
                let key = detached(py, || <$inner>::from_bytes(context.rlwe(), data))?;
                Ok(Self { key: Arc::new(key), context })
            }

            #[staticmethod]
            fn load(py: Python<'_>, context: &PyContext, path: PathBuf) -> PyResult<Self> {
                let context = context.0.clone();
                let key = detached(py, || <$inner>::read_file(context.rlwe(), &path, &Limits::default()))?;
                Ok(Self { key: Arc::new(key), context })
            }

            fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
                detached(py, || self.key.write_file(self.context.rlwe(), Form::Packed, &path))
            }

            #[staticmethod]
            fn _unpickle(py: Python<'_>, parameters: &PyParameters, data: &[u8]) -> PyResult<Self> {
                let context = context_of(&parameters.0).map_err(raise)?;
                Self::from_bytes(py, &PyContext(context), data)
            }

            #[getter]
            fn parameters(&self) -> PyParameters {
                PyParameters(self.context.parameters().clone())
            }

            fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
                let bytes = py.detach(|| self.key.to_bytes(self.context.rlwe(), Form::Packed));
                PyBytes::new(py, &bytes)
            }

            fn __reduce__<'py>(
                &self,
                py: Python<'py>,
            ) -> PyResult<(Bound<'py, PyAny>, (PyParameters, Bound<'py, PyBytes>))> {
                let unpickle = py.get_type::<Self>().getattr("_unpickle")?;
                Ok((unpickle, (self.parameters(), self.__bytes__(py))))
            }

            fn __repr__(&self) -> String {
                format!(concat!($python, "(n={})"), self.context.parameters().degree())
            }
        }
    };
}

key_class!(
    /// Decrypts; stays with its owner. Pickles and bytes of it are as secret as the key.
    PySecretKey,
    "SecretKey",
    SecretKey
);
key_class!(
    /// Encrypts.
    PyPublicKey,
    "PublicKey",
    PublicKey
);
key_class!(
    /// Evaluates; nothing in it decrypts.
    PyEvaluationKeys,
    "EvaluationKeys",
    EvaluationKeys
);
