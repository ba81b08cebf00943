//! Samples of the torus: binary secrets, uniform words and wide noise.
//!
//! A word x of 64 bits stands for x / 2^64 of the circle, a word of 32 bits for x / 2^32; sums wrap around. Widths are
//! given in units of the whole circle, so that a noise is the same for words of either size.
//!
//! As in [`sample`](crate::sample), every sampler reads its [`Xof`] by a rule that another program can follow, and
//! neither a branch nor an index depends on an accepted value.

use zeroize::Zeroize;

use crate::kernels::kernels;
use crate::random::Xof;

/// Words read from the stream at a time: the pairs of 256 points.
const CHUNK: usize = 512;

/// 2^64, by which units of the circle become words.
const CIRCLE: f64 = 18_446_744_073_709_551_616.0;

/// The largest width of [`tuniform`]: that of a half of the circle.
pub const MAX_TUNIFORM_BITS: u32 = 61;

/// Fills `out` with independent uniform bits, each a 0 or a 1.
///
/// Rule: a word gives 64 bits, lowest first; what is left of the last word is dropped.
pub fn binary(xof: &mut Xof, out: &mut [i8]) {
    for bits in out.chunks_mut(u64::BITS as usize) {
        let mut word = xof.next_u64();
        for (place, bit) in bits.iter_mut().enumerate() {
            *bit = (word >> place & 1) as i8;
        }
        word.zeroize();
    }
}

/// Fills `out` with independent uniform words of 32 bits.
///
/// Rule: a word gives two, the low half first; what is left of the last word is dropped.
pub fn uniform_halves(xof: &mut Xof, out: &mut [u32]) {
    let mut words = [0; CHUNK];
    for out in out.chunks_mut(2 * CHUNK) {
        let words = &mut words[..out.len().div_ceil(2)];
        xof.fill_u64(words);
        let (pairs, last) = out.as_chunks_mut::<2>();
        for (pair, &word) in pairs.iter_mut().zip(&*words) {
            *pair = [word as u32, (word >> u32::BITS) as u32];
        }
        if let ([half], Some(&word)) = (last, words.last()) {
            *half = word as u32;
        }
    }
}

/// Fills `out` with samples of the normal distribution of standard deviation `sigma`, in units of the circle, each
/// rounded to the nearest word.
///
/// Rule (Marsaglia's polar method): read two words, `u` and `v`, each as a signed number divided by 2^63, with its lowest
/// bit set; with `s = u^2 + v^2`, drop the pair unless `s < 1`. It gives the next two samples, `u f` and `v f` with
/// `f = sqrt(-2 ln(s) / s)`; each times `sigma 2^64` and rounded to the nearest whole number, halves to even. Repeat until
/// `out` is full; a sample too many is dropped. The logarithm is that of the kernel, and all arithmetic is that of IEEE 754
/// without contraction: the bytes are the same on every machine.
///
/// Where the pair falls tells only that it is inside the circle; the angle and the length of the result do not depend on
/// how many were dropped. The tail ends at about 9.3 standard deviations, which is met with probability below 2^-66.
///
/// # Panics
/// If `sigma` is negative or exceeds 2^-4: its tail would go around the circle.
pub fn gaussian(xof: &mut Xof, sigma: f64, out: &mut [u64]) {
    assert!((0.0..=0.0625).contains(&sigma), "a width of {sigma} of the circle is not one of noise");
    let scale = sigma * CIRCLE;
    let mut words = [0; CHUNK];
    let mut pairs = [[0.0; 2]; CHUNK / 2];
    let mut filled = 0;
    while filled < out.len() {
        // A pair gives two samples at most, so this never reads too far.
        let count = (out.len() - filled).next_multiple_of(2).min(CHUNK);
        xof.fill_u64(&mut words[..count]);
        let kept = kernels().inside_circle(&mut pairs[..count / 2], &words[..count]);
        let end = out.len().min(filled + 2 * kept);
        kernels().normal(&mut out[filled..end], &pairs[..kept], scale);
        filled = end;
    }
    words.zeroize();
    pairs.zeroize();
}

/// Fills `out` with samples of the uniform distribution on `[-2^bits, 2^bits]` whose two ends have half the weight of the
/// others: TUniform, of variance `(2^(2 bits + 1) + 1) / 6`.
///
/// Rule: read a word and keep its `bits + 2` low bits, a number `r`; the sample is `floor((r + 1) / 2) - 2^bits`.
///
/// # Panics
/// If `bits` exceeds [`MAX_TUNIFORM_BITS`].
pub fn tuniform(xof: &mut Xof, bits: u32, out: &mut [u64]) {
    assert!(bits <= MAX_TUNIFORM_BITS, "a width of 2^{bits} is not one of noise: at most 2^{MAX_TUNIFORM_BITS}");
    let mask = (1 << (bits + 2)) - 1;
    xof.fill_u64(out);
    for word in out {
        *word = (((*word & mask) + 1) >> 1).wrapping_sub(1 << bits);
    }
}
