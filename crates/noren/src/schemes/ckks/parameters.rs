//! CKKS parameters: sizes of primes, from which the primes and the chain of scales follow.

use std::sync::Arc;

use noren_math::prime::primes_near;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::parameters as rlwe;
use noren_rlwe::security::{SecretDistribution, Security};
use noren_rlwe::sizes;

use crate::schemes::ckks::scale::Scale;

/// Scales stay between these numbers of bits, as the sizes of primes do.
const MIN_BITS: u32 = *sizes::BITS.start();
const MAX_BITS: u32 = *sizes::BITS.end();

/// The description of parameters; [`ParametersSpec::build`] chooses the primes and checks everything.
///
/// The scale of a fresh ciphertext at the highest level L is `S_L = 2^log_scale`. A product at level l has scale
/// `S_l^2`, and rescaling divides it by the prime `q_l`: the chain of scales is `S_{l-1} = S_l^2 / q_l`. A deviation of `S_l`
/// from `2^log_scale` doubles at every level, so the primes are chosen from the top, each as near as possible to `S_l^2
/// / 2^log_scale`: then all scales stay as near to `2^log_scale` as primes lie dense.
///
/// With [`restarts`](Self::restarts) the levels fall into stages, each with a chain of scales of its own. Where a stage ends, a
/// product of canonical operands is *not* at the canonical scale of the level below; what takes its scale from the level
/// (constants, weighted sums, lowering) leads from one stage to the next.
///
/// # Examples
/// ```
/// use noren::schemes::ckks::ParametersSpec;
///
/// let parameters = ParametersSpec {
///     log_n: 14,
///     log_q: vec![50, 40, 40, 40],
///     log_p: vec![50],
///     log_scale: 40,
///     ..ParametersSpec::default()
/// }
/// .build()?;
/// assert_eq!((parameters.max_slots(), parameters.max_level()), (8192, 3));
/// # Ok::<(), noren::error::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ParametersSpec {
    /// The base-two logarithm of the degree n of the ring, 3 to 17. There are n/2 slots.
    pub log_n: u32,
    /// The sizes of the primes `q_0 ... q_L` in bits, 20 to 50. `q_0` holds the results: they reach `2^(log q_0 -
    /// log_scale - 1)`. Those equal to the scale of their stage follow the chain of scales; one of another size moves the scales
    /// below it. The last prime of a stage has exactly its size.
    pub log_q: Vec<u32>,
    /// The sizes of the special primes of key switching in bits, 20 to 50. Without any there are no evaluation keys.
    pub log_p: Vec<u32>,
    /// The base-two logarithm of the scale of fresh ciphertexts, 20 to 50.
    pub log_scale: u32,
    /// Levels where the chain of scales starts anew, and the base-two logarithm of the scale there, 20 to 50; descending, all
    /// below the highest level. Mostly empty: one scale for all levels.
    pub restarts: Vec<(usize, u32)>,
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
    /// `q_L` down to `q_1` come first, each the unused prime that is 1 modulo 2n and nearest to its target; then `q_0`
    /// and the special primes, each the largest unused one of its size.
    ///
    /// # Errors
    /// [`Error::Parameters`] names what is outside the supported range: a size, a chain of scales that leaves `2^20` to `2^50`, a
    /// restart out of order, a size without a prime. [`Error::Insecure`] says how large the modulus may be.
    pub fn build(self) -> Result<Parameters> {
        sizes::power_of_two(self.log_n)?;
        sizes::check(&self.log_q, &self.log_p, &[("log_scale", self.log_scale)])?;
        self.check_restarts()?;
        let step = 2u64 << self.log_n;
        let mut used = Vec::new();
        let mut restarts = self.restarts.iter().peekable();
        let mut log_nominal = self.log_scale;
        let mut scale = Scale::from_log2(log_nominal);
        let mut scales = vec![scale];
        for (below, &bits) in self.log_q[1..].iter().enumerate().rev() {
            let restart = restarts.next_if(|(level, _)| *level == below);
            let follows = bits == log_nominal && restart.is_none();
            let nominal = Scale::from_log2(bits);
            let target = if follows { scale.mul(&scale).div(&nominal) } else { nominal };
            let near = primes_near(target.to_f64(), step, |prime| !used.contains(&prime)).next();
            let prime =
                near.filter(|&prime| is_near(prime, target.to_f64())).ok_or_else(|| no_prime("log_q", bits, step))?;
            used.push(prime);
            scale = if let Some(&(_, bits)) = restart {
                log_nominal = bits;
                Scale::from_log2(bits)
            } else {
                scale.mul(&scale).div_u64(prime)
            };
            check_scale(&scale, scales.len())?;
            scales.push(scale);
        }
        scales.reverse();
        let mut q = used.clone();
        let mut largest = |name, bits: u32| {
            let found = sizes::largest_prime(bits, step, |prime| !used.contains(&prime));
            let prime = found.ok_or_else(|| no_prime(name, bits, step))?;
            used.push(prime);
            Ok::<_, Error>(prime)
        };
        q.push(largest("log_q", self.log_q[0])?);
        q.reverse();
        let p = self.log_p.iter().map(|&bits| largest("log_p", bits)).collect::<Result<_>>()?;
        let (index, dnum, secret, security) = (2 << self.log_n, self.dnum, self.secret, self.security);
        let rlwe = rlwe::ParametersSpec { index, q, p, auxiliary: Vec::new(), dnum, secret, security }.build()?;
        let fingerprint = fingerprint(&rlwe, &scales);
        let spec = Self { dnum: rlwe.dnum(), ..self };
        Ok(Parameters(Arc::new(Inner { spec, rlwe, scales, fingerprint })))
    }

    fn check_restarts(&self) -> Result<()> {
        let mut above = self.log_q.len() - 1;
        for &(level, bits) in &self.restarts {
            if level >= above {
                return Err(Error::parameter(
                    "restarts",
                    format!("level {level}"),
                    format!("descending levels below {above}"),
                ));
            }
            if !(MIN_BITS..=MAX_BITS).contains(&bits) {
                return Err(Error::parameter("restarts", format!("2^{bits}"), format!("2^{MIN_BITS} to 2^{MAX_BITS}")));
            }
            above = level;
        }
        Ok(())
    }
}

/// Checked parameters. Immutable, and cheap to clone.
#[derive(Debug, Clone)]
pub struct Parameters(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    spec: ParametersSpec,
    rlwe: rlwe::Parameters,
    /// Index l is the scale of level l.
    scales: Vec<Scale>,
    fingerprint: [u8; 32],
}

impl Parameters {
    /// The ring, the primes and the security, without the scales.
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

    /// The largest number of slots: half the degree.
    #[must_use]
    pub fn max_slots(&self) -> usize {
        self.degree() / 2
    }

    /// The level of fresh ciphertexts: how many multiplications can follow one another.
    #[must_use]
    pub fn max_level(&self) -> usize {
        self.rlwe().max_limbs() - 1
    }

    /// The canonical scale of a level: `S_l`.
    ///
    /// # Panics
    /// If there is no such level.
    #[must_use]
    pub fn scale_at(&self, level: usize) -> &Scale {
        assert!(level <= self.max_level(), "level {level} of {}", self.max_level());
        &self.0.scales[level]
    }

    /// Whether products of canonical operands at this level are canonical one level below: not where the
    /// [chain of scales starts anew](ParametersSpec::restarts), and not at level 0.
    pub(crate) fn follows(&self, level: usize) -> bool {
        level > 0 && self.spec().restarts.iter().all(|&(restart, _)| restart != level - 1)
    }

    /// The base-two logarithm of the scale at the highest level.
    #[must_use]
    pub fn log_scale(&self) -> u32 {
        self.0.spec.log_scale
    }

    /// The BLAKE3 digest of the text `noren-ckks-parameters-v1`, the fingerprint of [`Parameters::rlwe`], and the
    /// scales from level 0 up, each as the bits of its two `f64` parts in little-endian order.
    #[must_use]
    pub fn fingerprint(&self) -> [u8; 32] {
        self.0.fingerprint
    }

    /// The prime that rescaling from this level divides by.
    pub(crate) fn prime(&self, level: usize) -> u64 {
        self.rlwe().q()[level]
    }
}

impl PartialEq for Parameters {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
            || (self.fingerprint() == other.fingerprint() && self.rlwe().security() == other.rlwe().security())
    }
}

impl Eq for Parameters {}

/// Whether a prime is within half a bit of its target: otherwise there is none of that size.
fn is_near(prime: u64, target: f64) -> bool {
    let ratio = prime as f64 / target;
    ratio * ratio < 2.0 && ratio * ratio > 0.5
}

fn no_prime(name: &'static str, bits: u32, step: u64) -> Error {
    Error::parameter(
        name,
        format!("{bits} bits once more"),
        format!("a size with an unused prime that is 1 modulo {step}"),
    )
}

/// Refuses a scale that the levels above have led astray.
fn check_scale(scale: &Scale, steps: usize) -> Result<()> {
    let bits = scale.log2();
    // To the nearest bit: primes are below 2^50, so that a chain of scales at 2^50 rises a little.
    if (f64::from(MIN_BITS)..=f64::from(MAX_BITS)).contains(&bits.round()) {
        return Ok(());
    }
    let found = format!("such that the scale is 2^{bits:.1} {steps} levels below the highest");
    Err(Error::parameter("log_q", found, format!("such that all scales stay between 2^{MIN_BITS} and 2^{MAX_BITS}")))
}

fn fingerprint(rlwe: &rlwe::Parameters, scales: &[Scale]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"noren-ckks-parameters-v1");
    hasher.update(&rlwe.fingerprint());
    for scale in scales {
        let (high, low) = scale.parts();
        hasher.update(&high.to_bits().to_le_bytes());
        hasher.update(&low.to_bits().to_le_bytes());
    }
    hasher.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(log_q: Vec<u32>) -> ParametersSpec {
        ParametersSpec {
            log_n: 10,
            log_q,
            log_p: vec![50],
            log_scale: 40,
            security: Security::None,
            ..Default::default()
        }
    }

    #[test]
    fn scales_stay_near_the_nominal_one_at_any_depth() {
        let parameters = spec([vec![50], vec![40; 40]].concat()).build().expect("supported");
        assert_eq!(parameters.scale_at(40), &Scale::from_log2(40));
        for level in 0..40 {
            let deviation = parameters.scale_at(level).to_f64() / 2f64.powi(40) - 1.0;
            assert!(deviation.abs() < 2f64.powi(-15), "level {level}: {deviation:e}");
            let next = parameters.scale_at(level + 1);
            assert_eq!(parameters.scale_at(level), &next.mul(next).div_u64(parameters.prime(level + 1)));
        }
    }

    #[test]
    fn every_stage_has_a_scales_of_its_own() {
        // The chain of a bootstrapping: 4 matrices, 9 levels of 50 bits, 12 of 42, 3 matrices.
        let log_q = [vec![49], vec![34; 3], vec![42; 12], vec![50; 9], vec![47; 4]].concat();
        let restarts = vec![(27, 50), (26, 50), (25, 50), (24, 50), (15, 42), (2, 42), (1, 42), (0, 42)];
        let chain = ParametersSpec {
            log_n: 16,
            log_p: vec![50; 9],
            log_scale: 50,
            restarts: restarts.clone(),
            ..spec(log_q.clone())
        };
        let parameters = chain.build().expect("supported");
        for &(level, bits) in &restarts {
            assert_eq!(parameters.scale_at(level), &Scale::from_log2(bits), "level {level}");
            assert!(!parameters.follows(level + 1));
        }
        for (level, &bits) in log_q.iter().enumerate() {
            let nominal = if level >= 16 { 50 } else { 42 };
            let deviation = parameters.scale_at(level).deviation_from(&Scale::from_log2(nominal)).abs();
            assert!(deviation < 2f64.powi(-15), "level {level}: {deviation:e}");
            if parameters.follows(level) {
                let scale = parameters.scale_at(level);
                let below = scale.mul(scale).div_u64(parameters.prime(level));
                assert_eq!(&below, parameters.scale_at(level - 1), "level {level}");
            }
            let size = (parameters.prime(level) as f64).log2() - f64::from(bits);
            assert!(size.abs() < 2f64.powi(-6) && parameters.prime(level) < 1 << 50, "level {level}: {size:e}");
        }
        assert_eq!((0..=28).filter(|&level| parameters.follows(level)).count(), 28 - restarts.len());
    }

    #[test]
    fn restarts_out_of_order_or_range_are_refused() {
        for restarts in [vec![(2, 40)], vec![(0, 40), (1, 40)], vec![(1, 40), (1, 40)], vec![(1, 51)], vec![(0, 19)]] {
            let refused = ParametersSpec { restarts: restarts.clone(), ..spec(vec![50, 40, 40]) }.build();
            assert!(matches!(refused, Err(Error::Parameters { name: "restarts", .. })), "{restarts:?}");
        }
        let few = ParametersSpec { restarts: vec![(0, 40)], ..spec(vec![50]) }.build();
        assert!(matches!(few, Err(Error::Parameters { name: "restarts", .. })));
    }

    #[test]
    fn primes_are_distinct_and_in_their_order() {
        let parameters = spec(vec![50, 40, 45, 40, 40]).build().expect("supported");
        let bits: Vec<u32> = parameters.rlwe().q().iter().map(|&q| (q as f64).log2().round() as u32).collect();
        assert_eq!(bits[0], 50);
        assert_eq!(bits[2..], [45, 40, 40]);
        // 2^80 / 2^45: the scale below the larger prime is smaller, and the chain of scales leads back: (2^35)^2 / 2^40.
        assert_eq!(parameters.scale_at(1).log2().round(), 35.0);
        assert_eq!(bits[1], 30);
        assert_eq!(parameters.scale_at(0).log2().round(), 40.0);
    }

    #[test]
    fn unsupported_sizes_are_named() {
        let name = |spec: ParametersSpec| match spec.build() {
            Err(Error::Parameters { name, .. }) => name,
            other => panic!("{other:?} was not expected"),
        };
        assert_eq!(name(spec(vec![])), "log_q");
        assert_eq!(name(spec(vec![51])), "log_q");
        assert_eq!(name(spec(vec![50, 19])), "log_q");
        assert_eq!(name(ParametersSpec { log_n: 18, ..spec(vec![50]) }), "log_n");
        assert_eq!(name(ParametersSpec { log_scale: 60, ..spec(vec![50]) }), "log_scale");
        assert_eq!(name(ParametersSpec { log_p: vec![10], ..spec(vec![50]) }), "log_p");
        // 2^80 / 2^50 = 2^30, and once more with a prime of 50 bits 2^10.
        assert_eq!(name(spec(vec![50, 50, 50])), "log_q");
        // There is no prime of 20 bits that is 1 modulo 2^18.
        assert_eq!(name(ParametersSpec { log_n: 17, log_p: vec![20; 3], ..spec(vec![50]) }), "log_p");
    }

    #[test]
    fn fingerprint_covers_the_scale() {
        let base = spec(vec![50, 45]).build().expect("supported");
        let same = spec(vec![50, 45]).build().expect("supported");
        assert_eq!(base, same);
        let other = ParametersSpec { log_scale: 41, ..spec(vec![50, 45]) }.build().expect("supported");
        assert_eq!(base.rlwe().fingerprint(), other.rlwe().fingerprint());
        assert_ne!(base, other);
    }

    #[test]
    fn insecure_parameters_are_refused() {
        let refused = ParametersSpec { security: Security::Bits128, ..spec(vec![50, 40]) }.build();
        assert!(matches!(refused, Err(Error::Insecure { n: 1024, .. })));
    }
}
