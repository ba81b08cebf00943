//! The butterflies of the transform, and how they keep their values in range.
//!
//! # Primes below 2^48: `NARROW`
//!
//! Values are residues modulo q in a *window* of `[0, 16q)`, which is within `[0, 2^52)`. Only their
//! low 52 bits count, as the 52-bit products read no others: the bits above are left as they come.
//!
//! With the quotient `w' = floor(w 2^52 / q)` and `h = floor(w' y / 2^52)`, `w y - h q` lies in
//! `[0, 2q)` for each `y` below 2^52 (Shoup). A product takes `h + 1` in place of `h`, which costs
//! nothing, as the instruction for `h` adds it to a word; then it lies in `[-q, q)`.
//! - Forward, `x + w y` and `x - w y` are each within q of `x`, so a layer moves both ends of a window
//!   by q. [`Butterfly::open`] brings an `x` into `[6q, 8q)`, and [`Butterfly::open_first`] one of a row into
//!   `[6q, 10q)`: room for six layers. A `y` may be anything, as products do not grow with it.
//! - Inverse, a layer doubles the window of sums; products are in `[0, 2q)`. Three layers take `[0, 2q)`
//!   to `[0, 16q)`, and [`Butterfly::close`] brings the sums back.
//!
//! # Other primes
//!
//! The ranges are Harvey's (arXiv 1205.2926): forward, values stay in `[0, 4q)`, as 2^52 allows for
//! primes below 2^50; inverse, in `[0, 2q]`. Nothing is to open or to close. Here additions, not products, are what
//! keeps the CPU busy, so a butterfly is made of as few as possible.
//!
//! Inverse, the left one of two words that meet holds minus its value: then the difference, which a product needs
//! in `[0, 4q]`, is a sum of words, and the sum is a difference in `[-2q, 2q]`, which has only to be made positive.
//! Both results have the sign of the right word. As in each layer two blocks of the last one meet, the sign of a block
//! is that of its parent if it is the right child, and else the opposite; so a word of the row, whose place in binary is
//! the path to it, is negated if that has an odd number of zeros. [`Butterfly::negate`] does that once, before the first
//! layer, and the last layer ends with the sign of the whole row, plus.

use std::arch::x86_64::*;

use super::arithmetic::{Factor, Prime, Vector, add_high, add_if_negative, add_low, broadcast, subtract_if_not_below};
use crate::modulus::Modulus;

/// The low 52 bits.
const MASK_52: u64 = (1 << 52) - 1;

/// The layers for which [`Butterfly::open`] makes room.
const LAYERS: u64 = 6;

/// The prime's constants, in every lane.
#[derive(Clone, Copy)]
pub(super) struct Butterfly<const NARROW: bool> {
    prime: Prime,
    /// `2^52 - q`: adding a multiple of it subtracts that multiple of q modulo 2^52.
    negated: Vector,
    /// `floor(2^52 / q)`.
    inverse: Vector,
    one: Vector,
    two: Vector,
    /// `6q`.
    room: Vector,
    /// `-6`.
    less: Vector,
    mask: Vector,
    /// `2q`, `4q` and `8q`.
    bounds: [Vector; 3],
}

impl<const NARROW: bool> Butterfly<NARROW> {
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn new(q: &Modulus) -> Self {
        Self {
            prime: Prime::new(q),
            negated: broadcast((1 << 52) - q.value()),
            inverse: broadcast((1 << 52) / q.value()),
            one: broadcast(1),
            two: broadcast(2),
            room: broadcast(LAYERS * q.value()),
            less: broadcast(LAYERS.wrapping_neg()),
            mask: broadcast(MASK_52),
            bounds: [2, 4, 8].map(|times| broadcast(times * q.value())),
        }
    }

    /// A factor from its quotient; see [`value_of_quotient`](crate::roots::ntt::value_of_quotient).
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn factor(self, quotient: Vector) -> Factor {
        Factor { value: add_high(self.one, quotient, self.prime.q), quotient }
    }

    /// Makes room for six forward layers. Range, narrow: in `[0, 4q)`, out `[6q, 10q)`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn open_first(self, x: Vector) -> Vector {
        if NARROW { _mm512_add_epi64(x, self.room) } else { x }
    }

    /// Makes room for six forward layers. Range, narrow: in `[0, 2^52)`, out `[6q, 8q)`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn open(self, x: Vector) -> Vector {
        // floor(x floor(2^52 / q) / 2^52) is at most 1 short of floor(x / q).
        if NARROW { add_low(x, add_high(self.less, x, self.inverse), self.negated) } else { x }
    }

    /// `(x + w y, x - w y)`. Range, unless narrow: in `[0, 4q)`, out `[0, 4q)`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    pub(super) fn forward(self, x: Vector, y: Vector, w: Factor) -> (Vector, Vector) {
        if NARROW {
            let quotient = add_high(self.one, y, w.quotient);
            let sum = add_low(add_low(x, y, w.value), quotient, self.negated);
            (sum, _mm512_sub_epi64(_mm512_add_epi64(x, x), sum))
        } else {
            let x = subtract_if_not_below(x, self.prime.twice);
            let quotient = add_high(_mm512_setzero_si512(), y, w.quotient);
            let sum = add_low(add_low(x, y, w.value), quotient, self.negated);
            let sum = _mm512_and_si512(sum, self.mask);
            // Doubled by a product: additions are scarcer here.
            (sum, _mm512_sub_epi64(add_low(self.prime.twice, x, self.two), sum))
        }
    }

    /// Ends the forward layers. Range: any of theirs, out `[0, q)`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn canonical(self, x: Vector) -> Vector {
        if NARROW { self.clean(self.close(x)) } else { self.prime.normalize(x) }
    }

    /// Begins the inverse layers: negates the words of some lanes, unless narrow. Range: in `[0, 2q]`, out `[0, 2q]`.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn negate(self, x: Vector, lanes: u8) -> Vector {
        if NARROW { x } else { _mm512_mask_sub_epi64(x, lanes, self.prime.twice, x) }
    }

    /// `(x + y, w (y - x))`, in layer `LAYER` since the last [`Butterfly::close`]; unless narrow, `x` is given as its
    /// negative. Range, narrow: in `[0, 2^(LAYER+1) q)`, out that doubled and `[0, 2q)`; else in `[0, 2q]`, out
    /// `[0, 2q]`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    pub(super) fn inverse<const LAYER: usize>(self, x: Vector, y: Vector, w: Factor) -> (Vector, Vector) {
        if NARROW {
            let (sum, difference) = self.sum_and_difference::<LAYER>(x, y);
            (sum, self.mul(difference, w))
        } else {
            (add_if_negative(_mm512_sub_epi64(y, x), self.prime.twice), self.prime.mul_lazy(_mm512_add_epi64(x, y), w))
        }
    }

    /// Ends three inverse layers. Range, narrow: in `[0, 2^52)`, out `[0, 2q)`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn close(self, x: Vector) -> Vector {
        if NARROW { add_low(x, add_high(_mm512_setzero_si512(), x, self.inverse), self.negated) } else { x }
    }

    /// `(s (x + y), w (y - x))`, canonical. Range: as [`Butterfly::inverse`], out `[0, q)`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    pub(super) fn last<const LAYER: usize>(self, x: Vector, y: Vector, [s, w]: [Factor; 2]) -> (Vector, Vector) {
        if NARROW {
            let (sum, difference) = self.sum_and_difference::<LAYER>(x, y);
            (self.clean(self.mul(sum, s)), self.clean(self.mul(difference, w)))
        } else {
            let sum = _mm512_add_epi64(_mm512_sub_epi64(y, x), self.prime.twice);
            (self.prime.mul(sum, s), self.prime.mul(_mm512_add_epi64(x, y), w))
        }
    }

    /// `x + y` and `y - x` plus a multiple of q that makes it positive, narrow.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn sum_and_difference<const LAYER: usize>(self, x: Vector, y: Vector) -> (Vector, Vector) {
        (_mm512_add_epi64(x, y), _mm512_sub_epi64(_mm512_add_epi64(y, self.bounds[LAYER]), x))
    }

    /// `w y`, narrow. Range: in `[0, 2^52)`, out `[0, 2q)`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn mul(self, y: Vector, w: Factor) -> Vector {
        let zero = _mm512_setzero_si512();
        add_low(add_low(zero, y, w.value), add_high(zero, y, w.quotient), self.negated)
    }

    /// Clears the bits above the low 52. Range: in `[0, 2q)`, out `[0, q)`.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn clean(self, x: Vector) -> Vector {
        subtract_if_not_below(_mm512_and_si512(x, self.mask), self.prime.q)
    }
}
