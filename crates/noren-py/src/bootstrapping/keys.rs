//! `BootstrapParameters`, `BootstrapPlan`, `BootstrapKeys`: what is chosen, known and made before the first bootstrap.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use noren::Resources;
use noren::bootstrapping::{
    BootstrapKeyFile, BootstrapKeys, BootstrapPlan, Footprint, Mode, Parameters, Preset, Progress, expanded_bytes,
};
use noren::ckks::KeyRequest;
use noren::cost::{Machine, Party};
use noren::wire::{Limits, Object};
use noren_rlwe::wire::file::directory_of;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyBytes, PyDict};

use crate::admission::{USUAL, admit};
use crate::array::detached;
use crate::ckks::classes::PyContext;
use crate::ckks::keys::{PyEvaluationKeys, PySecretKey};
use crate::ckks::parameters::PyParameters;
use crate::display::size;
use crate::errors::raise;
use crate::files::{destination, limits, save_keys};
use crate::key_classes::KeyClass;
use crate::key_sets;
use crate::pickle::bytes_of;
use crate::progress::Heard;
use crate::seeds::seed_of;
use crate::whole::{Integers, whole};

/// Parameters of bootstrapping, by the name of a preset.
///
/// preset: "n16" (2^15 slots, 12 levels, 128 bits), "n16-132" (11 levels, some 4 bits more), "n16-small",
/// "n16-precise", "n15", or "toy" without security, for tests. ``noren.bootstrapping.PRESETS`` has all names.
/// log_slots: base-two logarithm of the number of slots that are bootstrapped, None for as many as the preset has.
///
/// Raises Error for a name that there is not, or more slots than the preset has.
///
/// >>> from noren import bootstrapping
/// >>> params = bootstrapping.Parameters("n16")
/// >>> params.slots, params.levels_left, params.ckks.security
/// (32768, 12, 128)
/// >>> params.plan().log2_failure(100) < -64
/// True
#[pyclass(frozen, eq, name = "Parameters", module = "noren.bootstrapping")]
#[derive(PartialEq)]
pub(crate) struct PyBootstrapParameters(pub(crate) Parameters);

#[pymethods]
impl PyBootstrapParameters {
    #[new]
    #[pyo3(signature = (preset = "n16", *, log_slots = None))]
    fn new(preset: &str, #[pyo3(from_py_with = whole)] log_slots: Option<u32>) -> PyResult<Self> {
        let preset: Preset = preset.parse().map_err(raise)?;
        let spec = log_slots.map_or_else(|| Ok(preset.spec()), |log_slots| preset.spec_for(log_slots));
        spec.and_then(|spec| spec.build()).map(Self).map_err(raise)
    }

    /// The name of the preset, None for parameters of a file that are none.
    #[getter]
    fn preset(&self) -> Option<&'static str> {
        Preset::of(&self.0).map(Preset::name)
    }

    /// The parameters of the ciphertexts, for ``ckks.Context``.
    #[getter]
    fn ckks(&self) -> PyResult<PyParameters> {
        self.0.ckks().map(PyParameters).map_err(raise)
    }

    /// The degree of the ring.
    #[getter]
    fn n(&self) -> usize {
        self.0.degree()
    }

    /// The largest number of slots that are bootstrapped.
    #[getter]
    fn slots(&self) -> usize {
        self.0.slots()
    }

    /// The size of all primes together in bits.
    #[getter]
    fn log_qp(&self) -> u32 {
        self.0.log_qp()
    }

    /// The level of freshly raised ciphertexts, the highest that there is.
    #[getter]
    fn max_level(&self) -> usize {
        self.0.max_level()
    }

    /// The level that a ciphertext needs at least to be bootstrapped.
    #[getter]
    fn input_level(&self) -> usize {
        self.0.input_level()
    }

    /// The level of a result: where data for programs is encrypted best.
    #[getter]
    fn output_level(&self) -> usize {
        self.0.output_level()
    }

    /// How many products can follow one another between two bootstraps.
    #[getter]
    fn levels_left(&self) -> usize {
        self.0.levels_left()
    }

    /// Costs and risks of bootstrapping, before any key exists.
    fn plan(&self, py: Python<'_>) -> PyResult<PyBootstrapPlan> {
        detached(py, || BootstrapPlan::new(&self.0)).map(PyBootstrapPlan)
    }

    fn __repr__(&self) -> String {
        format!("Parameters({:?})", self.0.name())
    }
}

/// Costs and risks of bootstrapping; see ``Parameters.plan``.
#[pyclass(frozen, name = "Plan", module = "noren.bootstrapping")]
pub(crate) struct PyBootstrapPlan(BootstrapPlan);

#[pymethods]
impl PyBootstrapPlan {
    /// The bytes of all keys in memory.
    #[getter]
    fn key_bytes(&self) -> u64 {
        self.0.key_bytes()
    }

    /// About the bytes of all keys in files.
    #[getter]
    fn disk_bytes(&self) -> u64 {
        self.0.disk_bytes()
    }

    /// The bytes of the encoded matrices.
    #[getter]
    fn factor_bytes(&self) -> u64 {
        self.0.factor_bytes()
    }

    /// The bytes that bootstrapping takes in memory: keys, encoded matrices, and what lives on the way.
    #[getter]
    fn memory_bytes(&self) -> u64 {
        self.0.memory_bytes()
    }

    /// How many bits of a message of size 1 are expected to be right in the worst slot, to about one.
    ///
    /// mode: "real", "complex" or "paired", as of ``Bootstrapper``. Raises Error for another.
    #[pyo3(signature = (mode = "real"))]
    fn precision_bits(&self, mode: &str) -> PyResult<f64> {
        self.mode(mode).map(|mode| self.0.precision_bits(mode))
    }

    /// The error of a message of size 1 that exact arithmetic leaves, all iterations together. mode: see ``precision_bits``.
    #[pyo3(signature = (mode = "real"))]
    fn systematic_error(&self, mode: &str) -> PyResult<f64> {
        self.mode(mode).map(|mode| self.0.systematic_error(mode))
    }

    /// About the seconds of one bootstrap, by the costs of the last ``noren calibrate`` of this machine, or else of the reference
    /// machine with its kernels.
    ///
    /// mode: see ``precision_bits``. threads: how many of them, None for all of the machine.
    #[pyo3(signature = (mode = "real", *, threads = None))]
    fn seconds(
        &self,
        py: Python<'_>,
        mode: &str,
        #[pyo3(from_py_with = whole)] threads: Option<usize>,
    ) -> PyResult<f64> {
        let mode = self.mode(mode)?;
        let threads = threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
        detached(py, || self.0.seconds(mode, &Party::new(Machine::without_measuring(), threads)))
    }

    /// The keys by use and size: for each the name, count, limbs, special, digits, log_qp, bytes and disk_bytes.
    #[getter]
    fn keys<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let row = |key: &noren::bootstrapping::KeyClass| {
            let row = [("count", key.count), ("limbs", key.limbs), ("special", key.special), ("digits", key.digits)];
            let row = row.into_py_dict(py)?;
            row.set_item("name", key.role.name())?;
            row.set_item("log_qp", key.log_qp)?;
            row.set_item("bytes", key.bytes())?;
            row.set_item("disk_bytes", key.disk_bytes())?;
            Ok(row)
        };
        self.0.keys().iter().map(row).collect()
    }

    /// The base-two logarithm of a bound on the probability that any of ``bootstraps`` bootstraps is wrong in some slot.
    #[pyo3(signature = (bootstraps = 1))]
    fn log2_failure(&self, #[pyo3(from_py_with = whole)] bootstraps: u64) -> f64 {
        self.0.log2_failure(bootstraps)
    }

    /// Raises Error if this machine has not the memory, or the disk of the directory not the room, with both numbers.
    #[pyo3(signature = (directory = PathBuf::from(".")), text_signature = "($self, directory='.')")]
    fn check(&self, directory: PathBuf) -> PyResult<()> {
        let footprint = Footprint { memory: self.0.memory_bytes(), disk: self.0.disk_bytes() };
        footprint.check(&Resources::of_machine(&directory)).map_err(raise)
    }

    fn __repr__(&self) -> String {
        let gib = |bytes: u64| bytes as f64 / f64::from(1u32 << 30);
        let (memory, disk) = (gib(self.memory_bytes()), gib(self.disk_bytes()));
        let failure = self.log2_failure(100);
        format!("Plan(memory={memory:.2} GiB, disk={disk:.2} GiB, failure of 100 = 2^{failure:.1})")
    }
}

impl PyBootstrapPlan {
    /// A mode that these parameters have.
    fn mode(&self, name: &str) -> PyResult<Mode> {
        let mode = name.parse().map_err(raise)?;
        Mode::check(mode, self.0.parameters()).map_err(raise)?;
        Ok(mode)
    }
}

/// The parameters of a file of keys, which must promise `min_security` bits; the gigabytes of keys are not read.
fn admitted_parameters(py: Python<'_>, path: &Path, min_security: u32) -> PyResult<Parameters> {
    let parameters = detached(py, || BootstrapKeyFile::read_parameters(path, &Limits::default()))?;
    admit(py, &path.display().to_string(), parameters.spec().security, min_security)?;
    Ok(parameters)
}

/// The keys that bootstrapping evaluates with, and those of a program beside them; nothing in them decrypts.
#[pyclass(frozen, name = "BootstrapKeys", module = "noren.bootstrapping")]
pub(crate) struct PyBootstrapKeys(pub(crate) Arc<BootstrapKeyFile>);

#[pymethods]
impl PyBootstrapKeys {
    /// Makes the keys of a secret in memory; ``generate_file`` adds keys of the program.
    ///
    /// seed: 32 secret bytes from which all keys follow; None draws them from the operating system.
    /// progress: called with (done, of) after each key. What it raises ends the work.
    ///
    /// Raises ParameterMismatchError for a secret of other parameters.
    #[staticmethod]
    #[pyo3(signature = (parameters, secret, *, seed = None, progress = None))]
    fn generate(
        py: Python<'_>,
        parameters: &PyBootstrapParameters,
        secret: &PySecretKey,
        seed: Option<&[u8]>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let seed = seed_of(seed)?;
        let (context, parameters, secret) = (secret.0.context.clone(), parameters.0.clone(), secret.0.key());
        let heard = Heard::new(progress);
        let hear = |done, of| heard.call(done, of);
        let keys = heard.watch(py, || {
            let keys = BootstrapKeys::generate(&context, &parameters, secret, seed, Some(&hear))?;
            Ok(BootstrapKeyFile { context: context.clone(), parameters, keys: Arc::new(keys) })
        })?;
        Ok(Self(Arc::new(keys)))
    }

    /// Makes the keys of a secret straight into a file, one at a time; returns its bytes.
    ///
    /// rotations: what the program rotates by, for ciphertexts up to the level of results.
    /// rotations_at: rotations up to a level of their own, as {steps: level}.
    /// seed, progress: see ``generate``.
    /// force: whether a file that exists is replaced.
    ///
    /// The file appears as a whole or not at all. Raises FileExistsError without ``force``, OSError, and what ``generate`` raises.
    #[staticmethod]
    #[pyo3(
        signature = (path, parameters, secret, *, rotations = Integers::default(), rotations_at = None, seed = None,
            progress = None, force = false),
        text_signature = "(path, parameters, secret, *, rotations=(), rotations_at=None, seed=None, progress=None, force=False)"
    )]
    #[expect(clippy::too_many_arguments, reason = "they are keyword arguments in Python")]
    fn generate_file(
        py: Python<'_>,
        path: PathBuf,
        parameters: &PyBootstrapParameters,
        secret: &PySecretKey,
        rotations: Integers,
        #[pyo3(from_py_with = whole)] rotations_at: Option<BTreeMap<isize, usize>>,
        seed: Option<&[u8]>,
        progress: Option<Py<PyAny>>,
        force: bool,
    ) -> PyResult<u64> {
        let seed = seed_of(seed)?;
        let rotations_at = rotations_at.unwrap_or_default().into_iter().collect();
        let request = KeyRequest { rotations: rotations.0, rotations_at, ..KeyRequest::default() };
        let (parameters, file) = (&parameters.0, secret.0.clone());
        let heard = Heard::new(progress);
        let mut hear = |p: Progress| heard.call(p.done, p.of);
        heard.watch(py, || {
            let to = destination(&path, force);
            BootstrapKeyFile::generate(to, &file.context, parameters, file.key(), seed, &request, &mut hear)
        })
    }

    /// Writes the keys of a file as they lie in memory into another, for ``load`` to map; returns its bytes. No more than a key is
    /// held. ``noren expand`` does it too.
    ///
    /// force: whether a file that exists is replaced.
    /// progress: see ``generate``.
    /// min_security: the bits of security that its parameters must promise; 0 for tests.
    ///
    /// Such a file is larger, and for the machine that it was made on. Raises FileExistsError without ``force``, OSError, WireError
    /// for a damaged file or one of another kind, InsecureError for less security, Error if the disk has no room.
    #[staticmethod]
    #[pyo3(signature = (source, path, *, force = false, progress = None, min_security = USUAL),
        text_signature = "(source, path, *, force=False, progress=None, min_security=128)")]
    fn expand(
        py: Python<'_>,
        source: PathBuf,
        path: PathBuf,
        force: bool,
        progress: Option<Py<PyAny>>,
        #[pyo3(from_py_with = whole)] min_security: u32,
    ) -> PyResult<u64> {
        let parameters = admitted_parameters(py, &source, min_security)?;
        let heard = Heard::new(progress);
        let mut hear = |p: Progress| heard.call(p.done, p.of);
        heard.watch(py, || {
            let room = Footprint { memory: 0, disk: expanded_bytes(&parameters)? };
            room.check(&Resources::of_machine(directory_of(&path)))?;
            BootstrapKeyFile::expand(&source, destination(&path, force), &Limits::default(), &mut hear)
        })
    }

    /// Reads keys from a file, with their parameters; an expanded file is mapped, and all processes that map it share the keys.
    /// Who can write to an expanded file must be trusted.
    ///
    /// progress: see ``generate``.
    /// check: whether the file is compared with its digest; an expanded one is read as a whole for that.
    /// min_security: the bits of security that its parameters must promise; 0 for tests.
    ///
    /// Raises OSError, WireError for a damaged file or one of another kind, MissingKeyError that names all keys that
    /// bootstrapping needs and the file lacks, InsecureError for less security, Error if this machine has not the memory.
    #[staticmethod]
    #[pyo3(signature = (path, *, progress = None, check = true, min_security = USUAL),
        text_signature = "(path, *, progress=None, check=True, min_security=128)")]
    fn load(
        py: Python<'_>,
        path: PathBuf,
        progress: Option<Py<PyAny>>,
        check: bool,
        #[pyo3(from_py_with = whole)] min_security: u32,
    ) -> PyResult<Self> {
        admitted_parameters(py, &path, min_security)?;
        let heard = Heard::new(progress);
        let mut hear = |p: Progress| heard.call(p.done, p.of);
        let resources = Resources::of_machine(&path);
        let file = heard.watch(py, || BootstrapKeyFile::open(&path, &limits(check), &resources, &mut hear))?;
        Ok(Self(Arc::new(file)))
    }

    /// Writes the keys and their parameters to a file, as a whole or not at all.
    ///
    /// force: whether a file that exists is replaced.
    /// expanded: whether the keys are written as they lie in memory: see ``expand``.
    ///
    /// Raises FileExistsError without ``force``, OSError, and Error if the disk has no room for expanded keys.
    #[pyo3(signature = (path, *, force = false, expanded = false))]
    fn save(&self, py: Python<'_>, path: PathBuf, force: bool, expanded: bool) -> PyResult<()> {
        save_keys(py, &*self.0, &path, force, expanded, |keys, to| keys.write_expanded(to))
    }

    /// The keys that ``bytes(keys)`` gave. Raises what ``load`` raises.
    #[staticmethod]
    #[pyo3(signature = (data, *, min_security = USUAL), text_signature = "(data, *, min_security=128)")]
    fn from_bytes(py: Python<'_>, data: &[u8], #[pyo3(from_py_with = whole)] min_security: u32) -> PyResult<Self> {
        let file = detached(py, || BootstrapKeyFile::from_bytes(&(), data))?;
        admit(py, "the bytes", file.parameters.spec().security, min_security)?;
        Ok(Self(Arc::new(file)))
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        bytes_of(py, &*self.0)
    }

    /// The context of the ciphertexts.
    #[getter]
    fn context(&self) -> PyContext {
        PyContext(self.0.context.clone())
    }

    /// The parameters.
    #[getter]
    fn parameters(&self) -> PyBootstrapParameters {
        PyBootstrapParameters(self.0.parameters.clone())
    }

    /// The keys for products, conjugation and rotations, those of the program among them: for ``Context.evaluator``.
    #[getter]
    fn evaluation(&self, py: Python<'_>) -> PyResult<Py<PyEvaluationKeys>> {
        PyEvaluationKeys::new(py, &self.0.context, self.0.keys.evaluation.as_ref().clone())
    }

    /// The identity of the secret key that they belong to, in hexadecimal: keys and ciphertexts with the same owner are of one secret
    /// key. It is public.
    #[getter]
    fn owner(&self) -> String {
        self.0.keys.owner().key.to_hex()
    }

    /// Bytes in memory, or of the mapped file.
    #[getter]
    fn nbytes(&self) -> u64 {
        let keys = &self.0.keys;
        keys.evaluation.bytes() + keys.slot_to_coeff.bytes() + keys.to_ephemeral.bytes() + keys.from_ephemeral.bytes()
    }

    fn __repr__(&self) -> String {
        let (name, rotations) = (self.0.parameters.name(), key_sets::rotations(&self.0.keys.evaluation).len());
        format!("BootstrapKeys({name:?}, rotations={rotations}, {})", size(self.nbytes()))
    }
}
