//! Kernels that add over many rows and reduce once.
//!
//! A product of two numbers below 2^50 is cut exactly into `2^51 h + l` with `|l| <= 2^50`: adding it to `2^103`
//! with one rounding leaves `h` in the last bits, and the same multiply-add once more, from the other side, gives
//! `l`. Both parts are then added up as integers in 64 bits, so the sums are exact and need no reduction on the way.

/// Expands to these kernels over the lanes in scope, whose functions need the CPU features that the string names.
macro_rules! fma_sums {
    ($features:literal) => {
        use super::arithmetic::{Factor, Prime, TWO_52, numbers, words};
        use super::lanes::{
            Integers, Vector, WIDTH, Words, add, add_words, and, arrange, broadcast, load, mul_add, shift_right,
            shift_right_each, splat, store, sub, to_bits,
        };
        use super::residues::Sum as Residues;
        use crate::kernels::operands::{KEY_GROUP, KEY_TILE, MAX_TERMS, MovedProducts};
        use crate::kernels::places::{GROUP, LANE_BITS};
        use crate::kernels::portable;
        use crate::modulus::Modulus;

        /// How many vectors of columns are summed side by side.
        const COLUMNS: usize = 2;
        /// How many words those are.
        const BLOCK: usize = COLUMNS * WIDTH;

        /// The whole blocks of a row.
        type Blocks<'a> = &'a [[u64; BLOCK]];

        /// Bits of a product below its high part.
        const LOW_BITS: u32 = 51;
        /// `2^103`: what is added to it keeps multiples of `2^51`.
        const HIGH_UNIT: f64 = TWO_52 * (1u64 << LOW_BITS) as f64;
        /// `3 * 2^51`: a number of at most `2^50` added to it keeps the exponent.
        const LOW_UNIT: f64 = 3.0 * (1u64 << LOW_BITS) as f64;

        /// Sums of products as `2^51 high + low`, words modulo 2^64, `low` signed.
        #[derive(Clone, Copy)]
        pub(super) struct Sum {
            high: Integers,
            pub(super) low: Integers,
        }

        impl Sum {
            /// The start of a sum of `terms` products, so that it ends at their value, `low` raised by [`LOW_OFFSET`].
            #[inline]
            #[target_feature(enable = $features)]
            pub(super) fn start(terms: usize) -> Self {
                let terms = terms as u64;
                Self {
                    high: broadcast(HIGH_UNIT.to_bits().wrapping_mul(terms).wrapping_neg()),
                    low: broadcast(LOW_OFFSET.wrapping_sub(LOW_UNIT.to_bits().wrapping_mul(terms))),
                }
            }

            /// Adds `a * b`. Range: in `[0, 2^50)`.
            #[inline]
            #[target_feature(enable = $features)]
            pub(super) fn add(&mut self, a: Vector, b: Vector) {
                // 2^103 + 2^51 h: products below 2^100 keep the exponent, so the bits count h.
                let high = mul_add(a, b, splat(HIGH_UNIT));
                // 3 * 2^51 - 2^51 h, exact: both terms are multiples of 2^51 below 2^104, and so is the constant.
                let rest = sub(splat(HIGH_UNIT + LOW_UNIT), high);
                // 3 * 2^51 + l, exact: an integer between 2^52 and 2^53.
                let low = mul_add(a, b, rest);
                self.high = add_words(self.high, to_bits(high));
                self.low = add_words(self.low, to_bits(low));
            }
        }

        /// Above 64 low parts of at most `2^50`, so that the raised sum is positive and below `2^58`.
        const LOW_OFFSET: u64 = 1 << 57;

        /// Constants that reduce a [`Sum`].
        pub(super) struct Fold {
            prime: Prime,
            /// `2^51`, `2^77` (`2^51` times a cut at 26 bits) and `2^26` modulo q.
            powers: [Factor; 3],
            offset: Vector,
        }

        impl Fold {
            /// Where a sum below `2^58` is cut: into less than `2^32` and `2^26`.
            const CUT: i32 = 26;

            #[inline]
            #[target_feature(enable = $features)]
            pub(super) fn new(q: &Modulus) -> Self {
                let power = |bits: u32| Factor::broadcast(q.shoup(q.reduce_u128(1 << bits)), q);
                Self {
                    prime: Prime::new(q),
                    powers: [power(LOW_BITS), power(LOW_BITS + Self::CUT as u32), power(Self::CUT as u32)],
                    offset: splat(q.reduce(LOW_OFFSET) as f64),
                }
            }

            /// The sum modulo q. Range: at most [`MAX_TERMS`] products, out `[0, q)`.
            #[inline]
            #[target_feature(enable = $features)]
            pub(super) fn reduce(&self, sum: Sum) -> Integers {
                let mask = broadcast((1 << Self::CUT) - 1);
                let top = |x| numbers(shift_right::<{ Self::CUT }>(x));
                let bottom = |x| numbers(and(x, mask));
                let high = add(
                    self.prime.mul(bottom(sum.high), self.powers[0]),
                    self.prime.mul(top(sum.high), self.powers[1]),
                );
                let low = add(self.prime.mul(top(sum.low), self.powers[2]), sub(bottom(sum.low), self.offset));
                // Three products of at most 3q/4, the offset and 2^26: below 2^52 in size.
                words(self.prime.positive(self.prime.reduce(add(high, low))))
            }
        }

        #[target_feature(enable = $features)]
        pub(super) fn inner_product(out: &mut [u64], pairs: &[(&[u64], &[u64])], q: &Modulus) {
            let fold = Fold::new(q);
            let mut views: [(Blocks<'_>, Blocks<'_>); MAX_TERMS] = [(&[], &[]); MAX_TERMS];
            let views = &mut views[..pairs.len()];
            for (view, (a, b)) in views.iter_mut().zip(pairs) {
                *view = (a.as_chunks().0, b.as_chunks().0);
            }
            for (j, out) in out.as_chunks_mut().0.iter_mut().enumerate() {
                let mut sums = [Sum::start(pairs.len()); COLUMNS];
                for (a, b) in views.iter() {
                    let (a, b) = (vectors(&a[j]), vectors(&b[j]));
                    for column in 0..COLUMNS {
                        sums[column].add(numbers(load(&a[column])), numbers(load(&b[column])));
                    }
                }
                for (out, sum) in vectors_mut(out).iter_mut().zip(sums) {
                    store(out, fold.reduce(sum));
                }
            }
            portable::inner_product_from(out.len() / BLOCK * BLOCK, out, pairs, q);
        }

        /// Goes over tiles of the rows, and in a tile over groups of digits; the sums of the groups before are in `out`.
        #[target_feature(enable = $features)]
        pub(super) fn inner_product_pair(out: [&mut [u64]; 2], rows: &[&[u64]], key: &[u64], q: &Modulus) {
            const TILE: usize = KEY_TILE / BLOCK;
            let n = out[0].len();
            let [left, right] = out;
            if n < BLOCK || rows.is_empty() {
                return portable::inner_product_pair([left, right], rows, key, q);
            }
            // Groups of about one size.
            let group = rows.len().div_ceil(rows.len().div_ceil(KEY_GROUP));
            let fold = Fold::new(q);
            let (left_blocks, right_blocks) = (left.as_chunks_mut().0, right.as_chunks_mut().0);
            for (tile, (left, right)) in left_blocks.chunks_mut(TILE).zip(right_blocks.chunks_mut(TILE)).enumerate() {
                let start = tile * KEY_TILE;
                sum_digits::<false>([left, right], &rows[..group], key, [start, n], &fold);
                for (rows, key) in rows.chunks(group).zip(key.chunks(2 * group * n)).skip(1) {
                    sum_digits::<true>([left, right], rows, key, [start, n], &fold);
                }
            }
            portable::inner_product_pair_from(n / BLOCK * BLOCK, [left, right], rows, key, q);
        }

        /// The sums over one group of digits for the words of rows of `n` from `start` on, added to `out` if `ADD`.
        #[inline]
        #[target_feature(enable = $features)]
        fn sum_digits<const ADD: bool>(
            [left, right]: [&mut [[u64; BLOCK]]; 2],
            rows: &[&[u64]],
            key: &[u64],
            [start, n]: [usize; 2],
            fold: &Fold,
        ) {
            let mut views: [[Blocks<'_>; 3]; KEY_GROUP] = [[&[]; 3]; KEY_GROUP];
            let views = &mut views[..rows.len()];
            for ((view, row), pair) in views.iter_mut().zip(rows).zip(key.chunks_exact(2 * n)) {
                *view = [&row[start..], &pair[start..n], &pair[n + start..]].map(|words| words.as_chunks().0);
            }
            for (j, (left, right)) in left.iter_mut().zip(right).enumerate() {
                let mut sums = [[Sum::start(rows.len()); COLUMNS]; 2];
                for [row, left_key, right_key] in views.iter() {
                    let row = vectors(&row[j]);
                    for (sums, key) in sums.iter_mut().zip([vectors(&left_key[j]), vectors(&right_key[j])]) {
                        for column in 0..COLUMNS {
                            sums[column].add(numbers(load(&row[column])), numbers(load(&key[column])));
                        }
                    }
                }
                for (out, sums) in [left, right].into_iter().zip(sums) {
                    for (out, mut sum) in vectors_mut(out).iter_mut().zip(sums) {
                        if ADD {
                            sum.low = add_words(sum.low, load(out));
                        }
                        store(out, fold.reduce(sum));
                    }
                }
            }
        }

        /// Goes over groups of digits: each adds its sums.
        #[target_feature(enable = $features)]
        pub(super) fn add_moved_products(
            [left, right]: [&mut [u64]; 2],
            products: &MovedProducts,
            add: bool,
            q: &Modulus,
        ) {
            let (fold, residues) = (Fold::new(q), Residues::new(q));
            for (i, group) in products.groups().enumerate() {
                let acc = [&mut *left, &mut *right];
                if add || i > 0 {
                    add_group::<true>(acc, &group, &fold, residues);
                } else {
                    add_group::<false>(acc, &group, &fold, residues);
                }
            }
        }

        /// The sums over one group of digits, written where they go, or added to what is there if `ADD`.
        #[inline]
        #[target_feature(enable = $features)]
        fn add_group<const ADD: bool>(
            [left, right]: [&mut [u64]; 2],
            products: &MovedProducts,
            fold: &Fold,
            residues: Residues,
        ) {
            let MovedProducts { rows, key, plus, places, first, .. } = *products;
            let n = left.len();
            let mut views: [[Blocks<'_>; 3]; KEY_GROUP] = [[&[]; 3]; KEY_GROUP];
            let views = &mut views[..rows.len()];
            for ((view, row), [left, right]) in views.iter_mut().zip(rows).zip(key.pairs(n)) {
                *view = [row, left, right].map(|words| words.as_chunks().0);
            }
            let plus = plus.map(|(row, factor)| (row.as_chunks::<BLOCK>().0, numbers(broadcast(factor))));
            let lanes = load(&std::array::from_fn(|lane| (lane * LANE_BITS) as u64));
            let (left, right) = (left.as_chunks_mut::<GROUP>().0, right.as_chunks_mut::<GROUP>().0);
            for (j, place) in places.iter().enumerate() {
                let mut sums = [
                    [Sum::start(rows.len() + usize::from(plus.is_some())); COLUMNS],
                    [Sum::start(rows.len()); COLUMNS],
                ];
                if let Some((row, factor)) = plus {
                    for (sum, x) in sums[0].iter_mut().zip(vectors(&row[j])) {
                        sum.add(numbers(load(x)), factor);
                    }
                }
                for [row, left_key, right_key] in views.iter() {
                    let row = vectors(&row[j]);
                    for (sums, key) in sums.iter_mut().zip([vectors(&left_key[j]), vectors(&right_key[j])]) {
                        for column in 0..COLUMNS {
                            sums[column].add(numbers(load(&row[column])), numbers(load(&key[column])));
                        }
                    }
                }
                let group = place.group() - first;
                for (acc, sums) in [&mut left[group], &mut right[group]].into_iter().zip(sums) {
                    let sums = sums.map(|sum| fold.reduce(sum));
                    for (half, acc) in vectors_mut(acc).iter_mut().enumerate() {
                        let start = half * WIDTH;
                        let order = shift_right_each(broadcast(place.0 >> (start * LANE_BITS)), lanes);
                        let sum = arrange(sums[place.lane(start) / WIDTH], order);
                        store(acc, if ADD { residues.add(load(acc), sum) } else { sum });
                    }
                }
            }
        }

        /// The vectors of a block.
        #[inline]
        fn vectors(block: &[u64; BLOCK]) -> &[Words] {
            block.as_chunks().0
        }

        /// The vectors of a block.
        #[inline]
        fn vectors_mut(block: &mut [u64; BLOCK]) -> &mut [Words] {
            block.as_chunks_mut().0
        }
    };
}

pub(in crate::kernels) use fma_sums;
