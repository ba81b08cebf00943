//! `LookupPlan`, `LookupKeys`, `PreparedLookup`: functions of encrypted integers, by their tables.

use std::path::PathBuf;
use std::sync::Arc;

use noren::Resources;
use noren::bfv::Ciphertext;
use noren::lookup::LookupKeyFile;
use noren::lookup::{Function, Line, Lookup, LookupPlan};
use noren::wire::{Limits, Object};
use numpy::{IntoPyArray, PyArray1, PyArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::admission::{USUAL, admit};
use crate::array::{detached, detached_by};
use crate::errors::{EncodingError, raise, raise_of_integers};
use crate::files::{limits, save_keys};
use crate::integers::classes::{PyEncrypted, PyIntegerContext, PyIntegerEvaluator};
use crate::integers::either::{Either, other_class};
use crate::integers::keys::{PyIntegerEvaluationKeys, PyIntegerSecretKey};
use crate::integers::parameters::PyIntegerParameters;
use crate::integers::plaintext::WholeNumbers;
use crate::key_classes::KeyClass;
use crate::pickle::{Pickle, Shared, Threading, bytes_of, shared_context};
use crate::progress::Heard;
use crate::seeds::seed_of;
use crate::whole::whole;

/// How many numbers x and y there are.
fn domain_of(sizes: &Bound<'_, PyAny>) -> PyResult<[usize; 2]> {
    match sizes.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>() {
        Ok((x, y)) => Ok([whole(&x)?, whole(&y)?]),
        Err(_) => Ok([whole(sizes)?, 1]),
    }
}

/// The layout of numbers in slots and the costs that lookups of all functions of one domain share.
///
/// parameters: those of the ciphertexts; t must be a prime with slots, up to 65537.
/// domain: how many numbers x and y there are, from 0 on: (X, Y), or X for functions of one number. Up to t each.
///
/// Raises Error if t or the domain do not suit, or the modulus is too small for the noise. Can be pickled.
///
/// >>> from noren import bfv
/// >>> params = bfv.Parameters(10, 12289, [50] * 10, [50] * 2, security=None)  # a small ring, for an example
/// >>> plan = bfv.LookupPlan(params, domain=(128, 100))
/// >>> plan.queries, plan.matrix_bytes
/// (8, 524288)
/// >>> plan.gather(plan.spread([5, 127, 0]))[:3]
/// array([  5, 127,   0])
#[pyclass(frozen, eq, name = "LookupPlan", module = "noren.bfv")]
pub(crate) struct PyLookupPlan(pub(crate) LookupPlan);

impl PartialEq for PyLookupPlan {
    fn eq(&self, other: &Self) -> bool {
        self.0.parameters() == other.0.parameters() && self.0.layout() == other.0.layout()
    }
}

#[pymethods]
impl PyLookupPlan {
    #[new]
    fn new(parameters: &PyIntegerParameters, #[pyo3(from_py_with = domain_of)] domain: [usize; 2]) -> PyResult<Self> {
        LookupPlan::new(&parameters.0, domain).map(Self).map_err(raise)
    }

    /// The parameters of the ciphertexts.
    #[getter]
    fn parameters(&self) -> PyIntegerParameters {
        PyIntegerParameters(self.0.parameters().clone())
    }

    /// How many numbers x and y there are.
    #[getter]
    fn domain(&self) -> (usize, usize) {
        self.0.layout().domain().into()
    }

    /// How many pairs of numbers one pair of ciphertexts holds.
    #[getter]
    fn queries(&self) -> usize {
        self.0.layout().queries()
    }

    /// How many primes the modulus has while the matrix is multiplied.
    #[getter]
    fn limbs(&self) -> usize {
        self.0.limbs()
    }

    /// The predicted noise budget of a result, in bits.
    #[getter]
    fn noise_budget(&self) -> f64 {
        self.0.noise().budget(self.0.layout().degree())
    }

    /// The bytes of a prepared function, in memory and in a file; one that needs no matrix takes far less.
    #[getter]
    fn matrix_bytes(&self) -> u64 {
        self.0.matrix_bytes()
    }

    /// The bytes of the keys of lookups in memory.
    #[getter]
    fn key_bytes(&self) -> u64 {
        self.0.key_bytes()
    }

    /// About the bytes that looking up takes in memory: prepared function, keys, and what lives on the way for ``pairs`` pairs of
    /// ciphertexts at once.
    #[pyo3(signature = (pairs = 1))]
    fn memory_bytes(&self, #[pyo3(from_py_with = whole)] pairs: usize) -> u64 {
        (self.matrix_bytes() + self.key_bytes()).saturating_add(self.0.working_bytes(pairs))
    }

    /// Raises Error if this machine has not the memory for a prepared function, or the disk of the directory not the room,
    /// with both numbers.
    #[pyo3(signature = (directory = PathBuf::from(".")), text_signature = "($self, directory='.')")]
    fn check(&self, directory: PathBuf) -> PyResult<()> {
        self.0.check(&Resources::of_machine(&directory)).map_err(raise)
    }

    /// Numbers as they are encrypted for lookups: each in as many slots as it needs. At most `queries` numbers.
    ///
    /// axis: 0 for numbers x, 1 for numbers y; their domains may differ. Returns int64, shape (n,), for ``Context.encrypt``: as it
    ///     is. Parts and copies of it are numbers like any others, which lookups refuse.
    ///
    /// Raises EncodingError for too many numbers, or one outside the domain.
    #[pyo3(signature = (numbers, *, axis = 0))]
    fn spread<'py>(
        &self,
        py: Python<'py>,
        numbers: &Bound<'py, PyAny>,
        #[pyo3(from_py_with = whole)] axis: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let layout = self.0.layout();
        let size = layout.domain().get(axis).copied();
        let size =
            size.ok_or_else(|| PyValueError::new_err(format!("axis is {axis}, it must be 0 for x or 1 for y")))?;
        let numbers = WholeNumbers::of(numbers)?;
        let entries = numbers.as_vector()?;
        if let Some((index, number)) = entries.iter().enumerate().find(|(_, number)| **number < 0) {
            return Err(EncodingError::new_err(format!("number {index} is {number}, 0 or more is needed to look up")));
        }
        let entries: Vec<usize> = entries.iter().map(|&number| number as usize).collect();
        let slots = layout.spread(&entries, size).map_err(raise)?;
        let spread = py.import("noren._lookup")?.getattr("Spread")?;
        spread.call_method1("of", (slots.into_pyarray(py), layout.stretch()))
    }

    /// The results of all queries, in order, among the numbers of a decrypted result: int64, shape (queries,).
    ///
    /// Raises EncodingError unless there is a number for each slot.
    fn gather<'py>(&self, py: Python<'py>, slots: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let (numbers, degree) = (WholeNumbers::of(slots)?, self.0.layout().degree());
        if numbers.entries.len() != degree {
            let message =
                format!("{} numbers were given, {degree} are needed: all slots of a result", numbers.entries.len());
            return Err(EncodingError::new_err(message));
        }
        let stretch = self.0.layout().stretch();
        Ok(numbers.entries.into_iter().step_by(stretch).collect::<Vec<i64>>().into_pyarray(py))
    }

    /// Makes the keys that lookups need, for all functions with this plan; nothing in them decrypts.
    ///
    /// seed: 32 secret bytes from which all keys follow; None draws them from the operating system.
    /// progress: called with (done, of) after each key. What it raises ends the work.
    ///
    /// Raises ParameterMismatchError for a secret of other parameters, InsecureError if a key would be too easy to break.
    #[pyo3(signature = (secret, *, seed = None, progress = None))]
    fn keygen(
        &self,
        py: Python<'_>,
        secret: &PyIntegerSecretKey,
        seed: Option<&[u8]>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<PyLookupKeys> {
        let (seed, heard) = (seed_of(seed)?, Heard::new(progress));
        let (context, key) = (&secret.0.context, secret.0.key());
        let hear = |done, of| heard.call(done, of);
        let keys = heard.watch(py, || LookupKeyFile::generate(context, &self.0, key, seed, Some(&hear)))?;
        Ok(PyLookupKeys(Arc::new(keys)))
    }

    #[expect(clippy::type_complexity, reason = "what pickle takes")]
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (PyIntegerParameters, (usize, usize)))> {
        Ok((py.get_type::<Self>().into_any(), (self.parameters(), self.domain())))
    }

    fn __repr__(&self) -> String {
        let (x, y) = self.domain();
        let (queries, megabytes) = (self.queries(), self.matrix_bytes() as f64 / 1e6);
        format!("LookupPlan(domain=({x}, {y}), queries={queries}, matrix={megabytes:.1} MB)")
    }
}

/// The keys of lookups with their plan and parameters: all that a server needs; nothing in them decrypts. Can be pickled.
#[pyclass(frozen, name = "LookupKeys", module = "noren.bfv")]
pub(crate) struct PyLookupKeys(Arc<LookupKeyFile>);

#[pymethods]
impl PyLookupKeys {
    /// The context that they belong to.
    #[getter]
    fn context(&self) -> PyIntegerContext {
        PyIntegerContext(Either::Bfv(self.0.context.clone()))
    }

    /// The plan that they were made for.
    #[getter]
    fn plan(&self) -> PyLookupPlan {
        PyLookupPlan(self.0.plan.clone())
    }

    /// The key for products, for ``Context.evaluator``.
    #[getter]
    fn evaluation(&self, py: Python<'_>) -> PyResult<Py<PyIntegerEvaluationKeys>> {
        PyIntegerEvaluationKeys::new(py, &self.0.context, self.0.evaluation.as_ref().clone())
    }

    /// The identity of the secret key that they belong to, in hexadecimal: keys and ciphertexts with the same owner are of one secret
    /// key. It is public.
    #[getter]
    fn owner(&self) -> String {
        self.0.owner().key.to_hex()
    }

    /// The bytes of the keys of lookups in memory; of mapped keys, those of the file that hold them.
    #[getter]
    fn nbytes(&self) -> u64 {
        self.0.keys.bytes()
    }

    /// The keys that ``bytes(keys)`` gave, with their parameters.
    ///
    /// min_security: the bits of security that its parameters must promise; 0 for tests.
    ///
    /// Raises WireError for bytes that are damaged or of another kind, InsecureError for less security.
    #[staticmethod]
    #[pyo3(signature = (data, *, min_security = USUAL), text_signature = "(data, *, min_security=128)")]
    fn from_bytes(py: Python<'_>, data: &[u8], #[pyo3(from_py_with = whole)] min_security: u32) -> PyResult<Self> {
        let file = detached(py, || LookupKeyFile::from_bytes(&(), data))?;
        admit(py, "the bytes", file.context.parameters().rlwe().security(), min_security)?;
        Ok(Self(Arc::new(file)))
    }

    /// Reads keys with their plan and parameters from a file, as the tool ``noren`` writes it too; maps an expanded one, whose
    /// keys all processes that map it share. Who can write to an expanded file must be trusted.
    ///
    /// check: whether the file is compared with its digest; an expanded one is read as a whole for that.
    /// min_security: see ``from_bytes``. Raises OSError, and what ``from_bytes`` raises.
    #[staticmethod]
    #[pyo3(signature = (path, *, check = true, min_security = USUAL),
        text_signature = "(path, *, check=True, min_security=128)")]
    fn load(
        py: Python<'_>,
        path: PathBuf,
        check: bool,
        #[pyo3(from_py_with = whole)] min_security: u32,
    ) -> PyResult<Self> {
        let file = detached(py, || LookupKeyFile::open(&path, &limits(check)))?;
        admit(py, &path.display().to_string(), file.context.parameters().rlwe().security(), min_security)?;
        Ok(Self(Arc::new(file)))
    }

    /// Writes the keys, their plan and their parameters to a file, as a whole or not at all.
    ///
    /// force: whether a file that exists is replaced.
    /// expanded: whether the keys are written as they lie in memory, for ``load`` to map. Such a file is larger, and for the
    ///     machine that it was made on.
    ///
    /// Raises FileExistsError without ``force``, OSError, and Error if the disk has no room for expanded keys.
    #[pyo3(signature = (path, *, force = false, expanded = false))]
    fn save(&self, py: Python<'_>, path: PathBuf, force: bool, expanded: bool) -> PyResult<()> {
        save_keys(py, &*self.0, &path, force, expanded, |keys, to| keys.write_expanded(to))
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        bytes_of(py, &*self.0)
    }

    #[staticmethod]
    fn _unpickle(
        py: Python<'_>,
        parameters: &PyIntegerParameters,
        data: &[u8],
        threading: Threading,
    ) -> PyResult<Self> {
        let context = shared_context(py, &parameters.0, &threading)?;
        let file = detached(py, || LookupKeyFile::from_bytes(&(), data))?;
        Ok(Self(Arc::new(LookupKeyFile { context, ..file })))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Pickle<'py, PyIntegerParameters>> {
        let unpickle = py.get_type::<Self>().getattr("_unpickle")?;
        Ok((unpickle, (self.plan().parameters(), self.__bytes__(py)?, self.0.context.threading())))
    }

    fn __repr__(&self) -> String {
        let (x, y) = self.plan().domain();
        format!("LookupKeys(domain=({x}, {y}), {:.1} MB)", self.nbytes() as f64 / 1e6)
    }
}

/// A function, ready to be looked up; made by ``Lookup.prepare``.
///
/// A call evaluates it: ``prepared(evaluator, x, y, keys=keys)`` is f(x, y) for each query of two ciphertexts, whose numbers
/// were spread by the plan. Of a function of one number there is no y.
#[pyclass(frozen, name = "PreparedLookup", module = "noren.bfv")]
pub(crate) struct PyPreparedLookup(Lookup);

impl PyPreparedLookup {
    /// The ciphertexts of x and y; of a function of one number, x stands for both.
    fn pair<'a>(&self, x: &'a PyEncrypted, y: Option<&'a PyEncrypted>) -> PyResult<[&'a Ciphertext; 2]> {
        match (y, self.0.plan().layout().domain()) {
            (Some(y), _) => Ok([x.bfv()?, y.bfv()?]),
            (None, [_, 1]) => Ok([x.bfv()?; 2]),
            (None, [_, size]) => Err(PyTypeError::new_err(format!(
                "the function needs a number y below {size}: no ciphertext was given"
            ))),
        }
    }

    fn evaluate(
        &self,
        py: Python<'_>,
        evaluator: &PyIntegerEvaluator,
        pairs: &[[&Ciphertext; 2]],
        keys: &PyLookupKeys,
    ) -> PyResult<Vec<PyEncrypted>> {
        let Either::Bfv(bfv) = &evaluator.inner else { return Err(other_class("Evaluator")) };
        let results = detached_by(py, raise_of_integers, || {
            keys.0.check(self.0.plan())?;
            self.0.evaluate_many(bfv, &keys.0.keys, pairs, &|_| {})
        })?;
        Ok(results.into_iter().map(|x| evaluator.wrap(Either::Bfv(x))).collect())
    }
}

#[pymethods]
impl PyPreparedLookup {
    /// The plan: domain, queries, how numbers are spread.
    #[getter]
    fn plan(&self) -> PyLookupPlan {
        PyLookupPlan(self.0.plan().clone())
    }

    /// On what the function depends, "x", "y", "x + y" or "x - y", if it needs no matrix; None if it does.
    #[getter]
    fn line(&self) -> Option<&'static str> {
        self.0.line().map(|line| match line {
            Line::First => "x",
            Line::Second => "y",
            Line::Sum => "x + y",
            Line::Difference => "x - y",
        })
    }

    /// The bytes of the matrix or table, in memory and in a file.
    #[getter]
    fn nbytes(&self) -> u64 {
        self.0.bytes()
    }

    /// f(x, y) for each query of a pair of ciphertexts; a ciphertext with the operators of the evaluator.
    ///
    /// Raises ParameterMismatchError for what belongs to other parameters, MissingKeyError for keys of another plan, Error if
    /// the numbers carry too much noise.
    #[pyo3(signature = (evaluator, x, y = None, *, keys))]
    fn __call__(
        &self,
        py: Python<'_>,
        evaluator: &PyIntegerEvaluator,
        x: &PyEncrypted,
        y: Option<&PyEncrypted>,
        keys: &PyLookupKeys,
    ) -> PyResult<PyEncrypted> {
        Ok(self.evaluate(py, evaluator, &[self.pair(x, y)?], keys)?.remove(0))
    }

    /// f(x, y) for several pairs of ciphertexts, which share most of the work: [(x, y), ...], or [(x,), ...] for a function of
    /// one number. Raises what a call raises.
    #[pyo3(signature = (evaluator, pairs, *, keys))]
    fn many(
        &self,
        py: Python<'_>,
        evaluator: &PyIntegerEvaluator,
        pairs: Vec<Vec<Bound<'_, PyEncrypted>>>,
        keys: &PyLookupKeys,
    ) -> PyResult<Vec<PyEncrypted>> {
        let pairs = pairs.iter().map(|pair| match &pair[..] {
            [x] => self.pair(x.get(), None),
            [x, y] => self.pair(x.get(), Some(y.get())),
            _ => {
                let count = pair.len();
                Err(PyTypeError::new_err(format!("{count} ciphertexts were given for a pair, x and y are needed")))
            }
        });
        let pairs = pairs.collect::<PyResult<Vec<_>>>()?;
        self.evaluate(py, evaluator, &pairs, keys)
    }

    /// Writes the prepared function to a file, as a whole or not at all; one that exists is replaced. Raises OSError, and Error
    /// if the disk has no room.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        detached(py, || self.0.save(&path))
    }

    /// Maps a prepared function from a file: it is read where it lies, when it is needed, and shared by all processes.
    ///
    /// check: whether the whole file is read at once, to find damage.
    ///
    /// Raises OSError, WireError for a damaged file or one of another kind, ParameterMismatchError for other parameters.
    #[staticmethod]
    #[pyo3(signature = (context, path, *, check = true), text_signature = "(context, path, *, check=True)")]
    fn load(py: Python<'_>, context: &PyIntegerContext, path: PathBuf, check: bool) -> PyResult<Self> {
        let context = context.bfv()?;
        let limits = Limits { check_digest: check, ..Limits::default() };
        detached(py, || Lookup::open(context, &path, &limits)).map(Self)
    }

    fn __repr__(&self) -> String {
        let (x, y) = self.plan().domain();
        match self.line() {
            None => format!("PreparedLookup(domain=({x}, {y}), {:.1} MB)", self.nbytes() as f64 / 1e6),
            Some(line) => format!("PreparedLookup(domain=({x}, {y}), of {line} alone)"),
        }
    }
}

/// Prepares a function; see ``noren.bfv.Lookup.prepare``.
///
/// values: called with int64 arrays x and y of one length, gives the residues f(x, y) as another; from any thread.
#[pyfunction]
#[pyo3(signature = (context, plan, values, *, progress = None))]
pub(crate) fn prepare_lookup(
    py: Python<'_>,
    context: &PyIntegerContext,
    plan: &PyLookupPlan,
    values: Py<PyAny>,
    progress: Option<Py<PyAny>>,
) -> PyResult<PyPreparedLookup> {
    let (context, heard) = (context.bfv()?, Heard::new(progress));
    let asked = heard.clone();
    let function = Function::batch(plan.0.layout().domain(), move |x, y, out| {
        if x.is_empty() || asked.stopped() {
            return;
        }
        if let Err(error) = Python::attach(|py| ask(py, &values, x, y, out)) {
            asked.fail(error);
        }
    });
    let hear = |done, of| heard.call(done, of);
    let prepared = heard.watch(py, || Lookup::prepare(context, &plan.0, &function, Some(&hear)))?;
    Ok(PyPreparedLookup(prepared))
}

/// Asks a function of Python for its values at many points.
fn ask(py: Python<'_>, values: &Py<PyAny>, x: &[u32], y: &[u32], out: &mut [Option<u64>]) -> PyResult<()> {
    let array = |numbers: &[u32]| PyArray1::from_iter(py, numbers.iter().map(|&number| i64::from(number)));
    let found = values.call1(py, (array(x), array(y)))?;
    let found = found.bind(py).cast::<PyArray1<i64>>()?.try_readonly()?;
    let found = found.as_slice()?;
    if found.len() != out.len() {
        let message = format!("{} values were given for {} points", found.len(), out.len());
        return Err(EncodingError::new_err(message));
    }
    out.iter_mut().zip(found).for_each(|(out, &value)| *out = u64::try_from(value).ok());
    Ok(())
}
