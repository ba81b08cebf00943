//! `Parameters` of TFHE: sets by their names.

use noren::tfhe::PRESETS;
use noren::tfhe::{Encoding, Parameters, Preset};
use noren::wire::Object;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::raise;
use crate::parameters::{bits_of, hexadecimal};
use crate::pickle::{BytesPickle, by_bytes, bytes_of, hash_of};

/// Parameters of TFHE, by the name of a set; checked and immutable.
///
/// preset: "2_2" holds integers of 8 to 64 bits in digits of two bits; "BOOL_128" holds bits, and "BOOL" holds them faster, with
///     failures of 2^-64; "1_1", "3_3" and "4_4" hold single digits. ``noren.tfhe.PRESETS`` has all names; ``docs/tfhe.md``
///     tells them apart. Those that begin with "TOY" are for tests, and keep nothing secret.
///
/// Raises Error for a name that there is not. Equal parameters compare equal; they can be hashed and pickled.
///
/// >>> from noren import tfhe
/// >>> params = tfhe.Parameters("2_2")
/// >>> params.security, params.message_bits, params.log2_failure < -128
/// (128, 2, True)
#[pyclass(frozen, eq, from_py_object, name = "Parameters", module = "noren.tfhe")]
#[derive(Clone)]
pub(crate) struct PyTfheParameters(pub(crate) Parameters);

impl PartialEq for PyTfheParameters {
    fn eq(&self, other: &Self) -> bool {
        self.0.fingerprint() == other.0.fingerprint() && self.0.spec() == other.0.spec()
    }
}

#[pymethods]
impl PyTfheParameters {
    #[new]
    #[pyo3(signature = (preset = "2_2"))]
    fn new(preset: &str) -> PyResult<Self> {
        Preset::named(preset).and_then(Preset::parameters).map(Self).map_err(raise)
    }

    /// The parameters that ``bytes(parameters)`` gave. Raises WireError, and Error for parameters that are not secure or fail too often.
    #[staticmethod]
    fn from_bytes(data: &[u8]) -> PyResult<Self> {
        Parameters::from_bytes(&(), data).map(Self).map_err(raise)
    }

    /// The name of the set, None for parameters of a file that are none.
    #[getter]
    fn preset(&self) -> Option<&'static str> {
        PRESETS.iter().find(|preset| preset.spec == *self.0.spec()).map(|preset| preset.name)
    }

    /// The bits of a digit, None for parameters of bits.
    #[getter]
    fn message_bits(&self) -> Option<u32> {
        match self.0.encoding() {
            Encoding::Bits => None,
            Encoding::Integers { message_bits, .. } => Some(message_bits),
        }
    }

    /// The bits above a digit, for sums and for second arguments; None for parameters of bits.
    #[getter]
    fn carry_bits(&self) -> Option<u32> {
        match self.0.encoding() {
            Encoding::Bits => None,
            Encoding::Integers { carry_bits, .. } => Some(carry_bits),
        }
    }

    /// The security in bits that keys and ciphertexts reach, or None.
    #[getter]
    fn security(&self) -> Option<u32> {
        bits_of(self.0.spec().torus.security)
    }

    /// The base-two logarithm of the probability that one bootstrap fails, at most; m of them fail at most m times as often.
    #[getter]
    fn log2_failure(&self) -> f64 {
        self.0.failure().log2
    }

    /// The fingerprint that objects of these parameters carry: 64 hexadecimal digits.
    #[getter]
    fn fingerprint(&self) -> String {
        hexadecimal(&self.0.fingerprint())
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

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    pub(crate) fn __repr__(&self) -> String {
        match self.preset() {
            Some(name) => format!("Parameters({name:?})"),
            None => format!("Parameters({})", self.0),
        }
    }
}
