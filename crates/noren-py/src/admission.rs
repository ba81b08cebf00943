//! How much security files of others must promise, and the warning of what promises none.

use std::ffi::CString;

use noren::Security;
use pyo3::prelude::*;

use crate::errors::{InsecureError, SecurityWarning};

/// Bits that are asked for unless something else is.
pub(crate) const USUAL: u32 = 128;

/// Refuses parameters that promise fewer bits of security than are asked for; warns of those that promise none.
pub(crate) fn admit(py: Python<'_>, what: &str, security: Security, min_security: u32) -> PyResult<()> {
    let found = security.bits();
    if found < min_security {
        return Err(InsecureError::new_err(format!(
            "{what}: its parameters promise {security} security, {min_security} bits are needed: ask for others, or pass \
             min_security={found} to use these, in tests alone"
        )));
    }
    warn(py, what, security)
}

/// Warns of parameters that promise no security.
pub(crate) fn warn(py: Python<'_>, what: &str, security: Security) -> PyResult<()> {
    if security.bits() >= USUAL {
        return Ok(());
    }
    let text = format!("{what}: these parameters promise {security} security: they are for tests alone");
    // A name with a zero byte is no name of a file.
    let text = CString::new(text).unwrap_or_default();
    PyErr::warn(py, &py.get_type::<SecurityWarning>(), &text, 1)
}
