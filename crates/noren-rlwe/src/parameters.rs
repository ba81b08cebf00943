//! Parameters: an open specification, checked into an immutable value.

use std::ops::Range;
use std::sync::Arc;

use noren_math::cyclotomic::Cyclotomic;
use noren_math::modulus::Modulus;
use noren_math::ntt::general::order_of_roots;
use noren_ring::gadget::{Gadget, MAX_DIGITS};

use crate::error::{Error, Result};
use crate::security::{self, SecretDistribution, Security};
use crate::shape::KeyShape;

/// How many bits a digit should stay below the special modulus, so that the noise of a key switch stays below its
/// rounding: a digit as large as P would cost about three bits of precision (guide on hybrid key switching).
pub const DIGIT_MARGIN_BITS: f64 = 6.0;

/// How many bits smaller than Q the auxiliary modulus of scale-invariant products may be. The rounding of a factor that is
/// brought to it counts as many bits more: less than a fresh error by far.
const AUXILIARY_GAP_BITS: f64 = 1.0;

/// The largest index that is not a power of two: that of the transforms of the CPU.
const MAX_GENERAL_INDEX: u32 = 1 << 16;

/// The most primes, special ones included: one list of limbs in a file.
pub const MAX_PRIMES: usize = 128;

/// The description of parameters; [`ParametersSpec::build`] checks it.
///
/// ```
/// use noren_rlwe::parameters::ParametersSpec;
/// use noren_rlwe::security::Security;
///
/// let parameters = ParametersSpec {
///     index: 32,
///     q: vec![97, 193],
///     p: vec![257],
///     security: Security::None,
///     ..ParametersSpec::default()
/// }
/// .build()?;
/// assert_eq!(parameters.max_limbs(), 2);
/// # Ok::<(), noren_rlwe::error::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ParametersSpec {
    /// The index m of the ring `Z[X]/Phi_m` of degree `n = phi(m)`: see [`Cyclotomic::new`]. `2^(k + 1)` gives degree
    /// `2^k`.
    pub index: u32,
    /// The primes `q_0 ... q_L` of ciphertexts, each below 2^50 and 1 modulo [`order_of_roots`], which is m for powers
    /// of two. A ciphertext of level l is modulo `q_0 ... q_l`.
    pub q: Vec<u64>,
    /// The special primes of key switching, as those of `q`. Without any there are no evaluation keys.
    pub p: Vec<u64>,
    /// Primes that only calculations on the way go through, such as scale-invariant products; no key and no ciphertext is
    /// modulo them. As those of `q`.
    pub auxiliary: Vec<u64>,
    /// Into how many digits `q` is cut for key switching. 0 chooses: the fewest digits that stay
    /// [`DIGIT_MARGIN_BITS`] below the special modulus, or come as near to it as they can.
    pub dnum: usize,
    /// How secrets are drawn.
    pub secret: SecretDistribution,
    /// The security that the largest key must reach.
    pub security: Security,
}

impl ParametersSpec {
    /// Checks the specification.
    ///
    /// # Errors
    /// [`Error::Parameters`] names what is outside the supported range, [`Error::Math`] a number that is not a prime
    /// below 2^50, and [`Error::Insecure`] says how large the modulus may be.
    pub fn build(self) -> Result<Parameters> {
        let ring = self.check_index()?;
        self.check_primes(&ring)?;
        let degree = ring.degree();
        self.check_secret(degree)?;
        let gadget = self.gadget()?;
        let log_qp = log2_product(&self.q) + log2_product(&self.p);
        security::check("parameters", degree, self.secret, log_qp, self.security)?;
        let fingerprint = fingerprint(&self, &ring, gadget.as_ref());
        Ok(Parameters(Arc::new(Inner { spec: self, ring, gadget, fingerprint })))
    }

    fn check_index(&self) -> Result<Cyclotomic> {
        let ring = Cyclotomic::new(self.index)?;
        if ring.is_power_of_two() || self.index <= MAX_GENERAL_INDEX {
            return Ok(ring);
        }
        let needed = format!("a power of two to 2^18, or another number to {MAX_GENERAL_INDEX}");
        Err(Error::parameter("index", self.index, needed))
    }

    fn check_primes(&self, ring: &Cyclotomic) -> Result<()> {
        if self.q.is_empty() {
            return Err(Error::parameter("q", "empty", "at least one prime"));
        }
        let primes = self.q.len() + self.p.len() + self.auxiliary.len();
        if primes > MAX_PRIMES {
            return Err(Error::parameter(
                "q and p",
                format!("{primes} primes, auxiliary ones included"),
                format!("at most {MAX_PRIMES} primes together"),
            ));
        }
        let step = order_of_roots(ring);
        for (name, primes) in [("q", &self.q), ("p", &self.p), ("auxiliary", &self.auxiliary)] {
            for (i, &prime) in primes.iter().enumerate() {
                Modulus::new(prime)?;
                if prime % step != 1 {
                    return Err(Error::parameter(
                        name,
                        format!("{prime} at index {i}"),
                        format!("primes that are 1 modulo {step}"),
                    ));
                }
            }
        }
        let mut sorted: Vec<u64> = self.q.iter().chain(&self.p).chain(&self.auxiliary).copied().collect();
        sorted.sort_unstable();
        match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(Error::parameter("q and p", format!("{} twice", pair[0]), "distinct primes")),
            None => Ok(()),
        }
    }

    fn check_secret(&self, degree: usize) -> Result<()> {
        match self.secret {
            SecretDistribution::SparseTernary(weight) if !(1..=degree).contains(&weight) => {
                Err(Error::parameter("secret", self.secret, format!("of weight 1 to {degree}")))
            }
            SecretDistribution::Joint(parties) if !(2..=SecretDistribution::MAX_PARTIES).contains(&parties) => {
                let needed = format!("of 2 to {} parties", SecretDistribution::MAX_PARTIES);
                Err(Error::parameter("secret", self.secret, needed))
            }
            _ => Ok(()),
        }
    }

    fn gadget(&self) -> Result<Option<Gadget>> {
        let limbs = self.q.len();
        if self.p.is_empty() {
            return if self.dnum == 0 {
                Ok(None)
            } else {
                Err(Error::parameter("dnum", self.dnum, "0 without special primes"))
            };
        }
        if self.dnum > limbs {
            return Err(Error::parameter("dnum", self.dnum, format!("at most the {limbs} primes of q")));
        }
        if self.dnum > MAX_DIGITS {
            return Err(Error::parameter("dnum", self.dnum, format!("at most {MAX_DIGITS} digits")));
        }
        let bits: Vec<f64> = self.q.iter().map(|&q| libm::log2(q as f64)).collect();
        let (listed, special) = (self.auxiliary.len() + self.p.len(), self.p.len());
        let gadget = |dnum| Ok(Gadget::within(&bits, listed, special, dnum)?);
        let gadget = match self.dnum {
            0 => automatic_gadget(&bits, log2_product(&self.p), gadget)?,
            dnum => gadget(dnum)?,
        };
        Ok(Some(gadget))
    }
}

/// Checked parameters. Immutable, and cheap to clone.
#[derive(Debug, Clone)]
pub struct Parameters(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    spec: ParametersSpec,
    ring: Cyclotomic,
    gadget: Option<Gadget>,
    fingerprint: [u8; 32],
}

impl Parameters {
    /// The degree n of the ring.
    #[must_use]
    pub fn degree(&self) -> usize {
        self.0.ring.degree()
    }

    /// Which cyclotomic ring it is.
    #[must_use]
    pub fn index(&self) -> &Cyclotomic {
        &self.0.ring
    }

    /// The base-two logarithm of the degree, for schemes in rings whose index is a power of two.
    ///
    /// # Errors
    /// [`Error::Parameters`] if the index is not a power of two.
    pub fn log_n(&self) -> Result<u32> {
        match self.index().is_power_of_two() {
            true => Ok(self.degree().ilog2()),
            false => Err(Error::parameter("index", self.index().index(), "a power of two")),
        }
    }

    /// The primes `q_0 ... q_L` of ciphertexts.
    #[must_use]
    pub fn q(&self) -> &[u64] {
        &self.0.spec.q
    }

    /// The special primes of key switching.
    #[must_use]
    pub fn p(&self) -> &[u64] {
        &self.0.spec.p
    }

    /// The primes that no key uses.
    #[must_use]
    pub fn auxiliary(&self) -> &[u64] {
        &self.0.spec.auxiliary
    }

    /// All primes in the order of the [whole ring](crate::context::Context::ring): auxiliary ones, special ones, q.
    pub fn primes(&self) -> impl Iterator<Item = u64> {
        self.auxiliary().iter().chain(self.p()).chain(self.q()).copied()
    }

    /// The position of q_0 among [all primes](Parameters::primes).
    #[must_use]
    pub fn first_limb(&self) -> usize {
        self.auxiliary().len() + self.p().len()
    }

    /// How many digits key switching has; 0 without special primes.
    #[must_use]
    pub fn dnum(&self) -> usize {
        self.digits().len()
    }

    /// The digits of key switching, as ranges of indices into [`Parameters::q`]; empty without special primes.
    #[must_use]
    pub fn digits(&self) -> &[Range<usize>] {
        self.gadget().map_or(&[], Gadget::digits)
    }

    /// How the modulus is cut into digits; `None` without special primes.
    #[must_use]
    pub fn gadget(&self) -> Option<&Gadget> {
        self.0.gadget.as_ref()
    }

    /// How keys of this shape cut the modulus.
    ///
    /// # Errors
    /// [`Error::Parameters`] unless there are as many primes as the shape says, at least 1 of each kind is used, and each digit has one.
    pub fn gadget_of(&self, shape: KeyShape) -> Result<Gadget> {
        let (special, limbs) = (self.p().len(), self.max_limbs());
        let digits = shape.limbs.min(MAX_DIGITS);
        let fits = (1..=limbs).contains(&shape.limbs)
            && (1..=special).contains(&shape.special)
            && (1..=digits).contains(&shape.digits);
        if !fits {
            let needed = format!("of 1 to {limbs} limbs, 1 to {special} special primes, and 1 to {digits} digits");
            return Err(Error::parameter("shape", shape, needed));
        }
        let bits: Vec<f64> = self.q()[..shape.limbs].iter().map(|&q| libm::log2(q as f64)).collect();
        Ok(Gadget::within(&bits, self.first_limb(), shape.special, shape.digits)?)
    }

    /// The usual shape of key switching keys: all primes; without special primes, no digits.
    #[must_use]
    pub fn shape(&self) -> KeyShape {
        KeyShape { limbs: self.max_limbs(), special: self.p().len(), digits: self.dnum() }
    }

    /// How secrets are drawn.
    #[must_use]
    pub fn secret(&self) -> SecretDistribution {
        self.0.spec.secret
    }

    /// The security that every key is checked against.
    #[must_use]
    pub fn security(&self) -> Security {
        self.0.spec.security
    }

    /// `log2(q_0 ... q_{limbs-1})` in bits.
    ///
    /// # Panics
    /// If there are fewer primes.
    #[must_use]
    pub fn log_q(&self, limbs: usize) -> f64 {
        assert!(limbs <= self.max_limbs(), "{limbs} limbs of {}", self.max_limbs());
        log2_product(&self.q()[..limbs])
    }

    /// The size of the special modulus in bits, 0 without special primes.
    #[must_use]
    pub fn log_p(&self) -> f64 {
        self.log_p_of(self.shape())
    }

    /// The size of the special modulus P of keys of this shape, in bits.
    ///
    /// # Panics
    /// If there are fewer special primes.
    #[must_use]
    pub fn log_p_of(&self, shape: KeyShape) -> f64 {
        log2_product(&self.p()[self.p().len() - shape.special..])
    }

    /// The size of all primes together in bits: the modulus of the largest key.
    #[must_use]
    pub fn log_qp(&self) -> f64 {
        self.log_q(self.max_limbs()) + self.log_p()
    }

    /// How many primes the modulus of a fresh ciphertext has: its level plus one.
    #[must_use]
    pub fn max_limbs(&self) -> usize {
        self.q().len()
    }

    /// Where the primes of the auxiliary modulus B of products at `limbs` limbs stand in the list of all primes: the fewest
    /// next to q_0 whose product is at most [`AUXILIARY_GAP_BITS`] smaller than that of the limbs, and `least` at least.
    ///
    /// # Errors
    /// [`Error::Parameters`] if there are too few auxiliary and special primes.
    ///
    /// # Panics
    /// If there are fewer limbs.
    pub(crate) fn auxiliary_limbs(&self, limbs: usize, least: usize) -> Result<Range<usize>> {
        let end = self.first_limb();
        let primes: Vec<u64> = self.primes().take(end).collect();
        let needed = self.log_q(limbs) - AUXILIARY_GAP_BITS;
        let enough = |&start: &usize| end - start >= least && log2_product(&primes[start..]) >= needed;
        let start = (0..end).rev().find(enough).ok_or_else(|| {
            let found = format!("{} bits, with the special primes", log2_product(&primes).round());
            Error::parameter("auxiliary", found, format!("{} bits for {limbs} limbs", needed.ceil()))
        })?;
        Ok(start..end)
    }

    /// The BLAKE3 digest of what decides the bytes of keys and ciphertexts: two parties can work together if theirs
    /// agree.
    ///
    /// Hashed are, integers as 64-bit little-endian words: the text `noren-rlwe-parameters-v1`; log2 n if the index m
    /// is a power of two and else `2^32 + m`; the secret (0 ternary, 1 sparse ternary, 2 Gaussian) and its weight (0
    /// unless sparse); the number of primes q and the primes; the number of primes p and the primes; the number of
    /// digits and the end of each, as index into q. The security level is not hashed: it refuses keys, but changes
    /// none. Nor are the auxiliary primes.
    #[must_use]
    pub fn fingerprint(&self) -> [u8; 32] {
        self.0.fingerprint
    }

    /// The specification that gives these parameters again, with the number of digits written out.
    #[must_use]
    pub fn to_spec(&self) -> ParametersSpec {
        ParametersSpec { dnum: self.dnum(), ..self.0.spec.clone() }
    }

    /// Refuses a thing that was made with other parameters.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`] with both fingerprints.
    pub fn check_fingerprint(&self, found: &[u8; 32], what: &'static str) -> Result<()> {
        if *found == self.0.fingerprint {
            return Ok(());
        }
        Err(Error::mismatch(&self.0.fingerprint, found, what))
    }
}

impl PartialEq for Parameters {
    fn eq(&self, other: &Self) -> bool {
        self.0.fingerprint == other.0.fingerprint
            && self.security() == other.security()
            && self.auxiliary() == other.auxiliary()
    }
}

impl Eq for Parameters {}

/// The fewest digits that keep the margin; if none do, the fewest whose largest is as small as can be.
fn automatic_gadget(bits: &[f64], log_p: f64, gadget: impl Fn(usize) -> Result<Gadget>) -> Result<Gadget> {
    let most = bits.len().min(MAX_DIGITS);
    let largest = |gadget: &Gadget| {
        gadget.digits().iter().map(|digit| bits[digit.clone()].iter().sum::<f64>()).fold(0.0, f64::max)
    };
    let finest = largest(&gadget(most)?);
    let allowed = finest.max(log_p - DIGIT_MARGIN_BITS);
    for dnum in 1..most {
        let gadget = gadget(dnum)?;
        if largest(&gadget) <= allowed {
            return Ok(gadget);
        }
    }
    gadget(most)
}

fn fingerprint(spec: &ParametersSpec, ring: &Cyclotomic, gadget: Option<&Gadget>) -> [u8; 32] {
    let (secret, weight) = match spec.secret {
        SecretDistribution::Ternary => (0, 0),
        SecretDistribution::SparseTernary(weight) => (1, weight),
        SecretDistribution::Gaussian => (2, 0),
        SecretDistribution::Joint(parties) => (3, parties),
    };
    let digits = gadget.map_or(&[][..], Gadget::digits);
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"noren-rlwe-parameters-v1");
    let mut word = |value: u64| {
        hasher.update(&value.to_le_bytes());
    };
    for value in [index_word(ring), secret, weight as u64] {
        word(value);
    }
    for primes in [&spec.q, &spec.p] {
        word(primes.len() as u64);
        primes.iter().copied().for_each(&mut word);
    }
    word(digits.len() as u64);
    digits.iter().for_each(|digit| word(digit.end as u64));
    hasher.finalize().into()
}

/// The word by which fingerprints and files name a ring: log2 n for an index m that is a power of two, `2^32 + m` for
/// others.
pub(crate) fn index_word(ring: &Cyclotomic) -> u64 {
    match ring.is_power_of_two() {
        true => ring.degree().ilog2().into(),
        false => GENERAL | u64::from(ring.index()),
    }
}

/// The index that [`index_word`] gives this word for, if there is one.
pub(crate) fn index_of_word(word: u64) -> Option<u32> {
    if word >= GENERAL {
        return u32::try_from(word - GENERAL).ok().filter(|index| !index.is_power_of_two());
    }
    2u32.checked_shl(u32::try_from(word).ok()?).filter(|&index| index > 2)
}

/// Marks the word of an index that is not a power of two.
const GENERAL: u64 = 1 << 32;

/// The size of a product in bits, the same on every machine.
fn log2_product(factors: &[u64]) -> f64 {
    factors.iter().map(|&factor| libm::log2(factor as f64)).sum()
}
