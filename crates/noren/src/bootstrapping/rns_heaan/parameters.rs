//! Parameters of the baseline: the chain of primes, two for each level, and which keys there must be.

use std::collections::BTreeMap;
use std::sync::Arc;

use noren_rlwe::error::{Error, Result};
use noren_rlwe::parameters::MAX_PRIMES;
use noren_rlwe::security::{self, SecretDistribution, Security, max_log_qp};

use crate::bootstrapping::dft::Direction;
use crate::bootstrapping::group::{GiantOrder, Group};
use crate::bootstrapping::parameters::Primes;
use crate::bootstrapping::rns_heaan::taylor::{self, TaylorExponential};
use crate::schemes::ckks::parameters as ckks;
use crate::schemes::ckks::{KeyRequest, Scale};

/// The sizes of the primes of `q_0`, together 61 bits as in the source.
const BASE_BITS: [u32; 2] = [31, 30];

/// The sizes of the primes of every other double level, together 55 bits as in the source.
const LEVEL_BITS: [u32; 2] = [27, 28];

/// `log2` of the scale of the lowest double level.
const LOG_SCALE: u32 = 55;

/// The canonical scale of single levels, which nothing here uses.
const SINGLE_LOG_SCALE: u32 = 50;

/// The description of parameters of the baseline; [`ParametersSpec::build`] checks it.
#[derive(Debug, Clone, PartialEq)]
pub struct ParametersSpec {
    /// The base-two logarithm of the degree N of the ring, 4 to 16.
    pub log_n: u32,
    /// L: the double level to which the modulus is raised.
    pub levels: usize,
    /// The butterfly layers of each matrix, `log_n - 1` together; in the other order from coefficients to slots.
    pub groups: Vec<Group>,
    /// r: how often the exponential is squared, 1 to 12.
    pub doublings: u32,
    /// `log2 rho`: `q_0 / rho` is the scale at which a message of size 1 is raised, 4 to 12.
    pub log_ratio: u32,
    /// B: results are as good as stated for multiples I of `q_0` with `|I| <= B`; 1 to 32.
    pub interval: u32,
    /// h: how many coefficients of the secret are not zero, 1 to 64.
    pub weight: u32,
    /// The special primes of key switching.
    pub special: Primes,
    /// Into how many digits the modulus is cut for key switching.
    pub dnum: usize,
    /// The security that the largest key must reach. By the tables of today the sets of the source reach nothing that has a name.
    pub security: Security,
}

impl ParametersSpec {
    /// The set of the source: N = 2^16, L = 32, h = 64, r = 8, radix 8, and key switching with one digit and P about Q.
    ///
    /// Without security by today's tables: [`Parameters::secure_log_qp`] beside [`Parameters::log_qp`] says how far it is from it.
    /// The source does not say at what scale messages stand below `q_0`. With `rho = 2^8` a message of size 1 keeps 13 bits of
    /// the sine in the worst case; with the `2^6` between its primes of 61 and 55 bits, 9.
    #[must_use]
    pub fn published() -> Self {
        Self {
            log_n: 16,
            levels: 32,
            groups: vec![Group { layers: 3, baby_steps: 4 }; 5],
            doublings: 8,
            log_ratio: 8,
            interval: 20,
            weight: 64,
            special: Primes { count: 37, bits: 50 },
            dnum: 1,
            security: Security::None,
        }
    }

    /// The same on a ring of degree 2^10, with three matrices in each direction and two levels left: for tests.
    #[must_use]
    pub fn toy() -> Self {
        Self {
            log_n: 10,
            levels: 19,
            groups: vec![Group { layers: 3, baby_steps: 4 }; 3],
            special: Primes { count: 23, bits: 50 },
            ..Self::published()
        }
    }

    /// Checks the parameters.
    ///
    /// # Errors
    /// [`Error::Parameters`] for whatever is outside its range or does not suit the ring, by
    /// name; [`Error::Insecure`] if more security is asked for than there is.
    pub fn build(self) -> Result<Parameters> {
        self.check()?;
        let levels = self.levels;
        let (interior, base) = (LEVEL_BITS.iter().sum::<u32>(), BASE_BITS.iter().sum::<u32>());
        let log_qp = f64::from(base + levels as u32 * interior + self.special.count as u32 * self.special.bits);
        let secret = SecretDistribution::SparseTernary(self.weight as usize);
        security::check("largest key", 1 << self.log_n, secret, log_qp, self.security)?;
        // Every single level starts anew, so that each prime is one of the nearest to its size.
        let last = 2 * levels + 1;
        let ckks = ckks::ParametersSpec {
            log_n: self.log_n,
            log_q: std::iter::once(BASE_BITS).chain(std::iter::repeat_n(LEVEL_BITS, levels)).flatten().collect(),
            log_p: vec![self.special.bits; self.special.count],
            log_scale: SINGLE_LOG_SCALE,
            restarts: (0..last).rev().map(|level| (level, SINGLE_LOG_SCALE)).collect(),
            dnum: self.dnum,
            secret,
            security: self.security,
        };
        let ckks = ckks.build()?;
        let mut scales = vec![Scale::from_log2(LOG_SCALE)];
        for level in 1..=levels {
            let below = scales[level - 1];
            scales.push(below.mul_u64(ckks.prime(2 * level)).mul_u64(ckks.prime(2 * level + 1)).sqrt());
        }
        Ok(Parameters(Arc::new(Inner { spec: self, ckks, scales })))
    }

    fn check(&self) -> Result<()> {
        let check = |name, found: String, holds: bool, needed: &str| {
            if holds { Ok(()) } else { Err(Error::parameter(name, found, needed)) }
        };
        check("log_n", self.log_n.to_string(), (4..=16).contains(&self.log_n), "4 to 16")?;
        check("doublings", self.doublings.to_string(), (1..=12).contains(&self.doublings), "1 to 12")?;
        check("log_ratio", self.log_ratio.to_string(), (4..=12).contains(&self.log_ratio), "4 to 12")?;
        check("interval", self.interval.to_string(), (1..=32).contains(&self.interval), "1 to 32")?;
        check("weight", self.weight.to_string(), (1..=64).contains(&self.weight), "1 to 64")?;
        let layers: u32 = self.groups.iter().map(|group| group.layers).sum();
        let whole = layers == self.log_n - 1 && self.groups.iter().all(|group| group.layers > 0);
        check("groups", format!("{layers} layers"), whole, "log_n - 1 layers, and at least 1 in each group")?;
        let good = |group: &Group| group.baby_steps.is_power_of_two() && group.baby_steps <= 2 << group.layers;
        check("baby steps", "others".into(), self.groups.iter().all(good), "powers of two up to 2^(layers + 1)")?;
        let used = 2 * self.groups.len() + taylor::DEPTH + self.doublings as usize;
        check("levels", self.levels.to_string(), self.levels > used, &format!("more than the {used} that are used"))?;
        let primes = 2 * (self.levels + 1) + self.special.count;
        check("number of primes", primes.to_string(), primes <= MAX_PRIMES, "at most 128, special primes included")
    }
}

/// Checked parameters of the baseline. Immutable, and cheap to clone.
#[derive(Debug, Clone)]
pub struct Parameters(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    spec: ParametersSpec,
    ckks: ckks::Parameters,
    /// Index l is the scale of double level l.
    scales: Vec<Scale>,
}

/// Where a matrix stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub group: Group,
    /// How many layers have shorter distances.
    pub below: u32,
    /// The double level of the ciphertexts that it takes.
    pub level: usize,
}

impl Parameters {
    /// The specification that gives these parameters again.
    #[must_use]
    pub fn spec(&self) -> &ParametersSpec {
        &self.0.spec
    }

    /// The parameters of the ciphertexts.
    #[must_use]
    pub fn ckks(&self) -> &ckks::Parameters {
        &self.0.ckks
    }

    /// The number of complex slots, N / 2.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.ckks().max_slots()
    }

    /// The exponential.
    #[must_use]
    pub fn exponential(&self) -> TaylorExponential {
        TaylorExponential::new(self.spec().doublings)
    }

    /// `rho`: a message of size 1 is raised at the scale `q_0 / rho`.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        libm::exp2(f64::from(self.spec().log_ratio))
    }

    /// `q_0`, the product of the two lowest primes.
    #[must_use]
    pub fn base(&self) -> Scale {
        self.primes(0)
    }

    /// The product of the two primes of a double level.
    ///
    /// # Panics
    /// If there is no such level.
    #[must_use]
    pub fn primes(&self, level: usize) -> Scale {
        let ckks = self.ckks();
        Scale::from_log2(0).mul_u64(ckks.prime(2 * level)).mul_u64(ckks.prime(2 * level + 1))
    }

    /// The canonical scale of a double level: squares of ciphertexts at it are, over its two primes, at that of the next lower.
    ///
    /// # Panics
    /// If there is no such level.
    #[must_use]
    pub fn scale_at(&self, level: usize) -> &Scale {
        &self.0.scales[level]
    }

    /// The double level of the coefficients in slots: below the matrices of coefficient to slot.
    #[must_use]
    pub fn slots_level(&self) -> usize {
        self.spec().levels - self.spec().groups.len()
    }

    /// The double level at which the modular reduction ends.
    #[must_use]
    pub fn reduced_level(&self) -> usize {
        self.slots_level() - taylor::DEPTH - self.spec().doublings as usize
    }

    /// The double level of a result.
    #[must_use]
    pub fn output_level(&self) -> usize {
        self.reduced_level() - self.spec().groups.len()
    }

    /// The size of all primes together in bits, special ones included: the modulus of the largest key.
    #[must_use]
    pub fn log_qp(&self) -> f64 {
        let rlwe = self.ckks().rlwe();
        rlwe.log_q(rlwe.max_limbs()) + rlwe.p().iter().map(|&p| libm::log2(p as f64)).sum::<f64>()
    }

    /// The largest size of the modulus that such a secret carries at 128 bits of security, by the tables of today; `None` if
    /// they find no modulus secure.
    #[must_use]
    pub fn secure_log_qp(&self) -> Option<f64> {
        let secret = SecretDistribution::SparseTernary(self.spec().weight as usize);
        max_log_qp(self.ckks().degree(), secret, Security::Bits128)
    }

    /// The keys that bootstrapping evaluates with: hand it to [`Context::generate_keys`](crate::schemes::ckks::Context).
    ///
    /// A rotation that both transforms take has one key. Wishes of other operations may be added.
    #[must_use]
    pub fn key_request(&self) -> KeyRequest {
        let rotations = self.rotations().into_iter().map(|(rotation, level)| (rotation as isize, limb_level(level)));
        KeyRequest {
            relinearization: true,
            conjugation: true,
            level: Some(limb_level(self.slots_level())),
            rotations_at: rotations.collect(),
            ..KeyRequest::default()
        }
    }

    /// The rotations, each with the highest double level that it is used at.
    pub(super) fn rotations(&self) -> BTreeMap<usize, usize> {
        let mut highest = BTreeMap::new();
        for direction in [Direction::CoeffToSlot, Direction::SlotToCoeff] {
            for place in self.places(direction) {
                for key in place.group.steps(self.slots(), place.below, GiantOrder::Separate).keys {
                    highest.entry(key).or_insert(place.level);
                }
            }
        }
        highest
    }

    /// The matrices of a direction, in the order in which they are applied.
    pub(super) fn places(&self, direction: Direction) -> Vec<Place> {
        let first = match direction {
            Direction::CoeffToSlot => self.spec().levels,
            Direction::SlotToCoeff => self.reduced_level(),
        };
        let groups = self.groups(direction);
        let below = direction.below(&groups).into_iter().enumerate();
        groups.iter().zip(below).map(|(&group, (i, below))| Place { group, below, level: first - i }).collect()
    }

    /// The groups of a direction.
    pub(super) fn groups(&self, direction: Direction) -> Vec<Group> {
        let groups = self.spec().groups.iter().copied();
        match direction {
            Direction::SlotToCoeff => groups.collect(),
            Direction::CoeffToSlot => groups.rev().collect(),
        }
    }

    /// The error of an exact computation for a message of at most size 1 at the scale `q_0 / rho`, see
    /// [`error_at`](Self::error_at).
    #[must_use]
    pub fn systematic_error(&self) -> f64 {
        self.error_at(self.ratio(), 1.0)
    }

    /// The error of an exact computation for a message of at most this magnitude M, at the scale `q_0 / ratio`: the sine instead of
    /// its argument, and the polynomial instead of the exponential. The first always holds, the second but with probability
    /// `2^-40` and that of [`RnsHeaanPlan::log2_failure`](crate::bootstrapping::rns_heaan::RnsHeaanPlan::log2_failure).
    ///
    /// The coefficients v of a message with slots of size at most M have a sum of squares of at most `M^2`, so that of
    /// `(2 pi / ratio)^2 |v|^3 / 6` is at most `(2 pi M / ratio)^2 M / 6`; every slot is a sum of all errors times numbers of
    /// size 1.
    #[must_use]
    pub fn error_at(&self, ratio: f64, magnitude: f64) -> f64 {
        let spec = self.spec();
        let angle = std::f64::consts::TAU * magnitude / ratio;
        let coefficients = self.ckks().degree();
        let taylor = self.exponential().total_error(spec.weight, spec.interval, magnitude / ratio, coefficients);
        angle * angle / 6.0 * magnitude + ratio * taylor
    }
}

/// The level of ciphertexts of a double level, in limbs less one.
pub(super) fn limb_level(level: usize) -> usize {
    2 * level + 1
}
