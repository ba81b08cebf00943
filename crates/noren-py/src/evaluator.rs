//! `Evaluator`: operations on ciphertexts.

use noren::Complex64;
use noren::circuits::linear::LinearMap;
use noren::circuits::polynomial::Polynomial;
use noren::circuits::trace;
use noren::ckks::{Ciphertext, Context, Encoder, Evaluator};
use noren::error::Result;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::array::{Row, detached, numbers, real_vector};
use crate::ciphertext::PyCiphertext;
use crate::context::PyContext;
use crate::errors::raise;
use crate::keys::PyEvaluationKeys;

/// Computes on ciphertexts with evaluation keys.
#[pyclass(frozen, name = "Evaluator", module = "noren.ckks")]
#[derive(Clone)]
pub(crate) struct PyEvaluator(pub(crate) Evaluator);

/// The second operand of an operator.
enum Operand {
    Ciphertext(Ciphertext),
    Scalar(Complex64),
    Vector(Row),
}

impl PyEvaluator {
    pub(crate) fn new(context: &Context, keys: &PyEvaluationKeys) -> PyResult<Self> {
        Evaluator::new(context, keys.key.clone()).map(Self).map_err(raise)
    }

    fn wrap(&self, inner: Ciphertext) -> PyCiphertext {
        PyCiphertext::new(self.0.context(), inner, Some(self.clone()))
    }

    fn run(&self, py: Python<'_>, work: impl FnOnce(&Evaluator) -> Result<Ciphertext> + Send) -> PyResult<PyCiphertext> {
        detached(py, || work(&self.0)).map(|inner| self.wrap(inner))
    }

    fn encode(&self, row: &Row, beside: &Ciphertext, level_scale: bool) -> Result<noren::ckks::Plaintext> {
        let encoder = Encoder::new(self.0.context());
        let (slots, level) = (beside.slots(), beside.level());
        let canonical = self.0.context().parameters().scale_at(level);
        // A summand needs the scale of the ciphertext; a factor the canonical one of the level.
        let scale = if level_scale { canonical } else { beside.scale() };
        match row {
            Row::Real(row) => encoder.encode_real(row, slots, level, scale),
            Row::Complex(row) => encoder.encode_complex(row, slots, level, scale),
        }
    }
}

#[pymethods]
impl PyEvaluator {
    #[getter]
    fn context(&self) -> PyContext {
        PyContext(self.0.context().clone())
    }

    fn bind(&self, x: &PyCiphertext) -> PyCiphertext {
        self.wrap(x.inner.clone())
    }

    pub(crate) fn add(&self, py: Python<'_>, x: &PyCiphertext, y: &Bound<'_, PyAny>) -> PyResult<PyCiphertext> {
        let y = operand(y)?;
        self.run(py, |ev| match &y {
            Operand::Ciphertext(y) => ev.add(&x.inner, y),
            Operand::Scalar(c) => ev.add_const(&x.inner, *c),
            Operand::Vector(row) => ev.add_plain(&x.inner, &self.encode(row, &x.inner, false)?),
        })
    }

    pub(crate) fn sub(&self, py: Python<'_>, x: &PyCiphertext, y: &Bound<'_, PyAny>) -> PyResult<PyCiphertext> {
        let y = operand(y)?;
        self.run(py, |ev| match &y {
            Operand::Ciphertext(y) => ev.sub(&x.inner, y),
            Operand::Scalar(c) => ev.add_const(&x.inner, -*c),
            Operand::Vector(row) => ev.sub_plain(&x.inner, &self.encode(row, &x.inner, false)?),
        })
    }

    pub(crate) fn mul(&self, py: Python<'_>, x: &PyCiphertext, y: &Bound<'_, PyAny>) -> PyResult<PyCiphertext> {
        let y = operand(y)?;
        self.run(py, |ev| match &y {
            Operand::Ciphertext(y) => ev.mul(&x.inner, y),
            Operand::Scalar(c) => ev.mul_const(&x.inner, *c),
            Operand::Vector(row) => ev.mul_plain(&x.inner, &self.encode(row, &x.inner, true)?),
        })
    }

    pub(crate) fn neg(&self, py: Python<'_>, x: &PyCiphertext) -> PyResult<PyCiphertext> {
        self.run(py, |ev| ev.neg(&x.inner))
    }

    fn square(&self, py: Python<'_>, x: &PyCiphertext) -> PyResult<PyCiphertext> {
        self.run(py, |ev| ev.square(&x.inner))
    }

    fn mul_i(&self, py: Python<'_>, x: &PyCiphertext) -> PyResult<PyCiphertext> {
        self.run(py, |ev| ev.mul_i(&x.inner))
    }

    fn mul_integer(&self, py: Python<'_>, x: &PyCiphertext, k: i64) -> PyResult<PyCiphertext> {
        self.run(py, |ev| ev.mul_integer(&x.inner, k))
    }

    fn rotate(&self, py: Python<'_>, x: &PyCiphertext, steps: isize) -> PyResult<PyCiphertext> {
        self.run(py, |ev| ev.rotate(&x.inner, steps))
    }

    fn rotate_many(&self, py: Python<'_>, x: &PyCiphertext, steps: Vec<isize>) -> PyResult<Vec<PyCiphertext>> {
        let all = detached(py, || self.0.rotate_many(&x.inner, &steps))?;
        Ok(all.into_iter().map(|inner| self.wrap(inner)).collect())
    }

    fn conjugate(&self, py: Python<'_>, x: &PyCiphertext) -> PyResult<PyCiphertext> {
        self.run(py, |ev| ev.conjugate(&x.inner))
    }

    fn rescale(&self, py: Python<'_>, x: &PyCiphertext) -> PyResult<PyCiphertext> {
        self.run(py, |ev| ev.rescale(&x.inner))
    }

    fn at_level(&self, py: Python<'_>, x: &PyCiphertext, level: usize) -> PyResult<PyCiphertext> {
        self.run(py, |ev| ev.at_level(&x.inner, level))
    }

    fn align(&self, py: Python<'_>, x: &PyCiphertext, y: &PyCiphertext) -> PyResult<(PyCiphertext, PyCiphertext)> {
        let (x, y) = detached(py, || self.0.align(&x.inner, &y.inner))?;
        Ok((self.wrap(x), self.wrap(y)))
    }

    #[pyo3(signature = (x, count, *, stride = 1))]
    fn sum(&self, py: Python<'_>, x: &PyCiphertext, count: usize, stride: isize) -> PyResult<PyCiphertext> {
        self.run(py, |ev| trace::sum(ev, &x.inner, count, stride))
    }

    #[pyo3(signature = (x, coefficients, *, basis = "power", interval = None))]
    fn polynomial(
        &self,
        py: Python<'_>,
        x: &PyCiphertext,
        coefficients: &Bound<'_, PyAny>,
        basis: &str,
        interval: Option<[f64; 2]>,
    ) -> PyResult<PyCiphertext> {
        let coefficients = real_vector(coefficients)?;
        let polynomial = match basis {
            "power" => Polynomial::power(coefficients),
            "chebyshev" => Polynomial::chebyshev(coefficients),
            _ => return Err(PyValueError::new_err(format!("basis must be \"power\" or \"chebyshev\", found {basis:?}"))),
        }
        .map_err(raise)?;
        self.run(py, |ev| match interval {
            None => polynomial.evaluate(ev, &x.inner),
            Some(interval) => polynomial.evaluate_on(ev, &x.inner, interval),
        })
    }

    fn matvec(&self, py: Python<'_>, matrix: &Bound<'_, PyAny>, x: &PyCiphertext) -> PyResult<PyCiphertext> {
        let map = dense(matrix)?;
        self.run(py, |ev| map.apply(ev, &x.inner))
    }

    #[staticmethod]
    fn matvec_rotations(matrix: &Bound<'_, PyAny>) -> PyResult<Vec<isize>> {
        Ok(dense(matrix)?.rotations())
    }

    #[staticmethod]
    #[pyo3(signature = (count, *, stride = 1))]
    fn sum_rotations(count: usize, stride: isize) -> Vec<isize> {
        trace::rotations(count, stride)
    }

    fn __repr__(&self) -> String {
        format!("Evaluator(n={})", self.0.context().parameters().degree())
    }
}

fn operand(y: &Bound<'_, PyAny>) -> PyResult<Operand> {
    if let Ok(ciphertext) = y.cast::<PyCiphertext>() {
        return Ok(Operand::Ciphertext(ciphertext.get().inner.clone()));
    }
    if let Ok(scalar) = y.extract::<Complex64>() {
        return Ok(Operand::Scalar(scalar));
    }
    let mut numbers = numbers(y)?;
    match (numbers.single, numbers.rows.pop()) {
        (true, Some(row)) => Ok(Operand::Vector(row)),
        _ => Err(PyValueError::new_err("the second operand must be a ciphertext, a number or a vector")),
    }
}

/// A matrix of one row for each entry of the result.
fn dense(matrix: &Bound<'_, PyAny>) -> PyResult<LinearMap> {
    let numbers = numbers(matrix)?;
    let mut entries = Vec::new();
    let mut columns = 0;
    for row in &numbers.rows {
        let Row::Real(row) = row else { return Err(PyValueError::new_err("the matrix must be real")) };
        columns = row.len();
        entries.extend_from_slice(row);
    }
    if numbers.single {
        return Err(PyValueError::new_err("the matrix must have two dimensions"));
    }
    LinearMap::dense(numbers.rows.len(), columns, &entries).map_err(raise)
}
