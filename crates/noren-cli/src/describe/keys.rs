//! Keys that are planned, in words and numbers.

use std::fmt;

use noren::Security;
use noren::security::{estimate, max_log_qp};
use noren_rlwe::key_class::KeyClass;
use serde::Serialize;

use crate::describe::words::bytes;

/// Keys of one use and one size.
#[derive(Debug, Serialize)]
pub(crate) struct KeyRow {
    role: &'static str,
    count: usize,
    limbs: usize,
    special: usize,
    digits: usize,
    log_modulus: f64,
    bound: Option<f64>,
    reached_bits: u32,
    bytes: u64,
    disk_bytes: u64,
}

impl KeyRow {
    /// Keys of this name, of which so much security is asked for.
    pub(crate) fn new<R>(role: &'static str, class: &KeyClass<R>, security: Security) -> Self {
        Self {
            role,
            count: class.count,
            limbs: class.limbs,
            special: class.special,
            digits: class.digits,
            log_modulus: class.log_qp,
            bound: max_log_qp(class.degree, class.secret, security),
            reached_bits: estimate(class.degree, class.secret, class.log_qp).bits(),
            bytes: class.bytes(),
            disk_bytes: class.disk_bytes(),
        }
    }
}

impl fmt::Display for KeyRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { role, count, limbs, special, digits, log_modulus, bound, bytes: size, .. } = self;
        let allowed = bound.map_or_else(|| "no bound".to_owned(), |bound| format!("at most {bound:.0}"));
        let shape = format!("{count} x {digits} digits of {} primes", limbs + special);
        let size = bytes(*size as f64);
        write!(f, "{role:36} {shape:26} modulus of {log_modulus:.0} bits, {allowed}; {size}")
    }
}
