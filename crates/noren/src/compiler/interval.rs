//! Interval arithmetic: where the values of a node lie.

use serde::{Deserialize, Serialize};

use crate::compiler::operation::Binary;

/// A closed interval of real numbers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(from = "[f64; 2]", into = "[f64; 2]")]
pub struct Interval {
    /// The lowest value.
    pub low: f64,
    /// The highest value.
    pub high: f64,
}

impl From<[f64; 2]> for Interval {
    fn from([low, high]: [f64; 2]) -> Self {
        Self { low, high }
    }
}

impl From<Interval> for [f64; 2] {
    fn from(Interval { low, high }: Interval) -> Self {
        [low, high]
    }
}

impl Interval {
    /// The interval from `low` to `high`.
    #[must_use]
    pub const fn new(low: f64, high: f64) -> Self {
        Self { low, high }
    }

    /// One number.
    #[must_use]
    pub const fn point(x: f64) -> Self {
        Self { low: x, high: x }
    }

    /// The smallest interval that holds all values; zero if there are none.
    #[must_use]
    pub fn of(values: &[f64]) -> Self {
        let Some(&first) = values.first() else {
            return Self::point(0.0);
        };
        values.iter().fold(Self::point(first), |hull, &x| hull.hull(Self::point(x)))
    }

    /// Whether both ends are finite and in order.
    #[must_use]
    pub fn is_proper(&self) -> bool {
        self.low.is_finite() && self.high.is_finite() && self.low <= self.high
    }

    /// Whether a number lies in it.
    #[must_use]
    pub fn contains(&self, x: f64) -> bool {
        self.low <= x && x <= self.high
    }

    /// The largest absolute value.
    #[must_use]
    pub fn magnitude(&self) -> f64 {
        self.low.abs().max(self.high.abs())
    }

    /// The smallest interval that holds both.
    #[must_use]
    pub fn hull(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// The values that both hold; `self` if there are none.
    #[must_use]
    pub fn clipped(self, other: Self) -> Self {
        let (low, high) = (self.low.max(other.low), self.high.min(other.high));
        if low <= high { Self { low, high } } else { self }
    }

    /// The interval with this much more on both sides.
    #[must_use]
    pub fn widened(self, by: f64) -> Self {
        Self { low: self.low - by, high: self.high + by }
    }

    /// The sums.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self { low: self.low + other.low, high: self.high + other.high }
    }

    /// The negatives.
    #[must_use]
    pub fn negated(self) -> Self {
        Self { low: -self.high, high: -self.low }
    }

    /// The products.
    #[must_use]
    pub fn times(self, other: Self) -> Self {
        Self::of(&[self.low * other.low, self.low * other.high, self.high * other.low, self.high * other.high])
    }

    /// The sums of `count` values.
    #[must_use]
    pub fn repeated(self, count: usize) -> Self {
        Self { low: self.low * count as f64, high: self.high * count as f64 }
    }

    /// The whole powers.
    #[must_use]
    pub fn power(self, exponent: u32) -> Self {
        let ends = [libm::pow(self.low, f64::from(exponent)), libm::pow(self.high, f64::from(exponent))];
        let hull = Self::of(&ends);
        if exponent.is_multiple_of(2) && self.contains(0.0) { hull.hull(Self::point(0.0)) } else { hull }
    }

    /// The absolute values.
    #[must_use]
    pub fn abs(self) -> Self {
        let least = if self.contains(0.0) { 0.0 } else { self.low.abs().min(self.high.abs()) };
        Self { low: least, high: self.magnitude() }
    }

    /// The results of an operation on two integers or truth values, or on two real numbers where it has them.
    #[must_use]
    pub fn binary(self, operation: Binary, other: Self) -> Self {
        match operation {
            Binary::Add => self.plus(other),
            Binary::Sub => self.plus(other.negated()),
            Binary::Mul => self.times(other),
            Binary::Minimum => Self { low: self.low.min(other.low), high: self.high.min(other.high) },
            Binary::Maximum => Self { low: self.low.max(other.low), high: self.high.max(other.high) },
            Binary::FloorDivide => self.quotient(other),
            // Of the sign of the divisor, and below it.
            Binary::Remainder => Self { low: (other.low + 1.0).min(0.0), high: (other.high - 1.0).max(0.0) },
            Binary::And if self.low >= 0.0 || other.low >= 0.0 => {
                let most = |x: Self| if x.low >= 0.0 { x.high } else { f64::INFINITY };
                Self { low: 0.0, high: most(self).min(most(other)) }
            }
            Binary::And | Binary::Or | Binary::Xor => {
                let bits = power_of_two_above(self.hull(other).magnitude() + 1.0);
                let low = if self.low < 0.0 || other.low < 0.0 { -bits } else { 0.0 };
                Self { low, high: bits - 1.0 }
            }
            Binary::ShiftLeft => {
                self.times(Self { low: libm::exp2(other.low.max(0.0)), high: libm::exp2(other.high.max(0.0)) })
            }
            Binary::ShiftRight => {
                let shifted = |x: f64, by: f64| (x / libm::exp2(by.max(0.0))).floor();
                Self::of(&[
                    shifted(self.low, other.low),
                    shifted(self.low, other.high),
                    shifted(self.high, other.low),
                    shifted(self.high, other.high),
                ])
            }
            Binary::Less
            | Binary::LessEqual
            | Binary::Greater
            | Binary::GreaterEqual
            | Binary::Equal
            | Binary::NotEqual => Self { low: 0.0, high: 1.0 },
        }
    }

    /// The quotients of integers, rounded down; a divisor is not zero.
    fn quotient(self, divisor: Self) -> Self {
        let candidates = [divisor.low, divisor.high, -1.0, 1.0];
        let divisors = candidates.iter().filter(|&&d| d != 0.0 && divisor.contains(d));
        let quotients: Vec<f64> = divisors.flat_map(|d| [self.low, self.high].map(|x| (x / d).floor())).collect();
        Self::of(&quotients)
    }
}

/// The smallest power of two that is not below a number.
#[must_use]
pub fn power_of_two_above(x: f64) -> f64 {
    libm::exp2(libm::log2(x.max(1.0)).ceil())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_integers_lie_in_their_interval() {
        let intervals = [[-3.0, 5.0], [1.0, 6.0], [-7.0, -2.0], [0.0, 3.0]];
        let kinds = [
            Binary::Add,
            Binary::Sub,
            Binary::Mul,
            Binary::Minimum,
            Binary::Maximum,
            Binary::And,
            Binary::Or,
            Binary::Xor,
            Binary::FloorDivide,
            Binary::Remainder,
        ];
        for (a, b) in intervals.iter().flat_map(|&a| intervals.map(|b| (Interval::from(a), Interval::from(b)))) {
            for kind in kinds {
                let found = a.binary(kind, b);
                for x in a.low as i64..=a.high as i64 {
                    for y in (b.low as i64..=b.high as i64)
                        .filter(|&y| y != 0 || !matches!(kind, Binary::FloorDivide | Binary::Remainder))
                    {
                        let z = kind.of(x as f64, y as f64);
                        assert!(found.contains(z), "{kind:?} {x} {y}: {z} not in {found:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn even_powers_are_not_negative() {
        assert_eq!(Interval::new(-2.0, 1.0).power(2), Interval::new(0.0, 4.0));
        assert_eq!(Interval::new(-2.0, 1.0).power(3), Interval::new(-8.0, 1.0));
        assert_eq!(Interval::new(-2.0, 1.0).abs(), Interval::new(0.0, 2.0));
    }
}
