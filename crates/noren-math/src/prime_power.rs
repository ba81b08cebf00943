//! Integers modulo a power of a prime.

use crate::error::Error;
use crate::prime::is_prime;
use crate::reduction::{MAX_REDUCTION_BITS, Reduction};

/// How many products of residues a double word holds.
const WIDE_TERMS: usize = 1 << (128 - 2 * MAX_REDUCTION_BITS - 1);

/// The integers modulo `p^r`, for a prime p.
///
/// No verb divides, branches or reads memory by its operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PrimePower {
    p: u64,
    r: u32,
    reduction: Reduction,
    /// How many products of residues a word holds.
    terms: usize,
}

impl PrimePower {
    /// The integers modulo `p^r`.
    ///
    /// # Errors
    /// [`Error::Modulus`] if p is not a prime, r is 0, or `p^r` is not below 2^60.
    pub fn new(p: u64, r: u32) -> Result<Self, Error> {
        let refuse = |reason| Err(Error::Modulus { found: p, reason });
        if !is_prime(p) {
            return refuse("slots are those modulo a power of a prime");
        }
        match p.checked_pow(r).filter(|_| r > 0).and_then(Reduction::new) {
            Some(reduction) => {
                let largest = u128::from(reduction.value() - 1);
                let terms = u128::from(u64::MAX) / (largest * largest);
                Ok(Self { p, r, reduction, terms: usize::try_from(terms).unwrap_or(usize::MAX) })
            }
            None => refuse("its power must be the first or a higher one, and below 2^60"),
        }
    }

    /// The integers modulo p.
    #[must_use]
    pub fn residue_field(&self) -> Self {
        Self::new(self.p, 1).expect("a power of the same prime")
    }

    /// The prime p.
    #[must_use]
    pub const fn p(&self) -> u64 {
        self.p
    }

    /// The exponent r.
    #[must_use]
    pub const fn r(&self) -> u32 {
        self.r
    }

    /// The modulus `p^r`.
    #[must_use]
    pub const fn value(&self) -> u64 {
        self.reduction.value()
    }

    /// `x mod p^r` for any word.
    #[must_use]
    pub const fn reduce(&self, x: u64) -> u64 {
        if self.p == 2 { x & (self.value() - 1) } else { self.reduction.reduce(x) }
    }

    /// `a + b`. Range: in `[0, p^r)`.
    #[must_use]
    pub const fn add(&self, a: u64, b: u64) -> u64 {
        self.reduction.add(a, b)
    }

    /// `a - b`. Range: in `[0, p^r)`.
    #[must_use]
    pub const fn sub(&self, a: u64, b: u64) -> u64 {
        self.reduction.add(a, self.reduction.neg(b))
    }

    /// `a b`. Range: in `[0, p^r)`.
    #[must_use]
    pub const fn mul(&self, a: u64, b: u64) -> u64 {
        if self.p == 2 {
            return a.wrapping_mul(b) & (self.value() - 1);
        }
        self.reduction.mul(a, b)
    }

    /// `sum_i a_i b_i` over as many terms as the shorter of both has. Range: in `[0, p^r)`.
    #[must_use]
    pub fn dot(&self, a: &[u64], b: &[u64]) -> u64 {
        if self.p == 2 || a.len() <= self.terms {
            // Modulo 2^64, which 2^r divides, or without overflow.
            let sum = a.iter().zip(b).fold(0u64, |sum, (&x, &y)| sum.wrapping_add(x.wrapping_mul(y)));
            return self.reduce(sum);
        }
        a.chunks(WIDE_TERMS).zip(b.chunks(WIDE_TERMS)).fold(0, |sum, (a, b)| {
            let part = a.iter().zip(b).fold(0u128, |sum, (&x, &y)| sum + u128::from(x) * u128::from(y));
            self.add(sum, self.reduction.reduce_wide(part))
        })
    }

    /// `out_j = sum_i a_i b_ij` over rows `b_i`, at least as many as there are factors. Range: in `[0, p^r)`.
    pub(crate) fn combine<'a>(&self, out: &mut [u64], a: &[u64], rows: impl Iterator<Item = &'a [u64]>) {
        out.fill(0);
        let is_lazy = self.p == 2 || a.len() <= self.terms;
        for (&a, row) in a.iter().zip(rows) {
            if is_lazy {
                out.iter_mut().zip(row).for_each(|(sum, &x)| *sum = sum.wrapping_add(a.wrapping_mul(x)));
            } else {
                out.iter_mut().zip(row).for_each(|(sum, &x)| *sum = self.add(*sum, self.mul(a, x)));
            }
        }
        out.iter_mut().for_each(|sum| *sum = self.reduce(*sum));
    }

    /// `a^exponent`. Range: a in `[0, p^r)`.
    #[must_use]
    pub const fn pow(&self, mut a: u64, mut exponent: u64) -> u64 {
        let mut power = 1;
        while exponent > 0 {
            if exponent % 2 == 1 {
                power = self.mul(power, a);
            }
            a = self.mul(a, a);
            exponent /= 2;
        }
        power
    }

    /// The inverse of a unit: a number that p does not divide. Range: in `[0, p^r)`.
    ///
    /// # Panics
    /// If p divides a.
    #[must_use]
    pub const fn inv(&self, a: u64) -> u64 {
        assert!(!a.is_multiple_of(self.p), "a multiple of p has no inverse modulo a power of p");
        // Euler: the units are (p - 1) p^(r - 1).
        self.pow(a, self.value() / self.p * (self.p - 1) - 1)
    }
}
