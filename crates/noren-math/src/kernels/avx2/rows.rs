//! Kernels that treat each word of a row alike, over four lanes.

use std::arch::x86_64::*;

use super::arithmetic::{Factor, Prime, WIDTH, broadcast, load, numbers, store, stream, words};
use crate::kernels::vector_rows::vector_rows;
use crate::kernels::{chacha, gaussian, normal};

vector_rows!("avx2,fma");

/// Four words.
type Vector = __m256i;

/// Sums of residues.
#[derive(Clone, Copy)]
pub(super) struct Sum {
    q: Vector,
}

impl Sum {
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn new(q: &Modulus) -> Self {
        Self { q: broadcast(q.value()) }
    }

    /// Adds q to what is negative as a signed word.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn positive(self, x: Vector) -> Vector {
        let negative = _mm256_cmpgt_epi64(_mm256_setzero_si256(), x);
        _mm256_add_epi64(x, _mm256_and_si256(negative, self.q))
    }

    /// `a + b`. Range: in `[0, q)`, out `[0, q)`.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn add(self, a: Vector, b: Vector) -> Vector {
        self.positive(_mm256_sub_epi64(_mm256_add_epi64(a, b), self.q))
    }

    /// `a - b`. Range: in `[0, q)`, out `[0, q)`.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn sub(self, a: Vector, b: Vector) -> Vector {
        self.positive(_mm256_sub_epi64(a, b))
    }

    /// `-a`. Range: in `[0, q)`, out `[0, q)`.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn neg(self, a: Vector) -> Vector {
        let zero = _mm256_cmpeq_epi64(a, _mm256_setzero_si256());
        _mm256_andnot_si256(zero, _mm256_sub_epi64(self.q, a))
    }
}

/// Products of residues.
#[derive(Clone, Copy)]
struct Product {
    prime: Prime,
    sum: Sum,
}

impl Product {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn new(q: &Modulus) -> Self {
        Self { prime: Prime::new(q), sum: Sum::new(q) }
    }

    /// `a * b`. Range: in `[0, q)`, out `[0, q)`.
    ///
    /// The product's estimate is off by at most `2^50 / 2^52`, so the remainder is at most `3q/4` in size.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn mul(self, a: Vector, b: Vector) -> Vector {
        words(self.prime.positive(self.prime.mul_by_estimate(numbers(a), numbers(b))))
    }

    /// `a * b + c`. Range: in `[0, q)`, out `[0, q)`.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn mul_add(self, a: Vector, b: Vector, c: Vector) -> Vector {
        self.sum.add(c, self.mul(a, b))
    }
}

/// Products with a constant factor.
#[derive(Clone, Copy)]
struct Scale {
    prime: Prime,
    sum: Sum,
    factor: Factor,
}

impl Scale {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn new(w: ShoupFactor, q: &Modulus) -> Self {
        Self { prime: Prime::new(q), sum: Sum::new(q), factor: Factor::broadcast(w, q) }
    }

    /// `a * w`. Range: in `[0, 2^52)`, out `[0, q)`.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn mul(self, a: Vector) -> Vector {
        words(self.prime.positive(self.prime.mul(numbers(a), self.factor)))
    }

    /// `a * w + c`. Range: in `[0, q)`, out `[0, q)`.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn mul_add(self, a: Vector, c: Vector) -> Vector {
        self.sum.add(c, self.mul(a))
    }

    /// `(a - b) * w`. Range: in `[0, q)`, out `[0, q)`.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn sub_mul(self, a: Vector, b: Vector) -> Vector {
        let difference = _mm256_sub_pd(numbers(a), numbers(b));
        words(self.prime.positive(self.prime.mul(difference, self.factor)))
    }
}

/// Remainders of words.
#[derive(Clone, Copy)]
struct Reduction {
    prime: Prime,
}

impl Reduction {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn new(q: &Modulus) -> Self {
        Self { prime: Prime::new(q) }
    }

    /// `a mod q`. Range: in `[0, 2^52)`, out `[0, q)`.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn reduce_word(self, a: Vector) -> Vector {
        words(self.prime.positive(self.prime.reduce(numbers(a))))
    }
}

/// `a + c` where `a > bound`, else `a`. Range: a and bound below 2^63.
#[inline]
#[target_feature(enable = "avx2")]
fn add_above(a: Vector, bound: Vector, c: Vector) -> Vector {
    _mm256_add_epi64(a, _mm256_and_si256(_mm256_cmpgt_epi64(a, bound), c))
}

/// Remainders of signed words.
#[derive(Clone, Copy)]
struct SignedReduction {
    prime: Prime,
    /// `2^32` modulo q.
    high_factor: Factor,
    /// [`SignedReduction::OFFSET`] modulo q.
    offset: __m256d,
}

impl SignedReduction {
    /// The offset that makes every number positive, as a multiple of `2^32`.
    const OFFSET: u64 = 1 << 62;
    const HALF_BITS: i32 = 32;

    #[inline]
    #[target_feature(enable = "avx2")]
    fn new(q: &Modulus) -> Self {
        let high_factor = Factor::broadcast(q.shoup(q.reduce(1 << Self::HALF_BITS)), q);
        Self { prime: Prime::new(q), high_factor, offset: _mm256_set1_pd(q.reduce(Self::OFFSET) as f64) }
    }

    /// `a mod q`. Range: in `(-2^62, 2^62)`, out `[0, q)`.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn reduce(self, a: Vector) -> Vector {
        let raised = _mm256_add_epi64(a, broadcast(Self::OFFSET));
        // Below 2^31 and below 2^32.
        let high = numbers(_mm256_srli_epi64::<{ Self::HALF_BITS }>(raised));
        let low = numbers(_mm256_and_si256(raised, broadcast(u64::from(u32::MAX))));
        let folded = _mm256_add_pd(self.prime.mul(high, self.high_factor), _mm256_sub_pd(low, self.offset));
        // At most 2^51 + 2^32 in size.
        words(self.prime.positive(self.prime.reduce(folded)))
    }
}

/// See `chacha::chacha20`.
#[target_feature(enable = "avx2")]
pub(super) fn chacha20(out: &mut [u64], key: &[u32; 8], counter: u64) {
    chacha::chacha20::<8>(out, key, counter);
}

/// See `normal::normal`.
#[target_feature(enable = "avx2")]
pub(super) fn normal(out: &mut [u64], pairs: &[[f64; 2]], scale: f64) {
    normal::normal(out, pairs, scale);
}

/// See `normal::inside_circle`.
#[target_feature(enable = "avx2")]
pub(super) fn inside_circle(pairs: &mut [[f64; 2]], words: &[u64]) -> usize {
    normal::inside_circle(pairs, words)
}

/// See `gaussian::gaussian`.
#[target_feature(enable = "avx2")]
pub(super) fn gaussian(out: &mut [i64], words: &[u64]) {
    gaussian::gaussian(out, words);
}

/// Entries that stay within four words, as those of automorphisms do four by four, are a shuffle of one vector.
#[target_feature(enable = "avx2")]
pub(super) fn unpack_halves(out: &mut [u64], packed: &[u64], q: &Modulus) {
    let prime = broadcast(q.value());
    for (out, &word) in out.as_chunks_mut::<WIDTH>().0.iter_mut().zip(packed) {
        let halves = _mm_set_epi64x(0, word.cast_signed());
        store(out, _mm256_add_epi64(_mm256_cvtepi16_epi64(halves), prime));
    }
}

#[target_feature(enable = "avx2")]
pub(super) fn permute(out: &mut [u64], a: &[u64], perm: &[u32]) {
    let groups = a.as_chunks::<WIDTH>().0;
    let (out, out_rest) = out.as_chunks_mut::<WIDTH>();
    let (perm, perm_rest) = perm.as_chunks::<WIDTH>();
    for (out, perm) in out.iter_mut().zip(perm) {
        match groups.get(perm[0] as usize / WIDTH) {
            Some(group) if together(perm) => store(out, shuffle(load(group), perm)),
            _ => portable::permute(out, a, perm),
        }
    }
    portable::permute(out_rest, a, perm_rest);
}

#[target_feature(enable = "avx2")]
pub(super) fn permute_add_assign(acc: &mut [u64], a: &[u64], perm: &[u32], q: &Modulus) {
    let residues = Sum::new(q);
    let groups = a.as_chunks::<WIDTH>().0;
    let (acc, acc_rest) = acc.as_chunks_mut::<WIDTH>();
    let (perm, perm_rest) = perm.as_chunks::<WIDTH>();
    for (acc, perm) in acc.iter_mut().zip(perm) {
        if together(perm) {
            let image = shuffle(load(&groups[perm[0] as usize / WIDTH]), perm);
            store(acc, residues.add(load(acc), image));
        } else {
            portable::permute_add_assign(acc, a, perm, q);
        }
    }
    portable::permute_add_assign(acc_rest, a, perm_rest, q);
}

/// Whether the entries are those of one vector.
#[inline]
fn together(perm: &[u32; WIDTH]) -> bool {
    perm.iter().all(|source| source / WIDTH as u32 == perm[0] / WIDTH as u32)
}

/// The words of a vector that the entries name by their place in it.
#[inline]
#[target_feature(enable = "avx2")]
fn shuffle(group: Vector, perm: &[u32; WIDTH]) -> Vector {
    arrange(group, load(&perm.map(u64::from)))
}

/// The words of a vector that the low two bits of each entry name.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn arrange(group: Vector, order: Vector) -> Vector {
    /// The lowest bit of each upper half.
    const UPPER: u64 = 1 << 32;
    // A shuffle of halves of words reads the low three bits of each index: word s has halves 2s and 2s + 1.
    let lower = _mm256_slli_epi64::<1>(_mm256_and_si256(order, broadcast(WIDTH as u64 - 1)));
    let halves = _mm256_or_si256(_mm256_or_si256(lower, _mm256_slli_epi64::<32>(lower)), broadcast(UPPER));
    _mm256_permutevar8x32_epi32(group, halves)
}
