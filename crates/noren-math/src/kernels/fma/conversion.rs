//! Kernels of the basis conversion: weighted sums of rows, and how often the modulus fits into them.

/// Expands to these kernels over the lanes in scope, whose functions need the CPU features that the string names.
macro_rules! fma_conversion {
    ($features:literal) => {
        use super::arithmetic::{numbers, words};
        use super::lanes::{Numbers, WIDTH, Words, add, floor, load, load_numbers, mul, splat, store, store_numbers};
        use super::sums::{Fold, Sum, Unit};
        use crate::kernels::operands::{MAX_TERMS, WeightedSum};
        use crate::kernels::portable;

        /// How many vectors of numbers are made of the rows' words before the sums read them: as many as the nearest cache holds
        /// beside other things.
        const TILE: usize = 512;

        /// How many sums are made side by side, at most: their accumulators stay in registers.
        const GROUP: usize = 4;

        #[target_feature(enable = $features)]
        pub(super) fn weighted_sums(sums: &mut [WeightedSum], rows: &[&[u64]], counts: Option<&[u64]>) {
            let mut terms: [&[u64]; MAX_TERMS] = [&[]; MAX_TERMS];
            let terms = portable::all_terms(&mut terms, rows, counts);
            let vectors = terms.first().map_or(0, |row| row.len() / WIDTH);
            let mut tile = [[0.0; WIDTH]; TILE];
            for start in (0..vectors).step_by(TILE / terms.len().max(1)) {
                let end = vectors.min(start + TILE / terms.len());
                let tile = &mut tile[..(end - start) * terms.len()];
                for (i, row) in terms.iter().enumerate() {
                    let row = &row.as_chunks().0[start..end];
                    for (numbers_out, words) in tile[i..].iter_mut().step_by(terms.len()).zip(row) {
                        store_numbers(numbers_out, numbers(load(words)));
                    }
                }
                for group in sums.chunks_mut(GROUP) {
                    match group.len() {
                        1 => sum_tile::<1, 4>(group, tile, terms.len(), start),
                        2 => sum_tile::<2, 2>(group, tile, terms.len(), start),
                        3 => sum_tile::<3, 1>(group, tile, terms.len(), start),
                        _ => sum_tile::<GROUP, 1>(group, tile, terms.len(), start),
                    }
                }
            }
            portable::weighted_sums_from(vectors * WIDTH, sums, rows, counts);
        }

        /// `S` sums of all columns of a tile, of which the first has vector `start` of the rows; `C` columns together.
        #[inline]
        #[target_feature(enable = $features)]
        fn sum_tile<const S: usize, const C: usize>(
            sums: &mut [WeightedSum],
            tile: &[Numbers],
            terms: usize,
            start: usize,
        ) {
            let blocks = tile.chunks_exact(terms * C);
            let (rest, done) = (blocks.remainder(), start + blocks.len() * C);
            sum_blocks::<S, C>(sums, blocks, start);
            if !rest.is_empty() {
                sum_blocks::<S, 1>(sums, rest.chunks_exact(terms), done);
            }
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn sum_blocks<'a, const S: usize, const C: usize>(
            sums: &mut [WeightedSum],
            blocks: impl ExactSizeIterator<Item = &'a [Numbers]>,
            start: usize,
        ) {
            let sums = sums.first_chunk_mut::<S>().expect("there are S sums");
            let mut weights = [[0.0; S]; MAX_TERMS];
            let weights = &mut weights[..sums[0].weights.len()];
            for (i, weights) in weights.iter_mut().enumerate() {
                *weights = sums.each_ref().map(|sum| sum.weights[i] as f64);
            }
            let units = sums.each_ref().map(|sum| Unit::of_residues(sum.modulus));
            let terms = units.iter().map(|unit| unit.terms).min().unwrap_or(MAX_TERMS);
            let folds: [Fold; S] = std::array::from_fn(|s| Fold::new(sums[s].modulus, units[s]));
            let count = blocks.len();
            let outs = sums.each_mut().map(|sum| {
                &mut sum.out.as_chunks_mut::<WIDTH>().0[start..][..count * C].as_chunks_mut::<C>().0[..count]
            });
            for (j, block) in blocks.enumerate() {
                let mut parts = units.map(|unit| [Sum::start(unit, splat(0.0)); C]);
                let mut columns = [&block[..0]; C];
                columns.iter_mut().zip(block.chunks_exact(weights.len())).for_each(|(column, part)| *column = part);
                let mut first = 0;
                loop {
                    let last = weights.len().min(first + terms);
                    for (i, weights) in weights[first..last].iter().enumerate() {
                        for c in 0..C {
                            let x = load_numbers(&columns[c][first + i]);
                            for s in 0..S {
                                parts[s][c].add(x, splat(weights[s]));
                            }
                        }
                    }
                    if last == weights.len() {
                        break;
                    }
                    first = last;
                    for s in 0..S {
                        for c in 0..C {
                            parts[s][c] = Sum::start(units[s], folds[s].reduce(parts[s][c]));
                        }
                    }
                }
                for s in 0..S {
                    for c in 0..C {
                        store(&mut outs[s][j][c], folds[s].words(parts[s][c]));
                    }
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
                    let row: &[[Words; COLUMNS]] = row.as_chunks().0.as_chunks().0;
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
