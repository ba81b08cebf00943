//! `SecretKey`, `ServerKeys` and `CircuitKeys` of TFHE, `Keys`, which holds one of each, and `ExpandedServerKeys` in a file.

use std::path::PathBuf;
use std::sync::Arc;

use noren::tfhe::{CompactCircuitKeys, CompactKeys, Context, KeyFile, LightKeys, SecretKey, ServerKeyFile, ServerKeys};
use noren::wire::Limits;
use pyo3::prelude::*;

use crate::admission::{USUAL, admit};
use crate::array::detached;
use crate::errors::raise;
use crate::files::destination;
use crate::key::{HeldKey, Home};
use crate::key_classes::{KeyClass, PyKey, PySecret};
use crate::pickle::{TFHE_KEYS, refuse_secret};
use crate::progress::Heard;
use crate::tfhe::classes::PyTfheContext;
use crate::tfhe::parameters::PyTfheParameters;
use crate::whole::whole;

/// The keys of one owner, made by ``Context.keygen``. Pickled as ``noren.PicklableSecret(keys)`` only.
#[pyclass(frozen, name = "Keys", module = "noren.tfhe")]
pub(crate) struct PyTfheKeys {
    /// Encrypts and decrypts; stays with its owner.
    #[pyo3(get)]
    pub(crate) secret: Py<PyTfheSecretKey>,
    /// Evaluates; nothing in it decrypts. LightKeys where the parameters are of light keys, else ServerKeys.
    #[pyo3(get)]
    pub(crate) server: Py<PyAny>,
    /// Looks up functions of many digits; None unless it was asked for. Nothing in it decrypts.
    #[pyo3(get)]
    pub(crate) circuit: Option<Py<PyTfheCircuitKeys>>,
}

#[pymethods]
impl PyTfheKeys {
    #[staticmethod]
    fn _unpickle(secret: Py<PyTfheSecretKey>, server: Py<PyAny>, circuit: Option<Py<PyTfheCircuitKeys>>) -> Self {
        Self { secret, server, circuit }
    }

    #[expect(clippy::type_complexity, reason = "what pickle asks for")]
    fn _reduce_with_secret<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Py<PyTfheSecretKey>, Py<PyAny>, Option<Py<PyTfheCircuitKeys>>))> {
        let circuit = self.circuit.as_ref().map(|keys| keys.clone_ref(py));
        let parts = (self.secret.clone_ref(py), self.server.clone_ref(py), circuit);
        Ok((py.get_type::<Self>().getattr("_unpickle")?, parts))
    }

    fn __reduce__(&self) -> PyResult<()> {
        refuse_secret(TFHE_KEYS)
    }

    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf
    }

    fn __repr__(&self) -> String {
        format!("Keys({})", self.secret.get().0.context.about())
    }
}

/// Encrypts and decrypts; stays with its owner.
///
/// Its bytes are as secret as the key. Pickled as ``noren.PicklableSecret(key)`` only.
#[pyclass(frozen, extends = PySecret, name = "SecretKey", module = "noren.tfhe")]
pub(crate) struct PyTfheSecretKey(pub(crate) Arc<HeldKey<KeyFile<SecretKey>>>);

/// Bootstraps, for all operations; nothing in it decrypts. Can be pickled.
#[pyclass(frozen, extends = PyKey, name = "ServerKeys", module = "noren.tfhe")]
pub(crate) struct PyTfheServerKeys(pub(crate) Arc<HeldKey<KeyFile<CompactKeys>>>);

/// Bootstraps, for all operations, of parameters of light keys: a tenth of the bytes of ServerKeys, from which an evaluator makes
/// its keys. Nothing in it decrypts. Can be pickled.
#[pyclass(frozen, extends = PyKey, name = "LightKeys", module = "noren.tfhe")]
pub(crate) struct PyTfheLightKeys(pub(crate) Arc<HeldKey<KeyFile<LightKeys>>>);

/// Looks up functions of many digits by circuit bootstrapping; nothing in it decrypts. Can be pickled.
#[pyclass(frozen, extends = PyKey, name = "CircuitKeys", module = "noren.tfhe")]
pub(crate) struct PyTfheCircuitKeys(pub(crate) Arc<HeldKey<KeyFile<CompactCircuitKeys>>>);

impl KeyClass for PyTfheSecretKey {
    type File = KeyFile<SecretKey>;

    fn with_bases(key: PyClassInitializer<PyKey>, held: Arc<HeldKey<Self::File>>) -> PyClassInitializer<Self> {
        key.add_subclass(PySecret).add_subclass(Self(held))
    }
}

impl KeyClass for PyTfheServerKeys {
    type File = KeyFile<CompactKeys>;

    fn with_bases(key: PyClassInitializer<PyKey>, held: Arc<HeldKey<Self::File>>) -> PyClassInitializer<Self> {
        key.add_subclass(Self(held))
    }
}

impl KeyClass for PyTfheLightKeys {
    type File = KeyFile<LightKeys>;

    fn with_bases(key: PyClassInitializer<PyKey>, held: Arc<HeldKey<Self::File>>) -> PyClassInitializer<Self> {
        key.add_subclass(Self(held))
    }
}

impl KeyClass for PyTfheCircuitKeys {
    type File = KeyFile<CompactCircuitKeys>;

    fn with_bases(key: PyClassInitializer<PyKey>, held: Arc<HeldKey<Self::File>>) -> PyClassInitializer<Self> {
        key.add_subclass(Self(held))
    }
}

#[pymethods]
impl PyTfheSecretKey {
    /// The context that it belongs to.
    #[getter]
    fn context(&self) -> PyTfheContext {
        PyTfheContext(self.0.context.clone())
    }
}

#[pymethods]
impl PyTfheServerKeys {
    /// The context that it belongs to.
    #[getter]
    fn context(&self) -> PyTfheContext {
        PyTfheContext(self.0.context.clone())
    }
}

#[pymethods]
impl PyTfheLightKeys {
    /// The context that it belongs to.
    #[getter]
    fn context(&self) -> PyTfheContext {
        PyTfheContext(self.0.context.clone())
    }
}

#[pymethods]
impl PyTfheCircuitKeys {
    /// The context that it belongs to.
    #[getter]
    fn context(&self) -> PyTfheContext {
        PyTfheContext(self.0.context.clone())
    }
}

/// Server keys as they lie in memory, in a file that is mapped: nothing is read or expanded before it is used, and
/// processes share one copy. The results are the same.
///
/// Such a file is for the machine that it was made on, and who can write to it must be trusted.
#[pyclass(frozen, name = "ExpandedServerKeys", module = "noren.tfhe")]
pub(crate) struct PyTfheExpandedServerKeys(ServerKeyFile);

#[pymethods]
impl PyTfheExpandedServerKeys {
    /// Writes server keys to such a file, as a whole or not at all; returns its bytes. ``noren expand`` does it too.
    ///
    /// force: whether a file that exists is replaced.
    ///
    /// Raises FileExistsError without ``force``, and OSError.
    #[staticmethod]
    #[pyo3(signature = (path, keys, *, force = false))]
    fn write(py: Python<'_>, path: PathBuf, keys: AnyServerKeys<'_>, force: bool) -> PyResult<u64> {
        let context = keys.context();
        let keys = keys.expanded(py, &context, &Heard::new(None))?;
        detached(py, || ServerKeyFile::write(destination(&path, force), &context, &keys))
    }

    /// Maps a file of such keys.
    ///
    /// check: whether the whole file is read and compared with its digest first.
    /// min_security: the bits of security that its parameters must promise; 0 for tests.
    ///
    /// Raises OSError, WireError for a file that is damaged, of another kind, or of another layout, InsecureError for less security.
    #[staticmethod]
    #[pyo3(signature = (path, *, check = true, min_security = USUAL),
        text_signature = "(path, *, check=True, min_security=128)")]
    fn load(
        py: Python<'_>,
        path: PathBuf,
        check: bool,
        #[pyo3(from_py_with = whole)] min_security: u32,
    ) -> PyResult<Self> {
        let limits = Limits { check_digest: check, ..Limits::default() };
        let file = detached(py, || ServerKeyFile::map(&path, &limits, None))?;
        let security = file.context.parameters().spec().torus.security;
        admit(py, &path.display().to_string(), security, min_security)?;
        Ok(Self(file))
    }

    /// The context that it belongs to.
    #[getter]
    fn context(&self) -> PyTfheContext {
        PyTfheContext(self.0.context.clone())
    }

    /// The parameters that it belongs to.
    #[getter]
    fn parameters(&self) -> PyTfheParameters {
        self.context().parameters()
    }

    /// The identity of the secret key that they belong to, in hexadecimal: keys and ciphertexts with the same owner are of one secret
    /// key. It is public.
    #[getter]
    fn owner(&self) -> String {
        self.0.keys.owner().key.to_hex()
    }

    fn __repr__(&self) -> String {
        format!("ExpandedServerKeys({})", self.parameters().__repr__())
    }
}

/// Server keys of any kind.
#[derive(FromPyObject)]
pub(crate) enum AnyServerKeys<'py> {
    #[pyo3(annotation = "ServerKeys")]
    Compact(Bound<'py, PyTfheServerKeys>),
    #[pyo3(annotation = "LightKeys")]
    Light(Bound<'py, PyTfheLightKeys>),
    #[pyo3(annotation = "ExpandedServerKeys")]
    Expanded(Bound<'py, PyTfheExpandedServerKeys>),
}

impl AnyServerKeys<'_> {
    /// The context that they belong to.
    pub(crate) fn context(&self) -> Context {
        match self {
            Self::Compact(keys) => keys.get().0.context.clone(),
            Self::Light(keys) => keys.get().0.context.clone(),
            Self::Expanded(keys) => keys.get().0.context.clone(),
        }
    }

    /// The keys, ready for use.
    pub(crate) fn expanded(&self, py: Python<'_>, context: &Context, heard: &Heard) -> PyResult<Arc<ServerKeys>> {
        match self {
            Self::Compact(keys) => {
                let key = keys.get().0.key();
                heard.follow(py, raise, || context.expand(key).map(Arc::new))
            }
            Self::Light(keys) => {
                let key = keys.get().0.key();
                heard.follow(py, raise, || context.expand_light(key).map(Arc::new))
            }
            Self::Expanded(keys) => Ok(Arc::clone(&keys.get().0.keys)),
        }
    }
}
