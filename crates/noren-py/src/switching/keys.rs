//! `SwitchingKeys`: keys between the secret of CKKS and that of TFHE.

use std::path::PathBuf;
use std::sync::Arc;

use noren::ckks;
use noren::switching::{Context, KeyFile};
use noren::wire::{Form, Limits, Object};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::admission::{USUAL, admit};
use crate::array::detached;
use crate::ckks::classes::PyContext;
use crate::ckks::keys::PySecretKey;
use crate::display::{size, table};
use crate::errors::raise;
use crate::files::destination;
use crate::pickle::{Shared, Threading, bytes_of, shared_context};
use crate::progress::Heard;
use crate::seeds::seed_of;
use crate::switching::parameters::PySwitchingParameters;
use crate::tfhe::keys::PyTfheSecretKey;
use crate::whole::whole;

/// The keys between the secret keys of both schemes, with the parameters of both; nothing in them decrypts. Can be pickled.
///
/// Each secret key is encrypted under the other one: as for bootstrapping, that this hides them is an assumption of its own.
#[pyclass(frozen, name = "SwitchingKeys", module = "noren.switching")]
pub(crate) struct PySwitchingKeys(pub(crate) Arc<KeyFile>);

impl PySwitchingKeys {
    /// Keys from outside, whose parameters must promise `min_security` bits, of both schemes.
    fn admitted(py: Python<'_>, what: &str, file: KeyFile, min_security: u32) -> PyResult<Self> {
        let ckks = file.parameters.bootstrapping().spec().security;
        let tfhe = file.parameters.tfhe().spec().torus.security;
        admit(py, what, if tfhe.bits() < ckks.bits() { tfhe } else { ckks }, min_security)?;
        Ok(Self(Arc::new(file)))
    }
}

#[pymethods]
impl PySwitchingKeys {
    /// Makes the keys between two secret keys of one owner.
    ///
    /// secret: the secret key of CKKS, that of the bootstrapping keys. tfhe_secret: the secret key of TFHE.
    /// seed: 32 secret bytes from which all keys follow; None draws them from the operating system.
    /// progress: called with (done, of) as the work goes on. What it raises ends the work.
    ///
    /// Raises ParameterMismatchError for secret keys of other parameters, InsecureError for a secret key that does not carry
    /// these keys.
    #[staticmethod]
    #[pyo3(signature = (parameters, secret, tfhe_secret, *, seed = None, progress = None))]
    fn generate(
        py: Python<'_>,
        parameters: &PySwitchingParameters,
        secret: &PySecretKey,
        tfhe_secret: &PyTfheSecretKey,
        seed: Option<&[u8]>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let seed = seed_of(seed)?;
        let file = Heard::new(progress).follow(py, raise, || {
            let context = Context::new(&parameters.0, &secret.0.context, &tfhe_secret.0.context)?;
            KeyFile::generate(&context, secret.0.key(), tfhe_secret.0.key(), &seed)
        })?;
        Ok(Self(Arc::new(file)))
    }

    /// Reads the keys and their parameters from a file.
    ///
    /// min_security: see ``from_bytes``. Raises OSError, and what ``from_bytes`` raises.
    #[staticmethod]
    #[pyo3(signature = (path, *, min_security = USUAL), text_signature = "(path, *, min_security=128)")]
    fn load(py: Python<'_>, path: PathBuf, #[pyo3(from_py_with = whole)] min_security: u32) -> PyResult<Self> {
        let file = detached(py, || KeyFile::read_file(&(), &path, &Limits::default()))?;
        Self::admitted(py, &path.display().to_string(), file, min_security)
    }

    /// Writes the keys and their parameters to a file, as a whole or not at all.
    ///
    /// force: whether a file that exists is replaced.
    ///
    /// Raises FileExistsError without ``force``, and OSError.
    #[pyo3(signature = (path, *, force = false))]
    fn save(&self, py: Python<'_>, path: PathBuf, force: bool) -> PyResult<()> {
        detached(py, || self.0.write_file(&(), Form::Packed, destination(&path, force)))
    }

    /// The keys that ``bytes(keys)`` gave, with their parameters.
    ///
    /// min_security: the bits of security that the parameters of both schemes must promise; 0 for tests.
    ///
    /// Raises WireError for bytes that are damaged or of another kind, InsecureError for less security.
    #[staticmethod]
    #[pyo3(signature = (data, *, min_security = USUAL), text_signature = "(data, *, min_security=128)")]
    fn from_bytes(py: Python<'_>, data: &[u8], #[pyo3(from_py_with = whole)] min_security: u32) -> PyResult<Self> {
        let file = detached(py, || KeyFile::from_bytes(&(), data))?;
        Self::admitted(py, "the bytes", file, min_security)
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        bytes_of(py, &*self.0)
    }

    #[staticmethod]
    fn _unpickle(py: Python<'_>, data: &[u8], threading: Threading) -> PyResult<Self> {
        let file = detached(py, || KeyFile::from_bytes(&(), data))?;
        let context: ckks::Context = shared_context(py, file.parameters.ckks(), &threading)?;
        Ok(Self(Arc::new(KeyFile { context, ..file })))
    }

    #[expect(clippy::type_complexity, reason = "what pickle asks for")]
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>, Threading))> {
        let unpickle = py.get_type::<Self>().getattr("_unpickle")?;
        Ok((unpickle, (self.__bytes__(py)?, self.0.context.threading())))
    }

    /// The context of the ciphertexts.
    #[getter]
    fn context(&self) -> PyContext {
        PyContext(self.0.context.clone())
    }

    /// The parameters of both schemes.
    #[getter]
    fn parameters(&self) -> PySwitchingParameters {
        PySwitchingParameters(self.0.parameters.clone())
    }

    /// Bytes in memory; those that a switch makes of them are more.
    #[getter]
    fn nbytes(&self) -> usize {
        self.0.keys.bytes()
    }

    fn __repr__(&self) -> String {
        format!("SwitchingKeys({}, {})", self.parameters().__repr__(), size(self.nbytes() as u64))
    }

    /// The table that notebooks show.
    fn _repr_html_(&self) -> String {
        let key = self.0.keys.rlwe_owner().key.to_string();
        let rows = [
            ("parameters", self.parameters().__repr__()),
            ("key", key),
            ("size in memory", size(self.nbytes() as u64)),
        ];
        table("SwitchingKeys", &rows)
    }
}
