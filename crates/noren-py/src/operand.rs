//! The second operand of an operation: a ciphertext, a plaintext, a number or a vector.

use noren::Complex64;
use noren::ckks::{Ciphertext, Plaintext};
use pyo3::prelude::*;

use crate::array::Numbers;
use crate::ciphertext::PyCiphertext;
use crate::plaintext::PyPlaintext;

/// What stands on the other side of an operator.
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
        let numbers = Numbers::of(object)?;
        match numbers.as_scalar() {
            Some(scalar) => Ok(Self::Scalar(scalar)),
            None => {
                numbers.as_vector()?;
                Ok(Self::Vector(numbers))
            }
        }
    }
}
