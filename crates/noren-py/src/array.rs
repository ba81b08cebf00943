//! numpy in, numpy out.

use noren::error::Error as Refusal;
use num_complex::Complex64;
use numpy::{PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::errors::raise;

/// Numbers from Python, one row for each vector.
pub(crate) struct Numbers {
    /// The rows.
    pub(crate) rows: Vec<Row>,
    /// Whether there was only one vector, without a leading dimension.
    pub(crate) single: bool,
}

/// One vector.
pub(crate) enum Row {
    /// Real numbers.
    Real(Vec<f64>),
    /// Complex numbers.
    Complex(Vec<Complex64>),
}

/// Reads anything that numpy takes for an array of one or two dimensions of real or complex numbers.
pub(crate) fn numbers(values: &Bound<'_, PyAny>) -> PyResult<Numbers> {
    let py = values.py();
    let array = py.import("numpy")?.call_method1("asarray", (values,))?;
    let kind: String = array.getattr("dtype")?.getattr("kind")?.extract()?;
    let target = match kind.as_str() {
        "c" => "complex128",
        "b" | "i" | "u" | "f" => "float64",
        _ => return Err(PyTypeError::new_err(format!("numbers are needed, found an array of dtype kind {kind:?}"))),
    };
    let array = array.call_method1("astype", (target,))?;
    if target == "complex128" {
        let array = array.cast_into::<PyArrayDyn<Complex64>>()?;
        split(array.shape(), &array.to_vec_in_order()?, Row::Complex)
    } else {
        let array = array.cast_into::<PyArrayDyn<f64>>()?;
        split(array.shape(), &array.to_vec_in_order()?, Row::Real)
    }
}

/// One vector of real numbers.
pub(crate) fn real_vector(values: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    let mut numbers = numbers(values)?;
    match (numbers.single, numbers.rows.pop()) {
        (true, Some(Row::Real(row))) => Ok(row),
        _ => Err(PyTypeError::new_err("a vector of real numbers is needed")),
    }
}

/// Runs `work` without the interpreter, and turns what it refuses into an exception.
pub(crate) fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T, Refusal> + Send) -> PyResult<T> {
    py.detach(work).map_err(raise)
}

trait InOrder<T> {
    fn to_vec_in_order(&self) -> PyResult<Vec<T>>;
}

impl<T: numpy::Element + Clone> InOrder<T> for Bound<'_, PyArrayDyn<T>> {
    /// The entries in row-major order, whatever the strides.
    fn to_vec_in_order(&self) -> PyResult<Vec<T>> {
        Ok(self.try_readonly()?.as_array().iter().cloned().collect())
    }
}

fn split<T: Clone>(shape: &[usize], entries: &[T], wrap: impl Fn(Vec<T>) -> Row) -> PyResult<Numbers> {
    match *shape {
        [_] => Ok(Numbers { rows: vec![wrap(entries.to_vec())], single: true }),
        [_, 0] => Err(PyTypeError::new_err("vectors without entries cannot be encrypted")),
        [_, columns] => {
            Ok(Numbers { rows: entries.chunks(columns).map(|row| wrap(row.to_vec())).collect(), single: false })
        }
        _ => Err(PyTypeError::new_err(format!("an array of 1 or 2 dimensions is needed, found shape {shape:?}"))),
    }
}
