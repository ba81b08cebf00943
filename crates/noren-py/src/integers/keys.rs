//! Keys of exact integers, which serve BGV and BFV.

use std::collections::BTreeMap;
use std::sync::Arc;

use noren::bgv::{Context, KeyFile, Keys};
use noren::error::Result;
use noren::schemes::integers::{Encryptor, Scheme};
use noren::{EvaluationKeys, PublicKey, ReceiverKey, ReencryptionKey, SecretKey, Seed};
use pyo3::prelude::*;

use crate::array::detached;
use crate::integers::classes::PyIntegerContext;
use crate::integers::either::Either;
use crate::key::HeldKey;
use crate::key_classes::{KeyClass, PyEvaluation, PyKey, PySecret, PyThreeKeys};
use crate::key_sets;
use crate::whole::whole;

/// The three keys of one owner, made by ``Context.keygen``. Pickled as ``noren.PicklableSecret(keys)`` only.
#[pyclass(frozen, extends = PyThreeKeys, name = "Keys", module = "noren.bgv")]
pub(crate) struct PyIntegerKeys;

/// Decrypts, and encrypts with less noise than the public key; stays with its owner.
///
/// Its bytes are as secret as the key. Pickled as ``noren.PicklableSecret(key)`` only.
#[pyclass(frozen, from_py_object, extends = PySecret, name = "SecretKey", module = "noren.bgv")]
#[derive(Clone)]
pub(crate) struct PyIntegerSecretKey(pub(crate) Arc<HeldKey<KeyFile<SecretKey>>>);

/// Encrypts; for everybody. Can be pickled.
#[pyclass(frozen, from_py_object, extends = PyKey, name = "PublicKey", module = "noren.bgv")]
#[derive(Clone)]
pub(crate) struct PyIntegerPublicKey(pub(crate) Arc<HeldKey<KeyFile<PublicKey>>>);

/// Evaluates; nothing in it decrypts. Can be pickled.
///
/// ``keys | more`` has the keys of both, of one secret; ``Context.evaluation_keys`` makes more of them.
#[pyclass(frozen, extends = PyEvaluation, name = "EvaluationKeys", module = "noren.bgv")]
pub(crate) struct PyIntegerEvaluationKeys(pub(crate) Arc<HeldKey<KeyFile<EvaluationKeys>>>);

/// Re-encrypts ciphertexts of one secret key for another; made by ``Context.reencryption_key``. Can be pickled.
///
/// It decrypts nothing by itself, but whoever has it and the new secret key has the old one too. ``owner`` is the new one.
#[pyclass(frozen, extends = PyKey, name = "ReencryptionKey", module = "noren.bgv")]
pub(crate) struct PyIntegerReencryptionKey(pub(crate) Arc<HeldKey<KeyFile<ReencryptionKey>>>);

/// Others re-encrypt with it for its secret key: a public key modulo the special primes too, made by ``Context.receiver_key``.
///
/// For everybody. Can be pickled.
#[pyclass(frozen, from_py_object, extends = PyKey, name = "ReceiverKey", module = "noren.bgv")]
#[derive(Clone)]
pub(crate) struct PyIntegerReceiverKey(pub(crate) Arc<HeldKey<KeyFile<ReceiverKey>>>);

impl KeyClass for PyIntegerSecretKey {
    type File = KeyFile<SecretKey>;

    fn with_bases(key: PyClassInitializer<PyKey>, held: Arc<HeldKey<Self::File>>) -> PyClassInitializer<Self> {
        key.add_subclass(PySecret).add_subclass(Self(held))
    }
}

impl KeyClass for PyIntegerPublicKey {
    type File = KeyFile<PublicKey>;

    fn with_bases(key: PyClassInitializer<PyKey>, held: Arc<HeldKey<Self::File>>) -> PyClassInitializer<Self> {
        key.add_subclass(Self(held))
    }
}

impl KeyClass for PyIntegerEvaluationKeys {
    type File = KeyFile<EvaluationKeys>;

    fn with_bases(key: PyClassInitializer<PyKey>, held: Arc<HeldKey<Self::File>>) -> PyClassInitializer<Self> {
        key.add_subclass(PyEvaluation).add_subclass(Self(held))
    }
}

impl KeyClass for PyIntegerReceiverKey {
    type File = KeyFile<ReceiverKey>;

    fn with_bases(key: PyClassInitializer<PyKey>, held: Arc<HeldKey<Self::File>>) -> PyClassInitializer<Self> {
        key.add_subclass(Self(held))
    }
}

impl KeyClass for PyIntegerReencryptionKey {
    type File = KeyFile<ReencryptionKey>;

    fn with_bases(key: PyClassInitializer<PyKey>, held: Arc<HeldKey<Self::File>>) -> PyClassInitializer<Self> {
        key.add_subclass(Self(held))
    }
}

#[pymethods]
impl PyIntegerKeys {
    #[staticmethod]
    fn _unpickle<'py>(
        secret: Bound<'py, PyIntegerSecretKey>,
        public: Bound<'py, PyIntegerPublicKey>,
        evaluation: Bound<'py, PyIntegerEvaluationKeys>,
    ) -> PyResult<Py<Self>> {
        PyThreeKeys::of(secret, public, evaluation, Self)
    }
}

#[pymethods]
impl PyIntegerSecretKey {
    /// The context that it belongs to, for BFV.
    #[getter]
    fn bfv_context(&self) -> PyIntegerContext {
        PyIntegerContext(Either::Bfv(self.0.context.clone()))
    }

    /// The context that it belongs to, for BGV.
    #[getter]
    fn bgv_context(&self) -> PyIntegerContext {
        PyIntegerContext(Either::Bgv(self.0.context.clone()))
    }
}

#[pymethods]
impl PyIntegerPublicKey {
    /// The context that it belongs to, for BFV.
    #[getter]
    fn bfv_context(&self) -> PyIntegerContext {
        PyIntegerContext(Either::Bfv(self.0.context.clone()))
    }

    /// The context that it belongs to, for BGV.
    #[getter]
    fn bgv_context(&self) -> PyIntegerContext {
        PyIntegerContext(Either::Bgv(self.0.context.clone()))
    }
}

#[pymethods]
impl PyIntegerEvaluationKeys {
    /// The context that it belongs to, for BFV.
    #[getter]
    fn bfv_context(&self) -> PyIntegerContext {
        PyIntegerContext(Either::Bfv(self.0.context.clone()))
    }

    /// The context that it belongs to, for BGV.
    #[getter]
    fn bgv_context(&self) -> PyIntegerContext {
        PyIntegerContext(Either::Bgv(self.0.context.clone()))
    }

    /// The rotations that there are keys for, by the shorter way round: {steps: the most limbs that its key serves}.
    #[getter]
    fn rotations(&self) -> BTreeMap<isize, usize> {
        key_sets::rotations(self.0.key())
    }

    /// Whether there is a key for ``Evaluator.swap_rows``.
    #[getter]
    fn has_swap(&self) -> bool {
        key_sets::has_conjugation(self.0.key())
    }

    /// The same keys for ciphertexts of at most ``limbs`` limbs, which take less memory and time; shorter ones stay as they
    /// are.
    ///
    /// Raises Error for limbs that there are not.
    fn at_limbs(&self, py: Python<'_>, #[pyo3(from_py_with = whole)] limbs: usize) -> PyResult<Py<Self>> {
        let context = &self.0.context;
        Self::new(py, context, detached(py, || self.0.key().at_limbs(context.rlwe(), limbs))?)
    }

    /// All keys of both sets, which are of one secret; where both have a key, the one that serves more limbs.
    ///
    /// Raises ParameterMismatchError for keys of other parameters, Error for those of another secret.
    fn __or__(&self, py: Python<'_>, other: &Self) -> PyResult<Py<Self>> {
        Self::new(py, &self.0.context, key_sets::merged(self.0.key(), other.0.key())?)
    }
}

#[pymethods]
impl PyIntegerReceiverKey {
    /// The context that it belongs to, for BFV.
    #[getter]
    fn bfv_context(&self) -> PyIntegerContext {
        PyIntegerContext(Either::Bfv(self.0.context.clone()))
    }

    /// The context that it belongs to, for BGV.
    #[getter]
    fn bgv_context(&self) -> PyIntegerContext {
        PyIntegerContext(Either::Bgv(self.0.context.clone()))
    }
}

#[pymethods]
impl PyIntegerReencryptionKey {
    /// The context that it belongs to, for BFV.
    #[getter]
    fn bfv_context(&self) -> PyIntegerContext {
        PyIntegerContext(Either::Bfv(self.0.context.clone()))
    }

    /// The context that it belongs to, for BGV.
    #[getter]
    fn bgv_context(&self) -> PyIntegerContext {
        PyIntegerContext(Either::Bgv(self.0.context.clone()))
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

impl PyIntegerKeys {
    pub(crate) fn new(py: Python<'_>, context: &Context, keys: Keys) -> PyResult<Py<Self>> {
        let secret = PyIntegerSecretKey::new(py, context, keys.secret)?.into_bound(py);
        let public = PyIntegerPublicKey::new(py, context, keys.public)?.into_bound(py);
        let evaluation = PyIntegerEvaluationKeys::new(py, context, Arc::unwrap_or_clone(keys.evaluation))?;
        PyThreeKeys::of(secret, public, evaluation.into_bound(py), Self)
    }
}

/// A key that encrypts.
#[derive(FromPyObject)]
pub(crate) enum IntegerEncryptionKey {
    #[pyo3(annotation = "PublicKey")]
    Public(PyIntegerPublicKey),
    #[pyo3(annotation = "SecretKey")]
    Secret(PyIntegerSecretKey),
}

impl IntegerEncryptionKey {
    pub(crate) fn encryptor<S: Scheme>(&self, context: &Context, seed: Seed) -> Result<Encryptor<'_, S>> {
        match self {
            Self::Public(PyIntegerPublicKey(held)) => Encryptor::public(context, held.key(), seed),
            Self::Secret(PyIntegerSecretKey(held)) => Encryptor::symmetric(context, held.key(), seed),
        }
    }
}

/// The new key of a re-encryption: a secret of the same owner, or a public key of another.
#[derive(FromPyObject)]
pub(crate) enum PyIntegerSuccessor {
    #[pyo3(annotation = "SecretKey")]
    Secret(PyIntegerSecretKey),
    #[pyo3(annotation = "ReceiverKey")]
    Receiver(PyIntegerReceiverKey),
}
