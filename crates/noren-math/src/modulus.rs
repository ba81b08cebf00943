//! Numbers modulo one prime below 2^50.

use crate::error::Error;
use crate::prime::is_prime;

/// Primes stay below 2^50, so that lazy values in `[0, 4q)` fit the 52 bits that IFMA multiplies.
pub const MAX_MODULUS_BITS: u32 = 50;

/// An odd prime `q < 2^50` with the constants of its reductions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Modulus {
    value: u64,
    /// `floor(2^102 / q)` shifted so that it fits: see [`Modulus::reduce_wide`].
    barrett: u64,
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
        Ok(Self { value, barrett: ((1u128 << (2 * bits)) / u128::from(value)) as u64, bits })
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
        let sum = a + b;
        if sum >= self.value { sum - self.value } else { sum }
    }

    /// `a - b mod q`. Range: in `[0, q)`, out `[0, q)`.
    #[inline]
    #[must_use]
    pub const fn sub(&self, a: u64, b: u64) -> u64 {
        if a >= b { a - b } else { a + self.value - b }
    }

    /// `-a mod q`. Range: in `[0, q)`, out `[0, q)`.
    #[inline]
    #[must_use]
    pub const fn neg(&self, a: u64) -> u64 {
        if a == 0 { 0 } else { self.value - a }
    }

    /// `a * b mod q`. Range: in `[0, 2^bits)`, out `[0, q)`.
    #[inline]
    #[must_use]
    pub const fn mul(&self, a: u64, b: u64) -> u64 {
        self.reduce_wide(a as u128 * b as u128)
    }

    /// `x mod q` by Barrett's method. Range: in `[0, 2^(2 bits))`, out `[0, q)`.
    #[inline]
    #[must_use]
    pub const fn reduce_wide(&self, x: u128) -> u64 {
        // The quotient estimate is at most 2 short: Handbook of Applied Cryptography, 14.42.
        let estimate = (((x >> (self.bits - 1)) * self.barrett as u128) >> (self.bits + 1)) as u64;
        let mut r = (x as u64).wrapping_sub(estimate.wrapping_mul(self.value));
        if r >= 2 * self.value {
            r -= 2 * self.value;
        }
        if r >= self.value { r - self.value } else { r }
    }

    /// `x mod q` for any word.
    #[inline]
    #[must_use]
    pub const fn reduce(&self, x: u64) -> u64 {
        x % self.value
    }

    /// `x mod q` for any double word.
    #[inline]
    #[must_use]
    pub const fn reduce_u128(&self, x: u128) -> u64 {
        (x % self.value as u128) as u64
    }

    /// `x mod q` in `[0, q)` for a signed word.
    #[inline]
    #[must_use]
    pub const fn reduce_signed(&self, x: i64) -> u64 {
        let r = x.unsigned_abs() % self.value;
        if x < 0 { self.neg(r) } else { r }
    }

    /// The centred representative of `a`, in `[-(q-1)/2, (q-1)/2]`. Range: in `[0, q)`.
    #[inline]
    #[must_use]
    pub const fn center(&self, a: u64) -> i64 {
        if a > self.value / 2 { a as i64 - self.value as i64 } else { a as i64 }
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
        if r >= self.value { r - self.value } else { r }
    }

    /// `a * w` modulo q, not normalised. Range: `a` in `[0, 2^52)`, out `[0, 2q)`.
    #[inline]
    #[must_use]
    pub const fn mul_shoup_lazy(&self, a: u64, w: ShoupFactor) -> u64 {
        let quotient = ((a as u128 * w.quotient as u128) >> 52) as u64;
        a.wrapping_mul(w.value).wrapping_sub(quotient.wrapping_mul(self.value))
    }
}
