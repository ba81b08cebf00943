//! Parameters from the operations that are wanted.

use noren_math::cyclotomic::Cyclotomic;
use noren_math::hypercube::{Hypercube, order};
use noren_math::ntt::general::order_of_roots;
use noren_math::prime::prime_power;
use noren_ring::interrupt;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::security::{SecretDistribution, Security, max_log_qp};

use crate::schemes::integers::noise::{Mode, Noise};
use crate::schemes::integers::opening::Opening;
use crate::schemes::integers::parameters::{Parameters, ParametersSpec};
use crate::schemes::integers::scheme::{Scheme, product};

/// Requirements on parameters; [`Requirements::choose`] finds parameters.
///
/// # Examples
/// ```
/// use noren::bfv::{Bfv, Requirements};
///
/// let parameters = Requirements { depth: 2, plaintext_modulus: 65537, ..Requirements::default() }.choose::<Bfv>()?;
/// assert!(parameters.has_slots() && parameters.rlwe().log_qp() <= 430.0);
/// # Ok::<(), noren::error::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirements {
    /// How many multiplications of ciphertexts follow one another.
    pub depth: usize,
    /// The plaintext modulus.
    pub plaintext_modulus: u64,
    /// How many slots or coefficients are needed at least.
    pub slots: usize,
    /// How many ciphertexts, or rotations of one, are added up before each multiplication.
    pub terms: usize,
    /// How many are added up in the end.
    pub sum: usize,
    /// How many products with plaintexts follow one another besides, one before each multiplication as far as they go.
    pub plain_products: usize,
    /// The security of the keys.
    pub security: Security,
    /// The parties that share the secret, and what they open.
    pub opening: Option<Opening>,
}

impl Default for Requirements {
    /// One multiplication modulo 65537, at 128-bit security.
    fn default() -> Self {
        let security = Security::Bits128;
        Self {
            depth: 1,
            plaintext_modulus: 65537,
            slots: 1,
            terms: 1,
            sum: 1,
            plain_products: 0,
            security,
            opening: None,
        }
    }
}

/// The sizes of rings that are tried.
const LOG_N: std::ops::RangeInclusive<u32> = 10..=17;
/// The sizes of the primes that are tried.
const PRIME_BITS: std::ops::RangeInclusive<u32> = 24..=50;
/// The size of special primes: transforms are faster below 2^48.
const SPECIAL_BITS: u32 = 48;
/// A digit stays this many bits below the special modulus.
const MARGIN_BITS: u32 = 6;
/// The largest index that is not a power of two.
const MOST_INDEX: u32 = (1 << 16) - 1;
/// The most rings whose dimensions are looked at.
const MOST_CUBES: usize = 32;
/// The most primes that are tried.
const MOST_LIMBS: usize = 48;
/// The most operations that follow one another: each takes a bit of the modulus at least.
const MOST_IN_TURN: usize = MOST_LIMBS * *PRIME_BITS.end() as usize;

/// Whether all dimensions of the slots modulo p are native.
fn is_native(ring: &Cyclotomic, p: u64) -> bool {
    Hypercube::new(ring, p).is_ok_and(|cube| cube.dimensions().iter().all(|dimension| dimension.is_native))
}

/// A ring that is tried, by one of its names.
#[derive(Clone, Copy)]
struct Ring {
    log_n: u32,
    index: u32,
    degree: usize,
}

impl Requirements {
    /// The smallest ring, and in it the fewest and smallest primes, that leave a noise budget after all operations at this
    /// security.
    ///
    /// Predicted is a public encryption: see [`Requirements::predicted_noise`]. The modulus has as many special primes as
    /// the security allows, for fast key switching.
    ///
    /// # Errors
    /// [`Error::Parameters`] says which requirement cannot be met.
    pub fn choose<S: Scheme>(&self) -> Result<Parameters> {
        self.choose_where::<S>(&|_| Ok(true))
    }

    /// As [`Requirements::choose`], among parameters that are said to fit.
    ///
    /// # Errors
    /// As [`Requirements::choose`], and what `fits` refuses.
    pub(crate) fn choose_where<S: Scheme>(&self, fits: &dyn Fn(&Parameters) -> Result<bool>) -> Result<Parameters> {
        self.check_in_turn()?;
        self.opening.iter().try_for_each(Opening::check)?;
        let most = 1 << LOG_N.end();
        if self.slots > most {
            return Err(Error::parameter("slots", self.slots, format!("at most {most}")));
        }
        // Requirements that no number of primes meets.
        let probe = ParametersSpec {
            log_n: self.slots.next_power_of_two().ilog2().max(*LOG_N.start()),
            plaintext_modulus: self.plaintext_modulus,
            log_q: vec![*PRIME_BITS.end()],
            security: Security::None,
            ..ParametersSpec::default()
        };
        probe.build()?;
        let powers = LOG_N.filter(|log_n| 1usize << log_n >= self.slots);
        let rings = powers.map(|log_n| Ring { log_n, index: 0, degree: 1 << log_n });
        self.first_of::<S>(rings, &format!("degree 2^{}", LOG_N.end()), fits)
    }

    /// As [`Requirements::choose`], among rings whose index is not a power of two: for a plaintext modulus `p^r`, with as
    /// many slots as asked for, each of a degree d that is a multiple of `slot_degree`, so that it holds the elements of
    /// `GR(p^r, slot_degree)`.
    ///
    /// Of the rings of about one security the one whose transforms are shortest is taken, and of the smallest of these one
    /// whose dimensions are native if there is one: rotations take one automorphism then.
    ///
    /// # Errors
    /// [`Error::Parameters`] says which requirement cannot be met: the plaintext modulus must be a power of a prime.
    pub fn choose_index<S: Scheme>(&self, slot_degree: usize) -> Result<Parameters> {
        self.check_in_turn()?;
        if self.opening.is_some() {
            return Err(Error::parameter("opening", "a ring whose index is no power of two", "a power of two"));
        }
        let (p, _) = prime_power(self.plaintext_modulus)
            .ok_or_else(|| Error::parameter("plaintext_modulus", self.plaintext_modulus, "a power of a prime"))?;
        if slot_degree == 0 {
            return Err(Error::parameter("slot_degree", slot_degree, "at least 1"));
        }
        let fits = |index: u32| {
            let ring = Cyclotomic::new(index).ok().filter(|ring| !ring.is_power_of_two())?;
            let degree = order(&ring, p)?;
            let fits = degree.is_multiple_of(slot_degree) && ring.degree() / degree >= self.slots;
            fits.then_some((order_of_roots(&ring) / u64::from(index), ring))
        };
        let mut rings: Vec<_> = (3..=MOST_INDEX).filter_map(fits).collect();
        // The security tables have a row for each power of two.
        rings.sort_unstable_by_key(|(length, ring)| (ring.degree().ilog2(), *length, ring.index()));
        if rings.is_empty() {
            let found = format!("{} of a multiple of degree {slot_degree} modulo {p}", self.slots);
            return Err(Error::parameter("slots", found, format!("what an index up to {MOST_INDEX} has: fewer slots")));
        }
        let of_one_size = rings.chunk_by(|(_, a), (_, b)| a.degree().ilog2() == b.degree().ilog2());
        let native = |alike: &[(u64, Cyclotomic)]| {
            let ring = alike.iter().take(MOST_CUBES).map(|(_, ring)| ring).find(|ring| is_native(ring, p));
            let ring = ring.unwrap_or(&alike[0].1);
            Ring { log_n: 0, index: ring.index(), degree: ring.degree() }
        };
        self.first_of::<S>(of_one_size.map(native), &format!("an index up to {MOST_INDEX}"), &|_| Ok(true))
    }

    /// Refuses more operations than any modulus has room for, before any is counted through.
    fn check_in_turn(&self) -> Result<()> {
        let counts = [("depth", self.depth), ("plain_products", self.plain_products)];
        let Some((name, found)) = counts.into_iter().find(|&(_, count)| count > MOST_IN_TURN) else { return Ok(()) };
        let largest = format!("{MOST_LIMBS} primes of {} bits", PRIME_BITS.end());
        let needed =
            format!("at most {MOST_IN_TURN}: each takes a bit or more of a modulus, which has at most {largest}");
        Err(Error::parameter(name, found, needed))
    }

    /// The parameters of the first ring that has some.
    fn first_of<S: Scheme>(
        &self,
        rings: impl Iterator<Item = Ring> + Clone,
        most: &str,
        fits: &dyn Fn(&Parameters) -> Result<bool>,
    ) -> Result<Parameters> {
        for ring in rings.clone() {
            if let Some(parameters) = self.choose_in::<S>(ring, fits)? {
                return Ok(parameters);
            }
        }
        // Where there are parameters without products with plaintexts, these are what is too much.
        let without = Self { plain_products: 0, ..self.clone() };
        let mut others = rings.filter(|_| self.plain_products > 0);
        let (name, found) = match others.find_map(|ring| without.choose_in::<S>(ring, &|_| Ok(true)).transpose()) {
            Some(Ok(_)) => ("plain_products", self.plain_products),
            _ => ("depth", self.depth),
        };
        let found = format!("{found} (products modulo {})", self.plaintext_modulus);
        Err(Error::parameter(name, found, format!("less: {most} does not carry such a modulus")))
    }

    /// The fewest and smallest primes in one ring.
    fn choose_in<S: Scheme>(
        &self,
        ring: Ring,
        fits: &dyn Fn(&Parameters) -> Result<bool>,
    ) -> Result<Option<Parameters>> {
        let mut best: Option<Parameters> = None;
        for bits in PRIME_BITS.rev() {
            let fewest = best.as_ref().map_or(MOST_LIMBS, Parameters::max_limbs);
            match self.fewest_primes::<S>(ring, bits, fewest, fits)? {
                Some(parameters) => best = Some(parameters),
                None if best.is_some() => break,
                None => {}
            }
        }
        Ok(best)
    }

    /// The noise that a public encryption has after all operations: before each multiplication as many terms are added as
    /// asked for, all of one source, one is rotated, and it is multiplied with a plaintext as long as there are such
    /// products; then it is squared. In the end the sum is taken.
    #[must_use]
    pub fn predicted_noise<S: Scheme>(&self, parameters: &Parameters) -> Noise {
        self.predict::<S>(parameters).0
    }

    /// The limbs that ciphertexts have before each multiplication, and in the end, if noise grows as
    /// [predicted](Self::predicted_noise).
    #[must_use]
    pub fn limbs_by_depth<S: Scheme>(&self, parameters: &Parameters) -> Vec<usize> {
        self.predict::<S>(parameters).1
    }

    fn predict<S: Scheme>(&self, parameters: &Parameters) -> (Noise, Vec<usize>) {
        let laws = parameters.laws();
        let mut limbs = parameters.max_limbs();
        let mut noise = laws.fresh(Mode::Public, limbs);
        let (mut plain_products, mut by_depth) = (self.plain_products, Vec::with_capacity(self.depth + 1));
        for left in (0..=self.depth).rev() {
            let terms = if left == 0 { self.sum } else { self.terms };
            noise = noise.scaled(libm::log2(terms.max(1) as f64));
            if terms > 1 {
                noise = noise.with(&laws.switches(1, limbs, limbs));
            }
            let now = if left == 0 { plain_products } else { plain_products.min(1) };
            plain_products -= now;
            for _ in 0..now {
                noise = noise.scaled(plain_growth(parameters.modulus().value(), parameters.degree()));
                if noise.is_lost() {
                    break;
                }
                let kept = S::limbs_to_keep(laws, &noise, limbs);
                if kept < limbs {
                    (noise, limbs) = (noise.with(&laws.rounding(kept)), kept);
                }
            }
            by_depth.push(limbs);
            // Noise only grows: what is lost stays lost.
            if left == 0 || noise.is_lost() {
                break;
            }
            (noise, limbs) = product::<S>(laws, &noise, &noise, limbs);
        }
        (noise, by_depth)
    }

    /// Parameters with the fewest primes of this size, at most `most`.
    fn fewest_primes<S: Scheme>(
        &self,
        ring: Ring,
        bits: u32,
        most: usize,
        fits: &dyn Fn(&Parameters) -> Result<bool>,
    ) -> Result<Option<Parameters>> {
        for limbs in self.least_limbs(ring, bits)..=most {
            let Some(spec) = self.specification(ring, bits, limbs) else { return Ok(None) };
            interrupt::check();
            let parameters = match spec.build() {
                Ok(parameters) => parameters,
                // Primes of this size lie too thin.
                Err(Error::Parameters { .. } | Error::Insecure { .. }) => return Ok(None),
                Err(other) => return Err(other),
            };
            let noise = self.predicted_noise::<S>(&parameters);
            let needed = self.opening.map_or(0.0, |opening| opening.budget(parameters.degree()));
            if !noise.is_lost() && parameters.laws().budget(&noise) >= needed && fits(&parameters)? {
                return Ok(Some(parameters));
            }
        }
        Ok(None)
    }

    /// How many primes of this size are needed at least.
    ///
    /// A product of either scheme multiplies noise by `t sqrt(n (h+1)/12)` or more, where h is 2n/3: `t n / sqrt(18)`. What
    /// one with a plaintext multiplies it by says [`plain_growth`].
    fn least_limbs(&self, ring: Ring, bits: u32) -> usize {
        let growth =
            libm::log2(self.plaintext_modulus as f64) + libm::log2(ring.degree as f64) - libm::log2(18.0) / 2.0;
        let plain = plain_growth(self.plaintext_modulus, ring.degree);
        let log_q = self.depth as f64 * growth.max(0.0) + self.plain_products as f64 * plain.max(0.0);
        ((log_q / f64::from(bits)).floor() as usize).max(1)
    }

    /// The specification with the fewest digits that is secure; `None` if even one special prime is too much.
    fn specification(&self, ring: Ring, bits: u32, limbs: usize) -> Option<ParametersSpec> {
        let secret = self.opening.map_or_else(SecretDistribution::default, |opening| opening.secret());
        let most = match self.security {
            Security::None => f64::INFINITY,
            _ => max_log_qp(ring.degree, secret, self.security)?,
        };
        let log_q = limbs as u32 * bits;
        let one_digit = (log_q + MARGIN_BITS).div_ceil(SPECIAL_BITS);
        let special = (1..=one_digit).rev().find(|special| f64::from(log_q + special * SPECIAL_BITS) <= most)?;
        Some(ParametersSpec {
            log_n: ring.log_n,
            index: ring.index,
            plaintext_modulus: self.plaintext_modulus,
            log_q: vec![bits; limbs],
            log_p: vec![SPECIAL_BITS; special as usize],
            secret,
            security: self.security,
            ..ParametersSpec::default()
        })
    }
}

/// By how many bits a product with a plaintext, whose coefficients are anything modulo t, raises noise.
fn plain_growth(modulus: u64, degree: usize) -> f64 {
    libm::log2(modulus as f64) + libm::log2(degree as f64 / 12.0) / 2.0
}
