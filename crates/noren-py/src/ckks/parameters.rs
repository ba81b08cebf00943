//! `Parameters`: sizes of primes, checked.

use std::collections::BTreeMap;

use noren::ckks::{Parameters, ParametersSpec, Requirements};
use noren::wire::Object;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::ckks::level::Level;
use crate::display::table;
use crate::errors::raise;
use crate::explain;
use crate::parameters::{Secret, bits_of, hexadecimal, secret_of, security_of};
use crate::pickle::{BytesPickle, by_bytes, bytes_of, hash_of};
use crate::whole::whole;

/// CKKS parameters, checked and immutable.
///
/// log_n: base-two logarithm of the degree of the ring, 3 to 17; there are 2^(log_n - 1) slots.
/// log_q: sizes in bits of the primes, 20 to 50: the first holds the results, each other one a multiplication.
/// log_p: sizes in bits of the special primes of the evaluation keys, 20 to 50.
/// log_scale: base-two logarithm of the scale of fresh ciphertexts, 20 to 50; None takes the size of the last prime.
/// dnum: into how many digits keys are cut; 0 chooses.
/// restarts: {level: log_scale} where the scale starts anew, for a chain of scales of several stages.
/// secret: how secret keys are drawn: "ternary", "gaussian", or the number of non-zero coefficients; "joint:3" is the sum of those of
///     three parties.
/// security: what every key must reach: 128, 192 or 256 bits, or None for none, in tests.
///
/// Raises InsecureError if the modulus is too large for the degree, Error for sizes out of range.
/// Equal parameters compare equal; they can be hashed and pickled.
///
/// >>> from noren import ckks
/// >>> ckks.Parameters(log_n=14, log_q=[50, 40, 40, 40], log_p=[50])
/// Parameters(log_n=14, log_q=[50, 40, 40, 40], log_p=[50], log_scale=40, dnum=4, security=128)
#[pyclass(frozen, eq, from_py_object, name = "Parameters", module = "noren.ckks")]
#[derive(Clone, PartialEq)]
pub(crate) struct PyParameters(pub(crate) Parameters);

#[pymethods]
impl PyParameters {
    #[new]
    #[pyo3(
        signature = (log_n, log_q, log_p = Vec::new(), log_scale = None, *, dnum = 0, secret = None, security = Some(128),
            restarts = None),
        text_signature = "(log_n, log_q, log_p=(), log_scale=None, *, dnum=0, secret=None, security=128, restarts=None)"
    )]
    #[expect(clippy::too_many_arguments, reason = "they are keyword arguments in Python")]
    fn new(
        #[pyo3(from_py_with = whole)] log_n: u32,
        #[pyo3(from_py_with = whole)] log_q: Vec<u32>,
        #[pyo3(from_py_with = whole)] log_p: Vec<u32>,
        #[pyo3(from_py_with = whole)] log_scale: Option<u32>,
        #[pyo3(from_py_with = whole)] dnum: usize,
        secret: Option<Secret>,
        #[pyo3(from_py_with = whole)] security: Option<u32>,
        #[pyo3(from_py_with = whole)] restarts: Option<BTreeMap<usize, u32>>,
    ) -> PyResult<Self> {
        let (secret, security) = (secret_of(secret)?, security_of(security)?);
        let log_scale = log_scale.or(log_q.last().copied()).unwrap_or_default();
        // From the highest level down.
        let restarts = restarts.unwrap_or_default().into_iter().rev().collect();
        let spec = ParametersSpec { log_n, log_q, log_p, log_scale, restarts, dnum, secret, security };
        spec.build().map(Self).map_err(raise)
    }

    /// The smallest parameters that let `depth` multiplications follow one another.
    ///
    /// precision_bits: errors of results are at most 2^-precision_bits, for values up to max_abs everywhere.
    /// slots: how many slots are needed.
    ///
    /// Raises Error that says which of these cannot be met.
    #[staticmethod]
    #[pyo3(
        signature = (*, depth, precision_bits, max_abs = 1.0, slots = 1, security = Some(128)),
        text_signature = "(*, depth, precision_bits, max_abs=1.0, slots=1, security=128)"
    )]
    fn for_requirements(
        #[pyo3(from_py_with = whole)] depth: usize,
        precision_bits: f64,
        max_abs: f64,
        #[pyo3(from_py_with = whole)] slots: usize,
        #[pyo3(from_py_with = whole)] security: Option<u32>,
    ) -> PyResult<Self> {
        let requirements = Requirements {
            depth,
            precision_bits,
            max_abs,
            slots,
            security: security_of(security)?,
            ..Requirements::default()
        };
        Parameters::for_requirements(&requirements).map(Self).map_err(raise)
    }

    /// The parameters that ``bytes(parameters)`` gave. Raises WireError, and what the constructor raises.
    #[staticmethod]
    fn from_bytes(data: &[u8]) -> PyResult<Self> {
        Parameters::from_bytes(&(), data).map(Self).map_err(raise)
    }

    /// The degree of the ring.
    #[getter]
    fn n(&self) -> usize {
        self.0.degree()
    }

    /// The largest number of slots: half the degree.
    #[getter]
    fn slots(&self) -> usize {
        self.0.max_slots()
    }

    /// The level of fresh ciphertexts: how many multiplications can follow one another.
    #[getter]
    fn max_level(&self) -> usize {
        self.0.max_level()
    }

    /// The base-two logarithm of the scale of fresh ciphertexts.
    #[getter]
    fn log_scale(&self) -> u32 {
        self.0.log_scale()
    }

    /// The size in bits of the modulus of the largest key, on which its security depends.
    #[getter]
    fn log_qp(&self) -> f64 {
        self.0.rlwe().log_qp()
    }

    /// The primes, one for each level.
    #[getter]
    fn q(&self) -> Vec<u64> {
        self.0.rlwe().q().to_vec()
    }

    /// The special primes.
    #[getter]
    fn p(&self) -> Vec<u64> {
        self.0.rlwe().p().to_vec()
    }

    /// Into how many digits keys are cut.
    #[getter]
    fn dnum(&self) -> usize {
        self.0.rlwe().dnum()
    }

    /// {level: log_scale} of the levels where the scale starts anew.
    #[getter]
    fn restarts(&self) -> BTreeMap<usize, u32> {
        self.0.spec().restarts.iter().copied().collect()
    }

    /// The security in bits that every key reaches, or None.
    #[getter]
    fn security(&self) -> Option<u32> {
        bits_of(self.0.rlwe().security())
    }

    /// The fingerprint that objects of these parameters carry: 64 hexadecimal digits.
    #[getter]
    fn fingerprint(&self) -> String {
        hexadecimal(&self.0.fingerprint())
    }

    /// The canonical scale of ciphertexts of a level. Raises ValueError for a level that there is not.
    fn scale(&self, level: Level) -> PyResult<f64> {
        let level = level.get();
        if level > self.0.max_level() {
            return Err(PyValueError::new_err(format!("level {level} of {}", self.0.max_level())));
        }
        Ok(self.0.scale_at(level).to_f64())
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        bytes_of(py, &self.0)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<BytesPickle<'py>> {
        by_bytes::<Self>(self.__bytes__(py)?)
    }

    fn __hash__(&self) -> u64 {
        hash_of(&self.0.fingerprint())
    }

    /// The table that notebooks show.
    fn _repr_html_(&self) -> String {
        table("Parameters (CKKS)", &explain::of_ckks_parameters(&self.0))
    }

    fn __repr__(&self) -> String {
        let spec = self.0.spec();
        let restarts =
            if spec.restarts.is_empty() { String::new() } else { format!(", restarts={:?}", self.restarts()) };
        format!(
            "Parameters(log_n={}, log_q={:?}, log_p={:?}, log_scale={}, dnum={}, security={}{restarts})",
            spec.log_n,
            spec.log_q,
            spec.log_p,
            spec.log_scale,
            self.dnum(),
            self.security().map_or_else(|| "None".to_owned(), |bits| bits.to_string()),
        )
    }
}
