//! `Switch`: from slots to samples of TFHE and back, with functions between.

use std::sync::Arc;

use noren::bootstrapping::Mode;
use noren::ckks::Ciphertext;
use noren::error::Result;
use noren::switching::{Context, Decision, Extreme, Readout, SchemeSwitch, Steps};
use noren::tfhe::Evaluator;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::array::{Numbers, detached, detached_by};
use crate::bootstrapping::bootstrapper::PyBootstrapper;
use crate::ckks::classes::{PyCiphertext, PyEvaluator};
use crate::ckks::operand::Operand;
use crate::errors::{EncodingError, Error, raise, raise_of_switching};
use crate::progress::Heard;
use crate::switching::keys::PySwitchingKeys;
use crate::switching::parameters::PySwitchingParameters;
use crate::switching::results::{PyDecision, PyExtreme, PySamples};
use crate::switching::variation::variation_of;
use crate::tfhe::classes::PyTfheEvaluator;
use crate::tfhe::keys::AnyServerKeys;
use crate::whole::whole;

/// The evaluator that bootstraps samples.
#[derive(FromPyObject)]
enum TfheSide<'py> {
    #[pyo3(annotation = "tfhe.Evaluator")]
    Evaluator(Bound<'py, PyTfheEvaluator>),
    #[pyo3(annotation = "tfhe.ServerKeys")]
    Keys(AnyServerKeys<'py>),
}

/// Compares encrypted real numbers, and computes any function of them: every slot becomes a sample of TFHE, a bootstrap decides,
/// and the results come back as slots with new levels. Shared between threads.
///
/// tfhe: the server keys of TFHE, or an evaluator of them, whose failure budget counts.
/// steps: 1, or 3: signs take three bootstraps each, and dead zones are smaller.
/// log2_failure: of the probability that a result is wrong outside its dead zone, -500 to -20; None for -64. A larger
///     one makes dead zones smaller.
/// progress: called with (done, of) while keys are expanded. What it raises ends the work.
///
/// Operands may be at any level from ``bootstrapping.Parameters.input_level`` up. What a ciphertext says of its range counts: the
/// narrower it is (``Ciphertext.with_range``), the smaller is the dead zone. Where a method takes an operand `y`, this is a
/// Ciphertext, a Plaintext, a number or a vector. ``ckks.Evaluator.with_switching`` gives the same to operators.
///
/// Raises ParameterMismatchError and KeyMismatchError for keys of other parameters or owners, Error for a bootstrapper of other
/// slots or of another mode than "real".
///
/// >>> from noren import bootstrapping, ckks, switching, tfhe
/// >>> params = switching.Parameters("toy", "TOY_SWITCH")  # without security, for an example
/// >>> ctx, tfhe_ctx = ckks.Context(params.bootstrapping.ckks), tfhe.Context(params.tfhe)
/// >>> keys, tfhe_keys = ctx.keygen(), tfhe_ctx.keygen()
/// >>> boot_keys = bootstrapping.BootstrapKeys.generate(params.bootstrapping, keys.secret)
/// >>> switch_keys = switching.SwitchingKeys.generate(params, keys.secret, tfhe_keys.secret)
/// >>> switch = switching.Switch(bootstrapping.Bootstrapper(boot_keys), tfhe_keys.server, switch_keys)
/// >>> x = ctx.encrypt([0.5, -0.25, 0.75], keys.public, slots=4, within=(-1, 1))
/// >>> decision = switch.less(x, 0.6)
/// >>> ctx.decrypt(decision.result, keys.secret).round(2).tolist(), decision.dead_zone < 0.06
/// ([1.0, 1.0, 0.0], True)
#[pyclass(frozen, name = "Switch", module = "noren.switching")]
pub(crate) struct PySwitch {
    /// With the keys of bootstrapping.
    evaluator: PyEvaluator,
    pub(crate) inner: Arc<SchemeSwitch>,
}

impl PySwitch {
    /// A ciphertext with the evaluator that the operand has, or that of the switch.
    fn wrap(&self, x: &PyCiphertext, inner: Ciphertext) -> PyCiphertext {
        let evaluator = x.evaluator.clone().unwrap_or_else(|| self.evaluator.clone());
        PyCiphertext::new(x.home(), inner, Some(evaluator))
    }

    fn decision(&self, py: Python<'_>, x: &PyCiphertext, decision: Decision) -> PyResult<PyDecision> {
        let Decision { result, dead_zone, log2_failure } = decision;
        Ok(PyDecision { result: Py::new(py, self.wrap(x, result))?, dead_zone, log2_failure })
    }

    /// One of the slots, of as many as are asked for or have values.
    fn extreme(
        &self,
        py: Python<'_>,
        x: &PyCiphertext,
        count: Option<usize>,
        find: impl FnOnce(&SchemeSwitch, &Ciphertext, usize) -> Result<Extreme> + Send,
    ) -> PyResult<PyExtreme> {
        let count = count.unwrap_or_else(|| x.inner.extent().values());
        let Extreme { value, index, dead_zone, log2_failure } =
            detached_by(py, raise_of_switching, || find(&self.inner, &x.inner, count))?;
        let [value, index] = [value, index].map(|inner| Py::new(py, self.wrap(x, inner)));
        Ok(PyExtreme { value: value?, index: index?, dead_zone, log2_failure })
    }

    fn run(
        &self,
        py: Python<'_>,
        x: &PyCiphertext,
        work: impl FnOnce(&SchemeSwitch) -> Result<Ciphertext> + Send,
    ) -> PyResult<PyCiphertext> {
        detached(py, || work(&self.inner)).map(|inner| self.wrap(x, inner))
    }
}

#[pymethods]
impl PySwitch {
    #[new]
    #[pyo3(signature = (bootstrapper, tfhe, keys, *, steps = 1, log2_failure = None, progress = None))]
    fn new(
        py: Python<'_>,
        bootstrapper: &PyBootstrapper,
        tfhe: TfheSide<'_>,
        keys: &PySwitchingKeys,
        #[pyo3(from_py_with = whole)] steps: usize,
        log2_failure: Option<f64>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let steps = match steps {
            1 => Steps::One,
            3 => Steps::Three,
            found => return Err(PyValueError::new_err(format!("steps must be 1 or 3, found {found}"))),
        };
        let mode = bootstrapper.inner.mode();
        if mode != Mode::Real {
            return Err(Error::new_err(format!(
                "the bootstrapper is of mode {:?}, \"real\" is needed: comparisons and functions are of real numbers; make another \
                 one of the same keys",
                mode.name()
            )));
        }
        let heard = Heard::new(progress);
        let tfhe = match tfhe {
            TfheSide::Evaluator(evaluator) => evaluator.get().inner.columns.digits().clone(),
            TfheSide::Keys(keys) => {
                let context = keys.context();
                let keys = keys.expanded(py, &context, &heard)?;
                Evaluator::new(&context, keys).map_err(raise)?
            }
        };
        let (bootstrapper, file) = (bootstrapper.inner.clone(), &keys.0);
        let plain = bootstrapper.evaluator().clone();
        let inner = heard.follow(py, raise, || {
            let context = Context::new(&file.parameters, plain.context(), tfhe.context())?;
            let keys = Arc::new(context.expand(&file.keys)?);
            SchemeSwitch::new(&context, bootstrapper, &tfhe, keys)?
                .with_steps(steps)
                .with_failure(log2_failure.unwrap_or(Decision::LOG2_FAILURE))
        })?;
        let inner = Arc::new(inner);
        let switch = Some(inner.clone());
        Ok(Self { evaluator: PyEvaluator { plain, bootstrapping: None, switch, registration: None }, inner })
    }

    /// The parameters of both schemes.
    #[getter]
    fn parameters(&self) -> PySwitchingParameters {
        PySwitchingParameters(self.inner.context().parameters().clone())
    }

    /// In how many bootstraps a sign is decided: 1 or 3.
    #[getter]
    fn steps(&self) -> usize {
        match self.inner.steps() {
            Steps::One => 1,
            Steps::Three => 3,
        }
    }

    /// The base-two logarithm of how likely a result is wrong outside its dead zone.
    #[getter]
    fn log2_failure(&self) -> f64 {
        self.inner.failure()
    }

    /// 1 for positive numbers, -1 for negative ones.
    ///
    /// Raises RangeError for a ciphertext that may be complex, ParameterMismatchError and KeyMismatchError for one of others,
    /// EncodingError for more slots than are bootstrapped, LevelError for too few levels.
    fn sign(&self, py: Python<'_>, x: &PyCiphertext) -> PyResult<PyDecision> {
        let decision = detached(py, || self.inner.sign(&x.inner))?;
        self.decision(py, x, decision)
    }

    /// 1 for positive numbers, 0 for negative ones. Raises what ``sign`` raises.
    fn is_positive(&self, py: Python<'_>, x: &PyCiphertext) -> PyResult<PyDecision> {
        let decision = detached(py, || self.inner.is_positive(&x.inner))?;
        self.decision(py, x, decision)
    }

    /// 1 where x < y, 0 elsewhere. Raises what ``sign`` raises.
    fn less(&self, py: Python<'_>, x: &PyCiphertext, y: &Bound<'_, PyAny>) -> PyResult<PyDecision> {
        let decision = self.evaluator.less_than(py, x, &Operand::of(y)?)?;
        self.decision(py, x, decision)
    }

    /// The larger of x and y, slot by slot. In the dead zone it may be the smaller one, which the error bound counts.
    ///
    /// Uses a level of x and y. Raises what ``sign`` raises.
    fn maximum(&self, py: Python<'_>, x: &PyCiphertext, y: &Bound<'_, PyAny>) -> PyResult<PyCiphertext> {
        let larger = self.evaluator.larger(py, x, &Operand::of(y)?)?;
        Ok(self.wrap(x, larger.inner))
    }

    /// The smaller of x and y, slot by slot; as ``maximum``.
    fn minimum(&self, py: Python<'_>, x: &PyCiphertext, y: &Bound<'_, PyAny>) -> PyResult<PyCiphertext> {
        let smaller = self.evaluator.smaller(py, x, &Operand::of(y)?)?;
        Ok(self.wrap(x, smaller.inner))
    }

    /// max(x, 0), slot by slot. In the dead zone it may be 0 or x, which the error bound counts. Raises what ``sign`` raises.
    fn relu(&self, py: Python<'_>, x: &PyCiphertext) -> PyResult<PyCiphertext> {
        self.run(py, x, |switch| switch.relu(&x.inner))
    }

    /// x where the condition is 1, y where it is 0, such as of a comparison: y + condition * (x - y); one level.
    ///
    /// x, y: each a Ciphertext, a number or a vector.
    fn r#where(
        &self,
        py: Python<'_>,
        condition: &PyCiphertext,
        x: &Bound<'_, PyAny>,
        y: &Bound<'_, PyAny>,
    ) -> PyResult<PyCiphertext> {
        let chosen = self.evaluator.chosen(py, condition, x, y)?;
        Ok(self.wrap(condition, chosen.inner))
    }

    /// 1 for numbers above `least`, 0 for those below. Raises what ``sign`` raises.
    fn threshold(&self, py: Python<'_>, x: &PyCiphertext, least: f64) -> PyResult<PyDecision> {
        let decision = detached(py, || self.inner.threshold(&x.inner, least))?;
        self.decision(py, x, decision)
    }

    /// The nearest whole number, of numbers from 0 to p - 1; as ``lookup``.
    fn round(&self, py: Python<'_>, x: &PyCiphertext) -> PyResult<PyCiphertext> {
        self.run(py, x, |switch| switch.round(&x.inner))
    }

    /// Any function of whole numbers from 0 to p - 1, for the p = 2^(message_bits + carry_bits) of the TFHE set.
    ///
    /// f: a function of one int, or a list of its p values. Values of two kinds alone, such as 0 and 1, come back most precisely.
    ///
    /// Slots need not be whole to the last bit: the nearest whole number counts. Raises Error where the range that x states is
    /// not from 0 to p - 1, or its error bound too large; EncodingError for another number of values; what f raises; and what
    /// ``sign`` raises.
    fn lookup(&self, py: Python<'_>, x: &PyCiphertext, f: &Bound<'_, PyAny>) -> PyResult<PyCiphertext> {
        let size = self.inner.context().tfhe().parameters().encoding().size();
        let values: Vec<f64> = if f.is_callable() {
            (0..size).map(|z| f.call1((z,))?.extract()).collect::<PyResult<_>>()?
        } else {
            Numbers::of(f)?.into_real_vector()?
        };
        if values.len() as u64 != size {
            let found = values.len();
            return Err(EncodingError::new_err(format!(
                "a list of {found} values was given, {size} are needed: one for each number from 0 to {}",
                size - 1
            )));
        }
        self.run(py, x, |switch| switch.lookup(&x.inner, |z| values[z as usize]))
    }

    /// Any function of real numbers in the range that x states, with the few bits that one bootstrap tells apart.
    ///
    /// f: a function of one float, asked at some thousand points of the range. What it does between them the caller states:
    /// monotone: True if f only rises or only falls in the range; else the numbers where it turns or jumps, such as the steps of a
    ///     table, between which it only rises or only falls.
    /// lipschitz: a number L such that abs(f(a) - f(b)) <= L * abs(a - b), in place of `monotone`.
    ///     Neither is needed for ``abs`` and functions of numpy and ``math`` of which it is known: np.tanh, np.exp, np.sin, ...
    ///
    /// The error bound of the result counts by how much f changes between numbers that are not told apart; a narrower range
    /// makes it smaller. Raises Error where nothing is stated of f, or something that its values contradict; what f raises;
    /// EncodingError for a value that is not finite; and what ``sign`` raises.
    #[pyo3(signature = (x, f, *, monotone = None, lipschitz = None))]
    fn function(
        &self,
        py: Python<'_>,
        x: &PyCiphertext,
        f: Bound<'_, PyAny>,
        monotone: Option<&Bound<'_, PyAny>>,
        lipschitz: Option<f64>,
    ) -> PyResult<PyCiphertext> {
        let variation = variation_of(&f, monotone, lipschitz)?;
        let (heard, f) = (Heard::new(None), f.unbind());
        let ask = |z: f64| {
            if heard.stopped() {
                return f64::NAN;
            }
            let value = Python::attach(|py| f.call1(py, (z,))?.extract::<f64>(py));
            value.unwrap_or_else(|error| {
                heard.stop(error);
                f64::NAN
            })
        };
        let inner = heard.follow(py, raise, || self.inner.function(&x.inner, &variation, ask))?;
        Ok(self.wrap(x, inner))
    }

    /// The smallest of the values of x, and its number: log2(count) rounds of comparisons.
    ///
    /// count: of how many slots, None for all values.
    ///
    /// Needs keys for ``rotations_of_extremes(count)`` among those of bootstrapping (``BootstrapKeys.generate_file``). Raises
    /// MissingKeyError without, EncodingError for more slots than there are, and what ``sign`` raises.
    #[pyo3(signature = (x, count = None))]
    fn argmin(
        &self,
        py: Python<'_>,
        x: &PyCiphertext,
        #[pyo3(from_py_with = whole)] count: Option<usize>,
    ) -> PyResult<PyExtreme> {
        self.extreme(py, x, count, SchemeSwitch::argmin)
    }

    /// The largest of the values of x, and its number; as ``argmin``.
    #[pyo3(signature = (x, count = None))]
    fn argmax(
        &self,
        py: Python<'_>,
        x: &PyCiphertext,
        #[pyo3(from_py_with = whole)] count: Option<usize>,
    ) -> PyResult<PyExtreme> {
        self.extreme(py, x, count, SchemeSwitch::argmax)
    }

    /// How many of the values of x are smaller, for each of them: count (count - 1) / 2 comparisons at once.
    ///
    /// count: of how many slots, None for all values.
    ///
    /// Of numbers that are nearer to each other than the dead zone either may count as the smaller one. Needs keys for
    /// ``rotations_of_ranks(count, slots)`` among those of bootstrapping of so many slots (``BootstrapKeys.generate_file``). Raises
    /// MissingKeyError without, EncodingError for more slots than there are, and what ``sign`` raises.
    #[pyo3(signature = (x, count = None))]
    fn rank(
        &self,
        py: Python<'_>,
        x: &PyCiphertext,
        #[pyo3(from_py_with = whole)] count: Option<usize>,
    ) -> PyResult<PyDecision> {
        let count = count.unwrap_or_else(|| x.inner.extent().values());
        let decision = detached_by(py, raise_of_switching, || self.inner.rank(&x.inner, count))?;
        self.decision(py, x, decision)
    }

    /// 1 for the `most` largest values of x, 0 for the others; as ``rank``.
    ///
    /// Raises EncodingError if `most` is not from 1 to count - 1, and what ``rank`` raises.
    #[pyo3(signature = (x, most, count = None))]
    fn top(
        &self,
        py: Python<'_>,
        x: &PyCiphertext,
        #[pyo3(from_py_with = whole)] most: usize,
        #[pyo3(from_py_with = whole)] count: Option<usize>,
    ) -> PyResult<PyDecision> {
        let count = count.unwrap_or_else(|| x.inner.extent().values());
        let decision = detached_by(py, raise_of_switching, || self.inner.top(&x.inner, count, most))?;
        self.decision(py, x, decision)
    }

    /// The values of x as samples of TFHE, of which one of size 1 is `part` of the circle.
    ///
    /// Raises Error where `part` times a value may leave the circle, and what ``sign`` raises.
    fn down(&self, py: Python<'_>, x: &PyCiphertext, part: f64) -> PyResult<PySamples> {
        detached(py, || self.inner.down(&x.inner, part)).map(PySamples)
    }

    /// The signs of samples, as samples that are a quarter of the circle from 0 on either side: ``up(signs, bits=True)``.
    ///
    /// Raises ParameterMismatchError and KeyMismatchError for samples of others.
    fn signs(&self, py: Python<'_>, samples: &PySamples) -> PyResult<PySamples> {
        detached(py, || self.inner.signs(&samples.0)).map(PySamples)
    }

    /// Samples as slots: of a phase p the slot is sin(2 pi p).
    ///
    /// bits: whether all phases are a quarter of the circle from 0, so that errors of phases count in their squares. Of a number
    ///     of samples that is no power of two the slots up to the next one hold 0, about which they do not.
    ///
    /// Raises EncodingError for no samples, or more than slots hold; ParameterMismatchError and KeyMismatchError for others'.
    #[pyo3(signature = (samples, *, bits = false))]
    fn up(&self, py: Python<'_>, samples: &PySamples, bits: bool) -> PyResult<PyCiphertext> {
        let readout = if bits { Readout::Bits } else { Readout::Real };
        let inner = detached(py, || self.inner.up(&samples.0, readout))?;
        Ok(self.evaluator.wrap(inner))
    }

    fn __repr__(&self) -> String {
        format!("Switch({}, steps={})", self.parameters().__repr__(), self.steps())
    }
}

/// The rotations whose keys ``Switch.argmin`` and ``Switch.argmax`` of so many slots need.
#[pyfunction]
pub(crate) fn rotations_of_extremes(#[pyo3(from_py_with = whole)] count: usize) -> Vec<isize> {
    SchemeSwitch::rotations_of_extremes(count)
}

/// The rotations whose keys ``Switch.rank`` and ``Switch.top`` of so many slots need, where `slots` are bootstrapped.
#[pyfunction]
pub(crate) fn rotations_of_ranks(
    #[pyo3(from_py_with = whole)] count: usize,
    #[pyo3(from_py_with = whole)] slots: usize,
) -> PyResult<Vec<isize>> {
    if !(1..=slots).contains(&count) {
        return Err(EncodingError::new_err(format!("there are {count} slots to rank: needs 1 to {slots}")));
    }
    Ok(SchemeSwitch::rotations_of_ranks(count, slots))
}
