//! Vectors of Python: the values of decryptions, and what is refused of arguments.

use pyo3::prelude::*;

use crate::errors::EncodingError;

/// The first entries of an array, without the others behind them.
pub(crate) fn head<'py>(array: Bound<'py, PyAny>, count: usize) -> PyResult<Bound<'py, PyAny>> {
    if array.len()? == count {
        return Ok(array);
    }
    array
        .call_method1("__getitem__", (pyo3::types::PySlice::new(array.py(), 0, count as isize, 1),))?
        .call_method0("copy")
}

/// The rows of several decryptions as one array.
pub(crate) fn stacked<'py>(py: Python<'py>, rows: Vec<Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
    let counts = rows.iter().map(|row| row.len()).collect::<PyResult<Vec<_>>>()?;
    if counts.is_empty() {
        return Err(EncodingError::new_err("no ciphertext was given, at least 1 is needed"));
    }
    if counts.iter().any(|&count| count != counts[0]) {
        return Err(EncodingError::new_err(format!(
            "the vectors have {counts:?} values, as many are needed to decrypt them as one array: decrypt them one by one"
        )));
    }
    py.import("numpy")?.call_method1("stack", (rows,))
}

/// Why an empty array is refused.
pub(crate) fn no_values() -> PyErr {
    EncodingError::new_err("no values were given, at least 1 is needed")
}

/// Refuses a sum of products with more or fewer factors than ciphertexts.
pub(crate) fn same_length(xs: usize, others: usize) -> PyResult<()> {
    if xs == others {
        return Ok(());
    }
    Err(EncodingError::new_err(format!("{xs} ciphertexts were given beside {others} factors, as many are needed")))
}
