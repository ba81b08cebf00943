//! How much a function of real numbers varies, as far as its caller knows.

use noren_rlwe::error::{Error, Result};

use crate::switching::tables::{check_finite, range};

/// Bounds on a function between the numbers where it is asked: without them, nothing bounds the function there.
///
/// It is a statement of the caller. One that the values contradict is refused.
#[derive(Debug, Clone, PartialEq)]
pub enum Variation {
    /// `|f(a) - f(b)| <= L |a - b|` for this L.
    Lipschitz(f64),
    /// The function rises or falls between neighbours of these numbers, and below and above all of them. At the numbers it
    /// may turn, and jump: so this describes functions with steps, too. None are a function that only rises, or only falls.
    Monotone(Vec<f64>),
}

/// By what part of its largest value a function may be rounded.
const ROUNDING: f64 = 1.0 / (1u64 << 40) as f64;

/// A function on an interval: its values at some numbers, and by how much it may leave them between.
pub(super) struct Asked {
    /// In ascending order.
    numbers: Vec<f64>,
    values: Vec<f64>,
    between: f64,
}

impl Asked {
    /// Asks a function at both ends of an interval, at these numbers inside, and where it turns.
    ///
    /// # Errors
    /// [`Error::Parameters`] for a variation that is none, or that the values contradict;
    /// [`SlotError::NotFinite`](crate::schemes::error::SlotError::NotFinite) for a value that is not a number.
    pub(super) fn new(
        [low, high]: [f64; 2],
        inside: impl Iterator<Item = f64>,
        variation: &Variation,
        function: impl Fn(f64) -> f64,
    ) -> Result<Self> {
        let turns = match variation {
            Variation::Monotone(turns) => &turns[..],
            Variation::Lipschitz(_) => &[],
        };
        check_finite(turns)?;
        // Next to a jump a function has another value.
        let turns = turns.iter().flat_map(|turn| [turn.next_down(), *turn, turn.next_up()]);
        let within = inside.chain(turns).filter(|number| (low..=high).contains(number));
        let mut numbers: Vec<f64> = [low, high].into_iter().chain(within).collect();
        numbers.sort_unstable_by(f64::total_cmp);
        numbers.dedup();
        let values: Vec<f64> = numbers.iter().map(|&number| function(number)).collect();
        check_finite(&values)?;
        let asked = Self { numbers, values, between: 0.0 };
        let between = match variation {
            Variation::Lipschitz(constant) => asked.check_lipschitz(*constant)?,
            Variation::Monotone(turns) => asked.check_monotone(turns)?,
        };
        Ok(Self { between, ..asked })
    }

    /// The value at one of the numbers, or at the next one.
    pub(super) fn at(&self, number: f64) -> f64 {
        let place = self.numbers.partition_point(|&other| other < number);
        self.values[place.min(self.values.len() - 1)]
    }

    /// Bounds on all values between two numbers, the first not above the second.
    pub(super) fn bounds(&self, [from, to]: [f64; 2]) -> [f64; 2] {
        // With the numbers that enclose both.
        let first = self.numbers.partition_point(|&number| number <= from).saturating_sub(1);
        let last = self.numbers.partition_point(|&number| number < to).min(self.numbers.len() - 1);
        let [low, high] = range(&self.values[first..=last]);
        [low - self.between, high + self.between]
    }

    /// Bounds on all values.
    pub(super) fn all(&self) -> [f64; 2] {
        self.bounds([f64::NEG_INFINITY, f64::INFINITY])
    }

    /// Refuses values that differ by more; gives how far the function may leave them between two of the numbers.
    fn check_lipschitz(&self, constant: f64) -> Result<f64> {
        if !(constant.is_finite() && constant >= 0.0) {
            return Err(Error::parameter("Lipschitz constant", constant, "a finite number from 0 on"));
        }
        let rounding = ROUNDING * self.largest();
        let mut between: f64 = 0.0;
        for (numbers, values) in self.numbers.windows(2).zip(self.values.windows(2)) {
            let (distance, change) = (numbers[1] - numbers[0], (values[1] - values[0]).abs());
            if change > constant * distance + rounding {
                let needed = format!("at least {}: f({numbers:?}) is {values:?}", change / distance);
                return Err(Error::parameter("Lipschitz constant", constant, needed));
            }
            // It rises and falls back.
            between = between.max((constant * distance - change) / 2.0);
        }
        Ok(between)
    }

    /// Refuses values that turn elsewhere; gives by how much they do because they are rounded.
    fn check_monotone(&self, turns: &[f64]) -> Result<f64> {
        let mut turns = turns.to_vec();
        turns.sort_unstable_by(f64::total_cmp);
        let rounding = ROUNDING * self.largest();
        let piece = |number: f64| {
            let place = turns.partition_point(|&turn| turn < number);
            if turns.get(place) == Some(&number) { None } else { Some(place) }
        };
        // How far the values of a piece rose and fell at most, and where.
        let (mut here, mut least, mut most) = (None, 0, 0);
        let [mut rise, mut fall] = [(0.0, 0, 0); 2];
        let mut between: f64 = 0.0;
        for place in 0..self.numbers.len() {
            let now = piece(self.numbers[place]);
            if now.is_none() || now != here {
                (here, least, most) = (now, place, place);
                [rise, fall] = [(0.0, place, place); 2];
                continue;
            }
            let value = self.values[place];
            let (risen, fallen) = (value - self.values[least], self.values[most] - value);
            if risen > rise.0 {
                rise = (risen, least, place);
            }
            if fallen > fall.0 {
                fall = (fallen, most, place);
            }
            if value < self.values[least] {
                least = place;
            }
            if value > self.values[most] {
                most = place;
            }
            between = between.max(rise.0.min(fall.0));
            if between > rounding {
                let said = |(_, from, to): (f64, usize, usize)| {
                    let [from, to] = [from, to].map(|at| format!("f({}) = {}", self.numbers[at], self.values[at]));
                    format!("{from} and {to}")
                };
                let found = format!("not monotone: it rises between {}, and falls between {}", said(rise), said(fall));
                let needed = "monotone between the numbers that are stated; state where it turns or jumps, or a Lipschitz constant";
                return Err(Error::parameter("function", found, needed));
            }
        }
        Ok(between)
    }

    fn largest(&self) -> f64 {
        self.values.iter().fold(0.0, |most, value| most.max(value.abs()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(f: fn(f64) -> f64, variation: &Variation) -> Result<Asked> {
        Asked::new([-1.0, 1.0], (-8..=8).map(|i| f64::from(i) / 10.0), variation, f)
    }

    /// Numbers that no grid knows, with their values, are within the bounds of every interval about them.
    fn check(f: fn(f64) -> f64, variation: &Variation) {
        let asked = asked(f, variation).expect("as stated");
        let [low, high] = asked.all();
        for i in 0..=2000 {
            let x = f64::from(i) / 1000.0 - 1.0;
            assert!(low <= f(x) && f(x) <= high);
            for reach in [0.0, 1e-9, 0.02, 0.3] {
                for centre in [x - reach, x + reach] {
                    let [from, to] = asked.bounds([(centre - reach).max(-1.0), (centre + reach).min(1.0)]);
                    assert!(from <= f(x) && f(x) <= to, "{x} {reach}: {} in {from} to {to}", f(x));
                }
            }
        }
    }

    #[test]
    fn bounds_hold_between_the_numbers() {
        let step = |x: f64| if x < 0.031 { -1.0 } else { 1.0 };
        let spike = |x: f64| f64::from(u8::from(x == 0.503));
        check(step, &Variation::Monotone(vec![]));
        check(step, &Variation::Monotone(vec![0.031]));
        check(spike, &Variation::Monotone(vec![0.503]));
        check(f64::exp, &Variation::Monotone(vec![7.0]));
        check(|x| x * x, &Variation::Monotone(vec![0.0]));
        check(|x| (20.0 * x).sin(), &Variation::Lipschitz(20.0));
        check(|x| (x - 0.05).abs(), &Variation::Lipschitz(1.0));
        check(|x| x.floor() - x, &Variation::Monotone(vec![1.0, -1.0, 0.0]));
    }

    #[test]
    fn jumps_have_their_values_next_to_them() {
        let asked = asked(|x| if x < 0.05 { -1.0 } else { 1.0 }, &Variation::Monotone(vec![0.05])).expect("as stated");
        assert_eq!(asked.bounds([0.0, 0.049]), [-1.0, -1.0]);
        assert_eq!(asked.bounds([0.05, 0.06]), [1.0, 1.0]);
        assert_eq!((asked.all(), asked.at(0.05), asked.at(2.0)), ([-1.0, 1.0], 1.0, 1.0));
    }

    #[test]
    fn what_values_contradict_is_refused() {
        for (f, variation) in [
            ((|x| x * x) as fn(f64) -> f64, Variation::Monotone(vec![])),
            (f64::abs, Variation::Monotone(vec![0.5])),
            (f64::exp, Variation::Lipschitz(1.0)),
            (f64::signum, Variation::Lipschitz(1.0)),
            (f64::exp, Variation::Lipschitz(f64::NAN)),
            (f64::exp, Variation::Lipschitz(-3.0)),
        ] {
            assert!(matches!(asked(f, &variation), Err(Error::Parameters { .. })), "{variation:?}");
        }
        assert!(asked(|x| 1.0 / x, &Variation::Monotone(vec![0.0])).is_err());
        assert!(asked(f64::exp, &Variation::Monotone(vec![f64::NAN])).is_err());
        assert!(asked(f64::ln, &Variation::Monotone(vec![])).is_err());
    }
}
