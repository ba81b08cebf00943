//! Rows of a table in clear, asked for by encrypted numbers or keywords.

use std::path::PathBuf;
use std::sync::Arc;

use noren::retrieval::{Client, Database, Key, Plan, Rows};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::admission::{USUAL, admit, warn};
use crate::array::detached;
use crate::compiler::keys::{PyCompiledSecret, PyCompiledServerKeys, read_secret};
use crate::errors::raise;
use crate::integers::parameters::PyIntegerParameters;
use crate::parameters::security_of;
use crate::seeds::seed_of;
use crate::whole::whole;

/// The parameters and layout of a private retrieval, with the verbs of its client.
#[pyclass(frozen, name = "Plan", module = "noren._noren.retrieval")]
pub(crate) struct PyRetrievalPlan(Plan);

/// A table in clear that answers encrypted requests for its rows.
#[pyclass(frozen, name = "Database", module = "noren._noren.retrieval")]
pub(crate) struct PyRetrievalDatabase(Database);

/// Rows, or `None` for keywords without one.
pub(crate) type Found<'py> = Vec<Option<Bound<'py, PyBytes>>>;

/// Rows as bytes of Python.
pub(crate) fn found(py: Python<'_>, rows: Vec<Option<Vec<u8>>>) -> Found<'_> {
    rows.into_iter().map(|row| row.map(|row| PyBytes::new(py, &row))).collect()
}

/// Keywords with their rows.
pub(crate) fn named<'a>(keywords: &'a [PyBackedBytes], rows: &'a [PyBackedBytes]) -> Vec<(&'a [u8], &'a [u8])> {
    keywords.iter().zip(rows).map(|(keyword, row)| (&keyword[..], &row[..])).collect()
}

impl PyRetrievalPlan {
    fn client(&self, secret: &PyCompiledSecret) -> PyResult<Client> {
        Client::new(self.0.clone(), Arc::clone(&secret.0)).map_err(raise)
    }

    fn keys(numbers: &[usize], keywords: &[PyBackedBytes]) -> Vec<Key<'static>> {
        let keywords = keywords.iter().map(|keyword| Key::Keyword(keyword.to_vec().into()));
        numbers.iter().map(|&at| Key::Number(at)).chain(keywords).collect()
    }
}

#[pymethods]
impl PyRetrievalPlan {
    /// The plan that ``bytes(plan)`` gave.
    ///
    /// Raises Error for other bytes, and InsecureError for parameters that promise fewer than `min_security` bits.
    #[staticmethod]
    #[pyo3(signature = (data, *, min_security = USUAL), text_signature = "(data, *, min_security=128)")]
    fn from_bytes(py: Python<'_>, data: &[u8], #[pyo3(from_py_with = whole)] min_security: u32) -> PyResult<Self> {
        let plan = detached(py, || Plan::from_bytes(data))?;
        admit(py, "the description", plan.parameters().rlwe().security(), min_security)?;
        Ok(Self(plan))
    }

    /// Whether rows are asked for by keywords, not by numbers.
    #[getter]
    fn by_keyword(&self) -> bool {
        self.0.by_keyword()
    }

    /// How many rows the table has.
    #[getter]
    fn rows(&self) -> usize {
        self.0.rows()
    }

    /// How many rows a reply may hold.
    #[getter]
    fn capacity(&self) -> usize {
        self.0.capacity()
    }

    /// The rows and columns of the matrix of buckets, and the plaintexts of each.
    #[getter]
    fn shape(&self) -> (usize, usize, usize) {
        self.0.shape().into()
    }

    /// The parameters of BFV.
    #[getter]
    fn parameters(&self) -> PyIntegerParameters {
        PyIntegerParameters(self.0.parameters().clone())
    }

    /// Makes a secret key from a seed, or from fresh randomness.
    #[pyo3(signature = (*, seed = None))]
    fn make_secret(&self, py: Python<'_>, seed: Option<&[u8]>) -> PyResult<PyCompiledSecret> {
        let seed = seed_of(seed)?;
        warn(py, "keygen", self.0.parameters().rlwe().security())?;
        let client = detached(py, || Client::generate(self.0.clone(), &seed))?;
        Ok(PyCompiledSecret(Arc::clone(client.secret())))
    }

    /// Reads a secret key of its parameters from a file.
    ///
    /// Raises Error for other files, ParameterMismatchError for a key of other parameters.
    #[pyo3(signature = (path, *, passphrase = None))]
    fn load_secret(&self, py: Python<'_>, path: PathBuf, passphrase: Option<String>) -> PyResult<PyCompiledSecret> {
        read_secret(py, &self.0.secret_parts(), &path, passphrase)
    }

    /// Makes the keys of the server for a secret key, from a seed, or from fresh randomness.
    ///
    /// Raises ParameterMismatchError for the key of other parameters.
    #[pyo3(signature = (secret, *, seed = None))]
    fn make_server_keys(
        &self,
        py: Python<'_>,
        secret: &PyCompiledSecret,
        seed: Option<&[u8]>,
    ) -> PyResult<PyCompiledServerKeys> {
        let (client, seed) = (self.client(secret)?, seed_of(seed)?);
        detached(py, || client.server_keys(&seed)).map(PyCompiledServerKeys)
    }

    /// The keys of the server in these bytes. Raises Error for others.
    fn server_keys(&self, py: Python<'_>, data: &[u8]) -> PyResult<PyCompiledServerKeys> {
        PyCompiledServerKeys::of_bytes(py, &self.0.server_parts(), data)
    }

    /// Reads keys of the server from a file; expanded keys are mapped. Raises Error for other files.
    fn load_server_keys(&self, py: Python<'_>, path: PathBuf) -> PyResult<PyCompiledServerKeys> {
        PyCompiledServerKeys::of_file(py, &self.0.server_parts(), &path)
    }

    /// Encrypts requests for rows of these numbers, or keywords.
    ///
    /// Raises Error for rows that the table does not have.
    #[pyo3(signature = (secret, numbers, keywords, *, seed = None))]
    fn encrypt<'py>(
        &self,
        py: Python<'py>,
        secret: &PyCompiledSecret,
        numbers: Vec<usize>,
        keywords: Vec<PyBackedBytes>,
        seed: Option<&[u8]>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (client, seed) = (self.client(secret)?, seed_of(seed)?);
        let keys = Self::keys(&numbers, &keywords);
        Ok(PyBytes::new(py, &detached(py, || client.encrypt(&keys, seed))?))
    }

    /// Decrypts replies to requests for these numbers, or keywords.
    ///
    /// Raises Error for replies of another table, or to other requests.
    fn decrypt<'py>(
        &self,
        py: Python<'py>,
        secret: &PyCompiledSecret,
        replies: &[u8],
        numbers: Vec<usize>,
        keywords: Vec<PyBackedBytes>,
    ) -> PyResult<Found<'py>> {
        let (client, keys) = (self.client(secret)?, Self::keys(&numbers, &keywords));
        Ok(found(py, detached(py, || client.decrypt(replies, &keys))?))
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.to_bytes())
    }
}

#[pymethods]
impl PyRetrievalDatabase {
    /// Takes rows, with a keyword for each or with none.
    ///
    /// Raises Error for no rows, too long ones, and keywords that stand twice.
    #[new]
    #[pyo3(
        signature = (rows, keywords, *, security = Some(USUAL)),
        text_signature = "(rows, keywords, *, security=128)"
    )]
    fn new(
        py: Python<'_>,
        rows: Vec<PyBackedBytes>,
        keywords: Option<Vec<PyBackedBytes>>,
        #[pyo3(from_py_with = whole)] security: Option<u32>,
    ) -> PyResult<Self> {
        let security = security_of(security)?;
        let database = detached(py, || match &keywords {
            Some(keywords) => Database::new(Rows::Named(&named(keywords, &rows)), security),
            None => {
                let rows: Vec<&[u8]> = rows.iter().map(|row| &row[..]).collect();
                Database::new(Rows::Numbered(&rows), security)
            }
        })?;
        Ok(Self(database))
    }

    /// The plan, which clients need.
    #[getter]
    fn plan(&self) -> PyRetrievalPlan {
        PyRetrievalPlan(self.0.plan().clone())
    }

    /// Answers requests.
    ///
    /// Raises Error for requests for another table, and for keys of other parameters.
    fn answer<'py>(
        &self,
        py: Python<'py>,
        requests: &[u8],
        keys: &PyCompiledServerKeys,
    ) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &detached(py, || self.0.answer(requests, &keys.0))?))
    }
}
