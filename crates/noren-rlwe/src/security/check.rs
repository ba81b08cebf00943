//! Samples that are easier to break than their level says are refused.

use crate::error::{Error, Result};
use crate::security::level::Security;
use crate::security::secret::SecretDistribution;
use crate::security::tables::max_log_qp;

/// Refuses a sample of modulus `2^log_qp` under such a secret if it is easier to break than `level` says; `key` names
/// the sample in the error.
///
/// # Errors
/// [`Error::Insecure`] with the bound.
pub fn check(key: &'static str, n: usize, secret: SecretDistribution, log_qp: f64, level: Security) -> Result<()> {
    if level == Security::None {
        return Ok(());
    }
    let bound = max_log_qp(n, secret, level).unwrap_or(0.0);
    if log_qp <= bound {
        return Ok(());
    }
    Err(Error::Insecure { key, log_qp, bound, n, secret: secret.to_string(), level })
}

#[cfg(test)]
mod tests {
    use super::*;
    use SecretDistribution::Ternary;

    #[test]
    fn check_accepts_the_bound_and_refuses_more() {
        assert!(check("key", 1 << 13, Ternary, 214.0, Security::Bits128).is_ok());
        let refused = check("key", 1 << 13, Ternary, 214.001, Security::Bits128);
        assert!(matches!(refused, Err(Error::Insecure { key: "key", bound: 214.0, n: 8192, .. })));
        assert!(check("key", 8, Ternary, 5000.0, Security::None).is_ok());
        assert!(matches!(check("key", 8, Ternary, 5.0, Security::Bits128), Err(Error::Insecure { bound: 0.0, .. })));
    }
}
