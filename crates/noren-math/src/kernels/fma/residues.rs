//! Arithmetic of residues as words, over lanes of `f64`: what `vector_rows!` asks for.

/// Expands to the arithmetic over the lanes in scope, whose functions need the CPU features that the string names.
macro_rules! fma_residues {
    ($features:literal) => {
        use super::arithmetic::{Factor, Prime, numbers};
        use super::lanes::{
            Integers, Vector, above, add, add_words, and, and_not, broadcast, equal, shift_right, splat, sub, sub_words,
        };
        use crate::modulus::{Modulus, ShoupFactor};

        /// Sums of residues.
        #[derive(Clone, Copy)]
        pub(super) struct Sum {
            q: Integers,
        }

        impl Sum {
            #[inline]
            #[target_feature(enable = $features)]
            pub(super) fn new(q: &Modulus) -> Self {
                Self { q: broadcast(q.value()) }
            }

            /// Adds q to what is negative as a signed word.
            #[inline]
            #[target_feature(enable = $features)]
            fn positive(self, x: Integers) -> Integers {
                let negative = above(broadcast(0), x);
                add_words(x, and(negative, self.q))
            }

            /// `a + b`. Range: in `[0, q)`, out `[0, q)`.
            #[inline]
            #[target_feature(enable = $features)]
            pub(super) fn add(self, a: Integers, b: Integers) -> Integers {
                self.positive(sub_words(add_words(a, b), self.q))
            }

            /// `a - b`. Range: in `[0, q)`, out `[0, q)`.
            #[inline]
            #[target_feature(enable = $features)]
            pub(super) fn sub(self, a: Integers, b: Integers) -> Integers {
                self.positive(sub_words(a, b))
            }

            /// `-a`. Range: in `[0, q)`, out `[0, q)`.
            #[inline]
            #[target_feature(enable = $features)]
            pub(super) fn neg(self, a: Integers) -> Integers {
                let zero = equal(a, broadcast(0));
                and_not(zero, sub_words(self.q, a))
            }
        }

        /// Products of residues.
        #[derive(Clone, Copy)]
        pub(super) struct Product {
            prime: Prime,
            sum: Sum,
        }

        impl Product {
            #[inline]
            #[target_feature(enable = $features)]
            pub(super) fn new(q: &Modulus) -> Self {
                Self { prime: Prime::new(q), sum: Sum::new(q) }
            }

            /// `a * b`. Range: in `[0, q)`, out `[0, q)`.
            ///
            /// The estimate of the quotient, which is below q, is off by at most `3q / 2^53`, so the remainder is at most `7q/8` in
            /// size.
            #[inline]
            #[target_feature(enable = $features)]
            pub(super) fn mul(self, a: Integers, b: Integers) -> Integers {
                self.prime.canonical(self.prime.mul_by_estimate(numbers(a), numbers(b)))
            }

            /// `a * b + c`. Range: in `[0, q)`, out `[0, q)`.
            #[inline]
            #[target_feature(enable = $features)]
            pub(super) fn mul_add(self, a: Integers, b: Integers, c: Integers) -> Integers {
                self.sum.add(c, self.mul(a, b))
            }
        }

        /// Products with a constant factor.
        #[derive(Clone, Copy)]
        pub(super) struct Scale {
            prime: Prime,
            sum: Sum,
            factor: Factor,
        }

        impl Scale {
            #[inline]
            #[target_feature(enable = $features)]
            pub(super) fn new(w: ShoupFactor, q: &Modulus) -> Self {
                Self { prime: Prime::new(q), sum: Sum::new(q), factor: Factor::broadcast(w, q) }
            }

            /// `a * w`. Range: in `[0, 2^52)`, out `[0, q)`.
            #[inline]
            #[target_feature(enable = $features)]
            pub(super) fn mul(self, a: Integers) -> Integers {
                self.prime.canonical(self.prime.mul(numbers(a), self.factor))
            }

            /// `a * w + c`. Range: in `[0, q)`, out `[0, q)`.
            #[inline]
            #[target_feature(enable = $features)]
            pub(super) fn mul_add(self, a: Integers, c: Integers) -> Integers {
                self.sum.add(c, self.mul(a))
            }

            /// `(a - b) * w`. Range: in `[0, q)`, out `[0, q)`.
            #[inline]
            #[target_feature(enable = $features)]
            pub(super) fn sub_mul(self, a: Integers, b: Integers) -> Integers {
                let difference = sub(numbers(a), numbers(b));
                self.prime.canonical(self.prime.mul(difference, self.factor))
            }
        }

        /// Remainders of words.
        #[derive(Clone, Copy)]
        pub(super) struct Reduction {
            prime: Prime,
        }

        impl Reduction {
            #[inline]
            #[target_feature(enable = $features)]
            pub(super) fn new(q: &Modulus) -> Self {
                Self { prime: Prime::new(q) }
            }

            /// `a mod q`. Range: in `[0, 2^52)`, out `[0, q)`.
            #[inline]
            #[target_feature(enable = $features)]
            pub(super) fn reduce_word(self, a: Integers) -> Integers {
                self.prime.canonical(self.prime.reduce(numbers(a)))
            }
        }

        /// `a + c` where `a > bound`, else `a`. Range: a and bound below 2^63.
        #[inline]
        #[target_feature(enable = $features)]
        pub(super) fn add_above(a: Integers, bound: Integers, c: Integers) -> Integers {
            add_words(a, and(above(a, bound), c))
        }

        /// Remainders of signed words.
        #[derive(Clone, Copy)]
        pub(super) struct SignedReduction {
            prime: Prime,
            /// `2^32` modulo q.
            high_factor: Factor,
            /// [`SignedReduction::OFFSET`] modulo q.
            offset: Vector,
        }

        impl SignedReduction {
            /// The offset that makes every number positive, as a multiple of `2^32`.
            const OFFSET: u64 = 1 << 62;
            const HALF_BITS: i32 = 32;

            #[inline]
            #[target_feature(enable = $features)]
            pub(super) fn new(q: &Modulus) -> Self {
                let high_factor = Factor::broadcast(q.shoup(q.reduce(1 << Self::HALF_BITS)), q);
                Self { prime: Prime::new(q), high_factor, offset: splat(q.reduce(Self::OFFSET) as f64) }
            }

            /// `a mod q`. Range: in `(-2^62, 2^62)`, out `[0, q)`.
            #[inline]
            #[target_feature(enable = $features)]
            pub(super) fn reduce(self, a: Integers) -> Integers {
                let raised = add_words(a, broadcast(Self::OFFSET));
                // Below 2^31 and below 2^32.
                let high = numbers(shift_right::<{ Self::HALF_BITS }>(raised));
                let low = numbers(and(raised, broadcast(u64::from(u32::MAX))));
                let folded = add(self.prime.mul(high, self.high_factor), sub(low, self.offset));
                // At most 2^51 + 2^32 in size.
                self.prime.canonical(self.prime.reduce(folded))
            }
        }
    };
}

pub(in crate::kernels) use fma_residues;
