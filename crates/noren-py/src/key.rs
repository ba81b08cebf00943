//! A key of any scheme with its context: what its class in Python asks of it.

use std::path::Path;

use noren::error::Result;
use noren::wire::{Form, Limits, Object};
use noren::{EvaluationKeys, PublicKey, ReceiverKey, ReencryptionKey, SecretKey, Security, bgv, ckks, tfhe};
use noren_rlwe::wire::key_file::{ExpandedFileKey, FileContext, FileKey, KeyFile};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::admission::admit;
use crate::array::detached;
use crate::ckks::parameters::PyParameters;
use crate::display::Holds;
use crate::files::{destination, save_keys, save_secret};
use crate::integers::parameters::PyIntegerParameters;
use crate::pickle::{Shared, Threading, bytes_beside, bytes_of, shared_context, usual_threading};
use crate::tfhe::parameters::PyTfheParameters;

/// A context of a scheme, whose parameters Python knows.
pub(crate) trait Home: Shared + Sync {
    /// The parameters in an object of Python.
    fn parameters_of(object: &Bound<'_, PyAny>) -> PyResult<Self::Parameters>;

    /// The object of its parameters.
    fn parameters_in<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>>;

    /// The security that its parameters promise.
    fn security(&self) -> Security;

    /// Its parameters in short.
    fn about(&self) -> String;
}

impl Home for ckks::Context {
    fn parameters_of(object: &Bound<'_, PyAny>) -> PyResult<Self::Parameters> {
        Ok(object.cast::<PyParameters>()?.get().0.clone())
    }

    fn parameters_in<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        PyParameters(self.parameters().clone()).into_bound_py_any(py)
    }

    fn security(&self) -> Security {
        self.parameters().rlwe().security()
    }

    fn about(&self) -> String {
        format!("n={}", self.parameters().degree())
    }
}

impl Home for bgv::Context {
    fn parameters_of(object: &Bound<'_, PyAny>) -> PyResult<Self::Parameters> {
        Ok(object.cast::<PyIntegerParameters>()?.get().0.clone())
    }

    fn parameters_in<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        PyIntegerParameters(self.parameters().clone()).into_bound_py_any(py)
    }

    fn security(&self) -> Security {
        self.parameters().rlwe().security()
    }

    fn about(&self) -> String {
        format!("n={}", self.parameters().degree())
    }
}

impl Home for tfhe::Context {
    fn parameters_of(object: &Bound<'_, PyAny>) -> PyResult<Self::Parameters> {
        Ok(object.cast::<PyTfheParameters>()?.get().0.clone())
    }

    fn parameters_in<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        PyTfheParameters(self.parameters().clone()).into_bound_py_any(py)
    }

    fn security(&self) -> Security {
        self.parameters().spec().torus.security
    }

    fn about(&self) -> String {
        PyTfheParameters(self.parameters().clone()).__repr__()
    }
}

/// A key with its parameters, as a file has them.
pub(crate) trait File: Object<Context = ()> + Send + Sync + 'static {
    /// The context of its scheme.
    type Home: Home;
    /// The key.
    type Key: Object<Context: Sync> + Holds + Send + Sync;

    fn of(context: &Self::Home, key: Self::Key) -> Self;

    fn key(&self) -> &Self::Key;

    /// The context that came with it, or the one of its parameters that all files share.
    fn home(&self, py: Python<'_>) -> PyResult<Self::Home>;

    /// The context that the key alone is read and written with.
    fn beside(context: &Self::Home) -> &<Self::Key as Object>::Context;

    /// Reads a file, or maps it.
    fn open(path: &Path, limits: &Limits) -> Result<Self> {
        Self::read_file(&(), path, limits)
    }

    /// Writes it in clear, packed or, if it shall be `expanded`, as it lies in memory where a key can.
    fn save(&self, py: Python<'_>, path: &Path, force: bool, _expanded: bool) -> PyResult<()> {
        detached(py, || self.write_file(&(), Form::Packed, destination(path, force)))
    }
}

/// A key of ring learning with errors, whose file may be mapped.
pub(crate) trait RlweKey<C: FileContext>: FileKey<C> + Holds + Send + Sync + 'static {
    fn open(path: &Path, limits: &Limits) -> Result<KeyFile<C, Self>> {
        Object::read_file(&(), path, limits)
    }

    fn save(file: &KeyFile<C, Self>, py: Python<'_>, path: &Path, force: bool, _expanded: bool) -> PyResult<()>
    where
        C: Sync,
    {
        detached(py, || file.write_file(&(), Form::Packed, destination(path, force)))
    }
}

impl<C: FileContext> RlweKey<C> for SecretKey where Self: FileKey<C> {}

impl<C: FileContext> RlweKey<C> for PublicKey where Self: FileKey<C> {}

impl<C: FileContext> RlweKey<C> for ReceiverKey where Self: FileKey<C> {}

impl<C: FileContext> RlweKey<C> for ReencryptionKey where Self: FileKey<C> {}

impl<C: FileContext> RlweKey<C> for EvaluationKeys
where
    Self: ExpandedFileKey<C>,
{
    fn open(path: &Path, limits: &Limits) -> Result<KeyFile<C, Self>> {
        KeyFile::open(path, limits)
    }

    fn save(file: &KeyFile<C, Self>, py: Python<'_>, path: &Path, force: bool, expanded: bool) -> PyResult<()>
    where
        C: Sync,
    {
        save_keys(py, file, path, force, expanded, |keys, to| keys.write_expanded(to))
    }
}

impl<C: FileContext + Home, K: RlweKey<C>> File for KeyFile<C, K> {
    type Home = C;
    type Key = K;

    fn of(context: &C, key: K) -> Self {
        Self { context: context.clone(), key }
    }

    fn key(&self) -> &K {
        &self.key
    }

    fn home(&self, _: Python<'_>) -> PyResult<C> {
        Ok(self.context.clone())
    }

    fn beside(context: &C) -> &noren_rlwe::context::Context {
        context.rlwe()
    }

    fn open(path: &Path, limits: &Limits) -> Result<Self> {
        K::open(path, limits)
    }

    fn save(&self, py: Python<'_>, path: &Path, force: bool, expanded: bool) -> PyResult<()> {
        K::save(self, py, path, force, expanded)
    }
}

impl<K: tfhe::FileKey + Holds + Send + Sync + 'static> File for tfhe::KeyFile<K> {
    type Home = tfhe::Context;
    type Key = K;

    fn of(context: &tfhe::Context, key: K) -> Self {
        Self { parameters: context.parameters().clone(), key }
    }

    fn key(&self) -> &K {
        &self.key
    }

    fn home(&self, py: Python<'_>) -> PyResult<tfhe::Context> {
        shared_context(py, &self.parameters, &usual_threading())
    }

    fn beside(context: &tfhe::Context) -> &noren_rlwe::torus::parameters::TorusParameters {
        context.parameters().torus()
    }
}

/// A key with its context, as Python holds it.
pub(crate) struct HeldKey<F: File> {
    pub(crate) context: F::Home,
    pub(crate) file: F,
}

impl<F: File> HeldKey<F> {
    pub(crate) fn new(context: &F::Home, key: F::Key) -> Self {
        Self { context: context.clone(), file: F::of(context, key) }
    }

    pub(crate) fn key(&self) -> &F::Key {
        self.file.key()
    }

    /// A key from outside, whose parameters must promise `min_security` bits.
    pub(crate) fn admitted(py: Python<'_>, what: &str, file: F, min_security: u32) -> PyResult<Self> {
        let context = file.home(py)?;
        admit(py, what, context.security(), min_security)?;
        Ok(Self { context, file })
    }

    /// The key of a pickle, which has the parameters by themselves: all that is unpickled shares one context.
    pub(crate) fn unpickled(parameters: &Bound<'_, PyAny>, data: &[u8], threading: &Threading) -> PyResult<Self> {
        let py = parameters.py();
        let context = shared_context::<F::Home>(py, &F::Home::parameters_of(parameters)?, threading)?;
        let key = detached(py, || F::Key::from_bytes(F::beside(&context), data))?;
        Ok(Self::new(&context, key))
    }
}

/// A key of any scheme.
pub(crate) trait Key: Send + Sync {
    /// The description of the key.
    fn holds(&self) -> &dyn Holds;

    /// Its parameters in short.
    fn about(&self) -> String;

    /// The object of its parameters.
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>>;

    /// Its bytes, its parameters among them.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>>;

    /// The bytes of a pickle beside the parameters.
    fn to_pickle<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyBytes>, Threading)>;

    /// Writes it in clear.
    fn save(&self, py: Python<'_>, path: &Path, force: bool, expanded: bool) -> PyResult<()>;

    /// Writes it for its owner alone, under a passphrase if there is one.
    fn save_secret(&self, py: Python<'_>, path: &Path, force: bool, passphrase: Option<String>) -> PyResult<()>;
}

impl<F: File> Key for HeldKey<F> {
    fn holds(&self) -> &dyn Holds {
        self.file.key()
    }

    fn about(&self) -> String {
        self.context.about()
    }

    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.context.parameters_in(py)
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        bytes_of(py, &self.file)
    }

    fn to_pickle<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyBytes>, Threading)> {
        let bytes = bytes_beside(py, self.file.key(), F::beside(&self.context), Form::Packed)?;
        Ok((bytes, self.context.threading()))
    }

    fn save(&self, py: Python<'_>, path: &Path, force: bool, expanded: bool) -> PyResult<()> {
        self.file.save(py, path, force, expanded)
    }

    fn save_secret(&self, py: Python<'_>, path: &Path, force: bool, passphrase: Option<String>) -> PyResult<()> {
        save_secret(py, &self.file, path, force, passphrase)
    }
}
