//! Torus words and their spectra over eight lanes.

use std::arch::x86_64::*;

use super::arithmetic::load as load_64;
use super::float::{Vector, WIDTH, add, load, mul, splat, sub, transpose};
use crate::kernels::torus::blocks::torus_blocks;
use crate::kernels::torus::layers::torus_layers;
use crate::kernels::torus::vector::vector_torus;
use crate::machine::aligned::LINE;

vector_torus!("avx512f,avx512dq");
torus_layers!("avx512f,avx512dq");
torus_blocks!("avx512f,avx512dq");

/// `2^52`: the bits of `2^52 + x` are those of `2^52` with `x` below them, for `0 <= x < 2^52`.
const TWO_52: f64 = (1u64 << 52) as f64;

#[inline]
#[target_feature(enable = "avx512f")]
fn get(cell: &Cell<Numbers>) -> Vector {
    // SAFETY: a cell is not shared between threads, and no reference to what it holds can exist; it is valid for the 64 bytes
    // that are read; the load needs no alignment.
    unsafe { _mm512_loadu_pd(cell.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn set(cell: &Cell<Numbers>, vector: Vector) {
    // SAFETY: as in `get`, for the bytes that are written.
    unsafe { _mm512_storeu_pd(cell.as_ptr().cast(), vector) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load_32(words: &[u32; WIDTH]) -> __m256i {
    // SAFETY: the reference is valid for the 32 bytes that are read; the load needs no alignment.
    unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
}

/// Brings the lines of a row into a cache that is large enough for what is not needed at once.
#[inline]
#[target_feature(enable = "avx512f")]
fn prefetch_far(row: &[f64]) {
    for line in row.as_chunks::<{ LINE / size_of::<f64>() }>().0 {
        _mm_prefetch::<_MM_HINT_T1>(line.as_ptr().cast());
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn mul_add(a: Vector, b: Vector, c: Vector) -> Vector {
    _mm512_fmadd_pd(a, b, c)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn mul_sub(a: Vector, b: Vector, c: Vector) -> Vector {
    _mm512_fmsub_pd(a, b, c)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn neg_mul_add(a: Vector, b: Vector, c: Vector) -> Vector {
    _mm512_fnmadd_pd(a, b, c)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn neg_mul_sub(a: Vector, b: Vector, c: Vector) -> Vector {
    _mm512_fnmsub_pd(a, b, c)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn signed_32(words: &[u32; WIDTH], scale: Vector) -> Vector {
    mul(_mm512_cvtepi32_pd(load_32(words)), scale)
}

#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn signed_64(words: &[u64; WIDTH], scale: Vector) -> Vector {
    mul(_mm512_cvtepi64_pd(load_64(words)), scale)
}

/// The constants of [`Digit::of`], in all lanes.
struct Place {
    shift: __m128i,
    mask: __m512i,
    /// `2^52`, below whose bits the digit is put.
    above: __m512i,
    /// `2^52 + B/2`.
    offset: Vector,
}

#[inline]
#[target_feature(enable = "avx512f")]
fn place(digit: Digit) -> Place {
    Place {
        shift: _mm_cvtsi32_si128(digit.shift.cast_signed()),
        mask: _mm512_set1_epi64((1 << digit.bits) - 1),
        above: _mm512_castpd_si512(splat(TWO_52)),
        offset: splat(TWO_52 + (1u64 << (digit.bits - 1)) as f64),
    }
}

/// See [`Digit::of`].
#[inline]
#[target_feature(enable = "avx512f")]
fn digit_32(words: &[u32; WIDTH], digit: &Place) -> Vector {
    digit_of(_mm512_cvtepu32_epi64(load_32(words)), digit)
}

/// See [`Digit::of`].
#[inline]
#[target_feature(enable = "avx512f")]
fn digit_64(words: &[u64; WIDTH], digit: &Place) -> Vector {
    digit_of(load_64(words), digit)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn digit_of(words: __m512i, digit: &Place) -> Vector {
    let moved = _mm512_srl_epi64(words, digit.shift);
    // (moved & mask) | above
    let number = _mm512_castsi512_pd(_mm512_ternarylogic_epi64::<0xea>(moved, digit.mask, digit.above));
    sub(number, digit.offset)
}

/// Adds [`Torus::nearest`](crate::torus::word::Torus::nearest).
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn add_nearest_32(words: &Cell<[u32; WIDTH]>, x: Vector) {
    // 2^31 becomes the indefinite integer, which is what it is modulo 2^32.
    let sum = _mm256_add_epi32(load_32(&words.get()), _mm512_cvtpd_epi32(centred::<32>(x)));
    // SAFETY: a cell is not shared between threads, and no reference to what it holds can exist; it is valid for the 32 bytes
    // that are written; the store needs no alignment.
    unsafe { _mm256_storeu_si256(words.as_ptr().cast(), sum) }
}

/// Adds [`Torus::nearest`](crate::torus::word::Torus::nearest).
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn add_nearest_64(words: &Cell<[u64; WIDTH]>, x: Vector) {
    // 2^63 becomes the indefinite integer, which is what it is modulo 2^64.
    let sum = _mm512_add_epi64(load_64(&words.get()), _mm512_cvtpd_epi64(centred::<64>(x)));
    // SAFETY: as in `add_nearest_32`, for 64 bytes.
    unsafe { _mm512_storeu_si512(words.as_ptr().cast(), sum) }
}

/// `x` modulo `2^BITS`, in `[-2^(BITS - 1), 2^(BITS - 1)]`. Range: `|x| <= 2^(BITS + 51)`.
#[inline]
#[target_feature(enable = "avx512f")]
fn centred<const BITS: u32>(x: Vector) -> Vector {
    // The last bit of a sum with this counts 2^BITS: it is x rounded to a multiple of that.
    let magic = splat(1.5 * TWO_52 * (1u128 << BITS) as f64);
    sub(x, sub(add(x, magic), magic))
}
