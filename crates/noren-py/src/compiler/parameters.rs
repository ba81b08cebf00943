//! Parameters of any scheme, in the class that Python has for them.

use std::any::Any;

use noren::{bgv, bootstrapping, ckks, switching, tfhe};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::bootstrapping::keys::PyBootstrapParameters;
use crate::ckks::parameters::PyParameters;
use crate::integers::parameters::PyIntegerParameters;
use crate::switching::parameters::PySwitchingParameters;
use crate::tfhe::parameters::PyTfheParameters;

/// The parameters of a plan.
pub(crate) fn parameters<'py>(py: Python<'py>, found: &dyn Any) -> PyResult<Bound<'py, PyAny>> {
    if let Some(found) = found.downcast_ref::<ckks::Parameters>() {
        return Ok(Bound::new(py, PyParameters(found.clone()))?.into_any());
    }
    if let Some(found) = found.downcast_ref::<bootstrapping::Parameters>() {
        return Ok(Bound::new(py, PyBootstrapParameters(found.clone()))?.into_any());
    }
    if let Some(found) = found.downcast_ref::<switching::Parameters>() {
        return Ok(Bound::new(py, PySwitchingParameters(found.clone()))?.into_any());
    }
    if let Some(found) = found.downcast_ref::<bgv::Parameters>() {
        return Ok(Bound::new(py, PyIntegerParameters(found.clone()))?.into_any());
    }
    let found = found.downcast_ref::<tfhe::Parameters>();
    let found = found.ok_or_else(|| PyTypeError::new_err("parameters without a class"))?;
    Ok(Bound::new(py, PyTfheParameters(found.clone()))?.into_any())
}
