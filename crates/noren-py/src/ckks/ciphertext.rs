//! `Ciphertext`, with operators where an evaluator made it.

use std::path::PathBuf;

use noren::ckks::{Ciphertext, Context};
use noren::wire::{Form, Limits, Object};
use pyo3::basic::CompareOp;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};

use crate::array::detached;
use crate::ckks::classes::{PyCiphertext, PyContext, PyEvaluator};
use crate::ckks::operand::Operand;
use crate::ckks::parameters::PyParameters;
use crate::display::{Row, table};
use crate::errors::raise;
use crate::evaluators::evaluator_of;
use crate::explain;
use crate::exponent::whole_exponent;
use crate::pickle::{Pickle, Shared, Threading, bytes_beside, shared_context};
use crate::refusals;
use crate::ufuncs;
use crate::whole::whole;

/// The title of what is known of a ciphertext.
const TITLE: &str = "Ciphertext (CKKS)";

impl PyCiphertext {
    pub(crate) fn new(context: &Context, inner: Ciphertext, evaluator: Option<PyEvaluator>) -> Self {
        Self { inner, context: context.clone(), evaluator }
    }

    /// Another ciphertext with operators as this one has.
    pub(crate) fn beside(&self, inner: Ciphertext) -> Self {
        Self { inner, context: self.context.clone(), evaluator: self.evaluator.clone() }
    }

    pub(crate) fn home(&self) -> &Context {
        &self.context
    }

    /// The evaluator of this ciphertext, or of the other operand, or the one that serves what none made.
    fn evaluator(&self, other: Option<&Bound<'_, PyAny>>) -> PyResult<PyEvaluator> {
        let of_other = || other?.cast::<Self>().ok()?.get().evaluator.clone();
        self.evaluator.clone().or_else(of_other).map_or_else(|| evaluator_of(self), Ok)
    }

    fn rows(&self) -> Vec<Row> {
        let evaluator = self.evaluator(None);
        let operators = explain::of_operators(evaluator.as_ref().map(|ev| &**ev.plain.keys()));
        explain::of_ckks(&self.inner).into_iter().chain([operators]).collect()
    }

    /// The result of a binary operator: `NotImplemented` beside what is no number.
    fn operator<'py>(
        &self,
        py: Python<'py>,
        other: &Bound<'py, PyAny>,
        work: impl FnOnce(&PyEvaluator, &Operand<'_>) -> PyResult<Self>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let operand = match Operand::of(other) {
            Err(error) if error.is_instance_of::<PyTypeError>(py) => {
                return Ok(py.NotImplemented().into_bound(py));
            }
            operand => operand?,
        };
        let result = work(&self.evaluator(Some(other))?, &operand)?;
        Ok(Bound::new(py, result)?.into_any())
    }
}

#[pymethods]
impl PyCiphertext {
    /// How many multiplications can still follow one another.
    #[getter]
    fn level(&self) -> usize {
        self.inner.level()
    }

    /// The number of slots.
    #[getter]
    fn slots(&self) -> usize {
        self.inner.slots()
    }

    /// How many values it has, as (n,): what decrypting gives, and what clear operands must have.
    ///
    /// As many as were encrypted, or all slots of a period once values were moved between slots. Public.
    #[getter]
    fn shape(&self) -> (usize,) {
        (self.inner.extent().values(),)
    }

    /// After how many slots the values repeat: the number of slots if they do not. Public.
    #[getter]
    fn period(&self) -> usize {
        self.inner.extent().period()
    }

    /// The same ciphertext, whose first `length` slots are the values.
    ///
    /// Raises EncodingError for a length of 0, or above the number of slots.
    fn with_length(&self, #[pyo3(from_py_with = whole)] length: usize) -> PyResult<Self> {
        self.inner.clone().with_length(Some(length)).map(|inner| self.beside(inner)).map_err(raise)
    }

    /// The scale: the encrypted polynomial is this multiple of the message.
    #[getter]
    fn scale(&self) -> f64 {
        self.inner.scale().to_f64()
    }

    /// A bound on the absolute error of every slot, which fails with a probability of at most 2^-40.
    ///
    /// Infinite where nothing can be said: the message may be too large for this level.
    #[getter]
    fn error_bound(&self) -> f64 {
        self.inner.error_bound()
    }

    /// A bound on the absolute value of every slot, as far as is known without decrypting.
    #[getter]
    fn magnitude(&self) -> f64 {
        self.inner.magnitude()
    }

    /// The context that it belongs to.
    #[getter]
    fn context(&self) -> PyContext {
        PyContext(self.context.clone())
    }

    /// The parameters that it belongs to.
    #[getter]
    fn parameters(&self) -> PyParameters {
        PyParameters(self.context.parameters().clone())
    }

    /// The identity of the secret key that it belongs to, in hexadecimal: keys and ciphertexts with the same owner are of one secret
    /// key. It is public.
    #[getter]
    fn owner(&self) -> String {
        self.inner.key_id().to_hex()
    }

    /// Bytes in memory.
    #[getter]
    fn nbytes(&self) -> u64 {
        explain::bytes(self.inner.rlwe())
    }

    /// A description of the ciphertext without a key: slots, level, scale, magnitude, error, size, and which keys
    /// its operators have.
    fn explain(&self) -> String {
        explain::text(TITLE, &self.rows())
    }

    /// The table that notebooks show.
    fn _repr_html_(&self) -> String {
        table(TITLE, &self.rows())
    }

    /// The same ciphertext with a better bound on the absolute value of its slots, which the caller knows.
    ///
    /// Errors of later products are then predicted more sharply; a wrong bound makes later error bounds wrong.
    /// Raises ValueError for a bound that is negative or not a number.
    fn with_magnitude(&self, magnitude: f64) -> PyResult<Self> {
        if magnitude.is_nan() || magnitude < 0.0 {
            return Err(PyValueError::new_err(format!("magnitude is {magnitude}, it must be 0 or more")));
        }
        let inner = self.inner.clone().with_magnitude(magnitude);
        Ok(self.beside(inner))
    }

    /// The same ciphertext, of which the caller knows that all slots are real and between low and high, zeros that fill slots
    /// included. The narrower range counts.
    ///
    /// Polynomials on an interval ask for it where the range that is known is wider. A wrong range makes results and later
    /// error bounds wrong. Raises ValueError unless low <= high.
    fn with_range(&self, low: f64, high: f64) -> PyResult<Self> {
        if low.is_nan() || high.is_nan() || low > high {
            return Err(PyValueError::new_err(format!("low is {low} and high is {high}, low must not be above high")));
        }
        Ok(self.beside(self.inner.clone().with_range(low, high)))
    }

    /// Where every slot lies, as far as is known without decrypting: (low, high), or None if the slots may be complex.
    #[getter]
    fn range(&self) -> Option<(f64, f64)> {
        self.inner.estimate().range().interval().map(|[low, high]| (low, high))
    }

    /// The same ciphertext with this bound on its error, which the caller knows, in place of its own.
    ///
    /// For iterations that contract: their bounds grow with every step, the errors do not. A wrong bound makes later
    /// error bounds wrong, and ``Context.decrypt_for_release`` unsafe. Raises ValueError for a bound that is negative or
    /// not a number.
    fn with_error_bound(&self, bound: f64) -> PyResult<Self> {
        if bound.is_nan() || bound < 0.0 {
            return Err(PyValueError::new_err(format!("bound is {bound}, it must be 0 or more")));
        }
        Ok(self.beside(self.inner.clone().with_error_bound(bound)))
    }

    /// The sum of all values, each of which counts once; see ``Evaluator.sum``.
    fn sum(&self, py: Python<'_>) -> PyResult<Self> {
        self.evaluator(None)?.sum(py, self, None, 1, None)
    }

    /// The mean of all values; see ``Evaluator.mean``.
    fn mean(&self, py: Python<'_>) -> PyResult<Self> {
        self.evaluator(None)?.mean(py, self)
    }

    fn __add__<'py>(&self, py: Python<'py>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.operator(py, other, |ev, y| ev.sum_with(py, self, y))
    }

    fn __radd__<'py>(&self, py: Python<'py>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.__add__(py, other)
    }

    fn __sub__<'py>(&self, py: Python<'py>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.operator(py, other, |ev, y| ev.difference_with(py, self, y))
    }

    fn __rsub__<'py>(&self, py: Python<'py>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.operator(py, other, |ev, y| ev.sum_with(py, &ev.neg(py, self)?, y))
    }

    fn __mul__<'py>(&self, py: Python<'py>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.operator(py, other, |ev, y| ev.product_with(py, self, y))
    }

    fn __rmul__<'py>(&self, py: Python<'py>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.__mul__(py, other)
    }

    fn __truediv__<'py>(&self, py: Python<'py>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.operator(py, other, |ev, y| ev.quotient_with(py, self, y))
    }

    fn __rtruediv__(&self, _other: &Bound<'_, PyAny>) -> PyResult<Self> {
        refusals::division("approximate 1 / x by ev.polynomial")
    }

    fn __pow__(
        &self,
        py: Python<'_>,
        exponent: &Bound<'_, PyAny>,
        modulo: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        self.evaluator(None)?.power_of(py, self, whole_exponent(exponent, modulo)?)
    }

    fn __rmatmul__(&self, py: Python<'_>, matrix: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.evaluator(None)?.matvec(py, matrix, self)
    }

    fn __neg__(&self, py: Python<'_>) -> PyResult<Self> {
        self.evaluator(None)?.neg(py, self)
    }

    /// Functions of numpy that are operators, `array * ciphertext` among them.
    #[pyo3(signature = (function, method, *operands, **named))]
    fn __array_ufunc__<'py>(
        slf: &Bound<'py, Self>,
        function: &Bound<'py, PyAny>,
        method: &str,
        operands: &Bound<'py, PyTuple>,
        named: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        ufuncs::apply(&slf.get_type(), function, (method, operands), named, &refusals::FUNCTIONS)
    }

    /// ``<`` and ``>`` of an evaluator with switching: 1 where it is so, 0 elsewhere.
    fn __richcmp__<'py>(
        &self,
        py: Python<'py>,
        other: &Bound<'py, PyAny>,
        op: CompareOp,
    ) -> PyResult<Bound<'py, PyAny>> {
        match op {
            CompareOp::Lt => self.operator(py, other, |ev, y| Ok(ev.wrap(ev.less_than(py, self, y)?.result))),
            CompareOp::Gt => self.operator(py, other, |ev, y| Ok(ev.wrap(ev.greater_than(py, self, y)?.result))),
            CompareOp::Le | CompareOp::Ge => refusals::strict(),
            CompareOp::Eq | CompareOp::Ne => refusals::comparison(),
        }
    }

    fn _maximum<'py>(&self, py: Python<'py>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.operator(py, other, |ev, y| ev.larger(py, self, y))
    }

    fn _minimum<'py>(&self, py: Python<'py>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.operator(py, other, |ev, y| ev.smaller(py, self, y))
    }

    fn _sign(&self, py: Python<'_>) -> PyResult<Self> {
        let ev = self.evaluator(None)?;
        Ok(ev.wrap(ev.sign_of(py, self)?.result))
    }

    fn __bool__(&self) -> PyResult<bool> {
        refusals::truth()
    }

    fn __len__(&self) -> PyResult<usize> {
        refusals::length()
    }

    fn __iter__(&self) -> PyResult<Py<PyAny>> {
        refusals::iteration()
    }

    fn __contains__(&self, _value: &Bound<'_, PyAny>) -> PyResult<bool> {
        refusals::iteration()
    }

    fn __float__(&self) -> PyResult<f64> {
        refusals::number()
    }

    fn __int__(&self) -> PyResult<i64> {
        refusals::number()
    }

    fn __complex__(&self) -> PyResult<f64> {
        refusals::number()
    }

    /// Refuses to become an array of numpy.
    #[pyo3(signature = (*_args, **_kwargs))]
    fn __array__(&self, _args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> PyResult<Py<PyAny>> {
        refusals::array()
    }

    /// ``numpy.where`` of an encrypted condition, ``numpy.sum`` and ``numpy.mean``; refuses other functions of numpy.
    fn __array_function__(
        &self,
        py: Python<'_>,
        func: &Bound<'_, PyAny>,
        _types: &Bound<'_, PyAny>,
        args: &Bound<'_, PyTuple>,
        kwargs: &Bound<'_, PyDict>,
    ) -> PyResult<Self> {
        let name = ufuncs::name_of(func);
        if let ("sum" | "mean", 1, true) = (&*name, args.len(), kwargs.is_empty()) {
            let x = args.get_item(0)?;
            if let Ok(x) = x.cast::<Self>() {
                return if name == "sum" { x.get().sum(py) } else { x.get().mean(py) };
            }
        }
        if name == "where" && args.len() == 3 && kwargs.is_empty() {
            let (condition, x, y) = (args.get_item(0)?, args.get_item(1)?, args.get_item(2)?);
            if let Ok(condition) = condition.cast::<Self>() {
                return condition.get().evaluator(None)?.r#where(py, condition.get(), &x, &y);
            }
        }
        refusals::FUNCTIONS.refuse(func)
    }

    /// The bytes of the ciphertext, with residues in as few bits as they need, or in whole words for faster reading.
    ///
    /// Fresh ciphertexts of a secret key take half the bytes of others.
    #[pyo3(signature = (*, packed = true))]
    fn to_bytes<'py>(&self, py: Python<'py>, packed: bool) -> PyResult<Bound<'py, PyBytes>> {
        let form = if packed { Form::Packed } else { Form::Raw };
        bytes_beside(py, &self.inner, &self.context, form)
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.to_bytes(py, true)
    }

    /// The ciphertext that ``to_bytes`` gave, without an evaluator.
    ///
    /// Raises WireError for bytes that are damaged or of another kind, ParameterMismatchError for other parameters.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, context: &PyContext, data: &[u8]) -> PyResult<Self> {
        let inner = detached(py, || Ciphertext::from_bytes(&context.0, data))?;
        Ok(Self::new(&context.0, inner, None))
    }

    /// Writes the ciphertext to a file, as a whole or not at all; one that exists is replaced. ``Context.save`` writes
    /// lists. Raises OSError.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        detached(py, || self.inner.write_file(&self.context, Form::Packed, &path))
    }

    /// Reads a ciphertext from a file; ``Context.load`` reads lists.
    ///
    /// Raises OSError, and what ``from_bytes`` raises.
    #[staticmethod]
    fn load(py: Python<'_>, context: &PyContext, path: PathBuf) -> PyResult<Self> {
        let inner = detached(py, || Ciphertext::read_file(&context.0, &path, &Limits::default()))?;
        Ok(Self::new(&context.0, inner, None))
    }

    #[staticmethod]
    fn _unpickle(py: Python<'_>, parameters: &PyParameters, data: &[u8], threading: Threading) -> PyResult<Self> {
        Self::from_bytes(py, &PyContext(shared_context(py, &parameters.0, &threading)?), data)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Pickle<'py, PyParameters>> {
        let unpickle = py.get_type::<Self>().getattr("_unpickle")?;
        Ok((unpickle, (self.parameters(), self.__bytes__(py)?, self.context.threading())))
    }

    fn __repr__(&self) -> String {
        format!("Ciphertext(slots={}, level={}, error_bound={:.2e})", self.slots(), self.level(), self.error_bound())
    }
}
