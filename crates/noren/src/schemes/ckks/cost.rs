//! How long key switching takes: from the shape of the parameters and the speed of a machine.

use std::sync::Arc;
use std::time::Instant;

use noren_math::random::Seed;
use noren_ring::gadget::Gadget;
use noren_rlwe::ciphertext as rlwe;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::galois::sum_automorphisms;
use noren_rlwe::keygen::KeyGenerator;
use noren_rlwe::keys::{EvaluationKeys, KeySwitchKey};

use crate::schemes::ckks::context::Context;
use crate::schemes::ckks::parameters::Parameters;
use crate::schemes::costs::RotationCosts;

/// The speed of a machine at what key switching is made of, in nanoseconds for one word of one thread.
///
/// With n coefficients, l limbs, k special primes and digits of `a_1 ... a_b` limbs, the rotations of a sum share the
/// decomposition, `b (l + k)` rows to transform and `sum_j a_j (l + k - a_j)` to multiply and add, and the division of the
/// second part, `k + l` rows and `k l`; that of the first part is as much, once for all sums in a row. Each rotation
/// reads the `2 b (l + k)` rows of its key, and takes `3 (l + k)` rows of images: of two inner products and the first part.
///
/// # Examples
/// ```
/// use noren::circuits::trace::Unrolling;
/// use noren::ckks::{CostModel, ParametersSpec};
///
/// let spec = ParametersSpec { log_n: 14, log_q: vec![48, 40, 40], log_p: vec![48], log_scale: 40, ..Default::default() };
/// let costs = CostModel::default().rotations(&spec.build()?, 2)?;
/// let plan = Unrolling::fastest(128, 1, &costs, 256 << 20)?;
/// assert!(plan.cost(&costs) < Unrolling::unrolled(128, 1, 7)?.cost(&costs));
/// # Ok::<(), noren::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CostModel {
    /// One of the `log2 n` layers of a transform.
    pub transform: f64,
    /// One product with its sum, in a conversion to another modulus.
    pub convert: f64,
    /// One word of a key, or two thirds of a word of an image, where the keys lie in the cache.
    pub cached: f64,
    /// The same where the keys come from memory.
    pub streamed: f64,
    /// The bytes of the cache that all threads share.
    pub cache_bytes: u64,
}

/// The cost of a word of an image, in words of a key.
const IMAGE_WEIGHT: f64 = 1.5;
/// The rotations of sums that show what a rotation costs with its key in the cache.
const CACHED_ROTATIONS: usize = 4;
/// So much more than the cache holds is out of the cache.
const STREAMED_CACHES: u64 = 2;
/// The number of runs, of which the fastest counts: others were disturbed.
const RUNS: usize = 5;

impl Default for CostModel {
    /// The figures of one core with AVX-512 at 3.7 GHz and a cache of 32 MiB (Zen 4), so that plans do not depend on the
    /// machine they are made on.
    fn default() -> Self {
        Self { transform: 0.089, convert: 0.34, cached: 0.27, streamed: 0.34, cache_bytes: 32 << 20 }
    }
}

impl CostModel {
    /// The speed of this machine at a level, by timing sums of rotations there, with all threads of the context.
    ///
    /// Takes some tens of milliseconds, and keys of twice the size of the cache.
    ///
    /// # Errors
    /// [`Error::LevelExhausted`] if there is no such level, [`Error::Parameters`] without special primes.
    pub fn measure(context: &Context, level: usize) -> Result<Self> {
        let shape = Shape::new(context.parameters(), level)?;
        let cache_bytes = shared_cache_bytes().unwrap_or(Self::default().cache_bytes);
        let limbs = level + 1;
        let ring = context.rlwe().ring_q(limbs);

        // The secret in the key does not matter, nor that it is no key of these rotations.
        let generator = KeyGenerator::new(context.rlwe(), Seed::from_bytes([0; 32]));
        let key = Arc::new(generator.relinearization(&generator.secret(), Some(limbs))?);
        let ciphertext = rlwe::Ciphertext::new(vec![ring.zero(), ring.zero()], key.owner().key);
        let many = (STREAMED_CACHES * cache_bytes / shape.key_bytes()) as usize + CACHED_ROTATIONS;
        let sums = [
            Sum::new(context, 1, &key, Arc::clone)?,
            Sum::new(context, CACHED_ROTATIONS, &key, Arc::clone)?,
            Sum::new(context, many, &key, |key| Arc::new(KeySwitchKey::clone(key)))?,
        ];
        // In turns, so that what disturbs for a while disturbs all.
        let mut transforms = f64::INFINITY;
        let mut shortest = [f64::INFINITY; 3];
        for _ in 0..RUNS {
            transforms = transforms.min(time(|| Ok(ring.ntt(ring.intt(ring.zero()))))?);
            for (shortest, sum) in shortest.iter_mut().zip(&sums) {
                *shortest = shortest.min(time(|| sum.run(context, &ciphertext))?);
            }
        }
        let [one, cached, streamed] = shortest;

        let transform = transforms / (2.0 * limbs as f64 * shape.words_per_row() * shape.log_n);
        // A difference of two times: no product is faster than a layer.
        let rotation = (cached - one) / (CACHED_ROTATIONS - 1) as f64;
        let rotation = rotation.max(transform * shape.rotation_words());
        let whole = one - rotation;
        let from_memory = (streamed - whole) / many as f64;
        let [shared, end] = [shape.shared(), shape.end()];
        let transformed = transform * (shared.transforms + end.transforms);
        let convert = (whole - transformed) / (shared.conversions + end.conversions);
        Ok(Self {
            transform,
            convert: convert.max(0.0),
            cached: rotation / shape.rotation_words(),
            streamed: from_memory.max(rotation) / shape.rotation_words(),
            cache_bytes,
        })
    }

    /// The costs of rotations of ciphertexts of a level.
    ///
    /// # Errors
    /// As [`measure`](Self::measure).
    pub fn rotations(&self, parameters: &Parameters, level: usize) -> Result<RotationCosts> {
        Ok(self.costs(&Shape::new(parameters, level)?))
    }

    /// The costs of rotations with keys of another shape: `limbs` limbs, `special` special primes, and this gadget.
    pub(crate) fn rotations_shaped(&self, log_n: u32, limbs: usize, special: usize, gadget: &Gadget) -> RotationCosts {
        let digits = gadget.digits_at(limbs).into_iter().map(|digit| digit.len() as f64).collect();
        self.costs(&Shape { log_n: f64::from(log_n), limbs: limbs as f64, special: special as f64, digits })
    }

    fn costs(&self, shape: &Shape) -> RotationCosts {
        RotationCosts {
            shared: self.time(&shape.shared()),
            end: self.time(&shape.end()),
            cached: self.cached * shape.rotation_words(),
            streamed: self.streamed * shape.rotation_words(),
            key_bytes: shape.key_bytes(),
            cache_bytes: self.cache_bytes,
        }
    }

    fn time(&self, work: &Work) -> f64 {
        self.transform * work.transforms + self.convert * work.conversions
    }
}

/// The common costs of the rotations of a sum, or of sums in a row.
struct Work {
    /// Words times layers of transforms.
    transforms: f64,
    /// Words times terms of conversions.
    conversions: f64,
}

/// The numbers that costs depend on.
struct Shape {
    log_n: f64,
    limbs: f64,
    special: f64,
    /// The limbs of each digit.
    digits: Vec<f64>,
}

impl Shape {
    fn new(parameters: &Parameters, level: usize) -> Result<Self> {
        let rlwe = parameters.rlwe();
        if level > parameters.max_level() {
            return Err(Error::LevelExhausted { needed: level, left: parameters.max_level() });
        }
        let needed = "at least one special prime, which key switching divides by";
        let gadget = rlwe.gadget().ok_or_else(|| Error::parameter("log_p", "empty", needed))?;
        Ok(Self {
            log_n: f64::from(rlwe.log_n()?),
            limbs: (level + 1) as f64,
            special: rlwe.p().len() as f64,
            digits: gadget.digits_at(level + 1).into_iter().map(|digit| digit.len() as f64).collect(),
        })
    }

    fn words_per_row(&self) -> f64 {
        libm::exp2(self.log_n)
    }

    fn all_limbs(&self) -> f64 {
        self.limbs + self.special
    }

    /// The common costs of the rotations of a sum: the decomposition, and the division of the second part.
    fn shared(&self) -> Work {
        let (digits, end) = (self.digits.len() as f64, self.end());
        let terms: f64 = self.digits.iter().map(|a| a * (self.all_limbs() - a)).sum();
        Work {
            transforms: end.transforms + digits * self.all_limbs() * self.words_per_row() * self.log_n,
            conversions: end.conversions + terms * self.words_per_row(),
        }
    }

    /// The common costs of sums in a row: the division of the first part.
    fn end(&self) -> Work {
        Work {
            transforms: self.all_limbs() * self.words_per_row() * self.log_n,
            conversions: self.special * self.limbs * self.words_per_row(),
        }
    }

    /// Words of a key and weighted words of images of one rotation.
    fn rotation_words(&self) -> f64 {
        let images = 3.0 * self.all_limbs();
        self.key_rows() * self.words_per_row() + IMAGE_WEIGHT * images * self.words_per_row()
    }

    fn key_rows(&self) -> f64 {
        2.0 * self.digits.len() as f64 * self.all_limbs()
    }

    /// The bytes of a key in memory.
    fn key_bytes(&self) -> u64 {
        (self.key_rows() * self.words_per_row()) as u64 * 8
    }
}

/// The nanoseconds of a run.
fn time<T>(run: impl FnOnce() -> Result<T>) -> Result<f64> {
    let start = Instant::now();
    let result = run()?;
    let time = start.elapsed().as_nanos() as f64;
    drop(result);
    Ok(time)
}

/// A sum of rotations.
struct Sum {
    exponents: Vec<u32>,
    keys: EvaluationKeys,
}

impl Sum {
    /// That of `rotations` rotations, whose keys are copies of one.
    fn new(
        context: &Context,
        rotations: usize,
        key: &Arc<KeySwitchKey>,
        copy: impl Fn(&Arc<KeySwitchKey>) -> Arc<KeySwitchKey>,
    ) -> Result<Self> {
        let mut keys = EvaluationKeys::new(context.parameters().rlwe(), key.owner().key);
        // Small rings have fewer rotations than that.
        let steps = (1..context.parameters().max_slots().cast_signed()).take(rotations);
        let mut exponents: Vec<u32> = steps.map(|steps| context.rotation_exponent(steps)).collect();
        exponents.iter().try_for_each(|&k| keys.insert_galois(k, copy(key)))?;
        let distinct = exponents.len();
        exponents = (0..rotations).map(|i| exponents[i % distinct]).collect();
        Ok(Self { exponents, keys })
    }

    fn run(&self, context: &Context, ciphertext: &rlwe::Ciphertext) -> Result<rlwe::Ciphertext> {
        sum_automorphisms(context.rlwe(), ciphertext, &self.exponents, &self.keys)
    }
}

/// The size of the last cache of this machine, where the system tells it.
fn shared_cache_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/sys/devices/system/cpu/cpu0/cache/index3/size").ok()?;
    text.trim().strip_suffix('K')?.parse::<u64>().ok().map(|kib| kib << 10)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schemes::ckks::parameters::ParametersSpec;
    use noren_rlwe::security::Security;

    fn parameters(special: usize, dnum: usize) -> Parameters {
        let (log_q, log_p) = (vec![40; 10], vec![40; special]);
        let spec = ParametersSpec { log_n: 10, log_q, log_p, log_scale: 40, dnum, ..ParametersSpec::default() };
        ParametersSpec { security: Security::None, ..spec }.build().expect("supported")
    }

    #[test]
    fn costs_count_what_a_key_switch_does() {
        let unit = CostModel { transform: 0.0, convert: 0.0, cached: 0.0, streamed: 0.0, cache_bytes: 0 };
        let n = 1024.0;
        // 10 limbs, 5 special primes, 2 digits of 5 limbs.
        let costs = |model: CostModel, level| model.rotations(&parameters(5, 2), level).expect("there are levels");
        let transforms = costs(CostModel { transform: 1.0, ..unit }, 9);
        assert_eq!((transforms.shared, transforms.end), (10.0 * n * (2.0 * 15.0 + 15.0), 10.0 * n * 15.0));
        let conversions = costs(CostModel { convert: 1.0, ..unit }, 9);
        assert_eq!((conversions.shared, conversions.end), (n * (2.0 * 5.0 * 10.0 + 5.0 * 10.0), n * 5.0 * 10.0));
        let words = costs(CostModel { cached: 1.0, streamed: 2.0, ..unit }, 9);
        assert_eq!((words.cached, words.streamed), (n * (60.0 + 67.5), 2.0 * n * (60.0 + 67.5)));
        assert_eq!(words.key_bytes, 2 * 2 * 15 * 1024 * 8);
        // 5 limbs are one digit.
        assert_eq!(costs(unit, 4).key_bytes, 2 * 10 * 1024 * 8);
    }

    #[test]
    fn what_has_no_costs_is_refused() {
        let model = CostModel::default();
        assert!(matches!(model.rotations(&parameters(1, 10), 10), Err(Error::LevelExhausted { needed: 10, left: 9 })));
        assert!(matches!(model.rotations(&parameters(0, 0), 1), Err(Error::Parameters { name: "log_p", .. })));
    }

    #[test]
    fn measured_speeds_are_those_of_a_machine() {
        let context = Context::with_threads(parameters(5, 2), Some(1)).expect("rings");
        let CostModel { transform, convert, cached, streamed, cache_bytes } =
            CostModel::measure(&context, 3).expect("there is such a level");
        // No machine is a thousand times faster or slower than ours.
        for speed in [transform, cached, streamed] {
            assert!((1e-4..1e3).contains(&speed), "{transform} {cached} {streamed}");
        }
        assert!(convert >= 0.0 && streamed >= cached && cache_bytes > 0);
    }
}
