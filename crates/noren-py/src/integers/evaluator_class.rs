//! The class `Evaluator` of one scheme.
//!
//! Written once for BGV and BFV: names are those of `schemes`, where the macro is used.

macro_rules! evaluator_class {
    (
        $scheme:ty, $name:literal, module $module:literal, $context:ident, $ciphertext:ident, $evaluator:ident,
        from $other:ident
    ) => {
        #[doc = concat!("Computes on ciphertexts of ", $name, " with evaluation keys; for all threads at once. Can be pickled.")]
        ///
        /// Where a method takes an operand `y`, this is a Ciphertext, a whole number, or an array as ``Context.encrypt``
        /// takes it. Every method raises ParameterMismatchError for a ciphertext of other parameters, Error if the noise
        /// could reach the message, and MissingKeyError that names the key if one is missing.
        #[pyclass(frozen, name = "Evaluator", module = $module)]
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
                let p = numbers.encode_beside(&Encoder::new(self.0.context()), x.inner.content())?;
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
                #[pyo3(from_py_with = whole)] constant: i64,
            ) -> PyResult<$ciphertext> {
                let weights = WholeNumbers::of(weights)?;
                let weights = weights.as_vector()?;
                same_length(xs.len(), weights.len())?;
                check_all_contents(xs.iter().map(|x| x.get().inner.content()))?;
                let terms: Vec<_> = xs.iter().map(|x| &x.get().inner).zip(weights.iter().copied()).collect();
                self.run(py, |ev| ev.weighted_sum(&terms, constant))
            }

            /// The same message modulo the first `limbs` primes: products do this by themselves.
            fn mod_switch(
                &self,
                py: Python<'_>,
                x: &$ciphertext,
                #[pyo3(from_py_with = whole)] limbs: usize,
            ) -> PyResult<$ciphertext> {
                self.run(py, |ev| ev.mod_switch(&x.inner, limbs))
            }

            /// Moves slot c + steps of each row to slot c, around the end.
            fn rotate(
                &self,
                py: Python<'_>,
                x: &$ciphertext,
                #[pyo3(from_py_with = whole)] steps: isize,
            ) -> PyResult<$ciphertext> {
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

            /// Moves the slot with coordinates e + steps along the dimensions to that with coordinates e, around their ends:
            /// a number of steps for each of ``Parameters.dimensions``. Needs keys for ``Context.rotation_along(steps)``.
            ///
            /// Along a dimension that is not native it costs a product with numbers. Raises EncodingError for another count
            /// of steps, Error in a ring without such dimensions.
            fn rotate_along(&self, py: Python<'_>, x: &$ciphertext, steps: Integers) -> PyResult<$ciphertext> {
                self.run(py, |ev| ev.rotate_along(&x.inner, &steps.0))
            }

            /// The Frobenius automorphism to the power i, which maps Y to Y^(p^i), of the element in each slot. Needs a key
            /// for ``Context.frobenius_exponent(i)``.
            ///
            /// Raises Error in a ring whose slots hold numbers alone.
            #[pyo3(signature = (x, i = 1))]
            fn frobenius(
                &self,
                py: Python<'_>,
                x: &$ciphertext,
                #[pyo3(from_py_with = whole)] i: usize,
            ) -> PyResult<$ciphertext> {
                self.run(py, |ev| ev.frobenius(&x.inner, i))
            }

            /// Slot c of each row of the result is the sum of the slots c, c + stride, ..., c + (count - 1) * stride of x.
            ///
            /// count: None for all numbers of one row; the sum of all numbers stands in the first slot, in every slot if they
            /// fill a period. Needs keys for ``rotations_of_sum(count, stride=stride, steps=steps)``.
            ///
            /// Raises EncodingError if the slots reach over more than the numbers of x, or for a stride of 0.
            #[pyo3(signature = (x, count = None, *, stride = 1, steps = None))]
            pub(crate) fn sum(
                &self,
                py: Python<'_>,
                x: &$ciphertext,
                #[pyo3(from_py_with = whole)] count: Option<i64>,
                #[pyo3(from_py_with = whole)] stride: i64,
                #[pyo3(from_py_with = whole)] steps: Option<usize>,
            ) -> PyResult<$ciphertext> {
                let (extent, row) = (x.inner.content().extent(), x.inner.parameters().row_slots());
                let terms = terms_of_sum(count, stride, extent, row)?;
                let plan = plan_of_sum(terms, steps)?;
                self.run(py, |ev| {
                    let sum = plan.apply(ev, &x.inner)?;
                    match SumOf::of(terms, extent, row) {
                        SumOf::Number => sum.with_period(1)?.with_length(Some(1)),
                        SumOf::Repeats(period) => sum.with_period(period),
                        SumOf::First => sum.with_length(Some(1)),
                        SumOf::Slots => Ok(sum),
                    }
                })
            }

            /// Slot c of each row of the result is the product of the slots c, c + stride, ..., c + (count - 1) * stride of x.
            ///
            /// count: None for all numbers of one row; the product of all numbers stands in the first slot, in every slot if
            /// they fill a period. A power of two takes the fewest products: pad numbers with ones. ceil(log2(count)) levels.
            /// Needs keys for ``rotations_of_product(count, stride=stride)``.
            ///
            /// Raises EncodingError if the slots reach over more than the numbers of x, or for a stride of 0.
            #[pyo3(signature = (x, count = None, *, stride = 1))]
            fn product(
                &self,
                py: Python<'_>,
                x: &$ciphertext,
                #[pyo3(from_py_with = whole)] count: Option<i64>,
                #[pyo3(from_py_with = whole)] stride: i64,
            ) -> PyResult<$ciphertext> {
                let (extent, row) = (x.inner.content().extent(), x.inner.parameters().row_slots());
                let factors = terms_of_sum(count, stride, extent, row)?;
                self.run(py, |ev| {
                    let found = product(ev, &x.inner, factors.0, factors.1)?;
                    match SumOf::of(factors, extent, row) {
                        SumOf::Number => found.with_period(1)?.with_length(Some(1)),
                        SumOf::Repeats(period) => found.with_period(period),
                        SumOf::First => found.with_length(Some(1)),
                        SumOf::Slots => Ok(found),
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
            /// In a ring whose slots have dimensions, a ``SlotMatrix``, or an array as it takes, which is encoded for this
            /// product alone. Needs keys for ``SlotMatrix.automorphisms``.
            ///
            /// Raises EncodingError unless there are as many columns as numbers; see ``with_length`` of ciphertexts.
            fn matvec(&self, py: Python<'_>, matrix: &Bound<'_, PyAny>, x: &$ciphertext) -> PyResult<$ciphertext> {
                let parameters = x.inner.parameters();
                if let Ok(matrix) = matrix.cast::<PySlotMatrix>() {
                    let matrix = &matrix.get().0.matrix;
                    return self.run(py, |ev| ev.multiply_matrix(matrix, &x.inner));
                }
                if parameters.hypercube().is_some() {
                    let matrix = WholeNumbers::of(matrix)?.encode_matrix(py, self.0.context(), x.inner.limbs())?;
                    return self.run(py, |ev| ev.multiply_matrix(&matrix, &x.inner));
                }
                let (matrix, extent) = (WholeNumbers::of(matrix)?.into_matrix()?, x.inner.content().extent());
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
                let (n, keys) = (self.0.context().parameters().degree(), self.0.keys());
                display::key("Evaluator", n, &**keys, keys.bytes())
            }
        }
    };
}
pub(crate) use evaluator_class;
