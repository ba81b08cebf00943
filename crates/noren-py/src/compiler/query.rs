//! `Query`: a question on a table, and how its columns become the inputs of a program.

use std::collections::BTreeMap;
use std::path::PathBuf;

use noren::backends::Outcome;
use noren::compiler::Options;
use noren::tables::{Answer, Cell, Cells, Query, Schema};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::admission::USUAL;
use crate::array::detached;
use crate::compiler::graph::vectors;
use crate::compiler::program::PyProgram;
use crate::errors::{EncodingError, raise};
use crate::machine::machine_of;
use crate::parameters::security_of;
use crate::whole::whole;

/// A compiled question on a table.
#[pyclass(frozen, name = "Query", module = "noren._noren.tables")]
pub(crate) struct PyQuery(Query);

/// The cells of a column: an array of float64, or a list of texts.
#[derive(FromPyObject)]
pub(crate) enum Column<'py> {
    Numbers(PyReadonlyArray1<'py, f64>),
    Texts(Vec<String>),
}

/// A cell of an answer.
#[derive(IntoPyObject)]
enum Answered {
    Whole(i64),
    Real(f64),
    Text(String),
    Missing(Option<()>),
}

/// Columns by name.
type Table<'py> = BTreeMap<String, Column<'py>>;

fn cells(table: &Table<'_>) -> PyResult<BTreeMap<String, Cells>> {
    let column = |(name, column): (&String, &Column<'_>)| {
        let cells = match column {
            Column::Numbers(numbers) => Cells::Numbers(numbers.as_slice()?.to_vec()),
            Column::Texts(texts) => Cells::Texts(texts.clone()),
        };
        Ok((name.clone(), cells))
    };
    table.iter().map(column).collect()
}

/// The names, how many of them are of groups, and the rows of an answer.
type Found = (Vec<String>, usize, Vec<Vec<Answered>>);

fn found(Answer { names, keys, rows }: Answer) -> Found {
    let cell = |cell| match cell {
        Cell::Whole(x) => Answered::Whole(x),
        Cell::Real(x) => Answered::Real(x),
        Cell::Text(text) => Answered::Text(text),
        Cell::Missing => Answered::Missing(None),
    };
    (names, keys, rows.into_iter().map(|row| row.into_iter().map(cell).collect()).collect())
}

/// The schema of a table, as JSON: names, and the values that its cells have.
///
/// rows: the most rows of a table. steps: for columns of numbers that are rounded, the distance of neighbours.
///
/// Raises Error for numbers that are not finite, and for columns of different lengths.
#[pyfunction]
#[pyo3(signature = (table, rows, steps))]
pub(crate) fn schema_of(
    table: Table<'_>,
    #[pyo3(from_py_with = whole)] rows: usize,
    steps: BTreeMap<String, f64>,
) -> PyResult<String> {
    let schema = Schema::of(&cells(&table)?, rows, &steps).map_err(raise)?;
    serde_json::to_string(&schema).map_err(|error| PyValueError::new_err(error.to_string()))
}

#[pymethods]
impl PyQuery {
    /// Compiles a question on tables of a schema, given as JSON. The options are those of `Program.compile`.
    ///
    /// Raises Error for what is no question, with its place, and as `Program.compile`.
    #[staticmethod]
    #[pyo3(
        signature = (schema, question, *, scheme = "auto", security = Some(USUAL), machine = None, unlimited = false),
        text_signature = "(schema, question, *, scheme='auto', security=128, machine=None, unlimited=False)"
    )]
    fn compile(
        py: Python<'_>,
        schema: &str,
        question: &str,
        scheme: &str,
        #[pyo3(from_py_with = whole)] security: Option<u32>,
        machine: Option<PathBuf>,
        unlimited: bool,
    ) -> PyResult<Self> {
        let schema: Schema = serde_json::from_str(schema)
            .map_err(|error| EncodingError::new_err(format!("columns of these values are refused: {error}")))?;
        let (scheme, security) = ((scheme != "auto").then(|| scheme.to_owned()), security_of(security)?);
        detached(py, || {
            let machine = machine.map(|path| machine_of(&path)).transpose()?;
            Query::compile(&schema, question, &Options { scheme, security, machine, unlimited, ..Options::default() })
        })
        .map(Self)
    }

    /// The question of a program.
    ///
    /// Raises Error for the program of a function.
    #[staticmethod]
    fn of(program: &PyProgram) -> PyResult<Self> {
        let query = Query::of(&program.0).map_err(raise)?;
        query.map(Self).ok_or_else(|| EncodingError::new_err("a program of a function: that of a question is needed"))
    }

    /// The program, which client and server run.
    #[getter]
    fn program(&self) -> PyProgram {
        PyProgram(self.0.program().clone())
    }

    /// The columns and the most rows, as JSON.
    #[getter]
    fn schema(&self) -> PyResult<String> {
        serde_json::to_string(self.0.schema()).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// The inputs of the program, of a table.
    ///
    /// Raises Error for columns that are missing, cells that they do not hold, and too many rows.
    fn inputs<'py>(&self, py: Python<'py>, table: Table<'py>) -> PyResult<Vec<Bound<'py, PyArray1<f64>>>> {
        let table = cells(&table)?;
        let inputs = detached(py, || self.0.inputs(&table))?;
        Ok(inputs.into_iter().map(|input| input.into_pyarray(py)).collect())
    }

    /// The answer that follows from the results of the program: names, how many of them are of groups, and rows.
    fn answer(&self, values: Vec<PyReadonlyArray1<'_, f64>>) -> PyResult<Found> {
        self.0.answer(&Outcome::exact(vectors(&values)?)).map(found).map_err(raise)
    }
}
