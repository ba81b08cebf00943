//! `Evaluator`: operations on ciphertexts.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, Weak};

use noren::Complex64;
use noren::bootstrapping::{BootstrappingEvaluator, WithBootstrapping};
use noren::circuits::polynomial::Polynomial;
use noren::circuits::power::power;
use noren::circuits::terms::Terms;
use noren::ckks::{self, Ciphertext, Evaluator};
use noren::error::Result;
use noren::schemes::extent::Extent;
use noren::switching::SchemeSwitch;
use pyo3::exceptions::{PyTypeError, PyValueError, PyZeroDivisionError};
use pyo3::prelude::*;

use crate::array::{Numbers, detached};
use crate::bootstrapping::bootstrapper::PyBootstrapper;
use crate::ckks::classes::{PyCiphertext, PyContext, PyEvaluator};
use crate::ckks::keys::PyEvaluationKeys;
use crate::ckks::level::Level;
use crate::ckks::operand::Operand;
use crate::display;
use crate::errors::{MissingKeyError, raise};
use crate::evaluators::{Match, RegisteredEvaluator, Registration};
use crate::failure_budget::budget;
use crate::key_classes::KeyClass;
use crate::key_sets;
use crate::pickle::EvaluatorPickle;
use crate::refusals::division;
use crate::rotations::dense;
use crate::switching::switch::PySwitch;
use crate::vectors::same_length;
use crate::whole::{Integers, whole};

/// A copy, such as that of a ciphertext, is not registered.
impl Clone for PyEvaluator {
    fn clone(&self) -> Self {
        let (plain, bootstrapping) = (self.plain.clone(), self.bootstrapping.clone());
        Self { plain, bootstrapping, switch: self.switch.clone(), registration: None }
    }
}

impl RegisteredEvaluator for PyEvaluator {
    type Operand = PyCiphertext;

    fn registry() -> &'static Mutex<Vec<Weak<Self>>> {
        static EVALUATORS: Mutex<Vec<Weak<PyEvaluator>>> = Mutex::new(Vec::new());
        &EVALUATORS
    }

    fn serves(&self, operand: &PyCiphertext) -> Match {
        key_sets::serves(self.plain.context().rlwe(), self.plain.keys(), operand.home().rlwe(), operand.inner.key_id())
    }

    fn covers(&self, other: &Self) -> bool {
        self.bootstrapping.is_none()
            && other.bootstrapping.is_none()
            && other
                .switch
                .as_ref()
                .is_none_or(|theirs| self.switch.as_ref().is_some_and(|own| Arc::ptr_eq(own, theirs)))
            && key_sets::covers(self.plain.keys(), other.plain.keys())
    }
}

/// Runs a circuit on an evaluator with or without bootstrapping.
macro_rules! on_either {
    ($self:ident, $ev:ident => $work:expr) => {
        match &$self.bootstrapping {
            None => {
                let $ev = &$self.plain;
                $work
            }
            Some($ev) => $work,
        }
    };
}
pub(crate) use on_either;

impl PyEvaluator {
    /// An evaluator for Python to hold.
    fn held(
        plain: Evaluator,
        bootstrapping: Option<BootstrappingEvaluator>,
        switch: Option<Arc<SchemeSwitch>>,
    ) -> Self {
        let evaluator = Self { plain, bootstrapping, switch, registration: None };
        let registration = Some(Registration::new(evaluator.clone()));
        Self { registration, ..evaluator }
    }

    pub(crate) fn wrap(&self, inner: Ciphertext) -> PyCiphertext {
        PyCiphertext::new(self.plain.context(), inner, Some(self.clone()))
    }

    pub(crate) fn sum_with(&self, py: Python<'_>, x: &PyCiphertext, y: &Operand<'_>) -> PyResult<PyCiphertext> {
        self.join(py, x, y, 0, |ev, x, y| ev.add_operand(x, y))
    }

    pub(crate) fn difference_with(&self, py: Python<'_>, x: &PyCiphertext, y: &Operand<'_>) -> PyResult<PyCiphertext> {
        self.join(py, x, y, 0, |ev, x, y| ev.sub_operand(x, y))
    }

    pub(crate) fn product_with(&self, py: Python<'_>, x: &PyCiphertext, y: &Operand<'_>) -> PyResult<PyCiphertext> {
        // A whole number uses no level.
        let levels = usize::from(!matches!(y, Operand::Integer(_)));
        self.join(py, x, y, levels, |ev, x, y| ev.mul_operand(x, y))
    }

    /// An operation of operands that fit, each with at least `levels` levels where there is bootstrapping.
    pub(crate) fn join(
        &self,
        py: Python<'_>,
        x: &PyCiphertext,
        y: &Operand<'_>,
        levels: usize,
        work: impl FnOnce(&Evaluator, &Ciphertext, ckks::Operand<'_>) -> Result<Ciphertext> + Send,
    ) -> PyResult<PyCiphertext> {
        y.check_beside(&x.inner)?;
        self.run(py, |ev| work(ev, &*self.ready(&x.inner, levels)?, y.ready(self, levels)?.beside()))
    }

    pub(crate) fn run(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Evaluator) -> Result<Ciphertext> + Send,
    ) -> PyResult<PyCiphertext> {
        detached(py, || work(&self.plain)).map(|inner| self.wrap(inner))
    }

    /// The ciphertext with at least `levels` levels, where there is bootstrapping.
    pub(crate) fn ready<'a>(&self, x: &'a Ciphertext, levels: usize) -> Result<Cow<'a, Ciphertext>> {
        match &self.bootstrapping {
            None => Ok(Cow::Borrowed(x)),
            Some(bootstrapping) => bootstrapping.ready(x, levels),
        }
    }

    /// x to a whole power.
    pub(crate) fn power_of(&self, py: Python<'_>, x: &PyCiphertext, exponent: u32) -> PyResult<PyCiphertext> {
        self.run(py, |ev| match exponent {
            // The number 1 in every slot, without a level.
            0 => ev.add_const(&ev.mul_integer(&x.inner, 0)?, Complex64::ONE),
            exponent => on_either!(self, ev => power(ev, &x.inner, exponent)),
        })
    }

    /// x over numbers.
    pub(crate) fn quotient_with(&self, py: Python<'_>, x: &PyCiphertext, y: &Operand<'_>) -> PyResult<PyCiphertext> {
        let zero = |at: usize| PyZeroDivisionError::new_err(format!("number {at} of the divisor is zero"));
        let product = match y {
            Operand::Ciphertext(_) | Operand::Plaintext(_) => {
                return division(
                    "divide by numbers in clear; approximate 1 / y by ev.polynomial to divide by a ciphertext",
                );
            }
            Operand::Integer(0) => return Err(zero(0)),
            Operand::Integer(k @ (1 | -1)) => Operand::Integer(*k),
            Operand::Integer(k) => Operand::Scalar(Complex64::from(ckks::Operand::exact(*k).map_err(raise)?.recip())),
            Operand::Scalar(c) if *c == Complex64::ZERO => return Err(zero(0)),
            // Of real numbers the reciprocal is rounded once.
            Operand::Scalar(c) if c.im == 0.0 => Operand::Scalar(Complex64::from(c.re.recip())),
            Operand::Scalar(c) => Operand::Scalar(c.inv()),
            Operand::Vector(y) => {
                y.as_vector()?;
                Operand::Vector(y.flat().reciprocals().map_err(zero)?)
            }
        };
        self.product_with(py, x, &product)
    }
}

#[pymethods]
impl PyEvaluator {
    #[new]
    pub(crate) fn new(context: &PyContext, keys: &PyEvaluationKeys) -> PyResult<Self> {
        let plain = Evaluator::new(&context.0, Arc::new(keys.0.key().clone())).map_err(raise)?;
        Ok(Self::held(plain, None, None))
    }

    /// The context.
    #[getter]
    fn context(&self) -> PyContext {
        PyContext(self.plain.context().clone())
    }

    /// The evaluation keys.
    #[getter]
    fn keys(&self, py: Python<'_>) -> PyResult<Py<PyEvaluationKeys>> {
        PyEvaluationKeys::new(py, self.plain.context(), self.plain.keys().as_ref().clone())
    }

    /// An evaluator with these keys and more of the same secret, and with the bootstrapping and the switching of this one; see
    /// ``Context.evaluation_keys``.
    ///
    /// Raises ParameterMismatchError for keys of other parameters, KeyMismatchError for those of another secret.
    fn with_keys(&self, more: &PyEvaluationKeys) -> PyResult<Self> {
        let merged = Arc::new(key_sets::merged(self.plain.keys(), more.0.key())?);
        let bootstrapping = self.bootstrapping.as_ref().map(|known| known.with_keys(merged.clone())).transpose();
        let plain = Evaluator::new(self.plain.context(), merged).map_err(raise)?;
        Ok(Self::held(plain, bootstrapping.map_err(raise)?, self.switch.clone()))
    }

    /// The same ciphertext with operators that use this evaluator, where several are there.
    fn bind(&self, py: Python<'_>, x: &PyCiphertext) -> PyResult<PyCiphertext> {
        // Drops nothing, and refuses ciphertexts of other parameters or another secret.
        self.run(py, |ev| ev.drop_level(&x.inner, x.inner.level()))
    }

    /// x + y.
    fn add(&self, py: Python<'_>, x: &PyCiphertext, y: &Bound<'_, PyAny>) -> PyResult<PyCiphertext> {
        self.sum_with(py, x, &Operand::of(y)?)
    }

    /// x - y.
    fn sub(&self, py: Python<'_>, x: &PyCiphertext, y: &Bound<'_, PyAny>) -> PyResult<PyCiphertext> {
        self.difference_with(py, x, &Operand::of(y)?)
    }

    /// x * y, slot by slot; one level, but for a whole number y.
    fn mul(&self, py: Python<'_>, x: &PyCiphertext, y: &Bound<'_, PyAny>) -> PyResult<PyCiphertext> {
        self.product_with(py, x, &Operand::of(y)?)
    }

    /// -x.
    pub(crate) fn neg(&self, py: Python<'_>, x: &PyCiphertext) -> PyResult<PyCiphertext> {
        self.run(py, |ev| ev.neg(&*self.ready(&x.inner, 0)?))
    }

    /// x * x, faster than ``mul``; one level.
    fn square(&self, py: Python<'_>, x: &PyCiphertext) -> PyResult<PyCiphertext> {
        self.run(py, |ev| ev.square(&*self.ready(&x.inner, 1)?))
    }

    /// x times the imaginary unit; no level.
    fn mul_i(&self, py: Python<'_>, x: &PyCiphertext) -> PyResult<PyCiphertext> {
        self.run(py, |ev| ev.mul_i(&*self.ready(&x.inner, 0)?))
    }

    /// x * y for two ciphertexts, without the rescaling: no level, but the scales multiply; see ``rescale``.
    fn mul_no_rescale(&self, py: Python<'_>, x: &PyCiphertext, y: &PyCiphertext) -> PyResult<PyCiphertext> {
        self.run(py, |ev| ev.mul_no_rescale(&*self.ready(&x.inner, 1)?, &*self.ready(&y.inner, 1)?))
    }

    /// Divides the scale by the prime of the level, which is used up.
    fn rescale(&self, py: Python<'_>, x: &PyCiphertext) -> PyResult<PyCiphertext> {
        self.run(py, |ev| ev.rescale(&x.inner))
    }

    /// The same message at a lower level, at the canonical scale of that level.
    fn at_level(&self, py: Python<'_>, x: &PyCiphertext, level: Level) -> PyResult<PyCiphertext> {
        self.run(py, |ev| ev.at_level(&x.inner, level.get()))
    }

    /// The same message at a lower level, at the scale that it has.
    fn drop_level(&self, py: Python<'_>, x: &PyCiphertext, level: Level) -> PyResult<PyCiphertext> {
        self.run(py, |ev| ev.drop_level(&x.inner, level.get()))
    }

    /// Both ciphertexts at one level and scale, so that they can be added: what ScaleError asks for.
    fn align(&self, py: Python<'_>, x: &PyCiphertext, y: &PyCiphertext) -> PyResult<(PyCiphertext, PyCiphertext)> {
        let (x, y) = detached(py, || self.plain.align(&x.inner, &y.inner))?;
        Ok((self.wrap(x), self.wrap(y)))
    }

    /// Moves slot j + steps to slot j, around the end; ``numpy.roll(x, -steps)``.
    fn rotate(
        &self,
        py: Python<'_>,
        x: &PyCiphertext,
        #[pyo3(from_py_with = whole)] steps: isize,
    ) -> PyResult<PyCiphertext> {
        self.run(py, |ev| ev.rotate(&*self.ready(&x.inner, 0)?, steps))
    }

    /// Several rotations of one ciphertext, which share most of the work.
    fn rotate_many(&self, py: Python<'_>, x: &PyCiphertext, steps: Integers) -> PyResult<Vec<PyCiphertext>> {
        let all = detached(py, || self.plain.rotate_many(&*self.ready(&x.inner, 0)?, &steps.0))?;
        Ok(all.into_iter().map(|inner| self.wrap(inner)).collect())
    }

    /// The complex conjugate of every slot.
    fn conjugate(&self, py: Python<'_>, x: &PyCiphertext) -> PyResult<PyCiphertext> {
        self.run(py, |ev| ev.conjugate(&*self.ready(&x.inner, 0)?))
    }

    /// weights[0] * xs[0] + weights[1] * xs[1] + ... + constant, for real weights; one level for all together.
    #[pyo3(signature = (xs, weights, *, constant = 0.0))]
    fn weighted_sum(
        &self,
        py: Python<'_>,
        xs: Vec<Bound<'_, PyCiphertext>>,
        weights: &Bound<'_, PyAny>,
        constant: f64,
    ) -> PyResult<PyCiphertext> {
        let weights = Numbers::of(weights)?.into_real_vector()?;
        same_length(xs.len(), weights.len())?;
        Extent::check_all_fit(xs.iter().map(|x| x.get().inner.extent())).map_err(raise)?;
        let xs: Vec<_> = xs.iter().map(|x| &x.get().inner).collect();
        self.run(py, |ev| {
            let xs: Vec<_> = xs.iter().map(|x| self.ready(x, 1)).collect::<Result<_>>()?;
            let terms: Vec<_> = xs.iter().map(|x| &**x).zip(weights).collect();
            ev.weighted_sum(&terms, constant)
        })
    }

    /// xs[0] * ys[0] + xs[1] * ys[1] + ..., slot by slot; one level, and one key switch for all products.
    fn dot(
        &self,
        py: Python<'_>,
        xs: Vec<Bound<'_, PyCiphertext>>,
        ys: Vec<Bound<'_, PyCiphertext>>,
    ) -> PyResult<PyCiphertext> {
        same_length(xs.len(), ys.len())?;
        Extent::check_all_fit(xs.iter().chain(&ys).map(|x| x.get().inner.extent())).map_err(raise)?;
        let pairs: Vec<_> = xs.iter().zip(&ys).map(|(x, y)| (&x.get().inner, &y.get().inner)).collect();
        self.run(py, |ev| {
            let ready = |&(x, y): &(_, _)| Ok((self.ready(x, 1)?, self.ready(y, 1)?));
            let ready: Vec<_> = pairs.iter().map(ready).collect::<Result<_>>()?;
            let pairs: Vec<_> = ready.iter().map(|(x, y)| (&**x, &**y)).collect();
            ev.dot(&pairs)
        })
    }

    /// Slot j of the result is the sum of the slots j, j + stride, ..., j + (count - 1) * stride of x, around the end.
    ///
    /// count: None for all values; a sum of all values stands in the first slot, in every slot if they fill a period.
    ///
    /// Raises EncodingError if the slots reach over more than the values of x, or for a stride of 0.
    ///
    /// No level. Needs keys for ``rotations_of_sum(count, stride=stride, steps=steps)``.
    /// steps: how many steps the doublings take, for a power of two 1 to log2(count); fewer are faster up to a point, and
    /// need more keys. See ``Context.steps_of_sum``; chosen if left out.
    #[pyo3(signature = (x, count = None, *, stride = 1, steps = None))]
    pub(crate) fn sum(
        &self,
        py: Python<'_>,
        x: &PyCiphertext,
        #[pyo3(from_py_with = whole)] count: Option<i64>,
        #[pyo3(from_py_with = whole)] stride: i64,
        #[pyo3(from_py_with = whole)] steps: Option<usize>,
    ) -> PyResult<PyCiphertext> {
        let terms = Terms::new(count, stride, x.inner.extent(), x.inner.slots()).map_err(raise)?;
        self.run(py, |_| on_either!(self, ev => terms.sum(ev, &x.inner, steps)))
    }

    /// The mean of the values of x, each of which counts once: ``sum(x)`` over their number. One level, and the keys of ``sum``.
    pub(crate) fn mean(&self, py: Python<'_>, x: &PyCiphertext) -> PyResult<PyCiphertext> {
        let sum = self.sum(py, x, None, 1, None)?;
        self.quotient_with(py, &sum, &Operand::Integer(x.inner.extent().values() as i64))
    }

    /// Slot j of the result is the product of the slots j, j + stride, ..., j + (count - 1) * stride of x, around the end.
    ///
    /// count: None for all values; a product of all values stands in the first slot, in every slot if they fill a period.
    ///     A power of two takes the fewest products: pad values with ones.
    ///
    /// Raises EncodingError if the slots reach over more than the values of x, or for a stride of 0.
    ///
    /// ceil(log2(count)) levels. Needs keys for ``rotations_of_product(count, stride=stride)``.
    #[pyo3(signature = (x, count = None, *, stride = 1))]
    fn product(
        &self,
        py: Python<'_>,
        x: &PyCiphertext,
        #[pyo3(from_py_with = whole)] count: Option<i64>,
        #[pyo3(from_py_with = whole)] stride: i64,
    ) -> PyResult<PyCiphertext> {
        let factors = Terms::new(count, stride, x.inner.extent(), x.inner.slots()).map_err(raise)?;
        self.run(py, |_| on_either!(self, ev => factors.product(ev, &x.inner)))
    }

    /// A polynomial of every slot, with real coefficients, lowest first: ceil(log2(len(coefficients))) levels.
    ///
    /// basis: "power", or "chebyshev" for coefficients of Chebyshev polynomials, as numpy.polynomial.chebyshev has them,
    /// for slots in [-1, 1].
    /// interval: all slots are in [a, b], which is mapped to [-1, 1] before, for one level more.
    #[pyo3(signature = (x, coefficients, *, basis = "power", interval = None))]
    fn polynomial(
        &self,
        py: Python<'_>,
        x: &PyCiphertext,
        coefficients: &Bound<'_, PyAny>,
        basis: &str,
        interval: Option<(f64, f64)>,
    ) -> PyResult<PyCiphertext> {
        let coefficients = Numbers::of(coefficients)?.into_real_vector()?;
        let polynomial = match basis {
            "power" => Polynomial::power(coefficients),
            "chebyshev" => Polynomial::chebyshev(coefficients),
            _ => {
                return Err(PyValueError::new_err(format!(
                    "basis must be \"power\" or \"chebyshev\", found {basis:?}"
                )));
            }
        }
        .map_err(raise)?;
        self.run(py, |_| {
            on_either!(self, ev => match interval {
                None => polynomial.evaluate(ev, &x.inner),
                Some((low, high)) => polynomial.evaluate_on(ev, &x.inner, [low, high]),
            })
        })
    }

    /// matrix @ x, for a real matrix of shape (rows, columns) and a vector of `columns` values; one level.
    ///
    /// Needs keys for ``rotations_of_matrix(matrix)``, whatever the slots of x. Vectors that repeat take fewer, those of
    /// ``rotations_of_matrix(matrix, slots=p)``: encrypt with ``repeat=True``, or with p slots, where p is the power of two
    /// from the number of values on.
    ///
    /// Raises EncodingError unless there are as many columns as values; see ``Ciphertext.with_length``.
    pub(crate) fn matvec(&self, py: Python<'_>, matrix: &Bound<'_, PyAny>, x: &PyCiphertext) -> PyResult<PyCiphertext> {
        let matrix = dense(matrix)?;
        x.inner.extent().check_columns(matrix.columns(), None).map_err(raise)?;
        self.run(py, |_| on_either!(self, ev => matrix.apply(ev, &x.inner))?.with_length(Some(matrix.rows())))
    }

    /// The evaluator with bootstrapping: what has too few levels for an operation is bootstrapped before it.
    ///
    /// ``levels_left`` says when. The same ciphertext is bootstrapped once. Results have stated magnitudes that
    /// products multiply, and bootstrapping takes at most 1024: a program that knows better says so with
    /// ``Ciphertext.with_magnitude``. Rotation keys that serve up to the level of results are enough.
    ///
    /// failure_budget: the base-two logarithm of the largest probability with which any bootstrap may fail; what would exceed it
    /// raises Error.
    ///
    /// Raises ParameterMismatchError for a bootstrapper of other parameters.
    #[pyo3(signature = (bootstrapper, *, failure_budget = None))]
    fn with_bootstrapping(&self, bootstrapper: &PyBootstrapper, failure_budget: Option<f64>) -> PyResult<Self> {
        let log2_failure = budget(failure_budget)?;
        let bootstrapping = self.plain.with_bootstrapping(bootstrapper.inner.clone());
        let bootstrapping = bootstrapping.and_then(|bootstrapping| bootstrapping.with_failure_budget(log2_failure));
        let bootstrapping = bootstrapping.map_err(raise)?;
        Ok(Self::held(self.plain.clone(), Some(bootstrapping), self.switch.clone()))
    }

    /// The evaluator with comparisons: ``sign``, ``less``, ``maximum``, ``minimum``, ``relu``, the operators ``<`` and ``>``, and
    /// the functions of numpy of these names.
    ///
    /// With bootstrapping too, operands get the levels that these take; without, they must have them.
    ///
    /// Raises ParameterMismatchError for a switch of other parameters, KeyMismatchError for one of another secret.
    fn with_switching(&self, switch: &PySwitch) -> PyResult<Self> {
        self.plain.keys().owner().check(&switch.inner.bootstrapper().owner(), "the switch").map_err(raise)?;
        Ok(Self::held(self.plain.clone(), self.bootstrapping.clone(), Some(switch.inner.clone())))
    }

    /// 1 for positive numbers, -1 for negative ones, at the level of results of bootstrapping.
    ///
    /// Nearer to 0 than the dead zone, which ``switching.Switch.sign`` tells, it may be either. Raises MissingKeyError for an evaluator
    /// without switching, and what ``switching.Switch.sign`` raises.
    fn sign(&self, py: Python<'_>, x: &PyCiphertext) -> PyResult<PyCiphertext> {
        self.sign_of(py, x).map(|decision| self.wrap(decision.result))
    }

    /// 1 where x < y, 0 elsewhere: ``x < y``. Raises what ``sign`` raises.
    fn less(&self, py: Python<'_>, x: &PyCiphertext, y: &Bound<'_, PyAny>) -> PyResult<PyCiphertext> {
        self.less_than(py, x, &Operand::of(y)?).map(|decision| self.wrap(decision.result))
    }

    /// The larger of x and y, slot by slot. In the dead zone it may be the smaller one, which the error bound counts.
    ///
    /// Uses a level of x and y. Raises what ``sign`` raises.
    fn maximum(&self, py: Python<'_>, x: &PyCiphertext, y: &Bound<'_, PyAny>) -> PyResult<PyCiphertext> {
        self.larger(py, x, &Operand::of(y)?)
    }

    /// The smaller of x and y, slot by slot; as ``maximum``.
    fn minimum(&self, py: Python<'_>, x: &PyCiphertext, y: &Bound<'_, PyAny>) -> PyResult<PyCiphertext> {
        self.smaller(py, x, &Operand::of(y)?)
    }

    /// max(x, 0), slot by slot. Uses a level of x. Raises what ``sign`` raises.
    fn relu(&self, py: Python<'_>, x: &PyCiphertext) -> PyResult<PyCiphertext> {
        self.rectified(py, x)
    }

    /// x where the condition is 1, y where it is 0: y + condition * (x - y); one level.
    ///
    /// condition: a Ciphertext of zeros and ones, such as of a comparison. x, y: each a Ciphertext, a number or a vector.
    pub(crate) fn r#where(
        &self,
        py: Python<'_>,
        condition: &PyCiphertext,
        x: &Bound<'_, PyAny>,
        y: &Bound<'_, PyAny>,
    ) -> PyResult<PyCiphertext> {
        self.chosen(py, condition, x, y)
    }

    /// The same message at the level of results of bootstrapping; as it is, if it is there.
    ///
    /// Raises MissingKeyError for an evaluator without bootstrapping, LevelError for a ciphertext below the level that
    /// bootstrapping takes, Error for a stated magnitude above 1024.
    fn bootstrap(&self, py: Python<'_>, x: &PyCiphertext) -> PyResult<PyCiphertext> {
        let Some(bootstrapping) = &self.bootstrapping else {
            return Err(MissingKeyError::new_err("the evaluator has no bootstrapping: use with_bootstrapping first"));
        };
        self.run(py, |_| bootstrapping.bootstrap(&x.inner))
    }

    /// How many products can follow one another on x before it is bootstrapped; without bootstrapping, its level.
    fn levels_left(&self, x: &PyCiphertext) -> usize {
        self.bootstrapping.as_ref().map_or_else(|| x.inner.level(), |bootstrapping| bootstrapping.levels_left(&x.inner))
    }

    /// How many bootstraps there were, of this evaluator and its ciphertexts.
    #[getter]
    fn bootstraps(&self) -> u64 {
        self.bootstrapping.as_ref().map_or(0, BootstrappingEvaluator::bootstraps)
    }

    /// The base-two logarithm of a bound on the probability that any of these was wrong; -inf for none.
    #[getter]
    fn log2_failure(&self) -> f64 {
        self.bootstrapping.as_ref().map_or(f64::NEG_INFINITY, BootstrappingEvaluator::log2_failure)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<EvaluatorPickle<'py, PyContext, PyEvaluationKeys>> {
        if self.bootstrapping.is_some() || self.switch.is_some() {
            return Err(PyTypeError::new_err(
                "an evaluator with bootstrapping or switching cannot be pickled: load the file of its keys where it is needed",
            ));
        }
        Ok((py.get_type::<Self>(), (self.context(), self.keys(py)?)))
    }

    fn __repr__(&self) -> String {
        let (n, keys) = (self.plain.context().parameters().degree(), self.plain.keys());
        let name = match (&self.bootstrapping, &self.switch) {
            (None, None) => "Evaluator",
            (Some(_), None) => "Evaluator with bootstrapping",
            (None, Some(_)) => "Evaluator with switching",
            (Some(_), Some(_)) => "Evaluator with bootstrapping and switching",
        };
        display::key(name, &format!("n={n}"), &**keys)
    }
}
