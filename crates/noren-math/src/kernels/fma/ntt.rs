//! The transform of four lanes, on signed integers in `f64`.
//!
//! Between the first load and the last store the row holds the bits of `f64`. All layers but the last three run two at a time, the
//! first pass three where their number is odd: in passes over whole blocks, depth first down to blocks that the nearest cache
//! holds, then pass after pass over such a block. The last three layers run within 32 words that are transposed, so that they too
//! act between vectors. The inverse is the mirror image. Two columns, or as many sets of 32 words as the lanes say, go through
//! a layer together, since one alone waits for its own results.
//!
//! # Ranges
//!
//! Sizes in units of q; integers must stay below `2^53`, so that a size is at most `2^53 / q`, which is `1/e` in the following:
//! at least 8. See `arithmetic.rs` for the products.
//!
//! Forward, a layer takes sizes up to `s` to `s + 1/2 + e s`, and one of the last three to `s + 1/2 + (3/2) e s`
//! (`Prime::mul_by_estimate`, with centred roots). The first pass reads `[0, 4q)` less `2q`: 2. A pass that would exceed the
//! limit reduces the half of what it reads that its first layer does not multiply, to 1/2 (and `1/q`), as the other half is
//! reduced by the product: `1 + e s` after the first layer. So primes below 2^48 need no reduction before the end
//! (`Bound`). A reduction ends the last layers.
//!
//! Inverse, a layer takes sizes up to `s` to `2s` for sums, and to `1/2 + 2 e s` for products, `e = 1/8`.
//! - The first three layers read `[0, 2q)` less `q`: 1. Sums of sums are 2, 4, 8; products of sums of sums, by estimates, are at most
//!   1/2 + (3/2) / 8 * 2 = 0.88 in the first layer, 1.25 in the second, 2 in the third. The first three of the eight results may
//!   exceed 2 (8, 3.5, 2.5), and are reduced.
//! - A pass of two layers takes 2 to 4 and 8 for sums, of which the last is reduced; sums of products are 2 times
//!   `1/2 + 4/8`, products at most `1/2 + 8/8`: at most 2 again.
//! - The last pass multiplies sums too, and its products must be below q in size. It reduces the sums of its last layer but one,
//!   so that it multiplies at most 1 for these, and 2 for the products; of three layers, the sums of the second one, after which it
//!   multiplies at most 3 (`1/2 + 3/8`).

/// Expands to these kernels over the lanes in scope, whose functions need the CPU features that the string names.
macro_rules! fma_ntt {
    ($features:literal) => {
        use super::arithmetic::{Factor, Prime, TWO_52, numbers_less};
        use super::lanes::{
            SETS, Vector, WIDTH, Words, add, from_bits, load, load_numbers, splat, store, sub, to_bits, transpose,
        };
        use crate::kernels::transforms::ntt as portable;
        use crate::modulus::Modulus;
        use crate::roots::ntt::{InverseScale, NttTable, NumberRoots, mirror};

        /// The words of the shortest row.
        const LEAST: usize = 64;
        /// The vectors of a block that all passes go over before the next block.
        const LEAF: usize = 2048 / WIDTH;
        /// The vectors of the groups that the last three layers take together.
        const SET: usize = 32 / WIDTH;
        /// How many columns of vectors go through the layers of a pass together.
        const COLUMNS: usize = 2;

        #[target_feature(enable = $features)]
        pub(super) fn forward(row: &mut [u64], table: &NttTable) {
            if row.len() < LEAST {
                return portable::ntt_forward(row, table);
            }
            let transform = Transform::new::<2>(table.modulus(), table.number_roots());
            transform.forward_row(row.as_chunks_mut().0);
        }

        #[target_feature(enable = $features)]
        pub(super) fn inverse(row: &mut [u64], table: &NttTable, scale: &InverseScale) {
            if row.len() < LEAST {
                return portable::ntt_inverse(row, table, scale);
            }
            let transform = Transform::new::<1>(table.modulus(), table.number_roots());
            let last = [scale.sum(), scale.difference()].map(|w| Factor::broadcast(w, table.modulus()));
            transform.inverse_row(row.as_chunks_mut().0, &last);
        }

        /// How large the numbers of a row may be, in units of q.
        #[derive(Clone, Copy)]
        struct Bound {
            size: f64,
            /// `q / 2^53`.
            error: f64,
        }

        impl Bound {
            /// After `layers` layers whose products are at most 1/2 and `estimates` times the error, and whether the numbers that the
            /// first one does not multiply are reduced before.
            fn after(self, layers: u32, estimates: f64) -> (bool, Self) {
                let layer = |size: f64| size + 0.5 + estimates * self.error * size;
                let all = |size: f64, layers: u32| (0..layers).fold(size, |size, _| layer(size));
                // A hundredth is left for the roundings of these sizes, and for what reductions leave above 1/2.
                let plain = all(self.size, layers);
                if plain * self.error <= 0.99 {
                    return (false, Self { size: plain, ..self });
                }
                let reduced = all(1.0 + estimates * self.error * self.size, layers - 1);
                (true, Self { size: reduced, ..self })
            }
        }

        struct Transform<'a> {
            prime: Prime,
            /// `2^52 + 2q` forward, `2^52 + q` inverse.
            raised: Vector,
            /// `q / 2^53`.
            error: f64,
            roots: NumberRoots<'a>,
        }

        impl<'a> Transform<'a> {
            /// For rows in `[0, 2 HALF q)`.
            #[inline]
            #[target_feature(enable = $features)]
            fn new<const HALF: u32>(q: &Modulus, roots: NumberRoots<'a>) -> Self {
                let value = q.value() as f64;
                let raised = splat(TWO_52 + f64::from(HALF) * value);
                Self { prime: Prime::new(q), raised, error: value / (2.0 * TWO_52), roots }
            }

            #[target_feature(enable = $features)]
            fn forward_row(&self, row: &mut [Words]) {
                let start = Bound { size: 2.0, error: self.error };
                let (streams, bound) = if has_odd_layers(row.len()) {
                    self.forward_pass::<8, true, false>(row, 1);
                    (8, start.after(3, 1.0).1)
                } else {
                    self.forward_pass::<4, true, false>(row, 1);
                    (4, start.after(2, 1.0).1)
                };
                if row.len() <= LEAF {
                    return self.forward_leaf(row, row.len() / streams, streams, bound);
                }
                let length = row.len() / streams;
                for (i, block) in row.chunks_exact_mut(length).enumerate() {
                    self.forward_block(block, streams + i, bound);
                }
            }

            /// Transforms the block of layer `m` whose number is `index - m`: its root is entry `index` of the early roots.
            #[target_feature(enable = $features)]
            fn forward_block(&self, block: &mut [Words], index: usize, bound: Bound) {
                if block.len() <= LEAF {
                    return self.forward_leaf(block, block.len(), index, bound);
                }
                let (reduce, bound) = bound.after(2, 1.0);
                if reduce {
                    self.forward_pass::<4, false, true>(block, index);
                } else {
                    self.forward_pass::<4, false, false>(block, index);
                }
                let length = block.len() / 4;
                for (i, block) in block.chunks_exact_mut(length).enumerate() {
                    self.forward_block(block, 4 * index + i, bound);
                }
            }

            /// Transforms the blocks of `length` vectors side by side in a leaf; the first has root `index`.
            #[target_feature(enable = $features)]
            fn forward_leaf(&self, leaf: &mut [Words], mut length: usize, mut index: usize, mut bound: Bound) {
                while length > SET / 4 {
                    let (reduce, after) = bound.after(2, 1.0);
                    for (i, block) in leaf.chunks_exact_mut(length).enumerate() {
                        if reduce {
                            self.forward_pass::<4, false, true>(block, index + i);
                        } else {
                            self.forward_pass::<4, false, false>(block, index + i);
                        }
                    }
                    (length, index, bound) = (length / 4, 4 * index, after);
                }
                let (reduce, _) = bound.after(3, 1.5);
                // Now the index is that of the first group of eight words, in the layer after those of the early roots.
                let first = (index - self.roots.early.len()) / WIDTH;
                if reduce {
                    self.forward_late::<true>(leaf, first);
                } else {
                    self.forward_late::<false>(leaf, first);
                }
            }

            /// The layers among `R` streams of a block, some columns together; the first pass reads words.
            #[inline]
            #[target_feature(enable = $features)]
            fn forward_pass<const R: usize, const FIRST: bool, const REDUCE: bool>(
                &self,
                block: &mut [Words],
                index: usize,
            ) {
                let prime = self.prime;
                let roots = self.early_roots::<R>(index);
                let streams = streams::<R>(block);
                let product = |y, i: usize| prime.mul(y, factor(&roots[i]));
                for column in 0..streams[0].len() {
                    let mut x = [[splat(0.0); R]; COLUMNS];
                    for (u, x) in x.iter_mut().enumerate() {
                        for (r, x) in x.iter_mut().enumerate() {
                            let words = load(&streams[r][column][u]);
                            *x = if FIRST { numbers_less(words, self.raised) } else { from_bits(words) };
                            if REDUCE && r < R / 2 {
                                *x = prime.reduce(*x);
                            }
                        }
                    }
                    // Layer by layer with constant distances, so that the vectors stay in registers.
                    if R > 4 {
                        x.iter_mut().for_each(|x| forward_layer::<R, 4>(x, product));
                    }
                    x.iter_mut().for_each(|x| forward_layer::<R, 2>(x, product));
                    x.iter_mut().for_each(|x| forward_layer::<R, 1>(x, product));
                    for (u, x) in x.iter().enumerate() {
                        for (r, x) in x.iter().enumerate() {
                            store(&mut streams[r][column][u], to_bits(*x));
                        }
                    }
                }
            }

            /// The last three layers of groups of 32 words, of which the first has entry `first` of the late roots.
            #[inline]
            #[target_feature(enable = $features)]
            fn forward_late<const REDUCE: bool>(&self, leaf: &mut [Words], first: usize) {
                let prime = self.prime;
                let sets = leaf.as_chunks_mut::<SET>().0.as_chunks_mut::<SETS>().0;
                let roots = self.roots.late[first..].as_chunks::<SETS>().0;
                for (sets, roots) in sets.iter_mut().zip(roots) {
                    let mut x = [[splat(0.0); SET]; SETS];
                    for (set, x) in sets.iter().zip(&mut x) {
                        for (words, x) in set.iter().zip(&mut *x) {
                            *x = from_bits(load(words));
                        }
                        *x = turn_in(*x);
                        if REDUCE {
                            x[..4].iter_mut().for_each(|x| *x = prime.reduce(*x));
                        }
                    }
                    let product = |u: usize| move |y, i: usize| prime.mul_by_estimate(y, load_numbers(&roots[u][i]));
                    x.iter_mut().enumerate().for_each(|(u, x)| forward_layer::<8, 4>(x, product(u)));
                    x.iter_mut().enumerate().for_each(|(u, x)| forward_layer::<8, 2>(x, product(u)));
                    x.iter_mut().enumerate().for_each(|(u, x)| forward_layer::<8, 1>(x, product(u)));
                    for (set, x) in sets.iter_mut().zip(&x) {
                        for (words, x) in set.iter_mut().zip(turn_out(*x)) {
                            store(words, prime.canonical(prime.reduce(x)));
                        }
                    }
                }
            }

            /// The mirror of [`Transform::forward_row`]; the last layer multiplies sums and differences by the two factors of `last`.
            #[target_feature(enable = $features)]
            fn inverse_row(&self, row: &mut [Words], last: &[Factor; 2]) {
                let streams = if has_odd_layers(row.len()) { 8 } else { 4 };
                let length = row.len() / streams;
                if row.len() <= LEAF {
                    self.inverse_leaf(row, length, streams);
                } else {
                    for (i, block) in row.chunks_exact_mut(length).enumerate() {
                        self.inverse_block(block, streams + i);
                    }
                }
                if streams == 8 {
                    self.inverse_last::<8>(row, last);
                } else {
                    self.inverse_last::<4>(row, last);
                }
            }

            /// The mirror of [`Transform::forward_block`].
            #[target_feature(enable = $features)]
            fn inverse_block(&self, block: &mut [Words], index: usize) {
                if block.len() <= LEAF {
                    return self.inverse_leaf(block, block.len(), index);
                }
                let length = block.len() / 4;
                for (i, block) in block.chunks_exact_mut(length).enumerate() {
                    self.inverse_block(block, 4 * index + i);
                }
                self.inverse_pass(block, index);
            }

            /// The mirror of [`Transform::forward_leaf`].
            #[target_feature(enable = $features)]
            fn inverse_leaf(&self, leaf: &mut [Words], length: usize, index: usize) {
                // The first group of eight words in the layer after those of the early roots: a block has `length / (SET / 4)` of them.
                let first = index * (length / (SET / 4)) - self.roots.early.len();
                self.inverse_late(leaf, first / WIDTH);
                let mut short = SET;
                while short <= length {
                    let index = index * (length / short);
                    for (i, block) in leaf.chunks_exact_mut(short).enumerate() {
                        self.inverse_pass(block, index + i);
                    }
                    short *= 4;
                }
            }

            /// The mirror of [`Transform::forward_pass`] for four streams.
            #[inline]
            #[target_feature(enable = $features)]
            fn inverse_pass(&self, block: &mut [Words], index: usize) {
                let prime = self.prime;
                let roots = self.early_roots::<4>(mirror(index));
                let streams = streams::<4>(block);
                let product = |y, i: usize| prime.mul(y, factor(&roots[i]));
                for column in 0..streams[0].len() {
                    let mut x = [[splat(0.0); 4]; COLUMNS];
                    for (u, x) in x.iter_mut().enumerate() {
                        for (r, x) in x.iter_mut().enumerate() {
                            *x = from_bits(load(&streams[r][column][u]));
                        }
                    }
                    x.iter_mut().for_each(|x| inverse_layer::<4, 1>(x, |y, _| y, product));
                    x.iter_mut().for_each(|x| {
                        inverse_layer::<4, 2>(x, |y, i| if i == 0 { prime.reduce(y) } else { y }, product);
                    });
                    for (u, x) in x.iter().enumerate() {
                        for (r, x) in x.iter().enumerate() {
                            store(&mut streams[r][column][u], to_bits(*x));
                        }
                    }
                }
            }

            /// The pass over the whole row, which writes words.
            #[inline]
            #[target_feature(enable = $features)]
            fn inverse_last<const R: usize>(&self, row: &mut [Words], last: &[Factor; 2]) {
                let prime = self.prime;
                let roots = self.early_roots::<R>(mirror(1));
                let streams = streams::<R>(row);
                let product = |y, i: usize| prime.mul(y, factor(&roots[i]));
                let (sum, difference) = (|y, _| prime.mul(y, last[0]), |y, _| prime.mul(y, last[1]));
                for column in 0..streams[0].len() {
                    let mut x = [[splat(0.0); R]; COLUMNS];
                    for (u, x) in x.iter_mut().enumerate() {
                        for (r, x) in x.iter_mut().enumerate() {
                            *x = from_bits(load(&streams[r][column][u]));
                        }
                    }
                    if R == 4 {
                        x.iter_mut().for_each(|x| inverse_layer::<R, 1>(x, |y, _| prime.reduce(y), product));
                        x.iter_mut().for_each(|x| inverse_layer::<R, 2>(x, sum, difference));
                    } else {
                        x.iter_mut().for_each(|x| inverse_layer::<R, 1>(x, |y, _| y, product));
                        let reduce = |y, i: usize| if i % 4 < 2 { prime.reduce(y) } else { y };
                        x.iter_mut().for_each(|x| inverse_layer::<R, 2>(x, reduce, product));
                        x.iter_mut().for_each(|x| inverse_layer::<R, 4>(x, sum, difference));
                    }
                    for (u, x) in x.iter().enumerate() {
                        for (r, x) in x.iter().enumerate() {
                            store(&mut streams[r][column][u], prime.canonical(*x));
                        }
                    }
                }
            }

            /// The mirror of [`Transform::forward_late`]: it reads words in `[0, 2q)`.
            #[inline]
            #[target_feature(enable = $features)]
            fn inverse_late(&self, leaf: &mut [Words], first: usize) {
                let prime = self.prime;
                let sets = leaf.as_chunks_mut::<SET>().0.as_chunks_mut::<SETS>().0;
                // The roots of opposite groups, whose lanes are opposite too: the groups go in backwards.
                let end = self.roots.late.len() - first;
                let roots = self.roots.late[..end].as_rchunks::<SETS>().1;
                for (sets, roots) in sets.iter_mut().zip(roots.iter().rev()) {
                    let mut x = [[splat(0.0); SET]; SETS];
                    for (set, x) in sets.iter().zip(&mut x) {
                        for (words, x) in set.iter().zip(&mut *x) {
                            *x = numbers_less(load(words), self.raised);
                        }
                        *x = turn_in(opposite(*x));
                    }
                    let product =
                        |u: usize| move |y, i: usize| prime.mul_by_estimate(y, load_numbers(&roots[SETS - 1 - u][i]));
                    let layers = x.iter_mut().enumerate();
                    layers.for_each(|(u, x)| inverse_layer::<8, 1>(x, |y, _| y, product(u)));
                    let layers = x.iter_mut().enumerate();
                    layers.for_each(|(u, x)| inverse_layer::<8, 2>(x, |y, _| y, product(u)));
                    let reduce = |y, i: usize| if i < 3 { prime.reduce(y) } else { y };
                    let layers = x.iter_mut().enumerate();
                    layers.for_each(|(u, x)| inverse_layer::<8, 4>(x, reduce, product(u)));
                    for (set, x) in sets.iter_mut().zip(&x) {
                        for (words, x) in set.iter_mut().zip(opposite(turn_out(*x))) {
                            store(words, to_bits(x));
                        }
                    }
                }
            }

            /// The roots of the layers among `R` streams of the block with root `index`, in layer order, with their ratios.
            #[inline]
            #[target_feature(enable = $features)]
            fn early_roots<const R: usize>(&self, index: usize) -> [[f64; 2]; 7] {
                let mut roots = [[0.0; 2]; 7];
                for (i, root) in roots.iter_mut().take(R - 1).enumerate() {
                    let layer = (i + 1).ilog2();
                    *root = self.roots.early[(index << layer) + i + 1 - (1 << layer)];
                }
                roots
            }
        }

        /// Whether the number of layers before the last three is odd, for a row of `vectors` vectors.
        const fn has_odd_layers(vectors: usize) -> bool {
            (vectors / (SET / 4)).trailing_zeros() % 2 == 1
        }

        /// A root with its ratio, in every lane.
        #[inline]
        #[target_feature(enable = $features)]
        fn factor(&[value, ratio]: &[f64; 2]) -> Factor {
            Factor { value: splat(value), ratio: splat(ratio) }
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

        /// The mirror of [`forward_layer`]: `x, y -> sum(x + y, i), w (y - x)` for `x` at place `i`, with the roots of each layer
        /// backwards.
        #[inline]
        #[target_feature(enable = $features)]
        fn inverse_layer<const R: usize, const HALF: usize>(
            x: &mut [Vector; R],
            sum: impl Fn(Vector, usize) -> Vector,
            product: impl Fn(Vector, usize) -> Vector,
        ) {
            for pair in 0..R / 2 {
                let (block, i) = (pair / HALF, pair / HALF * 2 * HALF + pair % HALF);
                let (plus, minus) = (add(x[i], x[i + HALF]), sub(x[i + HALF], x[i]));
                (x[i], x[i + HALF]) = (sum(plus, i), product(minus, 2 * (R / (2 * HALF) - 1) - block));
            }
        }

        /// `R` equal parts of a block, some columns at a time.
        #[inline(always)]
        fn streams<const R: usize>(block: &mut [Words]) -> [&mut [[Words; COLUMNS]]; R] {
            let columns = block.len() / R / COLUMNS;
            let mut rest = block.as_chunks_mut::<COLUMNS>().0;
            std::array::from_fn(|_| {
                let (part, others) = std::mem::take(&mut rest).split_at_mut(columns);
                rest = others;
                part
            })
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
