//! `SecretKey`, `PublicKey`, `EvaluationKeys`, and `Keys`, which holds one of each.

use std::collections::BTreeMap;
use std::sync::Arc;

use noren::ckks::{Context, Encryptor, KeyFile, KeyRequest};
use noren::error::Result;
use noren::{EvaluationKeys, PublicKey, ReceiverKey, ReencryptionKey, SecretKey, Seed};
use pyo3::prelude::*;

use crate::array::detached;
use crate::ckks::classes::PyContext;
use crate::ckks::level::Level;
use crate::key::HeldKey;
use crate::key_classes::{KeyClass, PyEvaluation, PyKey, PySecret, PyThreeKeys};
use crate::key_sets;
use crate::progress::Heard;
use crate::seeds::seed_of;

/// The three keys of one owner, made by ``Context.keygen``. Pickled as ``noren.PicklableSecret(keys)`` only.
#[pyclass(frozen, extends = PyThreeKeys, name = "Keys", module = "noren.ckks")]
pub(crate) struct PyKeys;

/// Decrypts, and encrypts with less noise than the public key; stays with its owner.
///
/// Its bytes are as secret as the key. Pickled as ``noren.PicklableSecret(key)`` only.
#[pyclass(frozen, from_py_object, extends = PySecret, name = "SecretKey", module = "noren.ckks")]
#[derive(Clone)]
pub(crate) struct PySecretKey(pub(crate) Arc<HeldKey<KeyFile<SecretKey>>>);

/// Encrypts; for everybody. Can be pickled.
#[pyclass(frozen, from_py_object, extends = PyKey, name = "PublicKey", module = "noren.ckks")]
#[derive(Clone)]
pub(crate) struct PyPublicKey(pub(crate) Arc<HeldKey<KeyFile<PublicKey>>>);

/// Evaluates; nothing in it decrypts. Can be pickled.
///
/// ``keys | more`` has the keys of both, of one secret; ``Context.evaluation_keys`` makes more of them.
#[pyclass(frozen, extends = PyEvaluation, name = "EvaluationKeys", module = "noren.ckks")]
pub(crate) struct PyEvaluationKeys(pub(crate) Arc<HeldKey<KeyFile<EvaluationKeys>>>);

/// Re-encrypts ciphertexts of one secret key for another; made by ``Context.reencryption_key``. Can be pickled.
///
/// It decrypts nothing by itself, but whoever has it and the new secret key has the old one too. ``owner`` is the new one.
#[pyclass(frozen, extends = PyKey, name = "ReencryptionKey", module = "noren.ckks")]
pub(crate) struct PyReencryptionKey(pub(crate) Arc<HeldKey<KeyFile<ReencryptionKey>>>);

/// Others re-encrypt with it for its secret key: a public key modulo the special primes too, made by ``Context.receiver_key``.
///
/// For everybody. Can be pickled.
#[pyclass(frozen, from_py_object, extends = PyKey, name = "ReceiverKey", module = "noren.ckks")]
#[derive(Clone)]
pub(crate) struct PyReceiverKey(pub(crate) Arc<HeldKey<KeyFile<ReceiverKey>>>);

impl KeyClass for PySecretKey {
    type File = KeyFile<SecretKey>;

    fn with_bases(key: PyClassInitializer<PyKey>, held: Arc<HeldKey<Self::File>>) -> PyClassInitializer<Self> {
        key.add_subclass(PySecret).add_subclass(Self(held))
    }
}

impl KeyClass for PyPublicKey {
    type File = KeyFile<PublicKey>;

    fn with_bases(key: PyClassInitializer<PyKey>, held: Arc<HeldKey<Self::File>>) -> PyClassInitializer<Self> {
        key.add_subclass(Self(held))
    }
}

impl KeyClass for PyEvaluationKeys {
    type File = KeyFile<EvaluationKeys>;

    fn with_bases(key: PyClassInitializer<PyKey>, held: Arc<HeldKey<Self::File>>) -> PyClassInitializer<Self> {
        key.add_subclass(PyEvaluation).add_subclass(Self(held))
    }
}

impl KeyClass for PyReceiverKey {
    type File = KeyFile<ReceiverKey>;

    fn with_bases(key: PyClassInitializer<PyKey>, held: Arc<HeldKey<Self::File>>) -> PyClassInitializer<Self> {
        key.add_subclass(Self(held))
    }
}

impl KeyClass for PyReencryptionKey {
    type File = KeyFile<ReencryptionKey>;

    fn with_bases(key: PyClassInitializer<PyKey>, held: Arc<HeldKey<Self::File>>) -> PyClassInitializer<Self> {
        key.add_subclass(Self(held))
    }
}

#[pymethods]
impl PyKeys {
    #[staticmethod]
    fn _unpickle<'py>(
        secret: Bound<'py, PySecretKey>,
        public: Bound<'py, PyPublicKey>,
        evaluation: Bound<'py, PyEvaluationKeys>,
    ) -> PyResult<Py<Self>> {
        PyThreeKeys::of(secret, public, evaluation, Self)
    }
}

#[pymethods]
impl PySecretKey {
    /// The context that it belongs to.
    #[getter]
    fn context(&self) -> PyContext {
        PyContext(self.0.context.clone())
    }
}

#[pymethods]
impl PyPublicKey {
    /// The context that it belongs to.
    #[getter]
    fn context(&self) -> PyContext {
        PyContext(self.0.context.clone())
    }
}

#[pymethods]
impl PyEvaluationKeys {
    /// The context that it belongs to.
    #[getter]
    fn context(&self) -> PyContext {
        PyContext(self.0.context.clone())
    }

    /// The rotations that there are keys for, by the shorter way round: {steps: the highest level that its key serves}.
    #[getter]
    fn rotations(&self) -> BTreeMap<isize, usize> {
        key_sets::rotations(self.0.key()).into_iter().map(|(steps, limbs)| (steps, limbs - 1)).collect()
    }

    /// Whether there is a key for ``Evaluator.conjugate``.
    #[getter]
    fn has_conjugation(&self) -> bool {
        key_sets::has_conjugation(self.0.key())
    }

    /// The same keys for ciphertexts up to a level, which take less memory and time; lower ones stay as they are.
    ///
    /// Raises LevelError for a level that there is not.
    fn at_level(&self, py: Python<'_>, level: Level) -> PyResult<Py<Self>> {
        let level = level.get();
        let context = &self.0.context;
        let cut = detached(py, || {
            let left = context.parameters().max_level();
            if level > left {
                return Err(noren::Error::LevelExhausted { needed: level, left });
            }
            self.0.key().at_limbs(context.rlwe(), level + 1)
        })?;
        Self::new(py, context, cut)
    }

    /// All keys of both sets, which are of one secret; where both have a key, the one that serves more limbs.
    ///
    /// Raises ParameterMismatchError for keys of other parameters, Error for those of another secret.
    fn __or__(&self, py: Python<'_>, other: &Self) -> PyResult<Py<Self>> {
        Self::new(py, &self.0.context, key_sets::merged(self.0.key(), other.0.key())?)
    }
}

#[pymethods]
impl PyReceiverKey {
    /// The context that it belongs to.
    #[getter]
    fn context(&self) -> PyContext {
        PyContext(self.0.context.clone())
    }
}

#[pymethods]
impl PyReencryptionKey {
    /// The context that it belongs to.
    #[getter]
    fn context(&self) -> PyContext {
        PyContext(self.0.context.clone())
    }

    /// The identity of the secret key whose ciphertexts it takes, in hexadecimal.
    #[getter]
    fn source(&self) -> String {
        self.0.key().from().to_hex()
    }

    /// Whether the new secret key is of another owner, for whom ciphertexts are covered.
    #[getter]
    fn for_another_owner(&self) -> bool {
        self.0.key().is_for_another_owner()
    }
}

impl PyKeys {
    pub(crate) fn generate(
        py: Python<'_>,
        context: &Context,
        request: &KeyRequest,
        seed: Option<&[u8]>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Py<Self>> {
        let (seed, heard) = (seed_of(seed)?, Heard::new(progress));
        let hear = |done, of| heard.call(done, of);
        let keys = heard.watch(py, || context.generate_keys_with_progress(seed, request, Some(&hear)))?;
        let secret = PySecretKey::new(py, context, keys.secret)?.into_bound(py);
        let public = PyPublicKey::new(py, context, keys.public)?.into_bound(py);
        let evaluation = PyEvaluationKeys::new(py, context, Arc::unwrap_or_clone(keys.evaluation))?.into_bound(py);
        PyThreeKeys::of(secret, public, evaluation, Self)
    }
}

impl PyEvaluationKeys {
    /// Makes the keys of a request for a secret that there is.
    pub(crate) fn generate(
        py: Python<'_>,
        context: &Context,
        secret: &PySecretKey,
        request: &KeyRequest,
        seed: Option<&[u8]>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Py<Self>> {
        let (seed, heard, secret) = (seed_of(seed)?, Heard::new(progress), secret.0.key());
        let hear = |done, of| heard.call(done, of);
        let keys = heard.watch(py, || context.evaluation_keys(secret, seed, request, Some(&hear)))?;
        Self::new(py, context, keys)
    }
}

/// A key that encrypts.
#[derive(FromPyObject)]
pub(crate) enum EncryptionKey {
    #[pyo3(annotation = "PublicKey")]
    Public(PyPublicKey),
    #[pyo3(annotation = "SecretKey")]
    Secret(PySecretKey),
}

impl EncryptionKey {
    /// The context that the key belongs to.
    pub(crate) fn context(&self) -> &Context {
        match self {
            Self::Public(PyPublicKey(held)) => &held.context,
            Self::Secret(PySecretKey(held)) => &held.context,
        }
    }

    pub(crate) fn encryptor(&self, context: &Context, seed: Seed) -> Result<Encryptor<'_>> {
        match self {
            Self::Public(PyPublicKey(held)) => Encryptor::public(context, held.key(), seed),
            Self::Secret(PySecretKey(held)) => Encryptor::symmetric(context, held.key(), seed),
        }
    }
}

/// The new key of a re-encryption: a secret of the same owner, or a public key of another.
#[derive(FromPyObject)]
pub(crate) enum PySuccessor {
    #[pyo3(annotation = "SecretKey")]
    Secret(PySecretKey),
    #[pyo3(annotation = "ReceiverKey")]
    Receiver(PyReceiverKey),
}
