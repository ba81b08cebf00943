//! Parameters of TFHE in words and numbers: what they hold, their security, and how often they fail.

use std::fmt;

use noren::tfhe::{Encoding, Parameters};
use noren_rlwe::error::short_fingerprint;
use serde::Serialize;

use crate::describe::words::bytes;

/// The description of parameters of TFHE.
#[derive(Debug, Serialize)]
pub(crate) struct Tfhe {
    /// The bits of messages and of carries; none for truth values alone.
    message_bits: Option<u32>,
    carry_bits: Option<u32>,
    /// The dimension of short samples, and of long ones as `k` polynomials of degree N.
    short_dimension: usize,
    polynomials: usize,
    degree: usize,
    /// 0 where none is promised.
    security: u32,
    /// The base-two logarithm of the probability that a bootstrap of the largest noise fails.
    log2_failure: f64,
    ciphertext_bytes: usize,
    fingerprint: String,
}

impl Tfhe {
    pub(crate) fn new(parameters: &Parameters) -> Self {
        let bits = match parameters.encoding() {
            Encoding::Bits => None,
            Encoding::Integers { message_bits, carry_bits } => Some((message_bits, carry_bits)),
        };
        let (torus, spec) = (parameters.torus(), &parameters.spec().torus);
        Self {
            message_bits: bits.map(|(message, _)| message),
            carry_bits: bits.map(|(_, carry)| carry),
            short_dimension: spec.n,
            polynomials: spec.k,
            degree: torus.shape().degree,
            security: spec.security.bits(),
            log2_failure: parameters.failure().log2,
            ciphertext_bytes: (torus.dimension() + 1) * size_of::<u64>(),
            fingerprint: short_fingerprint(&parameters.fingerprint()),
        }
    }
}

impl fmt::Display for Tfhe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.message_bits.zip(self.carry_bits) {
            None => writeln!(f, "holds          truth values")?,
            Some((2, 2)) => writeln!(f, "holds          integers of 8 to 64 bits in digits of 2 bits; truth values")?,
            Some((message, carry)) => {
                writeln!(f, "holds          single digits of {message} bits, with {carry} bits for carries")?;
            }
        }
        let Self { short_dimension, polynomials, degree, .. } = self;
        writeln!(f, "dimensions     {short_dimension}, and {polynomials} x {degree}")?;
        match self.security {
            0 => writeln!(f, "security       none is promised")?,
            bits => writeln!(f, "security       {bits} bits, checked against the curve of docs/tfhe.md")?,
        }
        writeln!(f, "failure        2^{:.1} for a bootstrap of the largest noise, at most", self.log2_failure)?;
        write!(f, "ciphertext     {} for a truth value or a digit", bytes(self.ciphertext_bytes as f64))
    }
}
