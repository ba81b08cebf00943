//! The comparisons of the Gaussian sampler over eight lanes.

use std::arch::x86_64::*;

use super::arithmetic::{Vector, WIDTH, broadcast, load};
use crate::kernels::random::gaussian::{self, HALF_MASK, HALVES};

/// Halvings of the interval in which a sample's size lies, from 32 sizes to one.
const STEPS: usize = 5;
/// The table of a shuffle of two vectors.
const ENTRIES: usize = 2 * WIDTH;

/// For each step the thresholds in the middles of all intervals, high and low halves.
const MIDDLES: [[[[u64; WIDTH]; 2]; 2]; STEPS] = {
    let mut middles = [[[[0; WIDTH]; 2]; 2]; STEPS];
    let mut step = 0;
    while step < STEPS {
        let length = 1 << (STEPS - step);
        let mut interval = 0;
        while interval < 1 << step && interval < ENTRIES {
            // The threshold of size k has index k - 1.
            let middle = HALVES[interval * length + length / 2 - 1];
            middles[step][0][interval / WIDTH][interval % WIDTH] = middle[0];
            middles[step][1][interval / WIDTH][interval % WIDTH] = middle[1];
            interval += 1;
        }
        step += 1;
    }
    middles
};

/// See `gaussian::gaussian`. Five comparisons find a size by halves: the thresholds come from registers, by shuffles
/// whose time does not depend on what they choose.
#[target_feature(enable = "avx512f,avx512dq")]
pub(super) fn gaussian(out: &mut [i64], words: &[u64]) {
    let (whole, rest) = out.as_chunks_mut::<WIDTH>();
    let (pairs, pairs_rest) = words.as_chunks::<ENTRIES>();
    for (out, pairs) in whole.iter_mut().zip(pairs) {
        let [first, second] = pairs.as_chunks::<WIDTH>().0 else { unreachable!("a chunk is two vectors") };
        let (first, second) = (load(first), load(second));
        let even = _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0);
        let low = _mm512_srli_epi64::<1>(_mm512_permutex2var_epi64(first, even, second));
        let high = _mm512_permutex2var_epi64(first, _mm512_or_si512(even, broadcast(1)), second);
        let size = size(_mm512_and_si512(high, broadcast(HALF_MASK)), low);
        let sample = _mm512_mask_sub_epi64(size, _mm512_movepi64_mask(high), broadcast(0), size);
        // SAFETY: the reference is valid for the 64 bytes that are written; the store needs no alignment.
        unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), sample) };
    }
    gaussian::gaussian(rest, pairs_rest);
}

/// How many thresholds lie above `2^63 high + low`.
#[inline]
#[target_feature(enable = "avx512f")]
fn size(high: Vector, low: Vector) -> Vector {
    let mut size = broadcast(0);
    for (step, [middle_high, middle_low]) in MIDDLES.iter().enumerate() {
        let length = STEPS - step;
        let interval = _mm512_srlv_epi64(size, broadcast(length as u64));
        let choose = |[low, high]: &[[u64; WIDTH]; 2]| _mm512_permutex2var_epi64(load(low), interval, load(high));
        let below = below([high, low], [choose(middle_high), choose(middle_low)]);
        size = _mm512_mask_add_epi64(size, below, size, broadcast(1 << (length - 1)));
    }
    // A word below the last threshold is below all others.
    let [last_high, last_low] = HALVES[HALVES.len() - 1].map(u64::cast_signed);
    let below = below([high, low], [_mm512_set1_epi64(last_high), _mm512_set1_epi64(last_low)]);
    _mm512_mask_add_epi64(size, below, size, broadcast(1))
}

/// Where `2^63 a_0 + a_1 < 2^63 b_0 + b_1`.
#[inline]
#[target_feature(enable = "avx512f")]
fn below(a: [Vector; 2], b: [Vector; 2]) -> __mmask8 {
    let equal = _mm512_cmpeq_epu64_mask(a[0], b[0]);
    _mm512_cmplt_epu64_mask(a[0], b[0]) | _mm512_mask_cmplt_epu64_mask(equal, a[1], b[1])
}
