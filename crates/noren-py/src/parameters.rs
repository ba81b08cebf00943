//! `Parameters`: sizes of primes, checked.

use noren::ckks::{Parameters, ParametersSpec, Requirements};
use noren::security::{SecretDistribution, Security};
use noren::wire::{Form, Object};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::raise;

/// CKKS parameters, checked and immutable.
#[pyclass(frozen, eq, name = "Parameters", module = "noren.ckks")]
#[derive(Clone, PartialEq)]
pub(crate) struct PyParameters(pub(crate) Parameters);

#[pymethods]
impl PyParameters {
    #[new]
    #[pyo3(signature = (log_n, log_q, log_p = Vec::new(), log_scale = 40, *, dnum = 0, secret = None, security = Some(128)))]
    fn new(
        log_n: u32,
        log_q: Vec<u32>,
        log_p: Vec<u32>,
        log_scale: u32,
        dnum: usize,
        secret: Option<&Bound<'_, PyAny>>,
        security: Option<u32>,
    ) -> PyResult<Self> {
        let (secret, security) = (secret_of(secret)?, security_of(security)?);
        let spec = ParametersSpec { log_n, log_q, log_p, log_scale, dnum, secret, security };
        spec.build().map(Self).map_err(raise)
    }

    #[staticmethod]
    #[pyo3(signature = (*, depth, precision_bits, max_abs = 1.0, slots = 1, security = Some(128)))]
    fn for_requirements(
        depth: usize,
        precision_bits: f64,
        max_abs: f64,
        slots: usize,
        security: Option<u32>,
    ) -> PyResult<Self> {
        let requirements = Requirements { depth, precision_bits, max_abs, slots, security: security_of(security)? };
        Parameters::for_requirements(&requirements).map(Self).map_err(raise)
    }

    #[staticmethod]
    fn from_bytes(data: &[u8]) -> PyResult<Self> {
        Parameters::from_bytes(&(), data).map(Self).map_err(raise)
    }

    #[getter]
    fn n(&self) -> usize {
        self.0.degree()
    }

    #[getter]
    fn slots(&self) -> usize {
        self.0.max_slots()
    }

    #[getter]
    fn max_level(&self) -> usize {
        self.0.max_level()
    }

    #[getter]
    fn log_scale(&self) -> u32 {
        self.0.log_scale()
    }

    #[getter]
    fn log_qp(&self) -> f64 {
        self.0.rlwe().log_qp()
    }

    #[getter]
    fn q(&self) -> Vec<u64> {
        self.0.rlwe().q().to_vec()
    }

    #[getter]
    fn p(&self) -> Vec<u64> {
        self.0.rlwe().p().to_vec()
    }

    #[getter]
    fn dnum(&self) -> usize {
        self.0.rlwe().dnum()
    }

    #[getter]
    fn security(&self) -> Option<u32> {
        match self.0.rlwe().security() {
            Security::None => None,
            Security::Bits128 => Some(128),
            Security::Bits192 => Some(192),
            Security::Bits256 => Some(256),
        }
    }

    #[getter]
    fn fingerprint(&self) -> String {
        self.0.fingerprint().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn scale(&self, level: usize) -> PyResult<f64> {
        if level > self.0.max_level() {
            return Err(PyValueError::new_err(format!("level {level} of {}", self.0.max_level())));
        }
        Ok(self.0.scale_at(level).to_f64())
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.to_bytes(&(), Form::Packed))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((py.get_type::<Self>().getattr("from_bytes")?, (self.__bytes__(py),)))
    }

    fn __hash__(&self) -> u64 {
        u64::from_le_bytes(std::array::from_fn(|i| self.0.fingerprint()[i]))
    }

    fn __repr__(&self) -> String {
        let spec = self.0.spec();
        format!(
            "Parameters(log_n={}, log_q={:?}, log_p={:?}, log_scale={}, dnum={}, security={})",
            spec.log_n,
            spec.log_q,
            spec.log_p,
            spec.log_scale,
            self.dnum(),
            self.security().map_or_else(|| "None".to_owned(), |bits| bits.to_string()),
        )
    }
}

fn security_of(bits: Option<u32>) -> PyResult<Security> {
    match bits {
        None => Ok(Security::None),
        Some(128) => Ok(Security::Bits128),
        Some(192) => Ok(Security::Bits192),
        Some(256) => Ok(Security::Bits256),
        Some(found) => Err(PyValueError::new_err(format!("security must be 128, 192, 256 or None, found {found}"))),
    }
}

/// `None` or `"ternary"`, `"gaussian"`, or the weight of a sparse ternary secret.
fn secret_of(secret: Option<&Bound<'_, PyAny>>) -> PyResult<SecretDistribution> {
    let Some(secret) = secret else { return Ok(SecretDistribution::Ternary) };
    if let Ok(weight) = secret.extract::<usize>() {
        return Ok(SecretDistribution::SparseTernary(weight));
    }
    match secret.extract::<String>().as_deref() {
        Ok("ternary") => Ok(SecretDistribution::Ternary),
        Ok("gaussian") => Ok(SecretDistribution::Gaussian),
        _ => Err(PyTypeError::new_err("secret must be \"ternary\", \"gaussian\" or the weight of a sparse secret")),
    }
}
