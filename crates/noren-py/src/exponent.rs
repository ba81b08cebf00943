//! Exponents: of powers of ciphertexts, and of automorphisms.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::errors::EncodingError;
use crate::whole::Integers;

/// The exponent of `x ** exponent`: a whole number from 0 on, as an integer or a float.
pub(crate) fn whole_exponent(exponent: &Bound<'_, PyAny>, modulo: Option<&Bound<'_, PyAny>>) -> PyResult<u32> {
    if modulo.is_some_and(|modulo| !modulo.is_none()) {
        return Err(PyTypeError::new_err("pow() of a ciphertext takes no modulus"));
    }
    let refused = || {
        let found = exponent.repr().map_or_else(|_| "no number".to_owned(), |text| text.to_string());
        EncodingError::new_err(format!(
            "the exponent is {found}, a whole number from 0 to {} is needed: approximate other powers by ev.polynomial",
            u32::MAX
        ))
    };
    if let Ok(whole) = exponent.extract::<u32>() {
        return Ok(whole);
    }
    match exponent.extract::<f64>() {
        Ok(number) if number >= 0.0 && number <= f64::from(u32::MAX) && number.fract() == 0.0 => Ok(number as u32),
        _ => Err(refused()),
    }
}

/// The exponents k of automorphisms `X -> X^k`.
pub(crate) fn automorphisms(exponents: &Integers) -> PyResult<Vec<u32>> {
    let exponent = |&k: &isize| {
        u32::try_from(k).map_err(|_| {
            EncodingError::new_err(format!("the exponent of an automorphism is {k}, one modulo m from 1 on is needed"))
        })
    };
    exponents.0.iter().map(exponent).collect()
}
