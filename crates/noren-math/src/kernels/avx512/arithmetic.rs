//! Residues eight at a time: loads, stores, and arithmetic modulo one prime.

use std::arch::x86_64::*;

use crate::machine::aligned::LINE;
use crate::modulus::{Modulus, ShoupFactor};

/// Eight words.
pub(super) type Vector = __m512i;

/// How many words a vector holds.
pub(super) const WIDTH: usize = 8;

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn load(words: &[u64; WIDTH]) -> Vector {
    // SAFETY: the reference is valid for the 64 bytes that are read; the load needs no alignment.
    unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn store(words: &mut [u64; WIDTH], vector: Vector) {
    // SAFETY: the reference is valid for the 64 bytes that are written; the store needs no
    // alignment.
    unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), vector) }
}

/// [`store`] past the caches.
///
/// # Safety
/// The words start on a cache line.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) unsafe fn stream(words: &mut [u64; WIDTH], vector: Vector) {
    // SAFETY: the reference is valid for the 64 bytes that are written, and the caller aligned it.
    unsafe { _mm512_stream_si512(words.as_mut_ptr().cast(), vector) }
}

/// Orders the stores of [`stream`] before all later stores.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn fence() {
    _mm_sfence();
}

/// Brings the lines of `value` into the nearest cache.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn prefetch<T>(value: &T) {
    for line in 0..size_of::<T>() / LINE {
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast::<i8>().wrapping_add(line * LINE));
    }
}

/// Brings the lines of `value` into a cache that is large enough for what is not needed at once.
#[inline]
pub(super) fn prefetch_far<T>(value: &T) {
    for line in 0..size_of::<T>() / LINE {
        // SAFETY: a prefetch reads nothing that the program sees, and every CPU with these tables has it.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(std::ptr::from_ref(value).cast::<i8>().wrapping_add(line * LINE)) };
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn broadcast(word: u64) -> Vector {
    _mm512_set1_epi64(word.cast_signed())
}

/// Range: in `[0, 2 bound)` with a bound below 2^52, out `[0, bound)`.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn subtract_if_not_below(x: Vector, bound: Vector) -> Vector {
    // As bits of `f64`, words below 2^63 are in order, and a negative difference above -2^52 is not a
    // number: the minimum is then its second operand. The minimum of integers would be the same, but
    // competes with the products for their ports on Zen 4, and is slower on Intel's CPUs. This needs the mode of
    // `StandardMode`: residues are subnormal numbers.
    let difference = _mm512_castsi512_pd(_mm512_sub_epi64(x, bound));
    _mm512_castpd_si512(_mm512_min_pd(difference, _mm512_castsi512_pd(x)))
}

/// Range: in `[-bound, 2^52)` with a bound below 2^51, out `[0, 2^52)`.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn add_if_negative(x: Vector, bound: Vector) -> Vector {
    // As in `subtract_if_not_below`.
    let sum = _mm512_castsi512_pd(_mm512_add_epi64(x, bound));
    _mm512_castpd_si512(_mm512_min_pd(_mm512_castsi512_pd(x), sum))
}

/// `c + floor(a * b / 2^52)` of the low 52 bits of a and b.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn add_high(c: Vector, a: Vector, b: Vector) -> Vector {
    _mm512_madd52hi_epu64(c, a, b)
}

/// `c + (a * b mod 2^52)` of the low 52 bits of a and b.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn add_low(c: Vector, a: Vector, b: Vector) -> Vector {
    _mm512_madd52lo_epu64(c, a, b)
}

/// A constant factor for each lane, as in [`ShoupFactor`].
#[derive(Clone, Copy)]
pub(super) struct Factor {
    pub(super) value: Vector,
    pub(super) quotient: Vector,
}

impl Factor {
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn broadcast(w: ShoupFactor) -> Self {
        Self { value: broadcast(w.value), quotient: broadcast(w.quotient) }
    }
}

/// The prime in every lane.
#[derive(Clone, Copy)]
pub(super) struct Prime {
    pub(super) q: Vector,
    pub(super) twice: Vector,
}

impl Prime {
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn new(q: &Modulus) -> Self {
        Self { q: broadcast(q.value()), twice: broadcast(2 * q.value()) }
    }

    /// `a + b`. Range: in `[0, q)`, out `[0, q)`.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn add(self, a: Vector, b: Vector) -> Vector {
        subtract_if_not_below(_mm512_add_epi64(a, b), self.q)
    }

    /// `a - b`. Range: in `[0, q)`, out `[0, q)`.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn sub(self, a: Vector, b: Vector) -> Vector {
        let difference = _mm512_sub_epi64(a, b);
        // The wrapped difference is the larger one exactly where a < b.
        _mm512_min_epu64(difference, _mm512_add_epi64(difference, self.q))
    }

    /// `-a`. Range: in `[0, q)`, out `[0, q)`.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn neg(self, a: Vector) -> Vector {
        _mm512_maskz_sub_epi64(_mm512_test_epi64_mask(a, a), self.q, a)
    }

    /// `a * w`. Range: in `[0, 2^52)`, out `[0, 2q)`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    pub(super) fn mul_lazy(self, a: Vector, w: Factor) -> Vector {
        let quotient = add_high(_mm512_setzero_si512(), a, w.quotient);
        // Products of 64 bits need no mask after the subtraction, as those of 52 bits would.
        _mm512_sub_epi64(_mm512_mullo_epi64(a, w.value), _mm512_mullo_epi64(quotient, self.q))
    }

    /// `a * w`. Range: in `[0, 2^52)`, out `[0, q)`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    pub(super) fn mul(self, a: Vector, w: Factor) -> Vector {
        subtract_if_not_below(self.mul_lazy(a, w), self.q)
    }

    /// Range: in `[0, 4q)`, out `[0, q)`.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn normalize(self, a: Vector) -> Vector {
        subtract_if_not_below(subtract_if_not_below(a, self.twice), self.q)
    }
}

/// Constants for the product of two residues, neither of them known in advance: Barrett's method.
#[derive(Clone, Copy)]
pub(super) struct Barrett {
    prime: Prime,
    /// `52 - bits`: how far a residue can move left within 52 bits.
    shift: Vector,
    /// `floor(2^(bits + 50) / q)`, below 2^52.
    inverse: Vector,
}

impl Barrett {
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn new(q: &Modulus) -> Self {
        let inverse = (1u128 << (q.bits() + 50)) / u128::from(q.value());
        Self { prime: Prime::new(q), shift: broadcast(u64::from(52 - q.bits())), inverse: broadcast(inverse as u64) }
    }

    /// `a * b`. Range: in `[0, q)`, out `[0, 3q)`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    fn mul_lazy(self, a: Vector, b: Vector) -> Vector {
        let zero = _mm512_setzero_si512();
        // floor(a * b / 2^(bits - 2)), below 2^52.
        let high = add_high(zero, _mm512_sllv_epi64(a, self.shift), _mm512_slli_epi64::<2>(b));
        // The cut bits cost the quotient less than 1/2, the cut inverse less than 1, the last cut
        // less than 1: it is at most 2 short.
        let quotient = add_high(zero, high, self.inverse);
        _mm512_sub_epi64(_mm512_mullo_epi64(a, b), _mm512_mullo_epi64(quotient, self.prime.q))
    }

    /// `a * b`. Range: in `[0, q)`, out `[0, q)`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    pub(super) fn mul(self, a: Vector, b: Vector) -> Vector {
        self.prime.normalize(self.mul_lazy(a, b))
    }

    /// `a * b + c`. Range: in `[0, q)`, out `[0, q)`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    pub(super) fn mul_add(self, a: Vector, b: Vector, c: Vector) -> Vector {
        self.prime.normalize(_mm512_add_epi64(self.mul_lazy(a, b), c))
    }
}

/// Constants for the reduction of `high * 2^52 + low`, such as sums of products.
#[derive(Clone, Copy)]
pub(super) struct Wide {
    pub(super) prime: Prime,
    /// `2^52 - q`: adding a multiple of it subtracts that multiple of q modulo 2^52.
    negated: Vector,
    /// `floor(2^52 / q)`.
    inverse: Vector,
    /// `2^52 mod q`.
    high: Factor,
    /// `2^102 mod q`.
    top: Vector,
}

/// The low 52 bits.
const MASK_52: u64 = (1 << 52) - 1;
/// The low 50 bits.
const MASK_50: u64 = (1 << 50) - 1;

impl Wide {
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn new(q: &Modulus) -> Self {
        Self {
            prime: Prime::new(q),
            negated: broadcast((1 << 52) - q.value()),
            inverse: broadcast((1 << 52) / q.value()),
            high: Factor::broadcast(q.shoup(q.reduce(1 << 52))),
            top: broadcast(q.reduce_u128(1 << 102)),
        }
    }

    /// `low mod q`. Range: in `[0, 2^52)`, out `[0, q)`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    pub(super) fn reduce_word(self, low: Vector) -> Vector {
        let quotient = add_high(_mm512_setzero_si512(), low, self.inverse);
        subtract_if_not_below(_mm512_sub_epi64(low, _mm512_mullo_epi64(quotient, self.prime.q)), self.prime.q)
    }

    /// `high * 2^52 + low mod q`. Range: `high + low / 2^52` in `[0, 2^52)`, out `[0, q)`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn reduce(self, high: Vector, low: Vector) -> Vector {
        // Bits of `low` from 52 on move to `high`; the products below do not see them.
        let high = _mm512_add_epi64(high, _mm512_srli_epi64::<52>(low));
        let quotient = add_high(_mm512_setzero_si512(), high, self.high.quotient);
        let quotient = add_high(quotient, low, self.inverse);
        let sum = add_low(low, high, self.high.value);
        // Each of the two parts of the quotient is at most 1 short, so the difference is below 4q <
        // 2^52.
        let r = _mm512_and_si512(add_low(sum, quotient, self.negated), broadcast(MASK_52));
        self.prime.normalize(r)
    }

    /// Like [`Wide::reduce`]. Range: `high` in `[0, 2^58)`, `low` any, out `[0, q)`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    pub(super) fn reduce_large(self, high: Vector, low: Vector) -> Vector {
        let high = _mm512_add_epi64(high, _mm512_srli_epi64::<52>(low));
        let low = _mm512_and_si512(low, broadcast(MASK_52));
        // The bits of `high` above 50, at most 2^9, folds into `low`, which stays below 2^60.
        let folded = _mm512_mullo_epi64(_mm512_srli_epi64::<50>(high), self.top);
        self.reduce(_mm512_and_si512(high, broadcast(MASK_50)), _mm512_add_epi64(low, folded))
    }
}
