//! Kernels that add over many rows and reduce once.
//!
//! # Why the sums are exact
//!
//! A sum starts at `C = 2^c` in `f64`, and each product `a b` is added with one rounding: `h' = rn(h + a b)`. While the sum of the
//! products is below C, all `h` lie in `[C, 2C]`, where numbers are multiples of `u = 2^(c - 52)`. So `h - h'` is exact, and
//! `l = a b + (h - h')`, what the rounding left out, is an integer of at most `u/2` in size, which one more fused step gives
//! exactly. These are added up beside. At the end the sum is `H + L` with `H = h - C`, exact too.
//!
//! *Reduction.* For k, an integer near `rn(H * rn(1/q))`, `|H - k q| <= q/2 + |H| / 2^52` (`arithmetic.rs`, two roundings; a k above
//! `2^53` is as near, for it is an integer already). That is below `2^53`, an integer, and so one fused step gives it exactly.
//! With L, it is below `2^53` as well if `t` products of numbers below `2^x` and `2^y`, of which none may leave C, obey
//!
//! `t 2^(x + y) <= 2^c` and `q/2 + t 2^(x + y - 52) + t 2^(c - 53) + q < 2^53`,
//!
//! where L may start at a residue. It must stay below `2^51 q` as well, which `Prime::reduce` needs, and which matters for `q = 3`.
//! Longer sums are reduced after each `t` products (`Unit`).

/// Expands to these kernels over the lanes in scope, whose functions need the CPU features that the string names.
macro_rules! fma_sums {
    ($features:literal) => {
        use super::arithmetic::{Prime, TWO_52, numbers};
        use super::lanes::{
            Integers, Vector, WIDTH, Words, add, arrange, broadcast, load, mul_add, prefetch, shift_right_each, splat,
            store, sub,
        };
        use super::residues::Sum as Residues;
        use crate::kernels::rows::operands::{KEY_GROUP, KEY_TILE, MAX_TERMS, MovedProducts};
        use crate::kernels::rows::places::{GROUP, LANE_BITS};
        use crate::kernels::rows::portable;
        use crate::modulus::Modulus;

        /// How many vectors of columns are summed side by side.
        const COLUMNS: usize = 2;
        /// How many words those are.
        const BLOCK: usize = COLUMNS * WIDTH;

        /// The whole blocks of a row.
        type Blocks<'a> = &'a [[u64; BLOCK]];

        /// How products are added up: where sums start, and after how many products they are reduced.
        #[derive(Clone, Copy)]
        pub(super) struct Unit {
            start: f64,
            pub(super) terms: usize,
        }

        impl Unit {
            /// For products of any numbers below `2^50`, modulo any prime: `c = 103`.
            pub(super) const ANY: Self = Self { start: TWO_52 * (1u64 << 51) as f64, terms: 4 };

            /// For products of residues with numbers less than `below`, which is at most `2^50`: the c that allows the most terms.
            pub(super) fn of_residues(q: &Modulus, below: u64) -> Self {
                let q = q.value() as f64;
                let (product, limit) = (below as f64 * q, (2.0 * TWO_52).min(TWO_52 / 2.0 * q));
                let unit = |bits: u32| {
                    let start = TWO_52 * (1u64 << (bits - 52)) as f64;
                    let terms = (start / product).min((limit - 1.5 * q) / (product / TWO_52 + start / TWO_52 / 2.0));
                    // Numbers above are rounded up to three times.
                    Self { start, terms: (terms * (1.0 - f64::EPSILON * 8.0)) as usize }
                };
                (98..104).map(unit).max_by_key(|unit| unit.terms).unwrap_or(Self::ANY)
            }
        }

        /// A sum of products.
        #[derive(Clone, Copy)]
        pub(super) struct Sum {
            high: Vector,
            low: Vector,
        }

        impl Sum {
            /// A sum that starts at an integer of at most q in size.
            #[inline]
            #[target_feature(enable = $features)]
            pub(super) fn start(unit: Unit, low: Vector) -> Self {
                Self { high: splat(unit.start), low }
            }

            /// Adds `a * b`. Range: as [`Unit`] says.
            #[inline]
            #[target_feature(enable = $features)]
            pub(super) fn add(&mut self, a: Vector, b: Vector) {
                let high = mul_add(a, b, self.high);
                self.low = add(self.low, mul_add(a, b, sub(self.high, high)));
                self.high = high;
            }
        }

        /// The prime that sums are reduced by.
        #[derive(Clone, Copy)]
        pub(super) struct Fold {
            prime: Prime,
            start: Vector,
        }

        impl Fold {
            #[inline]
            #[target_feature(enable = $features)]
            pub(super) fn new(q: &Modulus, unit: Unit) -> Self {
                Self { prime: Prime::new(q), start: splat(unit.start) }
            }

            /// The sum modulo q, at most `q/2 + 1` in size.
            #[inline]
            #[target_feature(enable = $features)]
            pub(super) fn reduce(&self, sum: Sum) -> Vector {
                self.prime.reduce(add(self.prime.rest(sub(sum.high, self.start)), sum.low))
            }

            /// The sum modulo q as words.
            #[inline]
            #[target_feature(enable = $features)]
            pub(super) fn words(&self, sum: Sum) -> Integers {
                self.prime.canonical(self.reduce(sum))
            }
        }

        #[target_feature(enable = $features)]
        pub(super) fn inner_product(out: &mut [u64], pairs: &[(&[u64], &[u64])], q: &Modulus) {
            let (unit, fold) = (Unit::ANY, Fold::new(q, Unit::ANY));
            let mut views: [(Blocks<'_>, Blocks<'_>); MAX_TERMS] = [(&[], &[]); MAX_TERMS];
            let views = &mut views[..pairs.len()];
            for (view, (a, b)) in views.iter_mut().zip(pairs) {
                *view = (a.as_chunks().0, b.as_chunks().0);
            }
            for (j, out) in out.as_chunks_mut().0.iter_mut().enumerate() {
                let mut sums = [Sum::start(unit, splat(0.0)); COLUMNS];
                for (i, views) in views.chunks(unit.terms).enumerate() {
                    if i > 0 {
                        sums = sums.map(|sum| Sum::start(unit, fold.reduce(sum)));
                    }
                    for (a, b) in views {
                        prefetch_ahead([a, b], j);
                        let (a, b) = (vectors(&a[j]), vectors(&b[j]));
                        for column in 0..COLUMNS {
                            sums[column].add(numbers(load(&a[column])), numbers(load(&b[column])));
                        }
                    }
                }
                for (out, sum) in vectors_mut(out).iter_mut().zip(sums) {
                    store(out, fold.words(sum));
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
            let fold = Fold::new(q, Unit::ANY);
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

        const _: () = assert!(KEY_GROUP <= Unit::ANY.terms, "the digits of a group are summed before a reduction");

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
                let mut sums = [&*left, &*right].map(|out| {
                    std::array::from_fn::<_, COLUMNS, _>(|column| {
                        let low = if ADD { numbers(load(&vectors(out)[column])) } else { splat(0.0) };
                        Sum::start(Unit::ANY, low)
                    })
                });
                for [row, left_key, right_key] in views.iter() {
                    prefetch_ahead([row, left_key, right_key], j);
                    let row = vectors(&row[j]);
                    for (sums, key) in sums.iter_mut().zip([vectors(&left_key[j]), vectors(&right_key[j])]) {
                        for column in 0..COLUMNS {
                            sums[column].add(numbers(load(&row[column])), numbers(load(&key[column])));
                        }
                    }
                }
                for (out, sums) in [left, right].into_iter().zip(sums) {
                    for (out, sum) in vectors_mut(out).iter_mut().zip(sums) {
                        store(out, fold.words(sum));
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
            let (fold, residues) = (Fold::new(q, Unit::ANY), Residues::new(q));
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
                let mut sums = [[Sum::start(Unit::ANY, splat(0.0)); COLUMNS]; 2];
                if let Some((row, factor)) = plus {
                    for (sum, x) in sums[0].iter_mut().zip(vectors(&row[j])) {
                        sum.add(numbers(load(x)), factor);
                        if rows.len() == Unit::ANY.terms {
                            *sum = Sum::start(Unit::ANY, fold.reduce(*sum));
                        }
                    }
                }
                for [row, left_key, right_key] in views.iter() {
                    prefetch_ahead([row, left_key, right_key], j);
                    let row = vectors(&row[j]);
                    for (sums, key) in sums.iter_mut().zip([vectors(&left_key[j]), vectors(&right_key[j])]) {
                        for column in 0..COLUMNS {
                            sums[column].add(numbers(load(&row[column])), numbers(load(&key[column])));
                        }
                    }
                }
                let group = place.group() - first;
                for (acc, sums) in [&mut left[group], &mut right[group]].into_iter().zip(sums) {
                    let sums = sums.map(|sum| fold.words(sum));
                    for (half, acc) in vectors_mut(acc).iter_mut().enumerate() {
                        let start = half * WIDTH;
                        let order = shift_right_each(broadcast(place.0 >> (start * LANE_BITS)), lanes);
                        let sum = arrange(sums[place.lane(start) / WIDTH], order);
                        store(acc, if ADD { residues.add(load(acc), sum) } else { sum });
                    }
                }
            }
        }

        /// How far ahead rows are called into the nearest cache, in blocks, each of which is a line: they are more streams
        /// than the hardware follows.
        const AHEAD: usize = 16;

        #[inline]
        #[target_feature(enable = $features)]
        fn prefetch_ahead<const N: usize>(rows: [Blocks<'_>; N], j: usize) {
            rows.into_iter().filter_map(|row| row.get(j + AHEAD)).for_each(|block| prefetch(&vectors(block)[0]));
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
