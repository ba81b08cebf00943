//! Descriptions of ciphertexts and parameters without a key: for `explain()` and for notebooks.

use noren::schemes::integers::{self, Scheme};
use noren::{EvaluationKeys, Security, ckks};
use noren_rlwe::ciphertext::Ciphertext;
use pyo3::prelude::*;

use crate::display::{Holds, Row, size};

/// The lines of rows, names first.
pub(crate) fn text(title: &str, rows: &[Row]) -> String {
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let lines = rows.iter().map(|(name, value)| format!("\n{name:width$}  {value}"));
    std::iter::once(title.to_owned()).chain(lines).collect()
}

/// Bytes of a ciphertext in memory.
pub(crate) fn bytes(ciphertext: &Ciphertext) -> u64 {
    ciphertext.parts().iter().map(|part| (size_of::<u64>() * part.degree() * part.limbs()) as u64).sum()
}

/// A number with its base-two logarithm, such as `1.2e-7 (2^-23.0)`.
fn number(x: f64) -> String {
    if x > 0.0 && x.is_finite() { format!("{x:.3e} (2^{:.1})", x.log2()) } else { x.to_string() }
}

/// A number without rows of digits.
fn short(x: f64) -> String {
    if x == 0.0 || (1e-4..1e9).contains(&x.abs()) { format!("{}", (x * 1e6).round() / 1e6) } else { format!("{x:.3e}") }
}

fn plural(count: usize, name: &str) -> String {
    if count == 1 { format!("1 {name}") } else { format!("{count} {name}s") }
}

/// A description of a ciphertext of CKKS.
pub(crate) fn of_ckks(x: &ckks::Ciphertext) -> Vec<Row> {
    let parameters = x.parameters();
    let (level, bound) = (x.level(), x.error_bound());
    let products = match level {
        0 => "no product can follow: encrypt at a higher level, or use bootstrapping".to_owned(),
        _ => format!("{} can follow one another", plural(level, "product")),
    };
    // As the bound of the ciphertext has it: message and error within half the modulus.
    let room = (parameters.rlwe().log_q(level + 1) - 1.0 - x.scale().to_f64().log2()).exp2();
    let extent = x.extent();
    let repeats = match extent.period() < x.slots() {
        true => format!(", which repeat after {}", extent.period()),
        false => String::new(),
    };
    let range = match x.estimate().range().interval() {
        Some([low, high]) => format!("real, from {} to {}", short(low), short(high)),
        None => "complex, or not known to be real".to_owned(),
    };
    vec![
        ("values", plural(extent.values(), "value")),
        ("slots", format!("{} of up to {}{repeats}", x.slots(), parameters.max_slots())),
        ("range", range),
        ("level", format!("{level} of {}: {products}", parameters.max_level())),
        ("scale", format!("2^{:.6}", x.scale().to_f64().log2())),
        (
            "magnitude",
            format!("slots are at most {}; this level holds at most {}", number(x.magnitude()), number(room)),
        ),
        ("error", error(x, bound)),
        ("key", x.key_id().to_string()),
        ("size", size(bytes(x.rlwe()))),
    ]
}

/// The bound on the error, and what it comes from.
fn error(x: &ckks::Ciphertext, bound: f64) -> String {
    if bound.is_infinite() {
        return "no bound: the slots may be too large for this level; state what is known of them with with_magnitude, or \
                compute at a higher level"
            .to_owned();
    }
    // Of a bound that is the sum of both.
    let source = match 2.0 * x.estimate().bias() > bound {
        true => "mostly from constants, scales and approximations that are not exact",
        false => "mostly the noise of encryption, key switches and roundings",
    };
    format!("at most {} in every slot, but with probability 2^-40; {source}", number(bound))
}

/// A description of a ciphertext of exact integers.
pub(crate) fn of_integers<S: Scheme>(x: &integers::Ciphertext<S>) -> Vec<Row> {
    let (parameters, level) = (x.parameters(), x.level());
    let slots = parameters.slots();
    let numbers = match (parameters.has_slots(), parameters.hypercube()) {
        (true, Some(cube)) => format!("{slots} slots, each of degree {}", cube.degree()),
        (true, None) => format!("{slots} slots, two rows of {}", slots / 2),
        (false, _) => format!("{slots} coefficients"),
    };
    let budget = x.noise_budget();
    let products = match level {
        0 => "no product can follow: use parameters for more of them".to_owned(),
        _ => format!("{} can follow one another", plural(level, "product")),
    };
    let trust = match budget >= 0.0 {
        true => "decrypts exactly, but with probability 2^-128",
        false => "is refused by decrypt: noise may have reached the numbers",
    };
    vec![
        ("numbers", format!("modulo {} in {numbers}", parameters.modulus().value())),
        ("level", format!("{level}: {products}")),
        ("noise budget", format!("{budget:.1} bits: it {trust}")),
        ("limbs", format!("{} of {}", x.limbs(), parameters.max_limbs())),
        ("key", x.key_id().to_string()),
        ("size", size(bytes(x.rlwe()))),
    ]
}

/// Which evaluator the operators use.
pub(crate) fn of_operators(keys: Result<&EvaluationKeys, &PyErr>) -> Row {
    let text = match keys {
        Ok(keys) => {
            let contents = keys.contents();
            let named = contents.iter().filter(|(name, _)| *name != "keys");
            let named: Vec<String> = named
                .map(|(name, value)| if value == "yes" { (*name).to_owned() } else { format!("{name} {value}") })
                .collect();
            match named.is_empty() {
                true => "sums and products with plain numbers: the evaluator has no keys for more".to_owned(),
                false => format!("of an evaluator with keys for {}", named.join(", ")),
            }
        }
        Err(error) => error.to_string(),
    };
    ("operators", text)
}

/// A description of parameters of CKKS.
pub(crate) fn of_ckks_parameters(parameters: &ckks::Parameters) -> Vec<Row> {
    let rlwe = parameters.rlwe();
    vec![
        ("degree n", parameters.degree().to_string()),
        ("slots", parameters.max_slots().to_string()),
        ("levels", parameters.max_level().to_string()),
        ("scale", format!("2^{}", parameters.spec().log_scale)),
        ("security", security(rlwe.security())),
        ("largest modulus", format!("{:.1} bits", rlwe.log_qp())),
    ]
}

/// A description of parameters of exact integers.
pub(crate) fn of_integer_parameters(parameters: &noren::bgv::Parameters) -> Vec<Row> {
    let rlwe = parameters.rlwe();
    vec![
        ("degree n", parameters.degree().to_string()),
        ("integers", format!("modulo {}", parameters.modulus().value())),
        ("slots", if parameters.has_slots() { parameters.slots().to_string() } else { "none".to_owned() }),
        ("limbs", parameters.max_limbs().to_string()),
        ("security", security(rlwe.security())),
        ("largest modulus", format!("{:.1} bits", rlwe.log_qp())),
    ]
}

fn security(level: Security) -> String {
    match level {
        Security::None => "none: for tests alone".to_owned(),
        level => level.to_string(),
    }
}
