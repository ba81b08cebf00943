//! The comparisons of the Gaussian sampler: see [`gaussian`](crate::sample::gaussian) for the rule.

use zeroize::Zeroize;

use crate::gaussian::{GAUSSIAN_BOUND, THRESHOLDS};

/// Bits of each half of a threshold: one less than a word, so that a difference of halves shows its sign.
pub(in crate::kernels) const HALF_BITS: u32 = 63;
pub(in crate::kernels) const HALF_MASK: u64 = (1 << HALF_BITS) - 1;

/// The thresholds' halves, high and low.
pub(in crate::kernels) const HALVES: [[u64; 2]; GAUSSIAN_BOUND as usize] = {
    let mut halves = [[0; 2]; GAUSSIAN_BOUND as usize];
    let mut k = 0;
    while k < halves.len() {
        halves[k] = [(THRESHOLDS[k] >> HALF_BITS) as u64, THRESHOLDS[k] as u64 & HALF_MASK];
        k += 1;
    }
    halves
};

/// How many samples are compared side by side.
const LANES: usize = 64;

/// Turns pairs of words into samples, by all comparisons for each; inlined, so that each instruction set makes its own
/// vectors of it.
#[inline(always)]
pub(in crate::kernels) fn gaussian(out: &mut [i64], words: &[u64]) {
    let (mut high, mut low, mut counts) = ([0; LANES], [0; LANES], [0; LANES]);
    for (out, words) in out.chunks_mut(LANES).zip(words.chunks(2 * LANES)) {
        for ((pair, high), low) in words.as_chunks::<2>().0.iter().zip(&mut high).zip(&mut low) {
            (*low, *high) = (pair[0] >> 1, pair[1] & HALF_MASK);
        }
        counts.fill(0);
        for [threshold_high, threshold_low] in HALVES {
            for ((count, &high), &low) in counts.iter_mut().zip(&high).zip(&low) {
                let borrow = low.wrapping_sub(threshold_low) >> HALF_BITS;
                *count += high.wrapping_sub(threshold_high).wrapping_sub(borrow) >> HALF_BITS;
            }
        }
        for ((x, &size), pair) in out.iter_mut().zip(&counts).zip(words.as_chunks::<2>().0) {
            let negative = (pair[1] >> HALF_BITS) as i64;
            *x = (size as i64 ^ -negative) + negative;
        }
    }
    high.zeroize();
    low.zeroize();
    counts.zeroize();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::available;

    #[test]
    fn samples_change_at_the_thresholds() {
        let numbers = THRESHOLDS.iter().flat_map(|&threshold| [threshold - 1, threshold, threshold + 1]);
        for table in available() {
            for u in numbers.clone().chain([0, (1 << (2 * HALF_BITS)) - 1]) {
                let size = THRESHOLDS.iter().filter(|&&threshold| u < threshold).count() as i64;
                for (sign, expected) in [(0, size), (1 << HALF_BITS, -size)] {
                    // The lowest bit is not used.
                    for unused in [0, 1] {
                        let words = [(u << 1) as u64 | unused, (u >> HALF_BITS) as u64 | sign];
                        let mut found = [0; 9];
                        table.gaussian(&mut found, &words.repeat(9));
                        assert_eq!(found, [expected; 9], "{} of {u}", table.name());
                    }
                }
            }
        }
    }
}
