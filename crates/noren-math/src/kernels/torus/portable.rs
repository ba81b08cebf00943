//! Torus words and their spectra in plain Rust: what the kernels mean, but for the order of roundings.

use crate::kernels::torus::operands::{TorusKernels, TorusProducts, key_place};
use crate::roots::torus::{BLOCK, GROUP, GROUP_WORDS, TorusFft};
use crate::torus::digit::Digit;
use crate::torus::word::Torus;

/// The functions for one word.
pub(in crate::kernels) const fn table<T: Torus>() -> TorusKernels<T> {
    TorusKernels {
        forward: forward::<T>,
        forward_digits: forward_digits::<T>,
        inverse_add: inverse_add::<T>,
        products_add: products_add::<T>,
        rotate_difference: rotate_difference::<T>,
    }
}

pub(in crate::kernels) fn forward<T: Torus>(spectrum: &mut [f64], a: &[T], scale: f64, fft: &TorusFft) {
    transform(spectrum, fft, |j| a[j].centred() as f64 * scale);
}

pub(in crate::kernels) fn forward_digits<T: Torus>(
    spectrum: &mut [f64],
    shifted: &[T],
    digit: Digit,
    fft: &TorusFft,
    _: &[f64],
) {
    transform(spectrum, fft, |j| digit.of(shifted[j]) as f64);
}

/// Folds the coefficients and runs the layers, then puts the points of each block in the order of vectors.
fn transform(spectrum: &mut [f64], fft: &TorusFft, coefficient: impl Fn(usize) -> f64) {
    let points = fft.points();
    for j in 0..points {
        write(spectrum, j, (coefficient(j), coefficient(j + points)));
    }
    for layer in 0..points.ilog2() {
        each_butterfly(points, 1 << layer, fft, |x, y, w| {
            let (a, b) = (read(spectrum, x), read(spectrum, y));
            let t = times(b, w);
            write(spectrum, x, sum_of(a, t));
            write(spectrum, y, (a.0 - t.0, a.1 - t.1));
        });
    }
    transpose_blocks(spectrum);
}

pub(in crate::kernels) fn inverse_add<T: Torus>(out: &mut [T], spectrum: &mut [f64], fft: &TorusFft) {
    let points = fft.points();
    transpose_blocks(spectrum);
    for layer in (0..points.ilog2()).rev() {
        each_butterfly(points, 1 << layer, fft, |x, y, w| {
            let (a, b) = (read(spectrum, x), read(spectrum, y));
            let d = (a.0 - b.0, a.1 - b.1);
            write(spectrum, x, sum_of(a, b));
            write(spectrum, y, (d.0 * w.0 + d.1 * w.1, d.1 * w.0 - d.0 * w.1));
        });
    }
    let (low, high) = out.split_at_mut(points);
    for (j, (low, high)) in low.iter_mut().zip(high).enumerate() {
        let (re, im) = read(spectrum, j);
        *low = low.wrapping_add(T::nearest(re));
        *high = high.wrapping_add(T::nearest(im));
    }
}

pub(in crate::kernels) fn products_add<T: Torus>(
    out: &mut [T],
    products: &TorusProducts,
    scratch: &mut [f64],
    fft: &TorusFft,
) {
    let (n, terms) = (fft.degree(), products.terms());
    let shape = (products.rows * terms, products.columns);
    for (column, (out, sum)) in out.chunks_exact_mut(n).zip(scratch.chunks_exact_mut(n)).enumerate() {
        sum.fill(0.0);
        for (row, digits) in products.digits.chunks(products.stride).take(products.rows).enumerate() {
            for (group, (sum, d)) in sum.chunks_exact_mut(GROUP_WORDS).zip(digits.chunks_exact(GROUP_WORDS)).enumerate()
            {
                let key = |term: usize, j: usize| {
                    let at = key_place(n / 2, shape, (row * terms + term, column), group) + j;
                    (products.key[at], products.key[at + GROUP])
                };
                for j in 0..GROUP {
                    let k = match products.turns {
                        None => key(0, j),
                        Some(turns) => {
                            let [u, v] = turns.exponents.map(|e| turns.monomials.value(group * GROUP + j, e));
                            let (u, v) = ((u.0 - 1.0, u.1), (v.0 - 1.0, v.1));
                            sum_of(times(u, sum_of(key(0, j), times(v, key(2, j)))), times(v, key(1, j)))
                        }
                    };
                    (sum[j], sum[j + GROUP]) = sum_of((sum[j], sum[j + GROUP]), times((d[j], d[j + GROUP]), k));
                }
            }
        }
        inverse_add(out, sum, fft);
    }
}

/// Also what the vector tables use: loops that the compiler turns into vectors.
#[inline(always)]
pub(in crate::kernels) fn rotate_difference<T: Torus>(out: &mut [T], a: &[T], rotation: usize, offset: T) {
    let n = a.len();
    let (up, negative) = (rotation % n, rotation >= n);
    let (wrapped, moved) = out.split_at_mut(up);
    difference(wrapped, &a[n - up..], &a[..up], offset, !negative);
    difference(moved, &a[..n - up], &a[up..], offset, negative);
}

/// `out = a - b + offset`, or `out = -a - b + offset`.
#[inline(always)]
fn difference<T: Torus>(out: &mut [T], a: &[T], b: &[T], offset: T, negative: bool) {
    let terms = out.iter_mut().zip(a.iter().zip(b));
    if negative {
        terms.for_each(|(out, (&a, &b))| *out = offset.wrapping_sub(a).wrapping_sub(b));
    } else {
        terms.for_each(|(out, (&a, &b))| *out = offset.wrapping_add(a).wrapping_sub(b));
    }
}

/// Calls with the two points and the root of each butterfly of the layer of `nodes` nodes.
#[inline(always)]
fn each_butterfly(points: usize, nodes: usize, fft: &TorusFft, mut f: impl FnMut(usize, usize, (f64, f64))) {
    let half = points / nodes / 2;
    for node in 0..nodes {
        let root = fft.root(nodes + node);
        for j in 0..half {
            let x = 2 * half * node + j;
            f(x, x + half, root);
        }
    }
}

/// Exchanges rows and columns of the 8 x 8 points of each block, where there are blocks: point `8g + k` of one is then lane
/// `g` of vector `k`.
fn transpose_blocks(spectrum: &mut [f64]) {
    for block in spectrum.chunks_exact_mut(2 * BLOCK) {
        for g in 0..BLOCK / GROUP {
            for k in 0..g {
                let (x, y) = (read(block, GROUP * g + k), read(block, GROUP * k + g));
                write(block, GROUP * g + k, y);
                write(block, GROUP * k + g, x);
            }
        }
    }
}

#[inline(always)]
fn times(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0)
}

#[inline(always)]
fn sum_of(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    (a.0 + b.0, a.1 + b.1)
}

#[inline(always)]
fn read(spectrum: &[f64], point: usize) -> (f64, f64) {
    let at = place(point);
    (spectrum[at], spectrum[at + GROUP])
}

#[inline(always)]
fn write(spectrum: &mut [f64], point: usize, (re, im): (f64, f64)) {
    let at = place(point);
    (spectrum[at], spectrum[at + GROUP]) = (re, im);
}

/// Where the real part of a point lies.
#[inline(always)]
const fn place(point: usize) -> usize {
    point / GROUP * GROUP_WORDS + point % GROUP
}
