//! Scales: positive numbers to about 104 bits, by arithmetic that rounds alike on every machine.

/// The factor between a message and its polynomial: a positive number, held as an unevaluated sum of two `f64`.
///
/// Every operation has a relative error below `2^-100`, so that products and quotients along thousands of levels still
/// tell whether two ciphertexts are at the same scale. Only additions, multiplications, divisions, square roots and fused
/// multiply-adds are used, which IEEE 754 rounds correctly everywhere.
///
/// Source: Dekker, A floating-point technique for extending the available precision, 1971.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    high: f64,
    low: f64,
}

impl Scale {
    /// `2^exponent`.
    ///
    /// # Panics
    /// If the exponent is not below 1024.
    #[must_use]
    pub fn from_log2(exponent: u32) -> Self {
        /// The exponent of 1.0 as an `f64` stores it.
        const BIAS: u32 = 1023;
        assert!(exponent <= BIAS, "2^{exponent} is no f64");
        Self { high: f64::from_bits(u64::from(BIAS + exponent) << (f64::MANTISSA_DIGITS - 1)), low: 0.0 }
    }

    /// This number; `None` unless it is finite and positive.
    #[must_use]
    pub fn from_f64(value: f64) -> Option<Self> {
        Self::from_parts(value, 0.0)
    }

    /// `high + low`; `None` unless `high` is finite and positive and the nearest `f64` to the sum.
    #[must_use]
    pub fn from_parts(high: f64, low: f64) -> Option<Self> {
        let proper = high.is_normal() && high > 0.0 && low.is_finite() && high + low == high;
        proper.then_some(Self { high, low })
    }

    /// The two parts, larger first: they are the sum of the number.
    #[must_use]
    pub fn parts(&self) -> (f64, f64) {
        (self.high, self.low)
    }

    /// The nearest `f64`.
    #[must_use]
    pub fn to_f64(&self) -> f64 {
        self.high
    }

    /// The base-two logarithm, for display.
    #[must_use]
    pub fn log2(&self) -> f64 {
        libm::log2(self.high)
    }

    /// `self * other`.
    #[must_use]
    pub fn mul(&self, other: &Self) -> Self {
        let (product, error) = two_product(self.high, other.high);
        Self::joined(product, error + (self.high * other.low + self.low * other.high))
    }

    /// `self * factor` for an integer below `2^53`, such as a prime.
    #[must_use]
    pub fn mul_u64(&self, factor: u64) -> Self {
        self.mul(&Self { high: factor as f64, low: 0.0 })
    }

    /// `self / divisor` for an integer below `2^53`, such as a prime.
    #[must_use]
    pub fn div_u64(&self, divisor: u64) -> Self {
        self.div(&Self { high: divisor as f64, low: 0.0 })
    }

    /// `self / other`.
    #[must_use]
    pub fn div(&self, other: &Self) -> Self {
        let first = self.high / other.high;
        let second = self.minus(other, first) / other.high;
        let (high, low) = fast_two_sum(first, second);
        // A third digit brings the error from 2^-97 or so below 2^-100.
        let (product, error) = two_product(second, other.high);
        let rest = ((self.minus(other, first) - product) - error) - second * other.low;
        Self::joined(high, low + rest / other.high)
    }

    /// The square root: of what scale the squares are at this one.
    ///
    /// One step of Newton's method from the root r in `f64`: `r + (self - r^2) / 2r`, whose relative error is the square of
    /// that of r, below `2^-105`, and the rounding of the second digit, as small.
    #[must_use]
    pub fn sqrt(&self) -> Self {
        let root = self.high.sqrt();
        let (square, error) = two_product(root, root);
        Self::joined(root, (((self.high - square) - error) + self.low) / (2.0 * root))
    }

    /// `self / other`, rounded.
    #[must_use]
    pub fn ratio_to(&self, other: &Self) -> f64 {
        self.div(other).high
    }

    /// `self / other - 1`, exact up to about `2^-100`: how far two scales are apart.
    #[must_use]
    pub fn deviation_from(&self, other: &Self) -> f64 {
        ((self.high - other.high) + (self.low - other.low)) / other.high
    }

    /// The integer nearest to `factor * self`, and `factor - integer / self`: what the rounding changes.
    ///
    /// `None` if the product is not finite or reaches `2^120`.
    #[must_use]
    pub fn round_multiple(&self, factor: f64) -> Option<(i128, f64)> {
        /// Leaves room for the products that integers are used in.
        const LIMIT: f64 = (1u128 << 120) as f64;
        let (product, error) = two_product(self.high, factor);
        let (high, low) = fast_two_sum(product, error + self.low * factor);
        if !high.is_finite() || high.abs() >= LIMIT {
            return None;
        }
        let whole = high.round_ties_even();
        let rest = (high - whole) + low;
        let correction = rest.round_ties_even();
        Some((whole as i128 + correction as i128, (rest - correction) / self.high))
    }

    /// `self - factor * other` rounded; exact up to the low parts when `factor` is near the quotient.
    fn minus(&self, other: &Self, factor: f64) -> f64 {
        let (product, error) = two_product(factor, other.high);
        ((self.high - product) - error) + (self.low - factor * other.low)
    }

    fn joined(high: f64, low: f64) -> Self {
        let (high, low) = fast_two_sum(high, low);
        Self { high, low }
    }
}

/// `a * b` and its rounding error.
fn two_product(a: f64, b: f64) -> (f64, f64) {
    let product = a * b;
    (product, a.mul_add(b, -product))
}

/// `a + b` and its rounding error, for `|a| >= |b|`.
fn fast_two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    (sum, b - (sum - a))
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigInt;

    /// The number times 2^140 as an integer, exact: both parts are multiples of 2^-140 for scales of at least 2^20.
    fn exact(scale: &Scale) -> BigInt {
        let part = |x: f64| {
            let bits = x.abs().to_bits();
            let (exponent, fraction) = ((bits >> 52) as i64, bits & ((1 << 52) - 1));
            if exponent == 0 {
                return BigInt::from(0);
            }
            let shift = exponent - 1075 + 140;
            let value = BigInt::from(fraction | 1 << 52);
            let value = if shift >= 0 { value << shift } else { value >> -shift };
            if x < 0.0 { -value } else { value }
        };
        part(scale.high) + part(scale.low)
    }

    /// Whether `a / b` is 1 up to 2^-100.
    fn close(a: &BigInt, b: &BigInt) -> bool {
        ((a - b) << 100u32).magnitude() < b.magnitude()
    }

    fn samples() -> Vec<Scale> {
        let primes = [1_099_511_480_321u64, 1_125_899_903_827_969, 1_048_583];
        let mut scales = vec![Scale::from_log2(40), Scale::from_log2(30)];
        for (i, q) in primes.into_iter().enumerate() {
            let scale = scales[i].mul(&scales[i + 1]).mul_u64(q).div_u64(primes[(i + 1) % 3]);
            scales.push(scale.div(&Scale::from_log2(35)));
        }
        scales
    }

    #[test]
    fn products_and_quotients_agree_with_integers() {
        for a in samples() {
            for b in samples() {
                let product = a.mul(&b);
                assert!(close(&(exact(&product) << 140u32), &(exact(&a) * exact(&b))));
                let quotient = product.div(&a);
                assert!(close(&exact(&quotient), &exact(&b)), "{a:?} {b:?}");
                assert!(quotient.deviation_from(&b).abs() < 2f64.powi(-100));
            }
            let q = 1_099_511_480_321;
            assert!(close(&(exact(&a.div_u64(q)) * q), &exact(&a)));
        }
    }

    #[test]
    fn square_roots_agree_with_integers() {
        for scale in samples() {
            // sqrt(s 2^280) = sqrt(s) 2^140
            let root = (exact(&scale) << 140u32).sqrt();
            assert!(close(&exact(&scale.sqrt()), &root), "{scale:?}");
            assert!(scale.mul(&scale).sqrt().deviation_from(&scale).abs() < 2f64.powi(-100), "{scale:?}");
        }
        assert_eq!(Scale::from_log2(84).sqrt(), Scale::from_log2(42));
    }

    #[test]
    fn scales_from_the_end_of_a_chain_lead_back_to_it() {
        // A scale that is squared and divided by a prime, four times, is to end at 2^42.
        let primes = [1_125_899_903_827_969u64, 1_125_899_900_682_241, 1_099_511_480_321, 1_125_899_897_143_297];
        let end = Scale::from_log2(42);
        let start = primes.iter().rev().fold(end, |scale, &q| scale.mul_u64(q).sqrt());
        let back = primes.iter().fold(start, |scale, &q| scale.mul(&scale).div_u64(q));
        // The first error is doubled four times, the last one not at all.
        assert!(back.deviation_from(&end).abs() < 2f64.powi(-95), "{:e}", back.deviation_from(&end));
    }

    #[test]
    fn from_log2_is_exact() {
        assert_eq!(Scale::from_log2(40).to_f64(), (1u64 << 40) as f64);
        assert_eq!(Scale::from_log2(0).parts(), (1.0, 0.0));
        assert_eq!(Scale::from_log2(45).log2(), 45.0);
    }

    #[test]
    fn improper_parts_are_refused() {
        for (high, low) in [(0.0, 0.0), (-1.0, 0.0), (f64::NAN, 0.0), (f64::INFINITY, 0.0), (1.0, 0.5), (1.0, f64::NAN)]
        {
            assert!(Scale::from_parts(high, low).is_none(), "{high} {low}");
        }
        let (high, low) = samples()[3].parts();
        assert_eq!(Scale::from_parts(high, low), Some(samples()[3]));
    }

    #[test]
    fn deviation_sees_what_f64_does_not() {
        let scale = Scale::from_log2(40);
        let near = Scale::from_parts(scale.to_f64(), 2f64.powi(-40)).expect("proper");
        assert_eq!(near.to_f64(), scale.to_f64());
        assert_eq!(near.deviation_from(&scale), 2f64.powi(-80));
    }

    #[test]
    fn round_multiple_is_the_nearest_integer() {
        let scale = Scale::from_parts(2f64.powi(60), 0.25).expect("proper");
        assert_eq!(scale.round_multiple(1.0), Some((1 << 60, 0.25 / 2f64.powi(60))));
        assert_eq!(scale.round_multiple(-3.0), Some((-(3 << 60) - 1, 0.25 / 2f64.powi(60))));
        assert_eq!(Scale::from_log2(20).round_multiple(1e-7), Some((0, 1e-7)));
        assert_eq!(scale.round_multiple(0.0), Some((0, 0.0)));
        assert_eq!(scale.round_multiple(f64::NAN), None);
        assert_eq!(scale.round_multiple(f64::INFINITY), None);
        assert_eq!(scale.round_multiple(2f64.powi(60)), None);
    }
}
