//! Decryptions that may be handed on: noise that floods the error of the encryption, and what it costs.

use std::collections::BTreeSet;
use std::fmt;

use noren_math::random::{Seed, Xof};
use noren_rlwe::error::{Error, Result};
use noren_rlwe::streams::seed_of_decryption;

use crate::schemes::ckks::encryption::{Ciphertext, Decryptor};

/// How many decryptions of one secret key are handed on, and how much they may tell of it together.
///
/// The error of a CKKS decryption depends on the secret key, so that who sees decryptions may find the key (Li and
/// Micciancio, eprint 2020/1533). A release adds Gaussian noise to the `k` values of a ciphertext and rounds the sums to
/// multiples of `2^-bits`. With `R` planned releases and `s` bits of statistical security, the standard deviation is at
/// least
///
/// ```text
/// sigma = B sqrt(k R 2^(s - 1))        B: the error bound of the ciphertext
/// ```
///
/// so that what all releases show has a Kullback-Leibler divergence of at most
/// `R k B^2 / (2 sigma^2) = 2^-s` from what they would show without the error of the encryption: whoever chooses each
/// ciphertext after seeing earlier releases tells the two apart with an advantage of at most `2^(-(s + 1) / 2)`. It is the
/// notion of Li, Micciancio, Schultz and Sorrell (eprint 2022/816). 40 bits are the default, an advantage of `2^-20.5`; 80
/// bits bring it to `2^-40.5`. Beside it stand `2^-40` for each ciphertext, with which its error bound fails, and
/// `k R 2^-52` for the precision of the noise.
///
/// The noise is drawn from the secret key and the ciphertext, so that the same release made twice is the same, and a mean
/// of many tells nothing more. What is counted is kept in this object: as long as releases of one key are to be within the
/// plan, the same object is to serve them.
///
/// # Examples
/// ```
/// use noren::ckks::Releases;
///
/// // A thousand releases of one number each, with 10 bits after the point, need this error bound.
/// let releases = Releases::new(1000)?;
/// let bound = releases.error_bound(10, 1);
/// assert!(bound < f64::exp2(-37.0) && releases.bits(bound, 1) == 10);
/// # Ok::<(), noren::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Releases {
    planned: u64,
    security: u32,
    made: BTreeSet<[u8; 32]>,
}

impl Releases {
    /// The bits of statistical security that are taken if none are named.
    pub const DEFAULT_SECURITY: u32 = 40;
    /// The most bits of statistical security: beyond them the precision of the noise is seen.
    pub const MAX_SECURITY: u32 = 80;

    /// The releases that are planned, with 40 bits of statistical security.
    ///
    /// # Errors
    /// [`Error::Parameters`] for none.
    pub fn new(planned: u64) -> Result<Self> {
        if planned == 0 {
            return Err(Error::parameter("planned releases", planned, "at least 1"));
        }
        Ok(Self { planned, security: Self::DEFAULT_SECURITY, made: BTreeSet::new() })
    }

    /// The same with other bits of statistical security.
    ///
    /// # Errors
    /// [`Error::Parameters`] for less than 1 or more than [`Releases::MAX_SECURITY`].
    pub fn with_statistical_security(self, bits: u32) -> Result<Self> {
        if !(1..=Self::MAX_SECURITY).contains(&bits) {
            return Err(Error::parameter("statistical security", bits, format!("1 to {}", Self::MAX_SECURITY)));
        }
        Ok(Self { security: bits, ..self })
    }

    /// How many releases are planned.
    #[must_use]
    pub const fn planned(&self) -> u64 {
        self.planned
    }

    /// How many were made. The same release made again counts once.
    #[must_use]
    pub fn made(&self) -> u64 {
        self.made.len() as u64
    }

    /// The bits of statistical security of all planned releases together.
    #[must_use]
    pub const fn statistical_security(&self) -> u32 {
        self.security
    }

    /// The most bits after the point with which `values` values of this error bound can be released.
    #[must_use]
    pub fn bits(&self, error_bound: f64, values: usize) -> i32 {
        // The sum of the logarithms is exact but for 2^-40 or so.
        (-libm::log2(error_bound) - self.flooding(values) + 1e-9).floor() as i32
    }

    /// The largest error bound with which `values` values can be released with these bits after the point: what to choose
    /// parameters for.
    #[must_use]
    pub fn error_bound(&self, bits: i32, values: usize) -> f64 {
        libm::exp2(-f64::from(bits) - self.flooding(values))
    }

    /// How many bits the spacing of released numbers is above the error bound.
    fn flooding(&self, values: usize) -> f64 {
        let count = values.max(1) as f64 * self.planned as f64;
        libm::log2(LARGEST_NOISE) + (libm::log2(count) + f64::from(self.security) - 1.0) / 2.0
    }

    /// Refuses `values` values of this error bound with `bits` bits after the point.
    pub(crate) fn check(&self, bits: i32, error_bound: f64, values: usize) -> Result<()> {
        let most = self.bits(error_bound, values);
        if bits <= most && BITS.contains(&bits) {
            return Ok(());
        }
        let (low, high) = BITS.into_inner();
        let needed = if bits < low || most >= high {
            format!("{low} to {high}")
        } else {
            format!(
                "at most {most}: the error bound is {error_bound:.2e}, and {bits} bits need {:.2e} (values: {values}, planned \
                 releases: {}, statistical security: {} bits)",
                self.error_bound(bits, values),
                self.planned,
                self.security
            )
        };
        Err(Error::parameter("bits of a release", bits, needed))
    }

    /// Counts a release by its name, which is the same whenever it is made.
    ///
    /// # Errors
    /// [`Error::Parameters`] if all planned releases were made.
    pub(crate) fn count(&mut self, name: [u8; 32]) -> Result<()> {
        if !self.made.contains(&name) && self.made() >= self.planned {
            let needed = format!("no more than the {} that were planned, for which the noise was chosen", self.planned);
            return Err(Error::parameter("releases", self.made() + 1, needed));
        }
        self.made.insert(name);
        Ok(())
    }
}

impl fmt::Display for Releases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} made, {} bits of statistical security", self.made(), self.planned, self.security)
    }
}

/// The largest noise in standard deviations: `sqrt(2 ln 2^53)` is 8.572, as [`Noise`] draws it.
const LARGEST_NOISE: f64 = 8.6;

/// Bits after the point whose unit is a normal `f64`, and its products with numbers too.
const BITS: std::ops::RangeInclusive<i32> = -500..=500;

/// The domain separator of names of releases.
const NAMES: &str = "noren name of releases, version 1";

/// A release of one ciphertext: its name, and its noise.
pub(crate) struct Release {
    name: Seed,
    unit: f64,
}

impl Release {
    pub(crate) fn of(decryptor: &Decryptor<'_>, ciphertext: &Ciphertext, bits: i32) -> Self {
        let unit = libm::exp2(-f64::from(bits));
        let (high, low) = ciphertext.scale().parts();
        let words = [high.to_bits(), low.to_bits(), unit.to_bits(), ciphertext.slots() as u64];
        let (context, secret) = decryptor.parts();
        let name = seed_of_decryption(context.rlwe(), secret, ciphertext.rlwe(), "ckks/release", &words);
        Self { name, unit }
    }

    /// The name of releases together: that of a table.
    pub(crate) fn name(releases: &[Self]) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key(NAMES);
        for release in releases {
            hasher.update(release.name.derive("name").as_bytes());
        }
        *hasher.finalize().as_bytes()
    }

    /// Adds noise to every number and rounds.
    pub(crate) fn apply(&self, values: &mut [f64]) {
        let mut noise = Noise { words: self.name.xof("noise"), next: None };
        for value in values {
            let sum = *value / self.unit + noise.draw() / LARGEST_NOISE;
            // Zero has no sign.
            *value = sum.round_ties_even() * self.unit + 0.0;
        }
    }
}

/// Gaussian noise of standard deviation 1, at most 8.572 in absolute value, by Box and Muller.
struct Noise {
    words: Xof,
    next: Option<f64>,
}

impl Noise {
    fn draw(&mut self) -> f64 {
        if let Some(value) = self.next.take() {
            return value;
        }
        // 53 random bits each, in (0, 1] and [0, 1).
        let mut uniform = || (self.words.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - uniform()));
        let (sine, cosine) = libm::sincos(core::f64::consts::TAU * uniform());
        self.next = Some(radius * sine);
        radius * cosine
    }
}

impl Decryptor<'_> {
    /// The real parts of the values, the first [`Extent::values`](crate::schemes::extent::Extent::values) slots, as multiples
    /// of `2^-bits` that may be handed on.
    ///
    /// They are within `1.5 * 2^-bits` of the decryption. [`Releases`] says what others learn from them, and how many bits
    /// an error bound allows: about 22.6 less than its own for one value, and half a bit less each time that values or
    /// planned releases double. Fewer values, stated with
    /// [`with_length`](crate::schemes::ckks::message::Message::with_length), take less noise. The bound must be right: a
    /// ciphertext from outside proves nothing about its error.
    ///
    /// # Errors
    /// As [`Decryptor::decrypt_real`], and [`Error::Parameters`] for more bits than the error bound allows, with the number
    /// of bits that it allows, and if all planned releases were made.
    pub fn decrypt_for_release(&self, ciphertext: &Ciphertext, bits: i32, releases: &mut Releases) -> Result<Vec<f64>> {
        let values = ciphertext.extent().values();
        let mut slots = self.decrypt_real(ciphertext)?;
        self.check_release(ciphertext, bits, releases, values)?;
        slots.truncate(values);
        let release = Release::of(self, ciphertext, bits);
        release.apply(&mut slots);
        releases.count(Release::name(&[release]))?;
        Ok(slots)
    }

    /// Refuses to release a ciphertext with others, where `values` of its numbers are shown.
    pub(crate) fn check_release(
        &self,
        ciphertext: &Ciphertext,
        bits: i32,
        releases: &Releases,
        values: usize,
    ) -> Result<()> {
        ciphertext.check_bound()?;
        releases.check(bits, ciphertext.error_bound(), values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_gaussian_and_bounded() {
        let mut noise = Noise { words: Seed::from_bytes([1; 32]).xof("noise"), next: None };
        let count = 1 << 18;
        let drawn: Vec<f64> = (0..count).map(|_| noise.draw()).collect();
        let moment = |power: i32| drawn.iter().map(|x| x.powi(power)).sum::<f64>() / f64::from(count);
        // Five standard deviations of each mean: those of x, x^2 - 1 and x^4 - 3 are 1, sqrt(2) and sqrt(96).
        let tolerance = 5.0 / f64::from(count).sqrt();
        assert!(moment(1).abs() < tolerance, "{}", moment(1));
        assert!((moment(2) - 1.0).abs() < 1.42 * tolerance, "{}", moment(2));
        assert!((moment(4) - 3.0).abs() < 9.8 * tolerance, "{}", moment(4));
        let independent = drawn.as_chunks::<2>().0.iter().map(|[x, y]| x * y).sum::<f64>() / f64::from(count / 2);
        assert!(independent.abs() < 1.42 * tolerance, "{independent}");
        let largest = libm::sqrt(-2.0 * libm::log(libm::exp2(-53.0)));
        assert!(largest < LARGEST_NOISE && drawn.iter().all(|x| x.abs() <= largest), "{largest}");
    }

    #[test]
    fn bits_and_bounds_are_those_of_the_formula() {
        for (planned, security, values) in [(1, 40, 1), (1, 80, 1), (1000, 40, 1), (7, 20, 4096)] {
            let releases = Releases::new(planned).expect("some").with_statistical_security(security).expect("in range");
            for bits in [-30, 0, 10] {
                let bound = releases.error_bound(bits, values);
                assert_eq!(releases.bits(bound, values), bits);
                // The divergence, of noise whose largest value is the unit.
                let deviation = f64::exp2(-f64::from(bits)) / LARGEST_NOISE;
                let divergence = planned as f64 * values as f64 * bound * bound / (2.0 * deviation * deviation);
                assert!((divergence.log2() + f64::from(security)).abs() < 1e-9, "{divergence}");
                assert!(releases.check(bits, bound, values).is_ok());
                assert!(releases.check(bits + 1, bound, values).is_err());
            }
        }
        let releases = Releases::new(1).expect("one");
        assert!(releases.check(i32::MIN, 1.0, 1).is_err() && releases.check(i32::MAX, 0.0, 1).is_err());
        assert!(releases.check(3, 0.0, 1).is_ok() && releases.check(3, f64::INFINITY, 1).is_err());
        assert!(Releases::new(0).is_err() && releases.with_statistical_security(81).is_err());
    }
}
