//! Arguments and attributes of parameters of all schemes: security levels, distributions of secrets, fingerprints.

use noren::security::{SecretDistribution, Security};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::whole::whole;

/// A fingerprint as 64 hexadecimal digits.
pub(crate) fn hexadecimal(fingerprint: &[u8; 32]) -> String {
    fingerprint.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A security level in bits; `None` where nothing is promised.
pub(crate) fn bits_of(security: Security) -> Option<u32> {
    (security != Security::None).then(|| security.bits())
}

/// A security level from its bits; `None` promises nothing.
pub(crate) fn security_of(bits: Option<u32>) -> PyResult<Security> {
    match bits {
        None => Ok(Security::None),
        Some(128) => Ok(Security::Bits128),
        Some(192) => Ok(Security::Bits192),
        Some(256) => Ok(Security::Bits256),
        Some(found) => Err(PyValueError::new_err(format!("security must be 128, 192, 256 or None, found {found}"))),
    }
}

/// A distribution of secrets, by name or by the weight of sparse ternary ones.
pub(crate) enum Secret {
    Weight(usize),
    Name(String),
}

impl<'py> FromPyObject<'_, 'py> for Secret {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(name) = object.extract() {
            return Ok(Self::Name(name));
        }
        whole(&object).map(Self::Weight).map_err(|error| {
            let is_number = !error.is_instance_of::<PyTypeError>(object.py());
            if is_number { error } else { PyTypeError::new_err(no_secret(object.to_owned())) }
        })
    }
}

fn no_secret(found: impl std::fmt::Display) -> String {
    format!("secret must be \"ternary\", \"gaussian\", \"joint:PARTIES\" or a weight, found {found}")
}

/// The distribution of secrets that is named, the usual one for `None`.
pub(crate) fn secret_of(secret: Option<Secret>) -> PyResult<SecretDistribution> {
    match secret {
        None => Ok(SecretDistribution::default()),
        Some(Secret::Weight(weight)) => Ok(SecretDistribution::SparseTernary(weight)),
        Some(Secret::Name(name)) => match name.as_str() {
            "ternary" => Ok(SecretDistribution::Ternary),
            "gaussian" => Ok(SecretDistribution::Gaussian),
            name => match name.strip_prefix("joint:").map(str::parse) {
                Some(Ok(parties)) => Ok(SecretDistribution::Joint(parties)),
                _ => Err(PyValueError::new_err(no_secret(format_args!("{name:?}")))),
            },
        },
    }
}
