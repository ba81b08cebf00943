//! Integers in: arrays as slots or coefficients, and what stands beside a ciphertext.

use noren::bgv::{Encoder, Plaintext};
use noren::error::Result;
use numpy::{PyArrayDyn, PyArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::errors::EncodingError;

/// Whole numbers from Python: a shape, and the entries in row-major order.
pub(crate) struct WholeNumbers {
    shape: Vec<usize>,
    pub(crate) entries: Vec<i64>,
}

impl WholeNumbers {
    /// Reads anything that numpy takes for an array of integers; they become int64.
    pub(crate) fn of(values: &Bound<'_, PyAny>) -> PyResult<Self> {
        let array = values.py().import("numpy")?.call_method1("asarray", (values,))?;
        let kind: String = array.getattr("dtype")?.getattr("kind")?.extract()?;
        if !matches!(kind.as_str(), "b" | "i" | "u") {
            let dtype = array.getattr("dtype")?.str()?;
            return Err(PyTypeError::new_err(format!("whole numbers are needed, found dtype {dtype}")));
        }
        let shape = array.getattr("shape")?.extract()?;
        let array = array.call_method1("astype", ("int64",))?.cast_into::<PyArrayDyn<i64>>()?;
        Ok(Self { shape, entries: array.try_readonly()?.as_array().iter().copied().collect() })
    }

    /// The number, if it is a single one.
    pub(crate) fn as_scalar(&self) -> Option<i64> {
        if self.shape.is_empty() { self.entries.first().copied() } else { None }
    }

    /// The vector, if there is one dimension.
    pub(crate) fn as_vector(&self) -> PyResult<&[i64]> {
        match self.shape[..] {
            [_] => Ok(&self.entries),
            _ => {
                let message = format!("an array of shape {:?} was given, 1 dimension is needed", self.shape);
                Err(EncodingError::new_err(message))
            }
        }
    }

    /// The vector, or the rows of shape (2, n/2) one after the other.
    pub(crate) fn encode(&self, encoder: &Encoder, n: usize) -> PyResult<Result<Plaintext>> {
        match self.shape[..] {
            [_] => Ok(encoder.encode(&self.entries)),
            [2, columns] if 2 * columns == n => Ok(encoder.encode(&self.entries)),
            _ => {
                let (shape, half) = (&self.shape, n / 2);
                let message = format!("an array of shape {shape:?} was given, 1 dimension or (2, {half}) are needed");
                Err(EncodingError::new_err(message))
            }
        }
    }
}
