//! The transform of eight lanes.
//!
//! All layers but the last six run in passes over whole blocks: one pass does up to three layers,
//! so a block's `R = 8` (or 4, or 2) streams are read once, combined in registers and written back.
//! The walk is depth first: after a pass, each of the `R` smaller blocks is finished before the
//! next one, so that most of the work finds its words in the nearest cache. The last six layers run
//! within 64 words that stay in eight vectors: three layers between vectors, a transposition, and
//! three layers that have then become layers between vectors too.
//!
//! One column of eight vectors is a chain of dependent steps. A step of a pass works on `C` independent
//! columns, as many as are fastest. A step of the last six layers works on two blocks, half a block
//! out of step: while the words of one are transposed, the other multiplies. The inverse is the mirror
//! image.
//!
//! The walk does not know how butterflies keep their values small: see `butterfly.rs`.

use std::arch::x86_64::*;

use super::arithmetic::{Factor, Vector, WIDTH, load, prefetch, store};
use super::butterfly::Butterfly;
use crate::kernels::transforms::ntt as portable;
use crate::modulus::{Modulus, ShoupFactor};
use crate::roots::ntt::{BlockRoots, InverseScale, LATE, NttTable, QUOTIENTS, Roots, VALUES, mirror};

/// The words of one vector in memory.
type Words = [u64; WIDTH];

/// How many words the last six layers work within.
const LATE_WORDS: usize = 64;
/// How many vectors those are.
const LATE_VECTORS: usize = LATE_WORDS / WIDTH;
/// The last six layers take two such blocks at once; shorter rows are left to `portable`.
const SHORTEST: usize = 2 * LATE_WORDS;

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) fn forward(row: &mut [u64], table: &NttTable) {
    if row.len() < SHORTEST {
        portable::ntt_forward(row, table);
    } else if is_narrow(table.modulus()) {
        Transform::<true>::new(table).forward_block::<true, true>(row.as_chunks_mut().0, 1);
    } else {
        Transform::<false>::new(table).forward_block::<true, true>(row.as_chunks_mut().0, 1);
    }
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) fn inverse(row: &mut [u64], table: &NttTable, scale: &InverseScale) {
    let last = &[scale.sum(), scale.difference()];
    if row.len() < SHORTEST {
        portable::ntt_inverse(row, table, scale);
    } else if is_narrow(table.modulus()) {
        Transform::<true>::new(table).inverse_block::<true>(row.as_chunks_mut().0, 1, last);
    } else {
        Transform::<false>::new(table).inverse_block::<true>(row.as_chunks_mut().0, 1, last);
    }
}

/// Whether the butterflies of narrow primes serve this one.
const fn is_narrow(q: &Modulus) -> bool {
    q.bits() <= 48
}

/// How many layers the next pass over a block does: as many threes as possible, but never a lone
/// one after them.
const fn layers_of_pass(vectors: usize) -> u32 {
    match (vectors / LATE_VECTORS).trailing_zeros() {
        left @ (1 | 2) => left,
        4 => 2,
        _ => 3,
    }
}

/// The prefetch distance, in steps, of the roots of the last six layers, which are called into the nearest
/// cache: they are most of the table, each is used once, and where many primes take turns they come
/// from far away.
const AHEAD: usize = 2;

struct Transform<'a, const NARROW: bool> {
    butterfly: Butterfly<NARROW>,
    roots: Roots<'a>,
}

impl<'a, const NARROW: bool> Transform<'a, NARROW> {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn new(table: &'a NttTable) -> Self {
        Self { butterfly: Butterfly::new(table.modulus()), roots: table.roots() }
    }

    /// Transforms the block of layer `m` whose number is `index - m`: its root is `index`.
    ///
    /// `FIRST` if the block is the whole row. `OPEN`, every other time, if the pass has to make room
    /// for the layers of itself and of the pass that follows it.
    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    fn forward_block<const FIRST: bool, const OPEN: bool>(&self, block: &mut [Words], index: usize) {
        let layers = layers_of_pass(block.len());
        match layers {
            1 => self.forward_pass::<2, 4, FIRST, OPEN>(block, index),
            2 => self.forward_pass::<4, 2, FIRST, OPEN>(block, index),
            _ if NARROW => self.forward_pass::<8, 1, FIRST, OPEN>(block, index),
            _ => self.forward_pass::<8, 2, FIRST, OPEN>(block, index),
        }
        let (length, first) = (block.len() >> layers, index << layers);
        if length == LATE_VECTORS {
            // The layers after a pass that opened need not.
            return if OPEN {
                self.forward_late::<false>(block, first)
            } else {
                self.forward_late::<true>(block, first)
            };
        }
        for (i, block) in block.chunks_exact_mut(length).enumerate() {
            if OPEN {
                self.forward_block::<false, false>(block, first + i);
            } else {
                self.forward_block::<false, true>(block, first + i);
            }
        }
    }

    /// The first `log2 R` layers of a block: its `R` streams, `C` vectors of each at a time.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    fn forward_pass<const R: usize, const C: usize, const FIRST: bool, const OPEN: bool>(
        &self,
        block: &mut [Words],
        index: usize,
    ) {
        let butterfly = self.butterfly;
        let factors = upper_factors::<R>(self.roots, index);
        let stride = block.len() / R;
        for column in (0..stride).step_by(C) {
            let mut x = load_columns::<R, C>(block, stride, column);
            if FIRST {
                each_upper(&mut x, |x| butterfly.open_first(x));
            } else if OPEN {
                each_upper(&mut x, |x| butterfly.open(x));
            }
            forward_layers(&mut x, butterfly, |entry| Factor::broadcast(factors[entry]));
            store_columns::<R, C>(block, stride, column, &x);
        }
    }

    /// The last six layers of consecutive blocks of 64 words, the first of which has root `index`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    fn forward_late<const OPEN: bool>(&self, row: &mut [Words], index: usize) {
        let butterfly = self.butterfly;
        let roots = &self.roots.blocks[index - self.roots.blocks.len()..];
        let (pairs, _) = row.as_chunks_mut::<{ 2 * LATE_VECTORS }>();
        let (roots, _) = roots.as_chunks::<2>();
        for (i, (words, roots_of_pair)) in pairs.iter_mut().zip(roots).enumerate() {
            roots.get(i + AHEAD).iter().for_each(|next| prefetch(*next));
            let [mut a, mut b] = load_blocks(words);
            let early = |c: usize| move |entry| block_factor(&roots_of_pair[c], entry);
            let late = |c: usize| move |entry| butterfly.factor(load(&roots_of_pair[c][LATE + entry]));
            let open = |x: &mut Column| x[..4].iter_mut().for_each(|x| *x = butterfly.open(*x));
            let close = |x: &mut Column| x.iter_mut().for_each(|x| *x = butterfly.canonical(*x));
            if OPEN {
                open(&mut a);
                open(&mut b);
            }
            forward_column(&mut a, butterfly, early(0), |_, _| ());
            forward_column(&mut b, butterfly, early(1), |layer, pair| exchange(&mut a, layer, pair));
            if !OPEN {
                open(&mut a);
            }
            forward_column(&mut a, butterfly, late(0), |layer, pair| exchange(&mut b, layer, pair));
            close(&mut a);
            if !OPEN {
                open(&mut b);
            }
            forward_column(&mut b, butterfly, late(1), |layer, pair| exchange(&mut a, layer, pair));
            close(&mut b);
            transpose(&mut b);
            store_blocks(words, &[a, b]);
        }
    }

    /// The mirror of [`Transform::forward_block`]; `LAST` if the block is the whole row, of which the last layer
    /// multiplies sums and differences by the two factors of `last`.
    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    fn inverse_block<const LAST: bool>(&self, block: &mut [Words], index: usize, last: &[ShoupFactor; 2]) {
        let layers = layers_of_pass(block.len());
        let (length, first) = (block.len() >> layers, index << layers);
        if length == LATE_VECTORS {
            self.inverse_late(block, first);
        } else {
            for (i, block) in block.chunks_exact_mut(length).enumerate() {
                self.inverse_block::<false>(block, first + i, last);
            }
        }
        match layers {
            1 => self.inverse_pass::<2, 4, LAST>(block, index, last),
            2 => self.inverse_pass::<4, 2, LAST>(block, index, last),
            _ if NARROW => self.inverse_pass::<8, 1, LAST>(block, index, last),
            _ => self.inverse_pass::<8, 2, LAST>(block, index, last),
        }
    }

    /// The mirror of [`Transform::forward_pass`]; `LAST` and `last` as in [`Transform::inverse_block`].
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    fn inverse_pass<const R: usize, const C: usize, const LAST: bool>(
        &self,
        block: &mut [Words],
        index: usize,
        last: &[ShoupFactor; 2],
    ) {
        let butterfly = self.butterfly;
        let factors = upper_factors::<R>(self.roots, mirror(index));
        let last = last.map(|w| Factor::broadcast(w));
        let stride = block.len() / R;
        for column in (0..stride).step_by(C) {
            let mut x = load_columns::<R, C>(block, stride, column);
            inverse_layers::<R, C, LAST, NARROW>(&mut x, butterfly, |entry| Factor::broadcast(factors[entry]));
            if LAST {
                last_layer(&mut x, butterfly, last);
            }
            store_columns::<R, C>(block, stride, column, &x);
        }
    }

    /// Whether the place in the row of the block with root `index` has an odd number of zeros in binary.
    #[inline]
    fn has_odd_zeros(&self, index: usize) -> bool {
        // The root has the digits of the place after a 1.
        (self.roots.blocks.len().trailing_zeros() + 1 - index.count_ones()) % 2 == 1
    }

    /// The mirror of [`Transform::forward_late`].
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    fn inverse_late(&self, row: &mut [Words], index: usize) {
        let butterfly = self.butterfly;
        // The opposite blocks, from the last one backwards: here the hardware is better at calling them early than a
        // program that asks for lines, and is disturbed by one.
        let (_, roots) = self.roots.blocks[..=mirror(index) - self.roots.blocks.len()].as_rchunks::<2>();
        let (pairs, _) = row.as_chunks_mut::<{ 2 * LATE_VECTORS }>();
        for ((words, roots), index) in pairs.iter_mut().zip(roots.iter().rev()).zip((index..).step_by(2)) {
            let [mut a, mut b] = load_blocks(words);
            let late = |c: usize| move |entry| butterfly.factor(load(&roots[1 - c][LATE + entry]));
            let early = |c: usize| move |entry| block_factor(&roots[1 - c], entry);
            let close = |x: &mut Column| x[..4].iter_mut().for_each(|x| *x = butterfly.close(*x));
            // The place of `b` has one zero less.
            let odd = self.has_odd_zeros(index);
            // Backwards, so that each lane meets the roots of the group opposite to it.
            reverse(&mut a);
            reverse(&mut b);
            transpose(&mut a);
            negate(&mut a, butterfly, odd);
            inverse_column(&mut a, butterfly, late(0), |layer, pair| exchange(&mut b, layer, pair));
            close(&mut a);
            negate(&mut b, butterfly, !odd);
            inverse_column(&mut b, butterfly, late(1), |layer, pair| exchange(&mut a, layer, pair));
            close(&mut b);
            reverse(&mut a);
            inverse_column(&mut a, butterfly, early(0), |layer, pair| exchange(&mut b, layer, pair));
            close(&mut a);
            reverse(&mut b);
            inverse_column(&mut b, butterfly, early(1), |_, _| ());
            close(&mut b);
            store_blocks(words, &[a, b]);
        }
    }
}

/// The lanes of a vector whose number in binary has an odd number of zeros.
const NEGATED: u8 = 0b0110_1001;

/// Negates what [`Butterfly`] says in a transposed block of 64 words, of which lane `g` holds group `7 - g`. `odd` says
/// whether the place of the block has an odd number of zeros.
#[inline]
#[target_feature(enable = "avx512f")]
fn negate<const NARROW: bool>(x: &mut Column, butterfly: Butterfly<NARROW>, odd: bool) {
    // Three digits for the word in the group, and three for the group: opposite digits have zeros and ones exchanged, and
    // of three an odd number of zeros is an even number of ones.
    let lanes = if odd { !NEGATED } else { NEGATED };
    for pair in 0..PAIRS {
        let (i, j, _) = places::<1>(pair);
        let lanes = if pair == 0 || pair == 3 { lanes } else { !lanes };
        (x[i], x[j]) = (butterfly.negate(x[i], lanes), butterfly.negate(x[j], !lanes));
    }
}

/// As that of slices, but with vectors that stay in registers.
#[inline(always)]
fn reverse(x: &mut Column) {
    let [a, b, c, d, e, f, g, h] = *x;
    *x = [h, g, f, e, d, c, b, a];
}

/// The vectors of 64 words.
type Column = [Vector; LATE_VECTORS];

/// How many pairs eight vectors are.
const PAIRS: usize = 4;

/// The vectors of a pair, `HALF` apart, and their block in the layer.
#[inline(always)]
const fn places<const HALF: usize>(pair: usize) -> (usize, usize, usize) {
    let (block, i) = (pair / HALF, pair % HALF);
    (2 * HALF * block + i, 2 * HALF * block + i + HALF, block)
}

/// Three layers among the vectors of a column; `factor(i)` is that of block `i` in layer order. After each butterfly
/// comes a step of something else, `meanwhile(layer, pair)`.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn forward_column<const NARROW: bool>(
    x: &mut Column,
    butterfly: Butterfly<NARROW>,
    factor: impl Fn(usize) -> Factor,
    mut meanwhile: impl FnMut(usize, usize),
) {
    column_layer::<4>(x, |block, a, b| butterfly.forward(a, b, factor(block)), |pair| meanwhile(0, pair));
    column_layer::<2>(x, |block, a, b| butterfly.forward(a, b, factor(1 + block)), |pair| meanwhile(1, pair));
    column_layer::<1>(x, |block, a, b| butterfly.forward(a, b, factor(3 + block)), |pair| meanwhile(2, pair));
}

/// The mirror of [`forward_column`], with the roots of each layer backwards.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn inverse_column<const NARROW: bool>(
    x: &mut Column,
    butterfly: Butterfly<NARROW>,
    factor: impl Fn(usize) -> Factor,
    mut meanwhile: impl FnMut(usize, usize),
) {
    column_layer::<1>(x, |block, a, b| butterfly.inverse::<0>(a, b, factor(6 - block)), |pair| meanwhile(0, pair));
    column_layer::<2>(x, |block, a, b| butterfly.inverse::<1>(a, b, factor(2 - block)), |pair| meanwhile(1, pair));
    column_layer::<4>(x, |block, a, b| butterfly.inverse::<2>(a, b, factor(block)), |pair| meanwhile(2, pair));
}

#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn column_layer<const HALF: usize>(
    x: &mut Column,
    butterfly: impl Fn(usize, Vector, Vector) -> (Vector, Vector),
    mut meanwhile: impl FnMut(usize),
) {
    for pair in 0..PAIRS {
        let (i, j, block) = places::<HALF>(pair);
        (x[i], x[j]) = butterfly(block, x[i], x[j]);
        meanwhile(pair);
    }
}

/// All layers among `R` vectors, in each of `C` columns; `factor(i)` is the factor of the `i`-th
/// block of butterflies, in layer order (1, then 2, then 4 blocks).
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn forward_layers<const R: usize, const C: usize, const NARROW: bool>(
    x: &mut [[Vector; C]; R],
    butterfly: Butterfly<NARROW>,
    factor: impl Fn(usize) -> Factor,
) {
    // Constant distances: with a loop over them the vectors would not stay in registers.
    if R > 4 {
        layer::<R, C, 4>(x, |block, a, b| butterfly.forward(a, b, factor(R / 8 - 1 + block)));
    }
    if R > 2 {
        layer::<R, C, 2>(x, |block, a, b| butterfly.forward(a, b, factor(R / 4 - 1 + block)));
    }
    layer::<R, C, 1>(x, |block, a, b| butterfly.forward(a, b, factor(R / 2 - 1 + block)));
}

/// The mirror of [`forward_layers`], with the roots of each layer backwards; without the last layer
/// if `LAST`.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn inverse_layers<const R: usize, const C: usize, const LAST: bool, const NARROW: bool>(
    x: &mut [[Vector; C]; R],
    butterfly: Butterfly<NARROW>,
    factor: impl Fn(usize) -> Factor,
) {
    if R > 2 || !LAST {
        layer::<R, C, 1>(x, |block, a, b| butterfly.inverse::<0>(a, b, factor(R - 2 - block)));
    }
    if R > 4 || (R == 4 && !LAST) {
        layer::<R, C, 2>(x, |block, a, b| butterfly.inverse::<1>(a, b, factor(R / 2 - 2 - block)));
    }
    if R > 4 && !LAST {
        layer::<R, C, 4>(x, |block, a, b| butterfly.inverse::<2>(a, b, factor(R / 4 - 2 - block)));
    }
    if !LAST {
        each_upper(x, |x| butterfly.close(x));
    }
}

/// The last layer of the inverse, with `1/n` and more in both factors.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn last_layer<const R: usize, const C: usize, const NARROW: bool>(
    x: &mut [[Vector; C]; R],
    butterfly: Butterfly<NARROW>,
    last: [Factor; 2],
) {
    match R {
        2 => layer::<R, C, 1>(x, |_, a, b| butterfly.last::<0>(a, b, last)),
        4 => layer::<R, C, 2>(x, |_, a, b| butterfly.last::<1>(a, b, last)),
        _ => layer::<R, C, 4>(x, |_, a, b| butterfly.last::<2>(a, b, last)),
    }
}

/// One layer: `butterfly(block, a, b)` on the vectors `HALF` apart of each block, in each
/// column.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn layer<const R: usize, const C: usize, const HALF: usize>(
    x: &mut [[Vector; C]; R],
    butterfly: impl Fn(usize, Vector, Vector) -> (Vector, Vector),
) {
    for block in 0..R / (2 * HALF) {
        for i in 2 * HALF * block..2 * HALF * block + HALF {
            let (upper, lower) = x.split_at_mut(i + HALF);
            for (a, b) in upper[i].iter_mut().zip(&mut lower[0]) {
                (*a, *b) = butterfly(block, *a, *b);
            }
        }
    }
}

/// Changes each vector.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn each<const C: usize>(x: &mut [[Vector; C]], change: impl Fn(Vector) -> Vector) {
    for x in x.as_flattened_mut() {
        *x = change(*x);
    }
}

/// Changes the vectors of the upper half, which a layer between the halves does not multiply.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn each_upper<const R: usize, const C: usize>(x: &mut [[Vector; C]; R], change: impl Fn(Vector) -> Vector) {
    each(&mut x[..R / 2], change);
}

/// The roots of the layers among `R` streams of the block with root `index`, in layer order.
#[inline]
fn upper_factors<const R: usize>(roots: Roots, index: usize) -> [ShoupFactor; R] {
    // Entry 7 of eight is not used: R - 1 roots serve R streams.
    let mut factors = [ShoupFactor { value: 0, quotient: 0 }; R];
    let mut blocks = 1;
    while blocks < R {
        for i in 0..blocks {
            factors[blocks - 1 + i] = roots.upper(index * blocks + i);
        }
        blocks *= 2;
    }
    factors
}

/// Entry `entry` of the first three of a block's six layers.
#[inline]
#[target_feature(enable = "avx512f")]
fn block_factor(roots: &BlockRoots, entry: usize) -> Factor {
    Factor::broadcast(ShoupFactor { value: roots[VALUES][entry], quotient: roots[QUOTIENTS][entry] })
}

/// `C` vectors of each of the `R` streams of a block.
#[inline]
#[target_feature(enable = "avx512f")]
fn load_columns<const R: usize, const C: usize>(block: &[Words], stride: usize, column: usize) -> [[Vector; C]; R] {
    let mut x = [[_mm512_setzero_si512(); C]; R];
    for (r, x) in x.iter_mut().enumerate() {
        for (c, x) in x.iter_mut().enumerate() {
            *x = load(&block[r * stride + column + c]);
        }
    }
    x
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store_columns<const R: usize, const C: usize>(
    block: &mut [Words],
    stride: usize,
    column: usize,
    x: &[[Vector; C]; R],
) {
    for (r, x) in x.iter().enumerate() {
        for (c, x) in x.iter().enumerate() {
            store(&mut block[r * stride + column + c], *x);
        }
    }
}

/// Two blocks of 64 words, a column each.
#[inline]
#[target_feature(enable = "avx512f")]
fn load_blocks(words: &[Words; 2 * LATE_VECTORS]) -> [Column; 2] {
    let mut columns = [[_mm512_setzero_si512(); LATE_VECTORS]; 2];
    for (x, words) in columns.as_flattened_mut().iter_mut().zip(words) {
        *x = load(words);
    }
    columns
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store_blocks(words: &mut [Words; 2 * LATE_VECTORS], columns: &[Column; 2]) {
    for (words, x) in words.iter_mut().zip(columns.as_flattened()) {
        store(words, *x);
    }
}

/// Exchanges rows and columns of 8 x 8 words.
#[inline]
#[target_feature(enable = "avx512f")]
fn transpose(x: &mut Column) {
    for layer in 0..3 {
        for pair in 0..PAIRS {
            exchange(x, layer, pair);
        }
    }
}

/// One of the twelve steps of a transposition, which has the shape of three layers: it exchanges words
/// of the vectors of one pair.
#[inline]
#[target_feature(enable = "avx512f")]
fn exchange(x: &mut Column, layer: usize, pair: usize) {
    let (i, j, _) = match layer {
        0 => places::<1>(pair),
        1 => places::<2>(pair),
        _ => places::<4>(pair),
    };
    let (a, b) = (x[i], x[j]);
    (x[i], x[j]) = if layer == 0 {
        // Words of two rows: those of even columns, and those of odd ones.
        (_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b))
    } else {
        (_mm512_shuffle_i64x2::<0x88>(a, b), _mm512_shuffle_i64x2::<0xdd>(a, b))
    };
}
