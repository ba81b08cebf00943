//! Where files are written; ciphertexts in them, one or a list.

use std::path::{Path, PathBuf};

use noren::error::{Error, Result};
use noren::wire::{Destination, Existing, Form, Limits, Object};
use noren_files::encrypted;
use noren_files::passphrase::{Passphrase, Work};
use noren_rlwe::wire::file;
use noren_rlwe::wire::header::Header;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use zeroize::Zeroizing;

use crate::array::detached;
use crate::errors::{EncodingError, WireError, raise, raise_of_files};
use crate::parameters::hexadecimal;

/// Where a key is written: in the place of a file that exists only where that is asked for.
pub(crate) fn destination(path: &Path, force: bool) -> Destination<'_> {
    Destination { path, existing: if force { Existing::Replace } else { Existing::Keep } }
}

/// Limits for a file of keys: of an expanded one the digest is compared only where `check` asks for it.
pub(crate) fn limits(check: bool) -> Limits {
    Limits { check_digest: check, ..Limits::default() }
}

/// Reads a secret key, which may be under a passphrase.
pub(crate) fn load_secret<K: Object<Context = ()> + Send>(
    py: Python<'_>,
    path: &Path,
    passphrase: Option<String>,
) -> PyResult<K> {
    let passphrase = passphrase.map(checked).transpose()?;
    let read = detached(py, || Ok(encrypted::read(&(), path, &Limits::default(), passphrase.as_ref())))?;
    read.map_err(raise_of_files)
}

/// Writes a secret key, under a passphrase if there is one.
pub(crate) fn save_secret<K: Object<Context = ()> + Sync>(
    py: Python<'_>,
    key: &K,
    path: &Path,
    force: bool,
    passphrase: Option<String>,
) -> PyResult<()> {
    let clear = |to: Destination<'_>| key.write_file(&(), Form::Packed, to);
    let bytes = || Zeroizing::new(key.to_bytes(&(), Form::Packed));
    save_secret_of(py, (clear, bytes), path, force, passphrase)
}

/// Writes a secret key by what writes it in clear, or its bytes under a passphrase if there is one.
pub(crate) fn save_secret_of(
    py: Python<'_>,
    (clear, bytes): (impl FnOnce(Destination<'_>) -> Result<()> + Send, impl FnOnce() -> Zeroizing<Vec<u8>> + Send),
    path: &Path,
    force: bool,
    passphrase: Option<String>,
) -> PyResult<()> {
    let to = destination(path, force);
    let Some(passphrase) = passphrase.map(checked).transpose()? else { return detached(py, || clear(to)) };
    // An existing file is refused before the work.
    if !force && path.symlink_metadata().is_ok() {
        return Err(raise(Error::Exists { path: path.to_owned() }));
    }
    let written = detached(py, || Ok(encrypted::write_bytes(&bytes(), to, &passphrase, Work::default())))?;
    written.map_err(raise_of_files)
}

/// Writes keys, packed or, if they shall be `expanded`, as they lie in memory.
pub(crate) fn save_keys<K: Object<Context = ()> + Sync>(
    py: Python<'_>,
    keys: &K,
    path: &Path,
    force: bool,
    expanded: bool,
    write_expanded: impl FnOnce(&K, Destination<'_>) -> Result<u64> + Send,
) -> PyResult<()> {
    let to = destination(path, force);
    detached(py, || match expanded {
        true => write_expanded(keys, to).map(drop),
        false => keys.write_file(&(), Form::Packed, to),
    })
}

/// A passphrase from Python, whose own copy of it stays in memory.
pub(crate) fn checked(text: String) -> PyResult<Passphrase> {
    Passphrase::new(text).map_err(|reason| WireError::new_err(reason.to_string()))
}

/// The header of a file of noren, the kind of its object, its digest in hexadecimal and the bytes that it has by its header;
/// None for another file. What follows the header is not looked at.
///
/// Raises OSError, also for what is no regular file.
#[pyfunction]
pub(crate) fn header_of(py: Python<'_>, path: PathBuf) -> PyResult<Option<Stated<'_>>> {
    let header = detached(py, || file::header(&path))?;
    let stated = |header: Header| {
        let bytes = PyBytes::new(py, &header.to_bytes());
        (bytes, header.kind.name(), hexadecimal(&header.digest), header.length)
    };
    Ok(header.map(stated))
}

/// The result of [`header_of`].
type Stated<'py> = (Bound<'py, PyBytes>, &'static str, String, u64);

/// The contents of a file of ciphertexts.
pub(crate) enum Filed<T> {
    One(T),
    Several(Vec<T>),
}

impl<T> Filed<T> {
    /// The ciphertext, or those of a list, as Python holds them.
    pub(crate) fn of<'py>(
        ciphertexts: &Bound<'py, PyAny>,
        inner: impl Fn(&Bound<'py, PyAny>) -> PyResult<T>,
    ) -> PyResult<Self> {
        if let Ok(one) = inner(ciphertexts) {
            return Ok(Self::One(one));
        }
        let all: Vec<Bound<'py, PyAny>> = ciphertexts.extract()?;
        if all.is_empty() {
            return Err(EncodingError::new_err("no ciphertext was given, at least 1 is needed"));
        }
        all.iter().map(inner).collect::<PyResult<_>>().map(Self::Several)
    }

    /// Writes the file, as a whole or not at all.
    pub(crate) fn save<L>(
        self,
        py: Python<'_>,
        context: &T::Context,
        path: &Path,
        list: impl FnOnce(Vec<T>) -> L + Send,
    ) -> PyResult<()>
    where
        T: Object + Send,
        T::Context: Sync,
        L: Object<Context = T::Context>,
    {
        detached(py, || match self {
            Self::One(one) => one.write_file(context, Form::Packed, path),
            Self::Several(all) => list(all).write_file(context, Form::Packed, path),
        })
    }

    /// Reads a file of one ciphertext or of several.
    pub(crate) fn load<L>(
        py: Python<'_>,
        context: &T::Context,
        path: &Path,
        all: impl FnOnce(L) -> Vec<T> + Send,
    ) -> PyResult<Self>
    where
        T: Object + Send,
        T::Context: Sync,
        L: Object<Context = T::Context>,
    {
        detached(py, || match T::read_file(context, path, &Limits::default()) {
            Err(Error::WrongKind { found, .. }) if found == L::KIND.name() => {
                L::read_file(context, path, &Limits::default()).map(|list| Self::Several(all(list)))
            }
            one => Result::map(one, Self::One),
        })
    }

    /// What a function of all of them makes.
    pub(crate) fn changed(self, py: Python<'_>, change: impl FnOnce(&[T]) -> Result<Vec<T>> + Send) -> PyResult<Self>
    where
        T: Send,
    {
        detached(py, || match self {
            Self::One(one) => change(&[one]).map(|mut all| Self::One(all.remove(0))),
            Self::Several(all) => change(&all).map(Self::Several),
        })
    }

    /// The object of Python: a ciphertext or a list.
    pub(crate) fn wrap<'py, P: IntoPyObject<'py>>(
        self,
        py: Python<'py>,
        wrap: impl Fn(T) -> P,
    ) -> PyResult<Bound<'py, PyAny>> {
        match self {
            Self::One(one) => wrap(one).into_bound_py_any(py),
            Self::Several(all) => all.into_iter().map(wrap).collect::<Vec<_>>().into_bound_py_any(py),
        }
    }
}
