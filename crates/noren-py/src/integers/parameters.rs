//! `IntegerParameters`: sizes of primes and a plaintext modulus, checked.

use noren::bfv::{Bfv, Parameters, ParametersSpec, Requirements};
use noren::bgv::Bgv;
use noren::lookup::parameters_spec;
use noren::wire::Object;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::display::table;
use crate::errors::raise;
use crate::explain;
use crate::parameters::{Secret, bits_of, hexadecimal, secret_of, security_of};
use crate::pickle::{BytesPickle, by_bytes, bytes_of, hash_of};

/// Parameters of exact integers, checked and immutable; one set serves BGV and BFV.
///
/// log_n: base-two logarithm of the degree n of the ring, 3 to 17.
/// plaintext_modulus: t, 2 to 2^50 - 1. A prime that is 1 modulo 2n gives n slots, in two rows; any other encrypts
///     coefficients alone.
/// log_q: sizes in bits of the primes, 20 to 50.
/// log_p: sizes in bits of the special primes of the evaluation keys, 20 to 50.
/// dnum: into how many digits keys are cut; 0 chooses.
/// secret: how secret keys are drawn: "ternary", "gaussian", or the number of non-zero coefficients.
/// security: what every key must reach: 128, 192 or 256 bits, or None for none, in tests.
///
/// Raises InsecureError if the modulus is too large for the degree, Error for sizes out of range.
/// Equal parameters compare equal; they can be hashed and pickled.
#[pyclass(frozen, eq, from_py_object, name = "Parameters", module = "noren.bgv")]
#[derive(Clone, PartialEq)]
pub(crate) struct PyIntegerParameters(pub(crate) Parameters);

#[pymethods]
impl PyIntegerParameters {
    #[new]
    #[pyo3(
        signature = (log_n, plaintext_modulus, log_q, log_p = Vec::new(), *, dnum = 0, secret = None,
            security = Some(128)),
        text_signature = "(log_n, plaintext_modulus, log_q, log_p=(), *, dnum=0, secret=None, security=128)"
    )]
    fn new(
        log_n: u32,
        plaintext_modulus: u64,
        log_q: Vec<u32>,
        log_p: Vec<u32>,
        dnum: usize,
        secret: Option<Secret>,
        security: Option<u32>,
    ) -> PyResult<Self> {
        let (secret, security) = (secret_of(secret)?, security_of(security)?);
        let spec = ParametersSpec { log_n, index: 0, plaintext_modulus, log_q, log_p, dnum, secret, security };
        spec.build().map(Self).map_err(raise)
    }

    /// The smallest parameters that let `depth` multiplications follow one another in a scheme, "bfv" or "bgv".
    ///
    /// slots: how many slots or coefficients are needed.
    /// terms: how many ciphertexts, or rotations of one, are added up before each multiplication.
    /// sum: how many are added up in the end.
    /// plain_products: how many products with plaintexts follow one another besides.
    ///
    /// Raises Error that says which of these cannot be met.
    #[staticmethod]
    #[expect(clippy::too_many_arguments, reason = "they are keyword arguments in Python")]
    #[pyo3(
        signature = (*, depth, plaintext_modulus = 65537, slots = 1, terms = 1, sum = 1, plain_products = 0,
            security = Some(128), scheme = "bfv"),
        text_signature = "(*, depth, plaintext_modulus=65537, slots=1, terms=1, sum=1, plain_products=0, \
            security=128, scheme=\"bfv\")"
    )]
    fn for_requirements(
        depth: usize,
        plaintext_modulus: u64,
        slots: usize,
        terms: usize,
        sum: usize,
        plain_products: usize,
        security: Option<u32>,
        scheme: &str,
    ) -> PyResult<Self> {
        let security = security_of(security)?;
        let requirements = Requirements { depth, plaintext_modulus, slots, terms, sum, plain_products, security };
        let chosen = match scheme {
            "bfv" => requirements.choose::<Bfv>(),
            "bgv" => requirements.choose::<Bgv>(),
            _ => return Err(PyValueError::new_err(format!("scheme must be \"bfv\" or \"bgv\", found {scheme:?}"))),
        };
        chosen.map(Self).map_err(raise)
    }

    /// The parameters for lookups with ``noren.bfv.Lookup``: integers modulo 65537, in 2^log_n slots, for all functions.
    ///
    /// log_n: 15 for 128-bit security; at most 15, less with `security` None for tests.
    ///
    /// Raises InsecureError for a degree that does not carry the security.
    #[staticmethod]
    #[pyo3(signature = (*, log_n = 15, security = Some(128)), text_signature = "(*, log_n=15, security=128)")]
    fn for_lookups(log_n: u32, security: Option<u32>) -> PyResult<Self> {
        parameters_spec(log_n, security_of(security)?).build().map(Self).map_err(raise)
    }

    /// The parameters that ``bytes(parameters)`` gave. Raises WireError, and what the constructor raises.
    #[staticmethod]
    fn from_bytes(data: &[u8]) -> PyResult<Self> {
        Parameters::from_bytes(&(), data).map(Self).map_err(raise)
    }

    /// The degree of the ring: the number of slots, if there are any, and of coefficients.
    #[getter]
    fn n(&self) -> usize {
        self.0.degree()
    }

    /// The plaintext modulus t.
    #[getter]
    fn plaintext_modulus(&self) -> u64 {
        self.0.modulus().value()
    }

    /// Whether there are slots.
    #[getter]
    fn has_slots(&self) -> bool {
        self.0.has_slots()
    }

    /// How many primes a fresh ciphertext has.
    #[getter]
    fn max_limbs(&self) -> usize {
        self.0.max_limbs()
    }

    /// The size in bits of the modulus of the largest key, on which its security depends.
    #[getter]
    fn log_qp(&self) -> f64 {
        self.0.rlwe().log_qp()
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
        table("Parameters (BGV, BFV)", &explain::of_integer_parameters(&self.0))
    }

    fn __repr__(&self) -> String {
        let spec = self.0.spec();
        format!(
            "Parameters(log_n={}, plaintext_modulus={}, log_q={:?}, log_p={:?}, dnum={}, security={})",
            spec.log_n,
            spec.plaintext_modulus,
            spec.log_q,
            spec.log_p,
            spec.dnum,
            self.security().map_or_else(|| "None".to_owned(), |bits| bits.to_string()),
        )
    }
}
