//! The parameters that lookups are made with unless others are given.

use noren_rlwe::security::Security;

use crate::schemes::bfv::ParametersSpec;

/// The plaintext modulus: the largest whose coefficients 16 bits hold, with slots up to degree `2^15`.
pub const MODULUS: u64 = (1 << 16) + 1;

/// Parameters for functions of numbers modulo 65537 in a ring of degree `2^log_n`: 13 limbs and 4 special primes of 50 bits.
///
/// At degree `2^15` a dense ternary secret carries these 850 bits with 128-bit security; smaller degrees are for tests.
///
/// # Examples
/// ```
/// use noren::Security;
/// use noren::lookup::{LookupPlan, parameters_spec};
///
/// let parameters = parameters_spec(15, Security::Bits128).build()?;
/// assert!(LookupPlan::new(&parameters, [1 << 15, 1 << 15])?.key_bytes() <= 1_500_000_000);
/// # Ok::<(), noren::error::Error>(())
/// ```
#[must_use]
pub fn parameters_spec(log_n: u32, security: Security) -> ParametersSpec {
    ParametersSpec {
        log_n,
        plaintext_modulus: MODULUS,
        log_q: vec![50; 13],
        log_p: vec![50; 4],
        dnum: 4,
        security,
        ..ParametersSpec::default()
    }
}
