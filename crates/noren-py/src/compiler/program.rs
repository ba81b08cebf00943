//! `Program`: a compiled function, and what its halves do with it.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError};

use noren::Seed;
use noren::advisor::Workload;
use noren::backends::Backends;
use noren::compiler::{Client, Flagged, Options, Outcome, Program, Server};
use noren::graph::Operation;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::admission::{USUAL, admit, warn};
use crate::array::detached;
use crate::compiler::graph::{PyGraph, element_name, values, vectors};
use crate::compiler::keys::{PyCompiledSecret, PyCompiledServerKeys, read_secret};
use crate::compiler::parameters::parameters;
use crate::errors::{EncodingError, raise};
use crate::files::destination;
use crate::machine::machine_of;
use crate::parameters::security_of;
use crate::progress::Heard;
use crate::seeds::seed_of;
use crate::whole::whole;

/// A compiled function: public, and the same in both halves.
#[pyclass(frozen, name = "Program", module = "noren.compiler")]
pub(crate) struct PyProgram(pub(crate) Program);

/// The server half of a compiled function, with its keys.
#[pyclass(frozen, name = "Running", module = "noren.compiler")]
pub(crate) struct PyRunning(Server);

/// The elements of an output, in row-major order.
#[derive(IntoPyObject)]
enum Elements<'py> {
    Numbers(Bound<'py, PyArray1<f64>>),
    /// Where they may pass 2^53.
    Integers(Bound<'py, PyArray1<i64>>),
}

/// The inputs of a run: in one request, or in several.
#[derive(FromPyObject)]
enum Requests {
    One(PyBackedBytes),
    Several(Vec<PyBackedBytes>),
}

/// For each output its elements, and a bound on their error; and the flags of rows.
type Results<'py> = (Vec<Elements<'py>>, Vec<f64>, Vec<bool>);

/// Inputs and outputs.
type Signature = (Vec<(String, Vec<usize>, &'static str, f64, f64)>, Vec<(Vec<usize>, &'static str)>);

#[pymethods]
impl PyProgram {
    /// Compiles a graph.
    ///
    /// scheme: the name of a backend, or "auto".
    /// precision: the absolute error of results of real numbers; None for a thousandth of the largest.
    /// dead_zone: real numbers closer than this may compare either way; None refuses to compare them.
    /// security: 128, 192, 256, or None for tests.
    /// machine: a file of `advisor.calibrate` with the costs of the server, or `advisor.REFERENCE`; this machine for None.
    /// unlimited: whether plans may need more memory than the machine has, or more than an hour.
    ///
    /// Raises Error for what the scheme does not have, for a precision that it does not reach, and for plans beyond the machine.
    #[staticmethod]
    #[pyo3(
        signature = (
            graph, *, scheme = "auto", precision = None, dead_zone = None, security = Some(USUAL), machine = None,
            unlimited = false,
        ),
        text_signature = "(graph, *, scheme='auto', precision=None, dead_zone=None, security=128, machine=None, \
                          unlimited=False)"
    )]
    #[allow(clippy::too_many_arguments, reason = "the options of one function of Python")]
    fn compile(
        py: Python<'_>,
        graph: &PyGraph,
        scheme: &str,
        precision: Option<f64>,
        dead_zone: Option<f64>,
        #[pyo3(from_py_with = whole)] security: Option<u32>,
        machine: Option<PathBuf>,
        unlimited: bool,
    ) -> PyResult<Self> {
        let graph = graph.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let (scheme, security) = ((scheme != "auto").then(|| scheme.to_owned()), security_of(security)?);
        detached(py, || {
            let machine = machine.map(|path| machine_of(&path)).transpose()?;
            let options = Options { scheme, precision, dead_zone, security, machine, unlimited, ..Options::default() };
            Program::compile(graph, &options)
        })
        .map(Self)
    }

    /// Compiles a workload, given as JSON.
    ///
    /// scheme: the name of a backend.
    ///
    /// The program of a workload, of the first candidate whose scheme compiles it for values that stay so far below 1.
    ///
    /// Raises Error if none does, with the reason of each.
    #[staticmethod]
    #[pyo3(signature = (workload, *, candidates), text_signature = "(workload, *, candidates)")]
    fn of_workload(py: Python<'_>, workload: &str, candidates: Vec<(String, f64)>) -> PyResult<Self> {
        let candidates: Vec<(&str, f64)> = candidates.iter().map(|(scheme, below)| (scheme.as_str(), *below)).collect();
        detached(py, || Workload::parse(workload)?.program_of_first(&candidates)).map(Self)
    }

    /// The program that ``bytes(program)`` gave.
    ///
    /// Raises Error for other bytes, and InsecureError for parameters that promise fewer than `min_security` bits.
    #[staticmethod]
    #[pyo3(signature = (data, *, min_security = USUAL), text_signature = "(data, *, min_security=128)")]
    fn from_bytes(py: Python<'_>, data: &[u8], #[pyo3(from_py_with = whole)] min_security: u32) -> PyResult<Self> {
        let program = detached(py, || Program::from_bytes(data))?;
        admit(py, "the compiled function", program.plan().security(), min_security)?;
        Ok(Self(program))
    }

    /// The name of its backend.
    #[getter]
    fn scheme(&self) -> &'static str {
        self.0.plan().backend()
    }

    /// Whether results are exact: otherwise they are real numbers within a bound.
    #[getter]
    fn exact(&self) -> PyResult<bool> {
        Ok(Backends::ALL.named(self.scheme()).map_err(raise)?.is_exact())
    }

    /// The absolute error that results may have.
    #[getter]
    fn precision(&self) -> f64 {
        self.0.precision()
    }

    /// The parameters of the scheme.
    #[getter]
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        parameters(py, self.0.plan().parameters())
    }

    /// The same program, which says in JSON how arguments become inputs, and results an answer.
    ///
    /// Raises Error for what is no JSON.
    fn with_interface(&self, interface: &str) -> PyResult<Self> {
        let interface = serde_json::from_str(interface)
            .map_err(|error| EncodingError::new_err(format!("an interface could not be read: {error}")))?;
        Ok(Self(self.0.with_interface(interface)))
    }

    /// The interface of `with_interface`, as JSON; None of a program without one.
    #[getter]
    fn interface(&self) -> Option<String> {
        self.0.interface().map(ToString::to_string)
    }

    /// The graph as JSON: nodes with their shapes follow from it.
    #[getter]
    fn graph(&self) -> String {
        self.0.graph().to_json()
    }

    /// Name, shape, element type, lowest and highest value of each input; and shape and element type of each output.
    #[getter]
    fn signature(&self) -> Signature {
        let graph = self.0.graph();
        let inputs = graph.inputs().into_iter().map(|at| {
            let node = graph.node(at);
            let name = match &node.operation {
                Operation::Input { name, .. } => name.clone(),
                _ => String::new(),
            };
            (name, node.shape.clone(), element_name(node.element), node.range.low, node.range.high)
        });
        let outputs = graph.outputs().iter().map(|&at| graph.node(at));
        let outputs = outputs.map(|node| (node.shape.clone(), element_name(node.element)));
        (inputs.collect(), outputs.collect())
    }

    /// The steps of the function, as JSON, with prices of the machine of a file, as in `compile`.
    #[pyo3(signature = (*, machine = None))]
    fn explain(&self, py: Python<'_>, machine: Option<PathBuf>) -> PyResult<String> {
        let explanation = detached(py, || {
            let machine = machine.map(|path| machine_of(&path)).transpose()?;
            self.0.explain_on(machine.as_ref())
        })?;
        serde_json::to_string(&explanation).map_err(|error| PyTypeError::new_err(error.to_string()))
    }

    /// Makes a secret key from a seed, or from fresh randomness.
    #[pyo3(signature = (*, seed = None))]
    fn make_secret(&self, py: Python<'_>, seed: Option<&[u8]>) -> PyResult<PyCompiledSecret> {
        let seed = seed_of(seed)?;
        warn(py, "keygen", self.0.plan().security())?;
        detached(py, || Client::generate(self.0.clone(), &seed))
            .map(|client| PyCompiledSecret(Arc::clone(client.secret())))
    }

    /// Reads a secret key of its parameters from a file.
    ///
    /// Raises Error for other files, ParameterMismatchError for a key of other parameters.
    #[pyo3(signature = (path, *, passphrase = None))]
    fn load_secret(&self, py: Python<'_>, path: PathBuf, passphrase: Option<String>) -> PyResult<PyCompiledSecret> {
        read_secret(py, &self.0.plan().secret_parts(), &path, passphrase)
    }

    /// The keys of the server in these bytes. Raises Error for others.
    fn server_keys(&self, py: Python<'_>, data: &[u8]) -> PyResult<PyCompiledServerKeys> {
        PyCompiledServerKeys::of_bytes(py, &self.0.plan().server_parts(), data)
    }

    /// Reads keys of the server from a file; expanded keys are mapped. Raises Error for other files.
    fn load_server_keys(&self, py: Python<'_>, path: PathBuf) -> PyResult<PyCompiledServerKeys> {
        PyCompiledServerKeys::of_file(py, &self.0.plan().server_parts(), &path)
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
        let (client, seed) = (secret.client(&self.0)?, seed_of(seed)?);
        detached(py, || client.server_keys(&seed)).map(PyCompiledServerKeys)
    }

    /// Makes the keys of the server straight into a file.
    ///
    /// progress: called with (done, of) after each key. force: whether a file that exists is replaced.
    #[pyo3(signature = (secret, path, *, seed = None, progress = None, force = false))]
    fn write_server_keys(
        &self,
        py: Python<'_>,
        secret: &PyCompiledSecret,
        path: PathBuf,
        seed: Option<&[u8]>,
        progress: Option<Py<PyAny>>,
        force: bool,
    ) -> PyResult<()> {
        let (client, seed) = (secret.client(&self.0)?, seed_of(seed)?);
        let heard = Heard::new(progress);
        let mut hear = |done, of| heard.call(done, of);
        heard.watch(py, || client.write_server_keys(&seed, destination(&path, force), &mut hear))
    }

    /// The server half with its keys.
    ///
    /// Raises ParameterMismatchError for keys of other parameters.
    fn server(&self, py: Python<'_>, keys: &PyCompiledServerKeys) -> PyResult<PyRunning> {
        warn(py, "Server", self.0.plan().security())?;
        detached(py, || Server::new(&self.0, &keys.0)).map(PyRunning)
    }

    /// Encrypts inputs, each in row-major order; None for those that other requests have.
    ///
    /// Raises Error for a value outside of the range of its input.
    #[pyo3(signature = (secret, inputs, *, seed = None))]
    fn encrypt<'py>(
        &self,
        py: Python<'py>,
        secret: &PyCompiledSecret,
        inputs: Vec<Option<PyReadonlyArray1<'py, f64>>>,
        seed: Option<&[u8]>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (client, seed) = (secret.client(&self.0)?, seed_of(seed)?);
        let values = |input: &Option<PyReadonlyArray1<'_, f64>>| input.as_ref().map(values).transpose();
        let inputs = inputs.iter().map(values).collect::<PyResult<Vec<_>>>()?;
        let inputs: Vec<_> = inputs.iter().map(Option::as_deref).collect();
        Ok(PyBytes::new(py, &detached(py, || client.encrypt_some(&inputs, seed))?))
    }

    /// Decrypts results: (values of each output, a bound on the error of each, whether those of each row may be anything).
    ///
    /// Raises WireError for bytes of another function, RangeError without `flags` where a row has a flag.
    #[pyo3(signature = (secret, reply, *, flags = false))]
    fn decrypt<'py>(
        &self,
        py: Python<'py>,
        secret: &PyCompiledSecret,
        reply: &[u8],
        flags: bool,
    ) -> PyResult<Results<'py>> {
        let client = secret.client(&self.0)?;
        results(py, detached(py, || client.decrypt_flagged(reply))?, flags)
    }

    /// Evaluates the function in the clear with the noise of the scheme: as ``decrypt``.
    #[pyo3(signature = (inputs, *, seed = None, flags = false))]
    fn simulate<'py>(
        &self,
        py: Python<'py>,
        inputs: Vec<PyReadonlyArray1<'py, f64>>,
        seed: Option<&[u8]>,
        flags: bool,
    ) -> PyResult<Results<'py>> {
        let (inputs, seed): (_, Seed) = (vectors(&inputs)?, seed_of(seed)?);
        results(py, detached(py, || self.0.simulate_flagged(&inputs, &seed))?, flags)
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.to_bytes())
    }
}

#[pymethods]
impl PyRunning {
    /// Evaluates the function on encrypted inputs, in one request or in several, each input in one of them; needs no secret.
    ///
    /// Raises WireError for bytes of another function.
    fn run<'py>(&self, py: Python<'py>, requests: Requests) -> PyResult<Bound<'py, PyBytes>> {
        let requests: Vec<&[u8]> = match &requests {
            Requests::One(request) => vec![request],
            Requests::Several(requests) => requests.iter().map(|request| &request[..]).collect(),
        };
        Ok(PyBytes::new(py, &detached(py, || self.0.run_joined(&requests))?))
    }
}

/// Results with the flags of rows; without `flags` none may have one.
fn results(py: Python<'_>, found: Flagged, flags: bool) -> PyResult<Results<'_>> {
    let raised = found.flags.clone();
    let Outcome { values, bounds, integers } = if flags { found.outcome } else { found.all_inside().map_err(raise)? };
    let array = |(values, integers): (Vec<f64>, Option<Vec<i64>>)| match integers {
        None => Elements::Numbers(values.into_pyarray(py)),
        Some(integers) => Elements::Integers(integers.into_pyarray(py)),
    };
    Ok((values.into_iter().zip(integers).map(array).collect(), bounds, raised))
}
