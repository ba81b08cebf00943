//! `SecretKey`, `PublicKey`, `EvaluationKeys`, and `Keys`, which holds one of each.

use std::path::PathBuf;
use std::sync::Arc;

use noren::ckks::{Context, Encryptor, KeyRequest};
use noren::error::Result;
use noren::wire::{Form, Limits, Object};
use noren::{EvaluationKeys, PublicKey, SecretKey, Seed};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::array::detached;
use crate::context::{PyContext, seed_of, shared_context};
use crate::parameters::PyParameters;

/// The three keys of one owner, made by ``Context.keygen``.
#[pyclass(frozen, name = "Keys", module = "noren.ckks")]
pub(crate) struct PyKeys {
    /// Decrypts; stays with its owner.
    #[pyo3(get)]
    secret: Py<PySecretKey>,
    /// Encrypts; for everybody.
    #[pyo3(get)]
    public: Py<PyPublicKey>,
    /// Evaluates; nothing in it decrypts.
    #[pyo3(get)]
    evaluation: Py<PyEvaluationKeys>,
}

impl PyKeys {
    pub(crate) fn generate(
        py: Python<'_>,
        context: &Context,
        request: &KeyRequest,
        seed: Option<&[u8]>,
    ) -> PyResult<Self> {
        let seed = seed_of(seed)?;
        let keys = detached(py, || context.generate_keys(seed, request))?;
        let context = context.clone();
        Ok(Self {
            secret: Py::new(py, PySecretKey { key: Arc::new(keys.secret), context: context.clone() })?,
            public: Py::new(py, PyPublicKey { key: Arc::new(keys.public), context: context.clone() })?,
            evaluation: Py::new(py, PyEvaluationKeys { key: keys.evaluation, context })?,
        })
    }
}

#[pymethods]
impl PyKeys {
    fn __repr__(&self) -> String {
        format!("Keys(n={})", self.secret.get().context.parameters().degree())
    }
}

/// A key that encrypts.
#[derive(FromPyObject)]
pub(crate) enum EncryptionKey<'py> {
    #[pyo3(annotation = "PublicKey")]
    Public(Bound<'py, PyPublicKey>),
    #[pyo3(annotation = "SecretKey")]
    Secret(Bound<'py, PySecretKey>),
}

/// A key that encrypts, apart from the interpreter.
pub(crate) enum SharedKey {
    Public(Arc<PublicKey>),
    Secret(Arc<SecretKey>),
}

impl EncryptionKey<'_> {
    pub(crate) fn shared(&self) -> SharedKey {
        match self {
            Self::Public(key) => SharedKey::Public(key.get().key.clone()),
            Self::Secret(key) => SharedKey::Secret(key.get().key.clone()),
        }
    }

    /// The context that the key belongs to.
    pub(crate) fn context(&self) -> &Context {
        match self {
            Self::Public(key) => &key.get().context,
            Self::Secret(key) => &key.get().context,
        }
    }
}

impl SharedKey {
    pub(crate) fn encryptor(&self, context: &Context, seed: Seed) -> Result<Encryptor<'_>> {
        match self {
            Self::Public(key) => Encryptor::public(context, key, seed),
            Self::Secret(key) => Encryptor::symmetric(context, key, seed),
        }
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
            /// The key that ``bytes(key)`` gave.
            ///
            /// Raises WireError for bytes that are damaged or of another kind, ParameterMismatchError for those of other
            /// parameters.
            #[staticmethod]
            fn from_bytes(py: Python<'_>, context: &PyContext, data: &[u8]) -> PyResult<Self> {
                let context = context.0.clone();
                let key = detached(py, || <$inner>::from_bytes(context.rlwe(), data))?;
                Ok(Self { key: Arc::new(key), context })
            }

            /// Reads the key from a file. Raises OSError, and what ``from_bytes`` raises.
            #[staticmethod]
            fn load(py: Python<'_>, context: &PyContext, path: PathBuf) -> PyResult<Self> {
                let context = context.0.clone();
                let key = detached(py, || <$inner>::read_file(context.rlwe(), &path, &Limits::default()))?;
                Ok(Self { key: Arc::new(key), context })
            }

            /// Writes the key to a file, as a whole or not at all; that of a secret key is for its owner's eyes alone.
            ///
            /// Raises OSError.
            fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
                detached(py, || self.key.write_file(self.context.rlwe(), Form::Packed, &path))
            }

            #[staticmethod]
            fn _unpickle(py: Python<'_>, parameters: &PyParameters, data: &[u8]) -> PyResult<Self> {
                Self::from_bytes(py, &PyContext(shared_context(py, &parameters.0)?), data)
            }

            /// The parameters that it belongs to.
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
    /// Decrypts, and encrypts with less error than the public key; stays with its owner.
    ///
    /// Pickles and bytes of it are as secret as the key.
    PySecretKey,
    "SecretKey",
    SecretKey
);
key_class!(
    /// Encrypts; for everybody. Can be pickled.
    PyPublicKey,
    "PublicKey",
    PublicKey
);
key_class!(
    /// Evaluates; nothing in it decrypts. Can be pickled.
    PyEvaluationKeys,
    "EvaluationKeys",
    EvaluationKeys
);
