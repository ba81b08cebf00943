//! Kernels that make several sums of products side by side: each factor and each image that is read meets all of a block of
//! accumulators, which stay in registers.

use super::arithmetic::{Vector, WIDTH, Wide, add_high, add_low, broadcast, load, prefetch_far, store, stream};
use crate::kernels::rows::operands::KeyRows;
use crate::kernels::rows::panels::{Panel, PanelKernels};
use crate::kernels::rows::portable_panels as portable;
use crate::kernels::rows::vector::starts_on_a_line;
use crate::modulus::Modulus;
use std::arch::x86_64::*;

pub(super) const TABLE: PanelKernels = PanelKernels { products, stretched, regroup, spread };

/// The words of one vector in memory.
type Words = [u64; WIDTH];

/// How many sums of both halves are made side by side: their 16 accumulators hide the latency of the products, and leave
/// registers for what is multiplied.
const SUMS: usize = 4;

/// Both halves of `S` sums of products as `high * 2^52 + low`.
struct Sums<const S: usize> {
    high: [[Vector; 2]; S],
    low: [[Vector; 2]; S],
}

impl<const S: usize> Sums<S> {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn zero() -> Self {
        let zero = [[_mm512_setzero_si512(); 2]; S];
        Self { high: zero, low: zero }
    }

    /// Adds the products of a factor with both halves of an image to sum `s`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn add(&mut self, s: usize, factor: Vector, image: [Vector; 2]) {
        for (half, image) in image.into_iter().enumerate() {
            self.high[s][half] = add_high(self.high[s][half], factor, image);
            self.low[s][half] = add_low(self.low[s][half], factor, image);
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    fn reduce(&self, s: usize, half: usize, wide: Wide) -> Vector {
        wide.reduce_large(self.high[s][half], self.low[s][half])
    }
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn products(out: &mut [&mut [u64]], &Panel { factors, images, next }: &Panel, add: bool, q: &Modulus) {
    let (n, sums, wide) = (out[0].len(), out.len() / 2, Wide::new(q));
    let terms = images.len() / (2 * n);
    let images = images.as_chunks::<WIDTH>().0.as_chunks::<2>().0;
    let factors = factors.as_chunks::<WIDTH>().0;
    // The next operands are prefetched little by little, so that loads of what is multiplied need not wait.
    let mut next = next.map(|words| words.as_chunks::<WIDTH>().0.iter());
    let steps = n / WIDTH * sums.div_ceil(SUMS);
    let lines = next.each_ref().map(|lines| lines.len().div_ceil(steps));
    for (group, images) in images.chunks_exact(terms).enumerate() {
        let factors = factors[group * sums * terms..][..sums * terms].chunks(SUMS * terms);
        for (out, factors) in out.chunks_mut(2 * SUMS).zip(factors) {
            next.iter_mut().zip(lines).for_each(|(next, lines)| next.take(lines).for_each(prefetch_far));
            match out.len() / 2 {
                1 => group_products::<1>(out, group, factors, images, add, wide),
                2 => group_products::<2>(out, group, factors, images, add, wide),
                3 => group_products::<3>(out, group, factors, images, add, wide),
                _ => group_products::<SUMS>(out, group, factors, images, add, wide),
            }
        }
    }
}

/// `S` sums at one group of words.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn group_products<const S: usize>(
    out: &mut [&mut [u64]],
    group: usize,
    factors: &[Words],
    images: &[[Words; 2]],
    add: bool,
    wide: Wide,
) {
    let views: [&[Words]; S] = std::array::from_fn(|s| &factors[s * images.len()..][..images.len()]);
    let mut sums = Sums::<S>::zero();
    if add {
        for (row, out) in out.iter().enumerate() {
            sums.low[row / 2][row % 2] = load(&out.as_chunks().0[group]);
        }
    }
    for (j, image) in images.iter().enumerate() {
        let image = [load(&image[0]), load(&image[1])];
        for (s, view) in views.iter().enumerate() {
            sums.add(s, load(&view[j]), image);
        }
    }
    for (row, out) in out.iter_mut().enumerate() {
        store(&mut out.as_chunks_mut().0[group], sums.reduce(row / 2, row % 2, wide));
    }
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn stretched(out: &mut [[&mut [u64]; 2]], factors: &[&[u64]], rows: KeyRows, q: &Modulus) {
    let (terms, wide) = (factors.len() / out.len(), Wide::new(q));
    if terms == 0 {
        return out.as_flattened_mut().iter_mut().for_each(|row| row.fill(0));
    }
    for (out, factors) in out.chunks_mut(SUMS).zip(factors.chunks(SUMS * terms)) {
        match out.len() {
            1 => stretched_rows::<1>(out, factors, rows, wide),
            2 => stretched_rows::<2>(out, factors, rows, wide),
            3 => stretched_rows::<3>(out, factors, rows, wide),
            _ => stretched_rows::<SUMS>(out, factors, rows, wide),
        }
    }
}

/// `S` sums over all words of some rows.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn stretched_rows<const S: usize>(out: &mut [[&mut [u64]; 2]], factors: &[&[u64]], rows: KeyRows, wide: Wide) {
    let (n, terms) = (out[0][0].len(), factors.len() / S);
    // How many vectors a word of a factor stands for.
    let stretch = n / factors[0].len() / WIDTH;
    let views: [&[&[u64]]; S] = std::array::from_fn(|s| &factors[s * terms..][..terms]);
    for group in 0..n / WIDTH {
        let place = group / stretch;
        let mut sums = Sums::<S>::zero();
        for j in 0..terms {
            let row = |half: usize| &rows.words[(2 * j + half) * rows.stride + group * WIDTH..].as_chunks().0[0];
            let image = [load(row(0)), load(row(1))];
            for (s, view) in views.iter().enumerate() {
                sums.add(s, broadcast(view[j][place]), image);
            }
        }
        for (s, pair) in out.iter_mut().enumerate() {
            for (half, row) in pair.iter_mut().enumerate() {
                store(&mut row.as_chunks_mut().0[group], sums.reduce(s, half, wide));
            }
        }
    }
}

#[target_feature(enable = "avx512f")]
fn regroup(out: &mut [u64], a: &[u64], width: usize) {
    let rows = a.len() / width;
    let out = out.as_chunks_mut().0;
    for (r, row) in a.chunks_exact(width).enumerate() {
        for (g, words) in row.as_chunks().0.iter().enumerate() {
            store(&mut out[g * rows + r], load(words));
        }
    }
}

#[target_feature(enable = "avx512f")]
fn spread(out: &mut [u64], row: &[u64], width: usize, stride: usize) {
    if !starts_on_a_line(out) || !width.is_multiple_of(WIDTH) || !stride.is_multiple_of(WIDTH) {
        return portable::spread(out, row, width, stride);
    }
    for (piece, out) in row.chunks_exact(width).zip(out.chunks_mut(stride)) {
        for (words, out) in piece.as_chunks().0.iter().zip(out.as_chunks_mut().0) {
            // SAFETY: `out` starts on a line, and so does every vector a multiple of its words further on.
            unsafe { stream(out, load(words)) };
        }
    }
    // Other threads may see what is stored past the caches late, unless told so.
    _mm_sfence();
}
