//! Parameters in words and numbers: security, precision, sizes.

use std::fmt;

use noren::ckks::Parameters;
use noren::error::short_fingerprint;
use noren::security::{TABLES, estimate, max_log_qp};
use noren::{SecretDistribution, Security};
use serde::Serialize;

/// What there is to know of parameters.
#[derive(Debug, Serialize)]
pub(crate) struct Description {
    fingerprint: String,
    log_n: u32,
    n: usize,
    max_slots: usize,
    max_level: usize,
    log_q: Vec<u32>,
    log_p: Vec<u32>,
    primes_q: Vec<u64>,
    primes_p: Vec<u64>,
    digits: usize,
    log_scale: u32,
    /// Base-two logarithms of the canonical scales, from level 0 up.
    log_scales: Vec<f64>,
    secret: String,
    /// What was asked for, in bits.
    security_bits: u32,
    keys: Vec<KeySecurity>,
    tables: Vec<String>,
    /// Error bounds are for so many slots with values up to this.
    slots: usize,
    max_abs: f64,
    error_fresh: f64,
    /// After so many multiplications: all that the levels and keys allow.
    depth: usize,
    error_at_depth: f64,
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

impl Description {
    /// The description, with errors for full ciphertexts and values up to 1.
    pub(crate) fn new(parameters: &Parameters) -> Self {
        Self::for_values(parameters, parameters.max_slots(), 1.0)
    }

    /// The description, with errors for ciphertexts of so many slots, with values up to `max_abs`.
    pub(crate) fn for_values(parameters: &Parameters, slots: usize, max_abs: f64) -> Self {
        let rlwe = parameters.rlwe();
        let depth = if rlwe.p().is_empty() { 0 } else { parameters.max_level() };
        let key = |object, log_modulus| KeySecurity {
            object,
            log_modulus,
            bound: max_log_qp(rlwe.degree(), rlwe.secret(), rlwe.security()),
            reached_bits: security_bits(estimate(rlwe.degree(), rlwe.secret(), log_modulus)),
        };
        let mut keys = vec![key("public key, ciphertexts", rlwe.log_q(rlwe.max_limbs()))];
        if !rlwe.p().is_empty() {
            keys.push(key("evaluation keys", rlwe.log_qp()));
        }
        Self {
            fingerprint: short_fingerprint(&parameters.fingerprint()),
            log_n: rlwe.log_n(),
            n: parameters.degree(),
            max_slots: parameters.max_slots(),
            max_level: parameters.max_level(),
            log_q: parameters.spec().log_q.clone(),
            log_p: parameters.spec().log_p.clone(),
            primes_q: rlwe.q().to_vec(),
            primes_p: rlwe.p().to_vec(),
            digits: rlwe.dnum(),
            log_scale: parameters.log_scale(),
            log_scales: (0..=parameters.max_level()).map(|level| parameters.scale_at(level).log2()).collect(),
            secret: rlwe.secret().to_string(),
            security_bits: security_bits(rlwe.security()),
            keys,
            tables: TABLES.iter().map(|table| format!("{} ({}; {})", table.source, table.date, table.model)).collect(),
            slots,
            max_abs,
            error_fresh: parameters.predicted_error(0, max_abs, slots),
            depth,
            error_at_depth: parameters.predicted_error(depth, max_abs, slots),
            bytes: Sizes::new(parameters),
        }
    }
}

impl Sizes {
    pub(crate) fn new(parameters: &Parameters) -> Self {
        let rlwe = parameters.rlwe();
        let all = rlwe.max_limbs();
        let seed = 32;
        let polynomial = packed_rows(parameters.degree(), rlwe.q());
        let coefficient_bits = match rlwe.secret() {
            SecretDistribution::Gaussian => 7,
            SecretDistribution::Ternary | SecretDistribution::SparseTernary(_) => 2,
        };
        Self {
            ciphertext_raw: 2 * (all * parameters.degree() * size_of::<u64>()) as u64,
            ciphertext_packed: 2 * polynomial,
            ciphertext_seeded: polynomial + seed,
            secret_key: (parameters.degree() as u64 * coefficient_bits).div_ceil(8),
            public_key: polynomial + seed,
            evaluation_key: evaluation_key(parameters, parameters.max_level()),
        }
    }
}

/// Bytes of one evaluation key that serves up to this level; 0 where there are no special primes.
pub(crate) fn evaluation_key(parameters: &Parameters, level: usize) -> u64 {
    let rlwe = parameters.rlwe();
    let Some(gadget) = rlwe.gadget() else { return 0 };
    let limbs = level + 1;
    let row = packed_rows(parameters.degree(), &rlwe.q()[..limbs]) + packed_rows(parameters.degree(), rlwe.p());
    gadget.digits_at(limbs).len() as u64 * row
}

/// A number of things, such as `1 level` and `2 levels`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// A number of bytes as people read it.
pub(crate) fn bytes(count: f64) -> String {
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
    let (mut value, mut unit) = (count, 0);
    while value >= 1024.0 && unit + 1 < units.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{value} bytes") } else { format!("{value:.1} {}", units[unit]) }
}

/// An error bound as people read it.
pub(crate) fn error(bound: f64) -> String {
    if bound > 0.0 && bound.is_finite() { format!("{bound:.2e} (2^{:.1})", bound.log2()) } else { bound.to_string() }
}

/// Security in bits, 0 for none.
pub(crate) const fn security_bits(security: Security) -> u32 {
    match security {
        Security::None => 0,
        Security::Bits128 => 128,
        Security::Bits192 => 192,
        Security::Bits256 => 256,
    }
}

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "ring           n = 2^{} = {}, {} slots, secret {}",
            self.log_n, self.n, self.max_slots, self.secret
        )?;
        let total = self.keys.first().map_or(0.0, |key| key.log_modulus);
        writeln!(
            f,
            "modulus        q: {} bits, together {total:.1}; {}",
            chain(&self.log_q),
            count(self.max_level, "level")
        )?;
        if self.log_p.is_empty() {
            writeln!(f, "key switching  none: without special primes there are no evaluation keys")?;
        } else {
            writeln!(f, "key switching  p: {} bits; {}", chain(&self.log_p), count(self.digits, "digit"))?;
        }
        let lowest = self.log_scales.first().copied().unwrap_or_default();
        writeln!(f, "scale          2^{} at level {}, 2^{lowest:.6} at level 0", self.log_scale, self.max_level)?;
        match self.security_bits {
            0 => writeln!(f, "security       NONE was asked for: for tests only")?,
            bits => writeln!(f, "security       {bits} bits, checked for each key")?,
        }
        for KeySecurity { object, log_modulus, bound, reached_bits } in &self.keys {
            let allowed = bound.map_or_else(|| "no bound".to_owned(), |bound| format!("at most {bound:.0}"));
            let reached = if *reached_bits == 0 { "none".to_owned() } else { format!("{reached_bits}-bit") };
            writeln!(f, "  {object:<24} modulus of {log_modulus:.1} bits, {allowed}; reaches {reached}")?;
        }
        let (fresh, deep) = (error(self.error_fresh), error(self.error_at_depth));
        writeln!(f, "error bounds   fresh {fresh}, after {} {deep}", count(self.depth, "multiplication"))?;
        let slots = count(self.slots, "slot");
        writeln!(f, "               ({slots}, values up to {}, fails with probability below 2^-40)", self.max_abs)?;
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

/// Sizes of primes with repetitions counted, such as `50 + 6 x 45`.
fn chain(bits: &[u32]) -> String {
    let parts = bits.chunk_by(|a, b| a == b).map(|run| match run.len() {
        1 => run[0].to_string(),
        count => format!("{count} x {}", run[0]),
    });
    parts.collect::<Vec<_>>().join(" + ")
}

/// Bytes of the packed rows of a polynomial: each residue at the width of its prime.
fn packed_rows(degree: usize, primes: &[u64]) -> u64 {
    primes.iter().map(|prime| (degree as u64 * u64::from(prime.ilog2() + 1)).div_ceil(8)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use noren::Seed;
    use noren::ckks::{Context, Encoder, Encryptor, KeyRequest, ParametersSpec};
    use noren::wire::{Form, Object};

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
        let sizes = Sizes::new(parameters);
        let request = KeyRequest { rotations_at: vec![(1, 3), (2, 1)], ..KeyRequest::default() };
        let keys = context.generate_keys(Seed::from_bytes([5; 32]), &request).expect("keys");
        let plaintext = Encoder::new(&context).encode(&[0.5], 256, 3).expect("fits");
        let seed = |byte| Seed::from_bytes([byte; 32]);
        let public = Encryptor::public(&context, &keys.public, seed(1)).and_then(|e| e.encrypt(&plaintext));
        let seeded = Encryptor::symmetric(&context, &keys.secret, seed(2)).and_then(|e| e.encrypt(&plaintext));
        let (public, seeded) = (public.expect("encrypted"), seeded.expect("encrypted"));

        let both_keys = evaluation_key(parameters, 3) + evaluation_key(parameters, 1);
        assert_eq!(evaluation_key(parameters, 3), sizes.evaluation_key);
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

    #[test]
    fn chains_count_repetitions() {
        assert_eq!(chain(&[50, 45, 45, 45, 50]), "50 + 3 x 45 + 50");
        assert_eq!(chain(&[]), "");
    }

    #[test]
    fn byte_counts_are_readable() {
        assert_eq!(bytes(1023.0), "1023 bytes");
        assert_eq!(bytes(1536.0), "1.5 KiB");
        assert_eq!(bytes(3.0 * 1024.0 * 1024.0 * 1024.0), "3.0 GiB");
    }
}
