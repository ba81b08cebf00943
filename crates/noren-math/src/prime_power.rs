//! Integers modulo a power of a prime.

use crate::error::Error;
use crate::kernels::kernels;
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
        if self.sums_in_words(a.len()) {
            let sum = a.iter().zip(b).fold(0u64, |sum, (&x, &y)| sum.wrapping_add(x.wrapping_mul(y)));
            return self.reduce(sum);
        }
        a.chunks(WIDE_TERMS).zip(b.chunks(WIDE_TERMS)).fold(0, |sum, (a, b)| {
            let part = a.iter().zip(b).fold(0u128, |sum, (&x, &y)| sum + u128::from(x) * u128::from(y));
            self.add(sum, self.reduction.reduce_wide(part))
        })
    }

    /// Whether a sum of so many products of residues is right modulo `2^64`: `2^r` divides that, or nothing overflows.
    pub(crate) const fn sums_in_words(&self, terms: usize) -> bool {
        self.p == 2 || terms <= self.terms
    }

    /// `out_j = sum_i a_i table_(starts_i + j)`. Range: in `[0, p^r)`.
    pub(crate) fn window_combination(&self, out: &mut [u64], a: &[u64], table: &[u64], starts: &[u32]) {
        if self.sums_in_words(a.len()) {
            kernels().window_combination(out, a, table, starts);
            out.iter_mut().for_each(|sum| *sum = self.reduce(*sum));
            return;
        }
        out.fill(0);
        for (&a, &start) in a.iter().zip(starts) {
            let window = &table[start as usize..][..out.len()];
            out.iter_mut().zip(window).for_each(|(sum, &x)| *sum = self.add(*sum, self.mul(a, x)));
        }
    }

    /// `out_k = sum_i a_i table_(starts_k + i)`. Range: in `[0, p^r)`.
    pub(crate) fn window_dots(&self, out: &mut [u64], a: &[u64], table: &[u64], starts: &[u32]) {
        if self.sums_in_words(a.len()) {
            kernels().window_dots(out, a, table, starts);
            out.iter_mut().for_each(|sum| *sum = self.reduce(*sum));
            return;
        }
        let dot = |&start: &u32| self.dot(a, &table[start as usize..][..a.len()]);
        out.iter_mut().zip(starts).for_each(|(out, start)| *out = dot(start));
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
