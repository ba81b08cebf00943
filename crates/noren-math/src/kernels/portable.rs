//! The reference: what each kernel means, in plain Rust that runs everywhere.

use super::gaussian::gaussian;
use super::portable_fft::{fft_forward, fft_inverse};
use super::portable_ntt::{ntt_forward, ntt_inverse};
use super::table::Kernels;
use crate::modulus::{Modulus, ShoupFactor};

pub(super) const TABLE: Kernels = Kernels {
    name: "portable",
    supported: || true,
    add,
    add_streamed: add,
    add_assign,
    sub,
    sub_streamed: sub,
    sub_assign,
    neg,
    neg_assign,
    mul,
    mul_streamed: mul,
    mul_assign,
    mul_add_assign,
    mul_scalar,
    mul_scalar_assign,
    mul_scalar_add_assign,
    sub_mul_scalar_assign,
    add_scalar_assign,
    inner_product,
    inner_product_pair,
    weighted_sum,
    quotients,
    reduce,
    reduce_signed,
    gaussian,
    permute,
    permute_add_assign,
    ntt_forward,
    ntt_inverse,
    fft_forward,
    fft_inverse,
};

pub(super) fn add(out: &mut [u64], a: &[u64], b: &[u64], q: &Modulus) {
    for ((out, &a), &b) in out.iter_mut().zip(a).zip(b) {
        *out = q.add(a, b);
    }
}

pub(super) fn add_assign(a: &mut [u64], b: &[u64], q: &Modulus) {
    for (a, &b) in a.iter_mut().zip(b) {
        *a = q.add(*a, b);
    }
}

pub(super) fn sub(out: &mut [u64], a: &[u64], b: &[u64], q: &Modulus) {
    for ((out, &a), &b) in out.iter_mut().zip(a).zip(b) {
        *out = q.sub(a, b);
    }
}

pub(super) fn sub_assign(a: &mut [u64], b: &[u64], q: &Modulus) {
    for (a, &b) in a.iter_mut().zip(b) {
        *a = q.sub(*a, b);
    }
}

pub(super) fn neg(out: &mut [u64], a: &[u64], q: &Modulus) {
    for (out, &a) in out.iter_mut().zip(a) {
        *out = q.neg(a);
    }
}

pub(super) fn neg_assign(a: &mut [u64], q: &Modulus) {
    for a in a {
        *a = q.neg(*a);
    }
}

pub(super) fn mul(out: &mut [u64], a: &[u64], b: &[u64], q: &Modulus) {
    for ((out, &a), &b) in out.iter_mut().zip(a).zip(b) {
        *out = q.mul(a, b);
    }
}

pub(super) fn mul_assign(a: &mut [u64], b: &[u64], q: &Modulus) {
    for (a, &b) in a.iter_mut().zip(b) {
        *a = q.mul(*a, b);
    }
}

pub(super) fn mul_add_assign(acc: &mut [u64], a: &[u64], b: &[u64], q: &Modulus) {
    for ((acc, &a), &b) in acc.iter_mut().zip(a).zip(b) {
        *acc = q.add(*acc, q.mul(a, b));
    }
}

pub(super) fn mul_scalar(out: &mut [u64], a: &[u64], w: ShoupFactor, q: &Modulus) {
    for (out, &a) in out.iter_mut().zip(a) {
        *out = q.mul_shoup(a, w);
    }
}

pub(super) fn mul_scalar_assign(a: &mut [u64], w: ShoupFactor, q: &Modulus) {
    for a in a {
        *a = q.mul_shoup(*a, w);
    }
}

pub(super) fn mul_scalar_add_assign(acc: &mut [u64], a: &[u64], w: ShoupFactor, q: &Modulus) {
    for (acc, &a) in acc.iter_mut().zip(a) {
        *acc = q.add(*acc, q.mul_shoup(a, w));
    }
}

pub(super) fn sub_mul_scalar_assign(a: &mut [u64], b: &[u64], w: ShoupFactor, q: &Modulus) {
    for (a, &b) in a.iter_mut().zip(b) {
        *a = q.mul_shoup(*a + q.value() - b, w);
    }
}

pub(super) fn add_scalar_assign(a: &mut [u64], c: u64, q: &Modulus) {
    for a in a {
        *a = q.add(*a, c);
    }
}

pub(super) fn inner_product(out: &mut [u64], pairs: &[(&[u64], &[u64])], q: &Modulus) {
    inner_product_from(0, out, pairs, q);
}

/// [`inner_product`] of the words from `start` on, for tables that did the words before.
pub(super) fn inner_product_from(start: usize, out: &mut [u64], pairs: &[(&[u64], &[u64])], q: &Modulus) {
    let reduction = WideReduction::new(q);
    for (j, out) in out.iter_mut().enumerate().skip(start) {
        // At most 64 products below 2^100 each.
        let sum = pairs.iter().map(|(a, b)| u128::from(a[j]) * u128::from(b[j])).sum();
        *out = reduction.reduce(sum);
    }
}

pub(super) fn inner_product_pair(out: [&mut [u64]; 2], rows: &[&[u64]], key: &[u64], q: &Modulus) {
    inner_product_pair_from(0, out, rows, key, q);
}

/// [`inner_product_pair`] of the words from `start` on, for tables that did the words before.
pub(super) fn inner_product_pair_from(start: usize, out: [&mut [u64]; 2], rows: &[&[u64]], key: &[u64], q: &Modulus) {
    let reduction = WideReduction::new(q);
    let n = out[0].len();
    for (half, out) in out.into_iter().enumerate() {
        for (i, out) in out.iter_mut().enumerate().skip(start) {
            let digits = rows.iter().zip(key.chunks_exact(2 * n));
            let sum = digits.map(|(row, pair)| u128::from(row[i]) * u128::from(pair[half * n + i])).sum();
            *out = reduction.reduce(sum);
        }
    }
}

pub(super) fn weighted_sum(out: &mut [u64], rows: &[&[u64]], weights: &[u64], q: &Modulus) {
    weighted_sum_from(0, out, rows, weights, q);
}

/// [`weighted_sum`] of the words from `start` on, for tables that did the words before.
pub(super) fn weighted_sum_from(start: usize, out: &mut [u64], rows: &[&[u64]], weights: &[u64], q: &Modulus) {
    let reduction = WideReduction::new(q);
    for (j, out) in out.iter_mut().enumerate().skip(start) {
        let sum = rows.iter().zip(weights).map(|(row, &w)| u128::from(row[j]) * u128::from(w)).sum();
        *out = reduction.reduce(sum);
    }
}

pub(super) fn quotients(out: &mut [u64], rows: &[&[u64]], inverses: &[f64]) {
    quotients_from(0, out, rows, inverses);
}

/// [`quotients`] of the words from `start` on, for tables that did the words before.
pub(super) fn quotients_from(start: usize, out: &mut [u64], rows: &[&[u64]], inverses: &[f64]) {
    for (j, out) in out.iter_mut().enumerate().skip(start) {
        let sum = rows.iter().zip(inverses).fold(0.5, |sum, (row, &inverse)| sum + row[j] as f64 * inverse);
        // The sum is not negative, so the cast is the floor.
        *out = sum as u64;
    }
}

pub(super) fn reduce(out: &mut [u64], a: &[u64], q: &Modulus) {
    let reduction = WideReduction::new(q);
    for (out, &a) in out.iter_mut().zip(a) {
        *out = reduction.reduce_word(a);
    }
}

pub(super) fn reduce_signed(out: &mut [u64], a: &[i64], q: &Modulus) {
    let reduction = WideReduction::new(q);
    let offset = signed_offset(q);
    for (out, &a) in out.iter_mut().zip(a) {
        *out = reduction.reduce_word(offset.wrapping_add_signed(a));
    }
}

/// The multiple of q that makes words in `(-2^62, 2^62)` positive, so that the sign of a secret word
/// decides nothing.
pub(super) fn signed_offset(q: &Modulus) -> u64 {
    (1u64 << 62).next_multiple_of(q.value())
}

pub(super) fn permute(out: &mut [u64], a: &[u64], perm: &[u32]) {
    for (out, &source) in out.iter_mut().zip(perm) {
        *out = a[source as usize];
    }
}

pub(super) fn permute_add_assign(acc: &mut [u64], a: &[u64], perm: &[u32], q: &Modulus) {
    for (acc, &source) in acc.iter_mut().zip(perm) {
        *acc = q.add(*acc, a[source as usize]);
    }
}

/// Constants that reduce sums of products.
struct WideReduction {
    q: u64,
    /// `floor(2^64 / q)`.
    inverse: u64,
    /// `2^52 mod q`.
    high: ShoupFactor,
}

impl WideReduction {
    fn new(q: &Modulus) -> Self {
        Self { q: q.value(), inverse: u64::MAX / q.value(), high: q.shoup(q.reduce(1 << 52)) }
    }

    /// Range: in `[0, 2^64)`, out `[0, q)`.
    #[inline(always)]
    fn reduce_word(&self, x: u64) -> u64 {
        // The quotient is at most 1 short, since x < 2^64.
        let quotient = ((u128::from(x) * u128::from(self.inverse)) >> 64) as u64;
        subtract_if_not_below(x - quotient * self.q, self.q)
    }

    /// Range: in `[0, 2^108)`, out `[0, q)`.
    #[inline(always)]
    fn reduce(&self, x: u128) -> u64 {
        let (high, low) = ((x >> 52) as u64, x as u64 & ((1 << 52) - 1));
        // Shoup's product is below (1 + high / 2^52) q: at most 17q < 2^55.
        let quotient = ((u128::from(high) * u128::from(self.high.quotient)) >> 52) as u64;
        let folded = high.wrapping_mul(self.high.value).wrapping_sub(quotient.wrapping_mul(self.q));
        self.reduce_word(folded + low)
    }
}

/// Range: in `[0, 2 bound)`, out `[0, bound)`.
#[inline(always)]
pub(super) fn subtract_if_not_below(x: u64, bound: u64) -> u64 {
    // The wrapped difference is the larger one exactly if x < bound.
    x.min(x.wrapping_sub(bound))
}
