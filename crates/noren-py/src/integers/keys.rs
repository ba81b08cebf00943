//! Keys of exact integers, which serve BGV and BFV.

use std::path::PathBuf;
use std::sync::Arc;

use noren::bgv::{Context, KeyFile, Keys};
use noren::wire::{Form, Limits, Object};
use noren::{EvaluationKeys, PublicKey, SecretKey};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::array::detached;
use crate::integers::parameters::PyIntegerParameters;

/// The three keys of one owner, made by ``Context.keygen``.
#[pyclass(frozen, name = "IntegerKeys", module = "noren._noren")]
pub(crate) struct PyIntegerKeys {
    /// Decrypts; stays with its owner.
    #[pyo3(get)]
    secret: Py<PyIntegerSecretKey>,
    /// Encrypts; for everybody.
    #[pyo3(get)]
    public: Py<PyIntegerPublicKey>,
    /// Evaluates; nothing in it decrypts.
    #[pyo3(get)]
    evaluation: Py<PyIntegerEvaluationKeys>,
}

impl PyIntegerKeys {
    pub(crate) fn new(py: Python<'_>, context: &Context, keys: Keys) -> PyResult<Self> {
        Ok(Self {
            secret: Py::new(py, PyIntegerSecretKey::new(context, keys.secret))?,
            public: Py::new(py, PyIntegerPublicKey::new(context, keys.public))?,
            evaluation: Py::new(py, PyIntegerEvaluationKeys::new(context, Arc::unwrap_or_clone(keys.evaluation)))?,
        })
    }
}

#[pymethods]
impl PyIntegerKeys {
    fn __repr__(&self) -> String {
        format!("Keys(n={})", self.secret.get().0.context.parameters().degree())
    }
}

/// A key that encrypts.
#[derive(FromPyObject)]
pub(crate) enum IntegerEncryptionKey<'py> {
    #[pyo3(annotation = "PublicKey")]
    Public(Bound<'py, PyIntegerPublicKey>),
    #[pyo3(annotation = "SecretKey")]
    Secret(Bound<'py, PyIntegerSecretKey>),
}

/// A key class: the key with the context that it belongs to, its bytes and files.
macro_rules! key_class {
    ($(#[$doc:meta])* $name:ident, $python:literal, $inner:ty) => {
        $(#[$doc])*
        #[pyclass(frozen, name = $python, module = "noren._noren")]
        pub(crate) struct $name(pub(crate) Arc<KeyFile<$inner>>);

        impl $name {
            pub(crate) fn new(context: &Context, key: $inner) -> Self {
                Self(Arc::new(KeyFile { context: context.clone(), key }))
            }
        }

        #[pymethods]
        impl $name {
            /// The parameters that it belongs to.
            #[getter]
            fn parameters(&self) -> PyIntegerParameters {
                PyIntegerParameters(self.0.context.parameters().clone())
            }

            /// The key that ``bytes(key)`` gave, with its parameters.
            ///
            /// Raises WireError for bytes that are damaged or of another kind.
            #[staticmethod]
            fn from_bytes(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
                detached(py, || KeyFile::from_bytes(&(), data)).map(|file| Self(Arc::new(file)))
            }

            /// Reads the key and its parameters from a file. Raises OSError, and what ``from_bytes`` raises.
            #[staticmethod]
            fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
                detached(py, || KeyFile::read_file(&(), &path, &Limits::default())).map(|file| Self(Arc::new(file)))
            }

            /// Writes the key and its parameters to a file, as a whole or not at all.
            ///
            /// The file of a secret key can be read by its owner only. Raises OSError.
            fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
                detached(py, || self.0.write_file(&(), Form::Packed, &path))
            }

            fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
                let bytes = py.detach(|| self.0.to_bytes(&(), Form::Packed));
                PyBytes::new(py, &bytes)
            }

            fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
                Ok((py.get_type::<Self>().getattr("from_bytes")?, (self.__bytes__(py),)))
            }

            fn __repr__(&self) -> String {
                format!(concat!($python, "(n={})"), self.0.context.parameters().degree())
            }
        }
    };
}

key_class!(
    /// Decrypts, and encrypts with less noise than the public key; stays with its owner.
    ///
    /// Pickles and bytes of it are as secret as the key.
    PyIntegerSecretKey,
    "IntegerSecretKey",
    SecretKey
);
key_class!(
    /// Encrypts; for everybody. Can be pickled.
    PyIntegerPublicKey,
    "IntegerPublicKey",
    PublicKey
);
key_class!(
    /// Evaluates; nothing in it decrypts. Can be pickled.
    PyIntegerEvaluationKeys,
    "IntegerEvaluationKeys",
    EvaluationKeys
);
