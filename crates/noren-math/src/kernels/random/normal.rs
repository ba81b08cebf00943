//! The arithmetic of normal noise: see [`torus_sample::gaussian`](crate::torus_sample::gaussian) for the rule.

use zeroize::Zeroize;

/// The kernel: samples, pairs within the circle, and the width.
pub(in crate::kernels) type Normal = unsafe fn(&mut [u64], &[[f64; 2]], f64);

/// The kernel: room for pairs, and the words that they are made of; how many there are within the circle.
pub(in crate::kernels) type InsideCircle = unsafe fn(&mut [[f64; 2]], &[u64]) -> usize;

/// How many pairs are worked on side by side.
const LANES: usize = 64;

/// The bits of sqrt(1/2): what is added to those of a number carries into its exponent from sqrt(2) on.
pub(in crate::kernels) const HALF_ROOT: u64 = 0x3fe6_a09e_667f_3bcd;
/// The exponent of 1 in place.
const ONE: u64 = 0x3ff0_0000_0000_0000;
/// Bits of a fraction.
pub(in crate::kernels) const FRACTION: u32 = 52;
/// `2 / (2 i + 1)` for the powers `f^(2 i + 1)` of the series; `|f| < 0.172`, so that the first one left out is below
/// 2^-58.
pub(in crate::kernels) const TERMS: [f64; 11] = [
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

/// 2^-63.
pub(in crate::kernels) const STEP: f64 = 1.0 / (1u64 << 63) as f64;

/// Inlined, as [`normal`] is; no branch depends on where a pair lies.
#[inline(always)]
pub(in crate::kernels) fn inside_circle(pairs: &mut [[f64; 2]], words: &[u64]) -> usize {
    let unit = |word: u64| (word | 1).cast_signed() as f64 * STEP;
    let mut kept = 0;
    for pair in words.as_chunks::<2>().0 {
        let [u, v] = [unit(pair[0]), unit(pair[1])];
        pairs[kept] = [u, v];
        kept += usize::from(u * u + v * v < 1.0);
    }
    kept
}

/// Inlined, so that each instruction set makes its own vectors of it: without contraction, its bits are those of all others.
#[inline(always)]
pub(in crate::kernels) fn normal(out: &mut [u64], pairs: &[[f64; 2]], scale: f64) {
    let (mut first, mut second) = ([0.0; LANES], [0.0; LANES]);
    for (out, pairs) in out.chunks_mut(2 * LANES).zip(pairs.chunks(LANES)) {
        for ((pair, first), second) in pairs.iter().zip(&mut first).zip(&mut second) {
            (*first, *second) = (pair[0], pair[1]);
        }
        for (u, v) in first.iter_mut().zip(&mut second).take(pairs.len()) {
            let s = *u * *u + *v * *v;
            let factor = (-2.0 * logarithm(s) / s).sqrt() * scale;
            (*u, *v) = ((*u * factor).round_ties_even(), (*v * factor).round_ties_even());
        }
        for (out, (u, v)) in out.chunks_mut(2).zip(first.iter().zip(&second)) {
            for (out, x) in out.iter_mut().zip([*u, *v]) {
                *out = (x as i64).cast_unsigned();
            }
        }
    }
    first.zeroize();
    second.zeroize();
}

/// `ln s` to about 2^-50 of its size, or 2^-52 near 1, without a branch. Range: normal and positive.
///
/// With `s = m 2^e` and `m` in about `[0.7, 1.4)`: `ln s = e ln 2 + 2 artanh((m - 1) / (m + 1))`.
#[inline(always)]
fn logarithm(s: f64) -> f64 {
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
    use crate::kernels::available;

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

    #[test]
    fn pairs_within_the_circle_are_kept_in_order() {
        // Every third word is small.
        let word = |i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (i % 3 / 2 * 5);
        for count in [0, 1, 3, 4, 5, 64, 257] {
            let mut words: Vec<u64> = (0..2 * count).map(word).collect();
            // -1 when rounded, and a little: outside.
            if let Some(first) = words.first_chunk_mut() {
                *first = [1 << 63, 0];
            }
            let expected: Vec<[f64; 2]> = words
                .as_chunks::<2>()
                .0
                .iter()
                .map(|pair| pair.map(|word| (word | 1).cast_signed() as f64 / 2f64.powi(63)))
                .filter(|[u, v]| u * u + v * v < 1.0)
                .collect();
            for table in available() {
                let mut pairs = vec![[0.0; 2]; words.len() / 2];
                let kept = table.inside_circle(&mut pairs, &words);
                assert_eq!(pairs[..kept], expected, "{}: {count} pairs", table.name());
            }
        }
    }

    #[test]
    fn samples_are_those_of_the_rule_for_all_tables() {
        // Pairs all over the circle, from its middle to its edge.
        let pair = |i: usize| {
            let (angle, length) = (i as f64 * 2.4, libm::exp2(-((i % 60) as f64)) * 0.999);
            [length * libm::cos(angle), length * libm::sin(angle)]
        };
        let pairs: Vec<[f64; 2]> = (0..150).map(pair).collect();
        for (count, scale) in [(0, 1.0), (1, 1e3), (7, 1e9), (64, 1e5), (65, 1e17), (150, 1e6), (150, 1e18)] {
            let samples = pairs[..count].iter().flat_map(|[u, v]| {
                let s = u * u + v * v;
                let factor = (-2.0 * logarithm(s) / s).sqrt() * scale;
                [u, v].map(|x| ((x * factor).round_ties_even() as i64).cast_unsigned())
            });
            let expected: Vec<u64> = samples.collect();
            for table in available() {
                for left_out in 0..=count.min(1) {
                    let mut found = vec![0; 2 * count - left_out];
                    table.normal(&mut found, &pairs[..count], scale);
                    assert_eq!(found, expected[..found.len()], "{}: {count} pairs, {scale}", table.name());
                }
            }
        }
    }
}
