//! `Ciphertext` of both schemes: the base of their classes, with its operators.

use std::path::PathBuf;

use noren::bgv::Context;
use noren::schemes::integers::Ciphertext;
use noren::wire::{Form, Limits, Object};
use noren::{bfv, bgv};
use pyo3::basic::CompareOp;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple, PyType};

use crate::array::detached;
use crate::display::{Row, table};
use crate::errors::raise_of_integers;
use crate::evaluators::evaluator_of;
use crate::explain;
use crate::exponent::whole_exponent;
use crate::integers::classes::{PyEncrypted, PyIntegerContext, PyIntegerEvaluator};
use crate::integers::either::{AnyCiphertext, Either, each, other_class};
use crate::integers::parameters::PyIntegerParameters;
use crate::integers::schemes::{PyBfvCiphertext, PyBgvCiphertext};
use crate::pickle::{Pickle, Shared, Threading, bytes_beside, shared_context};
use crate::refusals;
use crate::ufuncs;
use crate::whole::whole;

impl PyEncrypted {
    /// A ciphertext that no evaluator made.
    pub(crate) fn new(inner: AnyCiphertext, context: &Context) -> Self {
        Self { inner, context: context.clone(), evaluator: None }
    }

    pub(crate) fn bgv(&self) -> PyResult<&bgv::Ciphertext> {
        if let Either::Bgv(x) = &self.inner { Ok(x) } else { Err(other_class("Ciphertext")) }
    }

    pub(crate) fn bfv(&self) -> PyResult<&bfv::Ciphertext> {
        if let Either::Bfv(x) = &self.inner { Ok(x) } else { Err(other_class("Ciphertext")) }
    }

    fn read(py: Python<'_>, PyIntegerContext(context): &PyIntegerContext, data: &[u8]) -> PyResult<Self> {
        let inner = detached(py, || each!(context, |context| Ciphertext::from_bytes(context, data)).transpose())?;
        Ok(Self::new(inner, context.as_ref().same()))
    }

    fn rows(&self) -> Vec<Row> {
        let evaluator = self.evaluator(None);
        let operators = explain::of_operators(evaluator.as_ref().map(|ev| &**ev.evaluation_keys()));
        each!(&self.inner, |x| explain::of_integers(x)).same().into_iter().chain([operators]).collect()
    }

    fn title(&self) -> String {
        format!("Ciphertext ({})", self.inner.scheme())
    }

    /// The evaluator of this ciphertext, or of the other operand, or the one that serves what none made.
    fn evaluator(&self, other: Option<&Bound<'_, PyAny>>) -> PyResult<PyIntegerEvaluator> {
        let of_other = || {
            let other = other?.cast::<Self>().ok()?.get();
            self.inner.as_ref().with(other.inner.as_ref()).and_then(|_| other.evaluator.clone())
        };
        self.evaluator.clone().or_else(of_other).map_or_else(|| evaluator_of(self), Ok)
    }

    /// Refuses a context of another scheme than that of a class of ciphertexts.
    fn check_class(class: &Bound<'_, PyType>, context: &PyIntegerContext) -> PyResult<()> {
        let own = match &context.0 {
            Either::Bgv(_) => class.py().get_type::<PyBgvCiphertext>(),
            Either::Bfv(_) => class.py().get_type::<PyBfvCiphertext>(),
        };
        if class.is(&own) { Ok(()) } else { Err(other_class("Context")) }
    }
}

#[pymethods]
impl PyEncrypted {
    /// How many multiplications can still follow one another, as predicted.
    #[getter]
    fn level(&self) -> usize {
        each!(&self.inner, |x| x.level()).same()
    }

    /// The context that it belongs to.
    #[getter]
    fn context(&self) -> PyIntegerContext {
        PyIntegerContext(each!(&self.inner, |_| self.context.clone()))
    }

    /// How many primes the modulus has.
    #[getter]
    fn limbs(&self) -> usize {
        each!(&self.inner, |x| x.limbs()).same()
    }

    /// How many bits the noise may still grow before a decryption may fail; predicted, not measured.
    #[getter]
    fn noise_budget(&self) -> f64 {
        each!(&self.inner, |x| x.noise_budget()).same()
    }

    /// How many numbers it has, as (n,): what decrypting gives, and what clear operands must have.
    ///
    /// As many as were encrypted, or all slots of a period once numbers were moved between slots. Public.
    #[getter]
    fn shape(&self) -> (usize,) {
        (self.inner.content().extent().values(),)
    }

    /// How many slots there are; where there are none, how many coefficients.
    #[getter]
    fn slots(&self) -> usize {
        self.context.parameters().slots()
    }

    /// After how many slots the numbers repeat: the number of slots if they do not. Public.
    #[getter]
    fn period(&self) -> usize {
        self.inner.content().extent().period()
    }

    /// The same ciphertext, whose first `length` slots are the numbers.
    ///
    /// Raises EncodingError for a length of 0, or above the number of slots.
    fn with_length(&self, #[pyo3(from_py_with = whole)] length: usize) -> PyResult<Self> {
        let inner =
            each!(self.inner.clone(), |x| x.with_length(Some(length))).transpose().map_err(raise_of_integers)?;
        Ok(Self { inner, ..self.clone() })
    }

    /// The parameters that it belongs to.
    #[getter]
    fn parameters(&self) -> PyIntegerParameters {
        PyIntegerParameters(self.context.parameters().clone())
    }

    /// The identity of the secret key that it belongs to, in hexadecimal: keys and ciphertexts with the same owner are of one secret
    /// key. It is public.
    #[getter]
    fn owner(&self) -> String {
        each!(&self.inner, |x| x.key_id()).same().to_hex()
    }

    /// Bytes in memory.
    #[getter]
    fn nbytes(&self) -> u64 {
        each!(&self.inner, |x| explain::bytes(x.rlwe())).same()
    }

    /// A description of the ciphertext without a key: numbers, level, noise, size, and which keys its
    /// operators have.
    fn explain(&self) -> String {
        explain::text(&self.title(), &self.rows())
    }

    /// The table that notebooks show.
    fn _repr_html_(&self) -> String {
        table(&self.title(), &self.rows())
    }

    /// The sum of all numbers of a row, each of which counts once; see ``Evaluator.sum``.
    fn sum(&self, py: Python<'_>) -> PyResult<Self> {
        self.evaluator(None)?.sum(py, self, None, 1, None)
    }

    fn __add__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.evaluator(Some(other))?.add(py, self, other)
    }

    fn __radd__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.__add__(py, other)
    }

    fn __sub__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.evaluator(Some(other))?.sub(py, self, other)
    }

    fn __rsub__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        let ev = self.evaluator(Some(other))?;
        ev.add(py, &ev.neg(py, self)?, other)
    }

    fn __mul__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.evaluator(Some(other))?.mul(py, self, other)
    }

    fn __rmul__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.__mul__(py, other)
    }

    fn __truediv__(&self, _other: &Bound<'_, PyAny>) -> PyResult<Self> {
        refusals::division("multiply by pow(number, -1, t), which divides modulo a prime t, or look up the quotient")
    }

    fn __rtruediv__(&self, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.__truediv__(other)
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

    fn __richcmp__(&self, _other: &Bound<'_, PyAny>, _op: CompareOp) -> PyResult<bool> {
        refusals::comparison()
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

    /// Refuses functions of numpy.
    fn __array_function__(
        &self,
        func: &Bound<'_, PyAny>,
        _types: &Bound<'_, PyAny>,
        _args: &Bound<'_, PyAny>,
        _kwargs: &Bound<'_, PyAny>,
    ) -> PyResult<Py<PyAny>> {
        refusals::FUNCTIONS.refuse(func)
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        each!(&self.inner, |x| bytes_beside(py, x, &self.context, Form::Packed)).same()
    }

    /// The ciphertext that ``bytes(x)`` gave, without an evaluator.
    ///
    /// Raises WireError for bytes that are damaged or of another kind, ParameterMismatchError for other parameters.
    #[classmethod]
    fn from_bytes(
        class: &Bound<'_, PyType>,
        py: Python<'_>,
        context: &PyIntegerContext,
        data: &[u8],
    ) -> PyResult<Self> {
        Self::check_class(class, context)?;
        Self::read(py, context, data)
    }

    /// Writes the ciphertext to a file, as a whole or not at all; one that exists is replaced.
    /// ``Context.save`` writes lists. Raises OSError.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        detached(py, || each!(&self.inner, |x| x.write_file(&self.context, Form::Packed, &path)).same())
    }

    /// Reads a ciphertext from a file; ``Context.load`` reads lists.
    ///
    /// Raises OSError, and what ``from_bytes`` raises.
    #[classmethod]
    fn load(class: &Bound<'_, PyType>, py: Python<'_>, context: &PyIntegerContext, path: PathBuf) -> PyResult<Self> {
        Self::check_class(class, context)?;
        let (context, limits) = (&context.0, Limits::default());
        let read = || each!(context, |context| Ciphertext::read_file(context, &path, &limits)).transpose();
        Ok(Self::new(detached(py, read)?, context.as_ref().same()))
    }

    #[classmethod]
    fn _unpickle(
        class: &Bound<'_, PyType>,
        py: Python<'_>,
        parameters: &PyIntegerParameters,
        data: &[u8],
        threading: Threading,
    ) -> PyResult<Self> {
        let context = shared_context(py, &parameters.0, &threading)?;
        let is_bgv = class.is(py.get_type::<PyBgvCiphertext>());
        let context = if is_bgv { Either::Bgv(context) } else { Either::Bfv(context) };
        Self::read(py, &PyIntegerContext(context), data)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Pickle<'py, PyIntegerParameters>> {
        let this = slf.get();
        let unpickle = slf.get_type().getattr("_unpickle")?;
        Ok((unpickle, (this.parameters(), this.__bytes__(slf.py())?, this.context.threading())))
    }

    fn __repr__(&self) -> String {
        let (limbs, budget) = (self.limbs(), self.noise_budget());
        format!("Ciphertext(limbs={limbs}, noise_budget={budget:.1})")
    }
}
