//! Residues four at a time, as integers in `f64`: loads, stores, and arithmetic modulo one prime.
//!
//! # Why the results are exact
//!
//! An `f64` holds every integer up to 2^53. Write `e = 2^-53` for the relative error of one rounding.
//!
//! *Rounding to an integer.* For `|x| <= 2^51`, `x + MAGIC` lies in `[2^52, 2^53]`, where `f64` are the
//! integers; so `Prime::nearest_quotient` is an integer within 1/2 of the exact `x * (1/q)` with `1/q` as it is rounded, as the
//! fused multiply-add rounds once. `nearest`, an instruction, has no such limit, and follows a product that is rounded.
//!
//! *Products.* Let `y` and `w` be integers, `h = rn(y w)`, `l = y w - h`. `l` is an integer below 2^53
//! (half a unit of the last place of `h`), so `fmsub` gives it exactly. Let `k` be the integer nearest
//! to an estimate of `y w / q` with error at most `d`. Then `|y w - k q| <= (1/2 + d) q`. The integer
//! `h - k q` differs from that by `l`, is below 2^53 too in all uses here (`|y w| <= 2^102`, so
//! `|l| <= 2^48`), and so one fused step gives it exactly; so is its sum with `l`. The result is congruent to
//! `y w` and at most `(1/2 + d) q` in size. The error `d` of the estimate is
//! - `|y w / q| * 3e` for `h * (1/q)` (`Prime::mul_by_estimate`): `h`, `1/q` and their product are rounded once each;
//! - `|y| e` for `y * ratio` (`Prime::mul`) with a `ratio` at most 1/2 in size that is `w/q` rounded to nearest: it and the
//!   product are rounded once each. Second order terms are far below 2^-40, which all bounds here have room for.
//!
//! No result is -0, whose sign bit would make `Prime::canonical` add q: differences of equal numbers are +0, and sums are -0 only
//! if both terms are.
//!
//! *Reduction.* `Prime::reduce` of `|x| <= 2^53` estimates `x/q` within `|x/q| e`, so the result is at most
//! `q/2 + |x| e <= q/2 + 1` in size. The quotient is at most 2^51 if `|x| <= 2^51 q`: for `q = 3` that asks for
//! `|x| <= 3 * 2^51`, for all others it holds anyway.

/// Expands to these kernels over the lanes in scope, whose functions need the CPU features that the string names.
macro_rules! fma_arithmetic {
    ($features:literal) => {
        use super::lanes::{
            Integers, Vector, add, broadcast, from_bits, mul, mul_add, nearest, neg_mul_add, or, splat, sub, to_bits,
            where_negative, xor,
        };
        use crate::modulus::{Modulus, ShoupFactor};

        /// `2^52`: the bits of `2^52 + x` are those of `2^52` with `x` below them, for `0 <= x < 2^52`.
        pub(super) const TWO_52: f64 = (1u64 << 52) as f64;

        /// `3 * 2^51`: adding it to `|x| <= 2^51` leaves no fraction bits.
        pub(super) const MAGIC: f64 = 1.5 * TWO_52;

        /// `words - bias`, given `2^52 + bias`. Range: words in `[0, 2^52)`, bias an integer below 2^52.
        #[inline]
        #[target_feature(enable = $features)]
        pub(super) fn numbers_less(words: Integers, biased: Vector) -> Vector {
            let raised = or(words, broadcast(TWO_52.to_bits()));
            sub(from_bits(raised), biased)
        }

        /// Words as numbers. Range: in `[0, 2^52)`.
        #[inline]
        #[target_feature(enable = $features)]
        pub(super) fn numbers(words: Integers) -> Vector {
            numbers_less(words, splat(TWO_52))
        }

        /// Numbers as words. Range: in `[0, 2^52)`.
        #[inline]
        #[target_feature(enable = $features)]
        pub(super) fn words(numbers: Vector) -> Integers {
            let raised = to_bits(add(numbers, splat(TWO_52)));
            xor(raised, broadcast(TWO_52.to_bits()))
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
            #[target_feature(enable = $features)]
            pub(super) fn broadcast(w: ShoupFactor, q: &Modulus) -> Self {
                let value = q.center(w.value) as f64;
                Self { value: splat(value), ratio: splat(value / q.value() as f64) }
            }
        }

        /// The prime in every lane.
        #[derive(Clone, Copy)]
        pub(super) struct Prime {
            pub(super) q: Vector,
            inverse: Vector,
            /// `2^52 + q`.
            raised: Vector,
        }

        impl Prime {
            #[inline]
            #[target_feature(enable = $features)]
            pub(super) fn new(q: &Modulus) -> Self {
                let q = q.value() as f64;
                Self { q: splat(q), inverse: splat(1.0 / q), raised: splat(TWO_52 + q) }
            }

            /// `y w - k q` exactly, given `h`, the rounded `y w`, and `k` near `y w / q`.
            #[inline]
            #[target_feature(enable = $features)]
            fn remainder(self, y: Vector, w: Vector, h: Vector, k: Vector) -> Vector {
                sub(neg_mul_add(k, self.q, h), neg_mul_add(y, w, h))
            }

            /// `y * w` modulo q. Range: in `|y| <= 2^53`, out at most `q/2 + |y| q / 2^53` in size, and below q for `|y| < 2^52`.
            ///
            /// The latter, as w is at most `(q - 1)/2` in size, so that the estimate is off by less than `(1/2) (1 - 1/q)`.
            #[inline]
            #[target_feature(enable = $features)]
            pub(super) fn mul(self, y: Vector, w: Factor) -> Vector {
                let h = mul(y, w.value);
                self.remainder(y, w.value, h, nearest(mul(y, w.ratio)))
            }

            /// `y * w` modulo q. Range: `|y w| <= 2^102`, out at most `q/2 + 3 |y w| / 2^53` in size.
            #[inline]
            #[target_feature(enable = $features)]
            pub(super) fn mul_by_estimate(self, y: Vector, w: Vector) -> Vector {
                let h = mul(y, w);
                self.remainder(y, w, h, nearest(mul(h, self.inverse)))
            }

            /// An integer within 1/2 of `x * (1/q)`. Range: that in `[-2^51, 2^51]`.
            #[inline]
            #[target_feature(enable = $features)]
            fn nearest_quotient(self, x: Vector) -> Vector {
                let magic = splat(MAGIC);
                sub(mul_add(x, self.inverse, magic), magic)
            }

            /// `x` modulo q. Range: in `[-2^53, 2^53]` (`[-2^52, 2^52]` suffices for `q = 3`), out at most `q/2 + 1` in size.
            #[inline]
            #[target_feature(enable = $features)]
            pub(super) fn reduce(self, x: Vector) -> Vector {
                neg_mul_add(self.nearest_quotient(x), self.q, x)
            }

            /// `x` less a multiple of q near it. Range: integers of up to `2^103`, out at most `q/2 + |x| / 2^52` in size; exact where
            /// that is below `2^53`.
            #[inline]
            #[target_feature(enable = $features)]
            pub(super) fn rest(self, x: Vector) -> Vector {
                neg_mul_add(nearest(mul(x, self.inverse)), self.q, x)
            }

            /// Numbers as words, q added to what is negative. Range: in `(-q, q)`, not -0, out `[0, q)`.
            #[inline]
            #[target_feature(enable = $features)]
            pub(super) fn canonical(self, x: Vector) -> Integers {
                let raised = where_negative(x, add(x, self.raised), add(x, splat(TWO_52)));
                xor(to_bits(raised), broadcast(TWO_52.to_bits()))
            }
        }
    };
}

pub(in crate::kernels) use fma_arithmetic;
