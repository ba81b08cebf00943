//! The class `Ciphertext` of one scheme, and its operators.
//!
//! Written once for BGV and BFV: names are those of `schemes`, where the macro is used.

macro_rules! ciphertext_class {
    (
        $scheme:ty, $name:literal, module $module:literal, $context:ident, $ciphertext:ident, $evaluator:ident,
        from $other:ident
    ) => {
        #[doc = concat!("A vector of integers modulo t, encrypted for ", $name, ".")]
        ///
        /// The operators ``+``, ``-``, ``*``, ``**`` and ``matrix @ x`` are those of the evaluator that made
        /// one of the operands, or of the one that there is for their parameters and key; where there are several with
        /// different keys, ``Evaluator.bind`` says which. Ciphertexts are immutable, and can be pickled.
        #[pyclass(frozen, name = "Ciphertext", module = $module)]
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

            /// How many numbers it has, as (n,): what decrypting gives, and what clear operands must have.
            ///
            /// As many as were encrypted, or all slots of a period once numbers were moved between slots. Public.
            #[getter]
            fn shape(&self) -> (usize,) {
                (self.inner.content().extent().values(),)
            }

            /// How many slots there are; where there are none, how many coefficients.
            #[getter]
            fn slots(&self) -> usize {
                self.context.parameters().slots()
            }

            /// After how many slots the numbers repeat: the number of slots if they do not. Public.
            #[getter]
            fn period(&self) -> usize {
                self.inner.content().extent().period()
            }

            /// The same ciphertext, whose first `length` slots are the numbers.
            ///
            /// Raises EncodingError for a length of 0, or above the number of slots.
            fn with_length(&self, #[pyo3(from_py_with = whole)] length: usize) -> PyResult<Self> {
                let inner = self.inner.clone().with_length(Some(length)).map_err(raise_of_integers)?;
                Ok(Self { inner, context: self.context.clone(), evaluator: self.evaluator.clone() })
            }

            /// The parameters that it belongs to.
            #[getter]
            fn parameters(&self) -> PyIntegerParameters {
                PyIntegerParameters(self.context.parameters().clone())
            }

            /// The identity of the secret key that it belongs to, in hexadecimal: keys and ciphertexts with the same owner are of one secret
            /// key. It is public.
            #[getter]
            fn owner(&self) -> String {
                self.inner.key_id().to_hex()
            }

            /// Bytes in memory.
            #[getter]
            fn nbytes(&self) -> u64 {
                explain::bytes(self.inner.rlwe())
            }

            /// A description of the ciphertext without a key: numbers, level, noise, size, and which keys its
            /// operators have.
            fn explain(&self) -> String {
                explain::text(concat!("Ciphertext (", $name, ")"), &self.rows())
            }

            /// The table that notebooks show.
            fn _repr_html_(&self) -> String {
                table(concat!("Ciphertext (", $name, ")"), &self.rows())
            }

            /// The sum of all numbers of a row, each of which counts once; see ``Evaluator.sum``.
            fn sum(&self, py: Python<'_>) -> PyResult<Self> {
                self.evaluator(None)?.sum(py, self, None, 1, None)
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
                refusals::division(
                    "multiply by pow(number, -1, t), which divides modulo a prime t, or look up the quotient",
                )
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

            /// Functions of numpy that are operators, `array * ciphertext` among them.
            #[pyo3(signature = (function, method, *operands, **named))]
            fn __array_ufunc__<'py>(
                slf: &Bound<'py, Self>,
                function: &Bound<'py, PyAny>,
                method: &str,
                operands: &Bound<'py, PyTuple>,
                named: Option<&Bound<'py, PyDict>>,
            ) -> PyResult<Bound<'py, PyAny>> {
                ufuncs::apply(&slf.get_type(), function, (method, operands), named, &refusals::FUNCTIONS)
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
            fn __array__(
                &self,
                _args: &Bound<'_, PyTuple>,
                _kwargs: Option<&Bound<'_, PyDict>>,
            ) -> PyResult<Py<PyAny>> {
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
                refusals::FUNCTIONS.refuse(func)
            }

            fn __bytes__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
                bytes_beside(py, &self.inner, &self.context, Form::Packed)
            }

            /// The ciphertext that ``bytes(x)`` gave, without an evaluator.
            ///
            /// Raises WireError for bytes that are damaged or of another kind, ParameterMismatchError for other parameters.
            #[staticmethod]
            fn from_bytes(py: Python<'_>, context: &$context, data: &[u8]) -> PyResult<Self> {
                let inner = detached(py, || Ciphertext::from_bytes(&context.0, data))?;
                Ok(Self { inner, context: context.0.clone(), evaluator: None })
            }

            /// Writes the ciphertext to a file, as a whole or not at all; one that exists is replaced.
            /// ``Context.save`` writes lists. Raises OSError.
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
            fn _unpickle(
                py: Python<'_>,
                parameters: &PyIntegerParameters,
                data: &[u8],
                threading: Threading,
            ) -> PyResult<Self> {
                Self::from_bytes(py, &$context(shared_context(py, &parameters.0, &threading)?), data)
            }

            fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Pickle<'py, PyIntegerParameters>> {
                let unpickle = py.get_type::<Self>().getattr("_unpickle")?;
                Ok((unpickle, (self.parameters(), self.__bytes__(py)?, self.context.threading())))
            }

            fn __repr__(&self) -> String {
                let (limbs, budget) = (self.limbs(), self.noise_budget());
                format!("Ciphertext(limbs={limbs}, noise_budget={budget:.1})")
            }
        }
    };
}
pub(crate) use ciphertext_class;
