//! `Program` and `Plan`: what is computed on tables, and what that needs of keys and parameters.

use std::collections::BTreeMap;

use noren::circuits::recorder::CircuitUsage;
use noren::ckks::{Context, KeyRequest};
use noren::programs::{Program, ProgramPlan, Shape, TableLayout};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict};

use crate::array::detached;
use crate::ckks::classes::{PyContext, PyEvaluator};
use crate::ckks::evaluator::on_either;
use crate::ckks::keys::{PyEvaluationKeys, PyKeys, PySecretKey};
use crate::ckks::level::Level;
use crate::ckks::parameters::PyParameters;
use crate::errors::{Error, raise};
use crate::programs::table::{PyEncryptedTable, bounds_of};
use crate::progress::Heard;
use crate::whole::whole;

/// A computation on an encrypted table, with its model.
///
/// name: "sum", "mean", "variance", "covariance", "inner-product", "linear", "logistic" or "polynomial".
/// model: what the program takes besides the table; arrays may be numpy arrays:
///
/// - variance, covariance: ddof=1
/// - inner-product: pairs=[[0, 1]], columns by position or name; all pairs, as a matrix, if left out
/// - linear: weights, of shape (columns,) or (outputs, columns); bias=0; mean and scale, to standardise columns first;
///   columns, if the weights are not for all; outputs, their names
/// - logistic: as linear, interval=16, a bound on the absolute values of the linear part for all rows, and error=1e-5
///   or degree: of the polynomial that stands for the logistic function
/// - polynomial: coefficients, lowest first; basis="power" or "chebyshev"; interval=[a, b] that holds all entries
///
/// Raises Error for an unknown name, or a model that the program does not take. Programs can be pickled.
///
/// >>> from noren import programs
/// >>> programs.Program("linear", weights=[0.5, -2.0], bias=1.0)
/// Program('linear', '{"weights": [0.5, -2.0], "bias": 1.0}')
#[pyclass(frozen, name = "Program", module = "noren.programs")]
pub(crate) struct PyProgram {
    program: Program,
    json: Option<String>,
}

#[pymethods]
impl PyProgram {
    #[new]
    #[pyo3(signature = (name, /, **model))]
    fn new(py: Python<'_>, name: &str, model: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        Self::from_json(name, model.map(|model| to_json(py, model)).transpose()?)
    }

    /// The program of this name with its model as JSON text, as model files hold it.
    ///
    /// Raises Error as the constructor does.
    #[staticmethod]
    #[pyo3(signature = (name, json = None))]
    fn from_json(name: &str, json: Option<String>) -> PyResult<Self> {
        let program = Program::parse(name, json.as_deref()).map_err(raise)?;
        Ok(Self { program, json })
    }

    /// The name.
    #[getter]
    fn name(&self) -> &'static str {
        self.program.name()
    }

    /// The levels and keys that the program needs for tables of `rows` times `columns` numbers in ciphertexts of at most `slots` slots.
    ///
    /// column_names: needed if the model names columns.
    /// max_abs: as for ``encrypt_table``, if it is to be given there: then fewer levels may do.
    /// unproven_interval: whether max_abs need not prove that all arguments lie in the interval of the model; see
    ///     ``noren.programs.plan``.
    ///
    /// Raises Error for a model that does not suit the table, RangeError for an interval that max_abs does not prove.
    #[pyo3(signature = (rows, columns, *, slots, column_names = None, max_abs = None, unproven_interval = false))]
    #[expect(clippy::too_many_arguments, reason = "they are keyword arguments in Python")]
    fn plan(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = whole)] rows: usize,
        #[pyo3(from_py_with = whole)] columns: usize,
        #[pyo3(from_py_with = whole)] slots: usize,
        column_names: Option<Vec<String>>,
        max_abs: Option<&Bound<'_, PyAny>>,
        unproven_interval: bool,
    ) -> PyResult<PyPlan> {
        let shape = Shape { unproven_interval, ..shape_of(rows, columns, column_names, max_abs)? };
        detached(py, || {
            let usage = shape.usage(&self.program, slots)?;
            Ok(PyPlan { usage, work: vec![(self.program.clone(), shape.layout(slots)?)] })
        })
    }

    /// Runs the program on an encrypted table; see ``noren.programs.run``.
    #[pyo3(signature = (evaluator, table, *, progress = None))]
    fn run(
        &self,
        py: Python<'_>,
        evaluator: &PyEvaluator,
        table: &PyEncryptedTable,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<PyEncryptedTable> {
        let inner = Heard::new(progress).follow(
            py,
            raise,
            || on_either!(evaluator, ev => self.program.run(ev, &table.inner)),
        )?;
        Ok(PyEncryptedTable { inner, context: evaluator.plain.context().clone() })
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Pickle<'py>> {
        Ok((py.get_type::<Self>().getattr("from_json")?, (self.name(), self.json.clone())))
    }

    fn __repr__(&self) -> String {
        match &self.json {
            None => format!("Program('{}')", self.name()),
            Some(json) => format!("Program('{}', '{json}')", self.name()),
        }
    }
}

/// Levels and keys that programs need, before any key is made. ``a | b`` serves both on the same table.
#[pyclass(frozen, eq, name = "Plan", module = "noren.programs")]
pub(crate) struct PyPlan {
    pub(crate) usage: CircuitUsage,
    /// The programs with the layouts of their tables.
    pub(crate) work: Vec<(Program, TableLayout)>,
}

impl PartialEq for PyPlan {
    fn eq(&self, other: &Self) -> bool {
        self.usage == other.usage
    }
}

impl PyPlan {
    /// The keys for tables at this level, with parameters that hold the results.
    fn key_request(&self, py: Python<'_>, context: &Context, level: usize) -> PyResult<KeyRequest> {
        detached(py, || {
            let request = self.usage.key_request(level)?;
            let parameters = context.parameters();
            self.work.iter().try_for_each(|(program, layout)| program.check_result(layout, parameters, level))?;
            Ok(request)
        })
    }
}

#[pymethods]
impl PyPlan {
    /// The levels that a fresh table must have at least.
    #[getter]
    fn depth(&self) -> usize {
        self.usage.depth
    }

    /// The rotations that need a key, each with the number of levels that are used up before it: {steps: depth}.
    #[getter]
    fn rotations(&self) -> BTreeMap<isize, usize> {
        self.usage.rotations.clone()
    }

    /// The number of levels that are used up before the first product of ciphertexts; None if there is none.
    #[getter]
    fn relinearization(&self) -> Option<usize> {
        self.usage.relinearization
    }

    /// How many operations of each costly kind there are: {name: count}.
    #[getter]
    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let counts = &self.usage.counts;
        [
            ("products", counts.products),
            ("relinearizations", counts.relinearizations),
            ("plain_products", counts.plain_products),
            ("decompositions", counts.decompositions),
            ("rotations", counts.rotations),
        ]
        .into_py_dict(py)
    }

    /// Makes keys for tables that are encrypted at this level (None: the highest), each no larger than needed.
    ///
    /// seed: 32 secret bytes from which all keys follow; None draws them from the operating system.
    /// Raises LevelError for a level below the depth, RangeError if results would not fit the first prime of the parameters,
    /// InsecureError as ``Context.keygen`` does.
    /// progress: called with (done, of) after each key. What it raises ends the work.
    #[pyo3(signature = (context, *, level = None, seed = None, progress = None))]
    fn keygen(
        &self,
        py: Python<'_>,
        context: &PyContext,
        level: Option<Level>,
        seed: Option<&[u8]>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Py<PyKeys>> {
        let level = Level::or_highest(level, context.0.parameters());
        let request = self.key_request(py, &context.0, level)?;
        PyKeys::generate(py, &context.0, &request, seed, progress)
    }

    /// Makes evaluation keys for a secret that there is, as ``keygen``; ``keys.evaluation | more`` has them beside the others.
    ///
    /// progress: called with (done, of) after each key. What it raises ends the work.
    /// Raises what ``keygen`` raises.
    #[pyo3(signature = (secret, *, level = None, seed = None, progress = None))]
    fn evaluation_keys(
        &self,
        py: Python<'_>,
        secret: &PySecretKey,
        level: Option<Level>,
        seed: Option<&[u8]>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Py<PyEvaluationKeys>> {
        let context = &secret.0.context;
        let level = Level::or_highest(level, context.parameters());
        let request = self.key_request(py, context, level)?;
        PyEvaluationKeys::generate(py, context, secret, &request, seed, progress)
    }

    fn __or__(&self, other: &Self) -> Self {
        let other_work = other.work.iter().filter(|work| !self.work.contains(work)).cloned();
        let work = self.work.iter().cloned().chain(other_work).collect();
        Self { usage: self.usage.clone().merge(&other.usage), work }
    }

    fn __repr__(&self) -> String {
        format!("Plan(depth={}, rotations={})", self.usage.depth, self.usage.rotations.len())
    }
}

/// The smallest parameters for programs; see ``noren.programs.choose_parameters``.
#[pyfunction]
#[pyo3(signature = (programs, rows, columns, *, precision_bits, column_names = None, max_abs = None,
    unproven_interval = false))]
#[expect(clippy::too_many_arguments, reason = "they are keyword arguments in Python")]
pub(crate) fn choose_parameters(
    py: Python<'_>,
    programs: Vec<PyRef<'_, PyProgram>>,
    #[pyo3(from_py_with = whole)] rows: usize,
    #[pyo3(from_py_with = whole)] columns: usize,
    precision_bits: f64,
    column_names: Option<Vec<String>>,
    max_abs: Option<&Bound<'_, PyAny>>,
    unproven_interval: bool,
) -> PyResult<PyParameters> {
    let shape = Shape { unproven_interval, ..shape_of(rows, columns, column_names, max_abs)? };
    let programs: Vec<Program> = programs.iter().map(|program| program.program.clone()).collect();
    let plan = detached(py, || ProgramPlan::for_precision(&programs, &shape, precision_bits))?;
    Ok(PyParameters(plan.parameters))
}

fn shape_of(
    rows: usize,
    columns: usize,
    column_names: Option<Vec<String>>,
    max_abs: Option<&Bound<'_, PyAny>>,
) -> PyResult<Shape> {
    let bounds = max_abs.map(bounds_of).transpose()?;
    Ok(Shape { rows, columns, column_names: column_names.unwrap_or_default(), bounds, ..Shape::default() })
}

/// The state of a pickled program: the function that makes it again, from its name and model.
type Pickle<'py> = (Bound<'py, PyAny>, (&'static str, Option<String>));

/// Keyword arguments as JSON, arrays as lists.
fn to_json(py: Python<'_>, model: &Bound<'_, PyDict>) -> PyResult<String> {
    let numpy = py.import("numpy")?;
    for (name, value) in model {
        // Names, and lists of them, are no numbers.
        let Ok(numbers) = numpy.call_method1("asarray", (value, "float64")) else { continue };
        let finite = numpy.call_method1("isfinite", (&numbers,))?;
        if !finite.call_method0("all")?.is_truthy()? {
            let wrong = numbers.get_item(numpy.call_method1("logical_not", (finite,))?)?.get_item(0)?;
            return Err(Error::new_err(format!("{name} holds {wrong}, finite numbers are needed")));
        }
    }
    let default = py.import("operator")?.call_method1("methodcaller", ("tolist",))?;
    let options = [("default", default)].into_py_dict(py)?;
    py.import("json")?.call_method("dumps", (model,), Some(&options))?.extract()
}
