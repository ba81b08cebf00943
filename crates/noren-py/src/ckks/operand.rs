//! The second operand of an operation: a ciphertext, a plaintext, a number or a vector.

use noren::Complex64;
use noren::ckks::{Ciphertext, Plaintext};
use noren::schemes::extent::Extent;
use pyo3::prelude::*;
use pyo3::types::PyInt;

use crate::array::Numbers;
use crate::ckks::classes::{PyCiphertext, PyPlaintext};
use crate::errors::EncodingError;
use crate::vectors::{check_fits, extent_beside, no_values};

/// The other operand of an operator.
pub(crate) enum Operand<'a> {
    Ciphertext(&'a Ciphertext),
    Plaintext(&'a Plaintext),
    /// A whole number, by which a product uses no level.
    Integer(i64),
    Scalar(Complex64),
    /// A vector that is encoded to suit the first operand.
    Vector(Numbers),
}

impl<'a> Operand<'a> {
    /// Tells what an object is; `TypeError` for what is none of these.
    pub(crate) fn of(object: &'a Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(ciphertext) = object.cast::<PyCiphertext>() {
            return Ok(Self::Ciphertext(&ciphertext.get().inner));
        }
        if let Ok(plaintext) = object.cast::<PyPlaintext>() {
            return Ok(Self::Plaintext(&plaintext.get().inner));
        }
        if let Ok(integer) = object.extract() {
            return Ok(Self::Integer(integer));
        }
        if object.is_instance_of::<PyInt>() {
            let message = format!("{object} does not fit 64 bits: write it as a float if it need not be exact");
            return Err(EncodingError::new_err(message));
        }
        let numbers = Numbers::of(object)?;
        match numbers.as_scalar() {
            Some(scalar) => Ok(Self::Scalar(scalar)),
            None => {
                numbers.as_vector()?;
                if numbers.len() == 0 { Err(no_values()) } else { Ok(Self::Vector(numbers)) }
            }
        }
    }
    /// Refuses what does not fit beside a vector in `slots` slots.
    pub(crate) fn check_beside(&self, x: Extent, slots: usize) -> PyResult<()> {
        match self {
            Self::Ciphertext(y) => check_fits(x, y.extent()),
            Self::Plaintext(y) => check_fits(x, y.extent()),
            Self::Vector(y) => extent_beside(y.len(), x, slots).map(|_| ()),
            Self::Integer(_) | Self::Scalar(_) => Ok(()),
        }
    }

    /// A whole number as one of `f64`, which must hold it.
    pub(crate) fn exact(integer: i64) -> PyResult<f64> {
        let number = integer as f64;
        if number as i128 == i128::from(integer) {
            return Ok(number);
        }
        let message = format!("{integer} is no float64, {number} is the nearest: write it as a float if that will do");
        Err(EncodingError::new_err(message))
    }
}
