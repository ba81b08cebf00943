//! Samples of the torus: binary secrets, uniform words and wide noise.
//!
//! A word x of 64 bits stands for x / 2^64 of the circle, a word of 32 bits for x / 2^32; sums wrap around. Widths are
//! given in units of the whole circle, so that a noise is the same for words of either size.
//!
//! As in [`sample`](crate::sample), every sampler reads its [`Xof`] by a rule that another program can follow, and
//! neither a branch nor an index depends on an accepted value.

use zeroize::Zeroize;

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
    for halves in out.chunks_mut(2) {
        let word = xof.next_u64();
        for (place, half) in halves.iter_mut().enumerate() {
            *half = (word >> (place as u32 * u32::BITS)) as u32;
        }
    }
}

/// Fills `out` with samples of the normal distribution of standard deviation `sigma`, in units of the circle, each
/// rounded to the nearest word.
///
/// Rule (Marsaglia's polar method): read two words, `u` and `v`, each as a signed number divided by 2^63, with its lowest
/// bit set; with `s = u^2 + v^2`, drop the pair unless `s < 1`. It gives the next two samples, `u f` and `v f` with
/// `f = sqrt(-2 ln(s) / s)`; each times `sigma 2^64` and rounded to the nearest whole number, halves to even. Repeat until
/// `out` is full; a sample too many is dropped. The logarithm is that of this file, and all arithmetic is that of IEEE 754
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
    let mut samples = [0.0; CHUNK];
    let mut filled = 0;
    while filled < out.len() {
        // A pair gives two samples at most, so this never reads too far.
        let count = (out.len() - filled).next_multiple_of(2).min(CHUNK);
        xof.fill_u64(&mut words[..count]);
        let mut kept = 0;
        for pair in words[..count].chunks_exact(2) {
            let (u, v) = (unit(pair[0]), unit(pair[1]));
            let s = u * u + v * v;
            (samples[kept], samples[kept + 1]) = (u, v);
            kept += 2 * usize::from(s < 1.0);
        }
        for pair in samples[..kept].chunks_exact_mut(2) {
            let s = pair[0] * pair[0] + pair[1] * pair[1];
            let factor = (-2.0 * logarithm(s) / s).sqrt() * scale;
            pair[0] *= factor;
            pair[1] *= factor;
        }
        let kept = kept.min(out.len() - filled);
        for (word, sample) in out[filled..filled + kept].iter_mut().zip(&samples) {
            *word = (sample.round_ties_even() as i64).cast_unsigned();
        }
        filled += kept;
    }
    words.zeroize();
    samples.zeroize();
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

/// A word as a number of (-1, 1), never 0.
fn unit(word: u64) -> f64 {
    /// 2^-63.
    const STEP: f64 = 1.0 / (1u64 << 63) as f64;
    (word | 1).cast_signed() as f64 * STEP
}

/// `ln s` to about 2^-50 of its size, or 2^-52 near 1, without a branch. Range: normal and positive.
///
/// With `s = m 2^e` and `m` in about `[0.7, 1.4)`: `ln s = e ln 2 + 2 artanh((m - 1) / (m + 1))`.
fn logarithm(s: f64) -> f64 {
    /// The bits of sqrt(1/2): what is added to those of `s` carries into its exponent from sqrt(2) on.
    const HALF_ROOT: u64 = 0x3fe6_a09e_667f_3bcd;
    /// The exponent of 1 in place.
    const ONE: u64 = 0x3ff0_0000_0000_0000;
    const FRACTION: u32 = 52;
    /// `2 / (2 i + 1)` for the powers `f^(2 i + 1)` of the series; `|f| < 0.172`, so that the first one left out is below
    /// 2^-58.
    const TERMS: [f64; 11] = [
        2.0 / 21.0,
        2.0 / 19.0,
        2.0 / 17.0,
        2.0 / 15.0,
        2.0 / 13.0,
        2.0 / 11.0,
        2.0 / 9.0,
        2.0 / 7.0,
        2.0 / 5.0,
        2.0 / 3.0,
        2.0,
    ];
    let shifted = s.to_bits().wrapping_sub(HALF_ROOT).cast_signed();
    let exponent = shifted >> FRACTION;
    let mantissa = f64::from_bits((shifted.cast_unsigned() & ((1 << FRACTION) - 1)) + HALF_ROOT);
    debug_assert!(s.to_bits() < 2 * ONE);
    let f = (mantissa - 1.0) / (mantissa + 1.0);
    let square = f * f;
    let series = TERMS.iter().fold(0.0, |sum, term| sum * square + term);
    exponent as f64 * std::f64::consts::LN_2 + f * series
}

#[cfg(test)]
mod tests {
    use std::f64::consts::FRAC_1_SQRT_2;

    use super::*;

    #[test]
    fn the_logarithm_is_that_of_the_library() {
        let mut s: f64 = 1.0;
        while s > 1e-38 {
            for x in [s, s * 0.999_999_9, s * FRAC_1_SQRT_2, s * FRAC_1_SQRT_2.next_up()] {
                let exact = libm::log(x);
                let bound = exact.abs() * 2f64.powi(-50) + 2f64.powi(-52);
                assert!((logarithm(x) - exact).abs() <= bound, "ln {x}: {} and {exact}", logarithm(x));
            }
            s *= 0.9;
        }
    }
}
