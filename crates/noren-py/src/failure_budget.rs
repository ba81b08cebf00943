//! Failure budgets as arguments.

use pyo3::prelude::*;

use crate::errors::Error;

/// The base-two logarithm of a probability from the caller, or 0 where none was given.
pub(crate) fn budget(log2: Option<f64>) -> PyResult<f64> {
    match log2 {
        None => Ok(0.0),
        Some(log2) if log2 < 0.0 => Ok(log2),
        Some(found) => Err(Error::new_err(format!(
            "failure_budget is {found}, it must be the base-two logarithm of a probability, such as -40"
        ))),
    }
}
