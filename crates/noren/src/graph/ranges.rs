//! Where the results of operations on two numbers lie.

use crate::graph::interval::{Interval, power_of_two_above};
use crate::graph::operation::Binary;

impl Interval {
    /// The results of an operation on two integers or truth values, or on two real numbers where it has them.
    pub(crate) fn binary(self, operation: Binary, other: Self) -> Self {
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
}
