//! The special FFT in plain Rust: the order of operations that every table must keep.

use crate::roots::fft::{FftPass, FftTable, HEAD_LAYERS, LANES};

/// Packed coefficients to slots: bit reversal, then layers of growing span.
pub(in crate::kernels) fn fft_forward(re: &mut [f64], im: &mut [f64], table: &FftTable) {
    reverse_bits(re);
    reverse_bits(im);
    for layer in 0..head_layers(table) {
        head_layer(re, im, table, 1 << layer, join);
    }
    for pass in table.passes() {
        for layer in 0..pass.layers() {
            pass_layer(re, im, pass, layer, join);
        }
    }
}

/// Slots to packed coefficients: the same backwards, then `1/n`, which is exact.
pub(in crate::kernels) fn fft_inverse(re: &mut [f64], im: &mut [f64], table: &FftTable) {
    for pass in table.passes().iter().rev() {
        for layer in (0..pass.layers()).rev() {
            pass_layer(re, im, pass, layer, part);
        }
    }
    for layer in (0..head_layers(table)).rev() {
        head_layer(re, im, table, 1 << layer, part);
    }
    reverse_bits(re);
    reverse_bits(im);
    let scale = 1.0 / table.slots() as f64;
    for x in re.iter_mut().chain(im) {
        *x *= scale;
    }
}

/// `x, y -> x + w y, x - w y`.
#[inline(always)]
fn join(x: (f64, f64), y: (f64, f64), w: (f64, f64)) -> ((f64, f64), (f64, f64)) {
    let t = (y.0 * w.0 - y.1 * w.1, y.0 * w.1 + y.1 * w.0);
    ((x.0 + t.0, x.1 + t.1), (x.0 - t.0, x.1 - t.1))
}

/// `x, y -> x + y, conj(w) (x - y)`: twice the inverse of [`join`].
#[inline(always)]
fn part(x: (f64, f64), y: (f64, f64), w: (f64, f64)) -> ((f64, f64), (f64, f64)) {
    let d = (x.0 - y.0, x.1 - y.1);
    ((x.0 + y.0, x.1 + y.1), (d.0 * w.0 + d.1 * w.1, d.1 * w.0 - d.0 * w.1))
}

trait Butterfly: Fn((f64, f64), (f64, f64), (f64, f64)) -> ((f64, f64), (f64, f64)) {}
impl<F: Fn((f64, f64), (f64, f64), (f64, f64)) -> ((f64, f64), (f64, f64))> Butterfly for F {}

/// The layers whose roots are in the table's head.
fn head_layers(table: &FftTable) -> usize {
    if table.passes().is_empty() { table.slots().ilog2() as usize } else { HEAD_LAYERS }
}

#[inline(always)]
fn head_layer(re: &mut [f64], im: &mut [f64], table: &FftTable, half: usize, f: impl Butterfly) {
    let head = table.head();
    for (re, im) in re.chunks_exact_mut(2 * half).zip(im.chunks_exact_mut(2 * half)) {
        let ((x_re, y_re), (x_im, y_im)) = (re.split_at_mut(half), im.split_at_mut(half));
        butterflies(x_re, x_im, y_re, y_im, &head.re[half..], &head.im[half..], &f);
    }
}

#[inline(always)]
fn pass_layer(re: &mut [f64], im: &mut [f64], pass: &FftPass, layer: usize, f: impl Butterfly) {
    let span = pass.half() << layer;
    let (first, entries) = ((1 << layer) - 1, (1 << pass.layers()) - 1);
    for (re, im) in re.chunks_exact_mut(2 * span).zip(im.chunks_exact_mut(2 * span)) {
        let ((x_re, y_re), (x_im, y_im)) = (re.split_at_mut(span), im.split_at_mut(span));
        for row in 0..1 << layer {
            for group in 0..pass.half() / LANES {
                let entry = group * entries + first + row;
                let (w_re, w_im) = pass.roots()[2 * LANES * entry..][..2 * LANES].split_at(LANES);
                let at = row * pass.half() + group * LANES;
                let here = at..at + LANES;
                butterflies(
                    &mut x_re[here.clone()],
                    &mut x_im[here.clone()],
                    &mut y_re[here.clone()],
                    &mut y_im[here],
                    w_re,
                    w_im,
                    &f,
                );
            }
        }
    }
}

/// One butterfly for each column.
#[inline(always)]
fn butterflies(
    x_re: &mut [f64],
    x_im: &mut [f64],
    y_re: &mut [f64],
    y_im: &mut [f64],
    w_re: &[f64],
    w_im: &[f64],
    f: &impl Butterfly,
) {
    let x = x_re.iter_mut().zip(x_im);
    let y = y_re.iter_mut().zip(y_im);
    let w = w_re.iter().zip(w_im);
    for (((x_re, x_im), (y_re, y_im)), (w_re, w_im)) in x.zip(y).zip(w) {
        ((*x_re, *x_im), (*y_re, *y_im)) = f((*x_re, *x_im), (*y_re, *y_im), (*w_re, *w_im));
    }
}

/// Exchanges each index with the one that has the reversed bits.
fn reverse_bits(row: &mut [f64]) {
    let shift = usize::BITS - row.len().ilog2();
    for at in 0..row.len() {
        let other = at.reverse_bits().checked_shr(shift).unwrap_or(0);
        if at < other {
            row.swap(at, other);
        }
    }
}
