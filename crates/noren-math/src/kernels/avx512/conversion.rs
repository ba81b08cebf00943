//! Kernels of the basis conversion: weighted sums of rows, and how often the modulus fits into them.
//!
//! A weighted sum waits for the multiplier, which makes two halves of a product for each row and each sum. All else keeps
//! off it or is shared: several sums read a row once; a small count finds its multiple of a weight in a table of two
//! registers; and the reduction is Montgomery's, with weights `w 2^52 mod q`. For `S = high 2^52 + low` and
//! `m = low q^-1 mod 2^52` the low halves of `S` and `m q` are equal, so `S 2^-52 = high - floor(m q / 2^52)` modulo q:
//! two halves of products, where weights without the factor would need four. Source: Montgomery, Modular multiplication
//! without trial division, Mathematics of Computation 44, 1985.
//!
//! The sums run down the rows in registers. What is left of a row, less than 32 words, is left to `portable`.

use std::arch::x86_64::*;

use super::arithmetic::{Prime, Vector, WIDTH, add_high, add_low, broadcast, load, prefetch, store};
use crate::kernels::rows::operands::{MAX_TERMS, WeightedRows, WeightedSum};
use crate::kernels::rows::portable;
use crate::modulus::Modulus;

/// The words of one vector in memory.
type Words = [u64; WIDTH];
/// A row, cut into blocks of `C` vectors.
type Blocks<'a, const C: usize> = &'a [[Words; C]];

/// How many sums are made side by side, at most: their accumulators and tables stay in registers.
const GROUP: usize = 4;
/// The prefetch distance of words, in vectors: the rows are more streams than the
/// hardware follows well.
const AHEAD: usize = 8;
/// How many different counts a table of multiples has: two registers of them.
const TABLE: usize = 2 * WIDTH;
/// The number of products of words below 2^50 and residues that are less than `3q 2^52` together, with room for one more residue.
const FEW: usize = 12;

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) fn weighted_sums(sums: &mut [WeightedSum], rows: &WeightedRows) {
    let mut terms: [&[u64]; MAX_TERMS] = [&[]; MAX_TERMS];
    // Counts that may exceed a table are one row more.
    let few_counts = rows.counts.filter(|_| rows.rows.len() < TABLE);
    let terms = if few_counts.is_some() { rows.rows } else { rows.terms(&mut terms) };
    for group in sums.chunks_mut(GROUP) {
        // The fewer sums, the more columns: four products that do not wait for each other hide their latency.
        let done = match group.len() {
            1 => sum_blocks::<1, 4>(group, terms, few_counts),
            2 => sum_blocks::<2, 2>(group, terms, few_counts),
            3 => sum_blocks::<3, 2>(group, terms, few_counts),
            _ => sum_blocks::<GROUP, 1>(group, terms, few_counts),
        };
        portable::weighted_sums_from(done, group, rows);
    }
}

/// `S` sums over whole blocks of `C` vectors; gives back how many words those are.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn sum_blocks<const S: usize, const C: usize>(
    sums: &mut [WeightedSum],
    rows: &[&[u64]],
    counts: Option<&[u64]>,
) -> usize {
    let sums = sums.first_chunk_mut::<S>().expect("there are S sums");
    let mut views: [Blocks<C>; MAX_TERMS] = [&[]; MAX_TERMS];
    let views = &mut views[..rows.len()];
    views.iter_mut().zip(rows).for_each(|(view, row)| *view = row.as_chunks().0.as_chunks().0);
    let mut weights = [[0; S]; MAX_TERMS];
    let weights = &mut weights[..rows.len()];
    for (i, weights) in weights.iter_mut().enumerate() {
        *weights = sums.each_ref().map(|sum| Montgomery::factor(sum.weights[i], sum.modulus));
    }
    let multiples = sums.each_ref().map(|sum| match counts {
        Some(_) => Multiples::new(Montgomery::factor(sum.weights[rows.len()], sum.modulus), sum.modulus),
        None => Multiples::new(0, sum.modulus),
    });
    let counts: Option<Blocks<C>> = counts.map(|counts| counts.as_chunks().0.as_chunks().0);
    let residues = sums.each_ref().map(|sum| Montgomery::new(sum.modulus));
    let out = sums.each_mut().map(|sum| sum.out.as_chunks_mut::<WIDTH>().0.as_chunks_mut::<C>().0);

    let blocks = out[0].len();
    for j in 0..blocks {
        let mut high = residues.each_ref().map(|residues| [residues.prime.q; C]);
        let mut low = [[_mm512_setzero_si512(); C]; S];
        if let Some(counts) = counts {
            for (column, counts) in counts[j].iter().enumerate() {
                let counts = load(counts);
                for (low, multiples) in low.iter_mut().zip(&multiples) {
                    low[column] = multiples.of(counts);
                }
            }
        }
        for (view, weights) in views.iter().zip(&*weights) {
            view.get(j + AHEAD / C).into_iter().for_each(|next| prefetch(next));
            let words = view[j].each_ref().map(|words| load(words));
            for s in 0..S {
                let weight = broadcast(weights[s]);
                for column in 0..C {
                    high[s][column] = add_high(high[s][column], words[column], weight);
                    low[s][column] = add_low(low[s][column], words[column], weight);
                }
            }
        }
        for s in 0..S {
            for column in 0..C {
                let (high, low) = (high[s][column], low[s][column]);
                let sum =
                    if rows.len() <= FEW { residues[s].reduce(high, low) } else { residues[s].reduce_many(high, low) };
                store(&mut out[s][j][column], sum);
            }
        }
    }
    blocks * C * WIDTH
}

/// The first multiples of a weight.
#[derive(Clone, Copy)]
struct Multiples {
    halves: [Vector; 2],
}

impl Multiples {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn new(weight: u64, q: &Modulus) -> Self {
        let (mut words, mut multiple) = ([0; TABLE], 0);
        for word in &mut words {
            *word = multiple;
            multiple = q.add(multiple, weight);
        }
        let [first, second] = words.as_chunks().0 else { unreachable!("a table has two halves") };
        Self { halves: [load(first), load(second)] }
    }

    /// Range: counts in `[0, 16)`.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn of(self, counts: Vector) -> Vector {
        _mm512_permutex2var_epi64(self.halves[0], counts, self.halves[1])
    }
}

/// Constants that reduce sums of products with factors of `2^52`.
#[derive(Clone, Copy)]
struct Montgomery {
    prime: Prime,
    /// `q^-1 mod 2^52`.
    inverse: Vector,
}

impl Montgomery {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn new(q: &Modulus) -> Self {
        let q_value = q.value();
        // Right in the low 3 bits, as q is odd; each step of Newton's method doubles them: 3, 6, 12, 24, 48, 96.
        let inverse = (0..5).fold(q_value, |x, _| x.wrapping_mul(2u64.wrapping_sub(q_value.wrapping_mul(x))));
        Self { prime: Prime::new(q), inverse: broadcast(inverse) }
    }

    /// `w 2^52`. Range: in `[0, q)`, out `[0, q)`.
    #[inline]
    fn factor(w: u64, q: &Modulus) -> u64 {
        q.mul(w, q.reduce(1 << 52))
    }

    /// `S 2^-52` plus a multiple of q, for a `high` that was started at q. Range: out `[0, S 2^-52 + q]`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn fold(self, high: Vector, low: Vector) -> Vector {
        let zero = _mm512_setzero_si512();
        let m = add_low(zero, low, self.inverse);
        let high = _mm512_add_epi64(high, _mm512_srli_epi64::<52>(low));
        _mm512_sub_epi64(high, add_high(zero, m, self.prime.q))
    }

    /// `S 2^-52 mod q`, for a `high` that was started at q. Range: S in `[0, 3q 2^52)`, out `[0, q)`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn reduce(self, high: Vector, low: Vector) -> Vector {
        self.prime.normalize(self.fold(high, low))
    }

    /// Like [`Montgomery::reduce`]. Range: S in `[0, 31q 2^52)`, out `[0, q)`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn reduce_many(self, high: Vector, low: Vector) -> Vector {
        let mut x = self.fold(high, low);
        let mut bound = _mm512_slli_epi64::<4>(self.prime.q);
        // 16q, 8q and 4q, which may be too large for the minimum of numbers.
        for _ in 0..3 {
            x = _mm512_min_epu64(x, _mm512_sub_epi64(x, bound));
            bound = _mm512_srli_epi64::<1>(bound);
        }
        self.prime.normalize(x)
    }
}

/// How many vectors of columns the quotients are summed for side by side: this hides the latency of the additions.
const COLUMNS: usize = 4;
/// How many words those are.
const BLOCK: usize = COLUMNS * WIDTH;

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) fn quotients(out: &mut [u64], rows: &[&[u64]], inverses: &[f64]) {
    for (j, out) in out.as_chunks_mut::<WIDTH>().0.as_chunks_mut::<COLUMNS>().0.iter_mut().enumerate() {
        let mut sums = [_mm512_set1_pd(0.5); COLUMNS];
        for (row, &inverse) in rows.iter().zip(inverses) {
            let row: Blocks<COLUMNS> = row.as_chunks().0.as_chunks().0;
            for (sum, words) in sums.iter_mut().zip(&row[j]) {
                // Two roundings, as in `portable`: a fused multiply-add would give other bits.
                let product = _mm512_mul_pd(_mm512_cvtepu64_pd(load(words)), _mm512_set1_pd(inverse));
                *sum = _mm512_add_pd(*sum, product);
            }
        }
        for (out, sum) in out.iter_mut().zip(sums) {
            store(out, _mm512_cvttpd_epu64(sum));
        }
    }
    portable::quotients_from(out.len() / BLOCK * BLOCK, out, rows, inverses);
}
