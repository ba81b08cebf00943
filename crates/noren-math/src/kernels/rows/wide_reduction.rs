//! Sums of products are reduced.

use crate::modulus::{Modulus, ShoupFactor};

/// Constants that reduce sums of products.
pub(in crate::kernels) struct WideReduction {
    q: u64,
    /// `floor(2^64 / q)`.
    inverse: u64,
    /// `2^52 mod q`.
    high: ShoupFactor,
}

impl WideReduction {
    pub(in crate::kernels) fn new(q: &Modulus) -> Self {
        Self { q: q.value(), inverse: u64::MAX / q.value(), high: q.shoup(q.reduce(1 << 52)) }
    }

    /// Range: in `[0, 2^64)`, out `[0, q)`.
    #[inline(always)]
    pub(in crate::kernels) fn reduce_word(&self, x: u64) -> u64 {
        // The quotient is at most 1 short, since x < 2^64.
        let quotient = ((u128::from(x) * u128::from(self.inverse)) >> 64) as u64;
        subtract_if_not_below(x - quotient * self.q, self.q)
    }

    /// Range: in `[0, 2^108)`, out `[0, q)`.
    #[inline(always)]
    pub(in crate::kernels) fn reduce(&self, x: u128) -> u64 {
        let (high, low) = ((x >> 52) as u64, x as u64 & ((1 << 52) - 1));
        // Shoup's product is below (1 + high / 2^52) q: at most 17q < 2^55.
        let quotient = ((u128::from(high) * u128::from(self.high.quotient)) >> 52) as u64;
        let folded = high.wrapping_mul(self.high.value).wrapping_sub(quotient.wrapping_mul(self.q));
        self.reduce_word(folded + low)
    }
}

/// Range: in `[0, 2 bound)`, out `[0, bound)`.
#[inline(always)]
pub(in crate::kernels) fn subtract_if_not_below(x: u64, bound: u64) -> u64 {
    // The wrapped difference is the larger one exactly if x < bound.
    x.min(x.wrapping_sub(bound))
}
