//! `Evaluator` of both schemes: the base of their classes.

use std::sync::{Arc, Mutex, Weak};

use noren::bgv::{Context, Encoder, Plaintext};
use noren::circuits::polynomial::Polynomial;
use noren::circuits::power::power;
use noren::circuits::terms::Terms;
use noren::error::Result;
use noren::schemes::integers::{Ciphertext, Evaluator, Scheme};
use noren::{EvaluationKeys, bfv, bgv};
use pyo3::prelude::*;

use crate::array::detached_by;
use crate::display;
use crate::errors::{raise, raise_of_integers};
use crate::evaluators::{Match, RegisteredEvaluator};
use crate::integers::classes::{PyEncrypted, PyIntegerContext, PyIntegerEvaluator};
use crate::integers::either::{AnyCiphertext, AnyEvaluator, Either, each, other_class};
use crate::integers::keys::PyIntegerEvaluationKeys;
use crate::integers::plaintext::{WholeNumbers, check_all_contents, check_contents};
use crate::integers::slot_matrix::PySlotMatrix;
use crate::key_classes::KeyClass;
use crate::key_sets;
use crate::pickle::EvaluatorPickle;
use crate::vectors::same_length;
use crate::whole::{Integers, whole};

/// A copy, such as that of a ciphertext, is not registered.
impl Clone for PyIntegerEvaluator {
    fn clone(&self) -> Self {
        Self::unregistered(self.inner.clone())
    }
}

impl RegisteredEvaluator for PyIntegerEvaluator {
    type Operand = PyEncrypted;

    fn registry() -> &'static Mutex<Vec<Weak<Self>>> {
        static EVALUATORS: Mutex<Vec<Weak<PyIntegerEvaluator>>> = Mutex::new(Vec::new());
        &EVALUATORS
    }

    fn serves(&self, operand: &PyEncrypted) -> Match {
        let Ok(pair) = self.beside(operand) else { return Match::Foreign };
        let owner = each!(pair, |(_, x)| x.key_id()).same();
        key_sets::serves(self.home().rlwe(), self.evaluation_keys(), operand.context.rlwe(), owner)
    }

    fn covers(&self, other: &Self) -> bool {
        // Those of two schemes serve different ciphertexts.
        key_sets::covers(self.evaluation_keys(), other.evaluation_keys())
    }
}

/// Results of an operation on ciphertexts of one scheme.
type Outcome = Either<Result<bgv::Ciphertext>, Result<bfv::Ciphertext>>;

/// An evaluator with a ciphertext of its scheme.
type Pair<'a> = Either<(&'a bgv::Evaluator, &'a bgv::Ciphertext), (&'a bfv::Evaluator, &'a bfv::Ciphertext)>;

/// An evaluator with several ciphertexts of its scheme.
type All<'a> = Either<(&'a bgv::Evaluator, Vec<&'a bgv::Ciphertext>), (&'a bfv::Evaluator, Vec<&'a bfv::Ciphertext>)>;

/// An operation of two operands.
#[derive(Clone, Copy)]
enum Join {
    Add,
    Sub,
    Mul,
}

/// The second operand of an operation.
enum Operand<'a, S> {
    Ciphertext(&'a Ciphertext<S>),
    Plaintext(&'a Plaintext),
    Number(i64),
}

/// x + y, x - y or x y.
fn joined<S: Scheme>(ev: &Evaluator<S>, x: &Ciphertext<S>, join: Join, y: Operand<'_, S>) -> Result<Ciphertext<S>> {
    match (join, y) {
        (Join::Add, Operand::Ciphertext(y)) => ev.add(x, y),
        (Join::Add, Operand::Plaintext(y)) => ev.add_plain(x, y),
        (Join::Add, Operand::Number(y)) => ev.add_scalar(x, y),
        (Join::Sub, Operand::Ciphertext(y)) => ev.sub(x, y),
        (Join::Sub, Operand::Plaintext(y)) => ev.sub_plain(x, y),
        (Join::Sub, Operand::Number(y)) => ev.sub_scalar(x, y),
        (Join::Mul, Operand::Ciphertext(y)) => ev.mul(x, y),
        (Join::Mul, Operand::Plaintext(y)) => ev.mul_plain(x, y),
        (Join::Mul, Operand::Number(y)) => ev.mul_scalar(x, y),
    }
}

impl PyIntegerEvaluator {
    pub(crate) const fn unregistered(inner: AnyEvaluator) -> Self {
        Self { inner, registration: None }
    }

    fn home(&self) -> &Context {
        each!(&self.inner, |ev| ev.context()).same()
    }

    pub(crate) fn evaluation_keys(&self) -> &Arc<EvaluationKeys> {
        each!(&self.inner, |ev| ev.keys()).same()
    }

    /// A ciphertext whose operators use this evaluator.
    pub(crate) fn wrap(&self, inner: AnyCiphertext) -> PyEncrypted {
        PyEncrypted { inner, context: self.home().clone(), evaluator: Some(self.clone()) }
    }

    /// Refuses a ciphertext of the other scheme.
    fn beside<'a>(&'a self, x: &'a PyEncrypted) -> PyResult<Pair<'a>> {
        self.inner.as_ref().with(x.inner.as_ref()).ok_or_else(|| other_class("Ciphertext"))
    }

    fn detached(&self, py: Python<'_>, work: impl FnOnce() -> Outcome + Send) -> PyResult<PyEncrypted> {
        detached_by(py, raise_of_integers, || work().transpose()).map(|inner| self.wrap(inner))
    }

    /// An operation of one ciphertext.
    fn run(
        &self,
        py: Python<'_>,
        x: &PyEncrypted,
        work: impl FnOnce(Pair<'_>) -> Outcome + Send,
    ) -> PyResult<PyEncrypted> {
        let pair = self.beside(x)?;
        self.detached(py, || work(pair))
    }

    /// x to a whole power.
    pub(crate) fn power_of(&self, py: Python<'_>, x: &PyEncrypted, exponent: u32) -> PyResult<PyEncrypted> {
        self.run(py, x, |pair| match exponent {
            // The number 1 in every slot.
            0 => each!(pair, |(ev, x)| ev.mul_scalar(x, 0).and_then(|zero| ev.add_scalar(&zero, 1))),
            exponent => each!(pair, |(ev, x)| power(ev, x, exponent)),
        })
    }

    /// An operation with a ciphertext, an array or a number.
    fn join(&self, py: Python<'_>, x: &PyEncrypted, join: Join, y: &Bound<'_, PyAny>) -> PyResult<PyEncrypted> {
        let pair = self.beside(x)?;
        let other = y.cast::<PyEncrypted>().ok().and_then(|y| pair.with(y.get().inner.as_ref()));
        if let Some(pair) = other {
            check_contents(x.inner.content(), each!(&pair, |(_, y)| y.content()).same())?;
            return self.detached(py, || each!(pair, |((ev, x), y)| joined(ev, x, join, Operand::Ciphertext(y))));
        }
        let numbers = WholeNumbers::of(y)?;
        if let Some(c) = numbers.as_scalar() {
            return self.detached(py, || each!(pair, |(ev, x)| joined(ev, x, join, Operand::Number(c))));
        }
        let p = numbers.encode_beside(&Encoder::new(self.home()), x.inner.content())?;
        self.detached(py, || each!(pair, |(ev, x)| joined(ev, x, join, Operand::Plaintext(&p))))
    }

    /// Several vectors of its scheme, which fit each other.
    fn all<'a>(&'a self, xs: impl Iterator<Item = &'a Bound<'a, PyEncrypted>> + Clone) -> PyResult<All<'a>> {
        let mut xs = xs.map(|x| x.get());
        check_all_contents(xs.clone().map(|x| x.inner.content()))?;
        xs.try_fold(each!(&self.inner, |ev| (ev, Vec::new())), |all, x| {
            let next = all.with(x.inner.as_ref()).ok_or_else(|| other_class("Ciphertext"))?;
            Ok(each!(next, |((ev, all), x)| (ev, [all, vec![x]].concat())))
        })
    }
}

#[pymethods]
impl PyIntegerEvaluator {
    /// The context.
    #[getter]
    fn context(&self) -> PyIntegerContext {
        PyIntegerContext(each!(&self.inner, |ev| ev.context().clone()))
    }

    /// The keys.
    #[getter]
    fn keys(&self, py: Python<'_>) -> PyResult<Py<PyIntegerEvaluationKeys>> {
        PyIntegerEvaluationKeys::new(py, self.home(), self.evaluation_keys().as_ref().clone())
    }

    /// An evaluator with these keys and more of the same secret; see ``Context.evaluation_keys``.
    ///
    /// Raises ParameterMismatchError for keys of other parameters, KeyMismatchError for those of another secret.
    fn with_keys(&self, more: &PyIntegerEvaluationKeys) -> PyResult<Self> {
        let merged = Arc::new(key_sets::merged(self.evaluation_keys(), more.0.key())?);
        let evaluator = each!(&self.inner, |ev| Evaluator::new(ev.context(), merged)).transpose();
        evaluator.map(Self::unregistered).map_err(raise)
    }

    /// The same ciphertext with operators that use this evaluator, where several are there.
    fn bind(&self, py: Python<'_>, x: &PyEncrypted) -> PyResult<PyEncrypted> {
        // Drops nothing, and refuses ciphertexts of other parameters or another secret.
        self.run(py, x, |pair| each!(pair, |(ev, x)| ev.mod_switch(x, x.limbs())))
    }

    /// x + y.
    pub(crate) fn add(&self, py: Python<'_>, x: &PyEncrypted, y: &Bound<'_, PyAny>) -> PyResult<PyEncrypted> {
        self.join(py, x, Join::Add, y)
    }

    /// x - y.
    pub(crate) fn sub(&self, py: Python<'_>, x: &PyEncrypted, y: &Bound<'_, PyAny>) -> PyResult<PyEncrypted> {
        self.join(py, x, Join::Sub, y)
    }

    /// x * y, slot by slot.
    pub(crate) fn mul(&self, py: Python<'_>, x: &PyEncrypted, y: &Bound<'_, PyAny>) -> PyResult<PyEncrypted> {
        self.join(py, x, Join::Mul, y)
    }

    /// -x.
    pub(crate) fn neg(&self, py: Python<'_>, x: &PyEncrypted) -> PyResult<PyEncrypted> {
        self.run(py, x, |pair| each!(pair, |(ev, x)| ev.neg(x)))
    }

    /// x * x.
    fn square(&self, py: Python<'_>, x: &PyEncrypted) -> PyResult<PyEncrypted> {
        self.run(py, x, |pair| each!(pair, |(ev, x)| ev.square(x)))
    }

    /// xs[0] * ys[0] + xs[1] * ys[1] + ..., slot by slot, with one key switch for all products.
    fn dot(
        &self,
        py: Python<'_>,
        xs: Vec<Bound<'_, PyEncrypted>>,
        ys: Vec<Bound<'_, PyEncrypted>>,
    ) -> PyResult<PyEncrypted> {
        same_length(xs.len(), ys.len())?;
        let (all, count) = (self.all(xs.iter().chain(&ys))?, xs.len());
        let pairs = || {
            each!(all, |(ev, all)| {
                let (xs, ys) = all.split_at(count);
                ev.dot(&xs.iter().copied().zip(ys.iter().copied()).collect::<Vec<_>>())
            })
        };
        self.detached(py, pairs)
    }

    /// weights[0] * xs[0] + weights[1] * xs[1] + ... + constant, for whole numbers as weights.
    #[pyo3(signature = (xs, weights, *, constant = 0))]
    fn weighted_sum(
        &self,
        py: Python<'_>,
        xs: Vec<Bound<'_, PyEncrypted>>,
        weights: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = whole)] constant: i64,
    ) -> PyResult<PyEncrypted> {
        let weights = WholeNumbers::of(weights)?;
        let weights = weights.as_vector()?;
        same_length(xs.len(), weights.len())?;
        let all = self.all(xs.iter())?;
        self.detached(py, || {
            each!(all, |(ev, xs)| {
                ev.weighted_sum(&xs.into_iter().zip(weights.iter().copied()).collect::<Vec<_>>(), constant)
            })
        })
    }

    /// The same message modulo the first `limbs` primes: products do this by themselves.
    fn mod_switch(
        &self,
        py: Python<'_>,
        x: &PyEncrypted,
        #[pyo3(from_py_with = whole)] limbs: usize,
    ) -> PyResult<PyEncrypted> {
        self.run(py, x, |pair| each!(pair, |(ev, x)| ev.mod_switch(x, limbs)))
    }

    /// Moves slot c + steps of each row to slot c, around the end.
    fn rotate(
        &self,
        py: Python<'_>,
        x: &PyEncrypted,
        #[pyo3(from_py_with = whole)] steps: isize,
    ) -> PyResult<PyEncrypted> {
        self.run(py, x, |pair| each!(pair, |(ev, x)| ev.rotate(x, steps)))
    }

    /// Several rotations of one ciphertext, which share most of the work.
    fn rotate_many(&self, py: Python<'_>, x: &PyEncrypted, steps: Integers) -> PyResult<Vec<PyEncrypted>> {
        let pair = self.beside(x)?;
        let rotated = || each!(pair, |(ev, x)| ev.rotate_many(x, &steps.0)).transpose();
        let all = detached_by(py, raise_of_integers, rotated)?.into_vec();
        Ok(all.into_iter().map(|inner| self.wrap(inner)).collect())
    }

    /// The two rows swapped.
    fn swap_rows(&self, py: Python<'_>, x: &PyEncrypted) -> PyResult<PyEncrypted> {
        self.run(py, x, |pair| each!(pair, |(ev, x)| ev.swap_rows(x)))
    }

    /// Moves the slot with coordinates e + steps along the dimensions to that with coordinates e, around their ends:
    /// a number of steps for each of ``Parameters.dimensions``. Needs keys for ``Context.rotation_along(steps)``.
    ///
    /// Along a dimension that is not native it costs a product with numbers. Raises EncodingError for another count
    /// of steps, Error in a ring without such dimensions.
    fn rotate_along(&self, py: Python<'_>, x: &PyEncrypted, steps: Integers) -> PyResult<PyEncrypted> {
        self.run(py, x, |pair| each!(pair, |(ev, x)| ev.rotate_along(x, &steps.0)))
    }

    /// The Frobenius automorphism to the power i, which maps Y to Y^(p^i), of the element in each slot. Needs a key
    /// for ``Context.frobenius_exponent(i)``.
    ///
    /// Raises Error in a ring whose slots hold numbers alone.
    #[pyo3(signature = (x, i = 1))]
    fn frobenius(
        &self,
        py: Python<'_>,
        x: &PyEncrypted,
        #[pyo3(from_py_with = whole)] i: usize,
    ) -> PyResult<PyEncrypted> {
        self.run(py, x, |pair| each!(pair, |(ev, x)| ev.frobenius(x, i)))
    }

    /// Slot c of each row of the result is the sum of the slots c, c + stride, ..., c + (count - 1) * stride of x.
    ///
    /// count: None for all numbers of one row; the sum of all numbers stands in the first slot, in every slot if they
    /// fill a period. Needs keys for ``rotations_of_sum(count, stride=stride, steps=steps)``.
    ///
    /// Raises EncodingError if the slots reach over more than the numbers of x, or for a stride of 0.
    #[pyo3(signature = (x, count = None, *, stride = 1, steps = None))]
    pub(crate) fn sum(
        &self,
        py: Python<'_>,
        x: &PyEncrypted,
        #[pyo3(from_py_with = whole)] count: Option<i64>,
        #[pyo3(from_py_with = whole)] stride: i64,
        #[pyo3(from_py_with = whole)] steps: Option<usize>,
    ) -> PyResult<PyEncrypted> {
        let (pair, extent, row) = (self.beside(x)?, x.inner.content().extent(), x.inner.parameters().row_slots());
        let terms = Terms::new(count, stride, extent, row).map_err(raise)?;
        self.detached(py, || each!(pair, |(ev, x)| terms.sum(ev, x, steps)))
    }

    /// Slot c of each row of the result is the product of the slots c, c + stride, ..., c + (count - 1) * stride of x.
    ///
    /// count: None for all numbers of one row; the product of all numbers stands in the first slot, in every slot if
    /// they fill a period. A power of two takes the fewest products: pad numbers with ones. ceil(log2(count)) levels.
    /// Needs keys for ``rotations_of_product(count, stride=stride)``.
    ///
    /// Raises EncodingError if the slots reach over more than the numbers of x, or for a stride of 0.
    #[pyo3(signature = (x, count = None, *, stride = 1))]
    fn product(
        &self,
        py: Python<'_>,
        x: &PyEncrypted,
        #[pyo3(from_py_with = whole)] count: Option<i64>,
        #[pyo3(from_py_with = whole)] stride: i64,
    ) -> PyResult<PyEncrypted> {
        let (pair, extent, row) = (self.beside(x)?, x.inner.content().extent(), x.inner.parameters().row_slots());
        let factors = Terms::new(count, stride, extent, row).map_err(raise)?;
        self.detached(py, || each!(pair, |(ev, x)| factors.product(ev, x)))
    }

    /// A polynomial of every slot, with integer coefficients, lowest first: ceil(log2(len(coefficients))) levels.
    fn polynomial(&self, py: Python<'_>, x: &PyEncrypted, coefficients: &Bound<'_, PyAny>) -> PyResult<PyEncrypted> {
        let coefficients = WholeNumbers::of(coefficients)?.as_vector()?.to_vec();
        let polynomial = Polynomial::power(coefficients).map_err(raise_of_integers)?;
        self.run(py, x, |pair| each!(pair, |(ev, x)| polynomial.evaluate(ev, x)))
    }

    /// matrix @ x, for a matrix of whole numbers of shape (rows, columns) and a vector of `columns` numbers.
    ///
    /// A vector of all n slots and a matrix of n/2 columns: matrix @ row for both rows. Needs keys for
    /// ``rotations_of_matrix(matrix)``. Vectors that were encrypted with ``repeat=True`` take fewer, those of
    /// ``rotations_of_matrix(matrix, slots=p)``, where p is the power of two from the count of numbers on.
    ///
    /// In a ring whose slots have dimensions, a ``SlotMatrix``, or an array as it takes, which is encoded for this
    /// product alone. Needs keys for ``SlotMatrix.automorphisms``.
    ///
    /// Raises EncodingError unless there are as many columns as numbers; see ``with_length`` of ciphertexts.
    pub(crate) fn matvec(&self, py: Python<'_>, matrix: &Bound<'_, PyAny>, x: &PyEncrypted) -> PyResult<PyEncrypted> {
        let (pair, parameters) = (self.beside(x)?, x.inner.parameters());
        if let Ok(matrix) = matrix.cast::<PySlotMatrix>() {
            let matrix = &matrix.get().0.matrix;
            return self.detached(py, || each!(pair, |(ev, x)| ev.multiply_matrix(matrix, x)));
        }
        if parameters.hypercube().is_some() {
            let limbs = each!(pair, |(_, x)| x.limbs()).same();
            let matrix = WholeNumbers::of(matrix)?.encode_matrix(py, self.home(), limbs)?;
            return self.detached(py, || each!(pair, |(ev, x)| ev.multiply_matrix(&matrix, x)));
        }
        let (matrix, extent) = (WholeNumbers::of(matrix)?.into_matrix()?, x.inner.content().extent());
        let whole = (matrix.columns() == parameters.row_slots()).then_some(parameters.degree());
        extent.check_columns(matrix.columns(), whole).map_err(raise)?;
        let both = extent.length().is_some() && extent.length() == whole;
        let length = (!both).then_some(matrix.rows());
        self.detached(py, || each!(pair, |(ev, x)| matrix.apply(ev, x).and_then(|y| y.with_length(length))))
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<EvaluatorPickle<'py, PyIntegerContext, PyIntegerEvaluationKeys>> {
        Ok((slf.get_type(), (slf.get().context(), slf.get().keys(slf.py())?)))
    }

    fn __repr__(&self) -> String {
        let (n, keys) = (self.home().parameters().degree(), self.evaluation_keys());
        display::key("Evaluator", &format!("n={n}"), &**keys)
    }
}
