//! How many limbs each step of a lookup needs.

use noren_ring::small::SmallPolynomials;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::noise::secret_square_norm;
use noren_rlwe::resources::Resources;
use noren_rlwe::security::SecretDistribution;
use noren_rlwe::shape::KeyShape;

use crate::lookup::function::Function;
use crate::lookup::layout::Layout;
use crate::lookup::one_hot;
use crate::schemes::bfv::{Noise, Parameters};
use crate::schemes::integers::error::IntegerError;
use crate::schemes::integers::noise::{Laws, Mode};

/// The levels of the parts of a lookup: the one-hot vectors are made at the usual limbs, and switched to a sparse secret at as few as
/// the matrix and what follows leave right.
///
/// The rounding that dropping limbs costs is multiplied by the matrix, by the wrapping of the product, and by the number of
/// slots when they are added up; it is proportional to the norm of the secret, twice. With a sparse secret it is smaller by
/// `n/288` in all, eight bits at n = 2^15, so that two limbs do where three were needed. Its keys have few limbs, which is
/// what makes them as secure as the others.
#[derive(Debug, Clone)]
pub struct LookupPlan {
    parameters: Parameters,
    layout: Layout,
    method: Method,
    limbs: usize,
    entry_limbs: usize,
    weight: usize,
    special: usize,
    laws: Laws,
    noise: Noise,
}

/// How a table is multiplied with a one-hot vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// At few limbs, under a sparse secret, with one key for all giant steps.
    Fast,
    /// Under the usual secret, at the limbs that the one-hot vector comes with, with a key for each giant step: to compare
    /// with.
    Linear,
}

/// The weight of the sparse secret, where the ring has room for it.
const WEIGHT: usize = 192;
/// The bits by which the special modulus is larger than a digit: the noise of key switching stays below a rounding.
const SPECIAL_BITS: f64 = 12.0;

impl LookupPlan {
    /// The plan of lookups of functions on numbers below `domain[0]` and `domain[1]`, encrypted with the public key.
    ///
    /// # Errors
    /// [`Error::Parameters`] if t is no prime with slots, above 65537, or below the domain; if there are no special primes;
    /// [`IntegerError::NoiseExhausted`] if the modulus is too small.
    pub fn new(parameters: &Parameters, domain: [usize; 2]) -> Result<Self> {
        Self::with_layout(parameters, Layout::new(parameters.degree(), parameters.modulus().value(), domain)?)
    }

    /// [`LookupPlan::new`] by [`Method::Linear`].
    ///
    /// # Errors
    /// As [`LookupPlan::new`].
    pub fn linear(parameters: &Parameters, domain: [usize; 2]) -> Result<Self> {
        let layout = Layout::new(parameters.degree(), parameters.modulus().value(), domain)?;
        Self::by_method(parameters, layout, Method::Linear)
    }

    /// The plan of another layout.
    ///
    /// # Errors
    /// As [`LookupPlan::new`].
    pub fn with_layout(parameters: &Parameters, layout: Layout) -> Result<Self> {
        Self::by_method(parameters, layout, Method::Fast)
    }

    fn by_method(parameters: &Parameters, layout: Layout, method: Method) -> Result<Self> {
        /// Coefficients of factors are held in 16 bits.
        const LARGEST: u64 = (1 << 16) + 1;
        parameters.check_rows()?;
        let t = parameters.modulus().value();
        if !parameters.has_slots() || t > LARGEST {
            let needed = format!("a prime up to {LARGEST} that is 1 modulo {}", 2 * parameters.degree());
            return Err(Error::parameter("plaintext_modulus", t, needed));
        }
        let laws = parameters.laws();
        let fresh = laws.fresh(Mode::Public, parameters.max_limbs());
        let (one_hot, entry_limbs) = one_hot::predict(parameters, &fresh, parameters.max_limbs());
        let special = special_primes(parameters)?;
        let weight = WEIGHT.min(parameters.degree() / 4).max(1);
        let (fewest, secret) = match method {
            Method::Fast => (1, weight as f64),
            Method::Linear => (entry_limbs, secret_square_norm(parameters.rlwe())),
        };
        let shape = KeyShape { limbs: entry_limbs, special, digits: entry_limbs };
        let of_keys = laws.of_keys(parameters.rlwe(), secret, shape)?;
        let mut best = f64::NEG_INFINITY;
        for limbs in fewest..=entry_limbs {
            let plan = Self {
                parameters: parameters.clone(),
                layout: layout.clone(),
                method,
                limbs,
                entry_limbs,
                weight,
                special,
                laws: of_keys.clone(),
                noise: Noise::none(),
            };
            let noise = plan.predict([&one_hot, &one_hot], plan.usual_norm());
            let budget = noise.budget(parameters.degree());
            if budget > 0.0 {
                return Ok(Self { noise, ..plan });
            }
            best = best.max(budget);
        }
        Err(IntegerError::NoiseExhausted { what: "a lookup", missing: -best }.into())
    }

    /// The layout.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The parameters.
    #[must_use]
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The method.
    #[must_use]
    pub fn method(&self) -> Method {
        self.method
    }

    /// How many limbs the matrix is multiplied at.
    #[must_use]
    pub fn limbs(&self) -> usize {
        self.limbs
    }

    /// How many limbs a one-hot vector has when it is switched to the sparse secret.
    #[must_use]
    pub fn entry_limbs(&self) -> usize {
        self.entry_limbs
    }

    /// The predicted noise of the result.
    #[must_use]
    pub fn noise(&self) -> &Noise {
        &self.noise
    }

    /// How many bytes the factors of the matrix of a function take: `2 n` each, in memory and in a file.
    #[must_use]
    pub fn matrix_bytes(&self) -> u64 {
        (SmallPolynomials::word_count(self.layout.degree(), self.layout.factors()) * size_of::<u64>()) as u64
    }

    /// Refuses a matrix that is larger than the memory, or than the room on the disk.
    ///
    /// # Errors
    /// [`Error::Resources`] with both numbers.
    pub fn check(&self, resources: &Resources) -> Result<()> {
        let advice = "close other programs, raise the limit of the process or container, or take a smaller domain";
        resources.check_memory(self.matrix_bytes(), "memory for the matrix of a function", advice)?;
        let advice = "make room, or choose another place";
        resources.check_disk(self.matrix_bytes(), "disk for the matrix of a function", advice)
    }

    /// The sparse secret.
    #[must_use]
    pub fn secret(&self) -> SecretDistribution {
        SecretDistribution::SparseTernary(self.weight)
    }

    /// The shape of the keys under the sparse secret.
    #[must_use]
    pub fn shape(&self) -> KeyShape {
        KeyShape { limbs: self.limbs, special: self.special, digits: self.limbs }
    }

    /// The shape of the key that leads to the sparse secret.
    #[must_use]
    pub fn entry_shape(&self) -> KeyShape {
        KeyShape { limbs: self.entry_limbs, special: self.special, digits: self.entry_limbs }
    }

    /// The rotations of the sum over the slots of a number, in turn: each adds what is there to its rotations by these
    /// steps. Whether the rows are swapped and added at last.
    #[must_use]
    pub fn sum_rotations(&self) -> (Vec<Vec<isize>>, bool) {
        /// The doublings that are done at once, with the keys for all multiples.
        const DOUBLINGS: u32 = 3;
        let stretch = self.layout.stretch();
        let swap = stretch == self.layout.degree();
        let doublings = if swap { stretch / 2 } else { stretch }.ilog2();
        let step = |first: u32| {
            let count = DOUBLINGS.min(doublings - first);
            (1..1 << count).map(|multiple: isize| multiple << first).collect()
        };
        ((0..doublings).step_by(DOUBLINGS as usize).map(step).collect(), swap)
    }

    /// All rotations under the sparse secret for which there must be keys.
    #[must_use]
    pub fn rotations(&self) -> Vec<isize> {
        let most = match self.method {
            Method::Fast => self.layout.giants().min(2),
            Method::Linear => self.layout.giants(),
        };
        let giants = (1..most as isize).map(|b| b * self.layout.giant_rotation());
        let sums = self.sum_rotations().0.concat();
        self.layout.baby_rotations().into_iter().chain(giants).chain(sums).filter(|&steps| steps != 0).collect()
    }

    /// The noise at most of a lookup of numbers that the secret key encrypted, by a matrix or of one number: that of the worst
    /// table.
    pub(crate) fn largest_noise(&self, matrix: bool) -> Noise {
        let (laws, most) = (self.parameters.laws(), self.parameters.max_limbs());
        let (vector, limbs) = one_hot::predict(&self.parameters, &laws.fresh(Mode::Symmetric, most), most);
        let vector = if limbs > self.entry_limbs { vector.with(&laws.rounding(self.entry_limbs)) } else { vector };
        let (degree, [_, results]) = (self.layout.degree(), self.layout.blocks());
        let norm = |polynomials: usize| {
            self.parameters.modulus().log2() - 1.0 + libm::log2((polynomials * degree) as f64) / 2.0
        };
        let rounding = laws.plain_rounding(self.limbs);
        if matrix {
            let norm = norm(self.layout.factors() / results);
            return self.predict([&vector, &vector], norm).with(&rounding);
        }
        let tables = self.layout.domain()[0].div_ceil(self.layout.stretch());
        self.predict_sum(&self.predict_entry(&vector).scaled(norm(tables))).with(&rounding)
    }

    /// The noise of the result for one-hot vectors of these noises and a matrix of this norm.
    #[must_use]
    pub(super) fn predict(&self, one_hot: [&Noise; 2], log2_norm: f64) -> Noise {
        let [x, y] = one_hot.map(|noise| self.predict_entry(noise));
        self.predict_sum(&self.predict_product(&self.predict_row(&x, log2_norm), &y))
    }

    /// The noise of a block of the row, for a one-hot vector of this noise under the sparse secret and a matrix of this norm:
    /// `log2` of the root of the sum of the squares of all coefficients of the factors of all blocks, which are alike.
    ///
    /// The sum of products `sum_k p_k psi_k(v)` has on average the sum of the squares of the norms of the `p_k` as square
    /// norm, for any factors: the matrices of different k have no entry in common. Where its coefficients differ, the
    /// product with the second one-hot vector evens them out.
    #[must_use]
    pub(super) fn predict_row(&self, x: &Noise, log2_norm: f64) -> Noise {
        let switch = self.laws.switches(1, self.limbs, self.limbs);
        let giants = switch.scaled(libm::log2((2 * self.layout.giants()) as f64) / 2.0);
        x.with(&switch).scaled(log2_norm).with(&giants)
    }

    /// The noise of the row times the second one-hot vector, relinearised.
    #[must_use]
    pub(super) fn predict_product(&self, row: &Noise, y: &Noise) -> Noise {
        let (laws, limbs, [_, results]) = (&self.laws, self.limbs, self.layout.blocks());
        let product = laws.scaled_product(row, y, limbs).scaled(libm::log2(results as f64) / 2.0);
        product.with(&laws.switches(1, limbs, limbs))
    }

    /// The noise of a one-hot vector under the sparse secret.
    pub(super) fn predict_entry(&self, noise: &Noise) -> Noise {
        match self.method {
            Method::Fast => {
                let switched = noise.with(&self.laws.switches(1, self.entry_limbs, self.entry_limbs));
                switched.with(&self.laws.rounding(self.limbs))
            }
            Method::Linear => noise.clone(),
        }
    }

    /// The noise of the sum over slots, back under the usual secret.
    pub(super) fn predict_sum(&self, noise: &Noise) -> Noise {
        let (laws, limbs) = (&self.laws, self.limbs);
        let (steps, swap) = self.sum_rotations();
        let doubled = steps.iter().fold(noise.clone(), |noise, step| {
            let added = laws.switches(step.len(), limbs, limbs);
            noise.scaled(libm::log2(1.0 + step.len() as f64)).with(&added)
        });
        let all = if swap { doubled.scaled(1.0).with(&laws.switches(1, limbs, limbs)) } else { doubled };
        match self.method {
            Method::Fast => all.with(&laws.switches(1, limbs, limbs)).with(&self.parameters.laws().rounding(limbs)),
            Method::Linear => all,
        }
    }

    /// The norm of a matrix whose factors have uniform coefficients, as those of most functions have.
    fn usual_norm(&self) -> f64 {
        let coefficients = self.layout.factors() as f64 * self.layout.degree() as f64;
        let [_, results] = self.layout.blocks();
        self.parameters.modulus().log2() + libm::log2(coefficients / results as f64 / 12.0) / 2.0
    }

    /// Refuses a function of other numbers than those of the plan.
    ///
    /// # Errors
    /// [`Error::Length`].
    pub(super) fn check_domain(&self, function: &Function) -> Result<()> {
        let ([x, y], [columns, rows]) = (function.domain(), self.layout().domain());
        if [x, y] == [columns, rows] {
            return Ok(());
        }
        let needed = format!("{columns} times {rows} as in the plan");
        Err(Error::Length { what: "values of the function", found: x.saturating_mul(y), needed })
    }
}

/// How many special primes make a special modulus that is large enough for digits of one prime.
fn special_primes(parameters: &Parameters) -> Result<usize> {
    let rlwe = parameters.rlwe();
    let listed = rlwe.p().len();
    let largest = rlwe.q().iter().map(|&q| libm::log2(q as f64)).fold(0.0, f64::max);
    let bits = |special: usize| rlwe.p()[listed - special..].iter().map(|&p| libm::log2(p as f64)).sum::<f64>();
    if listed == 0 {
        return Err(Error::parameter("log_p", "empty", "at least one size, for key switching"));
    }
    Ok((1..=listed).find(|&special| bits(special) >= largest + SPECIAL_BITS).unwrap_or(listed))
}
