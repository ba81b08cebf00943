//! `IntegerParameters`: sizes of primes and a plaintext modulus, checked.

use noren::bfv::{Bfv, Opening, Parameters, ParametersSpec, Requirements};
use noren::bgv::{Bgv, Hypercube};
use noren::lookup::parameters_spec;
use noren::wire::Object;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::display::table;
use crate::errors::{EncodingError, raise};
use crate::explain;
use crate::parameters::{Secret, bits_of, hexadecimal, secret_of, security_of};
use crate::pickle::{BytesPickle, by_bytes, bytes_of, hash_of};
use crate::whole::whole;

/// Parameters of exact integers, checked and immutable; one set serves BGV and BFV.
///
/// log_n: base-two logarithm of the degree n of the ring Z[X]/(X^n + 1), 3 to 17.
/// plaintext_modulus: t, 2 to 2^60 - 1. A prime below 2^50 that is 1 modulo 2n gives n slots, in two rows; any other encrypts
///     coefficients alone.
/// log_q: sizes in bits of the primes, 20 to 50.
/// log_p: sizes in bits of the special primes of the evaluation keys, 20 to 50.
/// m: in place of log_n, the index of the ring Z[X]/Phi_m of degree n = phi(m), up to 65535 and no power of two. A
///     prime p that does not divide m, of order d modulo m, gives n/d slots for t = p^r. They hold elements of the Galois
///     ring GR(p^r, d) = Z_(p^r)[Y]/G(Y), and stand in the dimensions of a hypercube.
/// p, r: in place of plaintext_modulus, t = p^r.
/// dnum: into how many digits keys are cut; 0 chooses.
/// secret: how secret keys are drawn: "ternary", "gaussian", or the number of non-zero coefficients; "joint:3" is the sum of those of
///     three parties.
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
        signature = (log_n = None, plaintext_modulus = None, log_q = Vec::new(), log_p = Vec::new(), *, m = None,
            p = None, r = 1, dnum = 0, secret = None, security = Some(128)),
        text_signature = "(log_n=None, plaintext_modulus=None, log_q=(), log_p=(), *, m=None, p=None, r=1, dnum=0, \
            secret=None, security=128)"
    )]
    #[expect(clippy::too_many_arguments, reason = "they are keyword arguments in Python")]
    fn new(
        #[pyo3(from_py_with = whole)] log_n: Option<u32>,
        #[pyo3(from_py_with = whole)] plaintext_modulus: Option<u64>,
        #[pyo3(from_py_with = whole)] log_q: Vec<u32>,
        #[pyo3(from_py_with = whole)] log_p: Vec<u32>,
        #[pyo3(from_py_with = whole)] m: Option<u32>,
        #[pyo3(from_py_with = whole)] p: Option<u64>,
        #[pyo3(from_py_with = whole)] r: u32,
        #[pyo3(from_py_with = whole)] dnum: usize,
        secret: Option<Secret>,
        #[pyo3(from_py_with = whole)] security: Option<u32>,
    ) -> PyResult<Self> {
        let (secret, security) = (secret_of(secret)?, security_of(security)?);
        let (log_n, index) = match (log_n, m) {
            (Some(log_n), None) => (log_n, 0),
            (None, Some(index)) => (0, index),
            _ => return Err(PyTypeError::new_err("the ring is named by one of log_n and m")),
        };
        let plaintext_modulus = match (plaintext_modulus, p) {
            (Some(t), None) if r == 1 => t,
            (None, Some(p)) => p.checked_pow(r).ok_or_else(|| {
                EncodingError::new_err(format!("the plaintext modulus is {p}^{r}, at most 2^60 - 1 is needed"))
            })?,
            _ => {
                return Err(PyTypeError::new_err(
                    "the plaintext modulus is either plaintext_modulus, or p to the power r",
                ));
            }
        };
        let spec = ParametersSpec { log_n, index, plaintext_modulus, log_q, log_p, dnum, secret, security };
        spec.build().map(Self).map_err(raise)
    }

    /// The smallest parameters that let `depth` multiplications follow one another in a scheme, "bfv" or "bgv".
    ///
    /// slots: how many slots or coefficients are needed.
    /// terms: how many ciphertexts, or rotations of one, are added up before each multiplication.
    /// sum: how many are added up in the end.
    /// plain_products: how many products with plaintexts follow one another besides.
    /// slot_degree: a ring whose index m is no power of two, for a power of a prime as plaintext_modulus: its slots have a
    ///     multiple of this degree. None takes a power of two.
    /// parties: how many share the secret key (``noren.owners``), which leaves room for the noise that hides that of results.
    /// results: the most ciphertexts that they open together.
    /// distance: what they learn beyond the results is within a statistical distance of 2^-distance of nothing.
    ///
    /// Raises Error that says which of these cannot be met.
    #[staticmethod]
    #[expect(clippy::too_many_arguments, reason = "they are keyword arguments in Python")]
    #[pyo3(
        signature = (*, depth, plaintext_modulus = 65537, slots = 1, terms = 1, sum = 1, plain_products = 0,
            slot_degree = None, security = Some(128), scheme = "bfv", parties = 1, results = 1, distance = 64),
        text_signature = "(*, depth, plaintext_modulus=65537, slots=1, terms=1, sum=1, plain_products=0, \
            slot_degree=None, security=128, scheme=\"bfv\", parties=1, results=1, distance=64)"
    )]
    fn for_requirements(
        #[pyo3(from_py_with = whole)] depth: usize,
        #[pyo3(from_py_with = whole)] plaintext_modulus: u64,
        #[pyo3(from_py_with = whole)] slots: usize,
        #[pyo3(from_py_with = whole)] terms: usize,
        #[pyo3(from_py_with = whole)] sum: usize,
        #[pyo3(from_py_with = whole)] plain_products: usize,
        #[pyo3(from_py_with = whole)] slot_degree: Option<usize>,
        #[pyo3(from_py_with = whole)] security: Option<u32>,
        scheme: &str,
        #[pyo3(from_py_with = whole)] parties: usize,
        #[pyo3(from_py_with = whole)] results: u64,
        #[pyo3(from_py_with = whole)] distance: u32,
    ) -> PyResult<Self> {
        let security = security_of(security)?;
        let opening = (parties != 1).then_some(Opening { parties, results, distance });
        let requirements =
            Requirements { depth, plaintext_modulus, slots, terms, sum, plain_products, security, opening };
        let chosen = match (scheme, slot_degree) {
            ("bfv", None) => requirements.choose::<Bfv>(),
            ("bgv", None) => requirements.choose::<Bgv>(),
            ("bfv", Some(degree)) => requirements.choose_index::<Bfv>(degree),
            ("bgv", Some(degree)) => requirements.choose_index::<Bgv>(degree),
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
    fn for_lookups(
        #[pyo3(from_py_with = whole)] log_n: u32,
        #[pyo3(from_py_with = whole)] security: Option<u32>,
    ) -> PyResult<Self> {
        parameters_spec(log_n, security_of(security)?).build().map(Self).map_err(raise)
    }

    /// The parameters that ``bytes(parameters)`` gave. Raises WireError, and what the constructor raises.
    #[staticmethod]
    fn from_bytes(data: &[u8]) -> PyResult<Self> {
        Parameters::from_bytes(&(), data).map(Self).map_err(raise)
    }

    /// The index of the ring Z[X]/Phi_m: 2n where it is a power of two.
    #[getter]
    fn m(&self) -> u32 {
        self.0.rlwe().index().index()
    }

    /// The degree of the ring: the number of coefficients, and of slots in two rows.
    #[getter]
    fn n(&self) -> usize {
        self.0.degree()
    }

    /// How many slots there are; where there are none, how many coefficients.
    #[getter]
    fn slots(&self) -> usize {
        self.0.slots()
    }

    /// How many coefficients the value of a slot has: 1 for the numbers in rows, d for elements of GR(p^r, d).
    #[getter]
    fn slot_degree(&self) -> usize {
        self.0.hypercube().map_or(1, Hypercube::degree)
    }

    /// The sizes of the dimensions in which slots stand, and whether a rotation along them takes one automorphism: ``True``
    /// for native ones, along others it takes two. Rows of slots have none.
    #[getter]
    fn dimensions(&self) -> Vec<(usize, bool)> {
        let dimensions = self.0.hypercube().map(Hypercube::dimensions).unwrap_or_default();
        dimensions.iter().map(|dimension| (dimension.size, dimension.is_native)).collect()
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
        let ring = if spec.index == 0 { format!("log_n={}", spec.log_n) } else { format!("m={}", spec.index) };
        format!(
            "Parameters({ring}, plaintext_modulus={}, log_q={:?}, log_p={:?}, dnum={}, security={})",
            spec.plaintext_modulus,
            spec.log_q,
            spec.log_p,
            spec.dnum,
            self.security().map_or_else(|| "None".to_owned(), |bits| bits.to_string()),
        )
    }
}
