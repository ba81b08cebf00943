//! Integers modulo t: the numbers that are encrypted.

use noren_math::reduction::{Factor, MAX_REDUCTION_BITS, Reduction};
use noren_rlwe::error::{Error, Result};

use crate::schemes::integers::error::IntegerError;

/// A plaintext modulus t, prime or not. Range: `2 <= t < 2^60`.
///
/// [`reduce`](Self::reduce), [`center`](Self::center), [`mul`](Self::mul) and [`neg`](Self::neg) take messages: no division,
/// branch or address depends on their operands. The other verbs are for factors and parameters, which are public.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlaintextModulus(Reduction);

impl PlaintextModulus {
    /// Checks the modulus.
    ///
    /// # Errors
    /// [`Error::Parameters`] unless it is in `2 <= t < 2^60`.
    pub fn new(t: u64) -> Result<Self> {
        let needed = || format!("2 to 2^{MAX_REDUCTION_BITS} - 1");
        Reduction::new(t).map(Self).ok_or_else(|| Error::parameter("plaintext_modulus", t, needed()))
    }

    /// t.
    #[must_use]
    pub const fn value(self) -> u64 {
        self.0.value()
    }

    /// `log2 t` in bits.
    #[must_use]
    pub fn log2(self) -> f64 {
        libm::log2(self.value() as f64)
    }

    /// The residue of a number. Range: out `[0, t)`.
    #[must_use]
    pub const fn reduce(self, x: i128) -> u64 {
        self.0.reduce_signed(x)
    }

    /// The representative in `(-t/2, t/2]`. Range: in `[0, t)`.
    #[must_use]
    pub const fn center(self, x: u64) -> i64 {
        self.0.center(x)
    }

    /// The residue of a representative. Range: in `(-t, t)`, out `[0, t)`.
    #[must_use]
    pub(crate) const fn lift(self, x: i64) -> u64 {
        self.0.lift(x)
    }

    /// `a + b mod t`. Range: in `[0, t)`.
    #[must_use]
    pub const fn add(self, a: u64, b: u64) -> u64 {
        self.0.add(a, b)
    }

    /// `a b mod t`.
    #[must_use]
    pub const fn mul(self, a: u64, b: u64) -> u64 {
        self.0.mul(self.0.reduce(a), self.0.reduce(b))
    }

    /// A public factor that many numbers are multiplied with. Range: in `[0, t)`.
    pub(crate) const fn factor(self, w: u64) -> Factor {
        self.0.factor(w)
    }

    /// `-a mod t`. Range: in `[0, t)`.
    #[must_use]
    pub const fn neg(self, a: u64) -> u64 {
        self.0.neg(a)
    }

    /// `1/a mod t`.
    ///
    /// # Panics
    /// If a and t have a factor in common.
    #[must_use]
    pub fn inv(self, a: u64) -> u64 {
        // Euclid: r = s a modulo t throughout.
        let (mut r, mut s) = ([i128::from(self.value()), i128::from(a)], [0, 1]);
        while r[1] != 0 {
            let quotient = r[0] / r[1];
            r = [r[1], r[0] - quotient * r[1]];
            s = [s[1], s[0] - quotient * s[1]];
        }
        assert_eq!(r[0], 1, "{a} has no inverse modulo {}", self.value());
        self.reduce(s[0])
    }

    /// Whether a number has an inverse modulo t, and is in `[1, t)`.
    #[must_use]
    pub const fn is_unit(self, a: u64) -> bool {
        let (mut high, mut low) = (self.value(), a);
        while low != 0 {
            (high, low) = (low, high % low);
        }
        high == 1 && 1 <= a && a < self.value()
    }

    /// The product of some numbers modulo t.
    #[must_use]
    pub fn product(self, factors: impl IntoIterator<Item = u64>) -> u64 {
        factors.into_iter().fold(1, |product, factor| self.mul(product, factor))
    }

    /// The residue of a number that the caller means: from `-t/2` to `t - 1`.
    ///
    /// The branch tells only whether the number is allowed, as the error does.
    ///
    /// # Errors
    /// [`IntegerError::NotAResidue`] with the position of the number.
    pub fn residue(self, index: usize, value: i64) -> Result<u64> {
        let t = self.value().cast_signed();
        if (-(t / 2)..t).contains(&value) {
            return Ok(self.lift(value));
        }
        Err(IntegerError::NotAResidue { index, value, t: self.value() }.into())
    }
}

#[cfg(test)]
mod tests {
    use noren_rlwe::error::cause;

    use super::*;

    #[test]
    fn inverses_and_representatives_are_those_of_the_definition() {
        for t in [2, 3, 15, 16, 257, 65536, 65537, (1 << 50) - 1, 1 << 59] {
            let modulus = PlaintextModulus::new(t).expect("supported");
            for a in (1..t.min(300)).filter(|&a| modulus.is_unit(a)) {
                assert_eq!(modulus.mul(a, modulus.inv(a)), 1 % t, "{a} modulo {t}");
            }
            for a in [0, 1, t / 2, t.div_ceil(2), t - 1] {
                let centred = modulus.center(a);
                assert_eq!(modulus.reduce(centred.into()), a);
                assert!(2 * i128::from(centred) <= i128::from(t) && 2 * i128::from(centred) > -i128::from(t));
            }
        }
        assert!(PlaintextModulus::new(1).is_err() && PlaintextModulus::new(1 << 60).is_err());
    }

    #[test]
    fn numbers_outside_the_domain_are_refused() {
        let modulus = PlaintextModulus::new(257).expect("supported");
        assert_eq!(modulus.residue(0, -128).expect("allowed"), 129);
        for value in [-129, 257, i64::MAX, i64::MIN] {
            assert!(matches!(
                cause(&modulus.residue(3, value)),
                Some(IntegerError::NotAResidue { index: 3, t: 257, .. })
            ));
        }
    }
}
