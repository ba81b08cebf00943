//! `SecretKey`, `PublicKey`, `EvaluationKeys`, and `Keys`, which holds one of each.

use std::path::PathBuf;
use std::sync::Arc;

use noren::ckks::{Context, Encryptor, KeyFile, KeyRequest};
use noren::error::Result;
use noren::wire::{Form, Limits, Object};
use noren::{EvaluationKeys, PublicKey, SecretKey, Seed};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::array::detached;
use crate::context::{PyContext, seed_of, shared_context};
use crate::parameters::{Pickle, PyParameters};

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
        Ok(Self {
            secret: Py::new(py, PySecretKey::new(context, keys.secret))?,
            public: Py::new(py, PyPublicKey::new(context, keys.public))?,
            evaluation: Py::new(py, PyEvaluationKeys::new(context, Arc::unwrap_or_clone(keys.evaluation)))?,
        })
    }
}

#[pymethods]
impl PyKeys {
    fn __repr__(&self) -> String {
        format!("Keys(n={})", self.secret.get().0.context.parameters().degree())
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
    Public(Arc<KeyFile<PublicKey>>),
    Secret(Arc<KeyFile<SecretKey>>),
}

impl EncryptionKey<'_> {
    pub(crate) fn shared(&self) -> SharedKey {
        match self {
            Self::Public(key) => SharedKey::Public(key.get().0.clone()),
            Self::Secret(key) => SharedKey::Secret(key.get().0.clone()),
        }
    }
}

impl SharedKey {
    /// The context that the key belongs to.
    pub(crate) fn context(&self) -> &Context {
        match self {
            Self::Public(file) => &file.context,
            Self::Secret(file) => &file.context,
        }
    }

    pub(crate) fn encryptor(&self, context: &Context, seed: Seed) -> Result<Encryptor<'_>> {
        match self {
            Self::Public(file) => Encryptor::public(context, &file.key, seed),
            Self::Secret(file) => Encryptor::symmetric(context, &file.key, seed),
        }
    }
}

/// A key class: the key with the context that it belongs to, its bytes and files.
macro_rules! key_class {
    ($(#[$doc:meta])* $name:ident, $python:literal, $inner:ty) => {
        $(#[$doc])*
        #[pyclass(frozen, name = $python, module = "noren.ckks")]
        pub(crate) struct $name(pub(crate) Arc<KeyFile<$inner>>);

        impl $name {
            pub(crate) fn new(context: &Context, key: $inner) -> Self {
                Self(Arc::new(KeyFile { context: context.clone(), key }))
            }
        }

        #[pymethods]
        impl $name {
            /// The context that it belongs to.
            #[getter]
            fn context(&self) -> PyContext {
                PyContext(self.0.context.clone())
            }

            /// The parameters that it belongs to.
            #[getter]
            fn parameters(&self) -> PyParameters {
                PyParameters(self.0.context.parameters().clone())
            }

            /// The key that ``bytes(key)`` gave, with its parameters.
            ///
            /// Raises WireError for bytes that are damaged or of another kind.
            #[staticmethod]
            fn from_bytes(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
                detached(py, || KeyFile::from_bytes(&(), data)).map(|file| Self(Arc::new(file)))
            }

            /// Reads the key and its parameters from a file, as the tool ``noren`` writes it too.
            ///
            /// Raises OSError, and what ``from_bytes`` raises.
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

            // A pickle holds the parameters by themselves, so that all that is unpickled shares one context.
            #[staticmethod]
            fn _unpickle(py: Python<'_>, parameters: &PyParameters, data: &[u8]) -> PyResult<Self> {
                let context = shared_context(py, &parameters.0)?;
                let key = detached(py, || <$inner>::from_bytes(context.rlwe(), data))?;
                Ok(Self::new(&context, key))
            }

            fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Pickle<'py>> {
                let bytes = py.detach(|| self.0.key.to_bytes(self.0.context.rlwe(), Form::Packed));
                let unpickle = py.get_type::<Self>().getattr("_unpickle")?;
                Ok((unpickle, (self.parameters(), PyBytes::new(py, &bytes))))
            }

            fn __repr__(&self) -> String {
                format!(concat!($python, "(n={})"), self.0.context.parameters().degree())
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
