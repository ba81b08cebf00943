//! Kernels that treat each word of a row alike. Whole vectors are done here, the words that are
//! left by `portable`.

use std::arch::x86_64::*;

use super::arithmetic::{Barrett, Factor, Prime, Vector, WIDTH, Wide, broadcast, load, store};
use crate::kernels::portable;
use crate::modulus::{Modulus, ShoupFactor};

/// `out = f(a)` on whole vectors; gives back the words that are left.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn map<'a, 'b>(out: &'a mut [u64], a: &'b [u64], f: impl Fn(Vector) -> Vector) -> (&'a mut [u64], &'b [u64]) {
    let (out, out_rest) = out.as_chunks_mut::<WIDTH>();
    let (a, a_rest) = a.as_chunks::<WIDTH>();
    for (out, a) in out.iter_mut().zip(a) {
        store(out, f(load(a)));
    }
    (out_rest, a_rest)
}

/// `a = f(a)`, like [`map`].
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn map_assign(a: &mut [u64], f: impl Fn(Vector) -> Vector) -> &mut [u64] {
    let (a, a_rest) = a.as_chunks_mut::<WIDTH>();
    for a in a {
        store(a, f(load(a)));
    }
    a_rest
}

/// `out = f(a, b)`, like [`map`].
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn zip<'a, 'b>(
    out: &'a mut [u64],
    a: &'b [u64],
    b: &'b [u64],
    f: impl Fn(Vector, Vector) -> Vector,
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
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn zip_assign<'a, 'b>(
    a: &'a mut [u64],
    b: &'b [u64],
    f: impl Fn(Vector, Vector) -> Vector,
) -> (&'a mut [u64], &'b [u64]) {
    let (a, a_rest) = a.as_chunks_mut::<WIDTH>();
    let (b, b_rest) = b.as_chunks::<WIDTH>();
    for (a, b) in a.iter_mut().zip(b) {
        store(a, f(load(a), load(b)));
    }
    (a_rest, b_rest)
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) fn add(out: &mut [u64], a: &[u64], b: &[u64], q: &Modulus) {
    let prime = Prime::new(q);
    let (out, a, b) = zip(out, a, b, |a, b| prime.add(a, b));
    portable::add(out, a, b, q);
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) fn add_assign(a: &mut [u64], b: &[u64], q: &Modulus) {
    let prime = Prime::new(q);
    let (a, b) = zip_assign(a, b, |a, b| prime.add(a, b));
    portable::add_assign(a, b, q);
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) fn sub(out: &mut [u64], a: &[u64], b: &[u64], q: &Modulus) {
    let prime = Prime::new(q);
    let (out, a, b) = zip(out, a, b, |a, b| prime.sub(a, b));
    portable::sub(out, a, b, q);
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) fn sub_assign(a: &mut [u64], b: &[u64], q: &Modulus) {
    let prime = Prime::new(q);
    let (a, b) = zip_assign(a, b, |a, b| prime.sub(a, b));
    portable::sub_assign(a, b, q);
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) fn neg(out: &mut [u64], a: &[u64], q: &Modulus) {
    let prime = Prime::new(q);
    let (out, a) = map(out, a, |a| prime.neg(a));
    portable::neg(out, a, q);
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) fn neg_assign(a: &mut [u64], q: &Modulus) {
    let prime = Prime::new(q);
    portable::neg_assign(map_assign(a, |a| prime.neg(a)), q);
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) fn mul(out: &mut [u64], a: &[u64], b: &[u64], q: &Modulus) {
    let barrett = Barrett::new(q);
    let (out, a, b) = zip(out, a, b, |a, b| barrett.mul(a, b));
    portable::mul(out, a, b, q);
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) fn mul_assign(a: &mut [u64], b: &[u64], q: &Modulus) {
    let barrett = Barrett::new(q);
    let (a, b) = zip_assign(a, b, |a, b| barrett.mul(a, b));
    portable::mul_assign(a, b, q);
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) fn mul_add_assign(acc: &mut [u64], a: &[u64], b: &[u64], q: &Modulus) {
    let barrett = Barrett::new(q);
    let (acc, acc_rest) = acc.as_chunks_mut::<WIDTH>();
    let (a, a_rest) = a.as_chunks::<WIDTH>();
    let (b, b_rest) = b.as_chunks::<WIDTH>();
    for ((acc, a), b) in acc.iter_mut().zip(a).zip(b) {
        store(acc, barrett.mul_add(load(a), load(b), load(acc)));
    }
    portable::mul_add_assign(acc_rest, a_rest, b_rest, q);
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) fn mul_scalar(out: &mut [u64], a: &[u64], w: ShoupFactor, q: &Modulus) {
    let (prime, factor) = (Prime::new(q), Factor::broadcast(w));
    let (out, a) = map(out, a, |a| prime.mul(a, factor));
    portable::mul_scalar(out, a, w, q);
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) fn mul_scalar_assign(a: &mut [u64], w: ShoupFactor, q: &Modulus) {
    let (prime, factor) = (Prime::new(q), Factor::broadcast(w));
    portable::mul_scalar_assign(map_assign(a, |a| prime.mul(a, factor)), w, q);
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) fn mul_scalar_add_assign(acc: &mut [u64], a: &[u64], w: ShoupFactor, q: &Modulus) {
    let (prime, factor) = (Prime::new(q), Factor::broadcast(w));
    // The lazy product is below 2q, the sum below 3q.
    let (acc, a) = zip_assign(acc, a, |acc, a| prime.normalize(_mm512_add_epi64(acc, prime.mul_lazy(a, factor))));
    portable::mul_scalar_add_assign(acc, a, w, q);
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) fn sub_mul_scalar_assign(a: &mut [u64], b: &[u64], w: ShoupFactor, q: &Modulus) {
    let (prime, factor) = (Prime::new(q), Factor::broadcast(w));
    let (a, b) = zip_assign(a, b, |a, b| {
        let difference = _mm512_sub_epi64(_mm512_add_epi64(a, prime.q), b);
        prime.mul(difference, factor)
    });
    portable::sub_mul_scalar_assign(a, b, w, q);
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) fn add_scalar_assign(a: &mut [u64], c: u64, q: &Modulus) {
    let (prime, constant) = (Prime::new(q), broadcast(c));
    portable::add_scalar_assign(map_assign(a, |a| prime.add(a, constant)), c, q);
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) fn reduce(out: &mut [u64], a: &[u64], q: &Modulus) {
    let wide = Wide::new(q);
    let (out, a) = map(out, a, |a| wide.reduce_word(a));
    portable::reduce(out, a, q);
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) fn reduce_signed(out: &mut [u64], a: &[i64], q: &Modulus) {
    let wide = Wide::new(q);
    let (out, out_rest) = out.as_chunks_mut::<WIDTH>();
    let (a, a_rest) = a.as_chunks::<WIDTH>();
    let offset = broadcast(portable::signed_offset(q));
    for (out, a) in out.iter_mut().zip(a) {
        let positive = _mm512_add_epi64(load(&a.map(i64::cast_unsigned)), offset);
        store(out, wide.reduce(_mm512_setzero_si512(), positive));
    }
    portable::reduce_signed(out_rest, a_rest, q);
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) fn permute(out: &mut [u64], a: &[u64], perm: &[u32]) {
    let groups = a.as_chunks::<WIDTH>().0;
    let (out, out_rest) = out.as_chunks_mut::<WIDTH>();
    let (perm, perm_rest) = perm.as_chunks::<WIDTH>();
    for (out, perm) in out.iter_mut().zip(perm) {
        let sources = load(&perm.map(u64::from));
        let group = perm[0] / WIDTH as u32;
        let same = _mm512_cmpeq_epi64_mask(_mm512_srli_epi64::<3>(sources), broadcast(u64::from(group)));
        match groups.get(group as usize) {
            // The shuffle reads only the low three bits of each source.
            Some(words) if same == 0xff => store(out, _mm512_permutexvar_epi64(sources, load(words))),
            _ => portable::permute(out, a, perm),
        }
    }
    portable::permute(out_rest, a, perm_rest);
}
