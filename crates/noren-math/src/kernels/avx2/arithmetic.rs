//! Residues four at a time, as integers in `f64`: loads, stores, and arithmetic modulo one prime.
//!
//! # Why the results are exact
//!
//! An `f64` holds every integer up to 2^53. Write `e = 2^-53` for the relative error of one rounding.
//!
//! *Rounding to an integer.* For `|x| <= 2^51`, `x + MAGIC` lies in `[2^52, 2^53]`, where `f64` are the
//! integers; so [`Prime::nearest`] is an integer within 1/2 of the exact `a * b`, however `a * b` rounds,
//! as the fused multiply-add rounds once.
//!
//! *Products.* Let `y` and `w` be integers, `h = rn(y w)`, `l = y w - h`. `l` is an integer below 2^53
//! (half a unit of the last place of `h`), so `fmsub` gives it exactly. Let `k` be the integer nearest
//! to an estimate of `y w / q` with error at most `d`. Then `|y w - k q| <= (1/2 + d) q`. The integer
//! `h - k q` differs from that by `l`, is below 2^53 too in all uses here (`|y w| < 2^102`, so
//! `|l| <= 2^48`), and so `fnmadd` gives it exactly; so is its sum with `l`. The result is congruent to
//! `y w` and at most `(1/2 + d) q` in size. The error `d` of the estimate is
//! - `|y w / q| * 2e` for `h * (1/q)` ([`Prime::mul_by_estimate`]): `h` and `1/q` are rounded once each;
//! - `|y| e / 2` for `y * ratio` with a `ratio` at most 1/2 in size that is `w/q` rounded to nearest
//!   ([`Prime::mul`]), plus second order terms far below 2^-40, which all bounds here have room for.
//!
//! *Reduction.* [`Prime::reduce`] of `|x| <= 2^53` estimates `x/q` within `|x/q| e`, so the result is at most
//! `q/2 + |x| e <= q/2 + 1` in size. The quotient is at most 2^51 if `|x| <= 2^51 q`: for `q = 3` that asks for
//! `|x| <= 3 * 2^51`, for all others it holds anyway.

use std::arch::x86_64::*;

use crate::modulus::{Modulus, ShoupFactor};

/// Four integers in `f64`.
pub(super) type Vector = __m256d;

/// How many words a vector holds.
pub(super) const WIDTH: usize = 4;

/// The words of one vector in memory.
pub(super) type Words = [u64; WIDTH];

/// `2^52`: the bits of `2^52 + x` are those of `2^52` with `x` below them, for `0 <= x < 2^52`.
pub(super) const TWO_52: f64 = (1u64 << 52) as f64;

/// `3 * 2^51`: adding it to `|x| <= 2^51` leaves no fraction bits.
pub(super) const MAGIC: f64 = 1.5 * TWO_52;

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn load(words: &Words) -> __m256i {
    // SAFETY: the reference is valid for the 32 bytes that are read; the load needs no alignment.
    unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn store(words: &mut Words, vector: __m256i) {
    // SAFETY: the reference is valid for the 32 bytes that are written; the store needs no alignment.
    unsafe { _mm256_storeu_si256(words.as_mut_ptr().cast(), vector) }
}

/// [`store`] past the caches.
///
/// # Safety
/// The words start at a multiple of 32 bytes.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) unsafe fn stream(words: &mut Words, vector: __m256i) {
    // SAFETY: the reference is valid for the 32 bytes that are written, and the caller aligned it.
    unsafe { _mm256_stream_si256(words.as_mut_ptr().cast(), vector) }
}

/// Reads numbers that [`store_bits`] wrote.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn load_bits(words: &Words) -> Vector {
    _mm256_castsi256_pd(load(words))
}

/// Writes the bits of numbers into words.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn store_bits(words: &mut Words, numbers: Vector) {
    store(words, _mm256_castpd_si256(numbers));
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn broadcast(word: u64) -> __m256i {
    _mm256_set1_epi64x(word.cast_signed())
}

/// `words - bias`, given `2^52 + bias`. Range: words in `[0, 2^52)`, bias an integer below 2^52.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn numbers_less(words: __m256i, biased: Vector) -> Vector {
    let raised = _mm256_or_si256(words, broadcast(TWO_52.to_bits()));
    _mm256_sub_pd(_mm256_castsi256_pd(raised), biased)
}

/// Words as numbers. Range: in `[0, 2^52)`.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn numbers(words: __m256i) -> Vector {
    numbers_less(words, _mm256_set1_pd(TWO_52))
}

/// Numbers as words. Range: in `[0, 2^52)`.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn words(numbers: Vector) -> __m256i {
    let raised = _mm256_castpd_si256(_mm256_add_pd(numbers, _mm256_set1_pd(TWO_52)));
    _mm256_xor_si256(raised, broadcast(TWO_52.to_bits()))
}

/// Exchanges rows and columns of 4 x 4 numbers.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn transpose(x: [Vector; 4]) -> [Vector; 4] {
    let (a, b) = (_mm256_unpacklo_pd(x[0], x[1]), _mm256_unpackhi_pd(x[0], x[1]));
    let (c, d) = (_mm256_unpacklo_pd(x[2], x[3]), _mm256_unpackhi_pd(x[2], x[3]));
    [
        _mm256_permute2f128_pd::<0x20>(a, c),
        _mm256_permute2f128_pd::<0x20>(b, d),
        _mm256_permute2f128_pd::<0x31>(a, c),
        _mm256_permute2f128_pd::<0x31>(b, d),
    ]
}

/// A factor `w` in each lane, centred, with `w / q`.
#[derive(Clone, Copy)]
pub(super) struct Factor {
    /// Range: `[-(q-1)/2, (q-1)/2]`.
    pub(super) value: Vector,
    pub(super) ratio: Vector,
}

impl Factor {
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn broadcast(w: ShoupFactor, q: &Modulus) -> Self {
        let value = q.center(w.value) as f64;
        Self { value: _mm256_set1_pd(value), ratio: _mm256_set1_pd(value / q.value() as f64) }
    }
}

/// The prime in every lane.
#[derive(Clone, Copy)]
pub(super) struct Prime {
    pub(super) q: Vector,
    inverse: Vector,
}

impl Prime {
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn new(q: &Modulus) -> Self {
        let q = q.value() as f64;
        Self { q: _mm256_set1_pd(q), inverse: _mm256_set1_pd(1.0 / q) }
    }

    /// An integer within 1/2 of `a * b`. Range: the product in `[-2^51, 2^51]`.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    pub(super) fn nearest(a: Vector, b: Vector) -> Vector {
        let magic = _mm256_set1_pd(MAGIC);
        _mm256_sub_pd(_mm256_fmadd_pd(a, b, magic), magic)
    }

    /// `y w - k q` exactly, given `h`, the rounded `y w`, and `k` near `y w / q`.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn remainder(self, y: Vector, w: Vector, h: Vector, k: Vector) -> Vector {
        let low = _mm256_fmsub_pd(y, w, h);
        _mm256_add_pd(_mm256_fnmadd_pd(k, self.q, h), low)
    }

    /// `y * w` modulo q. Range: in `|y| <= 4q + 8` or `|y| < 2^52`, out at most `q/2 + |y| q / 2^54` in size,
    /// so at most `3q/4`.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    pub(super) fn mul(self, y: Vector, w: Factor) -> Vector {
        let h = _mm256_mul_pd(y, w.value);
        self.remainder(y, w.value, h, Self::nearest(y, w.ratio))
    }

    /// `y * w` modulo q. Range: `|y w / q| < 2^51`, out at most `q/2 + |y w| / 2^52` in size.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    pub(super) fn mul_by_estimate(self, y: Vector, w: Vector) -> Vector {
        let h = _mm256_mul_pd(y, w);
        self.remainder(y, w, h, Self::nearest(h, self.inverse))
    }

    /// `x` modulo q. Range: in `[-2^53, 2^53]` (`[-2^52, 2^52]` suffices for `q = 3`), out at most `q/2 + 1` in size.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    pub(super) fn reduce(self, x: Vector) -> Vector {
        _mm256_fnmadd_pd(Self::nearest(x, self.inverse), self.q, x)
    }

    /// Adds q to what is negative. Range: in `(-q, q)`, out `[0, q)`.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn positive(self, x: Vector) -> Vector {
        let negative = _mm256_cmp_pd::<_CMP_LT_OQ>(x, _mm256_setzero_pd());
        _mm256_add_pd(x, _mm256_and_pd(negative, self.q))
    }

    /// Factors for four residues. Range: in `[0, q)`.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    pub(super) fn factors(self, residues: __m256i) -> Factor {
        let value = self.center(numbers(residues));
        let rough = _mm256_mul_pd(value, self.inverse);
        // One step of Newton's method, to get the ratio as if rounded once.
        let rest = _mm256_fnmadd_pd(rough, self.q, value);
        Factor { value, ratio: _mm256_fmadd_pd(rest, self.inverse, rough) }
    }

    /// The representative nearest to 0. Range: in `[0, q)`, out `[-(q-1)/2, (q-1)/2]`.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn center(self, x: Vector) -> Vector {
        let large = _mm256_cmp_pd::<_CMP_GT_OQ>(_mm256_add_pd(x, x), self.q);
        _mm256_sub_pd(x, _mm256_and_pd(large, self.q))
    }
}
