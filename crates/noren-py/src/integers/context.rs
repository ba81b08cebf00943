//! `Context` of both schemes, the base of their classes: keys, encryption, decryption, files.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use noren::bfv::Bfv;
use noren::bgv::{Bgv, Context, Decryptor, Encoder, KeyRequest, Plaintext, SlotMatrix};
use noren::error::Result;
use noren::schemes::integers::{Ciphertext, Ciphertexts, Encryptor, Evaluator, Scheme};
use noren::{Cover, ReencryptionKey, Seed};
use numpy::{IntoPyArray, PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyType;

use crate::admission;
use crate::array::{ask_for, detached, detached_by, no_table};
use crate::display::table;
use crate::errors::{raise, raise_of_integers};
use crate::explain;
use crate::exponent;
use crate::files::Filed;
use crate::integers::classes::{PyEncrypted, PyIntegerContext, PyIntegerEvaluator};
use crate::integers::either::{AnyCiphertext, Either, each, other_class};
use crate::integers::keys::{
    IntegerEncryptionKey, PyIntegerEvaluationKeys, PyIntegerKeys, PyIntegerReceiverKey, PyIntegerReencryptionKey,
    PyIntegerSecretKey, PyIntegerSuccessor,
};
use crate::integers::parameters::PyIntegerParameters;
use crate::integers::plaintext::{Layout, WholeNumbers, check_parameters, check_read, read};
use crate::integers::schemes::PyBgvContext;
use crate::integers::slot_matrix::rotation_keys;
use crate::key_classes::KeyClass;
use crate::pickle::{ContextPickle, Shared, Threading, shared_context};
use crate::progress::Heard;
use crate::reencryption::{DEFAULT_DISTANCE, DEFAULT_RESULTS, cover_of};
use crate::seeds::seed_of;
use crate::vectors::{head, stacked};
use crate::whole::{Integers, whole};

impl PyIntegerContext {
    /// The context of the parameters, which are those of both schemes.
    pub(crate) fn shared(&self) -> &Context {
        self.0.as_ref().same()
    }

    /// The context, if it is one of BFV.
    pub(crate) fn bfv(&self) -> PyResult<&Context> {
        if let Either::Bfv(context) = &self.0 { Ok(context) } else { Err(other_class("Context")) }
    }

    fn encrypted(&self, inner: AnyCiphertext) -> PyEncrypted {
        PyEncrypted::new(inner, self.shared())
    }

    /// A ciphertext of the scheme of this context.
    fn own<'a>(&self, x: &'a Bound<'_, PyAny>) -> PyResult<&'a PyEncrypted> {
        let x = x.cast::<PyEncrypted>()?.get();
        self.0.as_ref().with(x.inner.as_ref()).map(|_| x).ok_or_else(|| other_class("Ciphertext"))
    }

    fn decrypt_one<'py>(
        &self,
        py: Python<'py>,
        x: &PyEncrypted,
        key: &PyIntegerSecretKey,
        form: Layout,
        signed: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let content = x.inner.content();
        check_read(content, form)?;
        let (values, width) = detached_by(py, raise_of_integers, || {
            let decryptor = Decryptor::new(self.shared(), key.0.key())?;
            let plaintext = each!(&x.inner, |x| decryptor.decrypt(x)).same()?;
            read(&Encoder::new(self.shared()), &plaintext, form, signed)
        })?;
        let values = values.into_pyarray(py);
        if let Some(width) = width {
            let rows = values.len()? / width;
            return head(values.reshape([rows, width])?.into_any(), content.extent().values());
        }
        head(values.into_any(), content.extent().values())
    }
}

#[pymethods]
impl PyIntegerContext {
    /// The parameters.
    #[getter]
    fn parameters(&self) -> PyIntegerParameters {
        PyIntegerParameters(self.shared().parameters().clone())
    }

    /// How many threads a call can use.
    #[getter]
    fn threads(&self) -> usize {
        Shared::engine(self.shared()).threads()
    }

    /// Makes a secret key, its public key and evaluation keys.
    ///
    /// rotations: the rotations that ``Evaluator.rotate`` is to do, by how many slots of both rows.
    /// swap, relinearization: whether there are keys for ``swap_rows`` and for products of ciphertexts.
    /// automorphisms: the exponents k of automorphisms X -> X^k, such as those of ``SlotMatrix.automorphisms``,
    ///     ``rotation_along`` and ``frobenius_exponent``.
    /// limbs: the most primes of ciphertexts that the keys serve, None for all; such keys are smaller and faster.
    /// seed: 32 secret bytes from which all keys follow; None draws them from the operating system.
    /// progress: called with (done, of) after each key. What it raises ends the work.
    ///
    /// Raises InsecureError for a key whose modulus is too large, Error for limbs that there are not.
    #[pyo3(
        signature = (*, rotations = Integers::default(), swap = false, relinearization = true,
            automorphisms = Integers::default(), limbs = None, seed = None, progress = None),
        text_signature = "($self, *, rotations=(), swap=False, relinearization=True, automorphisms=(), \
            limbs=None, seed=None, progress=None)"
    )]
    #[expect(clippy::too_many_arguments, reason = "they are keyword arguments in Python")]
    fn keygen(
        &self,
        py: Python<'_>,
        rotations: Integers,
        swap: bool,
        relinearization: bool,
        automorphisms: Integers,
        #[pyo3(from_py_with = whole)] limbs: Option<usize>,
        seed: Option<&[u8]>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Py<PyIntegerKeys>> {
        admission::warn(py, "keygen", self.shared().parameters().rlwe().security())?;
        let (rotations, automorphisms, rotations_at) =
            (rotations.0, exponent::automorphisms(&automorphisms)?, Vec::new());
        let request = KeyRequest { relinearization, rotations, swap, automorphisms, limbs, rotations_at };
        let seed = seed_of(seed)?;
        let heard = Heard::new(progress);
        let hear = |done, of| heard.call(done, of);
        let keys = heard.watch(py, || self.shared().generate_keys_with_progress(seed, &request, Some(&hear)))?;
        PyIntegerKeys::new(py, self.shared(), keys)
    }

    /// Makes evaluation keys for a secret that there is; ``keys.evaluation | more`` has them beside the others.
    ///
    /// rotations, swap, relinearization, automorphisms, limbs: which keys, as of ``keygen``.
    /// rotations_at: rotations up to limbs of their own, as {steps: limbs}.
    /// seed: 32 secret bytes from which the keys follow; None draws them from the operating system.
    /// progress: called with (done, of) after each key. What it raises ends the work.
    ///
    /// Raises ParameterMismatchError for a secret of other parameters, and what ``keygen`` raises.
    #[pyo3(
        signature = (secret, *, rotations = Integers::default(), swap = false, relinearization = false,
            automorphisms = Integers::default(), limbs = None, rotations_at = None, seed = None, progress = None),
        text_signature = "($self, secret, *, rotations=(), swap=False, relinearization=False, \
            automorphisms=(), limbs=None, rotations_at=None, seed=None, progress=None)"
    )]
    #[expect(clippy::too_many_arguments, reason = "they are keyword arguments in Python")]
    fn evaluation_keys(
        &self,
        py: Python<'_>,
        secret: &PyIntegerSecretKey,
        rotations: Integers,
        swap: bool,
        relinearization: bool,
        automorphisms: Integers,
        #[pyo3(from_py_with = whole)] limbs: Option<usize>,
        #[pyo3(from_py_with = whole)] rotations_at: Option<BTreeMap<isize, usize>>,
        seed: Option<&[u8]>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Py<PyIntegerEvaluationKeys>> {
        let rotations_at = rotations_at.unwrap_or_default().into_iter().collect();
        let (rotations, automorphisms) = (rotations.0, exponent::automorphisms(&automorphisms)?);
        let request = KeyRequest { relinearization, rotations, swap, automorphisms, limbs, rotations_at };
        let (seed, heard, secret) = (seed_of(seed)?, Heard::new(progress), secret.0.key());
        let hear = |done, of| heard.call(done, of);
        let keys = heard.watch(py, || self.shared().evaluation_keys(secret, seed, &request, Some(&hear)))?;
        PyIntegerEvaluationKeys::new(py, self.shared(), keys)
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
        old: &PyIntegerSecretKey,
        new: PyIntegerSuccessor,
        seed: Option<&[u8]>,
    ) -> PyResult<Py<PyIntegerReencryptionKey>> {
        let (seed, old) = (seed_of(seed)?, old.0.key());
        let key = detached(py, || match &new {
            PyIntegerSuccessor::Secret(new) => self.shared().reencryption_key(old, new.0.key(), seed),
            PyIntegerSuccessor::Receiver(new) => self.shared().reencryption_key_for(old, new.0.key(), seed),
        })?;
        PyIntegerReencryptionKey::new(py, self.shared(), key)
    }

    /// Makes the public key with which others re-encrypt for this secret.
    ///
    /// seed: 32 secret bytes from which the key follows; None draws them from the operating system.
    ///
    /// Raises ParameterMismatchError for a secret of other parameters, Error without special primes.
    #[pyo3(signature = (secret, *, seed = None))]
    fn receiver_key(
        &self,
        py: Python<'_>,
        secret: &PyIntegerSecretKey,
        seed: Option<&[u8]>,
    ) -> PyResult<Py<PyIntegerReceiverKey>> {
        let (seed, secret) = (seed_of(seed)?, secret.0.key());
        let key = detached(py, || self.shared().receiver_key(secret, seed))?;
        PyIntegerReceiverKey::new(py, self.shared(), key)
    }

    /// A ciphertext, or a list of them, under the new secret of a re-encryption key; its noise grows as by a rotation.
    ///
    /// With a key for another owner, an encryption of zero is added, and noise that floods the
    /// noise of the ciphertext, so that the owner learns the message and nothing else.
    ///
    /// flood: False lets the owner see the noise of ciphertexts, which depends on the secret key and on what was computed.
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
        key: &PyIntegerReencryptionKey,
        flood: bool,
        #[pyo3(from_py_with = whole)] results: u64,
        #[pyo3(from_py_with = whole)] distance: u32,
        seed: Option<&[u8]>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let cover = cover_of(flood, results, distance)?;
        let seed = seed_of(seed)?;
        let key = key.0.key();
        match &self.0 {
            Either::Bgv(context) => Filed::of(x, |x| x.cast::<PyEncrypted>()?.get().bgv().cloned())?
                .changed(py, |all| reencrypted(context, all, key, cover, &seed))?
                .wrap(py, |x| self.encrypted(Either::Bgv(x))),
            Either::Bfv(context) => Filed::of(x, |x| x.cast::<PyEncrypted>()?.get().bfv().cloned())?
                .changed(py, |all| reencrypted(context, all, key, cover, &seed))?
                .wrap(py, |x| self.encrypted(Either::Bfv(x))),
        }
    }

    /// The exponents of the automorphisms with which ``Evaluator.rotate_along`` rotates slots by these steps, a
    /// number for each of ``Parameters.dimensions``.
    ///
    /// Raises EncodingError for another count of steps, Error in a ring without such dimensions.
    fn rotation_along(&self, steps: Integers) -> PyResult<Vec<u32>> {
        self.shared().rotation_along(&steps.0).map_err(raise_of_integers)
    }

    /// The exponents of the automorphisms of a set of keys for rotations along dimensions and powers of the
    /// Frobenius automorphism: ``"full"`` (one key switch a rotation), ``"baby-giant"`` (about 2 sqrt(D) keys for D
    /// slots along a dimension, two key switches) or ``"minimal"`` (the generators, up to D key switches).
    ///
    /// Raises Error in a ring without such dimensions, ValueError for another name.
    fn automorphisms_of_rotations(&self, keys: &str) -> PyResult<Vec<u32>> {
        let set = rotation_keys(keys)?;
        self.shared().automorphisms_of_rotations(set).map_err(raise_of_integers)
    }

    /// The exponent of the Frobenius automorphism to the power i in each slot: p^i mod m.
    ///
    /// Raises Error in a ring whose slots hold numbers alone.
    fn frobenius_exponent(&self, #[pyo3(from_py_with = whole)] i: usize) -> PyResult<u32> {
        self.shared().frobenius_exponent(i).map_err(raise_of_integers)
    }

    /// The exponents of the automorphisms whose keys every matrix of numbers or of elements needs, and with ``maps``
    /// every matrix of linear maps: those of a given ``SlotMatrix`` are some of them.
    ///
    /// Raises Error in a ring whose slots hold numbers alone.
    #[pyo3(signature = (*, maps = false))]
    fn automorphisms_of_matrices(&self, maps: bool) -> PyResult<Vec<u32>> {
        SlotMatrix::automorphisms_of_all(self.shared(), maps).map_err(raise_of_integers)
    }

    /// The coefficients of the monic polynomial G of degree d, the constant one first: slots hold elements of
    /// GR(p^r, d) = Z_(p^r)[Y]/G(Y).
    ///
    /// Raises Error in a ring whose slots hold numbers alone.
    #[getter]
    fn slot_modulus<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let ring = detached_by(py, raise_of_integers, || self.shared().galois_ring())?;
        Ok(ring.modulus().iter().map(|x| x.cast_signed()).collect::<Vec<_>>().into_pyarray(py))
    }

    /// Encrypts a vector of at most as many whole numbers from -t/2 to t - 1 as there are slots, or each row of an
    /// array of shape (k, count) by itself.
    ///
    /// Returns a ciphertext, or a list of k. Zeros fill the slots after the numbers, those of the first row first. A
    /// ciphertext tells in clear how many numbers it has.
    ///
    /// key: a PublicKey, or the SecretKey: then the noise is smaller, and the ciphertext takes half the bytes.
    /// coefficients: the numbers are coefficients of a polynomial, for any t, and not slots.
    /// elements: the last axis has the d coefficients of each element of GR(p^r, d), the constant one first: arrays of
    ///     shape (count, d), or (k, count, d).
    /// repeat: copies follow the numbers in place of zeros, in both rows, at a distance of the power of two from their
    ///     count on, so that they rotate among themselves, and products with matrices take fewer rotations.
    /// seed: 32 secret bytes that are used for this call alone; None draws them from the operating system.
    ///
    /// Raises EncodingError for numbers out of range or too many, Error if t has no slots.
    #[pyo3(signature = (values, key, *, coefficients = false, elements = false, repeat = false, seed = None))]
    #[expect(clippy::too_many_arguments, reason = "they are keyword arguments in Python")]
    fn encrypt<'py>(
        &self,
        py: Python<'py>,
        values: &Bound<'py, PyAny>,
        key: IntegerEncryptionKey,
        coefficients: bool,
        elements: bool,
        repeat: bool,
        seed: Option<&[u8]>,
    ) -> PyResult<Bound<'py, PyAny>> {
        no_table(values)?;
        let (numbers, form) = (WholeNumbers::of(values)?, Layout::of(coefficients, elements, repeat)?);
        let (plaintexts, seed) = (numbers.encode(&Encoder::new(self.shared()), form)?, seed_of(seed)?);
        let words = 2 * self.shared().parameters().max_limbs() * self.shared().parameters().degree();
        ask_for::<u64>(words.saturating_mul(plaintexts.len()))?;
        let encrypted: Either<Vec<Ciphertext<Bgv>>, Vec<Ciphertext<Bfv>>> = detached_by(py, raise_of_integers, || {
            each!(&self.0, |context| encrypt_all(&plaintexts, &key.encryptor(context, seed)?)).transpose()
        })?;
        let mut encrypted = encrypted.into_vec();
        let held = if numbers.is_single(form) { Filed::One(encrypted.remove(0)) } else { Filed::Several(encrypted) };
        held.wrap(py, |inner| self.encrypted(inner))
    }

    /// Decrypts a ciphertext to int64 of its shape, or a sequence of k of them, of one shape, to an array of one
    /// more dimension.
    ///
    /// The shape is that of the numbers that were encrypted, or that of all slots once numbers were moved between them:
    /// where there are rows, the first, then the second, and ``.reshape(2, -1)`` gives the rows; where slots have
    /// dimensions, ``.reshape([size for size, _ in parameters.dimensions])`` gives the hypercube.
    ///
    /// signed: numbers are in (-t/2, t/2], and not in [0, t).
    /// coefficients: the numbers are coefficients, as they must have been encrypted, and not slots.
    /// elements: slots are elements of GR(p^r, d), whose d coefficients are along a last axis of their own.
    ///
    /// Raises Error if the noise may have reached the message or a slot holds an element that is no number,
    /// ParameterMismatchError for other parameters.
    #[pyo3(signature = (x, key, *, signed = false, coefficients = false, elements = false))]
    fn decrypt<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
        key: &PyIntegerSecretKey,
        signed: bool,
        coefficients: bool,
        elements: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let form = Layout::of(coefficients, elements, false)?;
        if let Ok(x) = self.own(x) {
            return self.decrypt_one(py, x, key, form, signed);
        }
        let all = x.extract::<Vec<Bound<'py, PyAny>>>()?;
        let all = all.iter().map(|x| self.own(x)).collect::<PyResult<Vec<_>>>()?;
        let rows = all.into_iter().map(|x| self.decrypt_one(py, x, key, form, signed));
        stacked(py, rows.collect::<PyResult<Vec<_>>>()?)
    }

    /// Writes a ciphertext, or a list of them, to a file, as a whole or not at all; one that exists is
    /// replaced. Raises OSError.
    fn save(&self, py: Python<'_>, path: PathBuf, ciphertexts: &Bound<'_, PyAny>) -> PyResult<()> {
        match &self.0 {
            Either::Bgv(context) => {
                let held = Filed::of(ciphertexts, |x| x.cast::<PyEncrypted>()?.get().bgv().cloned())?;
                held.save(py, context, &path, Ciphertexts)
            }
            Either::Bfv(context) => {
                let held = Filed::of(ciphertexts, |x| x.cast::<PyEncrypted>()?.get().bfv().cloned())?;
                held.save(py, context, &path, Ciphertexts)
            }
        }
    }

    /// Reads what ``save`` wrote: a ciphertext, or a list.
    ///
    /// Raises OSError, WireError for files that are damaged or of another kind, ParameterMismatchError for other
    /// parameters.
    fn load<'py>(&self, py: Python<'py>, path: PathBuf) -> PyResult<Bound<'py, PyAny>> {
        match &self.0 {
            Either::Bgv(context) => Filed::load(py, context, &path, |list: Ciphertexts<Bgv>| list.0)?
                .wrap(py, |x| self.encrypted(Either::Bgv(x))),
            Either::Bfv(context) => Filed::load(py, context, &path, |list: Ciphertexts<Bfv>| list.0)?
                .wrap(py, |x| self.encrypted(Either::Bfv(x))),
        }
    }

    /// The evaluator of these keys.
    fn evaluator(&self, keys: &PyIntegerEvaluationKeys) -> PyResult<PyIntegerEvaluator> {
        let keys = Arc::new(keys.0.key().clone());
        let evaluator = each!(&self.0, |context| Evaluator::new(context, keys)).transpose();
        evaluator.map(PyIntegerEvaluator::unregistered).map_err(raise)
    }

    /// A ciphertext of the other scheme as one of this scheme, for free: the same keys serve.
    ///
    /// Raises ParameterMismatchError for a ciphertext of other parameters.
    fn convert(&self, x: &PyEncrypted) -> PyResult<PyEncrypted> {
        let inner = match (&self.0, &x.inner) {
            (Either::Bgv(_), Either::Bfv(x)) => Either::Bgv(x.clone().convert()),
            (Either::Bfv(_), Either::Bgv(x)) => Either::Bfv(x.clone().convert()),
            _ => return Err(other_class("Ciphertext")),
        };
        check_parameters(self.shared(), inner.parameters())?;
        Ok(self.encrypted(inner))
    }

    #[classmethod]
    fn _unpickle(
        class: &Bound<'_, PyType>,
        py: Python<'_>,
        parameters: &PyIntegerParameters,
        threading: Threading,
    ) -> PyResult<Self> {
        let context = shared_context(py, &parameters.0, &threading)?;
        let is_bgv = class.is(py.get_type::<PyBgvContext>());
        Ok(Self(if is_bgv { Either::Bgv(context) } else { Either::Bfv(context) }))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<ContextPickle<'py, PyIntegerParameters>> {
        let this = slf.get();
        Ok((slf.get_type().getattr("_unpickle")?, (this.parameters(), this.shared().threading())))
    }

    fn __repr__(&self) -> String {
        format!("Context(n={})", self.shared().parameters().degree())
    }

    /// The table that notebooks show.
    fn _repr_html_(&self) -> String {
        table(&format!("Context ({})", self.0.scheme()), &explain::of_integer_parameters(self.shared().parameters()))
    }
}

fn encrypt_all<S: Scheme>(plaintexts: &[Plaintext], encryptor: &Encryptor<'_, S>) -> Result<Vec<Ciphertext<S>>> {
    plaintexts.iter().map(|plaintext| encryptor.encrypt(plaintext)).collect()
}

/// The ciphertexts under the new secret of a key, covered if that is of another owner.
fn reencrypted<S: Scheme>(
    context: &Context,
    ciphertexts: &[Ciphertext<S>],
    key: &ReencryptionKey,
    cover: Cover,
    seed: &Seed,
) -> Result<Vec<Ciphertext<S>>> {
    match key.is_for_another_owner() {
        true => context.reencrypt_many_for(ciphertexts, key, cover, seed),
        false => context.reencrypt_many(ciphertexts, key),
    }
}
