//! The classes of keys, written once for the parameters of CKKS and for those of exact integers.

/// The classes of a key each, with the context that it belongs to, its bytes and files; and the class of all three.
///
/// `scheme`: the module of the library with its `Context`, `KeyFile` and `Keys`; `parameters`: the class of its parameters;
/// `contexts`: getters for the contexts of keys; `sets`: methods of the class of evaluation keys that differ between schemes.
macro_rules! key_classes {
    (
        scheme: $scheme:ident,
        parameters: $parameters:ident,
        contexts: {$($(#[$context_doc:meta])* $getter:ident: $context_class:ident = $made:expr),+},
        module: $module:literal,
        keys: $keys:ident,
        secret: $secret:ident,
        public: $public:ident,
        evaluation: $evaluation:ident,
        encryption: $encryption:ident, $shared:ident,
        sets: {$($sets:tt)*}
    ) => {
        /// The three keys of one owner, made by ``Context.keygen``. Pickled as ``noren.PicklableSecret(keys)`` only.
        #[pyclass(frozen, name = "Keys", module = $module)]
        pub(crate) struct $keys {
            /// Decrypts; stays with its owner.
            #[pyo3(get)]
            secret: Py<$secret>,
            /// Encrypts; for everybody.
            #[pyo3(get)]
            public: Py<$public>,
            /// Evaluates; nothing in it decrypts.
            #[pyo3(get)]
            evaluation: Py<$evaluation>,
        }

        impl $keys {
            pub(crate) fn new(py: Python<'_>, context: &noren::$scheme::Context, keys: noren::$scheme::Keys) -> PyResult<Self> {
                let evaluation = Arc::unwrap_or_clone(keys.evaluation);
                Ok(Self {
                    secret: Py::new(py, $secret::new(context, keys.secret))?,
                    public: Py::new(py, $public::new(context, keys.public))?,
                    evaluation: Py::new(py, $evaluation::new(context, evaluation))?,
                })
            }
        }

        #[pymethods]
        impl $keys {
            #[staticmethod]
            fn _unpickle(secret: Py<$secret>, public: Py<$public>, evaluation: Py<$evaluation>) -> Self {
                Self { secret, public, evaluation }
            }

            fn _reduce_with_secret<'py>(
                &self,
                py: Python<'py>,
            ) -> PyResult<(Bound<'py, PyAny>, (Py<$secret>, Py<$public>, Py<$evaluation>))> {
                let parts = (self.secret.clone_ref(py), self.public.clone_ref(py), self.evaluation.clone_ref(py));
                Ok((py.get_type::<Self>().getattr("_unpickle")?, parts))
            }

            fn __reduce__(&self) -> PyResult<()> {
                $crate::pickle::refuse_secret($crate::pickle::KEYS)
            }

            fn __copy__(slf: Py<Self>) -> Py<Self> {
                slf
            }

            fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
                slf
            }

            fn __repr__(&self) -> String {
                format!("Keys(n={})", self.secret.get().0.context.parameters().degree())
            }
        }

        /// A key that encrypts.
        #[derive(FromPyObject)]
        pub(crate) enum $encryption<'py> {
            #[pyo3(annotation = "PublicKey")]
            Public(Bound<'py, $public>),
            #[pyo3(annotation = "SecretKey")]
            Secret(Bound<'py, $secret>),
        }

        /// A key that encrypts, apart from the interpreter.
        pub(crate) enum $shared {
            Public(Arc<noren::$scheme::KeyFile<PublicKey>>),
            Secret(Arc<noren::$scheme::KeyFile<SecretKey>>),
        }

        impl $encryption<'_> {
            pub(crate) fn shared(&self) -> $shared {
                match self {
                    Self::Public(key) => $shared::Public(key.get().0.clone()),
                    Self::Secret(key) => $shared::Secret(key.get().0.clone()),
                }
            }
        }

        key_classes!(@key
            /// Decrypts, and encrypts with less noise than the public key; stays with its owner.
            ///
            /// Its bytes are as secret as the key. Pickled as ``noren.PicklableSecret(key)`` only.
            $secret, "SecretKey", SecretKey, $module, $scheme, $parameters, _reduce_with_secret,
            [$($(#[$context_doc])* $getter: $context_class = $made),+]
            {
                /// Reads the key and its parameters from a file, as the tool ``noren`` writes it too.
                ///
                /// passphrase: that of a file which is encrypted under one; not used for others.
                /// min_security: see ``from_bytes``.
                ///
                /// Raises OSError, what ``from_bytes`` raises, and WireError if the passphrase is missing or wrong.
                #[staticmethod]
                #[pyo3(signature = (path, *, passphrase = None, min_security = $crate::admission::USUAL),
                    text_signature = "(path, *, passphrase=None, min_security=128)")]
                fn load(
                    py: Python<'_>,
                    path: PathBuf,
                    passphrase: Option<String>,
                    #[pyo3(from_py_with = whole)] min_security: u32,
                ) -> PyResult<Self> {
                    let file = $crate::files::load_secret(py, &path, passphrase)?;
                    Self::admitted(py, &path.display().to_string(), file, min_security)
                }

                /// Writes the key and its parameters to a file, as a whole or not at all, which its owner only can read.
                ///
                /// force: whether a file that exists is replaced.
                /// passphrase: encrypts the file, in the format of age; it takes about a second.
                ///
                /// Raises FileExistsError without ``force``, WireError for an empty passphrase, and OSError.
                #[pyo3(signature = (path, *, force = false, passphrase = None))]
                fn save(
                    &self,
                    py: Python<'_>,
                    path: PathBuf,
                    force: bool,
                    passphrase: Option<String>,
                ) -> PyResult<()> {
                    $crate::files::save_secret(py, &*self.0, &path, force, passphrase)
                }

                fn __reduce__(&self) -> PyResult<()> {
                    $crate::pickle::refuse_secret($crate::pickle::SECRET_KEY)
                }

                fn __copy__(slf: Py<Self>) -> Py<Self> {
                    slf
                }

                fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
                    slf
                }
            }
        );
        key_classes!(@key
            /// Encrypts; for everybody. Can be pickled.
            $public, "PublicKey", PublicKey, $module, $scheme, $parameters, __reduce__,
            [$($(#[$context_doc])* $getter: $context_class = $made),+]
            {
                /// Reads the key and its parameters from a file, as the tool ``noren`` writes it too.
                ///
                /// min_security: see ``from_bytes``. Raises OSError, and what ``from_bytes`` raises.
                #[staticmethod]
                #[pyo3(signature = (path, *, min_security = $crate::admission::USUAL), text_signature = "(path, *, min_security=128)")]
                fn load(
                    py: Python<'_>,
                    path: PathBuf,
                    #[pyo3(from_py_with = whole)] min_security: u32,
                ) -> PyResult<Self> {
                    let file = detached(py, || noren::$scheme::KeyFile::read_file(&(), &path, &Limits::default()))?;
                    Self::admitted(py, &path.display().to_string(), file, min_security)
                }

                /// Writes the key and its parameters to a file, as a whole or not at all.
                ///
                /// force: whether a file that exists is replaced. Raises FileExistsError without it, and OSError.
                #[pyo3(signature = (path, *, force = false))]
                fn save(&self, py: Python<'_>, path: PathBuf, force: bool) -> PyResult<()> {
                    detached(py, || self.0.write_file(&(), Form::Packed, $crate::files::destination(&path, force)))
                }
            }
        );
        key_classes!(@key
            /// Evaluates; nothing in it decrypts. Can be pickled.
            ///
            /// ``keys | more`` has the keys of both, of one secret; ``Context.evaluation_keys`` makes more of them.
            $evaluation, "EvaluationKeys", EvaluationKeys, $module, $scheme, $parameters, __reduce__,
            [$($(#[$context_doc])* $getter: $context_class = $made),+]
            {
                /// Reads the keys and their parameters from a file, as the tool ``noren`` writes it too; maps an expanded one,
                /// whose keys all processes that map it share. Who can write to an expanded file must be trusted.
                ///
                /// check: whether the file is compared with its digest; an expanded one is read as a whole for that.
                /// min_security: see ``from_bytes``. Raises OSError, and what ``from_bytes`` raises.
                #[staticmethod]
                #[pyo3(signature = (path, *, check = true, min_security = $crate::admission::USUAL),
                    text_signature = "(path, *, check=True, min_security=128)")]
                fn load(
                    py: Python<'_>,
                    path: PathBuf,
                    check: bool,
                    #[pyo3(from_py_with = whole)] min_security: u32,
                ) -> PyResult<Self> {
                    let limits = $crate::files::limits(check);
                    let file = detached(py, || noren::$scheme::KeyFile::<EvaluationKeys>::open(&path, &limits))?;
                    Self::admitted(py, &path.display().to_string(), file, min_security)
                }

                /// Writes the keys and their parameters to a file, as a whole or not at all.
                ///
                /// force: whether a file that exists is replaced.
                /// expanded: whether the keys are written as they lie in memory, for ``load`` to map. Such a file is larger, and for
                ///     the machine that it was made on.
                ///
                /// Raises FileExistsError without ``force``, OSError, and Error if the disk has no room for expanded keys.
                #[pyo3(signature = (path, *, force = false, expanded = false))]
                fn save(&self, py: Python<'_>, path: PathBuf, force: bool, expanded: bool) -> PyResult<()> {
                    $crate::files::save_keys(py, &*self.0, &path, force, expanded, |keys, to| keys.write_expanded(to))
                }

                /// All keys of both sets, which are of one secret; where both have a key, the one that serves more limbs.
                ///
                /// Raises ParameterMismatchError for keys of other parameters, Error for those of another secret.
                fn __or__(&self, other: &Self) -> PyResult<Self> {
                    let merged = $crate::key_sets::merged(&self.0.key, &other.0.key)?;
                    Ok(Self::new(&self.0.context, merged))
                }

                /// How many keys there are.
                fn __len__(&self) -> usize {
                    self.0.key.uses().count()
                }

                /// Whether there is a key for products of ciphertexts.
                #[getter]
                fn has_relinearization(&self) -> bool {
                    self.0.key.has_relinearization()
                }

                $($sets)*
            }
        );
    };
    (@key
        $(#[$doc:meta])* $name:ident, $python:literal, $inner:ty, $module:literal, $scheme:ident, $parameters:ident, $reduce:ident,
        [$($(#[$context_doc:meta])* $getter:ident: $context_class:ident = $made:expr),+]
        {$($more:tt)*}
    ) => {
        $(#[$doc])*
        #[pyclass(frozen, name = $python, module = $module)]
        pub(crate) struct $name(pub(crate) Arc<noren::$scheme::KeyFile<$inner>>);

        impl $name {
            pub(crate) fn new(context: &noren::$scheme::Context, key: $inner) -> Self {
                Self(Arc::new(noren::$scheme::KeyFile { context: context.clone(), key }))
            }

            /// A key from outside, whose parameters must promise `min_security` bits.
            fn admitted(
                py: Python<'_>,
                what: &str,
                file: noren::$scheme::KeyFile<$inner>,
                min_security: u32,
            ) -> PyResult<Self> {
                $crate::admission::admit(py, what, file.context.parameters().rlwe().security(), min_security)?;
                Ok(Self(Arc::new(file)))
            }
        }

        #[pymethods]
        impl $name {
            $(
                $(#[$context_doc])*
                #[getter]
                fn $getter(&self) -> $context_class {
                    ($made)(self.0.context.clone())
                }
            )+

            /// The parameters that it belongs to.
            #[getter]
            fn parameters(&self) -> $parameters {
                $parameters(self.0.context.parameters().clone())
            }

            /// The identity of the secret key that it belongs to, in hexadecimal: keys and ciphertexts with the same owner are of one
            /// secret key. It is public.
            #[getter]
            fn owner(&self) -> String {
                self.0.key.owner().key.to_hex()
            }

            /// Bytes in memory; of mapped keys, those of the file that hold them.
            #[getter]
            fn nbytes(&self) -> u64 {
                self.0.key.bytes()
            }

            $($more)*

            /// The key that ``bytes(key)`` gave, with its parameters.
            ///
            /// min_security: the bits of security that its parameters must promise; 0 for tests.
            ///
            /// Raises WireError for bytes that are damaged or of another kind, InsecureError for less security.
            #[staticmethod]
            #[pyo3(signature = (data, *, min_security = $crate::admission::USUAL), text_signature = "(data, *, min_security=128)")]
            fn from_bytes(
                py: Python<'_>,
                data: &[u8],
                #[pyo3(from_py_with = whole)] min_security: u32,
            ) -> PyResult<Self> {
                let file = detached(py, || noren::$scheme::KeyFile::from_bytes(&(), data))?;
                Self::admitted(py, "the bytes", file, min_security)
            }

            fn __bytes__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
                $crate::pickle::bytes_of(py, &*self.0)
            }

            // A pickle holds the parameters by themselves, so that all that is unpickled shares one context.
            #[staticmethod]
            fn _unpickle(py: Python<'_>, parameters: &$parameters, data: &[u8], threading: Threading) -> PyResult<Self> {
                let context: noren::$scheme::Context = shared_context(py, &parameters.0, &threading)?;
                let key = detached(py, || <$inner>::from_bytes(context.rlwe(), data))?;
                Ok(Self::new(&context, key))
            }

            fn $reduce<'py>(&self, py: Python<'py>) -> PyResult<Pickle<'py, $parameters>> {
                let bytes = $crate::pickle::bytes_beside(py, &self.0.key, self.0.context.rlwe(), Form::Packed)?;
                let unpickle = py.get_type::<Self>().getattr("_unpickle")?;
                Ok((unpickle, (self.parameters(), bytes, self.0.context.threading())))
            }

            fn __repr__(&self) -> String {
                let n = self.0.context.parameters().degree();
                $crate::display::key($python, n, &self.0.key, self.0.key.bytes())
            }

            /// The table that notebooks show.
            fn _repr_html_(&self) -> String {
                let n = self.0.context.parameters().degree();
                $crate::display::key_table($python, n, &self.0.key, self.0.key.bytes())
            }
        }
    };
}
pub(crate) use key_classes;
