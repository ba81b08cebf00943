//! `EncryptedArray`: elements that are encrypted one by one, and their operators.

use std::path::PathBuf;

use noren::programs::columns::{Binary, Column, Columns, Unary};
use noren::radix::Comparison;
use noren::tfhe::Context;
use noren::wire::{Form, Limits, Object};
use pyo3::basic::CompareOp;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};

use crate::array::detached;
use crate::display;
use crate::errors::{EncodingError, raise};
use crate::evaluators::evaluator_of;
use crate::pickle::{Pickle, Shared, Threading, bytes_beside, shared_context};
use crate::tfhe::classes::{PyEncryptedArray, PyTfheContext, PyTfheEvaluator};
use crate::tfhe::numbers::{dtype_name, element_of};
use crate::tfhe::parameters::PyTfheParameters;
use crate::tfhe::shape::{check_numbers, positions, taken, text};
use crate::ufuncs::{self, Advice};
use crate::whole::whole;

/// Functions of numpy that are no operators.
const FUNCTIONS: Advice = Advice {
    operands: "encrypted arrays",
    instead: |name| match name {
        "matmul" | "dot" | "inner" | "vdot" => "write (matrix * x).sum(-1), which multiplies and adds elements",
        "minimum" | "fmin" => "write ev.minimum(x, y)",
        "maximum" | "fmax" => "write ev.maximum(x, y)",
        "where" => "write ev.where(condition, x, y)",
        "concatenate" | "append" | "hstack" => "write tfhe.concatenate([x, y])",
        "stack" | "vstack" => "write tfhe.stack([x, y])",
        "sum" | "min" | "max" | "amin" | "amax" | "argmin" | "argmax" => {
            "write the method of the array, such as x.sum(axis) or x.max(axis)"
        }
        "sort" => "write ev.sort(x, axis)",
        "logical_and" | "logical_or" | "logical_xor" | "logical_not" => "write &, |, ^ and ~ of truth values",
        "divide" => "write x // y, the quotient rounded down",
        "power" | "square" => "write x * x",
        "reshape" | "ravel" | "transpose" => "write the method of the array, such as x.reshape(2, 3)",
        _ => "use operators, methods of the array, and those of an evaluator, such as ev.lookup(f, x)",
    },
};

impl PyEncryptedArray {
    pub(crate) fn new(context: &Context, shape: Vec<usize>, column: Column) -> Self {
        Self { context: context.clone(), shape, column, evaluator: None }
    }

    /// The same for operators of this evaluator.
    pub(crate) fn bound(self, evaluator: &PyTfheEvaluator) -> Self {
        Self { evaluator: Some(evaluator.clone()), ..self }
    }

    /// The same array with other elements, in another shape.
    pub(crate) fn with(&self, shape: Vec<usize>, column: Column) -> Self {
        Self { shape, column, ..self.clone() }
    }

    /// The same for operators of the first evaluator of these arrays, if it has none.
    pub(crate) fn or_bound_as<'a>(self, others: impl IntoIterator<Item = &'a Self>) -> Self {
        let evaluator = self.evaluator.clone();
        let evaluator = evaluator.or_else(|| others.into_iter().find_map(|other| other.evaluator.clone()));
        Self { evaluator, ..self }
    }

    /// The context.
    pub(crate) const fn home(&self) -> &Context {
        &self.context
    }

    /// The evaluator of this array, or of the other operand, or the one that serves what none made.
    fn evaluator(&self, other: Option<&Bound<'_, PyAny>>) -> PyResult<PyTfheEvaluator> {
        let of_other = || other?.cast::<Self>().ok()?.get().evaluator.clone();
        self.evaluator.clone().or_else(of_other).map_or_else(|| evaluator_of(self), Ok)
    }

    fn join(&self, py: Python<'_>, operation: Binary, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.evaluator(Some(other))?.join(py, operation, self, other, None)
    }

    fn join_reversed(&self, py: Python<'_>, operation: Binary, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.evaluator(Some(other))?.join_reversed(py, operation, other, self)
    }

    /// The elements at these positions, in their shape.
    fn arranged(&self, positions: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (shape, column) = taken(&self.column, positions)?;
        Ok(self.with(shape, column))
    }

    /// The array as numpy's method of this name arranges it, with these numbers.
    fn arranged_by(&self, py: Python<'_>, method: &str, numbers: &Bound<'_, PyTuple>) -> PyResult<Self> {
        check_numbers(numbers)?;
        self.arranged(&positions(py, &self.shape)?.call_method1(method, numbers)?)
    }

    fn as_columns(&self) -> PyResult<Columns> {
        let columns = vec![(String::new(), self.column.clone())];
        Columns::new(self.shape.clone(), columns).map_err(raise)
    }

    fn of_columns(context: Context, columns: Columns) -> PyResult<Self> {
        let shape = columns.layout().shape.clone();
        let [column] = <[Column; 1]>::try_from(columns.into_columns()).map_err(|columns| {
            EncodingError::new_err(format!("{} columns were found, one array is needed", columns.len()))
        })?;
        Ok(Self { context, shape, column, evaluator: None })
    }
}

#[pymethods]
impl PyEncryptedArray {
    /// The shape.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.shape)
    }

    /// How many elements there are.
    #[getter]
    fn size(&self) -> usize {
        self.shape.iter().product()
    }

    /// The type of the array that is decrypted.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("numpy")?.call_method1("dtype", (dtype_name(self.column.element()),))
    }

    /// The type of elements: "bool", "digit", or the name of its type.
    #[getter]
    fn element(&self) -> String {
        self.column.element().to_string()
    }

    /// The context that it belongs to.
    #[getter]
    fn context(&self) -> PyTfheContext {
        PyTfheContext(self.context.clone())
    }

    /// The parameters that it belongs to.
    #[getter]
    fn parameters(&self) -> PyTfheParameters {
        PyTfheParameters(self.context.parameters().clone())
    }

    /// The identity of the secret key that it belongs to, in hexadecimal: keys and ciphertexts with the same owner are of one secret
    /// key. It is public.
    #[getter]
    fn owner(&self) -> String {
        self.column.owner().key.to_hex()
    }

    fn __len__(&self) -> PyResult<usize> {
        self.shape.first().copied().ok_or_else(|| PyTypeError::new_err("an array of no dimension has no length"))
    }

    /// The elements that numpy would give, encrypted. Raises IndexError, and EncodingError if there are none.
    fn __getitem__(&self, py: Python<'_>, index: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (shape, column) = taken(&self.column, &positions(py, &self.shape)?.get_item(index)?)?;
        Ok(self.with(shape, column))
    }

    /// The arrays along the first axis, or the elements. Raises TypeError for an array of no dimension.
    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let items = (0..self.__len__()?).map(|at| self.__getitem__(py, &at.into_pyobject(py)?.into_any()));
        Ok(PyList::new(py, items.collect::<PyResult<Vec<_>>>()?)?.try_iter()?.into_any())
    }

    /// How many dimensions there are.
    #[getter]
    fn ndim(&self) -> usize {
        self.shape.len()
    }

    /// Bytes of the ciphertexts in memory.
    #[getter]
    fn nbytes(&self) -> usize {
        self.column.bytes()
    }

    /// The same elements in another shape: a tuple, or one number for each axis. Raises ValueError where numpy does.
    #[pyo3(signature = (*shape))]
    fn reshape(&self, py: Python<'_>, shape: &Bound<'_, PyTuple>) -> PyResult<Self> {
        self.arranged_by(py, "reshape", shape)
    }

    /// The array with its axes in another order, by default the opposite one. Raises ValueError where numpy does.
    #[pyo3(signature = (*axes))]
    fn transpose(&self, py: Python<'_>, axes: &Bound<'_, PyTuple>) -> PyResult<Self> {
        self.arranged_by(py, "transpose", axes)
    }

    /// The array with its axes in the opposite order.
    #[getter(T)]
    fn transposed(&self, py: Python<'_>) -> PyResult<Self> {
        self.arranged(&positions(py, &self.shape)?.getattr("T")?)
    }

    /// All elements in one row.
    fn ravel(&self, py: Python<'_>) -> PyResult<Self> {
        self.arranged(&positions(py, &self.shape)?.call_method0("ravel")?)
    }

    /// The sum of all elements, or of those along an axis; see ``Evaluator.sum``.
    #[pyo3(signature = (axis = None))]
    fn sum(&self, py: Python<'_>, #[pyo3(from_py_with = whole)] axis: Option<i32>) -> PyResult<Self> {
        self.evaluator(None)?.sum(py, self, axis, None)
    }

    /// The smallest of all elements, or of those along an axis.
    #[pyo3(signature = (axis = None))]
    fn min(&self, py: Python<'_>, #[pyo3(from_py_with = whole)] axis: Option<i32>) -> PyResult<Self> {
        self.evaluator(None)?.min(py, self, axis, None)
    }

    /// The largest of all elements, or of those along an axis.
    #[pyo3(signature = (axis = None))]
    fn max(&self, py: Python<'_>, #[pyo3(from_py_with = whole)] axis: Option<i32>) -> PyResult<Self> {
        self.evaluator(None)?.max(py, self, axis, None)
    }

    /// Where the smallest element is, or the smallest of those along an axis; see ``Evaluator.argmax``.
    #[pyo3(signature = (axis = None))]
    fn argmin(&self, py: Python<'_>, #[pyo3(from_py_with = whole)] axis: Option<i32>) -> PyResult<Self> {
        self.evaluator(None)?.argmin(py, self, axis, None)
    }

    /// Where the largest element is, or the largest of those along an axis; see ``Evaluator.argmax``.
    #[pyo3(signature = (axis = None))]
    fn argmax(&self, py: Python<'_>, #[pyo3(from_py_with = whole)] axis: Option<i32>) -> PyResult<Self> {
        self.evaluator(None)?.argmax(py, self, axis, None)
    }

    fn __abs__(&self, py: Python<'_>) -> PyResult<Self> {
        self.evaluator(None)?.abs(py, self, None)
    }

    fn __divmod__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<(Self, Self)> {
        self.evaluator(Some(other))?.quotients(py, self, other, false, None)
    }

    fn __rdivmod__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<(Self, Self)> {
        self.evaluator(Some(other))?.quotients(py, self, other, true, None)
    }

    /// Comparisons are encrypted, so that nobody knows what an array contains.
    fn __contains__(&self, _value: &Bound<'_, PyAny>) -> PyResult<bool> {
        Err(PyTypeError::new_err(
            "nobody knows what an encrypted array contains: use (x == value).max(), which is encrypted",
        ))
    }

    /// Keeps numpy from taking an encrypted array for an array of objects.
    #[pyo3(signature = (*_args, **_kwargs))]
    fn __array__(&self, _args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> PyResult<Py<PyAny>> {
        Err(PyTypeError::new_err("numpy cannot see what is encrypted: decrypt with ctx.decrypt(x, keys.secret) first"))
    }

    /// The same values in another type: integers modulo 2^bits, truth values as 0 and 1, integers as whether they are not 0.
    fn astype(&self, py: Python<'_>, dtype: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.evaluator(None)?.cast(py, self, element_of(dtype)?)
    }

    fn __add__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.join(py, Binary::Add, other)
    }

    fn __radd__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.join(py, Binary::Add, other)
    }

    fn __sub__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.join(py, Binary::Sub, other)
    }

    fn __rsub__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.join_reversed(py, Binary::Sub, other)
    }

    fn __mul__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.join(py, Binary::Mul, other)
    }

    fn __rmul__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.join(py, Binary::Mul, other)
    }

    fn __floordiv__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.join(py, Binary::Div, other)
    }

    fn __rfloordiv__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.join_reversed(py, Binary::Div, other)
    }

    fn __mod__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.join(py, Binary::Rem, other)
    }

    fn __rmod__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.join_reversed(py, Binary::Rem, other)
    }

    fn __and__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.join(py, Binary::And, other)
    }

    fn __rand__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.join(py, Binary::And, other)
    }

    fn __or__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.join(py, Binary::Or, other)
    }

    fn __ror__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.join(py, Binary::Or, other)
    }

    fn __xor__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.join(py, Binary::Xor, other)
    }

    fn __rxor__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.join(py, Binary::Xor, other)
    }

    fn __lshift__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.join(py, Binary::ShiftLeft, other)
    }

    fn __rlshift__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.join_reversed(py, Binary::ShiftLeft, other)
    }

    fn __rshift__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.join(py, Binary::ShiftRight, other)
    }

    fn __rrshift__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.join_reversed(py, Binary::ShiftRight, other)
    }

    fn __richcmp__(&self, py: Python<'_>, other: &Bound<'_, PyAny>, operation: CompareOp) -> PyResult<Self> {
        let comparison = match operation {
            CompareOp::Eq => Comparison::Eq,
            CompareOp::Ne => Comparison::Ne,
            CompareOp::Lt => Comparison::Lt,
            CompareOp::Le => Comparison::Le,
            CompareOp::Gt => Comparison::Gt,
            CompareOp::Ge => Comparison::Ge,
        };
        self.join(py, Binary::Compare(comparison), other)
    }

    fn __invert__(&self, py: Python<'_>) -> PyResult<Self> {
        self.evaluator(None)?.each(py, Unary::Not, self)
    }

    fn __neg__(&self, py: Python<'_>) -> PyResult<Self> {
        self.evaluator(None)?.each(py, Unary::Neg, self)
    }

    /// Nobody knows whether what is encrypted is true.
    fn __bool__(&self) -> PyResult<bool> {
        Err(PyTypeError::new_err("an encrypted array has no truth value: use ev.where(condition, a, b)"))
    }

    /// Functions of numpy that are operators, `array * x` among them.
    #[pyo3(signature = (function, method, *operands, **named))]
    fn __array_ufunc__<'py>(
        slf: &Bound<'py, Self>,
        function: &Bound<'py, PyAny>,
        method: &str,
        operands: &Bound<'py, PyTuple>,
        named: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        ufuncs::apply(&slf.get_type(), function, (method, operands), named, &FUNCTIONS)
    }

    /// Functions of numpy: those of shapes give what the array has, others are refused.
    fn __array_function__<'py>(
        slf: &Bound<'py, Self>,
        func: &Bound<'py, PyAny>,
        _types: &Bound<'py, PyAny>,
        args: &Bound<'py, PyTuple>,
        kwargs: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let name: String = func.getattr("__name__")?.extract()?;
        match &name[..] {
            "shape" | "ndim" | "size" if args.len() == 1 && kwargs.is_empty() => slf.getattr(&*name),
            _ => FUNCTIONS.refuse(func),
        }
    }

    /// Comparisons are encrypted, so that arrays are no keys of dictionaries.
    #[classattr]
    fn __hash__() -> Option<u8> {
        None
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let columns = self.as_columns()?;
        bytes_beside(py, &columns, self.context.parameters(), Form::Packed)
    }

    /// The array that ``bytes(x)`` gave.
    ///
    /// Raises WireError for bytes that are damaged or of another kind, ParameterMismatchError for other parameters.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, context: &PyTfheContext, data: &[u8]) -> PyResult<Self> {
        let columns = detached(py, || Columns::from_bytes(context.0.parameters(), data))?;
        Self::of_columns(context.0.clone(), columns)
    }

    /// Reads an array from a file; the tool ``noren`` writes files of one column too.
    ///
    /// Raises OSError, and what ``from_bytes`` raises.
    #[staticmethod]
    fn load(py: Python<'_>, context: &PyTfheContext, path: PathBuf) -> PyResult<Self> {
        let columns = detached(py, || Columns::read_file(context.0.parameters(), &path, &Limits::default()))?;
        Self::of_columns(context.0.clone(), columns)
    }

    /// Writes the array to a file, as a whole or not at all; one that exists is replaced. Raises OSError.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let columns = self.as_columns()?;
        detached(py, || columns.write_file(self.context.parameters(), Form::Packed, &path))
    }

    #[staticmethod]
    fn _unpickle(py: Python<'_>, parameters: &PyTfheParameters, data: &[u8], threading: Threading) -> PyResult<Self> {
        Self::from_bytes(py, &PyTfheContext(shared_context(py, &parameters.0, &threading)?), data)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Pickle<'py, PyTfheParameters>> {
        let unpickle = py.get_type::<Self>().getattr("_unpickle")?;
        Ok((unpickle, (self.parameters(), self.__bytes__(py)?, self.context.threading())))
    }

    fn __repr__(&self) -> String {
        let bytes = display::size(self.column.bytes() as u64);
        format!("EncryptedArray({}, shape={}, {bytes})", self.column.element(), text(&self.shape))
    }

    /// The table that notebooks show.
    fn _repr_html_(&self) -> String {
        let rows = [
            ("type", self.column.element().to_string()),
            ("shape", text(&self.shape)),
            ("parameters", self.parameters().__repr__()),
            ("secret key", self.column.owner().key.to_string()),
            ("size in memory", display::size(self.column.bytes() as u64)),
        ];
        display::table("EncryptedArray", &rows)
    }
}
