//! Kernels of the basis conversion: weighted sums of rows, and how often the modulus fits into them.

/// Expands to these kernels over the lanes in scope, whose functions need the CPU features that the string names.
macro_rules! fma_conversion {
    ($features:literal) => {
        use super::arithmetic::{numbers, words};
        use super::lanes::{WIDTH, Words, add, floor, load, mul, prefetch, splat, store};
        use super::sums::{Fold, Sum, Unit};
        use crate::kernels::rows::operands::{MAX_TERMS, WeightedRows, WeightedSum};
        use crate::kernels::rows::portable;

        /// A row, cut into blocks of `C` vectors.
        type Blocks<'a, const C: usize> = &'a [[Words; C]];

        /// How many sums are made side by side, at most: their accumulators stay in registers, and all of them read the words of
        /// a row as numbers that were made once.
        const GROUP: usize = 4;

        /// The prefetch distance of words, in vectors: the rows are more streams than the hardware follows.
        const AHEAD: usize = 16;
        /// The vectors of a line of a cache.
        const LINE: usize = 2;

        #[target_feature(enable = $features)]
        pub(super) fn weighted_sums(sums: &mut [WeightedSum], rows: &WeightedRows) {
            let mut terms: [&[u64]; MAX_TERMS] = [&[]; MAX_TERMS];
            let (terms, below) = (rows.terms(&mut terms), rows.below.max(MAX_TERMS as u64));
            for group in sums.chunks_mut(GROUP) {
                let done = match group.len() {
                    1 => sum_blocks::<1, 4>(group, terms, below),
                    2 => sum_blocks::<2, 2>(group, terms, below),
                    3 => sum_blocks::<3, 1>(group, terms, below),
                    _ => sum_blocks::<GROUP, 1>(group, terms, below),
                };
                portable::weighted_sums_from(done, group, rows);
            }
        }

        /// `S` sums over whole blocks of `C` vectors of numbers less than `below`; gives back how many words those are.
        #[inline]
        #[target_feature(enable = $features)]
        fn sum_blocks<const S: usize, const C: usize>(sums: &mut [WeightedSum], rows: &[&[u64]], below: u64) -> usize {
            let sums = sums.first_chunk_mut::<S>().expect("there are S sums");
            let mut views: [Blocks<C>; MAX_TERMS] = [&[]; MAX_TERMS];
            let views = &mut views[..rows.len()];
            views.iter_mut().zip(rows).for_each(|(view, row)| *view = row.as_chunks().0.as_chunks().0);
            let mut weights = [[0.0; S]; MAX_TERMS];
            let weights = &mut weights[..rows.len()];
            for (i, weights) in weights.iter_mut().enumerate() {
                *weights = sums.each_ref().map(|sum| sum.weights[i] as f64);
            }
            let units = sums.each_ref().map(|sum| Unit::of_residues(sum.modulus, below));
            let terms = units.iter().map(|unit| unit.terms).min().unwrap_or(MAX_TERMS);
            let folds: [Fold; S] = std::array::from_fn(|s| Fold::new(sums[s].modulus, units[s]));
            let out = sums.each_mut().map(|sum| sum.out.as_chunks_mut::<WIDTH>().0.as_chunks_mut::<C>().0);

            let blocks = out[0].len();
            for j in 0..blocks {
                if (j * C).is_multiple_of(LINE) {
                    for next in views.iter().filter_map(|view| view.get(j + AHEAD / C)) {
                        for line in 0..C.div_ceil(LINE) {
                            prefetch(&next[line * LINE]);
                        }
                    }
                }
                let mut parts = units.map(|unit| [Sum::start(unit, splat(0.0)); C]);
                for (i, (views, weights)) in views.chunks(terms).zip(weights.chunks(terms)).enumerate() {
                    if i > 0 {
                        for s in 0..S {
                            for column in 0..C {
                                parts[s][column] = Sum::start(units[s], folds[s].reduce(parts[s][column]));
                            }
                        }
                    }
                    // Two rows a step: half of the copies of accumulators between registers.
                    let (view_pairs, last_view) = views.as_chunks::<2>();
                    let (weight_pairs, last_weights) = weights.as_chunks::<2>();
                    for (views, weights) in view_pairs.iter().zip(weight_pairs) {
                        add_row(&mut parts, &views[0][j], &weights[0]);
                        add_row(&mut parts, &views[1][j], &weights[1]);
                    }
                    for (view, weights) in last_view.iter().zip(last_weights) {
                        add_row(&mut parts, &view[j], weights);
                    }
                }
                for s in 0..S {
                    for column in 0..C {
                        store(&mut out[s][j][column], folds[s].words(parts[s][column]));
                    }
                }
            }
            blocks * C * WIDTH
        }

        /// Adds the products of a row's vectors with the weights of each sum.
        #[inline]
        #[target_feature(enable = $features)]
        fn add_row<const S: usize, const C: usize>(parts: &mut [[Sum; C]; S], row: &[Words; C], weights: &[f64; S]) {
            let x = row.each_ref().map(|words| numbers(load(words)));
            for s in 0..S {
                let weight = splat(weights[s]);
                for column in 0..C {
                    parts[s][column].add(x[column], weight);
                }
            }
        }

        /// How many vectors of columns the quotients are summed for side by side.
        const COLUMNS: usize = 2;
        /// How many words those are.
        const BLOCK: usize = COLUMNS * WIDTH;

        #[target_feature(enable = $features)]
        pub(super) fn quotients(out: &mut [u64], rows: &[&[u64]], inverses: &[f64]) {
            for (j, out) in out.as_chunks_mut::<WIDTH>().0.as_chunks_mut::<COLUMNS>().0.iter_mut().enumerate() {
                let mut sums = [splat(0.5); COLUMNS];
                for (row, &inverse) in rows.iter().zip(inverses) {
                    let row: Blocks<COLUMNS> = row.as_chunks().0.as_chunks().0;
                    for (sum, words) in sums.iter_mut().zip(&row[j]) {
                        // Two roundings, as in `portable`: a fused multiply-add would give other bits.
                        let product = mul(numbers(load(words)), splat(inverse));
                        *sum = add(*sum, product);
                    }
                }
                for (out, sum) in out.iter_mut().zip(sums) {
                    store(out, words(floor(sum)));
                }
            }
            portable::quotients_from(out.len() / BLOCK * BLOCK, out, rows, inverses);
        }
    };
}

pub(in crate::kernels) use fma_conversion;
