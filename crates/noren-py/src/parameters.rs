//! Arguments and attributes of parameters of all schemes: security levels, distributions of secrets, fingerprints.

use noren::security::{SecretDistribution, Security};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

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
#[derive(FromPyObject)]
pub(crate) enum Secret {
    #[pyo3(annotation = "int")]
    Weight(usize),
    #[pyo3(annotation = "str")]
    Name(String),
}

/// The distribution of secrets that is named, the usual one for `None`.
pub(crate) fn secret_of(secret: Option<Secret>) -> PyResult<SecretDistribution> {
    match secret {
        None => Ok(SecretDistribution::default()),
        Some(Secret::Weight(weight)) => Ok(SecretDistribution::SparseTernary(weight)),
        Some(Secret::Name(name)) => match name.as_str() {
            "ternary" => Ok(SecretDistribution::Ternary),
            "gaussian" => Ok(SecretDistribution::Gaussian),
            _ => Err(PyValueError::new_err(format!(
                "secret must be \"ternary\", \"gaussian\" or a weight, found {name:?}"
            ))),
        },
    }
}
