//! Torus words and their spectra over four lanes.

use std::arch::x86_64::*;

use super::arithmetic::{MAGIC, TWO_52, load as load_64, transpose as transpose_quarter};
use super::float::{Vector, WIDTH, add, load, mul, splat, sub};
use crate::kernels::aligned::LINE;
use crate::kernels::vector_torus::vector_torus;
use crate::kernels::vector_torus_blocks::torus_blocks;
use crate::kernels::vector_torus_layers::torus_layers;

vector_torus!("avx2,fma");
torus_layers!("avx2,fma");
torus_blocks!("avx2,fma");

/// `2^32`.
const TWO_32: f64 = (1u64 << 32) as f64;

/// `2^84 + 2^63`: the upper halves of signed words, with their sign bits turned around, lie in its low bits in steps of `2^32`.
const UPPER: f64 = (1u128 << 84) as f64 + (1u64 << 63) as f64;

#[inline]
#[target_feature(enable = "avx2")]
fn get(cell: &Cell<Numbers>) -> Vector {
    // SAFETY: a cell is not shared between threads, and no reference to what it holds can exist; it is valid for the 32 bytes
    // that are read; the load needs no alignment.
    unsafe { _mm256_loadu_pd(cell.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn set(cell: &Cell<Numbers>, vector: Vector) {
    // SAFETY: as in `get`, for the bytes that are written.
    unsafe { _mm256_storeu_pd(cell.as_ptr().cast(), vector) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn load_32(words: &[u32; WIDTH]) -> __m128i {
    // SAFETY: the reference is valid for the 16 bytes that are read; the load needs no alignment.
    unsafe { _mm_loadu_si128(words.as_ptr().cast()) }
}

/// Brings the lines of a row into a cache that is large enough for what is not needed at once.
#[inline]
#[target_feature(enable = "avx2")]
fn prefetch_far(row: &[f64]) {
    for line in row.as_chunks::<{ LINE / size_of::<f64>() }>().0 {
        _mm_prefetch::<_MM_HINT_T1>(line.as_ptr().cast());
    }
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn mul_add(a: Vector, b: Vector, c: Vector) -> Vector {
    _mm256_fmadd_pd(a, b, c)
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn mul_sub(a: Vector, b: Vector, c: Vector) -> Vector {
    _mm256_fmsub_pd(a, b, c)
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn neg_mul_add(a: Vector, b: Vector, c: Vector) -> Vector {
    _mm256_fnmadd_pd(a, b, c)
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn neg_mul_sub(a: Vector, b: Vector, c: Vector) -> Vector {
    _mm256_fnmsub_pd(a, b, c)
}

#[inline]
#[target_feature(enable = "avx2")]
fn signed_32(words: &[u32; WIDTH]) -> Vector {
    _mm256_cvtepi32_pd(load_32(words))
}

#[inline]
#[target_feature(enable = "avx2")]
fn signed_64(words: &[u64; WIDTH]) -> Vector {
    let words = load_64(words);
    // The lower halves in the low bits of 2^52, the upper ones in those of UPPER: both numbers are exact, and so is the
    // difference below, so that the sum is rounded once.
    let lower = _mm256_blend_epi32::<0b1010_1010>(words, _mm256_castpd_si256(splat(TWO_52)));
    let upper = _mm256_xor_si256(_mm256_srli_epi64::<32>(words), _mm256_castpd_si256(splat(UPPER)));
    let upper = sub(_mm256_castsi256_pd(upper), splat(UPPER + TWO_52));
    add(upper, _mm256_castsi256_pd(lower))
}

/// The constants of [`Digit::of`], in all lanes.
struct Place {
    shift: __m128i,
    mask: __m256i,
    /// `2^52`, below whose bits the digit is put.
    above: __m256i,
    /// `2^52 + B/2`.
    offset: Vector,
}

#[inline]
#[target_feature(enable = "avx2")]
fn place(digit: Digit) -> Place {
    Place {
        shift: _mm_cvtsi32_si128(digit.shift.cast_signed()),
        mask: _mm256_set1_epi64x((1 << digit.bits) - 1),
        above: _mm256_castpd_si256(splat(TWO_52)),
        offset: splat(TWO_52 + (1u64 << (digit.bits - 1)) as f64),
    }
}

/// See [`Digit::of`].
#[inline]
#[target_feature(enable = "avx2")]
fn digit_32(words: &[u32; WIDTH], digit: &Place) -> Vector {
    digit_of(_mm256_cvtepu32_epi64(load_32(words)), digit)
}

/// See [`Digit::of`].
#[inline]
#[target_feature(enable = "avx2")]
fn digit_64(words: &[u64; WIDTH], digit: &Place) -> Vector {
    digit_of(load_64(words), digit)
}

#[inline]
#[target_feature(enable = "avx2")]
fn digit_of(words: __m256i, digit: &Place) -> Vector {
    let moved = _mm256_srl_epi64(words, digit.shift);
    let number = _mm256_or_si256(_mm256_and_si256(moved, digit.mask), digit.above);
    sub(_mm256_castsi256_pd(number), digit.offset)
}

/// Adds [`Torus::nearest`](crate::torus::word::Torus::nearest).
#[inline]
#[target_feature(enable = "avx2,fma")]
fn add_nearest_32(words: &Cell<[u32; WIDTH]>, x: Vector) {
    // The low bits of `MAGIC + n` are those of n.
    let steps = _mm256_castpd_si256(add(centred::<32>(x), splat(MAGIC)));
    let low = _mm256_permutevar8x32_epi32(steps, _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6));
    let sum = _mm_add_epi32(load_32(&words.get()), _mm256_castsi256_si128(low));
    // SAFETY: a cell is not shared between threads, and no reference to what it holds can exist; it is valid for the 16 bytes
    // that are written; the store needs no alignment.
    unsafe { _mm_storeu_si128(words.as_ptr().cast(), sum) }
}

/// Adds [`Torus::nearest`](crate::torus::word::Torus::nearest).
#[inline]
#[target_feature(enable = "avx2,fma")]
fn add_nearest_64(words: &Cell<[u64; WIDTH]>, x: Vector) {
    let x = centred::<64>(x);
    // The nearest multiple of 2^32, and what is left: exact, as it has no bits below the last one of x.
    let upper = mul_add(x, splat(1.0 / TWO_32), splat(MAGIC));
    let rest = neg_mul_add(sub(upper, splat(MAGIC)), splat(TWO_32), x);
    let lower = _mm256_castpd_si256(add(rest, splat(MAGIC)));
    let lower = _mm256_sub_epi64(lower, _mm256_castpd_si256(splat(MAGIC)));
    // The bits of MAGIC leave with the shift.
    let steps = _mm256_add_epi64(_mm256_slli_epi64::<32>(_mm256_castpd_si256(upper)), lower);
    let sum = _mm256_add_epi64(load_64(&words.get()), steps);
    // SAFETY: as in `add_nearest_32`, for 32 bytes.
    unsafe { _mm256_storeu_si256(words.as_ptr().cast(), sum) }
}

/// `x` modulo `2^BITS`, in `[-2^(BITS - 1), 2^(BITS - 1)]`. Range: `|x| <= 2^(BITS + 51)`.
#[inline]
#[target_feature(enable = "avx2")]
fn centred<const BITS: u32>(x: Vector) -> Vector {
    // The last bit of a sum with this counts 2^BITS: it is x rounded to a multiple of that.
    let magic = splat(MAGIC * (1u128 << BITS) as f64);
    sub(x, sub(add(x, magic), magic))
}

/// Exchanges rows and columns of 8 x 8 numbers, whose parts come one after the other, by quarters.
#[inline]
#[target_feature(enable = "avx2")]
fn transpose(rows: &mut [[Vector; ROWS]; 2]) {
    let mut turned = *rows;
    for top in [0, WIDTH] {
        for part in 0..PARTS {
            let quarter = [0, 1, 2, 3].map(|i| rows[part][top + i]);
            for (i, x) in transpose_quarter(quarter).into_iter().enumerate() {
                turned[top / WIDTH][WIDTH * part + i] = x;
            }
        }
    }
    *rows = turned;
}
