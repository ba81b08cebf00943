//! Parameters from what a computation needs: depth, precision and slots.

use noren_ring::interrupt;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::parameters::MAX_PRIMES;
use noren_rlwe::security::{SecretDistribution, Security, max_log_qp};

use crate::schemes::ckks::encoder::{decoding_error, transform_error};
use crate::schemes::ckks::estimate::Estimate;
use crate::schemes::ckks::noise::{self, Mode};
use crate::schemes::ckks::parameters::{Parameters, ParametersSpec};
use crate::schemes::range::Range;

/// Requirements of a computation on its parameters; see [`Parameters::for_requirements`].
///
/// # Examples
/// ```
/// use noren::schemes::ckks::{Parameters, Requirements};
///
/// let requirements = Requirements { depth: 3, precision_bits: 15.0, ..Requirements::default() };
/// let parameters = Parameters::for_requirements(&requirements)?;
/// assert_eq!(parameters.max_level(), 3);
/// # Ok::<(), noren::error::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Requirements {
    /// How many multiplications follow one another.
    pub depth: usize,
    /// How many levels are left in the end: results are held by as many primes more than the first, and may be as much larger.
    pub levels_left: usize,
    /// The error of the results is at most `2^-precision_bits`.
    pub precision_bits: f64,
    /// All inputs, intermediate values and results are at most this in absolute value; so are the ranges that are known of
    /// them.
    pub max_abs: f64,
    /// How many slots are needed.
    pub slots: usize,
    /// The security of the keys.
    pub security: Security,
    /// Whether all inputs are encrypted with the secret key, with smaller errors, and not with a public key.
    pub secret_key: bool,
}

impl Default for Requirements {
    /// One multiplication of values in [-1, 1] in any number of slots to 20 bits, at 128-bit security, with a public key.
    fn default() -> Self {
        let security = Security::Bits128;
        Self { depth: 1, levels_left: 0, precision_bits: 20.0, max_abs: 1.0, slots: 1, security, secret_key: false }
    }
}

/// The sizes of rings that are tried.
pub(crate) const LOG_N: std::ops::RangeInclusive<u32> = 10..=17;
/// The most slots that a ring has.
pub(crate) const MOST_SLOTS: usize = 1 << (*LOG_N.end() - 1);
/// The sizes of scales that are tried.
const LOG_SCALE: std::ops::RangeInclusive<u32> = 20..=50;
/// The sizes of special primes that are tried: transforms are faster for primes below 2^48, and larger ones may save a
/// digit.
const SPECIAL_BITS: [u32; 2] = [48, 50];
/// The largest size of `q_0`. The scales are tried from the smallest up, so that it passes 48 bits only where the
/// precision asks for it.
const FIRST_BITS: u32 = 50;
/// `q_0` is larger than the largest value at the scale by this many bits at least: one for the sign, one for the error.
const HEADROOM_BITS: u32 = 2;
/// By how much `q_0`, of which half is for the sign, holds more than the largest number that is known: errors, and primes that
/// are not powers of two.
const ROOM_MARGIN: f64 = 1.0 + 1.0 / 256.0;
/// The most bits that `q_0` gets more where they cost neither a larger ring nor a digit: for ranges that are wider than
/// the values, as those of sums are.
const SPARE_BITS: u32 = 8;
/// Spare bits do not lead beyond this size: transforms are faster below.
const SPARE_FIRST_BITS: u32 = 48;
/// A digit stays this many bits below the special modulus.
const MARGIN_BITS: u32 = 6;
/// The most levels: each takes a prime, and so do level 0 and key switching.
const MOST_DEPTH: usize = MAX_PRIMES - 2;

impl Parameters {
    /// The smallest ring and the smallest scale that give the required depth, precision and security.
    ///
    /// The precision is that of [`Parameters::predicted_error`], for products in any order whose factors, intermediate
    /// results and result stay within `max_abs` as far as is known of their ranges; additions are not counted. The modulus
    /// has as many special primes as the security allows, for fast key switching: of 48 bits, or of 50 bits where those
    /// need fewer digits (a digit less saves more than the faster transforms of smaller primes). The first prime holds
    /// `max_abs`, and up to 256 times as much where that costs nothing, since ranges of sums are wider than sums.
    ///
    /// # Errors
    /// [`Error::Parameters`] says which requirement cannot be met, and which precision, depth or size of values can.
    pub fn for_requirements(requirements: &Requirements) -> Result<Self> {
        let smallest = Self::smallest(requirements, requirements.max_abs)?;
        let spec = smallest.spec();
        let most = (spec.log_q[0] + SPARE_BITS).min(SPARE_FIRST_BITS);
        for first in (spec.log_q[0] + 1..=most).rev() {
            let mut wider = ParametersSpec { dnum: 0, ..spec.clone() };
            wider.log_q[0] = first;
            match wider.build() {
                Ok(wider)
                    if wider.rlwe().dnum() == smallest.rlwe().dnum()
                        && requirements.bits(&wider) >= requirements.precision_bits =>
                {
                    return Ok(wider);
                }
                Ok(_) | Err(Error::Parameters { .. } | Error::Insecure { .. }) => {}
                Err(other) => return Err(other),
            }
        }
        Ok(smallest)
    }

    /// [`Parameters::for_requirements`] with the smallest first prime that holds numbers of at most `room` with their errors:
    /// the largest that is known of what comes to the lowest level.
    ///
    /// # Errors
    /// As [`Parameters::for_requirements`].
    pub(crate) fn smallest(requirements: &Requirements, room: f64) -> Result<Self> {
        let &Requirements { precision_bits, max_abs, slots, .. } = requirements;
        if !(max_abs.is_finite() && max_abs > 0.0) {
            return Err(Error::parameter("max_abs", format!("{max_abs:?}"), "finite and positive"));
        }
        if !precision_bits.is_finite() {
            return Err(Error::parameter("precision_bits", precision_bits, "finite"));
        }
        if !(1..=MOST_SLOTS).contains(&slots) {
            return Err(Error::parameter("slots", slots, format!("1 to {MOST_SLOTS}")));
        }
        requirements.search(room)?.map_err(|closest| requirements.refusal(closest))
    }

    /// A bound on the error, in each of `slots` slots, of products of `depth` levels whose factors, intermediate results and
    /// result are at most `max_abs`, as far as is known of their ranges: the worst that `depth` multiplications can do.
    /// Additions are not counted.
    ///
    /// In units of the ranges, errors of two factors add up in their product. Ranges are at least 1 unless less is stated,
    /// and at most `max_abs`, so that nothing exceeds `max_abs` times the error of a public encryption of values in
    /// [-1, 1] that is squared `depth` times: `a z^(2^depth - 1)`, with a up to `max_abs` and z up to 1, comes near it. For a
    /// `max_abs` below 1, all factors are taken to be known to be as small.
    ///
    /// # Panics
    /// If there are fewer levels or slots.
    #[must_use]
    pub fn predicted_error(&self, depth: usize, max_abs: f64, slots: usize) -> f64 {
        self.predicted_error_from(self.max_level(), depth, max_abs, slots, false)
    }

    /// [`Parameters::predicted_error`] of encryptions with either key at this level.
    pub(crate) fn predicted_error_from(
        &self,
        level: usize,
        depth: usize,
        max_abs: f64,
        slots: usize,
        secret_key: bool,
    ) -> f64 {
        let mode = if secret_key { Mode::Symmetric } else { Mode::Public };
        assert!(depth <= level, "depth {depth} of {level} levels");
        let (slots, known) = (slots.next_power_of_two(), max_abs.min(1.0));
        let exact = Estimate::exact(Range::symmetric(known), 0).with_bias(known * transform_error(slots));
        let mut estimate = noise::fresh(self.rlwe(), mode, self.scale_at(level), exact);
        for below in (level - depth..level).rev() {
            let product = estimate.product(&estimate).with_magnitude(known);
            estimate = noise::switched_rescaled(product, self.rlwe(), self.scale_at(below), below + 2);
        }
        let error = estimate.bound(slots, self.max_slots());
        (error + decoding_error(slots) * (known + error)) * max_abs.max(1.0)
    }
}

impl Requirements {
    /// The smallest parameters, or else the most bits of precision that any have; nothing where no modulus is large enough.
    fn search(&self, room: f64) -> Result<std::result::Result<Parameters, Option<f64>>> {
        let precision_bits = self.precision_bits;
        let mut closest = None;
        for log_n in LOG_N.filter(|log_n| 1 << (log_n - 1) >= self.slots) {
            let scales = self.scales(log_n, room);
            // The largest scale tells whether the ring can do.
            let most = match scales.last() {
                Some(&largest) => self.candidates(log_n, largest, room)?.iter().map(|&(_, bits)| bits).reduce(f64::max),
                None => continue,
            };
            closest = [closest, most].into_iter().flatten().reduce(f64::max);
            if most.is_some_and(|most| most + SCALE_JITTER < precision_bits) {
                continue;
            }
            for log_scale in scales {
                let found =
                    self.candidates(log_n, log_scale, room)?.into_iter().filter(|&(_, bits)| bits >= precision_bits);
                // Of equal ones the first.
                if let Some((parameters, _)) = found.min_by_key(|(parameters, _)| parameters.rlwe().dnum()) {
                    return Ok(Ok(parameters));
                }
            }
        }
        Ok(Err(closest))
    }

    /// The sizes of scales that a ring has primes for, with a first prime that holds `room`.
    pub(crate) fn scales(&self, log_n: u32, room: f64) -> Vec<u32> {
        LOG_SCALE.take_while(|&bits| !self.specifications(log_n, bits, room).is_empty()).collect()
    }

    /// The parameters of a ring and a scale, of whatever precision: those with the fewest digits.
    ///
    /// # Errors
    /// Those of [`ParametersSpec::build`] but refusals of sizes.
    pub(crate) fn of_scale(&self, log_n: u32, log_scale: u32, room: f64) -> Result<Option<Parameters>> {
        let candidates = self.candidates(log_n, log_scale, room)?.into_iter().map(|(parameters, _)| parameters);
        Ok(candidates.min_by_key(|parameters| parameters.rlwe().dnum()))
    }

    /// The candidates for a ring and a scale.
    fn specifications(&self, log_n: u32, log_scale: u32, room: f64) -> Vec<ParametersSpec> {
        // More levels than primes: nothing is made of such a length.
        let levels = self.depth.saturating_add(self.levels_left);
        if levels > MOST_DEPTH {
            return Vec::new();
        }
        let bits = |largest: f64| libm::log2(largest).ceil().max(0.0);
        let integer_bits = bits(self.max_abs).max(bits(room * ROOM_MARGIN) - 1.0);
        let held = self.levels_left as f64 * f64::from(log_scale);
        let first = f64::from(log_scale + HEADROOM_BITS) + (integer_bits - held).max(0.0);
        if first > f64::from(FIRST_BITS) {
            return Vec::new();
        }
        let of = |special: &u32| specification(log_n, log_scale, first as u32, levels, *special, self.security);
        SPECIAL_BITS.iter().filter_map(of).collect()
    }

    /// The parameters of a ring and a scale, with the bits of precision that they give.
    fn candidates(&self, log_n: u32, log_scale: u32, room: f64) -> Result<Vec<(Parameters, f64)>> {
        let mut candidates = Vec::new();
        for spec in self.specifications(log_n, log_scale, room) {
            interrupt::check();
            match spec.build() {
                Ok(parameters) => {
                    let bits = self.bits(&parameters);
                    candidates.push((parameters, bits));
                }
                // Primes of this size lie too thin, or a few bits too far from their targets.
                Err(Error::Parameters { .. } | Error::Insecure { .. }) => {}
                Err(other) => return Err(other),
            }
        }
        Ok(candidates)
    }

    /// The bits of precision that parameters give.
    fn bits(&self, parameters: &Parameters) -> f64 {
        let level = parameters.max_level();
        -libm::log2(parameters.predicted_error_from(level, self.depth, self.max_abs, self.slots, self.secret_key))
    }

    /// Whether there are parameters.
    pub(crate) fn can_be_met(&self) -> bool {
        matches!(self.search(self.max_abs), Ok(Ok(_)))
    }

    /// The alternatives: the precision that is reached, the largest depth, the largest values.
    pub(crate) fn refusal(&self, closest: Option<f64>) -> Error {
        let &Self { depth, precision_bits, max_abs, security, .. } = self;
        let reached = closest.filter(|bits| bits.is_finite());
        let mut remedies: Vec<String> =
            reached.map(|bits| format!("at most {:.1} bits", floor_tenth(bits))).into_iter().collect();
        // Between the last depth that is possible and this one, by halving.
        let (mut possible, mut refused) = (None, depth.min(MOST_DEPTH + 1));
        while possible.map_or(refused > 0, |possible| possible + 1 < refused) {
            let middle = possible.map_or(0, |possible| usize::midpoint(possible, refused));
            match (Self { depth: middle, ..self.clone() }).can_be_met() {
                true => possible = Some(middle),
                false if possible.is_none() => break,
                false => refused = middle,
            }
        }
        remedies.extend(possible.map(|depth| format!("at depth {depth} or less")));
        let exponents = (0..=libm::log2(max_abs).ceil() as i32 - 1).rev().map(|exponent| libm::ldexp(1.0, exponent));
        let smaller = exponents
            .filter(|&max_abs| max_abs <= MOST_VALUES)
            .find(|&max_abs| Self { max_abs, ..self.clone() }.can_be_met());
        remedies.extend(smaller.map(|max_abs| format!("for values up to {max_abs:?}")));
        let rounded = libm::round(precision_bits * 100.0) / 100.0;
        let others = format!("values up to {max_abs:?}, {security} security");
        let needed = match &remedies[..] {
            [] => "less of all: there are no such parameters".to_owned(),
            remedies => remedies.join(", or "),
        };
        match closest {
            Some(_) => Error::parameter("precision_bits", format!("{rounded:?} (depth {depth}, {others})"), needed),
            None => Error::parameter("depth", format!("{depth} ({rounded:?} bits, {others})"), needed),
        }
    }
}

/// By how much a smaller scale may be more precise than a larger one: keys of fewer digits have less noise.
const SCALE_JITTER: f64 = 1.0;

/// No parameters hold larger values: the smallest scale leaves no more bits of the largest first prime.
const MOST_VALUES: f64 = (1u64 << (FIRST_BITS - HEADROOM_BITS - *LOG_SCALE.start())) as f64;

/// One decimal, rounded down.
fn floor_tenth(x: f64) -> f64 {
    (x * 10.0).floor() / 10.0
}

/// The specification with the fewest digits that is secure; `None` if even one special prime is too much.
fn specification(
    log_n: u32,
    log_scale: u32,
    first: u32,
    depth: usize,
    special_bits: u32,
    security: Security,
) -> Option<ParametersSpec> {
    let secret = SecretDistribution::default();
    let most = match security {
        Security::None => f64::INFINITY,
        _ => max_log_qp(1 << log_n, secret, security)?,
    };
    let log_q = first as usize + depth * log_scale as usize;
    let one_digit = (log_q + MARGIN_BITS as usize).div_ceil(special_bits as usize);
    let fits = |special: &usize| (log_q + special * special_bits as usize) as f64 <= most;
    let special = (1..=one_digit).rev().find(fits)?;
    let log_q = std::iter::once(first).chain(std::iter::repeat_n(log_scale, depth)).collect();
    let log_p = vec![special_bits; special];
    Some(ParametersSpec { log_n, log_q, log_p, log_scale, secret, security, ..ParametersSpec::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requirements_are_met_and_not_by_much_more() {
        for (depth, precision_bits) in [(0, 20.0), (1, 20.0), (4, 12.0), (10, 10.0)] {
            let requirements = Requirements { depth, precision_bits, ..Requirements::default() };
            let parameters = Parameters::for_requirements(&requirements).expect("can be met");
            assert_eq!(parameters.max_level(), depth);
            let bits = -parameters.predicted_error(depth, 1.0, 1).log2();
            // The scale is in whole bits, and that of a larger ring starts anew.
            assert!(bits >= precision_bits && bits < precision_bits + 2.0, "{depth}: {bits}");
            let most = max_log_qp(parameters.degree(), SecretDistribution::Ternary, Security::Bits128);
            assert!(parameters.rlwe().log_qp() <= most.expect("in the table"));
        }
    }

    #[test]
    fn primes_are_below_48_bits_unless_larger_ones_save_a_digit_or_reach_the_precision() {
        let chosen = |depth, precision_bits| {
            let requirements = Requirements { depth, precision_bits, ..Requirements::default() };
            Parameters::for_requirements(&requirements).expect("can be met")
        };
        for (depth, precision_bits) in [(0, 20.0), (1, 20.0), (3, 18.0), (8, 15.0), (12, 15.0)] {
            let parameters = chosen(depth, precision_bits);
            let spec = parameters.spec();
            assert!(spec.log_q[0] <= 48, "{depth}: {:?}", spec.log_q);
            if spec.log_p.contains(&50) {
                let count = spec.log_p.len();
                let mut smaller = ParametersSpec { log_p: vec![48; count], dnum: 0, ..spec.clone() };
                let digits = |spec: &ParametersSpec| spec.clone().build().map(|built| built.rlwe().dnum());
                assert!(digits(&smaller).expect("fewer bits are as secure") > parameters.rlwe().dnum(), "{depth}");
                smaller.log_p.push(48);
                assert!(digits(&smaller).is_err(), "{depth}: one more prime is not secure");
            }
        }
        // The precision asks for a scale that 48 bits do not hold with their headroom.
        assert!(chosen(0, 36.0).spec().log_q[0] > 48);
    }

    #[test]
    fn spare_bits_cost_neither_a_ring_nor_a_digit() {
        for (depth, precision_bits, max_abs, spare) in [
            (0, 20.0, 1.0, 8),
            (1, 20.0, 1.0, 8),
            (2, 10.0, 100.0, 8),
            (3, 18.0, 4.0, 8),
            (12, 15.0, 1.0, 8),
            (0, 36.0, 1.0, 0),
        ] {
            let requirements = Requirements { depth, precision_bits, max_abs, ..Requirements::default() };
            let smallest = Parameters::smallest(&requirements, requirements.max_abs).expect("can be met");
            let chosen = Parameters::for_requirements(&requirements).expect("can be met");
            let (of_smallest, of_chosen) = (smallest.spec(), chosen.spec());
            let found = of_chosen.log_q[0] - of_smallest.log_q[0];
            assert!(found <= spare && (spare == 0 || found > 0), "{requirements:?}: {found}");
            assert!(chosen.predicted_error(depth, max_abs, 1) <= libm::exp2(-precision_bits));
            let mut alike = of_smallest.clone();
            alike.log_q[0] = of_chosen.log_q[0];
            assert_eq!(&alike, of_chosen);
        }
    }

    #[test]
    fn refusals_name_what_would_do() {
        for requirements in [
            Requirements { depth: 3, precision_bits: 40.0, max_abs: 100.0, ..Requirements::default() },
            Requirements { depth: 60, precision_bits: 5.0, max_abs: 100.0, ..Requirements::default() },
            Requirements { depth: 500, precision_bits: 20.0, ..Requirements::default() },
            Requirements { depth: usize::MAX, precision_bits: 20.0, ..Requirements::default() },
            Requirements { depth: MOST_DEPTH + 1, security: Security::None, ..Requirements::default() },
            Requirements { depth: 1, precision_bits: 10.0, max_abs: 1e300, ..Requirements::default() },
        ] {
            let text = Parameters::for_requirements(&requirements).expect_err("too much").to_string();
            assert!(text.len() < 250, "{text}");
            let (_, remedies) = text.split_once("it must be ").expect("what is needed");
            let number = |text: &str| -> f64 { text.split(' ').find_map(|word| word.parse().ok()).expect("a number") };
            let remedies: Vec<&str> = remedies.split(", or ").collect();
            assert!(!remedies.is_empty(), "{text}");
            for remedy in remedies {
                let mut changed = requirements.clone();
                match remedy {
                    bits if bits.ends_with("bits") => changed.precision_bits = number(bits),
                    depth if depth.starts_with("at depth") => changed.depth = number(depth) as usize,
                    values => changed.max_abs = number(values),
                }
                assert!(Parameters::for_requirements(&changed).is_ok(), "{remedy} of {text}");
            }
        }
    }

    #[test]
    fn more_slots_need_a_larger_ring() {
        let requirements = Requirements { slots: 8192, ..Requirements::default() };
        assert!(Parameters::for_requirements(&requirements).expect("can be met").max_slots() >= 8192);
    }

    #[test]
    fn what_cannot_be_met_is_named() {
        let name = |requirements: Requirements| match Parameters::for_requirements(&requirements) {
            Err(Error::Parameters { name, .. }) => name,
            other => panic!("{other:?} was not expected"),
        };
        assert_eq!(name(Requirements { precision_bits: 45.0, ..Requirements::default() }), "precision_bits");
        for depth in [500, 1 << 33, usize::MAX / 2, usize::MAX] {
            assert_eq!(name(Requirements { depth, ..Requirements::default() }), "depth");
        }
        assert_eq!(name(Requirements { slots: 0, ..Requirements::default() }), "slots");
        assert_eq!(name(Requirements { max_abs: f64::NAN, ..Requirements::default() }), "max_abs");
        assert_eq!(name(Requirements { precision_bits: f64::INFINITY, ..Requirements::default() }), "precision_bits");
    }
}
