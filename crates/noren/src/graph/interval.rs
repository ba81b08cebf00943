//! Interval arithmetic: where the values of a node lie.

use serde::{Deserialize, Serialize};

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
}

/// Where the sums of the columns of a matrix lie, each of the terms of its entries.
pub(crate) fn sums_of_columns(matrix: &[f64], columns: usize, term: impl Fn(f64) -> Interval) -> Interval {
    let mut sums = vec![Interval::point(0.0); columns];
    for row in matrix.chunks(columns) {
        sums.iter_mut().zip(row).for_each(|(sum, &entry)| *sum = sum.plus(term(entry)));
    }
    sums.into_iter().reduce(Interval::hull).unwrap_or(Interval::point(0.0))
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
    fn even_powers_are_not_negative() {
        assert_eq!(Interval::new(-2.0, 1.0).power(2), Interval::new(0.0, 4.0));
        assert_eq!(Interval::new(-2.0, 1.0).power(3), Interval::new(-8.0, 1.0));
        assert_eq!(Interval::new(-2.0, 1.0).abs(), Interval::new(0.0, 2.0));
    }
}
