//! `Program`: a compiled function, and what its halves do with it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::PoisonError;

use noren::advisor::Limits;
use noren::ckks;
use noren::compiler::{Direction, Options, Outcome, Program, Shapes, advise};
use noren::error::{Error, Result};
use noren::graph::Operation;
use noren::programs::columns::Columns;
use noren::schemes::integers::Ciphertexts;
use noren::wire::{Form, Object};
use noren::{bgv, tfhe};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::admission::{USUAL, admit};
use crate::advisor::parties;
use crate::array::detached;
use crate::bootstrapping::keys::PyBootstrapParameters;
use crate::ckks::classes::PyEvaluator;
use crate::ckks::keys::PySecretKey;
use crate::ckks::parameters::PyParameters;
use crate::compiler::graph::{PyGraph, element_name};
use crate::errors::raise;
use crate::integers::keys::PyIntegerSecretKey;
use crate::integers::parameters::PyIntegerParameters;
use crate::integers::schemes::PyBgvEvaluator;
use crate::parameters::security_of;
use crate::programs::program::PyPlan;
use crate::seeds::seed_of;
use crate::tfhe::classes::PyTfheEvaluator;
use crate::tfhe::keys::PyTfheSecretKey;
use crate::tfhe::parameters::PyTfheParameters;
use crate::whole::whole;

/// The schemes that evaluate a graph, as JSON; sizes in bytes, times in seconds.
///
/// Raises Error if none does within the limits.
#[pyfunction]
#[pyo3(signature = (graph, *, precision, dead_zone, security, objective, client, machine, threads, limits))]
#[allow(clippy::too_many_arguments, reason = "the options of one function of Python")]
pub(crate) fn advise_function(
    py: Python<'_>,
    graph: &PyGraph,
    precision: Option<f64>,
    dead_zone: Option<f64>,
    #[pyo3(from_py_with = whole)] security: Option<u32>,
    objective: &str,
    client: Option<&str>,
    machine: Option<PathBuf>,
    #[pyo3(from_py_with = whole)] threads: Option<usize>,
    #[pyo3(from_py_with = limits_of)] limits: Limits,
) -> PyResult<String> {
    let graph = graph.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let options = Options { scheme: None, precision, dead_zone, security: security_of(security)? };
    detached(py, || {
        let (client, server) = parties(client, machine, threads)?;
        let advice = advise(&graph, &options, objective.parse()?, &client, &server, &limits)?;
        Ok(Shapes::of(&graph).report(&advice, &client, &server).to_json())
    })
}

/// The limits of the server's memory, the client's memory, the server's time and the client's time.
fn limits_of(limits: &Bound<'_, PyAny>) -> PyResult<Limits> {
    let (server_memory, client_memory, server_seconds, client_seconds) =
        limits.extract::<(Bound<'_, PyAny>, _, _, _)>()?;
    Ok(Limits {
        server_memory: whole(&server_memory)?,
        client_memory: whole(&client_memory)?,
        server_seconds,
        client_seconds,
    })
}

/// A compiled function: public, and the same in both halves.
#[pyclass(frozen, name = "Program", module = "noren.compiler")]
pub(crate) struct PyProgram(Program);

/// For each output its elements in row-major order, and a bound on their error.
type Results<'py> = (Vec<Bound<'py, PyArray1<f64>>>, Vec<f64>);

/// What goes in, and what comes out.
type Signature = (Vec<(String, Vec<usize>, &'static str, f64, f64)>, Vec<(Vec<usize>, &'static str)>);

#[pymethods]
impl PyProgram {
    /// Compiles a graph.
    ///
    /// scheme: "auto", "ckks", "ckks-bootstrapping", "bgv" or "tfhe".
    /// precision: the absolute error of results of real numbers; None for a thousandth of the largest.
    /// dead_zone: real numbers closer than this may compare either way; None refuses to compare them.
    /// security: 128, 192, 256, or None for tests.
    ///
    /// Raises Error for what the scheme does not have, and for a precision that it does not reach.
    #[staticmethod]
    #[pyo3(
        signature = (graph, *, scheme = "auto", precision = None, dead_zone = None, security = Some(USUAL)),
        text_signature = "(graph, *, scheme='auto', precision=None, dead_zone=None, security=128)"
    )]
    fn compile(
        py: Python<'_>,
        graph: &PyGraph,
        scheme: &str,
        precision: Option<f64>,
        dead_zone: Option<f64>,
        #[pyo3(from_py_with = whole)] security: Option<u32>,
    ) -> PyResult<Self> {
        let graph = graph.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let scheme = (scheme != "auto").then(|| scheme.parse()).transpose().map_err(raise)?;
        let options = Options { scheme, precision, dead_zone, security: security_of(security)? };
        detached(py, || Program::compile(graph, &options)).map(Self)
    }

    /// The program that ``bytes(program)`` gave.
    ///
    /// Raises Error for other bytes, and InsecureError for parameters that promise fewer than `min_security` bits.
    #[staticmethod]
    #[pyo3(signature = (data, *, min_security = USUAL), text_signature = "(data, *, min_security=128)")]
    fn from_bytes(py: Python<'_>, data: &[u8], #[pyo3(from_py_with = whole)] min_security: u32) -> PyResult<Self> {
        let program = detached(py, || Program::from_bytes(data))?;
        admit(py, "the compiled function", program.security(), min_security)?;
        Ok(Self(program))
    }

    /// The scheme: "ckks", "ckks-bootstrapping", "bgv" or "tfhe".
    #[getter]
    fn scheme(&self) -> String {
        self.0.scheme().to_string()
    }

    /// The absolute error that results may have.
    #[getter]
    fn precision(&self) -> f64 {
        self.0.precision()
    }

    /// Whether the server needs circuit keys of TFHE: for tables.
    #[getter]
    fn needs_circuit_keys(&self) -> bool {
        self.0.needs_circuit_keys()
    }

    /// The parameters of the scheme.
    #[getter]
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        if let Some(parameters) = self.0.ckks() {
            return Ok(Bound::new(py, PyParameters(parameters.clone()))?.into_any());
        }
        if let Some(parameters) = self.0.bootstrapping() {
            return Ok(Bound::new(py, PyBootstrapParameters(parameters.clone()))?.into_any());
        }
        if let Some(parameters) = self.0.bgv() {
            return Ok(Bound::new(py, PyIntegerParameters(parameters.clone()))?.into_any());
        }
        let parameters = self.0.tfhe().ok_or_else(|| PyTypeError::new_err("a program without parameters"))?;
        Ok(Bound::new(py, PyTfheParameters(parameters.clone()))?.into_any())
    }

    /// The rotations of a function with bootstraps beside those of bootstraps, each with the level up to which its key serves.
    ///
    /// Raises Error for a function on another scheme.
    #[getter]
    fn rotations_at(&self) -> PyResult<BTreeMap<isize, usize>> {
        Ok(self.0.ckks_keys().map_err(raise)?.rotations_at.into_iter().collect())
    }

    /// Levels and keys that the server needs; None for "tfhe", which takes all server keys.
    #[getter]
    fn plan(&self) -> Option<PyPlan> {
        self.0.usage().cloned().map(|usage| PyPlan { usage, work: Vec::new() })
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

    /// What the function does, step by step, as JSON.
    fn explain(&self, py: Python<'_>) -> PyResult<String> {
        let explanation = detached(py, || self.0.explain())?;
        serde_json::to_string(&explanation).map_err(|error| PyTypeError::new_err(error.to_string()))
    }

    /// Encrypts inputs, each in row-major order.
    ///
    /// Raises Error for a value outside of the range of its input.
    #[pyo3(signature = (key, inputs, *, seed = None))]
    fn encrypt<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'py, PyAny>,
        inputs: Vec<PyReadonlyArray1<'py, f64>>,
        seed: Option<&[u8]>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let inputs = vectors(&inputs)?;
        let (program, seed) = (&self.0, seed_of(seed)?);
        let items = if let Ok(key) = key.cast::<PySecretKey>() {
            let file = &key.get().0;
            detached(py, || {
                let encryptor = ckks::Encryptor::symmetric(&file.context, &file.key, seed)?;
                let ciphertexts = ckks::Ciphertexts(program.encrypt_ckks(&file.context, &encryptor, &inputs)?);
                Ok(vec![ciphertexts.to_bytes(&file.context, Form::Packed)])
            })?
        } else if let Ok(key) = key.cast::<PyIntegerSecretKey>() {
            let file = &key.get().0;
            detached(py, || {
                let encryptor = bgv::Encryptor::symmetric(&file.context, &file.key, seed)?;
                let ciphertexts = Ciphertexts(program.encrypt_bgv(&file.context, &encryptor, &inputs)?);
                Ok(vec![ciphertexts.to_bytes(&file.context, Form::Packed)])
            })?
        } else {
            let key = key.cast::<PyTfheSecretKey>()?.get();
            let (file, context) = (&key.file, &key.shared);
            detached(py, || {
                let encryptor = tfhe::Encryptor::new(context, &file.key, seed)?;
                let parameters = context.parameters();
                let columns = program.encrypt_tfhe(&encryptor, &inputs)?;
                columns.into_iter().map(|column| container(parameters, column)).collect()
            })?
        };
        Ok(PyBytes::new(py, &program.message(Direction::Inputs, items)))
    }

    /// Evaluates the function on encrypted inputs; needs no secret.
    ///
    /// Raises WireError for bytes of another function.
    fn run<'py>(&self, py: Python<'py>, evaluator: &Bound<'py, PyAny>, inputs: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let program = &self.0;
        let results = if let Ok(evaluator) = evaluator.cast::<PyEvaluator>() {
            let evaluator = evaluator.get();
            let context = evaluator.plain.context();
            detached(py, || {
                let items = program.items(Direction::Inputs, inputs)?;
                let ckks::Ciphertexts(inputs) = ckks::Ciphertexts::from_bytes(context, single(&items)?)?;
                let outputs = match &evaluator.bootstrapping {
                    Some(bootstrapping) => program.run_bootstrapping(bootstrapping, inputs)?,
                    None => program.run_ckks(&evaluator.plain, inputs)?,
                };
                Ok(vec![ckks::Ciphertexts(outputs).to_bytes(context, Form::Packed)])
            })?
        } else if let Ok(evaluator) = evaluator.cast::<PyBgvEvaluator>() {
            let evaluator = &evaluator.get().0;
            let context = evaluator.context();
            detached(py, || {
                let items = program.items(Direction::Inputs, inputs)?;
                let Ciphertexts(inputs) = Ciphertexts::from_bytes(context, single(&items)?)?;
                let outputs = program.run_bgv(evaluator, inputs)?;
                Ok(vec![Ciphertexts(outputs).to_bytes(context, Form::Packed)])
            })?
        } else {
            let inner = &evaluator.cast::<PyTfheEvaluator>()?.get().inner;
            let parameters = inner.context.parameters();
            detached(py, || {
                let items = program.items(Direction::Inputs, inputs)?;
                let columns = items.iter().map(|item| column(parameters, item)).collect::<Result<Vec<_>>>()?;
                let outputs = program.run_tfhe(&inner.columns, &columns)?;
                outputs.into_iter().map(|column| container(parameters, column)).collect()
            })?
        };
        Ok(PyBytes::new(py, &program.message(Direction::Outputs, results)))
    }

    /// Decrypts results: (values of each output, a bound on the error of each).
    ///
    /// Raises WireError for bytes of another function.
    fn decrypt<'py>(&self, py: Python<'py>, key: &Bound<'py, PyAny>, outputs: &[u8]) -> PyResult<Results<'py>> {
        let program = &self.0;
        let items = detached(py, || program.items(Direction::Outputs, outputs))?;
        let outcome = if let Ok(key) = key.cast::<PySecretKey>() {
            let file = &key.get().0;
            detached(py, || {
                let ckks::Ciphertexts(outputs) = ckks::Ciphertexts::from_bytes(&file.context, single(&items)?)?;
                program.decrypt_ckks(&ckks::Decryptor::new(&file.context, &file.key)?, &outputs)
            })?
        } else if let Ok(key) = key.cast::<PyIntegerSecretKey>() {
            let file = &key.get().0;
            detached(py, || {
                let Ciphertexts(outputs) = Ciphertexts::from_bytes(&file.context, single(&items)?)?;
                let decryptor = bgv::Decryptor::new(&file.context, &file.key)?;
                program.decrypt_bgv(&file.context, &decryptor, &outputs)
            })?
        } else {
            let key = key.cast::<PyTfheSecretKey>()?.get();
            let (file, context) = (&key.file, &key.shared);
            detached(py, || {
                let parameters = context.parameters();
                let columns = items.iter().map(|item| column(parameters, item)).collect::<Result<Vec<_>>>()?;
                program.decrypt_tfhe(&tfhe::Decryptor::new(context, &file.key)?, &columns)
            })?
        };
        Ok(results(py, outcome))
    }

    /// Evaluates the function in the clear with the noise of the scheme: as ``decrypt``.
    #[pyo3(signature = (inputs, *, seed = None))]
    fn simulate<'py>(
        &self,
        py: Python<'py>,
        inputs: Vec<PyReadonlyArray1<'py, f64>>,
        seed: Option<&[u8]>,
    ) -> PyResult<Results<'py>> {
        let (inputs, seed) = (vectors(&inputs)?, seed_of(seed)?);
        Ok(results(py, detached(py, || self.0.simulate(&inputs, &seed))?))
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.to_bytes())
    }
}

fn vectors(inputs: &[PyReadonlyArray1<'_, f64>]) -> PyResult<Vec<Vec<f64>>> {
    inputs.iter().map(|input| Ok(input.as_slice()?.to_vec())).collect()
}

fn results(py: Python<'_>, outcome: Outcome) -> Results<'_> {
    let Outcome { values, bounds } = outcome;
    (values.into_iter().map(|values| values.into_pyarray(py)).collect(), bounds)
}

/// The only container of a message.
fn single(items: &[Vec<u8>]) -> Result<&[u8]> {
    match items {
        [item] => Ok(item),
        _ => Err(Error::Length { what: "containers of ciphertexts", found: items.len(), needed: "1".to_owned() }),
    }
}

/// A column alone in a container.
fn container(parameters: &tfhe::Parameters, column: noren::programs::columns::Column) -> Result<Vec<u8>> {
    let shape = vec![column.count()];
    Ok(Columns::new(shape, vec![(String::new(), column)])?.to_bytes(parameters, Form::Packed))
}

fn column(parameters: &tfhe::Parameters, bytes: &[u8]) -> Result<noren::programs::columns::Column> {
    let mut columns = Columns::from_bytes(parameters, bytes)?.into_columns();
    match columns.pop() {
        Some(column) if columns.is_empty() => Ok(column),
        _ => Err(Error::Length { what: "columns of a container", found: columns.len() + 1, needed: "1".to_owned() }),
    }
}
