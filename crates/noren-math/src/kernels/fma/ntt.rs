//! The transform of four lanes, on signed integers in `f64`.
//!
//! Between the first load and the last store the row holds the bits of `f64`. All layers but the last three run in
//! passes over whole blocks, up to three layers each, depth first; the last three run within 32 words that are
//! transposed, so that they too act between vectors. The inverse is the mirror image.
//!
//! # Ranges
//!
//! Sizes in units of q, for q just below 2^50, where they are tightest (see `arithmetic.rs` for the products).
//! Integers must stay below 8 (2^53); what a product multiplies, below `4 + 8/q`.
//!
//! Forward, a layer takes sizes up to `s` to `s + 1/2 + s/16`, as `Prime::mul` gives `1/2 + s/16`.
//! - The first pass takes `[0, 4q)` less `2q`: 2, then 2.63, 3.29, 4.00 after three layers; the last multiplies 3.29.
//! - The second pass reduces what it reads to 1/2 (and `1/q`), the third does not, the fourth does, and so on. So at
//!   most six layers follow a reduction: 1.04, 1.60, 2.20, 2.84, 3.52, 4.24; the last multiplies 3.52.
//! - The last three layers start with a reduction. `Prime::mul_by_estimate` with roots in `[0, q)` gives
//!   `1/2 + s/4`: 1.13, 1.91, 2.89; it multiplies at most 1.91, below the 2 that it needs.
//!
//! Inverse, a layer takes sizes up to `s` to `2s` for sums, and to `1/2 + 2s/16` for products.
//! - Each pass reduces what it reads to 1/2: 1, 2, 4 after three layers; the last product multiplies 4.
//! - The first three layers, in blocks of eight words, use `Prime::mul_by_estimate`: the products multiply 1 and 2
//!   with roots in `[0, q)`, and 4 with a centred root, and are at most 1.

/// Expands to these kernels over the lanes in scope, whose functions need the CPU features that the string names.
macro_rules! fma_ntt {
    ($features:literal) => {
        use super::arithmetic::{Factor, Prime, TWO_52, load_bits, numbers, numbers_less, store_bits, words};
        use super::lanes::{Vector, WIDTH, Words, add, load, splat, store, sub, transpose};
        use crate::kernels::portable_ntt;
        use crate::modulus::Modulus;
        use crate::ntt::table::{BlockRoots, InverseScale, LATE, NttTable, Roots, VALUES, mirror};

        /// How many words one entry of the late roots serves.
        const LATE_WORDS: usize = 64;
        /// How many vectors those are.
        const LATE_VECTORS: usize = LATE_WORDS / WIDTH;

        #[target_feature(enable = $features)]
        pub(super) fn forward(row: &mut [u64], table: &NttTable) {
            if row.len() < LATE_WORDS {
                return portable_ntt::ntt_forward(row, table);
            }
            let transform = Transform::new::<2>(table.modulus(), table.roots());
            transform.forward_block::<true, false>(row.as_chunks_mut().0, 1);
        }

        #[target_feature(enable = $features)]
        pub(super) fn inverse(row: &mut [u64], table: &NttTable, scale: &InverseScale) {
            if row.len() < LATE_WORDS {
                return portable_ntt::ntt_inverse(row, table, scale);
            }
            let transform = Transform::new::<1>(table.modulus(), table.roots());
            let last = [scale.sum(), scale.difference()].map(|w| Factor::broadcast(w, table.modulus()));
            transform.inverse_block::<true>(row.as_chunks_mut().0, 1, &last);
        }

        struct Transform<'a> {
            prime: Prime,
            /// `2^52 + 2q` forward, `2^52 + q` inverse.
            raised: Vector,
            /// `q / 2^52`.
            step: Vector,
            roots: Roots<'a>,
        }

        /// How many layers the next pass over a block does: threes down to the last block, but never a lone one after them.
        const fn layers_of_pass(vectors: usize) -> u32 {
            match (vectors / LATE_VECTORS).trailing_zeros() {
                // The block of 64 words: three layers, and the last three of all follow.
                0 => 3,
                left @ (1 | 2) => left,
                4 => 2,
                _ => 3,
            }
        }

        impl<'a> Transform<'a> {
            /// For rows in `[0, 2 HALF q)`.
            #[inline]
            #[target_feature(enable = $features)]
            fn new<const HALF: u32>(q: &Modulus, roots: Roots<'a>) -> Self {
                let value = q.value() as f64;
                let (raised, step) = (splat(TWO_52 + f64::from(HALF) * value), splat(value / TWO_52));
                Self { prime: Prime::new(q), raised, step, roots }
            }

            /// Transforms the block of layer `m` whose number is `index - m`: its root is entry `index` of the early roots.
            ///
            /// The first pass reads words, the others the bits of numbers. `REDUCE` alternates from pass to pass.
            #[target_feature(enable = $features)]
            fn forward_block<const FIRST: bool, const REDUCE: bool>(&self, block: &mut [Words], index: usize) {
                let layers = layers_of_pass(block.len());
                match layers {
                    1 => self.forward_pass::<2, FIRST, REDUCE>(block, index),
                    2 => self.forward_pass::<4, FIRST, REDUCE>(block, index),
                    _ => self.forward_pass::<8, FIRST, REDUCE>(block, index),
                }
                if block.len() == LATE_VECTORS {
                    return self.forward_late(block, index);
                }
                let length = block.len() >> layers;
                for (i, block) in block.chunks_exact_mut(length).enumerate() {
                    let index = (index << layers) + i;
                    if REDUCE {
                        self.forward_block::<false, false>(block, index);
                    } else {
                        self.forward_block::<false, true>(block, index);
                    }
                }
            }

            #[inline]
            #[target_feature(enable = $features)]
            fn forward_pass<const R: usize, const FIRST: bool, const REDUCE: bool>(
                &self,
                block: &mut [Words],
                index: usize,
            ) {
                let prime = self.prime;
                let factors = self.early_factors::<R>(index);
                let streams = streams::<R>(block);
                for column in 0..streams[0].len() {
                    let mut x = [splat(0.0); R];
                    for (r, x) in x.iter_mut().enumerate() {
                        *x = if FIRST {
                            numbers_less(load(&streams[r][column]), self.raised)
                        } else {
                            load_bits(&streams[r][column])
                        };
                        if REDUCE {
                            *x = prime.reduce(*x);
                        }
                    }
                    let product = |y, root| prime.mul(y, factors.get(root));
                    // Layer by layer with constant distances, so that the vectors stay in registers.
                    if R > 4 {
                        forward_layer::<R, 4>(&mut x, product);
                    }
                    if R > 2 {
                        forward_layer::<R, 2>(&mut x, product);
                    }
                    forward_layer::<R, 1>(&mut x, product);
                    for (r, x) in x.iter().enumerate() {
                        store_bits(&mut streams[r][column], *x);
                    }
                }
            }

            /// The last three layers of the 64 words whose first root is entry `index` of the early roots.
            #[inline]
            #[target_feature(enable = $features)]
            fn forward_late(&self, block: &mut [Words], index: usize) {
                let prime = self.prime;
                let roots = &self.roots.blocks[index - self.roots.blocks.len()];
                for (side, groups) in block.as_chunks_mut::<8>().0.iter_mut().enumerate() {
                    let mut x = turn_in(groups.each_ref().map(|words| load_bits(words)));
                    for x in &mut x {
                        *x = prime.reduce(*x);
                    }
                    let product = |y, root| prime.mul_by_estimate(y, self.late_root(roots, root, side));
                    forward_layer::<8, 4>(&mut x, product);
                    forward_layer::<8, 2>(&mut x, product);
                    forward_layer::<8, 1>(&mut x, product);
                    for x in &mut x {
                        *x = prime.positive(prime.reduce(*x));
                    }
                    for (words_out, x) in groups.iter_mut().zip(turn_out(x)) {
                        store(words_out, words(x));
                    }
                }
            }

            /// The mirror of [`Transform::forward_block`]; in the `LAST` pass, the last layer multiplies sums and differences by
            /// the two factors of `last`, and words are written.
            #[target_feature(enable = $features)]
            fn inverse_block<const LAST: bool>(&self, block: &mut [Words], index: usize, last: &[Factor; 2]) {
                let layers = layers_of_pass(block.len());
                if block.len() == LATE_VECTORS {
                    self.inverse_late(block, index);
                } else {
                    let length = block.len() >> layers;
                    for (i, block) in block.chunks_exact_mut(length).enumerate() {
                        self.inverse_block::<false>(block, (index << layers) + i, last);
                    }
                }
                match layers {
                    1 => self.inverse_pass::<2, LAST>(block, index, last),
                    2 => self.inverse_pass::<4, LAST>(block, index, last),
                    _ => self.inverse_pass::<8, LAST>(block, index, last),
                }
            }

            #[inline]
            #[target_feature(enable = $features)]
            fn inverse_pass<const R: usize, const LAST: bool>(
                &self,
                block: &mut [Words],
                index: usize,
                last: &[Factor; 2],
            ) {
                let prime = self.prime;
                let factors = self.early_factors::<R>(mirror(index));
                let streams = streams::<R>(block);
                for column in 0..streams[0].len() {
                    let mut x = [splat(0.0); R];
                    for (r, x) in x.iter_mut().enumerate() {
                        *x = prime.reduce(load_bits(&streams[r][column]));
                    }
                    let product = |y, root| prime.mul(y, factors.get(root));
                    // The last layer has one root, for the differences, or the two factors in its place.
                    let sum = |y| if LAST { prime.mul(y, last[0]) } else { y };
                    let difference = |y, root| {
                        if LAST { prime.mul(y, last[1]) } else { product(y, root) }
                    };
                    match R {
                        2 => inverse_layer::<R, 1>(&mut x, sum, difference),
                        4 => {
                            inverse_layer::<R, 1>(&mut x, |y| y, product);
                            inverse_layer::<R, 2>(&mut x, sum, difference);
                        }
                        _ => {
                            inverse_layer::<R, 1>(&mut x, |y| y, product);
                            inverse_layer::<R, 2>(&mut x, |y| y, product);
                            inverse_layer::<R, 4>(&mut x, sum, difference);
                        }
                    }
                    for (r, x) in x.iter().enumerate() {
                        if LAST {
                            store(&mut streams[r][column], words(prime.positive(*x)));
                        } else {
                            store_bits(&mut streams[r][column], *x);
                        }
                    }
                }
            }

            /// The mirror of [`Transform::forward_late`]: it reads words in `[0, 2q)`.
            #[inline]
            #[target_feature(enable = $features)]
            fn inverse_late(&self, block: &mut [Words], index: usize) {
                let prime = self.prime;
                let roots = &self.roots.blocks[mirror(index) - self.roots.blocks.len()];
                for (side, groups) in block.as_chunks_mut::<8>().0.iter_mut().enumerate() {
                    // Lane by lane the opposite group's roots: the groups go in backwards.
                    let mut x =
                        turn_in(opposite(groups.each_ref().map(|words| numbers_less(load(words), self.raised))));
                    for x in &mut x {
                        *x = prime.reduce(*x);
                    }
                    let product = |y, root| prime.mul_by_estimate(y, self.late_root(roots, root, 1 - side));
                    inverse_layer::<8, 1>(&mut x, |y| y, product);
                    inverse_layer::<8, 2>(&mut x, |y| y, product);
                    let last = prime.center(self.late_root(roots, 0, 1 - side));
                    inverse_layer::<8, 4>(&mut x, |y| y, |y, _| prime.mul_by_estimate(y, last));
                    for (words_out, x) in groups.iter_mut().zip(opposite(turn_out(x))) {
                        store_bits(words_out, x);
                    }
                }
            }

            /// The roots of the layers among `R` streams of the block with root `index`, in layer order.
            #[inline]
            #[target_feature(enable = $features)]
            fn early_factors<const R: usize>(&self, index: usize) -> EarlyFactors {
                // The roots of a block of 64 words lie together, and its pass has eight streams.
                if let Some(block) = index.checked_sub(self.roots.blocks.len()) {
                    let [a, b, c, d, e, f, g, _] = self.roots.blocks[block][VALUES];
                    return self.factors_of([a, b, c, 0], [d, e, f, g]);
                }
                let root = |i: usize| self.roots.root(i).value;
                // Fewer than eight streams never come last, so that the second layer's roots exist even if they are not used.
                let upper = [root(index), root(2 * index), root(2 * index + 1), 0];
                let lower = if R == 8 { [0, 1, 2, 3].map(|i| root(4 * index + i)) } else { [0; WIDTH] };
                self.factors_of(upper, lower)
            }

            #[inline]
            #[target_feature(enable = $features)]
            fn factors_of(&self, upper: Words, lower: Words) -> EarlyFactors {
                let mut factors = EarlyFactors { upper: [[0; WIDTH]; 2], lower: [[0; WIDTH]; 2] };
                put(&mut factors.upper, self.prime.factors(load(&upper)));
                put(&mut factors.lower, self.prime.factors(load(&lower)));
                factors
            }

            /// Entry `i` of the last three layers' roots for four of the eight groups, in `[0, q)`.
            #[inline]
            #[target_feature(enable = $features)]
            fn late_root(&self, roots: &BlockRoots, i: usize, side: usize) -> Vector {
                let quotient = numbers(load(&roots[LATE + i].as_chunks().0[side]));
                // The integer nearest to w' q / 2^52: see `value_of_quotient`.
                Prime::nearest(quotient, self.step)
            }
        }

        /// The layer that joins vectors `HALF` apart: `x, y -> x + w y, x - w y`; `product(y, i)` multiplies by root `i` in
        /// layer order.
        #[inline]
        #[target_feature(enable = $features)]
        fn forward_layer<const R: usize, const HALF: usize>(
            x: &mut [Vector; R],
            product: impl Fn(Vector, usize) -> Vector,
        ) {
            for pair in 0..R / 2 {
                let (block, i) = (pair / HALF, pair / HALF * 2 * HALF + pair % HALF);
                let y = product(x[i + HALF], R / (2 * HALF) - 1 + block);
                (x[i], x[i + HALF]) = (add(x[i], y), sub(x[i], y));
            }
        }

        /// The mirror of [`forward_layer`]: `x, y -> sum(x + y), w (y - x)`, with the roots of each layer backwards.
        #[inline]
        #[target_feature(enable = $features)]
        fn inverse_layer<const R: usize, const HALF: usize>(
            x: &mut [Vector; R],
            sum: impl Fn(Vector) -> Vector,
            product: impl Fn(Vector, usize) -> Vector,
        ) {
            for pair in 0..R / 2 {
                let (block, i) = (pair / HALF, pair / HALF * 2 * HALF + pair % HALF);
                let (plus, minus) = (add(x[i], x[i + HALF]), sub(x[i + HALF], x[i]));
                (x[i], x[i + HALF]) = (sum(plus), product(minus, 2 * (R / (2 * HALF) - 1) - block));
            }
        }

        /// The factors of a pass, to be broadcast from memory: bits of values and ratios.
        struct EarlyFactors {
            /// One factor for the first layer and two for the second.
            upper: [Words; 2],
            /// Four for the third.
            lower: [Words; 2],
        }

        impl EarlyFactors {
            /// Factor `i` in layer order.
            #[inline]
            #[target_feature(enable = $features)]
            fn get(&self, i: usize) -> Factor {
                let ([values, ratios], at) = if i < 3 { (&self.upper, i) } else { (&self.lower, i - 3) };
                Factor { value: splat(f64::from_bits(values[at])), ratio: splat(f64::from_bits(ratios[at])) }
            }
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn put([values, ratios]: &mut [Words; 2], factor: Factor) {
            store_bits(values, factor.value);
            store_bits(ratios, factor.ratio);
        }

        /// `R` equal parts of a block.
        #[inline(always)]
        fn streams<const R: usize>(block: &mut [Words]) -> [&mut [Words]; R] {
            let length = block.len() / R;
            let mut parts = block.chunks_exact_mut(length);
            std::array::from_fn(|_| parts.next().expect("a block has R parts"))
        }

        /// Four groups of eight numbers, two vectors each, to eight vectors with a lane for each group.
        #[inline]
        #[target_feature(enable = $features)]
        fn turn_in(x: [Vector; 8]) -> [Vector; 8] {
            let [a, b, c, d] = transpose([x[0], x[2], x[4], x[6]]);
            let [e, f, g, h] = transpose([x[1], x[3], x[5], x[7]]);
            [a, b, c, d, e, f, g, h]
        }

        /// The two vectors of each of four groups, with the groups in the opposite order.
        #[inline(always)]
        fn opposite([a, b, c, d, e, f, g, h]: [Vector; 8]) -> [Vector; 8] {
            [g, h, e, f, c, d, a, b]
        }

        /// The inverse of [`turn_in`].
        #[inline]
        #[target_feature(enable = $features)]
        fn turn_out([a, b, c, d, e, f, g, h]: [Vector; 8]) -> [Vector; 8] {
            let (left, right) = (transpose([a, b, c, d]), transpose([e, f, g, h]));
            [left[0], right[0], left[1], right[1], left[2], right[2], left[3], right[3]]
        }
    };
}

pub(in crate::kernels) use fma_ntt;
