//! Parameters from what a computation needs: depth, precision and slots.

use noren_rlwe::error::{Error, Result};
use noren_rlwe::security::{SecretDistribution, Security, max_log_qp};

use crate::schemes::ckks::estimate::Estimate;
use crate::schemes::ckks::noise::{self, Mode};
use crate::schemes::ckks::parameters::{Parameters, ParametersSpec};
use crate::schemes::range::Range;

/// What a computation needs of its parameters; see [`Parameters::for_requirements`].
///
/// # Examples
/// ```
/// use noren::schemes::ckks::parameters::Parameters;
/// use noren::schemes::ckks::requirements::Requirements;
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
    /// The error of the results is at most `2^-precision_bits`.
    pub precision_bits: f64,
    /// All inputs, intermediate values and results are at most this in absolute value.
    pub max_abs: f64,
    /// How many slots are needed.
    pub slots: usize,
    /// The security of the keys.
    pub security: Security,
}

impl Default for Requirements {
    /// One multiplication of values in [-1, 1] in any number of slots to 20 bits, at 128-bit security.
    fn default() -> Self {
        Self { depth: 1, precision_bits: 20.0, max_abs: 1.0, slots: 1, security: Security::Bits128 }
    }
}

/// The sizes of rings that are tried.
const LOG_N: std::ops::RangeInclusive<u32> = 10..=17;
/// The sizes of scales that are tried.
const LOG_SCALE: std::ops::RangeInclusive<u32> = 20..=50;
/// The sizes of special primes that are tried: transforms are faster for primes below 2^48, and larger ones may save a
/// digit.
const SPECIAL_BITS: [u32; 2] = [48, 50];
/// The largest size of `q_0`. The scales are tried from the smallest up, so that it passes 48 bits only where the
/// precision asks for it.
const FIRST_BITS: u32 = 50;
/// `q_0` is larger than the largest value at the scale by this many bits: one for the sign, one for the error.
const HEADROOM_BITS: u32 = 2;
/// A digit stays this many bits below the special modulus.
const MARGIN_BITS: u32 = 6;

impl Parameters {
    /// The smallest ring and the smallest scale that give the required depth, precision and security.
    ///
    /// The precision is predicted for a public encryption that is squared `depth` times with all values at `max_abs`,
    /// the worst that so many multiplications can do; additions are not counted. The modulus has as many special primes
    /// as the security allows, for fast key switching: of 48 bits, or of 50 bits where those need fewer digits (a digit
    /// less saves more than the faster transforms of smaller primes).
    ///
    /// # Errors
    /// [`Error::Parameters`] says which requirement cannot be met.
    pub fn for_requirements(requirements: &Requirements) -> Result<Self> {
        let &Requirements { depth, precision_bits, max_abs, slots, security } = requirements;
        if !(max_abs.is_finite() && max_abs > 0.0) {
            return Err(Error::parameter("max_abs", max_abs, "finite and positive"));
        }
        if !precision_bits.is_finite() {
            return Err(Error::parameter("precision_bits", precision_bits, "finite"));
        }
        if slots == 0 || slots > 1 << (LOG_N.end() - 1) {
            return Err(Error::parameter("slots", slots, format!("1 to {}", 1u64 << (LOG_N.end() - 1))));
        }
        let integer_bits = libm::log2(max_abs).ceil().max(0.0);
        let most_bits = f64::from(FIRST_BITS - HEADROOM_BITS) - integer_bits;
        let mut closest = None;
        for log_n in LOG_N.filter(|log_n| 1 << (log_n - 1) >= slots) {
            for log_scale in LOG_SCALE.take_while(|&bits| f64::from(bits) <= most_bits) {
                let first = log_scale + HEADROOM_BITS + integer_bits as u32;
                let secure = |special: &u32| specification(log_n, log_scale, first, depth, *special, security);
                let candidates: Vec<ParametersSpec> = SPECIAL_BITS.iter().filter_map(secure).collect();
                if candidates.is_empty() {
                    break;
                }
                let mut best: Option<Self> = None;
                for spec in candidates {
                    let parameters = match spec.build() {
                        Ok(parameters) => parameters,
                        // Primes of this size lie too thin, or a few bits too far from their targets.
                        Err(Error::Parameters { .. } | Error::Insecure { .. }) => continue,
                        Err(other) => return Err(other),
                    };
                    let bits = -libm::log2(parameters.predicted_error(depth, max_abs, slots));
                    closest = Some(closest.map_or(bits, |closest: f64| closest.max(bits)));
                    let better = best.as_ref().is_none_or(|best| parameters.rlwe().dnum() < best.rlwe().dnum());
                    if bits >= precision_bits && better {
                        best = Some(parameters);
                    }
                }
                if let Some(parameters) = best {
                    return Ok(parameters);
                }
            }
        }
        let wanted =
            format!("{precision_bits} bits at depth {depth} for values up to {max_abs} at {security} security");
        Err(match closest {
            Some(bits) => Error::parameter(
                "precision_bits",
                wanted,
                format!("at most {bits:.1} bits, or fewer levels or smaller values"),
            ),
            None => Error::parameter(
                "depth",
                wanted,
                format!("less: degree 2^{} does not carry such a modulus", LOG_N.end()),
            ),
        })
    }

    /// A bound on the error, in each of `slots` slots, of a public encryption that is squared `depth` times, with all
    /// values at `max_abs`: the worst that so many multiplications can do. Additions are not counted.
    ///
    /// # Panics
    /// If there are not so many levels or slots.
    #[must_use]
    pub fn predicted_error(&self, depth: usize, max_abs: f64, slots: usize) -> f64 {
        let level = self.max_level();
        assert!(depth <= level, "depth {depth} of {level} levels");
        let exact = Estimate::exact(Range::symmetric(max_abs), 0);
        let mut estimate = noise::fresh(self.rlwe(), Mode::Public, self.scale_at(level), exact);
        for below in (level - depth..level).rev() {
            let product = estimate.product(&estimate).with_magnitude(max_abs);
            estimate = noise::switched_rescaled(product, self.rlwe(), self.scale_at(below), below + 2);
        }
        estimate.bound(slots.next_power_of_two(), self.max_slots())
    }
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
        assert_eq!(name(Requirements { depth: 500, ..Requirements::default() }), "depth");
        assert_eq!(name(Requirements { slots: 0, ..Requirements::default() }), "slots");
        assert_eq!(name(Requirements { max_abs: f64::NAN, ..Requirements::default() }), "max_abs");
        assert_eq!(name(Requirements { precision_bits: f64::INFINITY, ..Requirements::default() }), "precision_bits");
    }
}
