//! The transform of eight lanes.
//!
//! All layers but the last six run in passes over whole blocks: one pass does up to three layers,
//! so a block's `R = 8` (or 4, or 2) streams are read once, combined in registers and written back.
//! The walk is depth first: after a pass, each of the `R` smaller blocks is finished before the
//! next one, so that most of the work finds its words in the nearest cache. The last six layers run
//! within 64 words that stay in eight vectors: three layers between vectors, a transposition, and
//! three layers that have then become layers between vectors too.
//!
//! One column of eight vectors is a long chain of dependent steps, so every step works on `C`
//! independent columns, with `R * C = 16` vectors in flight. The inverse is the mirror image.
//!
//! Ranges are Harvey's (arXiv 1205.2926): the forward transform keeps values in `[0, 4q)`, the
//! inverse in `[0, 2q)`.

use std::arch::x86_64::*;

use super::arithmetic::{Factor, Prime, Vector, WIDTH, load, prefetch, store, subtract_if_not_below};
use crate::kernels::portable;
use crate::modulus::ShoupFactor;
use crate::ntt::table::{LateRoots, NttTable, Roots};

/// The words of one vector in memory.
type Words = [u64; WIDTH];

/// How many words the last six layers work within.
const LATE_WORDS: usize = 64;
/// The last six layers take two such blocks at once; shorter rows are left to `portable`.
const SHORTEST: usize = 2 * LATE_WORDS;

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) fn forward(row: &mut [u64], table: &NttTable) {
    if row.len() < SHORTEST {
        return portable::ntt_forward(row, table);
    }
    Transform { prime: Prime::new(table.modulus()), table }.forward_block(row.as_chunks_mut().0, 1);
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) fn inverse(row: &mut [u64], table: &NttTable) {
    if row.len() < SHORTEST {
        return portable::ntt_inverse(row, table);
    }
    Transform { prime: Prime::new(table.modulus()), table }.inverse_block::<true>(row.as_chunks_mut().0, 1);
}

/// How many layers the next pass over a block does: as many threes as possible, but never a lone
/// one after them.
const fn layers_of_pass(vectors: usize) -> u32 {
    match (vectors * WIDTH / LATE_WORDS).trailing_zeros() {
        left @ (1 | 2) => left,
        4 => 2,
        _ => 3,
    }
}

/// So many steps before they are needed, the roots of the last six layers are called into the nearest cache: they are
/// most of the table, each is used once, and where many primes take turns they come from far away.
const AHEAD: usize = 4;

struct Transform<'a> {
    prime: Prime,
    table: &'a NttTable,
}

impl Transform<'_> {
    /// Transforms the block of layer `m` whose number is `index - m`: its root is entry `index` of
    /// the early roots.
    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    fn forward_block(&self, block: &mut [Words], index: usize) {
        let layers = layers_of_pass(block.len());
        match layers {
            1 => self.forward_pass::<2, 8>(block, index),
            2 => self.forward_pass::<4, 4>(block, index),
            _ => self.forward_pass::<8, 2>(block, index),
        }
        let (length, index) = (block.len() >> layers, index << layers);
        if length == LATE_WORDS / WIDTH {
            self.forward_late(block, index);
        } else {
            for (i, block) in block.chunks_exact_mut(length).enumerate() {
                self.forward_block(block, index + i);
            }
        }
    }

    /// The first `log2 R` layers of a block: its `R` streams, `C` vectors of each at a time.
    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    fn forward_pass<const R: usize, const C: usize>(&self, block: &mut [Words], index: usize) {
        let Self { prime, table } = *self;
        let factors = early_factors::<R>(table.forward_roots(), index);
        let stride = block.len() / R;
        for column in (0..stride).step_by(C) {
            let mut x = [[_mm512_setzero_si512(); C]; R];
            for (r, x) in x.iter_mut().enumerate() {
                for (c, x) in x.iter_mut().enumerate() {
                    *x = load(&block[r * stride + column + c]);
                }
            }
            forward_layers(&mut x, prime, |root, _| Factor::broadcast(factors[root]));
            for (r, x) in x.iter().enumerate() {
                for (c, x) in x.iter().enumerate() {
                    store(&mut block[r * stride + column + c], *x);
                }
            }
        }
    }

    /// The last six layers of consecutive blocks of 64 words, the first of which has root `index`
    /// of the early roots.
    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    fn forward_late(&self, words: &mut [Words], index: usize) {
        let Self { prime, table } = *self;
        let roots = table.forward_roots();
        let late = &roots.late[index - roots.late.len()..];
        let (late, _) = late.as_chunks::<2>();
        for (i, (pair, roots_of_pair)) in words.as_chunks_mut::<16>().0.iter_mut().zip(late).enumerate() {
            late.get(i + AHEAD).iter().for_each(|next| prefetch(*next));
            let index = index + 2 * i;
            let early = [early_factors::<8>(roots, index), early_factors::<8>(roots, index + 1)];
            let mut x = load_pair(pair);
            forward_layers(&mut x, prime, |root, c| Factor::broadcast(early[c][root]));
            transpose(&mut x);
            forward_layers(&mut x, prime, |root, c| late_factor(&roots_of_pair[c], root));
            for x in x.as_flattened_mut() {
                *x = prime.normalize(*x);
            }
            transpose(&mut x);
            store_pair(pair, &x);
        }
    }

    /// The mirror of [`Transform::forward_block`]; `LAST` if the block is the whole row.
    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    fn inverse_block<const LAST: bool>(&self, block: &mut [Words], index: usize) {
        let layers = layers_of_pass(block.len());
        let (length, first) = (block.len() >> layers, index << layers);
        if length == LATE_WORDS / WIDTH {
            self.inverse_late(block, first);
        } else {
            for (i, block) in block.chunks_exact_mut(length).enumerate() {
                self.inverse_block::<false>(block, first + i);
            }
        }
        match layers {
            1 => self.inverse_pass::<2, 8, LAST>(block, index),
            2 => self.inverse_pass::<4, 4, LAST>(block, index),
            _ => self.inverse_pass::<8, 2, LAST>(block, index),
        }
    }

    /// The mirror of [`Transform::forward_pass`]; `LAST` if the block is the whole row.
    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    fn inverse_pass<const R: usize, const C: usize, const LAST: bool>(&self, block: &mut [Words], index: usize) {
        let Self { prime, table } = *self;
        let factors = early_factors::<R>(table.inverse_roots(), index);
        let (scale, scaled_root) = (Factor::broadcast(table.scale()), Factor::broadcast(table.scaled_root()));
        let stride = block.len() / R;
        for column in (0..stride).step_by(C) {
            let mut x = [[_mm512_setzero_si512(); C]; R];
            for (r, x) in x.iter_mut().enumerate() {
                for (c, x) in x.iter_mut().enumerate() {
                    *x = load(&block[r * stride + column + c]);
                }
            }
            inverse_layers::<R, C, LAST>(&mut x, prime, |root, _| Factor::broadcast(factors[root]));
            if LAST {
                last_layer(&mut x, prime, scale, scaled_root);
            }
            for (r, x) in x.iter().enumerate() {
                for (c, x) in x.iter().enumerate() {
                    store(&mut block[r * stride + column + c], *x);
                }
            }
        }
    }

    /// The mirror of [`Transform::forward_late`].
    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    fn inverse_late(&self, words: &mut [Words], index: usize) {
        let Self { prime, table } = *self;
        let roots = table.inverse_roots();
        let late = &roots.late[index - roots.late.len()..];
        let (late, _) = late.as_chunks::<2>();
        for (i, (pair, roots_of_pair)) in words.as_chunks_mut::<16>().0.iter_mut().zip(late).enumerate() {
            late.get(i + AHEAD).iter().for_each(|next| prefetch(*next));
            let index = index + 2 * i;
            let early = [early_factors::<8>(roots, index), early_factors::<8>(roots, index + 1)];
            let mut x = load_pair(pair);
            transpose(&mut x);
            inverse_layers::<8, 2, false>(&mut x, prime, |root, c| late_factor(&roots_of_pair[c], root));
            transpose(&mut x);
            inverse_layers::<8, 2, false>(&mut x, prime, |root, c| Factor::broadcast(early[c][root]));
            store_pair(pair, &x);
        }
    }
}

/// All layers among `R` vectors, in each of `C` columns; `factor(i, c)` is the factor of the `i`-th
/// block of butterflies, in layer order (1, then 2, then 4 blocks), of column `c`.
/// Range: in `[0, 4q)`, out `[0, 4q)`.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn forward_layers<const R: usize, const C: usize>(
    x: &mut [[Vector; C]; R],
    prime: Prime,
    factor: impl Fn(usize, usize) -> Factor,
) {
    // Constant distances: with a loop over them the vectors would not stay in registers.
    if R > 4 {
        forward_layer::<R, C, 4>(x, prime, &factor);
    }
    if R > 2 {
        forward_layer::<R, C, 2>(x, prime, &factor);
    }
    forward_layer::<R, C, 1>(x, prime, &factor);
}

/// One layer of [`forward_layers`], among vectors `HALF` apart.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn forward_layer<const R: usize, const C: usize, const HALF: usize>(
    x: &mut [[Vector; C]; R],
    prime: Prime,
    factor: &impl Fn(usize, usize) -> Factor,
) {
    layer::<R, C, HALF>(x, |block, c, a, b| {
        let a = subtract_if_not_below(a, prime.twice);
        let b = prime.mul_lazy(b, factor(R / (2 * HALF) - 1 + block, c));
        (_mm512_add_epi64(a, b), _mm512_sub_epi64(_mm512_add_epi64(a, prime.twice), b))
    });
}

/// The mirror of [`forward_layers`], without the last layer if `LAST`.
/// Range: in `[0, 2q)`, out `[0, 2q)`.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn inverse_layers<const R: usize, const C: usize, const LAST: bool>(
    x: &mut [[Vector; C]; R],
    prime: Prime,
    factor: impl Fn(usize, usize) -> Factor,
) {
    if R > 2 || !LAST {
        inverse_layer::<R, C, 1>(x, prime, &factor);
    }
    if R > 4 || (R == 4 && !LAST) {
        inverse_layer::<R, C, 2>(x, prime, &factor);
    }
    if R > 4 && !LAST {
        inverse_layer::<R, C, 4>(x, prime, &factor);
    }
}

/// One layer of [`inverse_layers`], among vectors `HALF` apart.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn inverse_layer<const R: usize, const C: usize, const HALF: usize>(
    x: &mut [[Vector; C]; R],
    prime: Prime,
    factor: &impl Fn(usize, usize) -> Factor,
) {
    layer::<R, C, HALF>(x, |block, c, a, b| {
        let difference = _mm512_sub_epi64(_mm512_add_epi64(a, prime.twice), b);
        let sum = subtract_if_not_below(_mm512_add_epi64(a, b), prime.twice);
        (sum, prime.mul_lazy(difference, factor(R / (2 * HALF) - 1 + block, c)))
    });
}

/// The last layer of the inverse, with `1/n` in both factors. Range: in `[0, 2q)`, out `[0, q)`.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn last_layer<const R: usize, const C: usize>(
    x: &mut [[Vector; C]; R],
    prime: Prime,
    scale: Factor,
    scaled_root: Factor,
) {
    let combine = |_, _, a, b| {
        let difference = _mm512_sub_epi64(_mm512_add_epi64(a, prime.twice), b);
        (prime.mul(_mm512_add_epi64(a, b), scale), prime.mul(difference, scaled_root))
    };
    match R {
        2 => layer::<R, C, 1>(x, combine),
        4 => layer::<R, C, 2>(x, combine),
        _ => layer::<R, C, 4>(x, combine),
    }
}

/// One layer: `butterfly(block, c, a, b)` on the vectors `HALF` apart of each block, in each
/// column.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn layer<const R: usize, const C: usize, const HALF: usize>(
    x: &mut [[Vector; C]; R],
    butterfly: impl Fn(usize, usize, Vector, Vector) -> (Vector, Vector),
) {
    for block in 0..R / (2 * HALF) {
        for i in 2 * HALF * block..2 * HALF * block + HALF {
            let (upper, lower) = x.split_at_mut(i + HALF);
            for (c, (a, b)) in upper[i].iter_mut().zip(&mut lower[0]).enumerate() {
                (*a, *b) = butterfly(block, c, *a, *b);
            }
        }
    }
}

/// The roots of the layers among `R` streams of the block with root `index`, in layer order.
#[inline]
fn early_factors<const R: usize>(roots: Roots, index: usize) -> [ShoupFactor; R] {
    // Entry 7 of eight is not used: R - 1 roots serve R streams.
    let mut factors = [ShoupFactor { value: 0, quotient: 0 }; R];
    let mut blocks = 1;
    while blocks < R {
        for i in 0..blocks {
            factors[blocks - 1 + i] = roots.early(index * blocks + i);
        }
        blocks *= 2;
    }
    factors
}

#[inline]
#[target_feature(enable = "avx512f")]
fn late_factor(late: &LateRoots, root: usize) -> Factor {
    let [value, quotient] = &late[root];
    Factor::load(value, quotient)
}

/// Two blocks of 64 words, a column each.
#[inline]
#[target_feature(enable = "avx512f")]
fn load_pair(pair: &[Words; 16]) -> [[Vector; 2]; 8] {
    let mut x = [[_mm512_setzero_si512(); 2]; 8];
    for (r, x) in x.iter_mut().enumerate() {
        *x = [load(&pair[r]), load(&pair[8 + r])];
    }
    x
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store_pair(pair: &mut [Words; 16], x: &[[Vector; 2]; 8]) {
    for (r, x) in x.iter().enumerate() {
        store(&mut pair[r], x[0]);
        store(&mut pair[8 + r], x[1]);
    }
}

/// Transposes each column's 8 x 8 words.
#[inline]
#[target_feature(enable = "avx512f")]
fn transpose(x: &mut [[Vector; 2]; 8]) {
    for c in 0..2 {
        let mut a = [_mm512_setzero_si512(); 8];
        for (a, x) in a.iter_mut().zip(x.iter()) {
            *a = x[c];
        }
        // Words of row pairs: b[2i] has columns 0, 2, 4, 6 of rows 2i and 2i + 1, b[2i + 1] has
        // columns 1, 3, 5, 7.
        let mut b = a;
        for i in 0..4 {
            b[2 * i] = _mm512_unpacklo_epi64(a[2 * i], a[2 * i + 1]);
            b[2 * i + 1] = _mm512_unpackhi_epi64(a[2 * i], a[2 * i + 1]);
        }
        // Word pairs of row quadruples: d[4h + k] has columns k and k + 4 of rows 4h..4h + 4.
        let mut d = b;
        for h in 0..2 {
            for k in 0..2 {
                let (upper, lower) = (b[4 * h + k], b[4 * h + 2 + k]);
                d[4 * h + k] = _mm512_shuffle_i64x2::<0x88>(upper, lower);
                d[4 * h + 2 + k] = _mm512_shuffle_i64x2::<0xdd>(upper, lower);
            }
        }
        for k in 0..4 {
            x[k][c] = _mm512_shuffle_i64x2::<0x88>(d[k], d[4 + k]);
            x[4 + k][c] = _mm512_shuffle_i64x2::<0xdd>(d[k], d[4 + k]);
        }
    }
}
