//! Signed files: `SigningKey`, `Signer`, `sign` and `verify`.

use std::path::PathBuf;

use noren::KeyId;
use noren::wire::{Kind, identity_of_secret};
use noren_files::error::Error as FileRefusal;
use noren_files::passphrase::Work;
use noren_files::signature::{self, Requirements};
use noren_files::signer::Signer;
use noren_files::signing_key::SigningKey;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::array::detached;
use crate::errors::raise_of_files;
use crate::files::{checked, destination};

/// A key that signs files; stays with its owner. Not pickled.
#[pyclass(frozen, name = "SigningKey", module = "noren._noren")]
pub(crate) struct PySigningKey(SigningKey);

#[pymethods]
impl PySigningKey {
    /// A new key.
    #[staticmethod]
    fn generate() -> PyResult<Self> {
        SigningKey::generate().map(Self).map_err(raise_of_files)
    }

    /// Reads a key from a file, as the tools ``noren`` and ``minisign`` write it too.
    ///
    /// passphrase: that of a file which is under one; not used for others.
    ///
    /// Raises OSError, and WireError for a file that is damaged or of another kind, or if the passphrase is missing or wrong.
    #[staticmethod]
    #[pyo3(signature = (path, *, passphrase = None))]
    fn load(py: Python<'_>, path: PathBuf, passphrase: Option<String>) -> PyResult<Self> {
        let passphrase = passphrase.map(checked).transpose()?;
        free(py, || SigningKey::read(&path, passphrase.as_ref())).map(Self)
    }

    /// Writes the key to a file, as a whole or not at all, which its owner only can read.
    ///
    /// force: whether a file that exists is replaced.
    /// passphrase: puts the file under it; it takes about a second.
    ///
    /// Raises FileExistsError without ``force``, WireError for an empty passphrase, and OSError.
    #[pyo3(signature = (path, *, force = false, passphrase = None))]
    fn save(&self, py: Python<'_>, path: PathBuf, force: bool, passphrase: Option<String>) -> PyResult<()> {
        let passphrase = passphrase.map(checked).transpose()?;
        let protection = passphrase.as_ref().map(|passphrase| (passphrase, Work::default()));
        free(py, || self.0.write(destination(&path, force), protection))
    }

    /// The public half, for whoever verifies.
    #[getter]
    fn signer(&self) -> PySigner {
        PySigner(self.0.signer())
    }

    fn __repr__(&self) -> String {
        format!("SigningKey({})", self.0.signer().id())
    }
}

/// Who signs: the public half of a ``SigningKey``, for whoever verifies. ``str(signer)`` is what ``minisign -P`` takes.
#[pyclass(frozen, eq, name = "Signer", module = "noren._noren")]
#[derive(PartialEq)]
pub(crate) struct PySigner(Signer);

#[pymethods]
impl PySigner {
    /// Reads a public key from a file, as the tools ``noren`` and ``minisign`` write it too.
    ///
    /// Raises OSError, and WireError for a file that is damaged or of another kind.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        free(py, || Signer::read(&path)).map(Self)
    }

    /// Writes the public key to a file, as a whole or not at all.
    ///
    /// force: whether a file that exists is replaced. Raises FileExistsError without it, and OSError.
    #[pyo3(signature = (path, *, force = false))]
    fn save(&self, py: Python<'_>, path: PathBuf, force: bool) -> PyResult<()> {
        free(py, || self.0.write(destination(&path, force)))
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        format!("Signer({})", self.0.id())
    }
}

/// Signs a file: its signature is written beside it, with ``.minisig`` behind its name. Returns the path of the signature.
///
/// force: whether a signature that exists is replaced.
///
/// Raises FileExistsError without ``force``, OSError, and SignatureError for a file whose name no signature can hold.
#[pyfunction]
#[pyo3(signature = (path, key, *, force = false))]
pub(crate) fn sign(py: Python<'_>, path: PathBuf, key: &PySigningKey, force: bool) -> PyResult<PathBuf> {
    free(py, || signature::sign_file(&path, &key.0, destination(&path, force).existing, identity_of_secret(&path)?))
}

/// Verifies a file by the signature beside it, and returns what the signer says of it: when it was signed, its name and kind.
///
/// any_name: whether it may have been signed under another name.
/// kind: what must be in it, as the signature says it, such as ``"CKKS ciphertext"``.
/// owner: the identity of the secret key that it must belong to, such as ``keys.owner``; parameters belong to all.
///
/// The bytes that were read are verified: nobody may have changed the file when it is loaded afterwards. Raises OSError,
/// SignatureError for a file that this signer has not signed, or not for this use, or that was changed, and ValueError for a
/// kind or an owner that cannot be.
#[pyfunction]
#[pyo3(signature = (path, signer, *, any_name = false, kind = None, owner = None))]
pub(crate) fn verify(
    py: Python<'_>,
    path: PathBuf,
    signer: &PySigner,
    any_name: bool,
    kind: Option<&str>,
    owner: Option<&str>,
) -> PyResult<String> {
    let kind = kind.map(|name| {
        let found = Kind::ALL.into_iter().find(|kind| kind.name() == name);
        found.ok_or_else(|| PyValueError::new_err(format!("kind {name:?}: needed one of {}", Kind::any_of(&Kind::ALL))))
    });
    let owner = owner.map(|text| {
        let needed =
            || PyValueError::new_err(format!("owner {text:?}: needed 32 hexadecimal digits, such as keys.owner"));
        KeyId::from_hex(text).ok_or_else(needed)
    });
    let (kind, owner) = (kind.transpose()?, owner.transpose()?);
    let requirements = Requirements { any_name, kinds: kind.as_slice(), owner };
    free(py, || signature::verify_file(&path, &signer.0, &requirements).map(|found| found.comment().to_owned()))
}

/// Does the work while other threads run.
fn free<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T, FileRefusal> + Send) -> PyResult<T> {
    detached(py, || Ok(work()))?.map_err(raise_of_files)
}
