//! `Context`: parameters with their tables; makes keys, encrypts and decrypts.

use std::sync::Mutex;

use noren::Seed;
use noren::ckks::{Ciphertext, Context, Decryptor, Encoder, Encryptor, KeyRequest, Parameters};
use noren::error::{Error as Refusal, Result};
use numpy::{IntoPyArray, PyArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::array::{Numbers, Row, detached, numbers};
use crate::ciphertext::PyCiphertext;
use crate::errors::raise;
use crate::evaluator::PyEvaluator;
use crate::keys::{PyEvaluationKeys, PyKeys, PyPublicKey, PySecretKey};
use crate::parameters::PyParameters;

/// How many contexts are kept for objects that arrive by pickle.
const KEPT_CONTEXTS: usize = 4;

/// Contexts of unpickled objects: making one for every ciphertext would take longer than computing with it.
static CONTEXTS: Mutex<Vec<Context>> = Mutex::new(Vec::new());

/// The context of parameters that arrive by pickle.
pub(crate) fn context_of(parameters: &Parameters) -> Result<Context> {
    let mut contexts = CONTEXTS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(found) = contexts.iter().find(|context| context.parameters() == parameters) {
        return Ok(found.clone());
    }
    let context = Context::new(parameters.clone())?;
    if contexts.len() == KEPT_CONTEXTS {
        contexts.remove(0);
    }
    contexts.push(context.clone());
    Ok(context)
}

/// CKKS parameters with their tables.
#[pyclass(frozen, name = "Context", module = "noren.ckks")]
#[derive(Clone)]
pub(crate) struct PyContext(pub(crate) Context);

#[pymethods]
impl PyContext {
    #[new]
    #[pyo3(signature = (parameters, *, threads = None))]
    fn new(py: Python<'_>, parameters: &PyParameters, threads: Option<usize>) -> PyResult<Self> {
        let parameters = parameters.0.clone();
        detached(py, || Context::with_threads(parameters, threads)).map(Self)
    }

    #[getter]
    fn parameters(&self) -> PyParameters {
        PyParameters(self.0.parameters().clone())
    }

    #[getter]
    fn slots(&self) -> usize {
        self.0.parameters().max_slots()
    }

    #[pyo3(signature = (*, rotations = Vec::new(), conjugation = false, relinearization = true, level = None, seed = None))]
    fn keygen(
        &self,
        py: Python<'_>,
        rotations: Vec<isize>,
        conjugation: bool,
        relinearization: bool,
        level: Option<usize>,
        seed: Option<&[u8]>,
    ) -> PyResult<PyKeys> {
        let request = KeyRequest { relinearization, rotations, conjugation, level, rotations_at: Vec::new() };
        let seed = seed_of(seed)?;
        let keys = detached(py, || self.0.generate_keys(seed, &request))?;
        PyKeys::new(py, &self.0, keys)
    }

    #[pyo3(signature = (values, key, *, slots = None, level = None, seed = None))]
    fn encrypt<'py>(
        &self,
        py: Python<'py>,
        values: &Bound<'py, PyAny>,
        key: &Bound<'py, PyAny>,
        slots: Option<usize>,
        level: Option<usize>,
        seed: Option<&[u8]>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let numbers = numbers(values)?;
        let single = numbers.single;
        let slots = slots.unwrap_or_else(|| self.0.parameters().max_slots());
        let level = level.unwrap_or_else(|| self.0.parameters().max_level());
        let seed = seed_of(seed)?;
        let encrypted = if let Ok(public) = key.cast::<PyPublicKey>() {
            let key = public.get().key.clone();
            detached(py, || encrypt(&self.0, &Encryptor::public(&self.0, &key, seed)?, &numbers, slots, level))?
        } else if let Ok(secret) = key.cast::<PySecretKey>() {
            let key = secret.get().key.clone();
            detached(py, || encrypt(&self.0, &Encryptor::symmetric(&self.0, &key, seed)?, &numbers, slots, level))?
        } else {
            return Err(PyTypeError::new_err("key must be a PublicKey or a SecretKey"));
        };
        let mut wrapped = encrypted.into_iter().map(|inner| PyCiphertext::new(&self.0, inner, None));
        match (single, wrapped.next()) {
            (true, Some(first)) => Ok(Bound::new(py, first)?.into_any()),
            (_, first) => {
                let all = first.into_iter().chain(wrapped).map(|one| Bound::new(py, one)).collect::<PyResult<Vec<_>>>()?;
                Ok(PyList::new(py, all)?.into_any())
            }
        }
    }

    #[pyo3(signature = (ciphertext, key, *, complex = false))]
    fn decrypt<'py>(
        &self,
        py: Python<'py>,
        ciphertext: &PyCiphertext,
        key: &PySecretKey,
        complex: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (inner, key) = (&ciphertext.inner, &key.key);
        if complex {
            let values = detached(py, || Decryptor::new(&self.0, key)?.decrypt_complex(inner))?;
            Ok(values.into_pyarray(py).to_dyn().clone().into_any())
        } else {
            let values = detached(py, || Decryptor::new(&self.0, key)?.decrypt_real(inner))?;
            Ok(values.into_pyarray(py).to_dyn().clone().into_any())
        }
    }

    #[pyo3(signature = (ciphertext, key, bits))]
    fn decrypt_for_release<'py>(
        &self,
        py: Python<'py>,
        ciphertext: &PyCiphertext,
        key: &PySecretKey,
        bits: i32,
    ) -> PyResult<Bound<'py, PyAny>> {
        let seed = seed_of(None)?;
        let (inner, key) = (&ciphertext.inner, &key.key);
        let values = detached(py, || Decryptor::new(&self.0, key)?.decrypt_for_release(inner, bits, &seed))?;
        Ok(values.into_pyarray(py).to_dyn().clone().into_any())
    }

    fn evaluator(&self, keys: &PyEvaluationKeys) -> PyResult<PyEvaluator> {
        PyEvaluator::new(&self.0, keys)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (PyParameters,))> {
        Ok((py.get_type::<Self>().into_any(), (self.parameters(),)))
    }

    fn __repr__(&self) -> String {
        format!("Context(n={}, max_level={})", self.0.parameters().degree(), self.0.parameters().max_level())
    }
}

/// 32 bytes from the caller, or fresh ones from the operating system.
fn seed_of(bytes: Option<&[u8]>) -> PyResult<Seed> {
    match bytes {
        None => Seed::random().map_err(|error| raise(error.into())),
        Some(bytes) => {
            let bytes: [u8; 32] = bytes
                .try_into()
                .map_err(|_| PyValueError::new_err(format!("a seed has 32 bytes, found {}", bytes.len())))?;
            Ok(Seed::from_bytes(bytes))
        }
    }
}

fn encrypt(
    context: &Context,
    encryptor: &Encryptor<'_>,
    numbers: &Numbers,
    slots: usize,
    level: usize,
) -> std::result::Result<Vec<Ciphertext>, Refusal> {
    let encoder = Encoder::new(context);
    let encrypt_row = |row: &Row| {
        let plaintext = match row {
            Row::Real(row) => encoder.encode(row, slots, level)?,
            Row::Complex(row) => {
                let levels = context.parameters().max_level();
                let scale = context.parameters().scale_at(level.min(levels));
                encoder.encode_complex(row, slots, level, scale)?
            }
        };
        encryptor.encrypt(&plaintext)
    };
    numbers.rows.iter().map(encrypt_row).collect()
}
