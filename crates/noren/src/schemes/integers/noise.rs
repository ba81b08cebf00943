//! The noise that a ciphertext carries: predicted from the operations alone, never measured.

use std::sync::OnceLock;

use noren_math::powerful::PowerfulBasis;
use noren_rlwe::error::Result;
use noren_rlwe::noise;
use noren_rlwe::parameters::Parameters;
use noren_rlwe::shape::KeyShape;

use crate::schemes::integers::modulus::PlaintextModulus;

/// A decryption fails with at most this probability, as base-two logarithm, if the budget is not negative.
pub const LOG2_FAILURE: f64 = -128.0;

/// The variance of rounding to integers: uniform on an interval of length 1.
const ROUNDING_VARIANCE: f64 = 1.0 / 12.0;
/// The largest moment that the bound on tails looks at: more would not lower it for one factor at [`LOG2_FAILURE`].
const MOMENTS: usize = 160;

/// The invariant noise `v` of a ciphertext, a part of its modulus: `t (c_0 + c_1 s) = Q (m + v) modulo t Q`. A decryption is
/// right where every coefficient of v is below 1/2 in absolute value.
///
/// In a ring of index m that is not a power of two, the noise is measured by its values at the primitive m-th roots of
/// unity (the canonical embedding), whose products and automorphisms are those of numbers: the variance of such a value
/// divided by n stands for that of a coefficient, which for a power of two it is. Decryption reads coefficients in the
/// powerful basis, which may be larger by the root of [`PowerfulBasis::growth`]: [`Laws::budget`] counts that.
///
/// Kept are the variances of the coefficients, those of products of d fresh errors apart for each d. Such a product is
/// larger than one Gaussian of the same variance where it is large, in two ways that are both counted: the secret enters it
/// d times, which raises the variance (the d-th moment of `|s(zeta)|^2` is d! times the power of its mean), and its tails are
/// heavier, which [`Noise::budget`] takes into account.
///
/// Errors that may have a source in common are added as if they had the worst signs: standard deviations add.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Noise {
    /// The base-two logarithm of the variance of the part of degree d; `-inf` where there is none.
    variances: Vec<f64>,
}

/// Degrees 0 to 2^10: parts of products of more fresh errors count in no chain of products that decrypts.
const MOST_DEGREES: usize = (1 << 10) + 1;

impl Noise {
    /// No noise.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Noise of this variance, given as base-two logarithm, that is a product of `degree` fresh errors.
    fn of(degree: usize, variance: f64) -> Self {
        let mut variances = vec![f64::NEG_INFINITY; degree + 1];
        variances[degree] = variance;
        Self { variances }
    }

    /// The base-two logarithms of the variances, from degree 0 up.
    pub(crate) fn variances(&self) -> &[f64] {
        &self.variances
    }

    /// Noise of these variances; `None` if one is larger or smaller than any modulus allows, or there are more degrees than
    /// products have factors.
    pub(crate) fn from_variances(variances: Vec<f64>) -> Option<Self> {
        /// No modulus is as large as `2^LARGEST`.
        const LARGEST: f64 = (1u64 << 16) as f64;
        let fits = |x: &f64| *x == f64::NEG_INFINITY || x.abs() <= LARGEST;
        (variances.len() <= MOST_DEGREES && variances.iter().all(fits)).then_some(Self { variances })
    }

    /// Whether the message is lost for certain, or there are more degrees than any ciphertext may have.
    pub(crate) fn is_lost(&self) -> bool {
        self.log2_std() >= 0.0 || self.variances.len() > MOST_DEGREES
    }

    /// `log2` of the standard deviation of a coefficient.
    #[must_use]
    pub fn log2_std(&self) -> f64 {
        let (numbers, scale) = linear(self.variances.iter().copied());
        f64::midpoint(scale, libm::log2(numbers.iter().sum()))
    }

    /// How many bits all coefficients stay below 1/2, but with the probability [`LOG2_FAILURE`]; negative if they may
    /// not. `n` is the degree of the ring, whose index is a power of two. Noise of more degrees than ciphertexts are read with has
    /// none.
    #[must_use]
    pub fn budget(&self, n: usize) -> f64 {
        if self.variances.len() > MOST_DEGREES {
            return f64::NEG_INFINITY;
        }
        let parts = self.variances.iter().enumerate().filter(|(_, x)| x.is_finite());
        let bound = parts.map(|(d, x)| x / 2.0 + log2_tail(d.max(1), n)).fold(f64::NEG_INFINITY, add_log2);
        -1.0 - bound
    }

    /// The sum of two noises that may be dependent: standard deviations add.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        self.join(other, |a, b| 2.0 * add_log2(a / 2.0, b / 2.0))
    }

    /// The sum of two independent noises: variances add.
    #[must_use]
    pub fn with(&self, other: &Self) -> Self {
        self.join(other, add_log2)
    }

    /// Multiplied by a number, given as base-two logarithm.
    #[must_use]
    pub fn scaled(&self, log2_factor: f64) -> Self {
        Self { variances: self.variances.iter().map(|x| x + 2.0 * log2_factor).collect() }
    }

    /// The noise of a product of two polynomials of degree n with these coefficients.
    fn times(&self, other: &Self, n: f64) -> Self {
        /// The products of parts up to which their logarithms are not more work than those that a convolution needs.
        const FEW: usize = 16;
        let few = self.variances.len() * other.variances.len() <= FEW;
        let variances = if few { self.direct_product(other, n) } else { self.convolution(other, n) };
        Self { variances }.trimmed()
    }

    /// The variances of a product, from the logarithms of each product of two parts.
    fn direct_product(&self, other: &Self, n: f64) -> Vec<f64> {
        let degrees = (self.variances.len() + other.variances.len()).saturating_sub(1);
        let moments = log2_moments(degrees, n);
        let mut variances = vec![f64::NEG_INFINITY; degrees];
        for (i, a) in self.variances.iter().enumerate() {
            for (j, b) in other.variances.iter().enumerate() {
                let growth = moments[i + j] - moments[i] - moments[j];
                variances[i + j] = add_log2(variances[i + j], a + b + libm::log2(n) + growth);
            }
        }
        variances
    }

    /// The variances of a product, with few logarithms.
    ///
    /// With [`log2_tilts`] added the growth of moments cancels, and the variances are the coefficients of a product of two
    /// polynomials, here in units of the largest of each. What underflows is below `2^-1000` of the largest part of the
    /// product with its tilt, and stays so in all products and sums that follow, whose tilted parts are sums of products of
    /// positive numbers. Tilts and tails together are below 200 bits: it never counts.
    fn convolution(&self, other: &Self, n: f64) -> Vec<f64> {
        let degrees = (self.variances.len() + other.variances.len()).saturating_sub(1);
        let tilts = log2_tilts(degrees, n);
        let tilted = |x: &Self| linear(x.variances.iter().zip(&tilts).map(|(x, tilt)| x + tilt));
        let ((a, a_scale), (b, b_scale)) = (tilted(self), tilted(other));
        let mut sums = vec![0.0; degrees];
        for (i, x) in a.iter().enumerate() {
            for (sum, y) in sums[i..].iter_mut().zip(&b) {
                *sum += x * y;
            }
        }
        let scale = a_scale + b_scale + libm::log2(n);
        sums.iter().zip(&tilts).map(|(&sum, tilt)| scale + libm::log2(sum) - tilt).collect()
    }

    /// Without the highest parts that are too small to count: less than `2^-24` of the bound.
    fn trimmed(mut self) -> Self {
        /// Twice 24 bits, as variances are.
        const NEGLIGIBLE_BITS: f64 = 48.0;
        /// The tail of a part, a variance too, grows by no more than this from one degree to the next.
        const TAIL_BITS: f64 = 3.0;
        /// The tail of a part of any degree is below `2 n 2^128` by the first moment, 146 bits at n = 2^17. In later products
        /// a part grows more than another by no more than the tilts of both, 14 bits each. The rest is for many such parts.
        const MOST_TAIL_BITS: f64 = 192.0;
        let largest = self.variances.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        while let Some(last) = self.variances.last()
            && last + MOST_TAIL_BITS.min(TAIL_BITS * (self.variances.len() as f64)) < largest - NEGLIGIBLE_BITS
        {
            self.variances.pop();
        }
        self
    }

    fn join(&self, other: &Self, op: impl Fn(f64, f64) -> f64) -> Self {
        let at = |x: &Self, i: usize| x.variances.get(i).copied().unwrap_or(f64::NEG_INFINITY);
        let degrees = self.variances.len().max(other.variances.len());
        Self { variances: (0..degrees).map(|i| op(at(self, i), at(other, i))).collect() }.trimmed()
    }
}

/// How an encryption is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Public,
    Symmetric,
}

/// How noise grows, for the numbers of one set of parameters. All laws are those of the average case: coefficients of
/// messages and ciphertexts are taken as uniform.
#[derive(Debug, Clone)]
pub struct Laws {
    n: f64,
    /// `log2` of how much larger coefficients may be than the noise that is predicted: 0 for powers of two.
    log2_growth: f64,
    log2_t: f64,
    /// The expected square norm of the secret.
    secret: f64,
    /// Variances, in units of coefficients.
    fresh_public: f64,
    fresh_symmetric: f64,
    /// Index l is for l limbs: the size of the modulus in bits, and the variance of one key switch without its rounding.
    log2_q: Vec<f64>,
    switch: Vec<f64>,
    /// The factor from that variance to the one of a relinearisation: 1 but for joint secrets.
    relinearization: f64,
    /// The factor from that variance to the one of a switch with a re-encryption key under a public key.
    public_switch: f64,
}

impl Laws {
    /// The laws of these parameters.
    #[must_use]
    pub fn new(parameters: &Parameters, modulus: PlaintextModulus) -> Self {
        let rounding = square(noise::rounding(parameters));
        let switch = |limbs| match (parameters.gadget(), limbs) {
            (None, _) | (_, 0) => 0.0,
            (Some(_), limbs) => (square(noise::key_switch(parameters, limbs)) - rounding).max(0.0),
        };
        let limbs = 0..=parameters.max_limbs();
        Self {
            n: parameters.degree() as f64,
            log2_growth: libm::log2(PowerfulBasis::growth(parameters.index())) / 2.0,
            log2_t: modulus.log2(),
            secret: noise::secret_square_norm(parameters),
            fresh_public: square(noise::fresh_public(parameters)),
            fresh_symmetric: square(noise::fresh_symmetric(parameters)),
            log2_q: limbs.clone().map(|limbs| parameters.log_q(limbs)).collect(),
            switch: limbs.map(switch).collect(),
            relinearization: noise::relinearization_growth(parameters),
            public_switch: noise::public_switch_growth(parameters),
        }
    }

    /// The laws for a secret of this square norm, and keys of this shape; for as many limbs as it has.
    ///
    /// # Errors
    /// [`Error::Parameters`](noren_rlwe::error::Error::Parameters) if the parameters have no keys of this shape.
    pub(crate) fn of_keys(&self, parameters: &Parameters, secret: f64, shape: KeyShape) -> Result<Self> {
        let rounding = square(noise::rounding(parameters));
        let switch = |limbs| match limbs {
            0 => Ok(0.0),
            _ => Ok((square(noise::key_switch_shaped(parameters, limbs, shape)?) - rounding).max(0.0)),
        };
        let switch = (0..=shape.limbs).map(switch).collect::<Result<_>>()?;
        Ok(Self { secret, switch, ..self.clone() })
    }

    /// The size of the modulus of `limbs` limbs in bits.
    ///
    /// # Panics
    /// If there are fewer limbs.
    #[must_use]
    pub fn log2_q(&self, limbs: usize) -> f64 {
        self.log2_q[limbs]
    }

    /// How many bits all coefficients of a noise stay below 1/2, but with the probability [`LOG2_FAILURE`]; negative if
    /// they may not.
    #[must_use]
    pub fn budget(&self, noise: &Noise) -> f64 {
        noise.budget(self.n as usize) - self.log2_growth
    }

    /// `log2` of the standard deviation that coefficients of a noise may have: see [`Noise`].
    #[must_use]
    pub fn log2_coefficient(&self, noise: &Noise) -> f64 {
        noise.log2_std() + self.log2_growth
    }

    /// A fresh encryption: its error, and the rounding of the message to a multiple of Q/t.
    pub(crate) fn fresh(&self, mode: Mode, limbs: usize) -> Noise {
        let error = match mode {
            Mode::Public => self.fresh_public,
            Mode::Symmetric => self.fresh_symmetric,
        };
        self.of_error(1, error + ROUNDING_VARIANCE, limbs)
    }

    /// The rounding of a plaintext that is added.
    pub(crate) fn plain_rounding(&self, limbs: usize) -> Noise {
        self.of_error(1, ROUNDING_VARIANCE, limbs)
    }

    /// The rounding of two parts to `limbs` limbs: `t/Q sqrt((|s|^2 + 1)/12)`.
    #[must_use]
    pub fn rounding(&self, limbs: usize) -> Noise {
        self.of_error(1, ROUNDING_VARIANCE * (1.0 + self.secret), limbs)
    }

    /// The noise of `terms` key switches at these limbs, divided once, by the special modulus and all limbs but the first `kept`.
    #[must_use]
    pub fn switches(&self, terms: usize, limbs: usize, kept: usize) -> Noise {
        self.of_error(1, terms as f64 * self.switch[limbs], limbs).with(&self.rounding(kept))
    }

    /// The noise of a relinearisation at these limbs, divided as [`Laws::switches`] says.
    #[must_use]
    pub fn relinearizes(&self, limbs: usize, kept: usize) -> Noise {
        // Errors of joint keys are products of a secret and an error themselves.
        let degree = if self.relinearization == 1.0 { 1 } else { 2 };
        self.of_error(degree, self.relinearization * self.switch[limbs], limbs).with(&self.rounding(kept))
    }

    /// The noise of a switch at these limbs with a re-encryption key under a public key, whose errors are products of a mask or a secret
    /// and an error.
    pub(crate) fn switches_for(&self, limbs: usize) -> Noise {
        self.of_error(2, self.public_switch * self.switch[limbs], limbs).with(&self.rounding(limbs))
    }

    /// The noise of `terms` key switches that are not divided by the special modulus yet.
    pub(crate) fn undivided_switches(&self, terms: usize, limbs: usize) -> Noise {
        self.of_error(1, terms as f64 * self.switch[limbs], limbs)
    }

    /// A product that is scaled by t/Q, at `limbs` limbs, before it is relinearised: see
    /// [`bfv`](crate::schemes::bfv).
    #[must_use]
    pub fn scaled_product(&self, a: &Noise, b: &Noise, limbs: usize) -> Noise {
        // A phase is `Q (m/t + k) + e`, k the rounding of both parts divided by Q: `t k + m` multiplies the other's noise.
        let wrapped = 2.0 * self.log2_t + libm::log2(ROUNDING_VARIANCE * (1.0 + self.secret));
        let message = 2.0 * self.log2_t + libm::log2(ROUNDING_VARIANCE);
        let multiplier = Noise::of(1, wrapped).with(&Noise::of(0, message));
        // The second operand is rounded to the auxiliary modulus, which may be one bit smaller than Q.
        let b = b.with(&self.rounding(limbs).scaled(1.0));
        let linear = a.times(&multiplier, self.n).plus(&b.times(&multiplier, self.n));
        // The three parts are rounded; `|s^2|^2` is about `2 |s|^4`.
        let rounded = ROUNDING_VARIANCE * (1.0 + self.secret + 2.0 * square(self.secret));
        linear.plus(&a.times(&b, self.n)).with(&self.of_error(2, rounded, limbs))
    }

    /// A product of phases that are small modulo Q once multiplied by t, before it is relinearised: see
    /// [`bgv`](crate::schemes::bgv).
    #[must_use]
    pub fn phase_product(&self, a: &Noise, b: &Noise, limbs: usize) -> Noise {
        // A square has twice the variance of a product of independent factors; equal ones are not told from others.
        a.times(b, self.n).scaled(self.log2_q[limbs] + 0.5)
    }

    /// Noise that is uniform from `-2^bits` to `2^bits`, in units of coefficients at `limbs` limbs.
    pub(crate) fn uniform(&self, bits: f64, limbs: usize) -> Noise {
        self.of_error(1, libm::exp2(2.0 * bits) / 3.0, limbs)
    }

    /// Noise of an error of this variance in units of coefficients, at `limbs` limbs.
    fn of_error(&self, degree: usize, variance: f64, limbs: usize) -> Noise {
        Noise::of(degree, 2.0 * (self.log2_t - self.log2_q[limbs]) + libm::log2(variance))
    }
}

/// `log2(2^a + 2^b)`.
fn add_log2(a: f64, b: f64) -> f64 {
    let (high, low) = if a >= b { (a, b) } else { (b, a) };
    if low == f64::NEG_INFINITY { high } else { high + libm::log2(1.0 + libm::exp2(low - high)) }
}

/// The numbers with these base-two logarithms in units of the largest, and the logarithm of that.
fn linear(logarithms: impl Iterator<Item = f64> + Clone) -> (Vec<f64>, f64) {
    let scale = logarithms.clone().fold(f64::NEG_INFINITY, f64::max);
    let number = |x| if x == f64::NEG_INFINITY { 0.0 } else { libm::exp2(x - scale) };
    (logarithms.map(number).collect(), scale)
}

/// `log2` of how much smaller moments are than if they grew by the most, `log n`, from the first on: none for degree 0, and
/// the same for all degrees above `log n`, where it is largest.
fn log2_tilts(count: usize, n: f64) -> Vec<f64> {
    let most = libm::log2(libm::log(n).max(1.0));
    log2_moments(count, n).iter().enumerate().map(|(d, moment)| d as f64 * most - moment).collect()
}

/// `log2` of the first moments of `|s(zeta)|^2` over the n/2 pairs of roots, in powers of the mean: d! for a few, and from
/// one to the next no more than the largest of all pairs, about `log n`.
fn log2_moments(count: usize, n: f64) -> Vec<f64> {
    let most = libm::log(n).max(1.0);
    let grown = |moment: &mut f64, d: usize| {
        *moment += libm::log2((d as f64).clamp(1.0, most));
        Some(*moment)
    };
    (0..count).scan(0.0, grown).collect()
}

/// `log2` of how many standard deviations a product of d Gaussian errors stays below, in all of n coefficients but with
/// the probability [`LOG2_FAILURE`].
///
/// By Markov's inequality for the moment of order l, which is at most `l!^d` times a power of the variance: `T^2 = 2 min_l
/// (n l!^d / p)^(1/l)`. For d = 1 it is the bound of a Gaussian.
fn log2_tail(d: usize, n: usize) -> f64 {
    let events = libm::log2(n as f64) - LOG2_FAILURE;
    let mut least = f64::INFINITY;
    for (l, factorial) in log2_factorials().iter().enumerate().skip(1) {
        let bound = (d as f64 * factorial + events) / l as f64;
        // Bounds fall to one minimum and rise from there: `l log2(l + 1) - log2 l!` grows with l.
        if bound > least {
            break;
        }
        least = bound;
    }
    f64::midpoint(1.0, least)
}

/// `log2 l!` for all l up to [`MOMENTS`].
fn log2_factorials() -> &'static [f64; MOMENTS + 1] {
    static TABLE: OnceLock<[f64; MOMENTS + 1]> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut table = [0.0; MOMENTS + 1];
        for l in 1..=MOMENTS {
            table[l] = table[l - 1] + libm::log2(l as f64);
        }
        table
    })
}

fn square(x: f64) -> f64 {
    x * x
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schemes::bgv::Bgv;
    use crate::schemes::integers::Requirements;
    use crate::schemes::integers::scheme::product;

    #[test]
    fn the_tail_of_one_error_is_that_of_a_gaussian() {
        // Moments give away a factor sqrt(2 pi l) of 2^4.6, and what the tail falls faster than exp(-T^2/2), T sqrt(pi/2) or
        // 2^4.2: 9 bits of the exponent.
        let tail = libm::exp2(log2_tail(1, 1 << 15));
        let failure = libm::log2(f64::from(1 << 15) * libm::erfc(tail / std::f64::consts::SQRT_2));
        assert!((LOG2_FAILURE - 9.0..=LOG2_FAILURE).contains(&failure), "{tail}: 2^{failure}");
    }

    #[test]
    fn tails_and_moments_grow_with_the_number_of_factors() {
        for d in 1..20 {
            assert!(log2_tail(d + 1, 1 << 12) > log2_tail(d, 1 << 12));
        }
        let moments = log2_moments(20, 4096.0);
        assert!((moments[4] - libm::log2(24.0)).abs() < 1e-12 && moments.is_sorted());
        // Never more than the largest of 2048 exponentials, log 4096 = 8.3.
        assert!((moments[19] - moments[18] - libm::log2(libm::log(4096.0))).abs() < 1e-12);
    }

    /// Noise of `parts` parts, spread over `bits` bits, one of eight missing.
    fn random(generator: &mut u64, parts: usize, bits: f64) -> Noise {
        let mut uniform = || {
            *generator = generator.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (*generator >> 11) as f64 / (1u64 << 53) as f64
        };
        let part = |_| if uniform() < 0.125 { f64::NEG_INFINITY } else { -bits * uniform() - 20.0 };
        Noise { variances: (0..parts).map(part).collect() }
    }

    #[test]
    fn a_convolution_is_the_direct_sum_of_logarithms() {
        let mut generator = 1;
        for (parts, others) in [(1, 1), (2, 3), (5, 5), (8, 20), (30, 30), (0, 4)] {
            for bits in [1.0, 60.0, 400.0] {
                let (a, b) = (random(&mut generator, parts, bits), random(&mut generator, others, bits));
                for n in [256.0, 32768.0] {
                    let (fast, direct) = (a.convolution(&b, n), a.direct_product(&b, n));
                    assert_eq!(fast.len(), direct.len());
                    // Tens of additions of numbers below 2^10, each right to 2^-53 of it.
                    let close = |(x, y): (&f64, &f64)| x == y || (x - y).abs() < 1e-10;
                    assert!(fast.iter().zip(&direct).all(close), "{fast:?}\n{direct:?}");
                }
            }
        }
    }

    #[test]
    fn a_chain_of_ten_squarings_keeps_few_degrees_and_its_bound() {
        let parameters = Requirements { depth: 10, ..Requirements::default() }.choose::<Bgv>().expect("a depth");
        let (laws, n) = (parameters.laws(), parameters.degree());
        let mut limbs = parameters.max_limbs();
        let mut noise = laws.fresh(Mode::Public, limbs);
        let mut whole = noise.clone();
        for _ in 0..10 {
            let scale = 2.0 * (laws.log2_q(limbs) + 0.5);
            whole.variances = whole.convolution(&whole, n as f64).iter().map(|x| x + scale).collect();
            let (product, kept) = product::<Bgv>(laws, &noise, &noise, limbs);
            whole.variances[1] = add_log2(whole.variances[1], laws.relinearizes(limbs, kept).variances[1]);
            (noise, limbs) = (product, kept);
            assert!(noise.variances.len() <= 140, "{}", noise.variances.len());
            let lost = noise.budget(n) - whole.budget(n);
            assert!(lost.abs() < 1e-9, "{lost}");
        }
        assert_eq!(whole.variances.len(), 1025);
    }

    #[test]
    fn noise_that_is_not_read_leaves_no_budget() {
        for (degree, is_read) in [(MOST_DEGREES - 1, true), (MOST_DEGREES, false)] {
            let noise = Noise::of(degree, -60_000.0);
            let again = Noise::from_variances(noise.variances().to_vec());
            assert_eq!([noise.budget(1024) >= 0.0, again.is_some()], [is_read; 2]);
        }
    }

    #[test]
    fn sums_of_equal_noise_double_and_of_independent_noise_do_not() {
        let noise = Noise::of(1, -40.0).with(&Noise::of(3, -50.0));
        assert!((noise.plus(&noise).log2_std() - noise.log2_std() - 1.0).abs() < 1e-12);
        assert!((noise.with(&noise).log2_std() - noise.log2_std() - 0.5).abs() < 1e-12);
        assert_eq!(noise.plus(&Noise::none()), noise);
        assert!((noise.scaled(3.0).budget(256) - noise.budget(256) + 3.0).abs() < 1e-12);
    }
}
