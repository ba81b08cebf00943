//! `Evaluator` of TFHE.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, Weak};

use noren::error::{Error, Result};
use noren::programs::columns::{Binary, Column, ColumnEvaluator, ColumnLookup, Element, Unary};
use noren::tfhe::{Context, Evaluator};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::errors::{EncodingError, raise};
use crate::evaluators::{Match, RegisteredEvaluator, Registration};
use crate::progress::Heard;
use crate::tfhe::classes::{Inner, PyTfheEvaluator};
use crate::tfhe::classes::{PyEncryptedArray, PyTfheContext};
use crate::tfhe::function::Function;
use crate::tfhe::keys::{AnyServerKeys, PyTfheCircuitKeys};
use crate::tfhe::numbers::{ExactNumbers, element_of};
use crate::tfhe::shape::{self, common, positions, spread, taken};
use crate::whole::whole;

/// A copy, such as that of an array, is not registered.
impl Clone for PyTfheEvaluator {
    fn clone(&self) -> Self {
        Self { inner: Arc::clone(&self.inner), registration: None }
    }
}

impl RegisteredEvaluator for PyTfheEvaluator {
    type Operand = PyEncryptedArray;

    const KEYS: &'static str = "keys.server";
    const METHOD: &'static str = "ev.minimum(x, y)";

    fn registry() -> &'static Mutex<Vec<Weak<Self>>> {
        static EVALUATORS: Mutex<Vec<Weak<PyTfheEvaluator>>> = Mutex::new(Vec::new());
        &EVALUATORS
    }

    fn serves(&self, operand: &PyEncryptedArray) -> Match {
        match self.inner.columns.check(&operand.column) {
            Err(Error::KeyMismatch { .. }) => Match::OtherKey,
            Err(_) => Match::Foreign,
            Ok(()) if self.inner.context.is(operand.home()) => Match::Context,
            Ok(()) => Match::Parameters,
        }
    }

    /// Server keys of one secret do the same; large lookups need circuit keys too.
    fn covers(&self, other: &Self) -> bool {
        self.inner.has_circuit_keys || !other.inner.has_circuit_keys
    }
}

/// The other operand of an encrypted array.
pub(crate) enum Operand {
    Encrypted(Column),
    Clear(Element, Vec<i128>),
}

impl Operand {
    fn column(&self, columns: &ColumnEvaluator) -> Result<Cow<'_, Column>> {
        match self {
            Self::Encrypted(column) => Ok(Cow::Borrowed(column)),
            Self::Clear(element, values) => columns.trivial(*element, values).map(Cow::Owned),
        }
    }
}

impl PyTfheEvaluator {
    pub(crate) fn new(
        py: Python<'_>,
        context: &Context,
        keys: &AnyServerKeys<'_>,
        circuit: Option<&PyTfheCircuitKeys>,
        log2_failure: f64,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let heard = Heard::new(progress);
        let keys = keys.expanded(py, context, &heard)?;
        let columns = heard.follow(py, raise, || {
            let mut evaluator = Evaluator::new(context, keys)?;
            if let Some(circuit) = circuit {
                evaluator = evaluator.with_circuit_keys(Arc::new(context.expand_circuit(circuit.0.key())?))?;
            }
            Ok(ColumnEvaluator::new(evaluator.with_failure_budget(log2_failure)))
        })?;
        let has_circuit_keys = circuit.is_some();
        let evaluator =
            Self { inner: Arc::new(Inner { columns, context: context.clone(), has_circuit_keys }), registration: None };
        let registration = Some(Registration::new(evaluator.clone()));
        Ok(Self { registration, ..evaluator })
    }

    /// An array whose operators use this evaluator.
    fn wrap(&self, shape: &[usize], column: Column) -> PyEncryptedArray {
        PyEncryptedArray::new(&self.inner.context, shape.to_vec(), column).bound(self)
    }

    fn run(
        &self,
        py: Python<'_>,
        progress: Option<Py<PyAny>>,
        shape: &[usize],
        work: impl FnOnce(&ColumnEvaluator) -> Result<Column> + Send,
    ) -> PyResult<PyEncryptedArray> {
        let column = Heard::new(progress).follow(py, raise, || work(&self.inner.columns))?;
        Ok(self.wrap(shape, column))
    }

    /// The other operand of an encrypted array, spread over a shape.
    fn operand(
        &self,
        py: Python<'_>,
        y: &Bound<'_, PyAny>,
        beside: &PyEncryptedArray,
        shape: &[usize],
    ) -> PyResult<Operand> {
        if let Ok(y) = y.cast::<PyEncryptedArray>() {
            let y = y.get();
            if y.column.element() != beside.column.element() {
                return Err(shape::of_types(beside, y));
            }
            return Ok(Operand::Encrypted(spread(py, y, shape)?));
        }
        let element = beside.column.element();
        let values = ExactNumbers::spread(y, self.inner.context.parameters(), element, shape)?;
        Ok(Operand::Clear(element, values))
    }

    /// An encrypted array and what stands beside it, spread over their common shape.
    fn pair(
        &self,
        py: Python<'_>,
        x: &PyEncryptedArray,
        y: &Bound<'_, PyAny>,
    ) -> PyResult<(Vec<usize>, Column, Operand)> {
        let shape = common(py, &[&x.shape, &shape_of(y)?])?;
        if shape.contains(&0) {
            return Err(EncodingError::new_err(
                "the other operand is empty: an encrypted array has at least one element",
            ));
        }
        Ok((shape.clone(), spread(py, x, &shape)?, self.operand(py, y, x, &shape)?))
    }

    /// Quotients, rounded down, and remainders; of `x` by `y`, or the other way round.
    pub(crate) fn quotients(
        &self,
        py: Python<'_>,
        x: &PyEncryptedArray,
        y: &Bound<'_, PyAny>,
        reversed: bool,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(PyEncryptedArray, PyEncryptedArray)> {
        let (shape, x, y) = self.pair(py, x, y)?;
        let (quotients, remainders) = Heard::new(progress).follow(py, raise, || {
            let columns = &self.inner.columns;
            let y = y.column(columns)?;
            if reversed { columns.div_rem(&y, &x) } else { columns.div_rem(&x, &y) }
        })?;
        Ok((self.wrap(&shape, quotients), self.wrap(&shape, remainders)))
    }

    /// The array with its elements along an axis in ascending order.
    pub(crate) fn join(
        &self,
        py: Python<'_>,
        operation: Binary,
        x: &PyEncryptedArray,
        y: &Bound<'_, PyAny>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<PyEncryptedArray> {
        let (shape, x, y) = self.pair(py, x, y)?;
        self.run(py, progress, &shape, |columns| match &y {
            Operand::Encrypted(y) => columns.binary(operation, &x, y),
            Operand::Clear(_, values) => columns.binary_known(operation, &x, values),
        })
    }

    /// The operation with the clear operand first.
    pub(crate) fn join_reversed(
        &self,
        py: Python<'_>,
        operation: Binary,
        x: &Bound<'_, PyAny>,
        y: &PyEncryptedArray,
    ) -> PyResult<PyEncryptedArray> {
        let (shape, y, x) = self.pair(py, y, x)?;
        self.run(py, None, &shape, |columns| columns.binary(operation, &*x.column(columns)?, &y))
    }

    pub(crate) fn cast(&self, py: Python<'_>, x: &PyEncryptedArray, to: Element) -> PyResult<PyEncryptedArray> {
        self.run(py, None, &x.shape, |columns| columns.cast(&x.column, to))
    }

    /// The elements along an axis as columns, or all elements as columns of one, and the shape that is left.
    ///
    /// Raises what numpy raises for an axis that there is not.
    fn terms(&self, py: Python<'_>, x: &PyEncryptedArray, axis: Option<i32>) -> PyResult<(Vec<Column>, Vec<usize>)> {
        let numpy = py.import("numpy")?;
        let size: usize = x.shape.iter().product();
        let places = numpy.call_method1("arange", (size,))?;
        let (places, shape) = match axis {
            None => (places.call_method1("reshape", (size, 1))?, Vec::new()),
            Some(axis) => {
                let places = places.call_method1("reshape", (x.shape.clone(),))?;
                let places = numpy.call_method1("moveaxis", (places, axis, 0))?;
                let [count, shape @ ..] = &places.getattr("shape")?.extract::<Vec<usize>>()?[..] else {
                    return Err(EncodingError::new_err("an array of no dimension has no axis"));
                };
                (places.call_method1("reshape", (*count, size / count))?, shape.to_vec())
            }
        };
        let places: Vec<Vec<usize>> = places.call_method0("tolist")?.extract()?;
        Ok((py.detach(|| places.iter().map(|term| x.column.gather(term)).collect()), shape))
    }

    /// The result of a reduction of the elements along an axis, of which each column holds one.
    fn reduce(
        &self,
        py: Python<'_>,
        x: &PyEncryptedArray,
        axis: Option<i32>,
        progress: Option<Py<PyAny>>,
        work: impl FnOnce(&ColumnEvaluator, &[Column]) -> Result<Column> + Send,
    ) -> PyResult<PyEncryptedArray> {
        let (terms, shape) = self.terms(py, x, axis)?;
        self.run(py, progress, &shape, |columns| work(columns, &terms))
    }

    pub(crate) fn each(&self, py: Python<'_>, operation: Unary, x: &PyEncryptedArray) -> PyResult<PyEncryptedArray> {
        self.run(py, None, &x.shape, |columns| columns.unary(operation, &x.column))
    }
}

/// The shape of an operand, encrypted or clear.
fn shape_of(operand: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
    if let Ok(array) = operand.cast::<PyEncryptedArray>() {
        return Ok(array.get().shape.clone());
    }
    operand.py().import("numpy")?.call_method1("shape", (operand,))?.extract()
}

#[pymethods]
impl PyTfheEvaluator {
    /// The context.
    #[getter]
    fn context(&self) -> PyTfheContext {
        PyTfheContext(self.inner.context.clone())
    }

    /// How many bootstraps there were, of this evaluator and its arrays.
    #[getter]
    fn bootstraps(&self) -> u64 {
        self.inner.columns.digits().bootstraps()
    }

    /// The base-two logarithm of a bound on the probability that any of these failed, so that a result is wrong; -inf for none.
    #[getter]
    fn log2_failure(&self) -> f64 {
        self.inner.columns.digits().log2_failure()
    }

    /// The same array, whose operators use this evaluator, where several are there.
    ///
    /// Raises ParameterMismatchError for an array of other parameters, KeyMismatchError for one of another secret key.
    fn bind(&self, x: &PyEncryptedArray) -> PyResult<PyEncryptedArray> {
        self.inner.columns.check(&x.column).map_err(raise)?;
        Ok(x.clone().bound(self))
    }

    /// The smaller of both elements.
    #[pyo3(signature = (x, y, *, progress = None))]
    fn minimum(
        &self,
        py: Python<'_>,
        x: &PyEncryptedArray,
        y: &Bound<'_, PyAny>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<PyEncryptedArray> {
        self.join(py, Binary::Min, x, y, progress)
    }

    /// The larger of both elements.
    #[pyo3(signature = (x, y, *, progress = None))]
    fn maximum(
        &self,
        py: Python<'_>,
        x: &PyEncryptedArray,
        y: &Bound<'_, PyAny>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<PyEncryptedArray> {
        self.join(py, Binary::Max, x, y, progress)
    }

    /// Elements of `x` where the condition, an encrypted array of truth values, holds, and of `y` elsewhere. One of `x` and `y`
    /// may be clear.
    #[pyo3(name = "where", signature = (condition, x, y, *, progress = None))]
    fn choose(
        &self,
        py: Python<'_>,
        condition: &PyEncryptedArray,
        x: &Bound<'_, PyAny>,
        y: &Bound<'_, PyAny>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<PyEncryptedArray> {
        let Some(like) = [x, y].into_iter().find_map(|operand| operand.cast::<PyEncryptedArray>().ok()) else {
            let message =
                "x and y are clear, and one must be encrypted: with truth values c, c.astype(np.uint8) is 1 and 0";
            return Err(PyTypeError::new_err(message));
        };
        let like = like.get();
        let shape = common(py, &[&condition.shape, &shape_of(x)?, &shape_of(y)?])?;
        let condition = spread(py, condition, &shape)?;
        let (x, y) = (self.operand(py, x, like, &shape)?, self.operand(py, y, like, &shape)?);
        self.run(py, progress, &shape, |columns| columns.select(&condition, &*x.column(columns)?, &*y.column(columns)?))
    }

    /// The sum of all elements, or of those along an axis, in the narrowest type of their sign that holds every sum of so many:
    /// that of 2 to 256 elements of 8 bits has 16. Those that need more than 64 bits are modulo 2^64. Of truth values how many are
    /// true, in the narrowest unsigned type that holds their number.
    #[pyo3(signature = (x, axis = None, *, progress = None))]
    pub(crate) fn sum(
        &self,
        py: Python<'_>,
        x: &PyEncryptedArray,
        #[pyo3(from_py_with = whole)] axis: Option<i32>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<PyEncryptedArray> {
        self.reduce(py, x, axis, progress, |columns, terms| columns.total(terms))
    }

    /// The smallest of all elements, or of those along an axis.
    #[pyo3(signature = (x, axis = None, *, progress = None))]
    pub(crate) fn min(
        &self,
        py: Python<'_>,
        x: &PyEncryptedArray,
        #[pyo3(from_py_with = whole)] axis: Option<i32>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<PyEncryptedArray> {
        self.reduce(py, x, axis, progress, |columns, terms| columns.fold(Binary::Min, terms))
    }

    /// The largest of all elements, or of those along an axis.
    #[pyo3(signature = (x, axis = None, *, progress = None))]
    pub(crate) fn max(
        &self,
        py: Python<'_>,
        x: &PyEncryptedArray,
        #[pyo3(from_py_with = whole)] axis: Option<i32>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<PyEncryptedArray> {
        self.reduce(py, x, axis, progress, |columns, terms| columns.fold(Binary::Max, terms))
    }

    /// Where the largest element is, or the largest of those along an axis: the first place, counted from 0, as the narrowest
    /// unsigned type that holds all places.
    #[pyo3(signature = (x, axis = None, *, progress = None))]
    pub(crate) fn argmax(
        &self,
        py: Python<'_>,
        x: &PyEncryptedArray,
        #[pyo3(from_py_with = whole)] axis: Option<i32>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<PyEncryptedArray> {
        self.reduce(py, x, axis, progress, |columns, terms| columns.argmax(terms))
    }

    /// Where the smallest element is, or the smallest of those along an axis; see ``argmax``.
    #[pyo3(signature = (x, axis = None, *, progress = None))]
    pub(crate) fn argmin(
        &self,
        py: Python<'_>,
        x: &PyEncryptedArray,
        #[pyo3(from_py_with = whole)] axis: Option<i32>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<PyEncryptedArray> {
        self.reduce(py, x, axis, progress, |columns, terms| columns.argmin(terms))
    }

    /// The elements along an axis in ascending order, None for all elements in one row.
    ///
    /// It takes about (log2 n)^2 / 2 rounds of n / 2 comparisons and n choices for n elements along the axis.
    #[pyo3(
        signature = (x, axis = Some(-1), *, progress = None),
        text_signature = "($self, x, axis=-1, *, progress=None)"
    )]
    fn sort(
        &self,
        py: Python<'_>,
        x: &PyEncryptedArray,
        #[pyo3(from_py_with = whole)] axis: Option<i32>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<PyEncryptedArray> {
        let (terms, rest) = self.terms(py, x, axis)?;
        let sort = || Column::concatenate(self.inner.columns.sort(&terms)?.iter());
        let column = Heard::new(progress).follow(py, raise, sort)?;
        // Shape [terms, rest]: the axis goes back to its place.
        let shape: Vec<usize> = std::iter::once(terms.len()).chain(rest).collect();
        let places = positions(py, &shape)?;
        let places = match axis {
            None => places.call_method0("ravel")?,
            Some(axis) => py.import("numpy")?.call_method1("moveaxis", (places, 0, axis))?,
        };
        let (shape, column) = taken(&column, &places)?;
        Ok(self.wrap(&shape, column))
    }

    /// The absolute values; that of the least integer of a type is itself, as for numpy.
    #[pyo3(signature = (x, *, progress = None))]
    pub(crate) fn abs(
        &self,
        py: Python<'_>,
        x: &PyEncryptedArray,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<PyEncryptedArray> {
        self.run(py, progress, &x.shape, |columns| columns.abs(&x.column))
    }

    /// Quotients, rounded down, and remainders, which are computed together.
    #[pyo3(signature = (x, y, *, progress = None))]
    fn divmod(
        &self,
        py: Python<'_>,
        x: &PyEncryptedArray,
        y: &Bound<'_, PyAny>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(PyEncryptedArray, PyEncryptedArray)> {
        self.quotients(py, x, y, false, progress)
    }

    /// Any function of integers of at most 16 bits, or of two of 8 bits, element by element.
    ///
    /// f: a callable of one or two numbers, called with int64 arrays if it takes them, otherwise point by point; or a table:
    ///     an array with f(x) at [x], or f(x, y) at [x, y], of unsigned integers or single digits. Tables are made anew in each call.
    /// dtype: the type of the values, None for that of `x`; single digits give single digits.
    /// undefined: the value where f has none: where it raises an ArithmeticError, or gives NaN, an infinity or None.
    ///
    /// Needs the keys of ``Context.keygen(circuit=True)``, but for single digits. Raises MissingKeyError without them, EncodingError
    /// for values out of range, Error for operands of more bits.
    #[pyo3(signature = (f, x, y = None, *, dtype = None, undefined = None, progress = None))]
    #[expect(clippy::too_many_arguments, reason = "they are keyword arguments in Python")]
    fn lookup(
        &self,
        py: Python<'_>,
        f: &Bound<'_, PyAny>,
        x: &PyEncryptedArray,
        y: Option<&PyEncryptedArray>,
        dtype: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = whole)] undefined: Option<i64>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<PyEncryptedArray> {
        let arrays: Vec<&PyEncryptedArray> = std::iter::once(x).chain(y).collect();
        let shape = common(py, &arrays.iter().map(|array| &array.shape[..]).collect::<Vec<_>>())?;
        let operands = arrays.iter().map(|array| spread(py, array, &shape)).collect::<PyResult<Vec<_>>>()?;
        let operands: Vec<&Column> = operands.iter().collect();
        let inputs: Vec<Element> = operands.iter().map(|column| column.element()).collect();
        let output = dtype.map(element_of).transpose()?.unwrap_or(inputs[0]);
        let function = Function::tabulate(py, self.inner.context.parameters(), f, &inputs, output, undefined)?;
        self.run(py, progress, &shape, |columns| {
            let lookup = ColumnLookup::new(&self.inner.context, &inputs, output, |point| function.at(point))?;
            columns.lookup(&lookup, &operands)
        })
    }

    fn __repr__(&self) -> String {
        format!("Evaluator({})", PyTfheContext(self.inner.context.clone()).parameters().__repr__())
    }
}
