//! The error type of all fallible functions; errors of schemes are in it as they were raised.

use std::any::Any;
use std::path::PathBuf;

use crate::key_use::{KeyNeed, KeyUse};
use crate::security::Security;
use crate::shape::KeyShape;
use crate::wire::reason::Reason;

/// The result of fallible functions of this layer and the layers above.
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
    Memory(#[from] noren_math::machine::memory::OutOfMemory),
    /// A key or sample would be easier to break than the parameters promise.
    #[error(
        "{key}: a modulus of {log_qp:.1} bits is too large for {level} security with a {secret} secret of degree {n}, \
         which carries at most {bound:.0} bits: use a larger ring or fewer primes, make the key for fewer limbs, \
         or set the security to none if nothing is to be protected"
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
         2^{needed:.2}: use a larger dimension or more noise, or set the security to none if nothing is to be protected"
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
    /// There are too many or too few of something.
    #[error("{what}: expected {needed}, found {found}")]
    Length {
        /// The name of the counted things.
        what: &'static str,
        /// How many were given.
        found: usize,
        /// How many are needed, such as `at most 8192`.
        needed: String,
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
        "X -> X^{found} is not an automorphism of the ring of index {index}: the exponent must be below {index}, and have \
         no factor in common with it"
    )]
    NotAnAutomorphism {
        /// The exponent.
        found: u32,
        /// The index of the ring.
        index: u32,
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
    /// An error of a scheme, or of a computation on one: [`Error::downcast_ref`] gives it with its type.
    #[error("{0}")]
    Scheme(Box<dyn SchemeError>),
}

/// Errors of the layers above: of schemes, of lookups, of programs.
///
/// Each becomes an [`Error`] by `?` or `into`, so that one result type serves all functions and circuits can return the
/// errors of any scheme, also of one that is written outside these crates.
pub trait SchemeError: std::error::Error + Any + Send + Sync {}

impl<E: SchemeError> From<E> for Error {
    fn from(error: E) -> Self {
        Self::Scheme(Box::new(error))
    }
}

/// The error of a scheme with which a function has ended, if it is one of type `E`.
///
/// ```
/// use noren_rlwe::error::{Error, SchemeError, cause};
///
/// #[derive(Debug, PartialEq, thiserror::Error)]
/// #[error("{0} is odd, an even number is needed")]
/// struct Odd(u32);
/// impl SchemeError for Odd {}
///
/// fn half(x: u32) -> Result<u32, Error> {
///     if x % 2 == 0 { Ok(x / 2) } else { Err(Odd(x).into()) }
/// }
/// assert_eq!(cause(&half(5)), Some(&Odd(5)));
/// assert_eq!(cause::<Odd>(&half(4)), None);
/// ```
pub fn cause<E: SchemeError>(result: &Result<impl Sized>) -> Option<&E> {
    result.as_ref().err()?.downcast_ref()
}

impl Error {
    /// The error of a scheme, if this is one of type `E`.
    #[must_use]
    pub fn downcast_ref<E: SchemeError>(&self) -> Option<&E> {
        match self {
            Self::Scheme(error) => (&**error as &dyn Any).downcast_ref(),
            _ => None,
        }
    }

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
        let text = Error::NotAnAutomorphism { found: 6, index: 32 }.to_string();
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
