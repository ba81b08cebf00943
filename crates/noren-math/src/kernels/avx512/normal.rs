//! The arithmetic of normal noise over eight lanes: each step is that of `normal`, and so is each bit.

use std::arch::x86_64::*;

use super::arithmetic::{broadcast, load as load_words, store as store_words};
use super::float::{Vector, WIDTH, add, load, mul, splat, store, sub};
use crate::kernels::random::normal::{self, FRACTION, HALF_ROOT, STEP, TERMS};

/// Pairs of one vector.
const PAIRS: usize = WIDTH / 2;

/// 2^63: samples from there on are the largest number.
const END: f64 = (1u64 << 63) as f64;

/// See `normal::normal`.
#[target_feature(enable = "avx512f,avx512dq")]
pub(super) fn normal(out: &mut [u64], pairs: &[[f64; 2]], scale: f64) {
    for (out, pairs) in out.chunks_mut(2 * WIDTH).zip(pairs.chunks(WIDTH)) {
        if let (Ok(out), Ok(pairs)) = (<&mut [u64; 2 * WIDTH]>::try_from(&mut *out), pairs.try_into()) {
            samples(out, pairs, scale);
        } else {
            let (mut all, mut filled) = ([0; 2 * WIDTH], [[0.5; 2]; WIDTH]);
            filled[..pairs.len()].copy_from_slice(pairs);
            samples(&mut all, &filled, scale);
            out.copy_from_slice(&all[..out.len()]);
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn samples(out: &mut [u64; 2 * WIDTH], pairs: &[[f64; 2]; WIDTH], scale: f64) {
    let [a, b] = pairs.as_flattened().as_chunks().0 else { unreachable!("two vectors") };
    let (a, b) = (load(a), load(b));
    let even = _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0);
    let odd = _mm512_set_epi64(15, 13, 11, 9, 7, 5, 3, 1);
    let (u, v) = (_mm512_permutex2var_pd(a, even, b), _mm512_permutex2var_pd(a, odd, b));
    let s = add(mul(u, u), mul(v, v));
    let ratio = _mm512_div_pd(mul(splat(-2.0), logarithm(s)), s);
    let factor = mul(_mm512_sqrt_pd(ratio), splat(scale));
    let (x, y) = (rounded(mul(u, factor)), rounded(mul(v, factor)));
    let lower = _mm512_set_epi64(11, 3, 10, 2, 9, 1, 8, 0);
    let upper = _mm512_set_epi64(15, 7, 14, 6, 13, 5, 12, 4);
    let [a, b] = out.as_chunks_mut().0 else { unreachable!("two vectors") };
    store_words(a, _mm512_permutex2var_epi64(x, lower, y));
    store_words(b, _mm512_permutex2var_epi64(x, upper, y));
}

/// The nearest whole number, halves to even; what is too large is the largest or smallest one.
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn rounded(x: Vector) -> __m512i {
    // Out of range, the conversion gives the smallest number.
    let large = _mm512_cmp_pd_mask::<_CMP_GE_OQ>(x, splat(END));
    _mm512_mask_mov_epi64(_mm512_cvtpd_epi64(x), large, broadcast(i64::MAX.cast_unsigned()))
}

/// See `normal::logarithm`.
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn logarithm(s: Vector) -> Vector {
    let half_root = broadcast(HALF_ROOT);
    let shifted = _mm512_sub_epi64(_mm512_castpd_si512(s), half_root);
    let exponent = _mm512_cvtepi64_pd(_mm512_srai_epi64::<FRACTION>(shifted));
    let fraction = _mm512_and_si512(shifted, broadcast((1 << FRACTION) - 1));
    let mantissa = _mm512_castsi512_pd(_mm512_add_epi64(fraction, half_root));
    let f = _mm512_div_pd(sub(mantissa, splat(1.0)), add(mantissa, splat(1.0)));
    let square = mul(f, f);
    let mut series = splat(0.0);
    for term in TERMS {
        series = add(mul(series, square), splat(term));
    }
    add(mul(exponent, splat(std::f64::consts::LN_2)), mul(f, series))
}

/// See `normal::inside_circle`.
#[target_feature(enable = "avx512f,avx512dq")]
pub(super) fn inside_circle(pairs: &mut [[f64; 2]], words: &[u64]) -> usize {
    let (whole, rest) = words.as_chunks::<WIDTH>();
    let mut kept = 0;
    for words in whole {
        let signed = _mm512_or_si512(load_words(words), broadcast(1));
        let x = mul(_mm512_cvtepi64_pd(signed), splat(STEP));
        let squares = mul(x, x);
        // Both numbers of a pair have the sum of their squares.
        let sum = add(squares, _mm512_permute_pd::<0x55>(squares));
        let inside = _mm512_cmp_pd_mask::<_CMP_LT_OQ>(sum, splat(1.0));
        let room: &mut [[f64; 2]; PAIRS] = (&mut pairs[kept..kept + PAIRS]).try_into().expect("PAIRS pairs");
        let [room] = room.as_flattened_mut().as_chunks_mut().0 else { unreachable!("one vector") };
        store(room, _mm512_maskz_compress_pd(inside, x));
        kept += inside.count_ones() as usize / 2;
    }
    kept + normal::inside_circle(&mut pairs[kept..], rest)
}
