//! The second operand of an operation: a ciphertext, a plaintext, a number or a vector.

use std::borrow::Cow;

use noren::Complex64;
use noren::ckks::{self, Ciphertext, Plaintext};
use noren::error::Result;
use pyo3::prelude::*;
use pyo3::types::PyInt;

use crate::array::Numbers;
use crate::ckks::classes::{PyCiphertext, PyEvaluator, PyPlaintext};
use crate::errors::{EncodingError, raise};
use crate::vectors::no_values;

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

    /// Refuses what does not fit beside a vector.
    pub(crate) fn check_beside(&self, x: &Ciphertext) -> PyResult<()> {
        self.beside().check_beside(x.extent(), x.slots()).map_err(raise)
    }

    /// The operand with at least `levels` levels, where it is encrypted and there is bootstrapping.
    pub(crate) fn ready(&'a self, ev: &PyEvaluator, levels: usize) -> Result<Ready<'a>> {
        match self {
            Self::Ciphertext(y) => ev.ready(y, levels).map(Ready::Ciphertext),
            y => Ok(Ready::Clear(y.beside())),
        }
    }

    /// The operand of the library.
    pub(crate) fn beside(&self) -> ckks::Operand<'_> {
        match self {
            Self::Ciphertext(y) => ckks::Operand::Ciphertext(y),
            Self::Plaintext(y) => ckks::Operand::Plaintext(y),
            Self::Integer(k) => ckks::Operand::Integer(*k),
            Self::Scalar(c) => ckks::Operand::Number(*c),
            Self::Vector(y) => y.flat().operand(),
        }
    }
}

/// An operand that can be computed with.
pub(crate) enum Ready<'a> {
    Ciphertext(Cow<'a, Ciphertext>),
    Clear(ckks::Operand<'a>),
}

impl Ready<'_> {
    pub(crate) fn beside(&self) -> ckks::Operand<'_> {
        match self {
            Self::Ciphertext(y) => ckks::Operand::Ciphertext(y),
            Self::Clear(y) => *y,
        }
    }
}
