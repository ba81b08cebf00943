//! One exception for each family of errors, all of them `noren.Error`, which is a `ValueError`.

use noren::error::Error as Refusal;
use pyo3::create_exception;
use pyo3::exceptions::{PyOSError, PyValueError};
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
create_exception!(noren, WireError, Error, "Bytes are not what they should be: damaged, cut off, or of another kind.");

/// The exception for an error.
pub(crate) fn raise(error: Refusal) -> PyErr {
    let text = error.to_string();
    match error {
        Refusal::Insecure { .. } => InsecureError::new_err(text),
        Refusal::MissingKey { .. } | Refusal::KeyLevel { .. } => MissingKeyError::new_err(text),
        Refusal::LevelExhausted { .. } | Refusal::LevelMismatch { .. } => LevelError::new_err(text),
        Refusal::ScaleMismatch { .. } => ScaleError::new_err(text),
        Refusal::ParameterMismatch { .. } => ParameterMismatchError::new_err(text),
        Refusal::KeyMismatch { .. } => KeyMismatchError::new_err(text),
        Refusal::Length { .. } | Refusal::NotFinite { .. } | Refusal::Overflow { .. } | Refusal::NotAResidue { .. } => {
            EncodingError::new_err(text)
        }
        Refusal::Wire { .. } | Refusal::WrongKind { .. } => WireError::new_err(text),
        // With a number, Python itself chooses the subclass: FileNotFoundError, PermissionError, ...
        Refusal::Io { path, source } => match source.raw_os_error() {
            Some(number) => PyOSError::new_err((number, source.to_string(), path)),
            None => PyOSError::new_err(text),
        },
        _ => Error::new_err(text),
    }
}
