//! Kernels that treat each word of a row alike, over eight lanes.

use std::arch::x86_64::*;

use super::arithmetic::{Barrett, Factor, Prime, Vector, WIDTH, Wide, broadcast, fence, load, store, stream};
use crate::kernels::rows::vector::vector_rows;

vector_rows!("avx512f,avx512dq,avx512ifma");

/// Sums of residues.
type Sum = Prime;
/// Products of residues.
type Product = Barrett;
/// Remainders of words.
type Reduction = Wide;

/// Products with a constant factor.
#[derive(Clone, Copy)]
struct Scale {
    prime: Prime,
    factor: Factor,
}

impl Scale {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn new(w: ShoupFactor, q: &Modulus) -> Self {
        Self { prime: Prime::new(q), factor: Factor::broadcast(w) }
    }

    /// `a * w`. Range: in `[0, 2^52)`, out `[0, q)`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    fn mul(self, a: Vector) -> Vector {
        self.prime.mul(a, self.factor)
    }

    /// `a * w + c`. Range: in `[0, q)`, out `[0, q)`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    fn mul_add(self, a: Vector, c: Vector) -> Vector {
        // The lazy product is below 2q, the sum below 3q.
        self.prime.normalize(_mm512_add_epi64(c, self.prime.mul_lazy(a, self.factor)))
    }

    /// `(a - b) * w`. Range: in `[0, q)`, out `[0, q)`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    fn sub_mul(self, a: Vector, b: Vector) -> Vector {
        self.mul(_mm512_sub_epi64(_mm512_add_epi64(a, self.prime.q), b))
    }
}

/// `a + c` where `a > bound`, else `a`.
#[inline]
#[target_feature(enable = "avx512f")]
fn add_above(a: Vector, bound: Vector, c: Vector) -> Vector {
    _mm512_mask_add_epi64(a, _mm512_cmpgt_epu64_mask(a, bound), a, c)
}

/// Remainders of signed words.
#[derive(Clone, Copy)]
struct SignedReduction {
    wide: Wide,
    offset: Vector,
}

impl SignedReduction {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn new(q: &Modulus) -> Self {
        Self { wide: Wide::new(q), offset: broadcast(portable::signed_offset(q)) }
    }

    /// `a mod q`. Range: in `(-2^62, 2^62)`, out `[0, q)`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn reduce(self, a: Vector) -> Vector {
        self.wide.reduce(_mm512_setzero_si512(), _mm512_add_epi64(a, self.offset))
    }
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) fn unpack_halves(out: &mut [u64], packed: &[u64], q: &Modulus) {
    let prime = broadcast(q.value());
    let (out, out_rest) = out.as_chunks_mut::<WIDTH>();
    let (packed, packed_rest) = packed.as_chunks::<2>();
    for (out, &[low, high]) in out.iter_mut().zip(packed) {
        let halves = _mm_set_epi64x(high.cast_signed(), low.cast_signed());
        store(out, _mm512_add_epi64(_mm512_cvtepi16_epi64(halves), prime));
    }
    portable::unpack_halves(out_rest, packed_rest, q);
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

#[target_feature(enable = "avx512f")]
pub(super) fn permute_add_assign(acc: &mut [u64], a: &[u64], perm: &[u32], q: &Modulus) {
    let prime = Prime::new(q);
    let groups = a.as_chunks::<WIDTH>().0;
    let (acc, acc_rest) = acc.as_chunks_mut::<WIDTH>();
    let (perm, perm_rest) = perm.as_chunks::<WIDTH>();
    for (acc, perm) in acc.iter_mut().zip(perm) {
        let group = load(&groups[perm[0] as usize / WIDTH]);
        // The shuffle reads only the low three bits of each source.
        let image = _mm512_permutexvar_epi64(load(&perm.map(u64::from)), group);
        store(acc, prime.add(load(acc), image));
    }
    portable::permute_add_assign(acc_rest, a, perm_rest, q);
}
