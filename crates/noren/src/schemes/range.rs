//! Where the numbers in the slots of a vector lie, as far as is known in clear.

use std::fmt;

use num_complex::Complex64;

/// The set that holds every slot of a message: an interval of real numbers, or a disc about zero.
///
/// It is public, and grows by interval arithmetic: the range of a sum is the sum of the ranges. Bounds that are not
/// numbers count as infinite. Rounding is to nearest, so that a range is exact up to a few units in the last place;
/// what rests on a range allows for that.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Range {
    /// Real numbers from `low` to `high`: no slot has an imaginary part, but for the error of the ciphertext.
    Real {
        /// The lowest value.
        low: f64,
        /// The highest value.
        high: f64,
    },
    /// Complex numbers of at most this absolute value.
    Complex {
        /// The largest absolute value.
        magnitude: f64,
    },
}

impl Range {
    /// Real numbers of at most this absolute value.
    #[must_use]
    pub fn symmetric(magnitude: f64) -> Self {
        Self::real(-magnitude, magnitude)
    }

    /// Real numbers from `low` to `high`; what is not a number is infinite.
    #[must_use]
    pub fn real(low: f64, high: f64) -> Self {
        let low = if low.is_nan() { f64::NEG_INFINITY } else { low };
        let high = if high.is_nan() { f64::INFINITY } else { high };
        Self::Real { low, high }
    }

    /// Complex numbers of at most this absolute value; what is not a number is infinite.
    #[must_use]
    pub fn disc(magnitude: f64) -> Self {
        Self::Complex { magnitude: if magnitude.is_nan() { f64::INFINITY } else { magnitude } }
    }

    /// One number; real if its imaginary part is zero.
    #[must_use]
    pub fn constant(c: Complex64) -> Self {
        if c.im == 0.0 { Self::real(c.re, c.re) } else { Self::disc(modulus(c)) }
    }

    /// Whether a number is no further from the range than this; NaN never is.
    #[must_use]
    pub fn is_near(&self, c: Complex64, distance: f64) -> bool {
        match *self {
            Self::Real { low, high } => {
                let outside = (low - c.re).max(c.re - high).max(0.0);
                outside * outside + c.im * c.im <= distance * distance && !c.re.is_nan()
            }
            Self::Complex { magnitude } => {
                let most = magnitude + distance;
                c.re * c.re + c.im * c.im <= most * most
            }
        }
    }

    /// A bound on the absolute value.
    #[must_use]
    pub fn magnitude(&self) -> f64 {
        match *self {
            Self::Real { low, high } => low.abs().max(high.abs()),
            Self::Complex { magnitude } => magnitude,
        }
    }

    /// The interval, if all slots are real.
    #[must_use]
    pub fn interval(&self) -> Option<[f64; 2]> {
        match *self {
            Self::Real { low, high } => Some([low, high]),
            Self::Complex { .. } => None,
        }
    }

    /// The range of a caller who knows that no slot exceeds this absolute value. A statement that contradicts the range replaces it.
    #[must_use]
    pub fn within(self, magnitude: f64) -> Self {
        match self {
            _ if magnitude.is_nan() => self,
            Self::Real { .. } => self.clipped(-magnitude, magnitude),
            Self::Complex { magnitude: known } => Self::disc(known.min(magnitude)),
        }
    }

    /// The range of a caller who knows that all slots are real, and from `low` to `high`. A statement that contradicts the range replaces it;
    /// what is no interval states nothing.
    #[must_use]
    pub fn clipped(self, low: f64, high: f64) -> Self {
        if low.is_nan() || high.is_nan() || low > high {
            return self;
        }
        let [known_low, known_high] = self.interval().unwrap_or_else(|| [-self.magnitude(), self.magnitude()]);
        let (lowest, highest) = (known_low.max(low), known_high.min(high));
        if lowest <= highest { Self::real(lowest, highest) } else { Self::real(low, high) }
    }

    /// The sums of numbers of both ranges.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        match (self.interval(), other.interval()) {
            (Some([a, b]), Some([c, d])) => Self::real(a + c, b + d),
            _ => Self::disc(self.magnitude() + other.magnitude()),
        }
    }

    /// The negatives.
    #[must_use]
    pub fn negated(&self) -> Self {
        match *self {
            Self::Real { low, high } => Self::real(-high, -low),
            Self::Complex { .. } => *self,
        }
    }

    /// The products of numbers of both ranges.
    #[must_use]
    pub fn times(&self, other: &Self) -> Self {
        let (Some([a, b]), Some([c, d])) = (self.interval(), other.interval()) else {
            return Self::disc(self.magnitude() * other.magnitude());
        };
        hull([a * c, a * d, b * c, b * d])
    }

    /// The squares.
    #[must_use]
    pub fn squared(&self) -> Self {
        let Some([low, high]) = self.interval() else {
            return Self::disc(self.magnitude() * self.magnitude());
        };
        let largest = self.magnitude();
        let smallest = if low <= 0.0 && high >= 0.0 { 0.0 } else { low.abs().min(high.abs()) };
        Self::real(smallest * smallest, largest * largest)
    }

    /// The multiples by one number.
    #[must_use]
    pub fn multiplied(&self, c: Complex64) -> Self {
        match self.interval() {
            Some([low, high]) if c.im == 0.0 => hull([low * c.re, high * c.re]),
            _ => Self::disc(self.magnitude() * modulus(c)),
        }
    }

    /// The imaginary unit times the numbers.
    #[must_use]
    pub fn turned(&self) -> Self {
        Self::disc(self.magnitude())
    }
}

/// The smallest interval that holds these numbers; all numbers if one of them is none.
fn hull<const N: usize>(numbers: [f64; N]) -> Range {
    if numbers.iter().any(|x| x.is_nan()) {
        return Range::symmetric(f64::INFINITY);
    }
    let low = numbers.iter().copied().fold(f64::INFINITY, f64::min);
    let high = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Range::real(low, high)
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Real { low, high } => write!(f, "real numbers in [{low:.6e}, {high:.6e}]"),
            Self::Complex { magnitude } => write!(f, "complex numbers of absolute value at most {magnitude:.6e}"),
        }
    }
}

/// The absolute value, by operations that round alike everywhere.
pub(crate) fn modulus(c: Complex64) -> f64 {
    if c.im == 0.0 { c.re.abs() } else { (c.re * c.re + c.im * c.im).sqrt() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_hold_what_is_computed_from_their_numbers() {
        let samples = |[low, high]: [f64; 2]| (0..=8).map(move |k| low + (high - low) * f64::from(k) / 8.0);
        let holds = |range: Range, x: f64| range.interval().is_some_and(|[low, high]| low <= x && x <= high);
        let intervals = [[-1.0, 1.0], [0.0, 2.0], [1.0, 3.0], [-4.0, -0.5], [-0.25, 2.0], [0.0, 0.0]];
        for a in intervals {
            let left = Range::real(a[0], a[1]);
            for x in samples(a) {
                assert!(holds(left.squared(), x * x) && holds(left.negated(), -x));
                assert!(holds(left.multiplied(Complex64::from(-3.0)), -3.0 * x));
            }
            for b in intervals {
                let right = Range::real(b[0], b[1]);
                for (x, y) in samples(a).flat_map(|x| samples(b).map(move |y| (x, y))) {
                    assert!(holds(left.plus(&right), x + y) && holds(left.times(&right), x * y), "{a:?} {b:?}");
                }
            }
        }
    }

    #[test]
    fn squares_are_not_negative_and_ranges_not_wider_than_needed() {
        assert_eq!(Range::real(-2.0, 1.0).squared(), Range::real(0.0, 4.0));
        assert_eq!(Range::real(1.0, 3.0).squared(), Range::real(1.0, 9.0));
        assert_eq!(Range::real(-1.0, 2.0).times(&Range::real(-3.0, 1.0)), Range::real(-6.0, 3.0));
    }

    #[test]
    fn what_is_not_real_stays_so() {
        let (real, disc) = (Range::symmetric(2.0), Range::disc(3.0));
        for (range, magnitude) in [
            (real.plus(&disc), 5.0),
            (disc.times(&real), 6.0),
            (real.turned(), 2.0),
            (real.multiplied(Complex64::new(3.0, 4.0)), 10.0),
            (Range::constant(Complex64::new(0.0, 2.0)), 2.0),
            (disc.squared(), 9.0),
        ] {
            assert_eq!(range, Range::disc(magnitude));
        }
    }

    #[test]
    fn statements_narrow_a_range_or_replace_it() {
        let range = Range::real(0.0, 4.0);
        assert_eq!(range.within(3.0), Range::real(0.0, 3.0));
        assert_eq!(range.clipped(1.0, 9.0), Range::real(1.0, 4.0));
        assert_eq!(range.clipped(5.0, 6.0), Range::real(5.0, 6.0));
        assert_eq!(range.clipped(f64::NAN, 1.0), range);
        assert_eq!(range.within(f64::NAN), range);
        assert_eq!(Range::disc(2.0).clipped(-5.0, 1.0), Range::real(-2.0, 1.0));
        assert_eq!(Range::disc(2.0).within(1.0), Range::disc(1.0));
    }

    #[test]
    fn what_is_no_number_bounds_nothing() {
        let all = Range::symmetric(f64::INFINITY);
        assert_eq!(all.times(&Range::real(0.0, 0.0)), all);
        assert_eq!(all.plus(&all), all);
        assert_eq!(Range::real(f64::NAN, 1.0), Range::real(f64::NEG_INFINITY, 1.0));
        assert_eq!(Range::disc(f64::INFINITY).times(&Range::disc(0.0)).magnitude(), f64::INFINITY);
    }
}
