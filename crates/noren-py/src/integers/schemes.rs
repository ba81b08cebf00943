//! The classes of one scheme: `Context`, `Ciphertext` and `Evaluator`, for BGV and for BFV.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, Weak};

use noren::bfv::Bfv;
use noren::bgv::{Bgv, Context, Decryptor, Encoder, KeyRequest, Plaintext};
use noren::circuits::linear::LinearMap;
use noren::circuits::polynomial::Polynomial;
use noren::circuits::trace::Plan;
use noren::error::Result;
use noren::schemes::integers::{Ciphertext, Evaluator};
use noren::wire::{Form, Object};
use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::array::{Integers, detached, detached_by};
use crate::context::seed_of;
use crate::display::{self, Row, table};
use crate::errors::{EncodingError, raise, raise_of_integers};
use crate::evaluators::{Held, Match, Registration, evaluator_of};
use crate::explain;
use crate::integers::keys::{IntegerEncryptionKey, PyIntegerEvaluationKeys, PyIntegerKeys, PyIntegerSecretKey};
use crate::integers::parameters::PyIntegerParameters;
use crate::integers::plaintext::WholeNumbers;
use crate::key_sets;
use crate::pickle::{ContextPickle, Pickle, Shared, Threading, shared_context};
use crate::progress::Heard;

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

            /// Encrypts whole numbers from -t/2 to t - 1: a vector of at most n, with zeros after it, or shape (2, n/2).
            ///
            /// key: a PublicKey, or the SecretKey: then the noise is smaller, and the ciphertext takes half the bytes.
            /// coefficients: the numbers are coefficients of a polynomial, for any t, and not slots.
            /// seed: 32 secret bytes that are used for this call alone; None draws them from the operating system.
            ///
            /// Raises EncodingError for numbers out of range or too many, Error if t has no slots.
            #[pyo3(signature = (values, key, *, coefficients = false, seed = None))]
            fn encrypt(
                &self,
                py: Python<'_>,
                values: &Bound<'_, PyAny>,
                key: IntegerEncryptionKey<'_>,
                coefficients: bool,
                seed: Option<&[u8]>,
            ) -> PyResult<$ciphertext> {
                let numbers = WholeNumbers::of(values)?;
                let encoder = Encoder::new(&self.0);
                let plaintext = if coefficients {
                    encoder.encode_coefficients(&numbers.entries)
                } else {
                    numbers.encode(&encoder, self.0.parameters().degree())?
                };
                let (plaintext, seed) = (plaintext.map_err(raise)?, seed_of(seed)?);
                let key = key.shared();
                let inner = detached(py, || key.encryptor(&self.0, seed)?.encrypt(&plaintext))?;
                Ok($ciphertext { inner, context: self.0.clone(), evaluator: None })
            }

            /// Decrypts to shape (n,), int64: the first row, then the second; ``.reshape(2, -1)`` gives the rows.
            ///
            /// signed: numbers are in (-t/2, t/2], and not in [0, t).
            /// coefficients: the coefficients of the polynomial, from 0 to t - 1, and not the slots.
            ///
            /// Raises Error if the noise may have reached the message, ParameterMismatchError for other parameters.
            #[pyo3(signature = (x, key, *, signed = false, coefficients = false))]
            fn decrypt<'py>(
                &self,
                py: Python<'py>,
                x: &$ciphertext,
                key: &PyIntegerSecretKey,
                signed: bool,
                coefficients: bool,
            ) -> PyResult<Bound<'py, PyAny>> {
                let values = detached(py, || {
                    let plaintext = Decryptor::new(&self.0, &key.0.key)?.decrypt(&x.inner)?;
                    let encoder = Encoder::new(&self.0);
                    match (coefficients, signed) {
                        (true, _) => encoder.decode_coefficients(&plaintext),
                        (false, true) => encoder.decode_signed(&plaintext),
                        (false, false) => encoder.decode(&plaintext),
                    }
                })?;
                Ok(values.into_pyarray(py).into_any())
            }

            /// The evaluator of these keys.
            fn evaluator(&self, keys: &PyIntegerEvaluationKeys) -> PyResult<$evaluator> {
                $evaluator::new(self, keys)
            }

            /// A ciphertext of the other scheme as one of this scheme, for free: the same keys serve.
            fn convert(&self, x: &$other) -> $ciphertext {
                $ciphertext { inner: x.inner.clone().convert(), context: self.0.clone(), evaluator: None }
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

            /// What notebooks show.
            fn _repr_html_(&self) -> String {
                table(concat!("Context (", $name, ")"), &explain::of_integer_parameters(self.0.parameters()))
            }
        }

        #[doc = concat!("A vector of integers modulo t, encrypted for ", $name, ".")]
        ///
        /// The operators ``+``, ``-`` and ``*`` are the methods ``add``, ``sub`` and ``mul`` of the evaluator that made
        /// one of the operands, or of the one that there is for their parameters and key; where there are several with
        /// different keys, ``Evaluator.bind`` says which. Ciphertexts are immutable, and can be pickled.
        #[pyclass(frozen, name = $ciphertext_python, module = "noren._noren")]
        #[derive(Clone)]
        pub(crate) struct $ciphertext {
            pub(crate) inner: Ciphertext<$scheme>,
            context: Context,
            /// The evaluator that made it, which its operators use.
            evaluator: Option<$evaluator>,
        }

        impl $ciphertext {
            pub(crate) fn home(&self) -> &Context {
                &self.context
            }

            fn rows(&self) -> Vec<Row> {
                let evaluator = self.evaluator(None);
                let operators = explain::of_operators(evaluator.as_ref().map(|ev| &**ev.0.keys()));
                explain::of_integers(&self.inner).into_iter().chain([operators]).collect()
            }

            /// The evaluator of this ciphertext, or of the other operand, or the one that serves what none made.
            fn evaluator(&self, other: Option<&Bound<'_, PyAny>>) -> PyResult<$evaluator> {
                let of_other = || other?.cast::<Self>().ok()?.get().evaluator.clone();
                self.evaluator.clone().or_else(of_other).map_or_else(|| evaluator_of(self), Ok)
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

            /// The parameters that it belongs to.
            #[getter]
            fn parameters(&self) -> PyIntegerParameters {
                PyIntegerParameters(self.context.parameters().clone())
            }

            /// Bytes in memory.
            #[getter]
            fn nbytes(&self) -> u64 {
                explain::bytes(self.inner.rlwe())
            }

            /// What is known of the ciphertext without a key, in words: numbers, level, noise, size, and which keys its
            /// operators have.
            fn explain(&self) -> String {
                explain::text(concat!("Ciphertext (", $name, ")"), &self.rows())
            }

            /// What notebooks show.
            fn _repr_html_(&self) -> String {
                table(concat!("Ciphertext (", $name, ")"), &self.rows())
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

            fn __neg__(&self, py: Python<'_>) -> PyResult<Self> {
                self.evaluator(None)?.neg(py, self)
            }

            /// Keeps numpy from taking a ciphertext for an array of objects in `array * ciphertext`.
            #[classattr]
            fn __array_ufunc__() -> Option<u8> {
                None
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
        pub(crate) struct $evaluator(
            pub(crate) Evaluator<$scheme>,
            /// That of the object which Python holds, for as long as it lives.
            #[expect(dead_code, reason = "it is there to be dropped with the object")]
            Option<Registration<Self>>,
        );

        /// A copy, such as that of a ciphertext, is not registered.
        impl Clone for $evaluator {
            fn clone(&self) -> Self {
                Self(self.0.clone(), None)
            }
        }

        impl Held for $evaluator {
            type Operand = $ciphertext;

            fn registry() -> &'static Mutex<Vec<Weak<Self>>> {
                static EVALUATORS: Mutex<Vec<Weak<$evaluator>>> = Mutex::new(Vec::new());
                &EVALUATORS
            }

            fn serves(&self, operand: &$ciphertext) -> Match {
                key_sets::serves(self.0.context().rlwe(), self.0.keys(), operand.home().rlwe(), operand.inner.key_id())
            }

            fn covers(&self, other: &Self) -> bool {
                key_sets::covers(self.0.keys(), other.0.keys())
            }
        }

        impl $evaluator {
            /// An evaluator for Python to hold.
            fn held(evaluator: Evaluator<$scheme>) -> Self {
                Self(evaluator.clone(), Some(Registration::new(Self(evaluator, None))))
            }

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
                    return self.run(py, |ev| with_ciphertext(ev, &x.inner, y));
                }
                let numbers = WholeNumbers::of(y)?;
                if let Some(c) = numbers.as_scalar() {
                    return self.run(py, |ev| with_number(ev, &x.inner, &c));
                }
                let context = self.0.context();
                let p = numbers.encode(&Encoder::new(context), context.parameters().degree())?.map_err(raise)?;
                self.run(py, |ev| with_plaintext(ev, &x.inner, &p))
            }
        }

        #[pymethods]
        impl $evaluator {
            #[new]
            fn new(context: &$context, keys: &PyIntegerEvaluationKeys) -> PyResult<Self> {
                Evaluator::new(&context.0, Arc::new(keys.0.key.clone())).map(Self::held).map_err(raise)
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
                Evaluator::new(self.0.context(), Arc::new(merged)).map(Self::held).map_err(raise)
            }

            /// The same ciphertext with operators that use this evaluator, where several are there.
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
                if xs.len() != ys.len() {
                    let message = format!("{} ciphertexts were given beside {}, as many are needed", ys.len(), xs.len());
                    return Err(EncodingError::new_err(message));
                }
                let pairs: Vec<_> = xs.iter().zip(&ys).map(|(x, y)| (&x.get().inner, &y.get().inner)).collect();
                self.run(py, |ev| ev.dot(&pairs))
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
            /// Needs keys for ``rotations_of_sum(count, stride=stride)``.
            #[pyo3(signature = (x, count, *, stride = 1))]
            fn sum(&self, py: Python<'_>, x: &$ciphertext, count: u32, stride: i32) -> PyResult<$ciphertext> {
                let plan = Plan::usual(count.max(1) as usize, stride as isize);
                self.run(py, |ev| plan.apply(ev, &x.inner))
            }

            /// A polynomial of every slot, with integer coefficients, lowest first: ceil(log2(len(coefficients))) levels.
            fn polynomial(
                &self,
                py: Python<'_>,
                x: &$ciphertext,
                coefficients: &Bound<'_, PyAny>,
            ) -> PyResult<$ciphertext> {
                let coefficients = WholeNumbers::of(coefficients)?.entries;
                let polynomial = Polynomial::power(coefficients).map_err(raise)?;
                self.run(py, |ev| polynomial.evaluate(ev, &x.inner))
            }

            /// matrix @ row for both rows, for a matrix of whole numbers of shape (rows, columns).
            ///
            /// Each row of x holds the vector over and over, at a distance of the power of two from max(rows, columns) on,
            /// and so does the result. Needs keys for ``rotations_of_matrix(matrix)``.
            fn matvec(&self, py: Python<'_>, matrix: &Bound<'_, PyAny>, x: &$ciphertext) -> PyResult<$ciphertext> {
                let (rows, columns): (usize, usize) =
                    matrix.py().import("numpy")?.call_method1("asarray", (matrix,))?.getattr("shape")?.extract()?;
                let entries = WholeNumbers::of(matrix)?.entries;
                let map = LinearMap::dense(rows, columns, &entries).map_err(raise)?;
                self.run(py, |ev| map.apply(ev, &x.inner))
            }

            fn __reduce__<'py>(
                &self,
                py: Python<'py>,
            ) -> PyResult<(Bound<'py, PyAny>, ($context, PyIntegerEvaluationKeys))> {
                Ok((py.get_type::<Self>().into_any(), (self.context(), self.keys())))
            }

            fn __repr__(&self) -> String {
                let (n, keys) = (self.0.context().parameters().degree(), self.0.keys());
                display::key("Evaluator", n, &**keys, keys.bytes())
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
