//! Contexts of objects that arrive by pickle, and what a pickle holds; bytes and hashes of what stands for itself.

use std::str::FromStr;
use std::sync::{Mutex, PoisonError};

use noren::error::Result;
use noren::wire::{Form, Object};
use noren::{Engine, Parallel, bgv, ckks, tfhe};
use pyo3::PyTypeInfo;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};

use crate::array::{ask_for, detached};

/// The state of a pickled object: the function that makes it again, from its parameters, its bytes and the threads of its context.
pub(crate) type Pickle<'py, P> = (Bound<'py, PyAny>, (P, Bound<'py, PyBytes>, Threading));

/// The state of a pickled context.
pub(crate) type ContextPickle<'py, P> = (Bound<'py, PyAny>, (P, Threading));

/// The state of a pickled evaluator: its class, its context and its keys.
pub(crate) type EvaluatorPickle<'py, C, K> = (Bound<'py, PyType>, (C, Py<K>));

/// The threads that a context asked for, and what they share: what a pickle keeps of it besides its parameters.
pub(crate) type Threading = (Option<usize>, String);

/// Threads of a context that was not asked for any.
pub(crate) fn usual_threading() -> Threading {
    (None, Parallel::default().name().to_owned())
}

/// The state of a pickled object that needs no context: the function that makes it again, from its bytes.
pub(crate) type BytesPickle<'py> = (Bound<'py, PyAny>, (Bound<'py, PyBytes>,));

/// The messages of [`refuse_secret`] for a secret key, of the keys of one owner, and of those of TFHE.
pub(crate) const SECRET_KEY: &str = "a secret key is not pickled by accident: keep it in a file with key.save(path)";
pub(crate) const KEYS: &str = "these keys hold the secret key, which is not pickled by accident: send keys.public and \
                               keys.evaluation to those who may not decrypt";
pub(crate) const TFHE_KEYS: &str = "these keys hold the secret key, which is not pickled by accident: send keys.server to those \
                                    who may not decrypt";

/// Refuses to pickle what decrypts; ``_reduce_with_secret`` is what `noren.PicklableSecret` calls in place of it.
pub(crate) fn refuse_secret(what: &str) -> PyResult<()> {
    Err(PyTypeError::new_err(format!(
        "{what}, or pickle noren.PicklableSecret(it), whose value it is, for those who may"
    )))
}

/// The pickle of an object whose class has ``from_bytes``.
pub(crate) fn by_bytes<T: PyTypeInfo>(bytes: Bound<'_, PyBytes>) -> PyResult<BytesPickle<'_>> {
    Ok((bytes.py().get_type::<T>().getattr("from_bytes")?, (bytes,)))
}

/// The bytes of an object that stands for itself.
pub(crate) fn bytes_of<'py>(
    py: Python<'py>,
    object: &(impl Object<Context = ()> + Sync),
) -> PyResult<Bound<'py, PyBytes>> {
    bytes_beside(py, object, &(), Form::Packed)
}

/// The bytes of an object of a context. Signals end the work.
pub(crate) fn bytes_beside<'py, C: Sync>(
    py: Python<'py>,
    object: &(impl Object<Context = C> + Sync),
    context: &C,
    form: Form,
) -> PyResult<Bound<'py, PyBytes>> {
    let bytes = detached(py, || {
        let bytes = object.to_bytes(context, form);
        object.check_files()?;
        Ok(bytes)
    })?;
    ask_for::<u8>(bytes.len())?;
    Ok(PyBytes::new(py, &bytes))
}

/// The hash of parameters: the first bytes of their fingerprint.
pub(crate) fn hash_of(fingerprint: &[u8; 32]) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|i| fingerprint[i]))
}

/// How many contexts of a scheme are kept for objects that arrive by pickle.
const KEPT_CONTEXTS: usize = 4;

/// A context that unpickled objects share: making one for every ciphertext would take longer than computing with it.
pub(crate) trait Shared: Clone + Send + 'static {
    /// Its parameters.
    type Parameters: Clone + Sync;

    /// The context of parameters with threads of its own.
    fn of(parameters: Self::Parameters, threads: Option<usize>, parallel: Parallel) -> Result<Self>;

    /// The engine of its loops.
    fn engine(&self) -> &Engine;

    /// The threads that it asked for.
    fn threading(&self) -> Threading {
        let engine = self.engine();
        (engine.asked_threads(), engine.parallel().name().to_owned())
    }

    /// Whether it is the context of these parameters.
    fn belongs_to(&self, parameters: &Self::Parameters) -> bool;

    /// Those that are kept.
    fn kept() -> &'static Mutex<Vec<Self>>;
}

impl Shared for ckks::Context {
    type Parameters = ckks::Parameters;

    fn of(parameters: Self::Parameters, threads: Option<usize>, parallel: Parallel) -> Result<Self> {
        Self::with_parallel(parameters, threads, parallel)
    }

    fn engine(&self) -> &Engine {
        self.rlwe().ring().engine()
    }

    fn belongs_to(&self, parameters: &Self::Parameters) -> bool {
        self.parameters() == parameters
    }

    fn kept() -> &'static Mutex<Vec<Self>> {
        static CONTEXTS: Mutex<Vec<ckks::Context>> = Mutex::new(Vec::new());
        &CONTEXTS
    }
}

impl Shared for bgv::Context {
    type Parameters = bgv::Parameters;

    fn of(parameters: Self::Parameters, threads: Option<usize>, _: Parallel) -> Result<Self> {
        Self::with_threads(parameters, threads)
    }

    fn engine(&self) -> &Engine {
        self.rlwe().ring().engine()
    }

    fn belongs_to(&self, parameters: &Self::Parameters) -> bool {
        self.parameters() == parameters
    }

    fn kept() -> &'static Mutex<Vec<Self>> {
        static CONTEXTS: Mutex<Vec<bgv::Context>> = Mutex::new(Vec::new());
        &CONTEXTS
    }
}

impl Shared for tfhe::Context {
    type Parameters = tfhe::Parameters;

    fn of(parameters: Self::Parameters, threads: Option<usize>, _: Parallel) -> Result<Self> {
        Self::with_threads(parameters, threads)
    }

    fn engine(&self) -> &Engine {
        self.engine()
    }

    fn belongs_to(&self, parameters: &Self::Parameters) -> bool {
        self.parameters().spec() == parameters.spec()
    }

    fn kept() -> &'static Mutex<Vec<Self>> {
        static CONTEXTS: Mutex<Vec<tfhe::Context>> = Mutex::new(Vec::new());
        &CONTEXTS
    }
}

/// The context of parameters that arrive by pickle.
pub(crate) fn shared_context<C: Shared>(
    py: Python<'_>,
    parameters: &C::Parameters,
    threading: &Threading,
) -> PyResult<C> {
    let parallel = Parallel::from_str(&threading.1).map_err(|error| PyValueError::new_err(error.to_string()))?;
    // Without the interpreter, so that waiting for the lock keeps no other thread from running.
    detached(py, || {
        let mut contexts = C::kept().lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) =
            contexts.iter().find(|context| context.belongs_to(parameters) && context.threading() == *threading)
        {
            return Ok(found.clone());
        }
        let context = C::of(parameters.clone(), threading.0, parallel)?;
        if contexts.len() == KEPT_CONTEXTS {
            contexts.remove(0);
        }
        contexts.push(context.clone());
        Ok(context)
    })
}
