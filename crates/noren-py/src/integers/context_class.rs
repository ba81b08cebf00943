//! The class `Context` of one scheme: keys, encryption, decryption, files.
//!
//! Written once for BGV and BFV: names are those of `schemes`, where the macro is used.

macro_rules! context_class {
    (
        $scheme:ty, $name:literal, module $module:literal, $context:ident, $ciphertext:ident, $evaluator:ident,
        from $other:ident
    ) => {
        #[pymethods]
        impl $context {
            #[new]
            #[pyo3(signature = (parameters, *, threads = None))]
            fn new(py: Python<'_>, parameters: &PyIntegerParameters, threads: Option<usize>) -> PyResult<Self> {
                let parameters = parameters.0.clone();
                $crate::admission::warn(py, "Context", parameters.rlwe().security())?;
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
                $crate::admission::warn(py, "keygen", self.0.parameters().rlwe().security())?;
                let (rotations, rotations_at) = (rotations.0, Vec::new());
                let request = KeyRequest { relinearization, rotations, swap, limbs, rotations_at, ..KeyRequest::default() };
                let seed = seed_of(seed)?;
                let heard = Heard::new(progress);
                let hear = |done, of| heard.call(done, of);
                let keys = heard.watch(py, || self.0.generate_keys_with_progress(seed, &request, Some(&hear)))?;
                PyIntegerKeys::new(py, &self.0, keys)
            }

            /// Makes evaluation keys for a secret that there is; ``keys.evaluation | more`` has them beside the others.
            ///
            /// rotations, swap, relinearization, limbs: which keys, as of ``keygen``.
            /// rotations_at: rotations up to limbs of their own, as {steps: limbs}.
            /// seed: 32 secret bytes from which the keys follow; None draws them from the operating system.
            /// progress: called with (done, of) after each key. What it raises ends the work.
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
                let request = KeyRequest { relinearization, rotations: rotations.0, swap, limbs, rotations_at, ..KeyRequest::default() };
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
                let held = if numbers.is_vector() { Filed::One(encrypted.remove(0)) } else { Filed::Several(encrypted) };
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

            /// Writes a ciphertext, or a list of them, to a file, as a whole or not at all; one that exists is
            /// replaced. Raises OSError.
            fn save(&self, py: Python<'_>, path: PathBuf, ciphertexts: &Bound<'_, PyAny>) -> PyResult<()> {
                let held = Filed::of(ciphertexts, |x: &Bound<'_, $ciphertext>| x.get().inner.clone())?;
                held.save(py, &self.0, &path, Ciphertexts)
            }

            /// Reads what ``save`` wrote: a ciphertext, or a list.
            ///
            /// Raises OSError, WireError for files that are damaged or of another kind, ParameterMismatchError for other
            /// parameters.
            fn load<'py>(&self, py: Python<'py>, path: PathBuf) -> PyResult<Bound<'py, PyAny>> {
                let held = Filed::load(py, &self.0, &path, |list: Ciphertexts<$scheme>| list.0)?;
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

            /// The table that notebooks show.
            fn _repr_html_(&self) -> String {
                table(concat!("Context (", $name, ")"), &explain::of_integer_parameters(self.0.parameters()))
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
    };
}
pub(crate) use context_class;
