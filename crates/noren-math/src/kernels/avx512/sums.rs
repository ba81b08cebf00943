//! Kernels that add over many rows and reduce once.
//!
//! The sums run down the rows for 32 columns at a time, in registers. What is left of a row, less
//! than 32 words, is left to `portable`.

use std::arch::x86_64::*;

use super::arithmetic::{Vector, WIDTH, Wide, add_high, add_low, broadcast, load, prefetch, prefetch_far, store};
use crate::kernels::rows::operands::{KEY_GROUP, KEY_TILE, MAX_TERMS, MovedProducts};
use crate::kernels::rows::places::LANE_BITS;
use crate::kernels::rows::portable;
use crate::modulus::Modulus;

/// How many vectors of columns are summed side by side: their eight accumulators hide the latency
/// of the products.
const COLUMNS: usize = 4;
/// How many words those are.
const BLOCK: usize = COLUMNS * WIDTH;
/// A row, cut into blocks.
type Blocks<'a> = &'a [[u64; BLOCK]];
/// The number of products of words below 2^50 that have high halves, each below 2^48, whose sum stays below
/// 2^52.
const FEW: usize = 16;
/// The length of rows, in words, that stay in the first caches, however many there are.
const NEAR: usize = 1 << 8;

/// Sums of products as `high * 2^52 + low`.
struct Sums {
    high: [Vector; COLUMNS],
    low: [Vector; COLUMNS],
}

impl Sums {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn zero() -> Self {
        Self { high: [_mm512_setzero_si512(); COLUMNS], low: [_mm512_setzero_si512(); COLUMNS] }
    }

    /// Replaces zero by these residues.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn start(&mut self, sums: &[u64; BLOCK]) {
        for (low, sum) in self.low.iter_mut().zip(vectors(sums)) {
            *low = load(sum);
        }
    }

    /// Adds the product of one vector of each.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn add(&mut self, column: usize, a: Vector, b: Vector) {
        self.high[column] = add_high(self.high[column], a, b);
        self.low[column] = add_low(self.low[column], a, b);
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    fn reduce(&self, column: usize, wide: Wide) -> Vector {
        wide.reduce(self.high[column], self.low[column])
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    fn store<const MANY: bool>(self, out: &mut [u64; BLOCK], wide: Wide) {
        for (column, out) in vectors_mut(out).iter_mut().enumerate() {
            let (high, low) = (self.high[column], self.low[column]);
            store(out, if MANY { wide.reduce_large(high, low) } else { wide.reduce(high, low) });
        }
    }
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) fn inner_product(out: &mut [u64], pairs: &[(&[u64], &[u64])], q: &Modulus) {
    if pairs.len() <= FEW { sum_pairs::<false>(out, pairs, q) } else { sum_pairs::<true>(out, pairs, q) }
}

#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn sum_pairs<const MANY: bool>(out: &mut [u64], pairs: &[(&[u64], &[u64])], q: &Modulus) {
    let wide = Wide::new(q);
    let mut views: [(Blocks, Blocks); MAX_TERMS] = [(&[], &[]); MAX_TERMS];
    let views = &mut views[..pairs.len()];
    for (view, (a, b)) in views.iter_mut().zip(pairs) {
        *view = (a.as_chunks().0, b.as_chunks().0);
    }
    for (j, out) in out.as_chunks_mut().0.iter_mut().enumerate() {
        let mut sums = Sums::zero();
        for (a, b) in views.iter() {
            prefetch_ahead([a, b], j);
            let (a, b) = (vectors(&a[j]), vectors(&b[j]));
            for (column, (a, b)) in a.iter().zip(b).enumerate() {
                sums.add(column, load(a), load(b));
            }
        }
        sums.store::<MANY>(out, wide);
    }
    portable::inner_product_from(out.len() / BLOCK * BLOCK, out, pairs, q);
}

/// Goes over tiles of the rows, and in a tile over groups of digits; the sums of the groups before are in `out`.
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) fn inner_product_pair(out: [&mut [u64]; 2], rows: &[&[u64]], key: &[u64], q: &Modulus) {
    const TILE: usize = KEY_TILE / BLOCK;
    let n = out[0].len();
    let [left, right] = out;
    if n < BLOCK || rows.is_empty() {
        return portable::inner_product_pair([left, right], rows, key, q);
    }
    // Groups of about one size; short rows are near, and no streams of memory to be followed.
    let most = if n <= NEAR { FEW } else { KEY_GROUP };
    let group = rows.len().div_ceil(rows.len().div_ceil(most));
    let wide = Wide::new(q);
    let (left_blocks, right_blocks) = (left.as_chunks_mut().0, right.as_chunks_mut().0);
    for (tile, (left, right)) in left_blocks.chunks_mut(TILE).zip(right_blocks.chunks_mut(TILE)).enumerate() {
        let start = tile * KEY_TILE;
        sum_digits::<false>([left, right], &rows[..group], key, [start, n], wide);
        for (rows, key) in rows.chunks(group).zip(key.chunks(2 * group * n)).skip(1) {
            sum_digits::<true>([left, right], rows, key, [start, n], wide);
        }
    }
    portable::inner_product_pair_from(n / BLOCK * BLOCK, [left, right], rows, key, q);
}

/// The sums over one group of digits for the words of rows of `n` from `start` on, added to `out` if `ADD`.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn sum_digits<const ADD: bool>(
    [left, right]: [&mut [[u64; BLOCK]]; 2],
    rows: &[&[u64]],
    key: &[u64],
    [start, n]: [usize; 2],
    wide: Wide,
) {
    let mut views: [[Blocks; 3]; FEW] = [[&[]; 3]; FEW];
    let views = &mut views[..rows.len()];
    for ((view, row), pair) in views.iter_mut().zip(rows).zip(key.chunks_exact(2 * n)) {
        *view = [&row[start..], &pair[start..n], &pair[n + start..]].map(|words| words.as_chunks().0);
    }
    for (j, (left, right)) in left.iter_mut().zip(right).enumerate() {
        let (mut left_sums, mut right_sums) = (Sums::zero(), Sums::zero());
        if ADD {
            left_sums.start(left);
            right_sums.start(right);
        }
        for [row, left_key, right_key] in views.iter() {
            prefetch_ahead([left_key, right_key], j);
            let (row, left_key, right_key) = (vectors(&row[j]), vectors(&left_key[j]), vectors(&right_key[j]));
            for (column, (x, key)) in row.iter().zip(left_key).enumerate() {
                left_sums.add(column, load(x), load(key));
            }
            for (column, (x, key)) in row.iter().zip(right_key).enumerate() {
                right_sums.add(column, load(x), load(key));
            }
        }
        left_sums.store::<false>(left, wide);
        right_sums.store::<false>(right, wide);
    }
}

/// Goes over groups of digits: each adds its sums.
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) fn add_moved_products([left, right]: [&mut [u64]; 2], products: &MovedProducts, add: bool, q: &Modulus) {
    let wide = Wide::new(q);
    for (i, group) in products.groups().enumerate() {
        let acc = [&mut *left, &mut *right];
        if add || i > 0 { add_group::<true>(acc, &group, wide) } else { add_group::<false>(acc, &group, wide) }
    }
    let whole = products.places.len() / COLUMNS * COLUMNS;
    portable::add_moved_products_from(whole, [left, right], products, add, q);
}

/// The sums over one group of digits, written where they go, or added to what is there if `ADD`.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn add_group<const ADD: bool>([left, right]: [&mut [u64]; 2], products: &MovedProducts, wide: Wide) {
    let MovedProducts { rows, key, next, plus, places, first } = *products;
    let n = left.len();
    let lanes: [u64; WIDTH] = std::array::from_fn(|lane| (lane * LANE_BITS) as u64);
    let lanes = load(&lanes);
    let mut views: [[Blocks; 3]; KEY_GROUP] = [[&[]; 3]; KEY_GROUP];
    let views = &mut views[..rows.len()];
    for ((view, row), [left, right]) in views.iter_mut().zip(rows).zip(key.pairs(n)) {
        *view = [row, left, right].map(|words| words.as_chunks().0);
    }
    let mut ahead: [[Blocks; 2]; KEY_GROUP] = [[&[]; 2]; KEY_GROUP];
    let ahead = &mut ahead[..rows.len()];
    for (ahead, pair) in ahead.iter_mut().zip(next.into_iter().flat_map(|next| next.pairs(n))) {
        *ahead = pair.map(|words| words.as_chunks().0);
    }
    let plus = plus.map(|(row, factor)| (row.as_chunks::<BLOCK>().0, broadcast(factor)));
    let (left, right) = (left.as_chunks_mut::<WIDTH>().0, right.as_chunks_mut::<WIDTH>().0);
    for (j, places) in places.as_chunks::<COLUMNS>().0.iter().enumerate() {
        let (mut left_sums, mut right_sums) = (Sums::zero(), Sums::zero());
        if let Some((row, factor)) = plus {
            for (column, x) in vectors(&row[j]).iter().enumerate() {
                left_sums.add(column, load(x), factor);
            }
        }
        for ([row, left_key, right_key], ahead) in views.iter().zip(&*ahead) {
            // Who knows the next rows has called these in.
            if next.is_none() {
                prefetch_ahead([left_key, right_key], j);
            }
            ahead.iter().filter_map(|blocks| blocks.get(j)).for_each(prefetch_far);
            let (row, left_key, right_key) = (vectors(&row[j]), vectors(&left_key[j]), vectors(&right_key[j]));
            for (column, (x, key)) in row.iter().zip(left_key).enumerate() {
                left_sums.add(column, load(x), load(key));
            }
            for (column, (x, key)) in row.iter().zip(right_key).enumerate() {
                right_sums.add(column, load(x), load(key));
            }
        }
        for (column, place) in places.iter().enumerate() {
            // The shuffle reads only the low three bits of each source.
            let (order, group) = (_mm512_srlv_epi64(broadcast(place.0), lanes), place.group() - first);
            for (acc, sums) in [(&mut left[group], &left_sums), (&mut right[group], &right_sums)] {
                let sum = _mm512_permutexvar_epi64(order, sums.reduce(column, wide));
                store(acc, if ADD { wide.prime.add(load(acc), sum) } else { sum });
            }
        }
    }
}

/// How far ahead rows are called into the nearest cache, in blocks of four lines: they are more streams than the hardware
/// follows.
const AHEAD: usize = 4;

#[inline]
#[target_feature(enable = "avx512f")]
fn prefetch_ahead<const N: usize>(rows: [Blocks; N], j: usize) {
    for row in rows {
        if let Some(block) = row.get(j + AHEAD) {
            prefetch(block);
        }
    }
}

/// The vectors of a block.
#[inline]
fn vectors(block: &[u64; BLOCK]) -> &[[u64; WIDTH]] {
    block.as_chunks().0
}

/// The vectors of a block.
#[inline]
fn vectors_mut(block: &mut [u64; BLOCK]) -> &mut [[u64; WIDTH]] {
    block.as_chunks_mut().0
}
