//! The smallest parameters with which a computation is as precise as it has to be.

use noren_rlwe::error::{Error, Result};

use crate::schemes::ckks::parameters::{Parameters, ParametersSpec};
use crate::schemes::ckks::requirements::{
    FIRST_BITS, HEADROOM_BITS, LOG_N, LOG_SCALE, MOST_DEPTH, MOST_SLOTS, Requirements,
};

/// The most bits that `q_0` gets more where they cost neither a larger ring nor a digit: for ranges that are wider than
/// the values, as those of sums are.
const SPARE_BITS: u32 = 8;
/// Spare bits do not lead beyond this size: transforms are faster below.
const SPARE_FIRST_BITS: u32 = 48;
/// No parameters hold larger values: the smallest scale leaves no more bits of the largest first prime.
const MOST_VALUES: f64 = (1u64 << (FIRST_BITS - HEADROOM_BITS - *LOG_SCALE.start())) as f64;

/// How often the first prime is made larger for values that leave the modulus.
pub(crate) const MOST_GROWTHS: usize = 16;

/// A computation under some parameters.
pub(crate) enum Trial {
    /// The bound on the error of any result.
    Bounded(f64),
    /// A value of this size, or an unknown one, leaves the modulus.
    Left(Option<f64>),
}

/// Parameters, or the smallest bound that any of the ring were found to have, if there are any.
pub(crate) type Searched = std::result::Result<Parameters, Option<f64>>;

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
        let smallest = Self::smallest(requirements)?;
        let spec = smallest.spec();
        let most = (spec.log_q[0] + SPARE_BITS).min(SPARE_FIRST_BITS);
        for first in (spec.log_q[0] + 1..=most).rev() {
            let mut wider = ParametersSpec { dnum: 0, ..spec.clone() };
            wider.log_q[0] = first;
            match wider.build() {
                Ok(wider)
                    if wider.rlwe().dnum() == smallest.rlwe().dnum()
                        && requirements.error(&wider) <= libm::exp2(-requirements.precision_bits) =>
                {
                    return Ok(wider);
                }
                Ok(_) | Err(Error::Parameters { .. } | Error::Insecure { .. }) => {}
                Err(other) => return Err(other),
            }
        }
        Ok(smallest)
    }

    /// [`Parameters::for_requirements`] with the smallest first prime.
    fn smallest(requirements: &Requirements) -> Result<Self> {
        requirements.check()?;
        requirements.search()?.map_err(|closest| requirements.refusal(closest))
    }
}

impl Requirements {
    /// Refuses what is no requirement.
    ///
    /// # Errors
    /// [`Error::Parameters`] for numbers that are not finite, and for more slots than any ring has.
    pub(crate) fn check(&self) -> Result<()> {
        let &Self { precision_bits, max_abs, slots, .. } = self;
        if !(max_abs.is_finite() && max_abs > 0.0) {
            return Err(Error::parameter("max_abs", format!("{max_abs:?}"), "finite and positive"));
        }
        if !precision_bits.is_finite() {
            return Err(Error::parameter("precision_bits", precision_bits, "finite"));
        }
        if !(1..=MOST_SLOTS).contains(&slots) {
            return Err(Error::parameter("slots", slots, format!("1 to {MOST_SLOTS}")));
        }
        Ok(())
    }

    /// The smallest parameters, or else the smallest error that any have; nothing where no modulus is large enough.
    fn search(&self) -> Result<Searched> {
        let most = libm::exp2(-self.precision_bits);
        let trial = |parameters: &Parameters| Ok(Trial::Bounded(self.error(parameters)));
        let mut closest = None;
        for log_n in LOG_N.filter(|log_n| 1 << (log_n - 1) >= self.slots) {
            match self.in_ring(log_n, self.max_abs, most, trial, None)? {
                Ok(parameters) => return Ok(Ok(parameters)),
                Err(bound) => closest = smaller(closest, bound),
            }
        }
        Ok(Err(closest))
    }

    /// The error of results under parameters.
    fn error(&self, parameters: &Parameters) -> f64 {
        let level = parameters.max_level();
        parameters.predicted_error_from(level, self.depth, self.max_abs, self.slots, self.secret_key)
    }

    /// Whether there are parameters.
    fn can_be_met(&self) -> bool {
        matches!(self.search(), Ok(Ok(_)))
    }

    /// The alternatives: the precision of the smallest error that is reached, the largest depth, the largest values.
    pub(crate) fn refusal(&self, closest: Option<f64>) -> Error {
        let &Self { depth, precision_bits, max_abs, security, .. } = self;
        let reached = closest.map(|error| -libm::log2(error)).filter(|bits| bits.is_finite());
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

/// A second trial of parameters that the first finds good enough.
type Confirm<'a> = dyn Fn(&Parameters) -> Result<Trial> + 'a;

impl Requirements {
    /// The parameters of the smallest scale in a ring for which `trial`, and `confirm` if there is one, give a bound of at most
    /// `most`.
    ///
    /// Depth, levels that are left and security are those that are required, and the first prime holds `room` at least. The
    /// bounds of `trial` are taken to fall with the scale; `confirm`, which may take longer, is asked for few scales.
    ///
    /// # Errors
    /// Those of the computations, and of [`ParametersSpec::build`](crate::schemes::ckks::ParametersSpec::build) but refusals of
    /// sizes.
    pub(crate) fn in_ring(
        &self,
        log_n: u32,
        mut room: f64,
        most: f64,
        trial: impl Fn(&Parameters) -> Result<Trial>,
        confirm: Option<&Confirm<'_>>,
    ) -> Result<Searched> {
        'rooms: for _ in 0..MOST_GROWTHS {
            let scales = self.scales(log_n, room);
            let of = |log_scale: u32| self.of_scale(log_n, log_scale, room);
            let Some((mut high, mut found)) = self.largest(log_n, room, &scales)? else { return Ok(Err(None)) };
            match trial(&found)? {
                Trial::Left(value) => {
                    room = larger(room, value);
                    continue;
                }
                Trial::Bounded(bound) if bound > most => return Ok(Err(Some(bound))),
                Trial::Bounded(_) => {}
            }
            let mut low = 0;
            while low < high {
                let middle = usize::midpoint(low, high);
                match of(scales[middle])? {
                    Some(parameters) if matches!(trial(&parameters)?, Trial::Bounded(bound) if bound <= most) => {
                        (found, high) = (parameters, middle);
                    }
                    _ => low = middle + 1,
                }
            }
            let Some(confirm) = confirm else { return Ok(Ok(found)) };
            let mut others = scales[low + 1..].iter();
            loop {
                let bound = match confirm(&found)? {
                    Trial::Left(value) => {
                        room = larger(room, value);
                        continue 'rooms;
                    }
                    Trial::Bounded(bound) if bound <= most => return Ok(Ok(found)),
                    Trial::Bounded(bound) => bound,
                };
                match others.next().map(|&log_scale| of(log_scale)).transpose()?.flatten() {
                    Some(next) => found = next,
                    None => return Ok(Err(Some(bound))),
                }
            }
        }
        Ok(Err(None))
    }

    /// The parameters of the largest of some scales that has any, as primes of some sizes lie too thin; and its position.
    ///
    /// # Errors
    /// As [`Requirements::of_scale`].
    pub(crate) fn largest(&self, log_n: u32, room: f64, scales: &[u32]) -> Result<Option<(usize, Parameters)>> {
        for (position, &log_scale) in scales.iter().enumerate().rev() {
            if let Some(found) = self.of_scale(log_n, log_scale, room)? {
                return Ok(Some((position, found)));
            }
        }
        Ok(None)
    }
}

/// The room for a value that left what there was.
pub(crate) fn larger(room: f64, value: Option<f64>) -> f64 {
    value.map_or(4.0 * room, |value| value.max(2.0 * room))
}

/// The smaller of two bounds that may be none.
pub(crate) fn smaller(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    [a, b].into_iter().flatten().reduce(f64::min)
}

/// One decimal, rounded down.
fn floor_tenth(x: f64) -> f64 {
    (x * 10.0).floor() / 10.0
}

#[cfg(test)]
mod tests {
    use noren_rlwe::security::{SecretDistribution, Security, max_log_qp};

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
            let smallest = Parameters::smallest(&requirements).expect("can be met");
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
