//! Keywords of one party that stand in the table of another.

use std::path::PathBuf;
use std::sync::Arc;

use noren::retrieval::Rows;
use noren::retrieval::intersection::{Client, Database, Options, Plan};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::admission::{USUAL, admit, warn};
use crate::array::detached;
use crate::compiler::keys::{PyCompiledSecret, PyCompiledServerKeys, read_secret};
use crate::errors::raise;
use crate::integers::parameters::PyIntegerParameters;
use crate::parameters::security_of;
use crate::retrieval::rows::{Found, found, named};
use crate::seeds::seed_of;
use crate::whole::whole;

/// The parameters and layout of a private set intersection, with the verbs of its client.
#[pyclass(frozen, name = "Plan", module = "noren._noren.intersection")]
pub(crate) struct PyIntersectionPlan(Plan);

/// A table in clear that tells which encrypted keywords it has.
#[pyclass(frozen, name = "Database", module = "noren._noren.intersection")]
pub(crate) struct PyIntersectionDatabase(Database);

impl PyIntersectionPlan {
    fn client(&self, secret: &PyCompiledSecret) -> PyResult<Client> {
        Client::new(self.0.clone(), Arc::clone(&secret.0)).map_err(raise)
    }
}

/// Keywords as slices.
fn slices(keywords: &[PyBackedBytes]) -> Vec<&[u8]> {
    keywords.iter().map(|keyword| &keyword[..]).collect()
}

#[pymethods]
impl PyIntersectionPlan {
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

    /// How many rows the table has.
    #[getter]
    fn rows(&self) -> usize {
        self.0.rows()
    }

    /// The most keywords of a request.
    #[getter]
    fn asked(&self) -> usize {
        self.0.asked()
    }

    /// `log2` of a bound on the probability that a keyword is found that the table does not have.
    #[getter]
    fn log2_false_match(&self) -> f64 {
        self.0.log2_false_match()
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

    /// Makes the public key with which the server randomises replies, from a seed, or from fresh randomness.
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

    /// Reads keys of the server from a file. Raises Error for other files.
    fn load_server_keys(&self, py: Python<'_>, path: PathBuf) -> PyResult<PyCompiledServerKeys> {
        PyCompiledServerKeys::of_file(py, &self.0.server_parts(), &path)
    }

    /// Encrypts keywords.
    ///
    /// Raises Error for more than the plan is for.
    #[pyo3(signature = (secret, keywords, *, seed = None))]
    fn encrypt<'py>(
        &self,
        py: Python<'py>,
        secret: &PyCompiledSecret,
        keywords: Vec<PyBackedBytes>,
        seed: Option<&[u8]>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (client, seed) = (self.client(secret)?, seed_of(seed)?);
        Ok(PyBytes::new(py, &detached(py, || client.encrypt(&slices(&keywords), seed))?))
    }

    /// Decrypts the reply to a request for these keywords.
    ///
    /// Raises Error for a reply of another table.
    fn decrypt<'py>(
        &self,
        py: Python<'py>,
        secret: &PyCompiledSecret,
        reply: &[u8],
        keywords: Vec<PyBackedBytes>,
    ) -> PyResult<Found<'py>> {
        let client = self.client(secret)?;
        Ok(found(py, detached(py, || client.decrypt(reply, &slices(&keywords)))?))
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.to_bytes())
    }
}

#[pymethods]
impl PyIntersectionDatabase {
    /// Takes rows with a keyword for each.
    ///
    /// Raises Error for no rows, too many or too long ones, and keywords that stand twice.
    #[new]
    #[pyo3(
        signature = (rows, keywords, *, asked, distance = 64, security = Some(USUAL), seed = None),
        text_signature = "(rows, keywords, *, asked, distance=64, security=128, seed=None)"
    )]
    #[allow(clippy::too_many_arguments, reason = "the options of one function of Python")]
    fn new(
        py: Python<'_>,
        rows: Vec<PyBackedBytes>,
        keywords: Vec<PyBackedBytes>,
        #[pyo3(from_py_with = whole)] asked: usize,
        #[pyo3(from_py_with = whole)] distance: u32,
        #[pyo3(from_py_with = whole)] security: Option<u32>,
        seed: Option<&[u8]>,
    ) -> PyResult<Self> {
        let (options, seed) = (Options { asked, distance, security: security_of(security)? }, seed_of(seed)?);
        let database = detached(py, || Database::new(Rows::Named(&named(&keywords, &rows)), &options, &seed))?;
        Ok(Self(database))
    }

    /// The plan, which clients need.
    #[getter]
    fn plan(&self) -> PyIntersectionPlan {
        PyIntersectionPlan(self.0.plan().clone())
    }

    /// Answers a request, with fresh randomness, or that of a seed.
    ///
    /// Raises Error for a request for another table, and for keys of other parameters.
    #[pyo3(signature = (request, keys, *, seed = None))]
    fn answer<'py>(
        &self,
        py: Python<'py>,
        request: &[u8],
        keys: &PyCompiledServerKeys,
        seed: Option<&[u8]>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let seed = seed_of(seed)?;
        Ok(PyBytes::new(py, &detached(py, || self.0.answer(request, &keys.0, &seed))?))
    }
}
