//! The one error type that a user meets, whichever scheme is used.

use std::path::PathBuf;

use crate::key_use::{KeyNeed, KeyUse};
use crate::security::Security;
use crate::shape::KeyShape;
use crate::wire::reason::Reason;

/// The result of fallible functions of this floor and the floors above.
pub type Result<T> = std::result::Result<T, Error>;

/// Errors of a caller: what was found, what was needed, what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A number does not suit the arithmetic.
    #[error(transparent)]
    Math(#[from] noren_math::error::Error),
    /// A ring or an element cannot be made.
    #[error(transparent)]
    Ring(#[from] noren_ring::error::Error),
    /// Work was ended by its [`Interrupt`](noren_ring::interrupt::Interrupt).
    #[error(transparent)]
    Interrupted(#[from] noren_ring::interrupt::Interrupted),
    /// Memory for keys or tables cannot be had.
    #[error(transparent)]
    Memory(#[from] noren_math::memory::OutOfMemory),
    /// A key or sample would be easier to break than the parameters promise.
    #[error(
        "{key}: a modulus of {log_qp:.1} bits is too large for {level} security with a {secret} secret of degree {n}, \
         which carries at most {bound:.0} bits: use a larger ring or fewer primes, make the key for fewer limbs, \
         or write Security::None if no security is needed"
    )]
    Insecure {
        /// Which object was refused.
        key: &'static str,
        /// The size of its modulus in bits, special primes included.
        log_qp: f64,
        /// The largest size that the tables allow, in bits; 0 where they allow none.
        bound: f64,
        /// The degree of the ring.
        n: usize,
        /// The distribution of the secret that the object is an encryption under.
        secret: String,
        /// The level that was asked for.
        level: Security,
    },
    /// Samples over the torus have less noise than their dimension needs.
    #[error(
        "{samples} of dimension {dimension} have noise of 2^{found:.2} of the circle, {level} security needs \
         2^{needed:.2}: use a larger dimension or more noise, or write Security::None if no security is needed"
    )]
    WeakNoise {
        /// Which samples were refused.
        samples: &'static str,
        /// The dimension of their secret, which is binary.
        dimension: usize,
        /// The base-two logarithm of the standard deviation, in units of the circle.
        found: f64,
        /// The same of the least that is secure.
        needed: f64,
        /// The level that was asked for.
        level: Security,
    },
    /// A bootstrap would go wrong too often.
    #[error(
        "a bootstrap fails with probability 2^{found:.2}, at most 2^{allowed:.2} is allowed: noise of deviation \
         2^{deviation:.2} of the circle meets a margin of 2^{margin:.2}: use parameters of less noise or fewer messages, \
         or allow more failures"
    )]
    FailsTooOften {
        /// The base-two logarithm of the probability.
        found: f64,
        /// The base-two logarithm of what is allowed.
        allowed: f64,
        /// The base-two logarithm of the standard deviation of the noise, in units of the circle.
        deviation: f64,
        /// The base-two logarithm of the noise that is tolerated, in units of the circle.
        margin: f64,
    },
    /// A computation may fail more often than its budget allows.
    #[error(
        "with {bootstraps} bootstraps the computation fails with probability up to 2^{found:.1}, its budget is 2^{allowed:.1}: \
         use parameters that fail less often, or allow more failures"
    )]
    FailureBudget {
        /// How many bootstraps there would be.
        bootstraps: u64,
        /// The base-two logarithm of a bound on the probability that any of them fails.
        found: f64,
        /// The base-two logarithm of what is allowed.
        allowed: f64,
    },
    /// A value does not fit the room that parameters give it.
    #[error("{what} is {found}, it must be {needed}: {hint}")]
    OutOfRoom {
        /// Which value.
        what: &'static str,
        /// How large it is, or may be.
        found: u64,
        /// The numbers that fit, such as `at most 15`.
        needed: String,
        /// The advice.
        hint: &'static str,
    },
    /// The noise of a linear combination is larger than what parameters were checked for.
    #[error(
        "the noise of {what} is up to {found:.2} times that of a bootstrap, the parameters carry {needed:.2}: \
         bootstrap before, or use parameters for larger combinations"
    )]
    NoisyCombination {
        /// Which combination.
        what: &'static str,
        /// Its standard deviation, in units of that of a bootstrap.
        found: f64,
        /// The largest that the parameters carry.
        needed: f64,
    },
    /// Two things belong to different secret keys.
    #[error(
        "{what} belongs to key {right}, in use is key {left}: use keys and ciphertexts of one secret key, and note that \
         every key generation without a seed draws a new one"
    )]
    KeyMismatch {
        /// The identity of the secret key in use, first bytes in hexadecimal.
        left: String,
        /// The identity of the other thing's secret key, first bytes in hexadecimal.
        right: String,
        /// The name of the other object.
        what: &'static str,
    },
    /// A parameter is outside what is supported.
    #[error("parameter {name} is {found}, it must be {needed}")]
    Parameters {
        /// The name of the parameter.
        name: &'static str,
        /// The value that was given.
        found: String,
        /// The values that are supported.
        needed: String,
    },
    /// An evaluation key is missing.
    #[error("the evaluation keys have no key for {kind}, they have {available}: {}", how_to_add(keys))]
    MissingKey {
        /// The use of the key, such as `relinearisation` or `rotation by 3 (X -> X^125)`.
        kind: String,
        /// The keys that there are.
        available: String,
        /// The keys that are to be added to those of the same secret; none if a circuit makes its keys by itself.
        keys: Vec<KeyNeed>,
    },
    /// A key was made for lower levels than it is used at.
    #[error(
        "the key for {kind} was made for ciphertexts of at most {found} limbs, this one has {needed}: \
         make the key for {needed} limbs, or drop limbs first"
    )]
    KeyLevel {
        /// The use of the key.
        kind: String,
        /// The number of limbs that the key was made for.
        found: usize,
        /// The number of limbs of the ciphertext.
        needed: usize,
        /// The key that is to be added to those of the same secret; none if a circuit makes its keys by itself.
        key: Option<KeyUse>,
    },
    /// A key has another shape than those that it should serve with.
    #[error("{what} has the shape ({found}), its set has ({needed}): keep keys of different shapes in different sets")]
    KeyShape {
        /// The value that was given.
        what: &'static str,
        /// Its shape.
        found: KeyShape,
        /// The shape that is needed.
        needed: KeyShape,
    },
    /// An operation consumes more levels than are left.
    #[error("the operation needs {needed} levels, {left} are left: bootstrap, or use parameters with more primes")]
    LevelExhausted {
        /// How many levels the operation consumes.
        needed: usize,
        /// How many levels the operand has.
        left: usize,
    },
    /// Two operands have different numbers of limbs.
    #[error("the operands have levels {left} and {right}: bring both to the same level first")]
    LevelMismatch {
        /// The level of the first operand.
        left: usize,
        /// The level of the second operand.
        right: usize,
    },
    /// Two things were made with different parameters.
    #[error("{what} belongs to parameters {right}, {left} are in use: make both with the same parameters")]
    ParameterMismatch {
        /// The fingerprint in use, first bytes in hexadecimal.
        left: String,
        /// The fingerprint of the other thing, first bytes in hexadecimal.
        right: String,
        /// The name of the other object.
        what: &'static str,
    },
    /// Two operands have different scales.
    #[error("the operands have scales 2^{left_log2:.6} and 2^{right_log2:.6}, {}: align them first", difference(*left_log2, *right_log2))]
    ScaleMismatch {
        /// The base-two logarithm of the first scale.
        left_log2: f64,
        /// The base-two logarithm of the second scale.
        right_log2: f64,
    },
    /// There are too many or too few of something.
    #[error("{what}: {found} were given, {needed} are needed")]
    Length {
        /// The name of the counted things.
        what: &'static str,
        /// How many were given.
        found: usize,
        /// How many are needed, such as `at most 8192`.
        needed: String,
    },
    /// A value is infinite or not a number.
    #[error("value {index} is {value}: only finite numbers can be encoded")]
    NotFinite {
        /// The position of the value.
        index: usize,
        /// The value.
        value: f64,
    },
    /// A value is too large for the modulus at the scale asked for.
    #[error(
        "value {index} is {}, at scale 2^{scale_log2:.1} this level holds values up to {limit:.3e}: \
         scale the values down, or encode at a higher level", readable(*value)
    )]
    Overflow {
        /// The position of the largest value.
        index: usize,
        /// The value.
        value: f64,
        /// The largest absolute value that fits.
        limit: f64,
        /// The base-two logarithm of the scale.
        scale_log2: f64,
    },
    /// Nothing is known of a result: its message may have left its modulus.
    #[error("{}", unbounded(*magnitude, *error, *scale_log2, *modulus_log2, *level))]
    Unbounded {
        /// A bound on the absolute value of the message.
        magnitude: f64,
        /// A bound on its error, without regard to the modulus.
        error: f64,
        /// The base-two logarithm of the scale.
        scale_log2: f64,
        /// The base-two logarithm of the modulus.
        modulus_log2: f64,
        /// The level of the ciphertext.
        level: usize,
    },
    /// Numbers may lie outside the interval that a polynomial is for.
    #[error(
        "slots are known to lie in [{}, {}] only, the polynomial is for [{}, {}]: use an interval that holds them \
         all, or state a narrower range, with_range, if it is known",
        readable(*low), readable(*high), readable(interval[0]), readable(interval[1])
    )]
    OutsideInterval {
        /// The lowest value that slots may have.
        low: f64,
        /// The highest.
        high: f64,
        /// The interval that is needed.
        interval: [f64; 2],
    },
    /// The bounds of columns do not prove that the arguments of a program lie in the interval of its function.
    #[error(
        "{program}: columns within their bounds, which count as powers of two, give {what} from {} to {}, the function is \
         for [{}, {}]: widen the interval of the model, or state smaller bounds, or plan for an interval that is not proven: \
         the arguments are encrypted beside the results then, and compared with it when those are decrypted",
        readable(*low), readable(*high), readable(interval[0]), readable(interval[1])
    )]
    UnprovenInterval {
        /// The name of the program.
        program: &'static str,
        /// The name of its arguments, such as `the score "risk"`.
        what: String,
        /// The lowest argument that the bounds allow.
        low: f64,
        /// The highest.
        high: f64,
        /// The interval of the model.
        interval: [f64; 2],
    },
    /// Results of a program whose arguments were outside the interval of its function.
    #[error(
        "{place} was computed from arguments outside [{}, {}], where {function} holds, and so were {count} numbers in all: \
         none of them can be trusted: widen the interval of the model", readable(interval[0]), readable(interval[1])
    )]
    ArgumentOutside {
        /// The first of the numbers, such as `row 3, column "risk"`.
        place: String,
        /// How many numbers there are.
        count: usize,
        /// The function.
        function: String,
        /// Its interval.
        interval: [f64; 2],
    },
    /// A decrypted number is not what its ciphertext states.
    #[error(
        "slot {slot} is {value}, the ciphertext states {range}, with an error of at most {bound:.3e}: it was changed, \
         belongs to another secret key, or a statement about it (with_range, with_magnitude, with_error_bound) is false"
    )]
    NotAsStated {
        /// The first such slot.
        slot: usize,
        /// The kind of numbers that it decrypts to.
        value: String,
        /// Where all slots should lie.
        range: String,
        /// The error bound of the ciphertext.
        bound: f64,
    },
    /// Numbers may be complex where real ones are needed.
    #[error("{what} may hold complex numbers, real ones are needed: {remedy}")]
    NotReal {
        /// The name of the object that may be complex.
        what: &'static str,
        /// The advice.
        remedy: &'static str,
    },
    /// An integer is outside the range in which integers modulo t are given.
    #[error("value {index} is {value}: an integer modulo {t} is given from {} to {}", -(*t as i64 / 2), t - 1)]
    NotAResidue {
        /// The position of the value.
        index: usize,
        /// The value.
        value: i64,
        /// The plaintext modulus.
        t: u64,
    },
    /// The noise of a ciphertext may have reached its message.
    #[error(
        "{what}: {missing:.1} bits of noise budget are missing, so that the result could be wrong: \
         use parameters for more operations, or fewer operations"
    )]
    NoiseExhausted {
        /// The operation that was asked for.
        what: &'static str,
        /// How many bits are missing.
        missing: f64,
    },
    /// A function has no value where one is needed.
    #[error("the function has no value at ({x}, {y}): give it one there, of which no caller will make use")]
    Undefined {
        /// The first argument.
        x: usize,
        /// The second argument.
        y: usize,
    },
    /// The file that words are read from where they lie has changed while it was in use.
    #[error(
        "{what}: the file has changed since it was opened, so that the result could be wrong: \
         find out what writes to it, make it again, and replace files instead of writing to them"
    )]
    FileChanged {
        /// The contents of the file.
        what: &'static str,
    },
    /// A function has a value that is no residue.
    #[error("the function is {value} at ({x}, {y}), values must be below the plaintext modulus {t}")]
    NotInRange {
        /// The first argument.
        x: usize,
        /// The second argument.
        y: usize,
        /// The value there.
        value: u64,
        /// The plaintext modulus.
        t: u64,
    },
    /// A number is not one that a function was prepared for.
    #[error("number {index} is {value}, the function was prepared for numbers below {size}")]
    OutsideDomain {
        /// The position of the number.
        index: usize,
        /// The number.
        value: u64,
        /// How many numbers there are.
        size: usize,
    },
    /// The ciphertext has more parts than the operation takes.
    #[error("the ciphertext has degree {found} in the secret, the operation takes degree {needed}: relinearise first")]
    DegreeTooHigh {
        /// The degree of the ciphertext.
        found: usize,
        /// The largest degree that is taken.
        needed: usize,
    },
    /// An exponent is not one of an automorphism.
    #[error(
        "X -> X^{found} is not an automorphism of the ring of degree {n}: the exponent must be odd and below {}",
        2 * n
    )]
    NotAnAutomorphism {
        /// The exponent.
        found: u32,
        /// The degree of the ring.
        n: usize,
    },
    /// Bytes from outside are not what they should be.
    #[error("{what} cannot be read: {reason}")]
    Wire {
        /// The kind of object that was read.
        what: &'static str,
        /// The fault of the bytes.
        reason: Reason,
    },
    /// Bytes from outside hold something else than what was asked for.
    #[error("found {found}, needed {needed}: pass another file or other bytes")]
    WrongKind {
        /// The kind of object in the bytes.
        found: String,
        /// The kind of object that was asked for.
        needed: String,
    },
    /// The machine has not enough of something.
    #[error("{what}: {} available, {} needed: {advice}", bytes(*found), bytes(*needed))]
    Resources {
        /// The scarce resource, such as `memory for the keys`.
        what: &'static str,
        /// Bytes that there are.
        found: u64,
        /// Bytes that are needed.
        needed: u64,
        /// The advice.
        advice: &'static str,
    },
    /// A key is zero where it must hide something.
    #[error("the {key} is zero, which hides nothing: make keys anew, or ask its owner for those that were made")]
    ZeroKey {
        /// Which key, or which part of one.
        key: &'static str,
    },
    /// A file is there that is not to be replaced.
    #[error("{} exists and is kept: choose another name, or let it be replaced", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// A file cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
}

/// A number without rows of zeros.
fn readable(value: f64) -> String {
    let plain = value == 0.0 || (1e-4..1e9).contains(&value.abs());
    if plain { format!("{value}") } else { format!("{value:e}") }
}

/// By how much two scales differ that may print alike.
fn difference(left_log2: f64, right_log2: f64) -> String {
    let part = libm::exp2(right_log2 - left_log2) - 1.0;
    let sign = if part < 0.0 { '-' } else { '+' };
    format!("which differ by a factor of 1 {sign} {:.1e}", part.abs())
}

/// Why nothing is known of a result.
fn unbounded(magnitude: f64, error: f64, scale_log2: f64, modulus_log2: f64, level: usize) -> String {
    let needed = libm::log2(magnitude + error) + scale_log2 + 1.0;
    // Six digits are enough to tell sizes.
    let magnitude = readable(format!("{magnitude:.5e}").parse().unwrap_or(magnitude));
    let remedy = "state a smaller bound if one is known (with_magnitude, with_range) before that step, or use smaller values, \
                  or a larger first prime";
    if needed.is_finite() && needed >= modulus_log2 {
        format!(
            "nothing is known of the result: a message of up to {magnitude} with an error of up to {error:.1e} at scale \
             2^{scale_log2:.1} needs {needed:.1} bits, the modulus of level {level} has {modulus_log2:.1}: {remedy}"
        )
    } else {
        format!(
            "nothing is known of the result (level {level}, magnitude up to {magnitude}, error up to {error:.1e}): a \
             message on the way to it may have been too large for its modulus: {remedy}"
        )
    }
}

impl Error {
    /// [`Error::ParameterMismatch`] for a thing whose fingerprint is not the one in use.
    #[must_use]
    pub fn mismatch(in_use: &[u8; 32], found: &[u8; 32], what: &'static str) -> Self {
        Self::ParameterMismatch { left: short_fingerprint(in_use), right: short_fingerprint(found), what }
    }

    /// [`Error::Parameters`] for a parameter by its name: what was found, and what is needed.
    #[must_use]
    pub fn parameter(name: &'static str, found: impl ToString, needed: impl ToString) -> Self {
        Self::Parameters { name, found: found.to_string(), needed: needed.to_string() }
    }
}

/// The first bytes of a fingerprint in hexadecimal, as errors show it.
#[must_use]
pub fn short_fingerprint(fingerprint: &[u8; 32]) -> String {
    /// Eight digits tell apart what one person has lying around.
    const SHOWN_BYTES: usize = 4;
    fingerprint[..SHOWN_BYTES].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The advice for keys that are missing.
fn how_to_add(keys: &[KeyNeed]) -> &'static str {
    match keys {
        [] => "make them with that key too",
        _ => "make it for the same secret with `Context::evaluation_keys`, and merge both sets",
    }
}

/// A number of bytes as people read it.
fn bytes(count: u64) -> String {
    /// Below this, the next smaller unit is read more easily.
    const LEAST: f64 = 0.95;
    let units = [("GiB", 1u64 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    let parts = units.map(|(unit, size)| (count as f64 / size as f64, unit));
    match parts.into_iter().find(|&(value, _)| value >= LEAST) {
        Some((value, unit)) => format!("{value:.1} {unit}"),
        None => format!("{count} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_say_found_needed_and_what_to_do() {
        let text = Error::LevelExhausted { needed: 3, left: 1 }.to_string();
        assert_eq!(text, "the operation needs 3 levels, 1 are left: bootstrap, or use parameters with more primes");
        let text = Error::NotAnAutomorphism { found: 6, n: 16 }.to_string();
        assert!(text.contains("X^6") && text.contains("below 32"), "{text}");
    }

    #[test]
    fn bytes_are_said_in_the_unit_that_suits() {
        for (count, text) in [(900, "900 bytes"), (1 << 10, "1.0 KiB"), (3 << 19, "1.5 MiB"), (23 << 30, "23.0 GiB")] {
            assert_eq!(bytes(count), text);
        }
    }

    #[test]
    fn errors_stay_small_enough_to_return() {
        // Larger errors slow down every result that carries one (clippy's result_large_err).
        assert!(size_of::<Error>() <= 128, "{}", size_of::<Error>());
    }

    #[test]
    fn short_fingerprint_is_hexadecimal() {
        let mut fingerprint = [0xff; 32];
        fingerprint[0] = 0x0a;
        assert_eq!(short_fingerprint(&fingerprint), "0affffff");
    }
}
