//! Parameters of CKKS in words and numbers: scales and errors besides what all schemes have.

use std::fmt;

use noren::ckks::Parameters;
use serde::Serialize;

use crate::describe::ring::Ring;
use crate::describe::words::{count, error};

/// The description of parameters of CKKS.
#[derive(Debug, Serialize)]
pub(crate) struct Ckks {
    #[serde(flatten)]
    ring: Ring,
    max_slots: usize,
    max_level: usize,
    log_scale: u32,
    /// Base-two logarithms of the canonical scales, from level 0 up.
    log_scales: Vec<f64>,
    /// The number of slots, and the largest value, of error bounds.
    slots: usize,
    max_abs: f64,
    error_fresh: f64,
    /// The number of multiplications before the error bound: all that the levels and keys allow.
    depth: usize,
    error_at_depth: f64,
}

impl Ckks {
    /// The description, with errors for full ciphertexts and values up to 1.
    pub(crate) fn new(parameters: &Parameters) -> Self {
        Self::for_values(parameters, parameters.max_slots(), 1.0)
    }

    /// The description, with errors for ciphertexts of `slots` slots, with values up to `max_abs`.
    pub(crate) fn for_values(parameters: &Parameters, slots: usize, max_abs: f64) -> Self {
        let (rlwe, spec) = (parameters.rlwe(), parameters.spec());
        let depth = if rlwe.p().is_empty() { 0 } else { parameters.max_level() };
        Self {
            ring: Ring::new(rlwe, &parameters.fingerprint(), &spec.log_q, &spec.log_p),
            max_slots: parameters.max_slots(),
            max_level: parameters.max_level(),
            log_scale: parameters.log_scale(),
            log_scales: (0..=parameters.max_level()).map(|level| parameters.scale_at(level).log2()).collect(),
            slots,
            max_abs,
            error_fresh: parameters.predicted_error(0, max_abs, slots),
            depth,
            error_at_depth: parameters.predicted_error(depth, max_abs, slots),
        }
    }
}

impl fmt::Display for Ckks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.ring.write_primes(f, &count(self.max_slots, "slot"), &count(self.max_level, "level"))?;
        let lowest = self.log_scales.first().copied().unwrap_or_default();
        writeln!(f, "scale          2^{} at level {}, 2^{lowest:.6} at level 0", self.log_scale, self.max_level)?;
        self.ring.write_security(f)?;
        let (fresh, deep) = (error(self.error_fresh), error(self.error_at_depth));
        writeln!(f, "error bounds   fresh {fresh}, after {} {deep}", count(self.depth, "multiplication"))?;
        let slots = count(self.slots, "slot");
        writeln!(f, "               ({slots}, values up to {}, fails with probability below 2^-40)", self.max_abs)?;
        self.ring.write_sizes(f)
    }
}
