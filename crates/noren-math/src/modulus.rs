//! Numbers modulo one prime below 2^50.

use crate::error::Error;
use crate::primality::is_prime;
pub use crate::reduction::MAX_MODULUS_BITS;
use crate::reduction::{high_word, mul_reduced, reduce_word, subtract_if_not_below};

/// An odd prime `q < 2^50` with the constants of its reductions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Modulus {
    value: u64,
    /// `floor(2^102 / q)` shifted so that it fits: see [`Modulus::reduce_wide`].
    barrett: u64,
    /// `floor(2^(62 + bits) / q)`, below 2^63: see [`Modulus::mul`].
    inverse: u64,
    bits: u32,
}

/// A constant factor `w` in `[0, q)` with `floor(w * 2^52 / q)`, for products by Shoup's method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShoupFactor {
    /// The factor, in `[0, q)`.
    pub value: u64,
    /// `floor(value * 2^52 / q)`.
    pub quotient: u64,
}

impl Modulus {
    /// Checks that `value` is an odd prime below 2^50.
    ///
    /// # Errors
    /// [`Error::Modulus`] says what is wrong with the number.
    pub fn new(value: u64) -> Result<Self, Error> {
        let refuse = |reason| Err(Error::Modulus { found: value, reason });
        if value >= 1 << MAX_MODULUS_BITS {
            return refuse("it must lie below 2^50");
        }
        if value < 3 {
            return refuse("it must be at least 3");
        }
        if !is_prime(value) {
            return refuse("it is not a prime");
        }
        let bits = 64 - value.leading_zeros();
        let quotient_of_power = |exponent: u32| ((1u128 << exponent) / u128::from(value)) as u64;
        Ok(Self { value, barrett: quotient_of_power(2 * bits), inverse: quotient_of_power(62 + bits), bits })
    }

    /// The prime.
    #[must_use]
    pub const fn value(&self) -> u64 {
        self.value
    }

    /// The size of the prime: `2^(bits-1) < q < 2^bits`.
    #[must_use]
    pub const fn bits(&self) -> u32 {
        self.bits
    }

    /// `floor(2^(2 bits) / q)`, below `2^(bits+1)`: the constant of [`Modulus::reduce_wide`].
    #[must_use]
    pub const fn barrett(&self) -> u64 {
        self.barrett
    }

    /// `a + b mod q`. Range: in `[0, q)`, out `[0, q)`.
    #[inline]
    #[must_use]
    pub const fn add(&self, a: u64, b: u64) -> u64 {
        subtract_if_not_below(a + b, self.value)
    }

    /// `a - b mod q`. Range: in `[0, q)`, out `[0, q)`.
    #[inline]
    #[must_use]
    pub const fn sub(&self, a: u64, b: u64) -> u64 {
        subtract_if_not_below(a + self.value - b, self.value)
    }

    /// `-a mod q`. Range: in `[0, q)`, out `[0, q)`.
    #[inline]
    #[must_use]
    pub const fn neg(&self, a: u64) -> u64 {
        subtract_if_not_below(self.value - a, self.value)
    }

    /// `a * b mod q`. Range: in `[0, 2^bits)`, out `[0, q)`.
    #[inline]
    #[must_use]
    pub const fn mul(&self, a: u64, b: u64) -> u64 {
        mul_reduced(a, b, self.value, self.inverse, self.bits)
    }

    /// `x mod q` by Barrett's method. Range: in `[0, 2^(2 bits))`, out `[0, q)`.
    #[inline]
    #[must_use]
    pub const fn reduce_wide(&self, x: u128) -> u64 {
        // The quotient estimate is at most 2 short: Handbook of Applied Cryptography, 14.42.
        let estimate = (((x >> (self.bits - 1)) * self.barrett as u128) >> (self.bits + 1)) as u64;
        let mut r = (x as u64).wrapping_sub(estimate.wrapping_mul(self.value));
        r = subtract_if_not_below(r, 2 * self.value);
        subtract_if_not_below(r, self.value)
    }

    /// `x mod q` for any word, which may be secret.
    #[inline]
    #[must_use]
    pub const fn reduce(&self, x: u64) -> u64 {
        reduce_word(x, self.value, self.inverse, self.bits)
    }

    /// `x mod q` for any double word. It divides: for public numbers.
    #[inline]
    #[must_use]
    pub const fn reduce_u128(&self, x: u128) -> u64 {
        (x % self.value as u128) as u64
    }

    /// `x mod q` in `[0, q)` for a signed word, which may be secret.
    #[inline]
    #[must_use]
    pub const fn reduce_signed(&self, x: i64) -> u64 {
        let r = self.reduce(x.unsigned_abs());
        r ^ ((r ^ self.neg(r)) & (x >> 63).cast_unsigned())
    }

    /// The centred representative of `a`, in `[-(q-1)/2, (q-1)/2]`. Range: in `[0, q)`.
    #[inline]
    #[must_use]
    pub const fn center(&self, a: u64) -> i64 {
        let above = ((self.value / 2).wrapping_sub(a).cast_signed() >> 63).cast_unsigned();
        a.wrapping_sub(self.value & above).cast_signed()
    }

    /// `a^e mod q`. Range: `a` in `[0, q)`, out `[0, q)`.
    #[must_use]
    pub const fn pow(&self, a: u64, mut e: u64) -> u64 {
        let (mut base, mut result) = (a, 1 % self.value);
        while e > 0 {
            if e & 1 == 1 {
                result = self.mul(result, base);
            }
            base = self.mul(base, base);
            e >>= 1;
        }
        result
    }

    /// `a^-1 mod q`; 0 has no inverse and gives 0. Range: in `[0, q)`, out `[0, q)`.
    #[must_use]
    pub const fn inv(&self, a: u64) -> u64 {
        self.pow(a, self.value - 2)
    }

    /// Prepares `w` for repeated products. Range: in `[0, q)`.
    #[must_use]
    pub const fn shoup(&self, w: u64) -> ShoupFactor {
        ShoupFactor { value: w, quotient: (((w as u128) << 52) / self.value as u128) as u64 }
    }

    /// `a * w mod q`. Range: `a` in `[0, 2^52)`, out `[0, q)`.
    #[inline]
    #[must_use]
    pub const fn mul_shoup(&self, a: u64, w: ShoupFactor) -> u64 {
        let r = self.mul_shoup_lazy(a, w);
        subtract_if_not_below(r, self.value)
    }

    /// `a * w` modulo q, not normalised. Range: `a` in `[0, 2^52)`, out `[0, 2q)`.
    #[inline]
    #[must_use]
    pub const fn mul_shoup_lazy(&self, a: u64, w: ShoupFactor) -> u64 {
        // The same as a shift of the product by 52, but cheaper: only a high word is needed.
        let quotient = high_word(a, w.quotient << 12);
        a.wrapping_mul(w.value).wrapping_sub(quotient.wrapping_mul(self.value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The smallest and the largest primes of some sizes.
    const PRIMES: [u64; 9] = [3, 5, 7, 65_521, 65_537, 536_870_923, 1_073_741_789, 562_949_953_421_381, (1 << 50) - 27];

    #[test]
    fn only_odd_primes_below_2_to_50_are_accepted() {
        for value in [0, 1, 2, 9, 1 << 20, (1 << 50) - 1, 1 << 50, (1 << 50) + 4_867, u64::MAX] {
            assert!(matches!(Modulus::new(value), Err(Error::Modulus { found, .. }) if found == value), "{value}");
        }
        for value in PRIMES {
            assert_eq!(Modulus::new(value).map(|q| q.value()), Ok(value));
        }
    }

    #[test]
    fn scalar_arithmetic_is_arithmetic_modulo_q() {
        for value in PRIMES {
            let q = Modulus::new(value).expect("a prime");
            let p = u128::from(value);
            let top = (1 << q.bits()) - 1;
            let words = [0, 1, 2, value / 2, value / 2 + 1, value - 2, value - 1, value, value + 1, top - 1, top];
            let words = words.into_iter().filter(|&a| a <= top);
            for a in words.clone().chain((0..64).flat_map(|bit| [(1 << bit) - 1, 1 << bit])).chain([u64::MAX]) {
                let centred = if a % value > value / 2 {
                    (a % value).cast_signed() - value.cast_signed()
                } else {
                    (a % value).cast_signed()
                };
                assert_eq!((q.reduce(a), q.center(a % value)), (a % value, centred));
                let signed = a.cast_signed();
                assert_eq!(
                    u128::from(q.reduce_signed(signed)),
                    i128::from(signed).rem_euclid(i128::from(value)).cast_unsigned()
                );
            }
            for a in words.clone() {
                let (a_reduced, wide_a) = (q.reduce(a), u128::from(a));
                assert_eq!(q.reduce_signed(-a.cast_signed()), q.neg(a_reduced));
                assert_eq!(q.center(a_reduced).rem_euclid(value.cast_signed()), a_reduced.cast_signed());
                assert_eq!(q.mul(a_reduced, q.inv(a_reduced)), u64::from(a_reduced != 0));
                for b in words.clone() {
                    let (b_reduced, wide_b) = (q.reduce(b), u128::from(b));
                    assert_eq!(u128::from(q.mul(a, b)), wide_a * wide_b % p);
                    assert_eq!(q.reduce_wide(wide_a * wide_b), q.mul(a, b));
                    assert_eq!(u128::from(q.add(a_reduced, b_reduced)), (wide_a + wide_b) % p);
                    assert_eq!(q.add(q.sub(a_reduced, b_reduced), b_reduced), a_reduced);
                    let w = q.shoup(b_reduced);
                    for x in [a, (1 << 52) - 1 - a] {
                        assert_eq!(u128::from(q.mul_shoup(x, w)), u128::from(x) * wide_b % p);
                        assert!(q.mul_shoup_lazy(x, w) < 2 * value);
                    }
                }
            }
        }
    }
}
