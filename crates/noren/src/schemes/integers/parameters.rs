//! Parameters of exact integers: sizes of primes and a plaintext modulus.

use std::sync::Arc;

use noren_math::cyclotomic::Cyclotomic;
use noren_math::hypercube::Hypercube;
use noren_math::modulus::MAX_MODULUS_BITS;
use noren_math::modulus::Modulus;
use noren_math::ntt::general::order_of_roots;
use noren_math::prime::{is_prime, prime_power};
use noren_rlwe::error::{Error, Result};
use noren_rlwe::parameters as rlwe;
use noren_rlwe::security::{SecretDistribution, Security};
use noren_rlwe::sizes;

use crate::schemes::integers::modulus::PlaintextModulus;
use crate::schemes::integers::noise::{Laws, Mode, Noise};

/// The sizes of auxiliary primes that are tried: transforms are faster below 2^48, and larger ones may save a prime.
const AUXILIARY_BITS: [u32; 2] = [48, 50];

/// The description of parameters; [`ParametersSpec::build`] chooses the primes and checks everything.
///
/// One set serves BGV and BFV: keys and ciphertexts of one are keys and ciphertexts of the other.
///
/// # Examples
/// ```
/// use noren::bfv::ParametersSpec;
///
/// let parameters = ParametersSpec {
///     log_n: 15,
///     plaintext_modulus: 65537,
///     log_q: vec![50; 12],
///     log_p: vec![50; 4],
///     dnum: 3,
///     ..ParametersSpec::default()
/// }
/// .build()?;
/// assert!(parameters.has_slots() && parameters.rlwe().log_qp() <= 800.0);
/// # Ok::<(), noren::error::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ParametersSpec {
    /// The base-two logarithm of the degree n of the ring `Z[X]/(X^n + 1)`, 3 to 17; 0 where `index` names the ring.
    pub log_n: u32,
    /// The index m of the ring `Z[X]/Phi_m` of degree `n = phi(m)`, from 3 to 65,535, neither a power of two nor twice an odd
    /// number; 0 where `log_n` names the ring.
    pub index: u32,
    /// The plaintext modulus t, 2 to `2^60 - 1`.
    ///
    /// In a ring of degree `2^log_n`, a prime below `2^50` that is 1 modulo 2n gives n slots. In one of index m, a power `p^r` of a
    /// prime that does not divide m gives `n/d` slots, d the order of p modulo m, each an element of the Galois ring
    /// `GR(p^r, d)`. Any other encrypts coefficients alone.
    pub plaintext_modulus: u64,
    /// The sizes of the primes `q_0 ... q_L` in bits, 20 to 50: of each size the largest unused prime.
    pub log_q: Vec<u32>,
    /// The sizes of the special primes of key switching in bits, 20 to 50. Without any there are no evaluation keys.
    pub log_p: Vec<u32>,
    /// Into how many digits `q` is cut for key switching; 0 chooses, see
    /// [`rlwe::ParametersSpec::dnum`](noren_rlwe::parameters::ParametersSpec).
    pub dnum: usize,
    /// How secrets are drawn.
    pub secret: SecretDistribution,
    /// The security that the largest key must reach.
    pub security: Security,
}

impl ParametersSpec {
    /// Chooses the primes and checks the parameters.
    ///
    /// Besides those of `q` and `p` there are auxiliary primes, which with the special ones make a basis as large as Q:
    /// products of BFV go through it. No key is modulo them, so that they do not count for security.
    ///
    /// # Errors
    /// [`Error::Parameters`] names what is outside the supported range, [`Error::Insecure`] says how large the modulus may
    /// be.
    pub fn build(self) -> Result<Parameters> {
        let modulus = PlaintextModulus::new(self.plaintext_modulus)?;
        let ring = self.ring()?;
        if has_row_slots(&ring, modulus) {
            // Slots stand modulo t as limbs do modulo their primes.
            Modulus::new(modulus.value())?;
        }
        sizes::check(&self.log_q, &self.log_p, &[])?;
        let step = order_of_roots(&ring);
        let mut used = Vec::new();
        let mut largest = |name, bits: u32| {
            let fits = |prime| !used.contains(&prime) && modulus.value() % prime != 0;
            let prime = sizes::largest_prime(bits, step, fits).ok_or_else(|| {
                let needed = format!("a size with an unused prime that is 1 modulo {step} and does not divide t");
                Error::parameter(name, format!("{bits} bits once more"), needed)
            })?;
            used.push(prime);
            Ok::<_, Error>(prime)
        };
        let q = self.log_q.iter().map(|&bits| largest("log_q", bits)).collect::<Result<Vec<_>>>()?;
        let p = self.log_p.iter().map(|&bits| largest("log_p", bits)).collect::<Result<Vec<_>>>()?;
        let (count, bits) = self.auxiliary();
        let auxiliary = (0..count).map(|_| largest("log_q", bits)).collect::<Result<Vec<_>>>()?;
        let (index, dnum, secret, security) = (ring.index(), self.dnum, self.secret, self.security);
        let rlwe = rlwe::ParametersSpec { index, q, p, auxiliary, dnum, secret, security }.build()?;
        let hypercube = hypercube(&ring, modulus);
        let laws = Laws::new(&rlwe, modulus);
        let fingerprint = fingerprint(&rlwe, modulus);
        let spec = Self { dnum: rlwe.dnum(), ..self };
        Ok(Parameters(Arc::new(Inner { spec, rlwe, modulus, hypercube, laws, fingerprint })))
    }

    /// The ring that is named.
    fn ring(&self) -> Result<Cyclotomic> {
        match (self.log_n, self.index) {
            (log_n, 0) => sizes::power_of_two(log_n),
            (0, index) if !index.is_power_of_two() => Ok(Cyclotomic::new(index)?),
            (0, index) => Err(Error::parameter("index", index, "log_n for a power of two")),
            (log_n, index) => {
                let found = format!("log_n {log_n} and index {index}");
                Err(Error::parameter("ring", found, "one of both: log_n for a power of two, index for another ring"))
            }
        }
    }

    /// How many auxiliary primes there are, and of which size: what the special primes lack to the size of Q, in as few
    /// primes as can be.
    fn auxiliary(&self) -> (usize, u32) {
        let missing = self.log_q.iter().sum::<u32>().saturating_sub(self.log_p.iter().sum());
        let sizes = AUXILIARY_BITS.map(|bits| (missing.div_ceil(bits) as usize, bits));
        sizes.into_iter().min_by_key(|&(count, _)| count).unwrap_or_default()
    }
}

/// Checked parameters. Immutable, and cheap to clone.
#[derive(Debug, Clone)]
pub struct Parameters(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    spec: ParametersSpec,
    rlwe: rlwe::Parameters,
    modulus: PlaintextModulus,
    hypercube: Option<Hypercube>,
    laws: Laws,
    fingerprint: [u8; 32],
}

impl Parameters {
    /// The ring, the primes and the security, without the plaintext modulus.
    #[must_use]
    pub fn rlwe(&self) -> &rlwe::Parameters {
        &self.0.rlwe
    }

    /// The specification that gives these parameters again, with the number of digits written out.
    #[must_use]
    pub fn spec(&self) -> &ParametersSpec {
        &self.0.spec
    }

    /// The degree n of the ring.
    #[must_use]
    pub fn degree(&self) -> usize {
        self.rlwe().degree()
    }

    /// The plaintext modulus t.
    #[must_use]
    pub fn modulus(&self) -> PlaintextModulus {
        self.0.modulus
    }

    /// Whether there are slots: see [`ParametersSpec::plaintext_modulus`].
    #[must_use]
    pub fn has_slots(&self) -> bool {
        self.hypercube().is_some() || has_row_slots(self.rlwe().index(), self.modulus())
    }

    /// How many slots there are; where there are none, how many coefficients.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.hypercube().map_or(self.degree(), Hypercube::slots)
    }

    /// Whether slots stand in two rows that are rotated at once: the index of the ring is a power of two.
    #[must_use]
    pub fn has_rows(&self) -> bool {
        self.rlwe().index().is_power_of_two()
    }

    /// Refuses rings without rows.
    ///
    /// # Errors
    /// [`Error::Parameters`] if the index is not a power of two.
    pub(crate) fn check_rows(&self) -> Result<()> {
        if self.has_rows() {
            return Ok(());
        }
        let found = format!("index {}", self.rlwe().index().index());
        let needed = "a power of two for rows of slots: rotate along a dimension of the slots in other rings";
        Err(Error::parameter("ring", found, needed))
    }

    /// How many slots a row has: half the degree, in two rows; all of them where there are [no rows](Self::has_rows).
    #[must_use]
    pub fn row_slots(&self) -> usize {
        if self.has_rows() { self.degree() / 2 } else { self.slots() }
    }

    /// The slots and dimensions of a ring whose index is not a power of two; `None` for powers of two, and where there are no
    /// slots.
    #[must_use]
    pub fn hypercube(&self) -> Option<&Hypercube> {
        self.0.hypercube.as_ref()
    }

    /// How many limbs fresh ciphertexts have.
    #[must_use]
    pub fn max_limbs(&self) -> usize {
        self.rlwe().max_limbs()
    }

    /// How the noise grows.
    #[must_use]
    pub fn laws(&self) -> &Laws {
        &self.0.laws
    }

    /// The predicted noise of an encryption with the public key, at all limbs.
    #[must_use]
    pub fn fresh_noise(&self) -> Noise {
        self.laws().fresh(Mode::Public, self.max_limbs())
    }

    /// The BLAKE3 digest of the text `noren-integers-parameters-v1`, the fingerprint of [`Parameters::rlwe`], and t as a
    /// 64-bit little-endian word.
    #[must_use]
    pub fn fingerprint(&self) -> [u8; 32] {
        self.0.fingerprint
    }

    /// `q_0 ... q_{limbs-1} mod t`.
    pub(crate) fn q_mod_t(&self, limbs: usize) -> u64 {
        self.modulus().product(self.rlwe().q()[..limbs].iter().copied())
    }
}

impl PartialEq for Parameters {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
            || (self.fingerprint() == other.fingerprint() && self.rlwe().security() == other.rlwe().security())
    }
}

impl Eq for Parameters {}

/// Whether a ring whose index is a power of two has slots modulo t.
fn has_row_slots(ring: &Cyclotomic, t: PlaintextModulus) -> bool {
    let small = t.value() >> MAX_MODULUS_BITS == 0;
    small && ring.is_power_of_two() && t.value() % u64::from(ring.index()) == 1 && is_prime(t.value())
}

/// The slots modulo t in a ring whose index is not a power of two, if there are any.
fn hypercube(ring: &Cyclotomic, t: PlaintextModulus) -> Option<Hypercube> {
    let (p, _) = prime_power(t.value()).filter(|_| !ring.is_power_of_two())?;
    Hypercube::new(ring, p).ok()
}

fn fingerprint(rlwe: &rlwe::Parameters, modulus: PlaintextModulus) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"noren-integers-parameters-v1");
    hasher.update(&rlwe.fingerprint());
    hasher.update(&modulus.value().to_le_bytes());
    hasher.finalize().into()
}
