//! One exception for each family of errors, all of them `noren.Error`, which is a `ValueError`.

use noren::ckks::CkksError;
use noren::compiler::CompileError;
use noren::error::Error as Refusal;
use noren::programs::ProgramError;
use noren::schemes::error::{ShapeError, SlotError};
use noren::schemes::integers::IntegerError;
use noren::tables::TableError;
use noren::{KeyNeed, KeyUse};
use noren_files::error::{Error as FileRefusal, Reason};
use pyo3::create_exception;
use pyo3::exceptions::{PyFileExistsError, PyKeyboardInterrupt, PyMemoryError, PyOSError, PyUserWarning, PyValueError};
use pyo3::prelude::*;

create_exception!(
    noren,
    Error,
    PyValueError,
    "What the library refuses: the message says what was found, what is needed, what to do."
);
create_exception!(noren, InsecureError, Error, "A key or parameter set would be easier to break than was asked for.");
create_exception!(noren, MissingKeyError, Error, "An evaluation key is missing, or was made for lower levels.");
create_exception!(noren, LevelError, Error, "Too few levels are left, or operands are at different levels.");
create_exception!(noren, ScaleError, Error, "Operands have different scales.");
create_exception!(noren, ParameterMismatchError, Error, "Things that were made with different parameters meet.");
create_exception!(noren, KeyMismatchError, Error, "Keys or ciphertexts of different secret keys meet.");
create_exception!(
    noren,
    EncodingError,
    Error,
    "Numbers cannot be encoded: not finite, too large, too many, or of the wrong shape."
);
create_exception!(
    noren,
    RangeError,
    Error,
    "Numbers may lie outside the modulus, outside the interval of a polynomial, or off the real line."
);
create_exception!(
    noren,
    WireError,
    Error,
    "Bytes are not what they should be: damaged, cut off, of another kind, or changed while they are in use."
);
create_exception!(
    noren,
    SignatureError,
    Error,
    "A file is not signed, was changed, or is signed by somebody else or under another name."
);
create_exception!(
    noren,
    SecurityWarning,
    PyUserWarning,
    "Parameters that promise fewer than 128 bits of security are used: for tests alone."
);

/// The number by which Python knows that a file exists, on every system.
const EEXIST: i32 = 17;

/// The exception for an error, in the words of CKKS.
pub(crate) fn raise(error: Refusal) -> PyErr {
    raise_of(Words::Ckks, error)
}

/// The exception for an error, in the words of exact integers.
pub(crate) fn raise_of_integers(error: Refusal) -> PyErr {
    raise_of(Words::Integers, error)
}

/// The exception for an error, in the words of CKKS, where keys for rotations are those of bootstrapping.
pub(crate) fn raise_of_switching(error: Refusal) -> PyErr {
    raise_of(Words::Switching, error)
}

/// The exception for a file that is under a passphrase, or signed.
pub(crate) fn raise_of_files(error: FileRefusal) -> PyErr {
    match error {
        FileRefusal::Library(error) => raise(error),
        FileRefusal::File { path, reason: Reason::PassphraseNeeded } => WireError::new_err(format!(
            "{}: it is encrypted under a passphrase, and none was given: pass passphrase=",
            path.display()
        )),
        FileRefusal::File {
            reason:
                Reason::NoSignature { .. }
                | Reason::OtherSigner { .. }
                | Reason::WrongSignature
                | Reason::Name { .. }
                | Reason::Purpose { .. }
                | Reason::NoPurpose
                | Reason::Unnameable { .. },
            ..
        } => SignatureError::new_err(error.to_string()),
        FileRefusal::File { .. } => WireError::new_err(error.to_string()),
        error => Error::new_err(error.to_string()),
    }
}

fn raise_of(words: Words, error: Refusal) -> PyErr {
    let text = words.text(&error);
    match error {
        Refusal::Insecure { .. } | Refusal::ZeroKey { .. } => InsecureError::new_err(text),
        Refusal::MissingKey { .. } | Refusal::KeyLevel { .. } => MissingKeyError::new_err(text),
        Refusal::LevelExhausted { .. } | Refusal::LevelMismatch { .. } => LevelError::new_err(text),
        Refusal::ParameterMismatch { .. } => ParameterMismatchError::new_err(text),
        Refusal::KeyMismatch { .. } => KeyMismatchError::new_err(text),
        Refusal::Length { .. } => EncodingError::new_err(text),
        Refusal::Wire { .. } | Refusal::WrongKind { .. } | Refusal::FileChanged { .. } => WireError::new_err(text),
        Refusal::Exists { path } => {
            let text = "the file exists: pass force=True to replace it, or choose another name";
            PyFileExistsError::new_err((EEXIST, text, path))
        }
        // With a number, Python itself chooses the subclass: FileNotFoundError, PermissionError, ...
        Refusal::Io { path, source } => match source.raw_os_error() {
            Some(number) => PyOSError::new_err((number, source.to_string(), path)),
            None => PyOSError::new_err(text),
        },
        Refusal::Memory(_) => PyMemoryError::new_err(text),
        Refusal::Interrupted(_) => PyKeyboardInterrupt::new_err(text),
        error => raise_of_scheme(&error, text),
    }
}

/// The exception for an error of a scheme or of a program.
fn raise_of_scheme(error: &Refusal, text: String) -> PyErr {
    if let Some(error) = error.downcast_ref() {
        return match error {
            CkksError::ScaleMismatch { .. } => ScaleError::new_err(text),
            CkksError::Overflow { .. } => EncodingError::new_err(text),
            CkksError::TooLowToBootstrap { .. } => LevelError::new_err(text),
            _ => RangeError::new_err(text),
        };
    }
    match error.downcast_ref() {
        Some(SlotError::NotFinite { .. }) => return EncodingError::new_err(text),
        Some(_) => return RangeError::new_err(text),
        None => {}
    }
    if error.downcast_ref::<ShapeError>().is_some() {
        return EncodingError::new_err(text);
    }
    if error.downcast_ref::<TableError>().is_some() {
        return EncodingError::new_err(text);
    }
    if error.downcast_ref::<ProgramError>().is_some() {
        return RangeError::new_err(text);
    }
    if let Some(CompileError::LeftRange { .. }) = error.downcast_ref() {
        return RangeError::new_err(text);
    }
    match error.downcast_ref() {
        Some(IntegerError::NotAResidue { .. }) => EncodingError::new_err(text),
        _ => Error::new_err(text),
    }
}

/// The names of arguments that schemes do not share.
#[derive(Clone, Copy)]
enum Words {
    Ckks,
    Integers,
    /// A switch computes with the keys of its bootstrapper alone.
    Switching,
}

impl Words {
    /// The message, with the call that makes what is missing.
    fn text(self, error: &Refusal) -> String {
        let allow_unbounded = || format!("{error}; with allow_unbounded=True they are decrypted all the same");
        if let Some(CkksError::Unbounded { .. }) = error.downcast_ref() {
            return allow_unbounded();
        }
        match error.downcast_ref() {
            Some(ProgramError::ArgumentOutside { .. }) => return allow_unbounded(),
            Some(ProgramError::UnprovenInterval { .. }) => return format!("{error} (unproven_interval=True)"),
            _ => {}
        }
        if let Some(SlotError::NotReal { what: what @ ("the ciphertext" | "the plaintext"), .. }) = error.downcast_ref()
        {
            return format!(
                "{what} may hold complex numbers: use complex=True, complex=False to drop the imaginary parts, or \
                 x.with_range(low, high) if it is known to be real"
            );
        }
        match error {
            Refusal::MissingKey { kind, available, keys } if !keys.is_empty() => {
                let holder = if let Self::Switching = self { "bootstrapping" } else { "evaluation" };
                format!("the {holder} keys have no key for {kind}, they have {available}: {}", self.call(keys, false))
            }
            Refusal::KeyLevel { kind, found, needed, key: Some(usage) } => {
                let call = self.call(&[KeyNeed { usage: *usage, limbs: *needed }], true);
                let [found, needed] = [*found, *needed].map(|limbs| self.limbs(limbs));
                format!("the key for {kind} serves ciphertexts of at most {found}, this one has {needed}: {call}")
            }
            Refusal::Insecure { .. } | Refusal::WeakNoise { .. } => format!("{error} (security=None)"),
            error => error.to_string(),
        }
    }

    /// The call that makes these keys; for all levels, or for those alone that they are needed at.
    fn call(self, keys: &[KeyNeed], limited: bool) -> String {
        let conjugation = match self {
            Self::Ckks | Self::Switching => "conjugation",
            Self::Integers => "swap",
        };
        let (mut rotations, mut automorphisms) = (Vec::new(), Vec::new());
        let mut flags = Vec::new();
        for need in keys {
            match need.usage {
                KeyUse::Rotation { steps, .. } => rotations.push(steps),
                KeyUse::Relinearization => flags.push("relinearization=True".to_owned()),
                KeyUse::Conjugation => flags.push(format!("{conjugation}=True")),
                KeyUse::Automorphism { k } => automorphisms.push(k),
                // No method of Python needs others.
                KeyUse::ConjugatedRotation { .. } => {}
            }
        }
        if !automorphisms.is_empty() {
            flags.insert(0, format!("automorphisms={automorphisms:?}"));
        }
        if !rotations.is_empty() {
            flags.insert(0, format!("rotations={rotations:?}"));
        }
        if let (true, Some(most)) = (limited, keys.iter().map(|need| need.limbs).max()) {
            flags.push(match self {
                Self::Ckks | Self::Switching => format!("level={}", most - 1),
                Self::Integers => format!("limbs={most}"),
            });
        }
        if let Self::Switching = self {
            return format!(
                "make them with `noren.bootstrapping.BootstrapKeys.generate_file(path, parameters, secret, {})`, with these among \
                 the rotations, and a switch of a bootstrapper of these keys: `noren.switching.rotations_of_extremes` and \
                 `rotations_of_ranks` say which",
                flags.join(", ")
            );
        }
        format!(
            "make it for the same secret with `more = context.evaluation_keys(secret, {})`, and compute with \
             `evaluator.with_keys(more)`, or `context.evaluator(keys.evaluation | more)`",
            flags.join(", ")
        )
    }

    fn limbs(self, limbs: usize) -> String {
        match self {
            Self::Ckks | Self::Switching => format!("level {}", limbs - 1),
            Self::Integers => format!("{limbs} limbs"),
        }
    }
}
