//! `Context`: parameters with their tables; makes keys, encodes, encrypts and decrypts.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::str::FromStr;

use noren::Parallel;
use noren::circuits::trace::Unrolling;
use noren::ckks::{Ciphertexts, Context, Decryptor, Encoder, KeyRequest};
use noren::cost::Party;
use noren::error::Result;
use noren::interrupt::Steps;
use numpy::IntoPyArray;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::admission::warn;
use crate::array::{Numbers, Row, ask_for, detached, no_table};
use crate::ckks::classes::{PyCiphertext, PyContext, PyEvaluator, PyPlaintext};
use crate::ckks::keys::{
    EncryptionKey, PyEvaluationKeys, PyKeys, PyReceiverKey, PyReencryptionKey, PySecretKey, PySuccessor,
};
use crate::ckks::level::Level;
use crate::ckks::parameters::PyParameters;
use crate::ckks::release::PyReleases;
use crate::display::table;
use crate::errors::raise;
use crate::explain;
use crate::files::Filed;
use crate::key_classes::KeyClass;
use crate::pickle::{ContextPickle, Shared, Threading, shared_context};
use crate::reencryption::{DEFAULT_DISTANCE, DEFAULT_RESULTS, cover_of};
use crate::seeds::seed_of;
use crate::vectors::{head, no_values, stacked};
use crate::whole::{Integers, whole};

/// The bytes of keys that are worth a faster sum: 256 MiB.
const DEFAULT_KEY_MEMORY: u64 = 256 << 20;

#[pymethods]
impl PyContext {
    #[new]
    #[pyo3(signature = (parameters, *, threads = None, parallel = None))]
    fn new(
        py: Python<'_>,
        parameters: &PyParameters,
        #[pyo3(from_py_with = whole)] threads: Option<usize>,
        parallel: Option<&str>,
    ) -> PyResult<Self> {
        let parameters = parameters.0.clone();
        let parallel = parallel.map(Parallel::from_str).transpose();
        let parallel = parallel.map_err(|error| PyValueError::new_err(error.to_string()))?.unwrap_or_default();
        warn(py, "Context", parameters.rlwe().security())?;
        detached(py, || Context::with_parallel(parameters, threads, parallel)).map(Self)
    }

    /// The parameters.
    #[getter]
    fn parameters(&self) -> PyParameters {
        PyParameters(self.0.parameters().clone())
    }

    /// How many threads a call can use.
    #[getter]
    fn threads(&self) -> usize {
        Shared::engine(&self.0).threads()
    }

    /// The loops that threads share: "coefficient", "modulus" or "both".
    #[getter]
    fn parallel(&self) -> &'static str {
        Shared::engine(&self.0).parallel().name()
    }

    /// The largest number of slots: half the degree.
    #[getter]
    fn slots(&self) -> usize {
        self.0.parameters().max_slots()
    }

    /// Makes a secret key, its public key and evaluation keys.
    ///
    /// rotations: the rotations that ``Evaluator.rotate`` is to do, by how many slots; negative ones move the other way.
    /// conjugation, relinearization: whether there are keys for ``conjugate`` and for products of ciphertexts.
    /// level: the highest level that the keys serve, None for all; lower keys are smaller and faster.
    /// rotations_at: rotations up to a level of their own, as {steps: level}.
    /// seed: 32 secret bytes from which all keys follow; None draws them from the operating system.
    /// progress: called with (done, of) after each key. What it raises ends the work.
    ///
    /// Raises InsecureError for a key whose modulus is too large, LevelError for a level that there is not.
    #[pyo3(
        signature = (*, rotations = Integers::default(), conjugation = false, relinearization = true, level = None,
            rotations_at = None, seed = None, progress = None),
        text_signature = "($self, *, rotations=(), conjugation=False, relinearization=True, level=None, \
            rotations_at=None, seed=None, progress=None)"
    )]
    #[expect(clippy::too_many_arguments, reason = "they are keyword arguments in Python")]
    fn keygen(
        &self,
        py: Python<'_>,
        rotations: Integers,
        conjugation: bool,
        relinearization: bool,
        level: Option<Level>,
        #[pyo3(from_py_with = whole)] rotations_at: Option<BTreeMap<isize, usize>>,
        seed: Option<&[u8]>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Py<PyKeys>> {
        let request = key_request(rotations, conjugation, relinearization, level, rotations_at);
        warn(py, "keygen", self.0.parameters().rlwe().security())?;
        PyKeys::generate(py, &self.0, &request, seed, progress)
    }

    /// Makes evaluation keys for a secret that there is; ``keys.evaluation | more`` has them beside the others.
    ///
    /// rotations, conjugation, relinearization, level, rotations_at: which keys, as of ``keygen``.
    /// seed: 32 secret bytes from which the keys follow; None draws them from the operating system.
    /// progress: called with (done, of) after each key. What it raises ends the work.
    ///
    /// Raises ParameterMismatchError for a secret of other parameters, and what ``keygen`` raises.
    #[pyo3(
        signature = (secret, *, rotations = Integers::default(), conjugation = false, relinearization = false,
            level = None, rotations_at = None, seed = None, progress = None),
        text_signature = "($self, secret, *, rotations=(), conjugation=False, relinearization=False, level=None, \
            rotations_at=None, seed=None, progress=None)"
    )]
    #[expect(clippy::too_many_arguments, reason = "they are keyword arguments in Python")]
    fn evaluation_keys(
        &self,
        py: Python<'_>,
        secret: &PySecretKey,
        rotations: Integers,
        conjugation: bool,
        relinearization: bool,
        level: Option<Level>,
        #[pyo3(from_py_with = whole)] rotations_at: Option<BTreeMap<isize, usize>>,
        seed: Option<&[u8]>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Py<PyEvaluationKeys>> {
        let request = key_request(rotations, conjugation, relinearization, level, rotations_at);
        PyEvaluationKeys::generate(py, &self.0, secret, &request, seed, progress)
    }

    /// Makes the key that re-encrypts ciphertexts of an old secret key for a new one of the same parameters (key rotation), or for
    /// another owner, of whom `new` is a ReceiverKey.
    ///
    /// Once everything is re-encrypted, the old secret can be destroyed. **Whoever has the key and the new secret has the old one too**:
    /// a key for another owner goes to a server that does not work together with that owner.
    ///
    /// seed: 32 secret bytes from which the key follows; None draws them from the operating system.
    ///
    /// Raises ParameterMismatchError for keys of other parameters, Error without special primes, and if both are one.
    #[pyo3(signature = (old, new, *, seed = None))]
    fn reencryption_key(
        &self,
        py: Python<'_>,
        old: &PySecretKey,
        new: PySuccessor,
        seed: Option<&[u8]>,
    ) -> PyResult<Py<PyReencryptionKey>> {
        let (seed, old) = (seed_of(seed)?, old.0.key());
        let key = detached(py, || match &new {
            PySuccessor::Secret(new) => self.0.reencryption_key(old, new.0.key(), seed),
            PySuccessor::Receiver(new) => self.0.reencryption_key_for(old, new.0.key(), seed),
        })?;
        PyReencryptionKey::new(py, &self.0, key)
    }

    /// Makes the public key with which others re-encrypt for this secret.
    ///
    /// seed: 32 secret bytes from which the key follows; None draws them from the operating system.
    ///
    /// Raises ParameterMismatchError for a secret of other parameters, Error without special primes.
    #[pyo3(signature = (secret, *, seed = None))]
    fn receiver_key(&self, py: Python<'_>, secret: &PySecretKey, seed: Option<&[u8]>) -> PyResult<Py<PyReceiverKey>> {
        let (seed, secret) = (seed_of(seed)?, secret.0.key());
        let key = detached(py, || self.0.receiver_key(secret, seed))?;
        PyReceiverKey::new(py, &self.0, key)
    }

    /// A ciphertext, or a list of them, under the new secret of a re-encryption key; its error grows as by a rotation.
    ///
    /// With a key for another owner, an encryption of zero is added, and nothing else: see
    /// `flood`.
    ///
    /// flood: False lets the owner see the noise of ciphertexts, which depends on the secret key and on what was computed. It must be asked
    ///     for by ``flood=False``, because a flood would take the precision of the numbers: what must tell nothing but its message goes
    ///     as integers.
    /// results: how many ciphertexts the owner ever gets, these among them.
    /// distance: bits of the statistical distance between what the owner sees of all of them and what follows from the messages.
    /// seed: 32 secret bytes that are used for this call alone; None draws them from the operating system.
    ///
    /// Raises Error for a ciphertext of another secret, for a product that was not relinearised, and where the noise leaves no room for
    /// the flood; ParameterMismatchError for other parameters.
    #[pyo3(
        signature = (x, key, *, flood = true, results = DEFAULT_RESULTS, distance = DEFAULT_DISTANCE, seed = None),
        text_signature = "($self, x, key, *, flood=True, results=65536, distance=64, seed=None)"
    )]
    #[expect(clippy::too_many_arguments, reason = "they are keyword arguments in Python")]
    fn reencrypt<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
        key: &PyReencryptionKey,
        flood: bool,
        #[pyo3(from_py_with = whole)] results: u64,
        #[pyo3(from_py_with = whole)] distance: u32,
        seed: Option<&[u8]>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let cover = cover_of(flood, results, distance)?;
        let seed = seed_of(seed)?;
        let held = Filed::of(x, |x| Ok(x.cast::<PyCiphertext>()?.get().inner.clone()))?;
        let key = key.0.key();
        let changed = held.changed(py, |all| match key.is_for_another_owner() {
            true => self.0.reencrypt_many_for(all, key, cover, &seed),
            false => self.0.reencrypt_many(all, key),
        })?;
        changed.wrap(py, |inner| PyCiphertext::new(&self.0, inner, None))
    }

    /// The number of steps in which ``Evaluator.sum`` of ``count`` slots is fastest at a level, None for the highest, with
    /// keys of at most `key_memory` bytes.
    ///
    /// It is predicted from the parameters alone, and so the same on every machine. Make the keys of
    /// ``rotations_of_sum(count, steps=...)`` for it.
    ///
    /// Raises Error if no number of steps has keys as small as that: the message says how many bytes are needed.
    #[pyo3(
        signature = (count, *, level = None, key_memory = DEFAULT_KEY_MEMORY),
        text_signature = "($self, count, *, level=None, key_memory=268435456)"
    )]
    fn steps_of_sum(
        &self,
        #[pyo3(from_py_with = whole)] count: u32,
        level: Option<Level>,
        #[pyo3(from_py_with = whole)] key_memory: u64,
    ) -> PyResult<usize> {
        let parameters = self.0.parameters();
        let costs = Party::reference().rotations(parameters.rlwe(), Level::or_highest(level, parameters) + 1);
        let plan = costs.and_then(|costs| Unrolling::fastest(count as usize, 1, &costs, key_memory)).map_err(raise)?;
        Ok(plan.steps())
    }

    /// Encodes a vector of at most `slots` real or complex numbers; zeros fill the slots after them, or copies if `repeat`.
    ///
    /// slots: a power of two, None for as many as there are.
    /// level: where it is to be used, None for the highest level.
    ///
    /// Raises EncodingError for numbers that are not finite, too large for the level or too many, LevelError for a
    /// level that there is not.
    #[pyo3(signature = (values, *, slots = None, level = None, repeat = false))]
    fn encode(
        &self,
        py: Python<'_>,
        values: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = whole)] slots: Option<usize>,
        level: Option<Level>,
        repeat: bool,
    ) -> PyResult<PyPlaintext> {
        let numbers = Numbers::of(values)?;
        let row = numbers.as_vector()?;
        let row = if numbers.len() == 0 { Err(no_values()) } else { Ok(row) }?;
        let (slots, level) = self.shape(slots, level);
        let inner = detached(py, || self.encode_row(row, slots, level, repeat))?;
        Ok(PyPlaintext::new(&self.0, inner))
    }

    /// The numbers in a plaintext: float64 of its shape, or complex128 if `complex`.
    ///
    /// complex: None for real numbers; False takes the real parts of complex ones.
    ///
    /// Raises RangeError for a plaintext of complex numbers if `complex` is None.
    #[pyo3(signature = (plaintext, *, complex = None))]
    fn decode<'py>(
        &self,
        py: Python<'py>,
        plaintext: &PyPlaintext,
        complex: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (encoder, inner) = (Encoder::new(&self.0), &plaintext.inner);
        let values = match complex {
            Some(true) => detached(py, || encoder.decode_complex(inner))?.into_pyarray(py).into_any(),
            Some(false) => detached(py, || encoder.decode_real_parts(inner))?.into_pyarray(py).into_any(),
            None => detached(py, || encoder.decode_real(inner))?.into_pyarray(py).into_any(),
        };
        head(values, inner.extent().values())
    }

    /// Encrypts a vector of at most `slots` real or complex numbers, or each row of an array of shape (k, m) by itself.
    ///
    /// Returns a Ciphertext, or a list of k. Zeros fill the slots after the values. A ciphertext tells, in clear, how many
    /// values it has, and a bound on them: the largest rounded up to an eighth of the power of two below it, and at least 1,
    /// so that values in [-1, 1] give nothing away.
    ///
    /// key: a PublicKey, or the SecretKey: then the error is smaller, and the ciphertext takes half the bytes.
    /// slots: a power of two, None for as many as there are.
    /// level: the level of the ciphertext, None for the highest.
    /// repeat: copies follow the values in place of zeros, at a distance of the power of two from their number on, so that
    ///     they rotate among themselves, and products with matrices take fewer rotations.
    /// seed: 32 secret bytes that are used for this call alone; None draws them from the operating system.
    /// within: what is to be told of the values instead: a bound on absolute values, or a pair (low, high) for real values.
    ///     Zeros that fill slots count. Bounds on errors and polynomials on an interval follow from it.
    ///
    /// Raises Error for values outside `within`.
    /// Raises EncodingError for numbers that are not finite, too large for the level or too many, LevelError for a
    /// level that there is not, ParameterMismatchError for a key of other parameters.
    #[pyo3(signature = (values, key, *, slots = None, level = None, repeat = false, seed = None, within = None))]
    #[expect(clippy::too_many_arguments, reason = "they are keyword arguments in Python")]
    fn encrypt<'py>(
        &self,
        py: Python<'py>,
        values: &Bound<'py, PyAny>,
        key: EncryptionKey,
        #[pyo3(from_py_with = whole)] slots: Option<usize>,
        level: Option<Level>,
        repeat: bool,
        seed: Option<&[u8]>,
        within: Option<Within>,
    ) -> PyResult<Bound<'py, PyAny>> {
        no_table(values)?;
        let numbers = Numbers::of(values)?;
        let rows = numbers.rows()?;
        let (slots, level) = self.shape(slots, level);
        let words = (2 * (level.min(self.0.parameters().max_level()) + 1)) * self.0.parameters().degree();
        ask_for::<u64>(words.saturating_mul(rows.len()))?;
        let seed = seed_of(seed)?;
        let encrypted = detached(py, || {
            let encryptor = key.encryptor(&self.0, seed)?;
            let steps = Steps::new(rows.len());
            let encrypt = |row: &Row<'_>| {
                steps.advance(1);
                let plaintext = self.encode_row(*row, slots, level, repeat)?;
                match within {
                    None => encryptor.encrypt(&plaintext),
                    Some(Within::Magnitude(magnitude)) => encryptor.encrypt_within(&plaintext, magnitude),
                    Some(Within::Interval(low, high)) => encryptor.encrypt_in(&plaintext, [low, high]),
                }
            };
            rows.iter().map(encrypt).collect::<Result<Vec<_>>>()
        })?;
        let mut wrapped = Vec::with_capacity(encrypted.len());
        for inner in encrypted {
            wrapped.push(Bound::new(py, PyCiphertext::new(&self.0, inner, None))?);
        }
        if numbers.is_vector() {
            return Ok(wrapped.remove(0).into_any());
        }
        Ok(PyList::new(py, wrapped)?.into_any())
    }

    /// Decrypts a ciphertext to its shape, or a sequence of k of them, of one shape (n,), to shape (k, n).
    ///
    /// The shape is that of the values that were encrypted, or that of all slots once values were moved between them:
    /// ``Ciphertext.shape``.
    ///
    /// The numbers are float64, or complex128 if `complex`. Their last digits hold traces of the secret key: **they are for
    /// the owner of the key alone**. To hand results on, see ``decrypt_for_release``.
    ///
    /// complex: None for real numbers; False drops the imaginary parts of complex ones.
    /// allow_unbounded: whether to decrypt what may have left its modulus too, where ``error_bound`` is infinite: the
    ///     numbers may be wrong by any amount.
    ///
    /// Raises ParameterMismatchError for a key or ciphertext of other parameters, RangeError for an infinite bound on the
    /// error, and for numbers that may be complex if `complex` is None.
    #[pyo3(signature = (ciphertext, key, *, complex = None, allow_unbounded = false))]
    fn decrypt<'py>(
        &self,
        py: Python<'py>,
        ciphertext: &Bound<'py, PyAny>,
        key: &PySecretKey,
        complex: Option<bool>,
        allow_unbounded: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        if let Ok(ciphertext) = ciphertext.cast::<PyCiphertext>() {
            let ciphertext = ciphertext.get();
            return head(
                self.decrypt_one(py, ciphertext, key, complex, allow_unbounded)?,
                ciphertext.inner.extent().values(),
            );
        }
        let ciphertexts = ciphertext.extract::<Vec<Bound<'py, PyCiphertext>>>()?;
        let row = |one: &Bound<'py, PyCiphertext>| {
            let row = self.decrypt_one(py, one.get(), key, complex, allow_unbounded)?;
            head(row, one.get().inner.extent().values())
        };
        stacked(py, ciphertexts.iter().map(row).collect::<PyResult<Vec<_>>>()?)
    }

    /// Decrypts to multiples of 2^-bits that may be handed on: noise that floods the error of the encryption is added
    /// before rounding.
    ///
    /// releases: how many decryptions of this key are handed on, of which this one counts as one; see ``Releases``. Without
    ///     it this is the only one.
    ///
    /// Returns float64 of the shape of the ciphertext, within 1.5 * 2^-bits of the decryption. The same ciphertext gives the
    /// same numbers again. Fewer values (``x.with_length(n)``) take less noise.
    ///
    /// Raises Error if the error bound is too large for ``bits`` bits, with the number of bits that it allows (about
    /// -log2(error_bound) - 22.6 for one value), and if all planned releases were made.
    #[pyo3(signature = (ciphertext, key, *, bits, releases = None))]
    fn decrypt_for_release<'py>(
        &self,
        py: Python<'py>,
        ciphertext: &PyCiphertext,
        key: &PySecretKey,
        #[pyo3(from_py_with = whole)] bits: i32,
        releases: Option<&PyReleases>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (inner, key) = (&ciphertext.inner, key.0.key());
        let values = detached(py, || {
            let decryptor = Decryptor::new(&self.0, key)?;
            PyReleases::with(releases, |releases| decryptor.decrypt_for_release(inner, bits, releases))
        })?;
        Ok(values.into_pyarray(py).into_any())
    }

    /// Writes a ciphertext, or a list of them, to a file, as a whole or not at all; one that exists is
    /// replaced. Raises OSError.
    fn save(&self, py: Python<'_>, path: PathBuf, ciphertexts: &Bound<'_, PyAny>) -> PyResult<()> {
        let held = Filed::of(ciphertexts, |x| Ok(x.cast::<PyCiphertext>()?.get().inner.clone()))?;
        held.save(py, &self.0, &path, Ciphertexts)
    }

    /// Reads what ``save`` wrote: a Ciphertext, or a list.
    ///
    /// Raises OSError, WireError for files that are damaged or of another kind, ParameterMismatchError for other parameters.
    fn load<'py>(&self, py: Python<'py>, path: PathBuf) -> PyResult<Bound<'py, PyAny>> {
        let held = Filed::load(py, &self.0, &path, |list: Ciphertexts| list.0)?;
        held.wrap(py, |inner| PyCiphertext::new(&self.0, inner, None))
    }

    /// An evaluator with these keys.
    ///
    /// Raises ParameterMismatchError for keys of other parameters.
    fn evaluator(&self, keys: &PyEvaluationKeys) -> PyResult<PyEvaluator> {
        PyEvaluator::new(self, keys)
    }

    #[staticmethod]
    fn _unpickle(py: Python<'_>, parameters: &PyParameters, threading: Threading) -> PyResult<Self> {
        shared_context(py, &parameters.0, &threading).map(Self)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<ContextPickle<'py, PyParameters>> {
        Ok((py.get_type::<Self>().getattr("_unpickle")?, (self.parameters(), self.0.threading())))
    }

    fn __repr__(&self) -> String {
        format!("Context(n={}, max_level={})", self.0.parameters().degree(), self.0.parameters().max_level())
    }

    /// The table that notebooks show.
    fn _repr_html_(&self) -> String {
        table("Context (CKKS)", &explain::of_ckks_parameters(self.0.parameters()))
    }
}

/// The request of `keygen` and `evaluation_keys`.
fn key_request(
    rotations: Integers,
    conjugation: bool,
    relinearization: bool,
    level: Option<Level>,
    rotations_at: Option<BTreeMap<isize, usize>>,
) -> KeyRequest {
    KeyRequest {
        relinearization,
        rotations: rotations.0,
        conjugation,
        level: level.map(Level::get),
        rotations_at: rotations_at.unwrap_or_default().into_iter().collect(),
    }
}

impl PyContext {
    /// Slots and level, the largest where none is given.
    fn shape(&self, slots: Option<usize>, level: Option<Level>) -> (usize, usize) {
        let parameters = self.0.parameters();
        (slots.unwrap_or_else(|| parameters.max_slots()), Level::or_highest(level, parameters))
    }

    fn encode_row(&self, row: Row<'_>, slots: usize, level: usize, repeat: bool) -> Result<noren::ckks::Plaintext> {
        if repeat {
            return row.encode_repeated(&Encoder::new(&self.0), slots, level);
        }
        let parameters = self.0.parameters();
        // The encoder refuses levels that there are not; they have no scale.
        let scale = parameters.scale_at(level.min(parameters.max_level()));
        row.encode(&Encoder::new(&self.0), slots, level, scale)
    }

    fn decrypt_one<'py>(
        &self,
        py: Python<'py>,
        ciphertext: &PyCiphertext,
        key: &PySecretKey,
        complex: Option<bool>,
        allow_unbounded: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (inner, key) = (&ciphertext.inner, key.0.key());
        let decryptor = || {
            let decryptor = Decryptor::new(&self.0, key)?;
            Ok::<_, noren::Error>(if allow_unbounded { decryptor.allow_unbounded() } else { decryptor })
        };
        match complex {
            Some(true) => Ok(detached(py, || decryptor()?.decrypt_complex(inner))?.into_pyarray(py).into_any()),
            Some(false) => Ok(detached(py, || decryptor()?.decrypt_real_parts(inner))?.into_pyarray(py).into_any()),
            None => Ok(detached(py, || decryptor()?.decrypt_real(inner))?.into_pyarray(py).into_any()),
        }
    }
}

/// The statements of a caller about values that are encrypted.
#[derive(Clone, Copy, FromPyObject)]
pub(crate) enum Within {
    /// A bound on absolute values.
    Magnitude(f64),
    /// Where real values lie.
    Interval(f64, f64),
}
