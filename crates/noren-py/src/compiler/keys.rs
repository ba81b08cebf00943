//! `SecretKey` and `ServerKeys` of compiled functions: the objects of their schemes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use noren::backends::PartKind;
use noren::compiler::{Client, Program, SecretKey, ServerKeys};
use noren::wire::Destination;
use noren_files::encrypted;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use zeroize::Zeroizing;

use crate::array::detached;
use crate::errors::{raise, raise_of_files};
use crate::files::{checked, destination, save_secret_of};
use crate::pickle::{SECRET_KEY, refuse_secret};

/// The secret key of compiled functions with the same parameters: whoever has it reads everything.
///
/// Its bytes and its file are those of the key of the scheme, such as ``noren.ckks.SecretKey``.
#[pyclass(frozen, name = "SecretKey", module = "noren.compiler")]
pub(crate) struct PyCompiledSecret(pub(crate) Arc<SecretKey>);

/// The keys with which a server evaluates a compiled function; nothing in them decrypts.
///
/// Their bytes and their file are those of the keys of the scheme, such as ``noren.ckks.EvaluationKeys``, where there is one
/// object.
#[pyclass(frozen, name = "ServerKeys", module = "noren.compiler")]
pub(crate) struct PyCompiledServerKeys(pub(crate) ServerKeys);

impl PyCompiledSecret {
    /// The client of a function with this key.
    pub(crate) fn client(&self, program: &Program) -> PyResult<Client> {
        Client::new(program.clone(), Arc::clone(&self.0)).map_err(raise)
    }
}

impl PyCompiledServerKeys {
    /// The keys of these kinds in bytes.
    pub(crate) fn of_bytes(py: Python<'_>, kinds: &[PartKind], data: &[u8]) -> PyResult<Self> {
        detached(py, || ServerKeys::from_bytes(kinds, data)).map(Self)
    }

    /// The keys of these kinds in a file; expanded keys are mapped.
    pub(crate) fn of_file(py: Python<'_>, kinds: &[PartKind], path: &Path) -> PyResult<Self> {
        detached(py, || ServerKeys::open(kinds, path)).map(Self)
    }
}

/// Reads a secret key of these kinds from a file, which may be encrypted.
pub(crate) fn read_secret(
    py: Python<'_>,
    kinds: &[PartKind],
    path: &Path,
    passphrase: Option<String>,
) -> PyResult<PyCompiledSecret> {
    let passphrase = passphrase.map(checked).transpose()?;
    let read = || -> noren_files::error::Result<SecretKey> {
        if encrypted::is_encrypted_file(path)? {
            let bytes = encrypted::read_bytes(path, passphrase.as_ref())?;
            return Ok(SecretKey::from_bytes(kinds, &bytes)?);
        }
        Ok(SecretKey::open(kinds, path)?)
    };
    let key = detached(py, || Ok(read()))?.map_err(raise_of_files)?;
    Ok(PyCompiledSecret(Arc::new(key)))
}

#[pymethods]
impl PyCompiledSecret {
    /// The kinds of its objects, as ``noren inspect`` names them.
    #[getter]
    fn kinds(&self) -> Vec<&'static str> {
        self.0.kinds().iter().map(|kind| kind.name()).collect()
    }

    /// Writes the key to a file of mode 0600, encrypted if there is a passphrase; an old file is replaced only with `force`.
    #[pyo3(signature = (path, *, force = false, passphrase = None))]
    fn save(&self, py: Python<'_>, path: PathBuf, force: bool, passphrase: Option<String>) -> PyResult<()> {
        let bytes = || Zeroizing::new(self.0.to_bytes());
        save_secret_of(py, (|to: Destination<'_>| self.0.write_file(to), bytes), &path, force, passphrase)
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &Zeroizing::new(self.0.to_bytes()))
    }

    #[allow(clippy::unused_self, reason = "a method of Python")]
    fn __reduce__(&self) -> PyResult<()> {
        refuse_secret(SECRET_KEY)
    }

    fn __repr__(&self) -> String {
        format!("SecretKey({})", self.kinds().join(", "))
    }
}

#[pymethods]
impl PyCompiledServerKeys {
    /// The kinds of its objects, as ``noren inspect`` names them.
    #[getter]
    fn kinds(&self) -> Vec<&'static str> {
        self.0.kinds().iter().map(|kind| kind.name()).collect()
    }

    /// Writes the keys to a file, as a whole or not at all; an old file is replaced only with `force`.
    #[pyo3(signature = (path, *, force = false))]
    fn save(&self, py: Python<'_>, path: PathBuf, force: bool) -> PyResult<()> {
        detached(py, || self.0.write_file(destination(&path, force)))
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.to_bytes())
    }

    fn __repr__(&self) -> String {
        format!("ServerKeys({})", self.kinds().join(", "))
    }
}
