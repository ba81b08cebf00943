//! The classes of one scheme: `Context`, `Ciphertext` and `Evaluator`, for BGV and for BFV.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use noren::bfv::Bfv;
use noren::bgv::{Bgv, Context, Decryptor, Encoder, KeyRequest, Plaintext};
use noren::circuits::polynomial::Polynomial;
use noren::circuits::power::power;
use noren::error::Result;
use noren::schemes::integers::{Ciphertext, Ciphertexts, Evaluator};
use noren::wire::{Form, Limits, Object};
use numpy::IntoPyArray;
use pyo3::basic::CompareOp;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};

use crate::array::{Integers, detached, detached_by};
use crate::context::seed_of;
use crate::errors::{raise, raise_of_integers};
use crate::evaluator::{plan_of_sum, same_length};
use crate::files::Held;
use crate::integers::keys::{IntegerEncryptionKey, PyIntegerEvaluationKeys, PyIntegerKeys, PyIntegerSecretKey};
use crate::integers::parameters::PyIntegerParameters;
use crate::integers::plaintext::{
    Layout, WholeNumbers, check_all_contents, check_contents, check_parameters, check_read,
};
use crate::key_sets;
use crate::operand::whole_exponent;
use crate::pickle::{ContextPickle, Pickle, Shared, Threading, shared_context};
use crate::progress::Heard;
use crate::refusals;
use crate::vectors::{SumOf, check_columns, head, stacked, terms_of_sum};

/// An operation of an evaluator with a second operand.
type Operation<S, T> = fn(&Evaluator<S>, &Ciphertext<S>, &T) -> Result<Ciphertext<S>>;

macro_rules! scheme_classes {
    (
        $scheme:ty, $name:literal, $context:ident, $context_python:literal, $ciphertext:ident, $ciphertext_python:literal,
        $evaluator:ident, $evaluator_python:literal, from $other:ident
    ) => {
        #[doc = concat!("Parameters of exact integers with their tables, for ", $name, ": makes keys, encrypts and decrypts.")]
        ///
        /// Results do not depend on `threads`: None works on all cores, 1 starts no thread, n starts n of its own. All
        /// methods let other Python threads run. A pickle holds the parameters alone.
        #[pyclass(frozen, name = $context_python, module = "noren._noren")]
        #[derive(Clone)]
        pub(crate) struct $context(pub(crate) Context);

        #[pymethods]
        impl $context {
            #[new]
            #[pyo3(signature = (parameters, *, threads = None))]
            fn new(py: Python<'_>, parameters: &PyIntegerParameters, threads: Option<usize>) -> PyResult<Self> {
                let parameters = parameters.0.clone();
                detached(py, || Context::with_threads(parameters, threads)).map(Self)
            }

            /// The parameters.
            #[getter]
            fn parameters(&self) -> PyIntegerParameters {
                PyIntegerParameters(self.0.parameters().clone())
            }

            /// How many threads a call can use.
            #[getter]
            fn threads(&self) -> usize {
                Shared::engine(&self.0).threads()
            }

            /// Makes a secret key, its public key and evaluation keys.
            ///
            /// rotations: the rotations that ``Evaluator.rotate`` is to do, by how many slots of both rows.
            /// swap, relinearization: whether there are keys for ``swap_rows`` and for products of ciphertexts.
            /// limbs: the most primes of ciphertexts that the keys serve, None for all; such keys are smaller and faster.
            /// seed: 32 secret bytes from which all keys follow; None draws them from the operating system.
            /// progress: called with (done, of) after each key. What it raises ends the work.
            ///
            /// Raises InsecureError for a key whose modulus is too large, Error for limbs that there are not.
            #[pyo3(
                signature = (*, rotations = Integers::default(), swap = false, relinearization = true, limbs = None,
                    seed = None, progress = None),
                text_signature = "($self, *, rotations=(), swap=False, relinearization=True, limbs=None, seed=None, \
                    progress=None)"
            )]
            #[expect(clippy::too_many_arguments, reason = "they are keyword arguments in Python")]
            fn keygen(
                &self,
                py: Python<'_>,
                rotations: Integers,
                swap: bool,
                relinearization: bool,
                limbs: Option<usize>,
                seed: Option<&[u8]>,
                progress: Option<Py<PyAny>>,
            ) -> PyResult<PyIntegerKeys> {
                let (rotations, rotations_at) = (rotations.0, Vec::new());
                let request = KeyRequest { relinearization, rotations, swap, limbs, rotations_at };
                let seed = seed_of(seed)?;
                let heard = Heard::new(progress);
                let hear = |done, of| heard.call(done, of);
                let keys = heard.watch(py, || self.0.generate_keys(seed, &request, Some(&hear)))?;
                PyIntegerKeys::new(py, &self.0, keys)
            }

            /// Makes evaluation keys for a secret that there is; ``keys.evaluation | more`` has them beside the others.
            ///
            /// rotations, swap, relinearization, limbs: which keys, as of ``keygen``.
            /// rotations_at: rotations up to limbs of their own, as {steps: limbs}.
            /// seed: 32 secret bytes from which the keys follow; None draws them from the operating system.
            /// progress: called with (done, of) after each key. What it raises is raised when all keys are made.
            ///
            /// Raises ParameterMismatchError for a secret of other parameters, and what ``keygen`` raises.
            #[pyo3(
                signature = (secret, *, rotations = Integers::default(), swap = false, relinearization = false,
                    limbs = None, rotations_at = None, seed = None, progress = None),
                text_signature = "($self, secret, *, rotations=(), swap=False, relinearization=False, limbs=None, \
                    rotations_at=None, seed=None, progress=None)"
            )]
            #[expect(clippy::too_many_arguments, reason = "they are keyword arguments in Python")]
            fn evaluation_keys(
                &self,
                py: Python<'_>,
                secret: &PyIntegerSecretKey,
                rotations: Integers,
                swap: bool,
                relinearization: bool,
                limbs: Option<usize>,
                rotations_at: Option<BTreeMap<isize, usize>>,
                seed: Option<&[u8]>,
                progress: Option<Py<PyAny>>,
            ) -> PyResult<PyIntegerEvaluationKeys> {
                let rotations_at = rotations_at.unwrap_or_default().into_iter().collect();
                let request = KeyRequest { relinearization, rotations: rotations.0, swap, limbs, rotations_at };
                let (seed, heard, secret) = (seed_of(seed)?, Heard::new(progress), &secret.0.key);
                let hear = |done, of| heard.call(done, of);
                let keys = heard.watch(py, || self.0.evaluation_keys(secret, seed, &request, Some(&hear)))?;
                Ok(PyIntegerEvaluationKeys::new(&self.0, keys))
            }

            /// Encrypts a vector of at most n whole numbers from -t/2 to t - 1, or each row of an array of shape (k, m) by itself.
            ///
            /// Returns a ciphertext, or a list of k. Zeros fill the slots after the numbers, those of the first row first. A
            /// ciphertext tells in clear how many numbers it has.
            ///
            /// key: a PublicKey, or the SecretKey: then the noise is smaller, and the ciphertext takes half the bytes.
            /// coefficients: the numbers are coefficients of a polynomial, for any t, and not slots.
            /// repeat: copies follow the numbers in place of zeros, in both rows, at a distance of the power of two from their
            ///     count on, so that they rotate among themselves, and products with matrices take fewer rotations.
            /// seed: 32 secret bytes that are used for this call alone; None draws them from the operating system.
            ///
            /// Raises EncodingError for numbers out of range or too many, Error if t has no slots.
            #[pyo3(signature = (values, key, *, coefficients = false, repeat = false, seed = None))]
            fn encrypt<'py>(
                &self,
                py: Python<'py>,
                values: &Bound<'py, PyAny>,
                key: IntegerEncryptionKey<'py>,
                coefficients: bool,
                repeat: bool,
                seed: Option<&[u8]>,
            ) -> PyResult<Bound<'py, PyAny>> {
                let (numbers, form) = (WholeNumbers::of(values)?, Layout::of(coefficients, repeat)?);
                let (plaintexts, seed) = (numbers.encode(&Encoder::new(&self.0), form)?, seed_of(seed)?);
                let key = key.shared();
                let mut encrypted = detached_by(py, raise_of_integers, || {
                    let encryptor = key.encryptor(&self.0, seed)?;
                    plaintexts.iter().map(|plaintext| encryptor.encrypt(plaintext)).collect::<Result<Vec<_>>>()
                })?;
                let held = if numbers.is_vector() { Held::One(encrypted.remove(0)) } else { Held::Several(encrypted) };
                held.wrap(py, |inner| $ciphertext { inner, context: self.0.clone(), evaluator: None })
            }

            /// Decrypts a ciphertext to int64 of its shape, or a sequence of k of them, of one shape (n,), to shape (k, n).
            ///
            /// The shape is that of the numbers that were encrypted, or that of all slots once numbers were moved between them:
            /// the first row, then the second, and ``.reshape(2, -1)`` gives the rows.
            ///
            /// signed: numbers are in (-t/2, t/2], and not in [0, t).
            /// coefficients: the numbers are coefficients, as they must have been encrypted, and not slots.
            ///
            /// Raises Error if the noise may have reached the message, ParameterMismatchError for other parameters.
            #[pyo3(signature = (x, key, *, signed = false, coefficients = false))]
            fn decrypt<'py>(
                &self,
                py: Python<'py>,
                x: &Bound<'py, PyAny>,
                key: &PyIntegerSecretKey,
                signed: bool,
                coefficients: bool,
            ) -> PyResult<Bound<'py, PyAny>> {
                if let Ok(x) = x.cast::<$ciphertext>() {
                    return self.decrypt_one(py, x.get(), key, signed, coefficients);
                }
                let all = x.extract::<Vec<Bound<'py, $ciphertext>>>()?;
                let rows = all.iter().map(|x| self.decrypt_one(py, x.get(), key, signed, coefficients));
                stacked(py, rows.collect::<PyResult<Vec<_>>>()?)
            }

            /// Writes a ciphertext, or a list of them, to a file, as a whole or not at all. Raises OSError.
            fn save(&self, py: Python<'_>, path: PathBuf, ciphertexts: &Bound<'_, PyAny>) -> PyResult<()> {
                let held = Held::of(ciphertexts, |x: &Bound<'_, $ciphertext>| x.get().inner.clone())?;
                held.save(py, &self.0, &path, Ciphertexts)
            }

            /// Reads what ``save`` wrote: a ciphertext, or a list.
            ///
            /// Raises OSError, WireError for files that are damaged or of another kind, ParameterMismatchError for other
            /// parameters.
            fn load<'py>(&self, py: Python<'py>, path: PathBuf) -> PyResult<Bound<'py, PyAny>> {
                let held = Held::load(py, &self.0, &path, |list: Ciphertexts<$scheme>| list.0)?;
                held.wrap(py, |inner| $ciphertext { inner, context: self.0.clone(), evaluator: None })
            }

            /// The evaluator of these keys.
            fn evaluator(&self, keys: &PyIntegerEvaluationKeys) -> PyResult<$evaluator> {
                $evaluator::new(self, keys)
            }

            /// A ciphertext of the other scheme as one of this scheme, for free: the same keys serve.
            ///
            /// Raises ParameterMismatchError for a ciphertext of other parameters.
            fn convert(&self, x: &$other) -> PyResult<$ciphertext> {
                check_parameters(&self.0, x.inner.parameters())?;
                Ok($ciphertext { inner: x.inner.clone().convert(), context: self.0.clone(), evaluator: None })
            }

            #[staticmethod]
            fn _unpickle(py: Python<'_>, parameters: &PyIntegerParameters, threading: Threading) -> PyResult<Self> {
                shared_context(py, &parameters.0, &threading).map(Self)
            }

            fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<ContextPickle<'py, PyIntegerParameters>> {
                Ok((py.get_type::<Self>().getattr("_unpickle")?, (self.parameters(), self.0.threading())))
            }

            fn __repr__(&self) -> String {
                format!("Context(n={})", self.0.parameters().degree())
            }
        }

        impl $context {
            fn decrypt_one<'py>(
                &self,
                py: Python<'py>,
                x: &$ciphertext,
                key: &PyIntegerSecretKey,
                signed: bool,
                coefficients: bool,
            ) -> PyResult<Bound<'py, PyAny>> {
                check_read(x.inner.content(), coefficients)?;
                let values = detached_by(py, raise_of_integers, || {
                    let plaintext = Decryptor::new(&self.0, &key.0.key)?.decrypt(&x.inner)?;
                    let encoder = Encoder::new(&self.0);
                    match (coefficients, signed) {
                        (true, true) => encoder.decode_coefficients_signed(&plaintext),
                        (true, false) => encoder.decode_coefficients(&plaintext),
                        (false, true) => encoder.decode_signed(&plaintext),
                        (false, false) => encoder.decode(&plaintext),
                    }
                })?;
                head(values.into_pyarray(py).into_any(), x.inner.content().extent().values())
            }
        }

        #[doc = concat!("A vector of integers modulo t, encrypted for ", $name, ".")]
        ///
        /// The operators ``+``, ``-``, ``*``, ``**`` and ``matrix @ x`` are the methods of the evaluator that made
        /// one of the operands; ``Evaluator.bind`` gives an evaluator to a fresh ciphertext. Ciphertexts
        /// are immutable, and can be pickled; what was pickled has no evaluator.
        #[pyclass(frozen, name = $ciphertext_python, module = "noren._noren")]
        #[derive(Clone)]
        pub(crate) struct $ciphertext {
            pub(crate) inner: Ciphertext<$scheme>,
            context: Context,
            /// The evaluator that made it, which its operators use.
            evaluator: Option<$evaluator>,
        }

        impl $ciphertext {
            /// The evaluator of this ciphertext, or of the other operand.
            fn evaluator(&self, other: Option<&Bound<'_, PyAny>>) -> PyResult<$evaluator> {
                let of_other = || other?.cast::<Self>().ok()?.get().evaluator.clone();
                self.evaluator.clone().or_else(of_other).ok_or_else(|| {
                    PyTypeError::new_err(
                        "no operand was made by an evaluator, so there are no keys: use ev.bind(x), or methods such as \
                         ev.mul(x, y)",
                    )
                })
            }
        }

        #[pymethods]
        impl $ciphertext {
            /// How many multiplications can still follow one another, as predicted.
            #[getter]
            fn level(&self) -> usize {
                self.inner.level()
            }

            /// The context that it belongs to.
            #[getter]
            fn context(&self) -> $context {
                $context(self.context.clone())
            }

            /// How many primes the modulus has.
            #[getter]
            fn limbs(&self) -> usize {
                self.inner.limbs()
            }

            /// How many bits the noise may still grow before a decryption may fail; predicted, not measured.
            #[getter]
            fn noise_budget(&self) -> f64 {
                self.inner.noise_budget()
            }

            /// How many numbers it has, as (n,): what decrypting gives, and what clear operands must have.
            ///
            /// As many as were encrypted, or all slots of a period once numbers were moved between slots. Public.
            #[getter]
            fn shape(&self) -> (usize,) {
                (self.inner.content().extent().values(),)
            }

            /// How many slots there are, in two rows; as many coefficients.
            #[getter]
            fn slots(&self) -> usize {
                self.context.parameters().degree()
            }

            /// After how many slots the numbers repeat: the number of slots if they do not. Public.
            #[getter]
            fn period(&self) -> usize {
                self.inner.content().extent().period()
            }

            /// The same ciphertext, whose first `length` slots are the numbers.
            ///
            /// Raises EncodingError for a length of 0, or above the number of slots.
            fn with_length(&self, length: usize) -> PyResult<Self> {
                let inner = self.inner.clone().with_length(Some(length)).map_err(raise_of_integers)?;
                Ok(Self { inner, context: self.context.clone(), evaluator: self.evaluator.clone() })
            }

            /// The parameters that it belongs to.
            #[getter]
            fn parameters(&self) -> PyIntegerParameters {
                PyIntegerParameters(self.context.parameters().clone())
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

            /// Keeps numpy from taking a ciphertext for an array of objects in `array * ciphertext`.
            #[classattr]
            fn __array_ufunc__() -> Option<u8> {
                None
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
                refusals::function(func)
            }

            fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
                let bytes = py.detach(|| self.inner.to_bytes(&self.context, Form::Packed));
                PyBytes::new(py, &bytes)
            }

            /// The ciphertext that ``bytes(x)`` gave, without an evaluator.
            ///
            /// Raises WireError for bytes that are damaged or of another kind, ParameterMismatchError for other parameters.
            #[staticmethod]
            fn from_bytes(py: Python<'_>, context: &$context, data: &[u8]) -> PyResult<Self> {
                let inner = detached(py, || Ciphertext::from_bytes(&context.0, data))?;
                Ok(Self { inner, context: context.0.clone(), evaluator: None })
            }

            /// Writes the ciphertext to a file, as a whole or not at all; ``Context.save`` writes lists. Raises OSError.
            fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
                detached(py, || self.inner.write_file(&self.context, Form::Packed, &path))
            }

            /// Reads a ciphertext from a file; ``Context.load`` reads lists.
            ///
            /// Raises OSError, and what ``from_bytes`` raises.
            #[staticmethod]
            fn load(py: Python<'_>, context: &$context, path: PathBuf) -> PyResult<Self> {
                let inner = detached(py, || Ciphertext::read_file(&context.0, &path, &Limits::default()))?;
                Ok(Self { inner, context: context.0.clone(), evaluator: None })
            }

            #[staticmethod]
            fn _unpickle(py: Python<'_>, parameters: &PyIntegerParameters, data: &[u8], threading: Threading) -> PyResult<Self> {
                Self::from_bytes(py, &$context(shared_context(py, &parameters.0, &threading)?), data)
            }

            fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Pickle<'py, PyIntegerParameters>> {
                let unpickle = py.get_type::<Self>().getattr("_unpickle")?;
                Ok((unpickle, (self.parameters(), self.__bytes__(py), self.context.threading())))
            }

            fn __repr__(&self) -> String {
                let (limbs, budget) = (self.limbs(), self.noise_budget());
                format!(concat!($ciphertext_python, "(limbs={}, noise_budget={:.1})"), limbs, budget)
            }
        }

        #[doc = concat!("Computes on ciphertexts of ", $name, " with evaluation keys; for all threads at once. Can be pickled.")]
        ///
        /// Where a method takes an operand `y`, this is a Ciphertext, a whole number, or an array as ``Context.encrypt``
        /// takes it. Every method raises ParameterMismatchError for a ciphertext of other parameters, Error if the noise
        /// could reach the message, and MissingKeyError that names the key if one is missing.
        #[pyclass(frozen, name = $evaluator_python, module = "noren._noren")]
        #[derive(Clone)]
        pub(crate) struct $evaluator(pub(crate) Evaluator<$scheme>);

        impl $evaluator {
            /// A ciphertext whose operators use this evaluator.
            pub(crate) fn wrap(&self, inner: Ciphertext<$scheme>) -> $ciphertext {
                $ciphertext { inner, context: self.0.context().clone(), evaluator: Some(self.clone()) }
            }

            fn run(
                &self,
                py: Python<'_>,
                work: impl FnOnce(&Evaluator<$scheme>) -> Result<Ciphertext<$scheme>> + Send,
            ) -> PyResult<$ciphertext> {
                detached_by(py, raise_of_integers, || work(&self.0)).map(|inner| self.wrap(inner))
            }

            /// x to a whole power.
            fn power_of(&self, py: Python<'_>, x: &$ciphertext, exponent: u32) -> PyResult<$ciphertext> {
                self.run(py, |ev| match exponent {
                    // The number 1 in every slot.
                    0 => ev.add_scalar(&ev.mul_scalar(&x.inner, 0)?, 1),
                    exponent => power(ev, &x.inner, exponent),
                })
            }

            /// An operation with a ciphertext, an array or a number.
            fn join(
                &self,
                py: Python<'_>,
                x: &$ciphertext,
                y: &Bound<'_, PyAny>,
                with_ciphertext: Operation<$scheme, Ciphertext<$scheme>>,
                with_plaintext: Operation<$scheme, Plaintext>,
                with_number: Operation<$scheme, i64>,
            ) -> PyResult<$ciphertext> {
                if let Ok(y) = y.cast::<$ciphertext>() {
                    let y = &y.get().inner;
                    check_contents(x.inner.content(), y.content())?;
                    return self.run(py, |ev| with_ciphertext(ev, &x.inner, y));
                }
                let numbers = WholeNumbers::of(y)?;
                if let Some(c) = numbers.as_scalar() {
                    return self.run(py, |ev| with_number(ev, &x.inner, &c));
                }
                let (encoder, n) = (Encoder::new(self.0.context()), self.0.context().parameters().degree());
                let p = numbers.encode_beside(&encoder, x.inner.content(), n)?;
                self.run(py, |ev| with_plaintext(ev, &x.inner, &p))
            }
        }

        #[pymethods]
        impl $evaluator {
            #[new]
            fn new(context: &$context, keys: &PyIntegerEvaluationKeys) -> PyResult<Self> {
                Evaluator::new(&context.0, Arc::new(keys.0.key.clone())).map(Self).map_err(raise)
            }

            /// The context.
            #[getter]
            fn context(&self) -> $context {
                $context(self.0.context().clone())
            }

            /// The keys.
            #[getter]
            fn keys(&self) -> PyIntegerEvaluationKeys {
                PyIntegerEvaluationKeys::new(self.0.context(), self.0.keys().as_ref().clone())
            }

            /// An evaluator with these keys and more of the same secret; see ``Context.evaluation_keys``.
            ///
            /// Raises ParameterMismatchError for keys of other parameters, KeyMismatchError for those of another secret.
            fn with_keys(&self, more: &PyIntegerEvaluationKeys) -> PyResult<Self> {
                let merged = key_sets::merged(self.0.keys(), &more.0.key)?;
                Evaluator::new(self.0.context(), Arc::new(merged)).map(Self).map_err(raise)
            }

            /// The same ciphertext with operators that use this evaluator.
            fn bind(&self, py: Python<'_>, x: &$ciphertext) -> PyResult<$ciphertext> {
                // Drops nothing, and refuses ciphertexts of other parameters or another secret.
                self.run(py, |ev| ev.mod_switch(&x.inner, x.inner.limbs()))
            }

            /// x + y.
            fn add(&self, py: Python<'_>, x: &$ciphertext, y: &Bound<'_, PyAny>) -> PyResult<$ciphertext> {
                self.join(py, x, y, Evaluator::add, Evaluator::add_plain, |ev, x, &c| ev.add_scalar(x, c))
            }

            /// x - y.
            fn sub(&self, py: Python<'_>, x: &$ciphertext, y: &Bound<'_, PyAny>) -> PyResult<$ciphertext> {
                self.join(py, x, y, Evaluator::sub, Evaluator::sub_plain, |ev, x, &c| ev.sub_scalar(x, c))
            }

            /// x * y, slot by slot.
            fn mul(&self, py: Python<'_>, x: &$ciphertext, y: &Bound<'_, PyAny>) -> PyResult<$ciphertext> {
                self.join(py, x, y, Evaluator::mul, Evaluator::mul_plain, |ev, x, &c| ev.mul_scalar(x, c))
            }

            /// -x.
            fn neg(&self, py: Python<'_>, x: &$ciphertext) -> PyResult<$ciphertext> {
                self.run(py, |ev| ev.neg(&x.inner))
            }

            /// x * x.
            fn square(&self, py: Python<'_>, x: &$ciphertext) -> PyResult<$ciphertext> {
                self.run(py, |ev| ev.square(&x.inner))
            }

            /// xs[0] * ys[0] + xs[1] * ys[1] + ..., slot by slot, with one key switch for all products.
            fn dot(
                &self,
                py: Python<'_>,
                xs: Vec<Bound<'_, $ciphertext>>,
                ys: Vec<Bound<'_, $ciphertext>>,
            ) -> PyResult<$ciphertext> {
                same_length(xs.len(), ys.len())?;
                check_all_contents(xs.iter().chain(&ys).map(|x| x.get().inner.content()))?;
                let pairs: Vec<_> = xs.iter().zip(&ys).map(|(x, y)| (&x.get().inner, &y.get().inner)).collect();
                self.run(py, |ev| ev.dot(&pairs))
            }

            /// weights[0] * xs[0] + weights[1] * xs[1] + ... + constant, for whole numbers as weights.
            #[pyo3(signature = (xs, weights, *, constant = 0))]
            fn weighted_sum(
                &self,
                py: Python<'_>,
                xs: Vec<Bound<'_, $ciphertext>>,
                weights: &Bound<'_, PyAny>,
                constant: i64,
            ) -> PyResult<$ciphertext> {
                let weights = WholeNumbers::of(weights)?;
                let weights = weights.as_vector()?;
                same_length(xs.len(), weights.len())?;
                check_all_contents(xs.iter().map(|x| x.get().inner.content()))?;
                let terms: Vec<_> = xs.iter().map(|x| &x.get().inner).zip(weights.iter().copied()).collect();
                self.run(py, |ev| ev.weighted_sum(&terms, constant))
            }

            /// The same message modulo the first `limbs` primes: products do this by themselves.
            fn mod_switch(&self, py: Python<'_>, x: &$ciphertext, limbs: usize) -> PyResult<$ciphertext> {
                self.run(py, |ev| ev.mod_switch(&x.inner, limbs))
            }

            /// Moves slot c + steps of each row to slot c, around the end.
            fn rotate(&self, py: Python<'_>, x: &$ciphertext, steps: isize) -> PyResult<$ciphertext> {
                self.run(py, |ev| ev.rotate(&x.inner, steps))
            }

            /// Several rotations of one ciphertext, which share most of the work.
            fn rotate_many(&self, py: Python<'_>, x: &$ciphertext, steps: Integers) -> PyResult<Vec<$ciphertext>> {
                let all = detached_by(py, raise_of_integers, || self.0.rotate_many(&x.inner, &steps.0))?;
                Ok(all.into_iter().map(|inner| self.wrap(inner)).collect())
            }

            /// The two rows swapped.
            fn swap_rows(&self, py: Python<'_>, x: &$ciphertext) -> PyResult<$ciphertext> {
                self.run(py, |ev| ev.swap_rows(&x.inner))
            }

            /// Slot c of each row of the result is the sum of the slots c, c + stride, ..., c + (count - 1) * stride of x.
            ///
            /// count: None for all numbers of one row; the sum of all numbers stands in the first slot, in every slot if they
            /// fill a period. Needs keys for ``rotations_of_sum(count, stride=stride, steps=steps)``.
            ///
            /// Raises EncodingError if the slots reach over more than the numbers of x, or for a stride of 0.
            #[pyo3(signature = (x, count = None, *, stride = 1, steps = None))]
            fn sum(
                &self,
                py: Python<'_>,
                x: &$ciphertext,
                count: Option<i64>,
                stride: i64,
                steps: Option<usize>,
            ) -> PyResult<$ciphertext> {
                let (extent, row) = (x.inner.content().extent(), x.inner.parameters().row_slots());
                let terms = terms_of_sum(count, stride, extent, row)?;
                let plan = plan_of_sum(terms, steps)?;
                self.run(py, |ev| {
                    let sum = plan.apply(ev, &x.inner)?;
                    match SumOf::of(terms, extent, row) {
                        SumOf::Repeats(period) => sum.with_period(period),
                        SumOf::First => sum.with_length(Some(1)),
                        SumOf::Slots => Ok(sum),
                    }
                })
            }

            /// A polynomial of every slot, with integer coefficients, lowest first: ceil(log2(len(coefficients))) levels.
            fn polynomial(
                &self,
                py: Python<'_>,
                x: &$ciphertext,
                coefficients: &Bound<'_, PyAny>,
            ) -> PyResult<$ciphertext> {
                let coefficients = WholeNumbers::of(coefficients)?.as_vector()?.to_vec();
                let polynomial = Polynomial::power(coefficients).map_err(raise_of_integers)?;
                self.run(py, |ev| polynomial.evaluate(ev, &x.inner))
            }

            /// matrix @ x, for a matrix of whole numbers of shape (rows, columns) and a vector of `columns` numbers.
            ///
            /// A vector of all n slots and a matrix of n/2 columns: matrix @ row for both rows. Needs keys for
            /// ``rotations_of_matrix(matrix)``. Vectors that were encrypted with ``repeat=True`` take fewer, those of
            /// ``rotations_of_matrix(matrix, slots=p)``, where p is the power of two from the count of numbers on.
            ///
            /// Raises EncodingError unless there are as many columns as numbers; see ``with_length`` of ciphertexts.
            fn matvec(&self, py: Python<'_>, matrix: &Bound<'_, PyAny>, x: &$ciphertext) -> PyResult<$ciphertext> {
                let (matrix, extent) = (WholeNumbers::of(matrix)?.into_matrix()?, x.inner.content().extent());
                let parameters = x.inner.parameters();
                let whole = (matrix.columns() == parameters.row_slots()).then_some(parameters.degree());
                check_columns(matrix.columns(), extent, whole)?;
                let both = extent.length().is_some() && extent.length() == whole;
                self.run(py, |ev| matrix.apply(ev, &x.inner)?.with_length((!both).then_some(matrix.rows())))
            }

            fn __reduce__<'py>(
                &self,
                py: Python<'py>,
            ) -> PyResult<(Bound<'py, PyAny>, ($context, PyIntegerEvaluationKeys))> {
                Ok((py.get_type::<Self>().into_any(), (self.context(), self.keys())))
            }

            fn __repr__(&self) -> String {
                format!("Evaluator(n={})", self.0.context().parameters().degree())
            }
        }
    };
}

scheme_classes!(
    Bgv, "BGV", PyBgvContext, "BgvContext", PyBgvCiphertext, "BgvCiphertext", PyBgvEvaluator, "BgvEvaluator",
    from PyBfvCiphertext
);
scheme_classes!(
    Bfv, "BFV", PyBfvContext, "BfvContext", PyBfvCiphertext, "BfvCiphertext", PyBfvEvaluator, "BfvEvaluator",
    from PyBgvCiphertext
);
