//! The common part of parameters of all schemes, in words and numbers.

use std::fmt;

use noren::SecretDistribution;
use noren::error::short_fingerprint;
use noren::security::{TABLES, estimate, max_log_qp};
use noren_rlwe::parameters::Parameters;
use serde::Serialize;

use crate::describe::words::{bytes, chain, count};

/// A ring with its primes, and what they promise.
#[derive(Debug, Serialize)]
pub(crate) struct Ring {
    fingerprint: String,
    /// None where the index is not a power of two.
    log_n: Option<u32>,
    index: u32,
    n: usize,
    log_q: Vec<u32>,
    log_p: Vec<u32>,
    primes_q: Vec<u64>,
    primes_p: Vec<u64>,
    digits: usize,
    secret: String,
    /// The security that was asked for, in bits.
    security_bits: u32,
    keys: Vec<KeySecurity>,
    tables: Vec<String>,
    bytes: Sizes,
}

/// How hard an object is to break.
#[derive(Debug, Serialize)]
struct KeySecurity {
    object: &'static str,
    log_modulus: f64,
    /// The most bits that the tables allow at what was asked for; none if nothing was asked for.
    bound: Option<f64>,
    /// The level that the tables vouch for, in bits.
    reached_bits: u32,
}

/// Bytes of keys and ciphertexts, without their headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Sizes {
    pub(crate) ciphertext_raw: u64,
    pub(crate) ciphertext_packed: u64,
    pub(crate) ciphertext_seeded: u64,
    pub(crate) secret_key: u64,
    pub(crate) public_key: u64,
    /// One key for the highest level.
    pub(crate) evaluation_key: u64,
}

impl Ring {
    /// The ring of parameters whose scheme gives them this fingerprint, and asked for primes of these sizes.
    pub(super) fn new(rlwe: &Parameters, fingerprint: &[u8; 32], log_q: &[u32], log_p: &[u32]) -> Self {
        let key = |object, log_modulus| KeySecurity {
            object,
            log_modulus,
            bound: max_log_qp(rlwe.degree(), rlwe.secret(), rlwe.security()),
            reached_bits: estimate(rlwe.degree(), rlwe.secret(), log_modulus).bits(),
        };
        let mut keys = vec![key("public key, ciphertexts", rlwe.log_q(rlwe.max_limbs()))];
        if !rlwe.p().is_empty() {
            keys.push(key("evaluation keys", rlwe.log_qp()));
        }
        Self {
            fingerprint: short_fingerprint(fingerprint),
            log_n: rlwe.log_n().ok(),
            index: rlwe.index().index(),
            n: rlwe.degree(),
            log_q: log_q.to_vec(),
            log_p: log_p.to_vec(),
            primes_q: rlwe.q().to_vec(),
            primes_p: rlwe.p().to_vec(),
            digits: rlwe.dnum(),
            secret: rlwe.secret().to_string(),
            security_bits: rlwe.security().bits(),
            keys,
            tables: TABLES.iter().map(|table| format!("{} ({}; {})", table.source, table.date, table.model)).collect(),
            bytes: Sizes::new(rlwe),
        }
    }

    /// The lines of the ring and its primes; `slots` says how many slots there are, `levels` what the modulus is for.
    pub(super) fn write_primes(&self, f: &mut fmt::Formatter<'_>, slots: &str, levels: &str) -> fmt::Result {
        let ring = match self.log_n {
            Some(log_n) => format!("n = 2^{log_n} = {}", self.n),
            None => format!("m = {}, n = phi(m) = {}", self.index, self.n),
        };
        writeln!(f, "ring           {ring}, {slots}, secret {}", self.secret)?;
        let total = self.keys.first().map_or(0.0, |key| key.log_modulus);
        writeln!(f, "modulus        q: {} bits, together {total:.1}; {levels}", chain(&self.log_q))?;
        if self.log_p.is_empty() {
            writeln!(f, "key switching  none: without special primes there are no evaluation keys")
        } else {
            writeln!(f, "key switching  p: {} bits; {}", chain(&self.log_p), count(self.digits, "digit"))
        }
    }

    /// The lines of the security of all keys.
    pub(super) fn write_security(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.security_bits {
            0 => writeln!(f, "security       NONE was asked for: for tests only")?,
            bits => writeln!(f, "security       {bits} bits, checked for each key")?,
        }
        for KeySecurity { object, log_modulus, bound, reached_bits } in &self.keys {
            let allowed = bound.map_or_else(|| "no bound".to_owned(), |bound| format!("at most {bound:.0}"));
            let reached = if *reached_bits == 0 { "none".to_owned() } else { format!("{reached_bits}-bit") };
            writeln!(f, "  {object:<24} modulus of {log_modulus:.1} bits, {allowed}; reaches {reached}")?;
        }
        Ok(())
    }

    /// The last lines: sizes, and the fingerprint.
    pub(super) fn write_sizes(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Sizes { ciphertext_raw, ciphertext_packed, ciphertext_seeded, public_key, evaluation_key, secret_key } =
            self.bytes;
        let show = |count: u64| bytes(count as f64);
        let (raw, packed, seeded) = (show(ciphertext_raw), show(ciphertext_packed), show(ciphertext_seeded));
        writeln!(f, "ciphertext     {packed} (in memory {raw}; encrypted with the secret key {seeded})")?;
        let (secret, public, evaluation) = (show(secret_key), show(public_key), show(evaluation_key));
        writeln!(f, "keys           secret {secret}, public {public}, each evaluation key up to {evaluation}")?;
        write!(f, "fingerprint    {}", self.fingerprint)
    }
}

impl Sizes {
    pub(crate) fn new(rlwe: &Parameters) -> Self {
        let all = rlwe.max_limbs();
        let seed = 32;
        let polynomial = packed_rows(rlwe.degree(), rlwe.q());
        let coefficient_bits = match rlwe.secret() {
            SecretDistribution::Gaussian => 7,
            SecretDistribution::Joint(_) => 8,
            SecretDistribution::Ternary | SecretDistribution::SparseTernary(_) => 2,
        };
        Self {
            ciphertext_raw: 2 * (all * rlwe.degree() * size_of::<u64>()) as u64,
            ciphertext_packed: 2 * polynomial,
            ciphertext_seeded: polynomial + seed,
            secret_key: (rlwe.degree() as u64 * coefficient_bits).div_ceil(8),
            public_key: polynomial + seed,
            evaluation_key: evaluation_key(rlwe, all),
        }
    }
}

/// Bytes of one evaluation key that serves up to `limbs` limbs; 0 where there are no special primes.
pub(crate) fn evaluation_key(rlwe: &Parameters, limbs: usize) -> u64 {
    let Some(gadget) = rlwe.gadget() else { return 0 };
    let row = packed_rows(rlwe.degree(), &rlwe.q()[..limbs]) + packed_rows(rlwe.degree(), rlwe.p());
    gadget.digits_at(limbs).len() as u64 * row
}

/// Bytes of the packed rows of a polynomial: each residue at the width of its prime.
fn packed_rows(degree: usize, primes: &[u64]) -> u64 {
    primes.iter().map(|prime| (degree as u64 * u64::from(prime.ilog2() + 1)).div_ceil(8)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use noren::ckks::{Context, Encoder, Encryptor, KeyRequest, ParametersSpec};
    use noren::wire::{Form, Object};
    use noren::{Security, Seed};

    /// The most that headers, tables of contents and padding add: 96 bytes, and at most 32 + 63 for each section.
    fn overhead(sections: u64) -> u64 {
        160 + 95 * sections
    }

    #[test]
    fn sizes_are_those_of_the_bytes() {
        let spec = ParametersSpec {
            log_n: 9,
            log_q: vec![45, 35, 35, 35],
            log_p: vec![40, 41],
            log_scale: 35,
            dnum: 3,
            security: Security::None,
            ..ParametersSpec::default()
        };
        let context = Context::new(spec.build().expect("supported")).expect("rings");
        let parameters = context.parameters();
        let sizes = Sizes::new(parameters.rlwe());
        let request = KeyRequest { rotations_at: vec![(1, 3), (2, 1)], ..KeyRequest::default() };
        let keys = context.generate_keys(Seed::from_bytes([5; 32]), &request).expect("keys");
        let plaintext = Encoder::new(&context).encode(&[0.5], 256, 3).expect("fits");
        let seed = |byte| Seed::from_bytes([byte; 32]);
        let public = Encryptor::public(&context, &keys.public, seed(1)).and_then(|e| e.encrypt(&plaintext));
        let seeded = Encryptor::symmetric(&context, &keys.secret, seed(2)).and_then(|e| e.encrypt(&plaintext));
        let (public, seeded) = (public.expect("encrypted"), seeded.expect("encrypted"));

        let both_keys = evaluation_key(parameters.rlwe(), 4) + evaluation_key(parameters.rlwe(), 2);
        assert_eq!(evaluation_key(parameters.rlwe(), 4), sizes.evaluation_key);
        for (what, predicted, found, sections) in [
            ("secret key", sizes.secret_key, keys.secret.to_bytes(context.rlwe(), Form::Packed).len(), 2),
            ("public key", sizes.public_key, keys.public.to_bytes(context.rlwe(), Form::Packed).len(), 2),
            ("ciphertext", sizes.ciphertext_packed, public.to_bytes(&context, Form::Packed).len(), 6),
            ("raw ciphertext", sizes.ciphertext_raw, public.to_bytes(&context, Form::Raw).len(), 6),
            ("seeded ciphertext", sizes.ciphertext_seeded, seeded.to_bytes(&context, Form::Packed).len(), 6),
            ("evaluation keys", both_keys, keys.evaluation.to_bytes(context.rlwe(), Form::Packed).len(), 9),
        ] {
            let found = found as u64;
            assert!(predicted <= found && found <= predicted + overhead(sections), "{what}: {predicted}, {found}");
        }
    }
}
