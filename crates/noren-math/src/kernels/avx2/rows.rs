//! Kernels that treat each word of a row alike. Whole vectors are done here, the words that are left by `portable`.

use std::arch::x86_64::*;

use super::arithmetic::{Factor, Prime, WIDTH, broadcast, load, numbers, store, words};
use crate::kernels::portable;
use crate::modulus::{Modulus, ShoupFactor};

/// `out = f(a)` on whole vectors; gives back the words that are left.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn map<'a, 'b>(out: &'a mut [u64], a: &'b [u64], f: impl Fn(__m256i) -> __m256i) -> (&'a mut [u64], &'b [u64]) {
    let (out, out_rest) = out.as_chunks_mut::<WIDTH>();
    let (a, a_rest) = a.as_chunks::<WIDTH>();
    for (out, a) in out.iter_mut().zip(a) {
        store(out, f(load(a)));
    }
    (out_rest, a_rest)
}

/// `a = f(a)`, like [`map`].
#[inline]
#[target_feature(enable = "avx2,fma")]
fn map_assign(a: &mut [u64], f: impl Fn(__m256i) -> __m256i) -> &mut [u64] {
    let (a, a_rest) = a.as_chunks_mut::<WIDTH>();
    for a in a {
        store(a, f(load(a)));
    }
    a_rest
}

/// `out = f(a, b)`, like [`map`].
#[inline]
#[target_feature(enable = "avx2,fma")]
fn zip<'a, 'b>(
    out: &'a mut [u64],
    a: &'b [u64],
    b: &'b [u64],
    f: impl Fn(__m256i, __m256i) -> __m256i,
) -> (&'a mut [u64], &'b [u64], &'b [u64]) {
    let (out, out_rest) = out.as_chunks_mut::<WIDTH>();
    let (a, a_rest) = a.as_chunks::<WIDTH>();
    let (b, b_rest) = b.as_chunks::<WIDTH>();
    for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
        store(out, f(load(a), load(b)));
    }
    (out_rest, a_rest, b_rest)
}

/// `a = f(a, b)`, like [`map`].
#[inline]
#[target_feature(enable = "avx2,fma")]
fn zip_assign<'a, 'b>(
    a: &'a mut [u64],
    b: &'b [u64],
    f: impl Fn(__m256i, __m256i) -> __m256i,
) -> (&'a mut [u64], &'b [u64]) {
    let (a, a_rest) = a.as_chunks_mut::<WIDTH>();
    let (b, b_rest) = b.as_chunks::<WIDTH>();
    for (a, b) in a.iter_mut().zip(b) {
        store(a, f(load(a), load(b)));
    }
    (a_rest, b_rest)
}

/// Adds q to what is negative as a signed word.
#[inline]
#[target_feature(enable = "avx2")]
fn positive(x: __m256i, q: __m256i) -> __m256i {
    let negative = _mm256_cmpgt_epi64(_mm256_setzero_si256(), x);
    _mm256_add_epi64(x, _mm256_and_si256(negative, q))
}

/// `a + b`. Range: in `[0, q)`, out `[0, q)`.
#[inline]
#[target_feature(enable = "avx2")]
fn add_words(a: __m256i, b: __m256i, q: __m256i) -> __m256i {
    positive(_mm256_sub_epi64(_mm256_add_epi64(a, b), q), q)
}

/// `a - b`. Range: in `[0, q)`, out `[0, q)`.
#[inline]
#[target_feature(enable = "avx2")]
fn sub_words(a: __m256i, b: __m256i, q: __m256i) -> __m256i {
    positive(_mm256_sub_epi64(a, b), q)
}

/// `-a`. Range: in `[0, q)`, out `[0, q)`.
#[inline]
#[target_feature(enable = "avx2")]
fn neg_words(a: __m256i, q: __m256i) -> __m256i {
    let zero = _mm256_cmpeq_epi64(a, _mm256_setzero_si256());
    _mm256_andnot_si256(zero, _mm256_sub_epi64(q, a))
}

/// `a * b`. Range: in `[0, q)`, out `[0, q)`.
///
/// The product's estimate is off by at most `2^50 / 2^52`, so the remainder is at most `3q/4` in size.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn mul_words(a: __m256i, b: __m256i, prime: Prime) -> __m256i {
    words(prime.positive(prime.mul_by_estimate(numbers(a), numbers(b))))
}

/// `a * w`. Range: in `[0, 2^52)`, out `[0, q)`.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn scale_words(a: __m256i, w: Factor, prime: Prime) -> __m256i {
    words(prime.positive(prime.mul(numbers(a), w)))
}

/// `a mod q`. Range: in `[0, 2^52)`, out `[0, q)`.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn reduce_words(a: __m256i, prime: Prime) -> __m256i {
    words(prime.positive(prime.reduce(numbers(a))))
}

#[target_feature(enable = "avx2,fma")]
pub(super) fn add(out: &mut [u64], a: &[u64], b: &[u64], q: &Modulus) {
    let prime = broadcast(q.value());
    let (out, a, b) = zip(out, a, b, |a, b| add_words(a, b, prime));
    portable::add(out, a, b, q);
}

#[target_feature(enable = "avx2,fma")]
pub(super) fn add_assign(a: &mut [u64], b: &[u64], q: &Modulus) {
    let prime = broadcast(q.value());
    let (a, b) = zip_assign(a, b, |a, b| add_words(a, b, prime));
    portable::add_assign(a, b, q);
}

#[target_feature(enable = "avx2,fma")]
pub(super) fn sub(out: &mut [u64], a: &[u64], b: &[u64], q: &Modulus) {
    let prime = broadcast(q.value());
    let (out, a, b) = zip(out, a, b, |a, b| sub_words(a, b, prime));
    portable::sub(out, a, b, q);
}

#[target_feature(enable = "avx2,fma")]
pub(super) fn sub_assign(a: &mut [u64], b: &[u64], q: &Modulus) {
    let prime = broadcast(q.value());
    let (a, b) = zip_assign(a, b, |a, b| sub_words(a, b, prime));
    portable::sub_assign(a, b, q);
}

#[target_feature(enable = "avx2,fma")]
pub(super) fn neg(out: &mut [u64], a: &[u64], q: &Modulus) {
    let prime = broadcast(q.value());
    let (out, a) = map(out, a, |a| neg_words(a, prime));
    portable::neg(out, a, q);
}

#[target_feature(enable = "avx2,fma")]
pub(super) fn neg_assign(a: &mut [u64], q: &Modulus) {
    let prime = broadcast(q.value());
    portable::neg_assign(map_assign(a, |a| neg_words(a, prime)), q);
}

#[target_feature(enable = "avx2,fma")]
pub(super) fn add_scalar_assign(a: &mut [u64], c: u64, q: &Modulus) {
    let (prime, constant) = (broadcast(q.value()), broadcast(c));
    portable::add_scalar_assign(map_assign(a, |a| add_words(a, constant, prime)), c, q);
}

#[target_feature(enable = "avx2,fma")]
pub(super) fn mul(out: &mut [u64], a: &[u64], b: &[u64], q: &Modulus) {
    let prime = Prime::new(q);
    let (out, a, b) = zip(out, a, b, |a, b| mul_words(a, b, prime));
    portable::mul(out, a, b, q);
}

#[target_feature(enable = "avx2,fma")]
pub(super) fn mul_assign(a: &mut [u64], b: &[u64], q: &Modulus) {
    let prime = Prime::new(q);
    let (a, b) = zip_assign(a, b, |a, b| mul_words(a, b, prime));
    portable::mul_assign(a, b, q);
}

#[target_feature(enable = "avx2,fma")]
pub(super) fn mul_add_assign(acc: &mut [u64], a: &[u64], b: &[u64], q: &Modulus) {
    let (prime, integer_prime) = (Prime::new(q), broadcast(q.value()));
    let (acc, acc_rest) = acc.as_chunks_mut::<WIDTH>();
    let (a, a_rest) = a.as_chunks::<WIDTH>();
    let (b, b_rest) = b.as_chunks::<WIDTH>();
    for ((acc, a), b) in acc.iter_mut().zip(a).zip(b) {
        let product = mul_words(load(a), load(b), prime);
        store(acc, add_words(load(acc), product, integer_prime));
    }
    portable::mul_add_assign(acc_rest, a_rest, b_rest, q);
}

#[target_feature(enable = "avx2,fma")]
pub(super) fn mul_scalar(out: &mut [u64], a: &[u64], w: ShoupFactor, q: &Modulus) {
    let (prime, factor) = (Prime::new(q), Factor::broadcast(w, q));
    let (out, a) = map(out, a, |a| scale_words(a, factor, prime));
    portable::mul_scalar(out, a, w, q);
}

#[target_feature(enable = "avx2,fma")]
pub(super) fn mul_scalar_assign(a: &mut [u64], w: ShoupFactor, q: &Modulus) {
    let (prime, factor) = (Prime::new(q), Factor::broadcast(w, q));
    portable::mul_scalar_assign(map_assign(a, |a| scale_words(a, factor, prime)), w, q);
}

#[target_feature(enable = "avx2,fma")]
pub(super) fn mul_scalar_add_assign(acc: &mut [u64], a: &[u64], w: ShoupFactor, q: &Modulus) {
    let (prime, integer_prime, factor) = (Prime::new(q), broadcast(q.value()), Factor::broadcast(w, q));
    let (acc, a) = zip_assign(acc, a, |acc, a| add_words(acc, scale_words(a, factor, prime), integer_prime));
    portable::mul_scalar_add_assign(acc, a, w, q);
}

#[target_feature(enable = "avx2,fma")]
pub(super) fn sub_mul_scalar_assign(a: &mut [u64], b: &[u64], w: ShoupFactor, q: &Modulus) {
    let (prime, factor) = (Prime::new(q), Factor::broadcast(w, q));
    let (a, b) = zip_assign(a, b, |a, b| {
        let difference = _mm256_sub_pd(numbers(a), numbers(b));
        words(prime.positive(prime.mul(difference, factor)))
    });
    portable::sub_mul_scalar_assign(a, b, w, q);
}

#[target_feature(enable = "avx2,fma")]
pub(super) fn reduce(out: &mut [u64], a: &[u64], q: &Modulus) {
    let prime = Prime::new(q);
    let (out, a) = map(out, a, |a| reduce_words(a, prime));
    portable::reduce(out, a, q);
}

#[target_feature(enable = "avx2,fma")]
pub(super) fn reduce_signed(out: &mut [u64], a: &[i64], q: &Modulus) {
    /// What makes every number positive, as a multiple of `2^32`.
    const OFFSET: i64 = 1 << 62;
    const HALF_BITS: i32 = 32;
    let prime = Prime::new(q);
    let high_factor = Factor::broadcast(q.shoup(q.reduce(1 << HALF_BITS)), q);
    let offset = _mm256_set1_pd(q.reduce(1 << 62) as f64);
    let (out, out_rest) = out.as_chunks_mut::<WIDTH>();
    let (a, a_rest) = a.as_chunks::<WIDTH>();
    for (out, a) in out.iter_mut().zip(a) {
        let raised = load(&a.map(|a| a.wrapping_add(OFFSET).cast_unsigned()));
        // Below 2^31 and below 2^32.
        let high = numbers(_mm256_srli_epi64::<HALF_BITS>(raised));
        let low = numbers(_mm256_and_si256(raised, broadcast(u64::from(u32::MAX))));
        let folded = _mm256_add_pd(prime.mul(high, high_factor), _mm256_sub_pd(low, offset));
        // At most 2^51 + 2^32 in size.
        store(out, words(prime.positive(prime.reduce(folded))));
    }
    portable::reduce_signed(out_rest, a_rest, q);
}
