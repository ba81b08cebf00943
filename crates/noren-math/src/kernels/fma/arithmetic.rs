//! Residues four at a time, as integers in `f64`: loads, stores, and arithmetic modulo one prime.
//!
//! # Why the results are exact
//!
//! An `f64` holds every integer up to 2^53. Write `e = 2^-53` for the relative error of one rounding.
//!
//! *Rounding to an integer.* For `|x| <= 2^51`, `x + MAGIC` lies in `[2^52, 2^53]`, where `f64` are the
//! integers; so `Prime::nearest` is an integer within 1/2 of the exact `a * b`, however `a * b` rounds,
//! as the fused multiply-add rounds once.
//!
//! *Products.* Let `y` and `w` be integers, `h = rn(y w)`, `l = y w - h`. `l` is an integer below 2^53
//! (half a unit of the last place of `h`), so `fmsub` gives it exactly. Let `k` be the integer nearest
//! to an estimate of `y w / q` with error at most `d`. Then `|y w - k q| <= (1/2 + d) q`. The integer
//! `h - k q` differs from that by `l`, is below 2^53 too in all uses here (`|y w| < 2^102`, so
//! `|l| <= 2^48`), and so `fnmadd` gives it exactly; so is its sum with `l`. The result is congruent to
//! `y w` and at most `(1/2 + d) q` in size. The error `d` of the estimate is
//! - `|y w / q| * 2e` for `h * (1/q)` (`Prime::mul_by_estimate`): `h` and `1/q` are rounded once each;
//! - `|y| e / 2` for `y * ratio` with a `ratio` at most 1/2 in size that is `w/q` rounded to nearest
//!   (`Prime::mul`), plus second order terms far below 2^-40, which all bounds here have room for.
//!
//! *Reduction.* `Prime::reduce` of `|x| <= 2^53` estimates `x/q` within `|x/q| e`, so the result is at most
//! `q/2 + |x| e <= q/2 + 1` in size. The quotient is at most 2^51 if `|x| <= 2^51 q`: for `q = 3` that asks for
//! `|x| <= 3 * 2^51`, for all others it holds anyway.

/// Expands to these kernels over the lanes in scope, whose functions need the CPU features that the string names.
macro_rules! fma_arithmetic {
    ($features:literal) => {
        use super::lanes::{
            Integers, Vector, Words, add, broadcast, from_bits, load, mul, mul_add, mul_sub, neg_mul_add, or, splat,
            store, sub, to_bits, where_less, xor,
        };
        use crate::modulus::{Modulus, ShoupFactor};

        /// `2^52`: the bits of `2^52 + x` are those of `2^52` with `x` below them, for `0 <= x < 2^52`.
        pub(super) const TWO_52: f64 = (1u64 << 52) as f64;

        /// `3 * 2^51`: adding it to `|x| <= 2^51` leaves no fraction bits.
        pub(super) const MAGIC: f64 = 1.5 * TWO_52;

        /// Reads numbers that [`store_bits`] wrote.
        #[inline]
        #[target_feature(enable = $features)]
        pub(super) fn load_bits(words: &Words) -> Vector {
            from_bits(load(words))
        }

        /// Writes the bits of numbers into words.
        #[inline]
        #[target_feature(enable = $features)]
        pub(super) fn store_bits(words: &mut Words, numbers: Vector) {
            store(words, to_bits(numbers));
        }

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
        }

        impl Prime {
            #[inline]
            #[target_feature(enable = $features)]
            pub(super) fn new(q: &Modulus) -> Self {
                let q = q.value() as f64;
                Self { q: splat(q), inverse: splat(1.0 / q) }
            }

            /// An integer within 1/2 of `a * b`. Range: the product in `[-2^51, 2^51]`.
            #[inline]
            #[target_feature(enable = $features)]
            pub(super) fn nearest(a: Vector, b: Vector) -> Vector {
                let magic = splat(MAGIC);
                sub(mul_add(a, b, magic), magic)
            }

            /// `y w - k q` exactly, given `h`, the rounded `y w`, and `k` near `y w / q`.
            #[inline]
            #[target_feature(enable = $features)]
            fn remainder(self, y: Vector, w: Vector, h: Vector, k: Vector) -> Vector {
                let low = mul_sub(y, w, h);
                add(neg_mul_add(k, self.q, h), low)
            }

            /// `y * w` modulo q. Range: in `|y| <= 4q + 8` or `|y| < 2^52`, out at most `q/2 + |y| q / 2^54` in size,
            /// so at most `3q/4`.
            #[inline]
            #[target_feature(enable = $features)]
            pub(super) fn mul(self, y: Vector, w: Factor) -> Vector {
                let h = mul(y, w.value);
                self.remainder(y, w.value, h, Self::nearest(y, w.ratio))
            }

            /// `y * w` modulo q. Range: `|y w / q| < 2^51`, out at most `q/2 + |y w| / 2^52` in size.
            #[inline]
            #[target_feature(enable = $features)]
            pub(super) fn mul_by_estimate(self, y: Vector, w: Vector) -> Vector {
                let h = mul(y, w);
                self.remainder(y, w, h, Self::nearest(h, self.inverse))
            }

            /// `x` modulo q. Range: in `[-2^53, 2^53]` (`[-2^52, 2^52]` suffices for `q = 3`), out at most `q/2 + 1` in size.
            #[inline]
            #[target_feature(enable = $features)]
            pub(super) fn reduce(self, x: Vector) -> Vector {
                neg_mul_add(Self::nearest(x, self.inverse), self.q, x)
            }

            /// Adds q to what is negative. Range: in `(-q, q)`, out `[0, q)`.
            #[inline]
            #[target_feature(enable = $features)]
            pub(super) fn positive(self, x: Vector) -> Vector {
                add(x, where_less(x, splat(0.0), self.q))
            }

            /// Factors for four residues. Range: in `[0, q)`.
            #[inline]
            #[target_feature(enable = $features)]
            pub(super) fn factors(self, residues: Integers) -> Factor {
                let value = self.center(numbers(residues));
                let rough = mul(value, self.inverse);
                // One step of Newton's method, to get the ratio as if rounded once.
                let rest = neg_mul_add(rough, self.q, value);
                Factor { value, ratio: mul_add(rest, self.inverse, rough) }
            }

            /// The representative nearest to 0. Range: in `[0, q)`, out `[-(q-1)/2, (q-1)/2]`.
            #[inline]
            #[target_feature(enable = $features)]
            pub(super) fn center(self, x: Vector) -> Vector {
                sub(x, where_less(self.q, add(x, x), self.q))
            }
        }
    };
}

pub(in crate::kernels) use fma_arithmetic;
