//! The bases of the classes of keys: what keys of all schemes do.

use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use noren::EvaluationKeys;
use noren::wire::Object;
use pyo3::PyClass;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};

use crate::admission::USUAL;
use crate::array::detached;
use crate::display;
use crate::files::{limits, load_secret};
use crate::key::{File, HeldKey, Key};
use crate::pickle::{KEYS, SECRET_KEY, Threading, refuse_secret};
use crate::whole::whole;

/// The state of a pickled key: the function that makes it again, from its parameters, its bytes and the threads of its context.
type KeyPickle<'py> = (Bound<'py, PyAny>, (Bound<'py, PyAny>, Bound<'py, PyBytes>, Threading));

/// A key of any scheme.
#[pyclass(frozen, subclass, name = "Key", module = "noren._noren")]
pub(crate) struct PyKey(Arc<dyn Key>);

/// A key that decrypts.
#[pyclass(frozen, subclass, extends = PyKey, name = "SecretKey", module = "noren._noren")]
pub(crate) struct PySecret;

/// Evaluation keys of a scheme with vectors.
#[pyclass(frozen, subclass, extends = PyKey, name = "EvaluationKeys", module = "noren._noren")]
pub(crate) struct PyEvaluation;

/// The three keys of one owner, of a scheme with vectors.
#[pyclass(frozen, subclass, name = "Keys", module = "noren._noren")]
pub(crate) struct PyThreeKeys {
    /// Decrypts; stays with its owner.
    #[pyo3(get)]
    secret: Py<PySecret>,
    /// Encrypts; for everybody.
    #[pyo3(get)]
    public: Py<PyKey>,
    /// Evaluates; nothing in it decrypts.
    #[pyo3(get)]
    evaluation: Py<PyEvaluation>,
}

/// The class of a key in Python.
pub(crate) trait KeyClass: PyClass + Sync {
    /// The file that it holds.
    type File: File;

    /// The object with its bases, of which `key` is the first.
    fn with_bases(key: PyClassInitializer<PyKey>, held: Arc<HeldKey<Self::File>>) -> PyClassInitializer<Self>;

    fn new(py: Python<'_>, context: &<Self::File as File>::Home, key: <Self::File as File>::Key) -> PyResult<Py<Self>> {
        Self::hold(py, HeldKey::new(context, key))
    }

    fn hold(py: Python<'_>, held: HeldKey<Self::File>) -> PyResult<Py<Self>> {
        let held = Arc::new(held);
        Py::new(py, Self::with_bases(PyKey(held.clone()).into(), held))
    }
}

/// Where a key is read from.
pub(crate) enum Source<'a> {
    Bytes(&'a [u8]),
    /// A file in clear, and whether its digest is compared.
    Clear(&'a Path, bool),
    /// A file that may be under a passphrase.
    Secret(&'a Path, Option<String>),
}

/// Questions of the methods of the bases to the class that they are called on.
pub(crate) trait Reading: Sync {
    fn is(&self, class: &Bound<'_, PyType>) -> bool;

    fn read<'py>(&self, py: Python<'py>, source: Source<'_>, min_security: u32) -> PyResult<Bound<'py, PyAny>>;

    fn unpickle<'py>(&self, of: &Bound<'py, PyAny>, data: &[u8], with: &Threading) -> PyResult<Bound<'py, PyAny>>;
}

impl<C: KeyClass> Reading for PhantomData<C> {
    fn is(&self, class: &Bound<'_, PyType>) -> bool {
        class.is(class.py().get_type::<C>())
    }

    fn read<'py>(&self, py: Python<'py>, source: Source<'_>, min_security: u32) -> PyResult<Bound<'py, PyAny>> {
        let (what, file) = match source {
            Source::Bytes(data) => ("the bytes".to_owned(), detached(py, || C::File::from_bytes(&(), data))?),
            Source::Clear(path, check) => {
                (path.display().to_string(), detached(py, || C::File::open(path, &limits(check)))?)
            }
            Source::Secret(path, passphrase) => (path.display().to_string(), load_secret(py, path, passphrase)?),
        };
        Ok(C::hold(py, HeldKey::admitted(py, &what, file, min_security)?)?.into_bound(py).into_any())
    }

    fn unpickle<'py>(&self, of: &Bound<'py, PyAny>, data: &[u8], with: &Threading) -> PyResult<Bound<'py, PyAny>> {
        Ok(C::hold(of.py(), HeldKey::unpickled(of, data, with)?)?.into_bound(of.py()).into_any())
    }
}

/// The classes of keys, which the module names when it is loaded: they need their bases.
pub(crate) static CLASSES: OnceLock<[&dyn Reading; 14]> = OnceLock::new();

fn reading(class: &Bound<'_, PyType>) -> PyResult<&'static dyn Reading> {
    let found = CLASSES.get().and_then(|classes| classes.iter().find(|each| each.is(class)));
    found.copied().ok_or_else(|| PyTypeError::new_err("a class of keys of a scheme is needed"))
}

#[pymethods]
impl PyKey {
    /// The parameters that it belongs to.
    #[getter]
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.parameters(py)
    }

    /// The identity of the secret key that it belongs to, in hexadecimal: keys and ciphertexts with the same owner are of one
    /// secret key. It is public.
    #[getter]
    fn owner(&self) -> String {
        self.0.holds().key_id().to_hex()
    }

    /// Bytes in memory; of mapped keys, those of the file that hold them. Those that evaluators of TFHE make of their keys are more.
    #[getter]
    fn nbytes(&self) -> u64 {
        self.0.holds().bytes()
    }

    /// Reads the key and its parameters from a file, as the tool ``noren`` writes it too.
    ///
    /// min_security: see ``from_bytes``. Raises OSError, and what ``from_bytes`` raises.
    #[classmethod]
    #[pyo3(signature = (path, *, min_security = USUAL), text_signature = "($cls, path, *, min_security=128)")]
    fn load<'py>(
        class: &Bound<'py, PyType>,
        path: PathBuf,
        #[pyo3(from_py_with = whole)] min_security: u32,
    ) -> PyResult<Bound<'py, PyAny>> {
        reading(class)?.read(class.py(), Source::Clear(&path, true), min_security)
    }

    /// Writes the key and its parameters to a file, as a whole or not at all.
    ///
    /// force: whether a file that exists is replaced. Raises FileExistsError without it, and OSError.
    #[pyo3(signature = (path, *, force = false))]
    fn save(&self, py: Python<'_>, path: PathBuf, force: bool) -> PyResult<()> {
        self.0.save(py, &path, force, false)
    }

    /// The key that ``bytes(key)`` gave, with its parameters.
    ///
    /// min_security: the bits of security that its parameters must promise; 0 for tests.
    ///
    /// Raises WireError for bytes that are damaged or of another kind, InsecureError for less security.
    #[classmethod]
    #[pyo3(signature = (data, *, min_security = USUAL), text_signature = "($cls, data, *, min_security=128)")]
    fn from_bytes<'py>(
        class: &Bound<'py, PyType>,
        data: &[u8],
        #[pyo3(from_py_with = whole)] min_security: u32,
    ) -> PyResult<Bound<'py, PyAny>> {
        reading(class)?.read(class.py(), Source::Bytes(data), min_security)
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.0.to_bytes(py)
    }

    #[classmethod]
    fn _unpickle<'py>(
        class: &Bound<'py, PyType>,
        parameters: &Bound<'py, PyAny>,
        data: &[u8],
        threading: Threading,
    ) -> PyResult<Bound<'py, PyAny>> {
        reading(class)?.unpickle(parameters, data, &threading)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<KeyPickle<'py>> {
        let (py, key) = (slf.py(), &slf.get().0);
        let (bytes, threading) = key.to_pickle(py)?;
        Ok((slf.get_type().getattr("_unpickle")?, (key.parameters(py)?, bytes, threading)))
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let (name, key) = (slf.get_type().name()?, &slf.get().0);
        Ok(display::key(name.to_str()?, &key.about(), key.holds()))
    }

    /// The table that notebooks show.
    fn _repr_html_(slf: &Bound<'_, Self>) -> PyResult<String> {
        let (name, key) = (slf.get_type().name()?, &slf.get().0);
        Ok(display::key_table(name.to_str()?, key.about(), key.holds()))
    }
}

#[pymethods]
impl PySecret {
    /// Reads the key and its parameters from a file, as the tool ``noren`` writes it too.
    ///
    /// passphrase: that of a file which is encrypted under one; not used for others.
    /// min_security: see ``from_bytes``.
    ///
    /// Raises OSError, what ``from_bytes`` raises, and WireError if the passphrase is missing or wrong.
    #[classmethod]
    #[pyo3(signature = (path, *, passphrase = None, min_security = USUAL),
        text_signature = "($cls, path, *, passphrase=None, min_security=128)")]
    fn load<'py>(
        class: &Bound<'py, PyType>,
        path: PathBuf,
        passphrase: Option<String>,
        #[pyo3(from_py_with = whole)] min_security: u32,
    ) -> PyResult<Bound<'py, PyAny>> {
        reading(class)?.read(class.py(), Source::Secret(&path, passphrase), min_security)
    }

    /// Writes the key and its parameters to a file, as a whole or not at all, which its owner only can read.
    ///
    /// force: whether a file that exists is replaced.
    /// passphrase: encrypts the file, in the format of age; it takes about a second.
    ///
    /// Raises FileExistsError without ``force``, WireError for an empty passphrase, and OSError.
    #[pyo3(signature = (path, *, force = false, passphrase = None))]
    fn save(slf: &Bound<'_, Self>, path: PathBuf, force: bool, passphrase: Option<String>) -> PyResult<()> {
        slf.as_super().get().0.save_secret(slf.py(), &path, force, passphrase)
    }

    fn _reduce_with_secret<'py>(slf: &Bound<'py, Self>) -> PyResult<KeyPickle<'py>> {
        PyKey::__reduce__(slf.as_super())
    }

    #[allow(clippy::unused_self, reason = "a method of Python")]
    fn __reduce__(&self) -> PyResult<()> {
        refuse_secret(SECRET_KEY)
    }

    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf
    }
}

/// The keys themselves.
fn keys<'a>(evaluation: &'a Bound<'_, PyEvaluation>) -> Option<&'a EvaluationKeys> {
    evaluation.as_super().get().0.holds().evaluation()
}

#[pymethods]
impl PyEvaluation {
    /// Reads the keys and their parameters from a file, as the tool ``noren`` writes it too; maps an expanded one,
    /// whose keys all processes that map it share. Who can write to an expanded file must be trusted.
    ///
    /// check: whether the file is compared with its digest; an expanded one is read as a whole for that.
    /// min_security: see ``from_bytes``. Raises OSError, and what ``from_bytes`` raises.
    #[classmethod]
    #[pyo3(signature = (path, *, check = true, min_security = USUAL),
        text_signature = "($cls, path, *, check=True, min_security=128)")]
    fn load<'py>(
        class: &Bound<'py, PyType>,
        path: PathBuf,
        check: bool,
        #[pyo3(from_py_with = whole)] min_security: u32,
    ) -> PyResult<Bound<'py, PyAny>> {
        reading(class)?.read(class.py(), Source::Clear(&path, check), min_security)
    }

    /// Writes the keys and their parameters to a file, as a whole or not at all.
    ///
    /// force: whether a file that exists is replaced.
    /// expanded: whether the keys are written as they lie in memory, for ``load`` to map. Such a file is larger, and for
    ///     the machine that it was made on.
    ///
    /// Raises FileExistsError without ``force``, OSError, and Error if the disk has no room for expanded keys.
    #[pyo3(signature = (path, *, force = false, expanded = false))]
    fn save(slf: &Bound<'_, Self>, path: PathBuf, force: bool, expanded: bool) -> PyResult<()> {
        slf.as_super().get().0.save(slf.py(), &path, force, expanded)
    }

    /// How many keys there are.
    fn __len__(slf: &Bound<'_, Self>) -> usize {
        keys(slf).map_or(0, |keys| keys.uses().count())
    }

    /// Whether there is a key for products of ciphertexts.
    #[getter]
    fn has_relinearization(slf: &Bound<'_, Self>) -> bool {
        keys(slf).is_some_and(EvaluationKeys::has_relinearization)
    }
}

impl PyThreeKeys {
    /// The keys, which the class of a scheme holds.
    pub(crate) fn of<'py, S, P, E, K>(
        secret: Bound<'py, S>,
        public: Bound<'py, P>,
        evaluation: Bound<'py, E>,
        class: K,
    ) -> PyResult<Py<K>>
    where
        S: PyClass<BaseType = PySecret>,
        P: PyClass<BaseType = PyKey>,
        E: PyClass<BaseType = PyEvaluation>,
        K: PyClass<BaseType = Self>,
    {
        let (py, public) = (secret.py(), public.into_super().unbind());
        let keys = Self { secret: secret.into_super().unbind(), public, evaluation: evaluation.into_super().unbind() };
        Py::new(py, PyClassInitializer::from(keys).add_subclass(class))
    }
}

#[pymethods]
impl PyThreeKeys {
    fn _reduce_with_secret<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Parts<'py>)> {
        let (py, keys) = (slf.py(), slf.get());
        let parts = (keys.secret.bind(py).clone(), keys.public.bind(py).clone(), keys.evaluation.bind(py).clone());
        Ok((slf.get_type().getattr("_unpickle")?, parts))
    }

    #[allow(clippy::unused_self, reason = "a method of Python")]
    fn __reduce__(&self) -> PyResult<()> {
        refuse_secret(KEYS)
    }

    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        format!("Keys({})", self.public.bind(py).get().0.about())
    }
}

/// The parts of three keys.
type Parts<'py> = (Bound<'py, PySecret>, Bound<'py, PyKey>, Bound<'py, PyEvaluation>);
