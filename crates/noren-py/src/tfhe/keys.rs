//! `SecretKey`, `ServerKeys` and `CircuitKeys` of TFHE, `Keys`, which holds one of each, and `ExpandedServerKeys` in a file.

use std::path::PathBuf;
use std::sync::Arc;

use noren::tfhe::{CompactCircuitKeys, CompactKeys, Context, KeyFile, LightKeys, SecretKey, ServerKeyFile, ServerKeys};
use noren::wire::{Form, Limits, Object};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::admission::{USUAL, admit};
use crate::array::detached;
use crate::display;
use crate::errors::raise;
use crate::files::{destination, load_secret, save_secret};
use crate::pickle::{
    Pickle, SECRET_KEY, Shared, TFHE_KEYS, Threading, bytes_of, refuse_secret, shared_context, usual_threading,
};
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
        format!("Keys({})", self.secret.get().parameters().__repr__())
    }
}

/// A key whose size is worth showing, or not.
trait HeldKey {
    /// Bytes in memory.
    fn held(&self) -> Option<usize>;

    fn shown(&self) -> String {
        self.held().map_or_else(String::new, |bytes| format!(", {}", display::size(bytes as u64)))
    }
}

impl HeldKey for SecretKey {
    fn held(&self) -> Option<usize> {
        None
    }
}

impl HeldKey for CompactKeys {
    fn held(&self) -> Option<usize> {
        Some(self.bytes())
    }
}

impl HeldKey for LightKeys {
    fn held(&self) -> Option<usize> {
        Some(self.bytes())
    }
}

impl HeldKey for CompactCircuitKeys {
    fn held(&self) -> Option<usize> {
        Some(self.bytes())
    }
}

/// The class of a key: its bytes, files and pickles; what is unpickled shares a context.
macro_rules! key_class {
    // A key that is no secret: its files are in clear.
    (@open $(#[$doc:meta])* $name:ident, $python:literal, $inner:ty, $reduce:ident, $($more:tt)+) => {
        key_class!(
            $(#[$doc])*
            $name, $python, $inner, $reduce,
            /// Reads the key and its parameters from a file, as the tool ``noren`` writes it too.
            ///
            /// min_security: see ``from_bytes``. Raises OSError, and what ``from_bytes`` raises.
            #[staticmethod]
            #[pyo3(signature = (path, *, min_security = USUAL), text_signature = "(path, *, min_security=128)")]
            fn load(py: Python<'_>, path: PathBuf, #[pyo3(from_py_with = whole)] min_security: u32) -> PyResult<Self> {
                let file = detached(py, || KeyFile::read_file(&(), &path, &Limits::default()))?;
                Self::of(py, &path.display().to_string(), file, min_security)
            }

            /// Writes the key and its parameters to a file, as a whole or not at all.
            ///
            /// force: whether a file that exists is replaced.
            ///
            /// Raises FileExistsError without ``force``, and OSError.
            #[pyo3(signature = (path, *, force = false))]
            fn save(&self, py: Python<'_>, path: PathBuf, force: bool) -> PyResult<()> {
                detached(py, || self.file.write_file(&(), Form::Packed, destination(&path, force)))
            }

            $($more)+
        );
    };
    ($(#[$doc:meta])* $name:ident, $python:literal, $inner:ty, $reduce:ident, $($more:tt)+) => {
        $(#[$doc])*
        #[pyclass(frozen, name = $python, module = "noren.tfhe")]
        pub(crate) struct $name {
            pub(crate) file: Arc<KeyFile<$inner>>,
            pub(crate) shared: Context,
        }

        impl $name {
            pub(crate) fn new(context: &Context, key: $inner) -> Self {
                let file = KeyFile { parameters: context.parameters().clone(), key };
                Self { file: Arc::new(file), shared: context.clone() }
            }

            /// A key from outside, whose parameters must promise `min_security` bits.
            fn of(py: Python<'_>, what: &str, file: KeyFile<$inner>, min_security: u32) -> PyResult<Self> {
                admit(py, what, file.parameters.spec().torus.security, min_security)?;
                Ok(Self { shared: shared_context(py, &file.parameters, &usual_threading())?, file: Arc::new(file) })
            }
        }

        #[pymethods]
        impl $name {
            /// The context that it belongs to.
            #[getter]
            fn context(&self) -> PyTfheContext {
                PyTfheContext(self.shared.clone())
            }

            /// The parameters that it belongs to.
            #[getter]
            pub(crate) fn parameters(&self) -> PyTfheParameters {
                PyTfheParameters(self.file.parameters.clone())
            }

            /// The identity of the secret key that it belongs to, in hexadecimal: keys and ciphertexts with the same owner are of one
            /// secret key. It is public.
            #[getter]
            fn owner(&self) -> String {
                self.file.key.owner().key.to_hex()
            }

            /// The key that ``bytes(key)`` gave, with its parameters.
            ///
            /// min_security: the bits of security that its parameters must promise; 0 for tests.
            ///
            /// Raises WireError for bytes that are damaged or of another kind, InsecureError for less security.
            #[staticmethod]
            #[pyo3(signature = (data, *, min_security = USUAL), text_signature = "(data, *, min_security=128)")]
            fn from_bytes(
                py: Python<'_>,
                data: &[u8],
                #[pyo3(from_py_with = whole)] min_security: u32,
            ) -> PyResult<Self> {
                Self::of(py, "the bytes", detached(py, || KeyFile::from_bytes(&(), data))?, min_security)
            }

            fn __bytes__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
                bytes_of(py, &*self.file)
            }

            #[staticmethod]
            fn _unpickle(
                py: Python<'_>,
                parameters: &PyTfheParameters,
                data: &[u8],
                threading: Threading,
            ) -> PyResult<Self> {
                let file = detached(py, || KeyFile::from_bytes(&(), data))?;
                Ok(Self { shared: shared_context(py, &parameters.0, &threading)?, file: Arc::new(file) })
            }

            fn $reduce<'py>(&self, py: Python<'py>) -> PyResult<Pickle<'py, PyTfheParameters>> {
                let unpickle = py.get_type::<Self>().getattr("_unpickle")?;
                Ok((unpickle, (self.parameters(), self.__bytes__(py)?, self.shared.threading())))
            }

            fn __repr__(&self) -> String {
                format!(concat!($python, "({}{})"), self.parameters().__repr__(), self.file.key.shown())
            }

            /// The table that notebooks show.
            fn _repr_html_(&self) -> String {
                let mut rows = vec![("parameters", self.parameters().__repr__())];
                rows.extend(self.file.key.held().map(|bytes| ("size in memory", display::size(bytes as u64))));
                display::table($python, &rows)
            }

            $($more)+
        }
    };
}

key_class!(
    /// Encrypts and decrypts; stays with its owner.
    ///
    /// Its bytes are as secret as the key. Pickled as ``noren.PicklableSecret(key)`` only.
    PyTfheSecretKey, "SecretKey", SecretKey, _reduce_with_secret,
    /// Reads the key and its parameters from a file, as the tool ``noren`` writes it too.
    ///
    /// passphrase: that of a file which is encrypted under one; not used for others.
    /// min_security: see ``from_bytes``.
    ///
    /// Raises OSError, what ``from_bytes`` raises, and WireError if the passphrase is missing or wrong.
    #[staticmethod]
    #[pyo3(signature = (path, *, passphrase = None, min_security = USUAL),
        text_signature = "(path, *, passphrase=None, min_security=128)")]
    fn load(
        py: Python<'_>,
        path: PathBuf,
        passphrase: Option<String>,
        #[pyo3(from_py_with = whole)] min_security: u32,
    ) -> PyResult<Self> {
        let file = load_secret(py, &path, passphrase)?;
        Self::of(py, &path.display().to_string(), file, min_security)
    }

    /// Writes the key and its parameters to a file, as a whole or not at all, which its owner only can read.
    ///
    /// force: whether a file that exists is replaced.
    /// passphrase: encrypts the file, in the format of age; it takes about a second.
    ///
    /// Raises FileExistsError without ``force``, WireError for an empty passphrase, and OSError.
    #[pyo3(signature = (path, *, force = false, passphrase = None))]
    fn save(
        &self,
        py: Python<'_>,
        path: PathBuf,
        force: bool,
        passphrase: Option<String>,
    ) -> PyResult<()> {
        save_secret(py, &*self.file, &path, force, passphrase)
    }

    fn __reduce__(&self) -> PyResult<()> {
        refuse_secret(SECRET_KEY)
    }

    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf
    }
);
key_class!(@open
    /// Bootstraps, for all operations; nothing in it decrypts. Can be pickled.
    PyTfheServerKeys, "ServerKeys", CompactKeys, __reduce__,
    /// Bytes in memory; those that an evaluator makes of them are more.
    #[getter]
    fn nbytes(&self) -> usize {
        self.file.key.bytes()
    }
);
key_class!(@open
    /// Bootstraps, for all operations, of parameters of light keys: a tenth of the bytes of ServerKeys, from which an evaluator makes
    /// its keys. Nothing in it decrypts. Can be pickled.
    PyTfheLightKeys, "LightKeys", LightKeys, __reduce__,
    /// Bytes in memory; those that an evaluator makes of them are more.
    #[getter]
    fn nbytes(&self) -> usize {
        self.file.key.bytes()
    }
);
key_class!(@open
    /// Looks up functions of many digits by circuit bootstrapping; nothing in it decrypts. Can be pickled.
    PyTfheCircuitKeys, "CircuitKeys", CompactCircuitKeys, __reduce__,
    /// Bytes in memory; those that an evaluator makes of them are more.
    #[getter]
    fn nbytes(&self) -> usize {
        self.file.key.bytes()
    }
);

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
            Self::Compact(keys) => keys.get().shared.clone(),
            Self::Light(keys) => keys.get().shared.clone(),
            Self::Expanded(keys) => keys.get().0.context.clone(),
        }
    }

    /// The keys, ready for use.
    pub(crate) fn expanded(&self, py: Python<'_>, context: &Context, heard: &Heard) -> PyResult<Arc<ServerKeys>> {
        match self {
            Self::Compact(keys) => {
                let key = &keys.get().file.key;
                heard.follow(py, raise, || context.expand(key).map(Arc::new))
            }
            Self::Light(keys) => {
                let key = &keys.get().file.key;
                heard.follow(py, raise, || context.expand_light(key).map(Arc::new))
            }
            Self::Expanded(keys) => Ok(Arc::clone(&keys.get().0.keys)),
        }
    }
}
