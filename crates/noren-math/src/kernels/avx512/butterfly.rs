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
//!   by q. [`Butterfly::open`] brings an `x` into `[7q, 9q)`: room for seven layers. A `y` may be
//!   anything, as products do not grow with it.
//! - Inverse, a layer doubles the window of sums; products are in `[0, 2q)`. Three layers take `[0, 2q)`
//!   to `[0, 16q)`, and [`Butterfly::close`] brings the sums back.
//!
//! # Other primes
//!
//! The ranges are Harvey's (arXiv 1205.2926): forward, values stay in `[0, 4q)`, as 2^52 allows for
//! primes below 2^50; inverse, in `[0, 2q)`. Nothing is to open or to close.

use std::arch::x86_64::*;

use super::arithmetic::{Factor, Prime, Vector, add_high, add_low, broadcast, subtract_if_not_below};
use crate::modulus::Modulus;

/// The low 52 bits.
const MASK_52: u64 = (1 << 52) - 1;

/// The layers for which [`Butterfly::open`] makes room.
const LAYERS: u64 = 7;

/// The prime's constants, in every lane.
#[derive(Clone, Copy)]
pub(super) struct Butterfly<const NARROW: bool> {
    prime: Prime,
    /// `2^52 - q`: adding a multiple of it subtracts that multiple of q modulo 2^52.
    negated: Vector,
    /// `floor(2^52 / q)`.
    inverse: Vector,
    one: Vector,
    /// `7q`.
    room: Vector,
    /// `-7`.
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
            room: broadcast(LAYERS * q.value()),
            less: broadcast(LAYERS.wrapping_neg()),
            mask: broadcast(MASK_52),
            bounds: [2, 4, 8].map(|times| broadcast(times * q.value())),
        }
    }

    /// A factor from its quotient; see [`value_of_quotient`](crate::ntt::table::value_of_quotient).
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn factor(self, quotient: Vector) -> Factor {
        Factor { value: add_high(self.one, quotient, self.prime.q), quotient }
    }

    /// Makes room for seven forward layers. Range, narrow: in `[0, 2q)`, out `[7q, 9q)`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn open_first(self, x: Vector) -> Vector {
        if NARROW { _mm512_add_epi64(x, self.room) } else { x }
    }

    /// Makes room for seven forward layers. Range, narrow: in `[0, 2^52)`, out `[7q, 9q)`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn open(self, x: Vector) -> Vector {
        // floor(x floor(2^52 / q) / 2^52) is at most 1 short of floor(x / q).
        if NARROW { add_low(x, add_high(self.less, x, self.inverse), self.negated) } else { x }
    }

    /// `(x + w y, x - w y)`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    pub(super) fn forward(self, x: Vector, y: Vector, w: Factor) -> (Vector, Vector) {
        if NARROW {
            let quotient = add_high(self.one, y, w.quotient);
            let sum = add_low(add_low(x, y, w.value), quotient, self.negated);
            (sum, _mm512_sub_epi64(_mm512_add_epi64(x, x), sum))
        } else {
            let x = subtract_if_not_below(x, self.prime.twice);
            let y = self.prime.mul_lazy(y, w);
            (_mm512_add_epi64(x, y), _mm512_sub_epi64(_mm512_add_epi64(x, self.prime.twice), y))
        }
    }

    /// Ends the forward layers. Range: any of theirs, out `[0, q)`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn canonical(self, x: Vector) -> Vector {
        if NARROW { self.clean(self.close(x)) } else { self.prime.normalize(x) }
    }

    /// `(x + y, w (y - x))`, in layer `LAYER` since the last [`Butterfly::close`]. Range, narrow: in
    /// `[0, 2^(LAYER+1) q)`, out that doubled and `[0, 2q)`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    pub(super) fn inverse<const LAYER: usize>(self, x: Vector, y: Vector, w: Factor) -> (Vector, Vector) {
        let (sum, difference) = self.sum_and_difference::<LAYER>(x, y);
        if NARROW {
            (sum, self.mul(difference, w))
        } else {
            (subtract_if_not_below(sum, self.prime.twice), self.prime.mul_lazy(difference, w))
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
        let (sum, difference) = self.sum_and_difference::<LAYER>(x, y);
        if NARROW {
            (self.clean(self.mul(sum, s)), self.clean(self.mul(difference, w)))
        } else {
            (self.prime.mul(sum, s), self.prime.mul(difference, w))
        }
    }

    /// `x + y` and `y - x` plus a multiple of q that makes it positive.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn sum_and_difference<const LAYER: usize>(self, x: Vector, y: Vector) -> (Vector, Vector) {
        let bound = self.bounds[if NARROW { LAYER } else { 0 }];
        (_mm512_add_epi64(x, y), _mm512_sub_epi64(_mm512_add_epi64(y, bound), x))
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
