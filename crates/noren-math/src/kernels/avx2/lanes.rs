//! Vectors of four numbers in `f64` or of four words, and the steps on them that AVX2 and FMA have.
//!
//! `fma` says what each function means.

use std::arch::x86_64::*;
use std::cell::Cell;

use crate::machine::aligned::LINE;

/// Four numbers.
pub(super) type Vector = __m256d;

/// Four words.
pub(super) type Integers = __m256i;

/// How many numbers or words a vector holds.
pub(super) const WIDTH: usize = 4;

/// How many sets of eight vectors a transform works on together, where each fills half of the registers.
pub(super) const SETS: usize = 2;

/// The words of one vector in memory.
pub(super) type Words = [u64; WIDTH];

/// The numbers of one vector in memory.
pub(super) type Numbers = [f64; WIDTH];

/// Defines functions of one step.
macro_rules! steps {
    ($(fn $name:ident$(<const $bits:ident: i32>)?($($x:ident: $in:ty),+) -> $out:ty $step:block)+) => {$(
        #[inline]
        #[target_feature(enable = "avx2,fma")]
        pub(super) fn $name$(<const $bits: i32>)?($($x: $in),+) -> $out $step
    )+};
}

steps! {
    fn to_bits(numbers: Vector) -> Integers { _mm256_castpd_si256(numbers) }
    fn from_bits(words: Integers) -> Vector { _mm256_castsi256_pd(words) }
    fn broadcast(word: u64) -> Integers { _mm256_set1_epi64x(word.cast_signed()) }
    fn add_words(a: Integers, b: Integers) -> Integers { _mm256_add_epi64(a, b) }
    fn sub_words(a: Integers, b: Integers) -> Integers { _mm256_sub_epi64(a, b) }
    fn and(a: Integers, b: Integers) -> Integers { _mm256_and_si256(a, b) }
    fn and_not(a: Integers, b: Integers) -> Integers { _mm256_andnot_si256(a, b) }
    fn or(a: Integers, b: Integers) -> Integers { _mm256_or_si256(a, b) }
    fn xor(a: Integers, b: Integers) -> Integers { _mm256_xor_si256(a, b) }
    fn above(a: Integers, b: Integers) -> Integers { _mm256_cmpgt_epi64(a, b) }
    fn equal(a: Integers, b: Integers) -> Integers { _mm256_cmpeq_epi64(a, b) }
    fn shift_left<const BITS: i32>(a: Integers) -> Integers { _mm256_slli_epi64::<BITS>(a) }
    fn shift_right<const BITS: i32>(a: Integers) -> Integers { _mm256_srli_epi64::<BITS>(a) }
    fn shift_right_each(a: Integers, bits: Integers) -> Integers { _mm256_srlv_epi64(a, bits) }
    fn splat(number: f64) -> Vector { _mm256_set1_pd(number) }
    fn add(a: Vector, b: Vector) -> Vector { _mm256_add_pd(a, b) }
    fn sub(a: Vector, b: Vector) -> Vector { _mm256_sub_pd(a, b) }
    fn mul(a: Vector, b: Vector) -> Vector { _mm256_mul_pd(a, b) }
    fn mul_add(a: Vector, b: Vector, c: Vector) -> Vector { _mm256_fmadd_pd(a, b, c) }
    fn mul_sub(a: Vector, b: Vector, c: Vector) -> Vector { _mm256_fmsub_pd(a, b, c) }
    fn neg_mul_add(a: Vector, b: Vector, c: Vector) -> Vector { _mm256_fnmadd_pd(a, b, c) }
    fn neg_mul_sub(a: Vector, b: Vector, c: Vector) -> Vector { _mm256_fnmsub_pd(a, b, c) }
    fn floor(a: Vector) -> Vector { _mm256_floor_pd(a) }
    fn nearest(a: Vector) -> Vector { _mm256_round_pd::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(a) }
    fn where_negative(x: Vector, a: Vector, b: Vector) -> Vector { _mm256_blendv_pd(b, a, x) }
    fn signed_16(packed: u64) -> Integers { _mm256_cvtepi16_epi64(_mm_set_epi64x(0, packed.cast_signed())) }
    fn unsigned_32(words: &[u32; WIDTH]) -> Integers { _mm256_cvtepu32_epi64(load_32(words)) }
    fn signed_32(words: &[u32; WIDTH], scale: Vector) -> Vector { mul(_mm256_cvtepi32_pd(load_32(words)), scale) }
}

#[inline]
#[target_feature(enable = "avx2,fma")]
pub(super) fn load(words: &Words) -> Integers {
    // SAFETY: the reference is valid for the 32 bytes that are read; the load needs no alignment.
    unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2,fma")]
pub(super) fn store(words: &mut Words, vector: Integers) {
    // SAFETY: the reference is valid for the 32 bytes that are written; the store needs no alignment.
    unsafe { _mm256_storeu_si256(words.as_mut_ptr().cast(), vector) }
}

/// # Safety
/// The words start at a multiple of 32 bytes.
#[inline]
#[target_feature(enable = "avx2,fma")]
pub(super) unsafe fn stream(words: &mut Words, vector: Integers) {
    // SAFETY: the reference is valid for the 32 bytes that are written, and the caller aligned it.
    unsafe { _mm256_stream_si256(words.as_mut_ptr().cast(), vector) }
}

#[inline]
#[target_feature(enable = "avx2,fma")]
pub(super) fn fence() {
    _mm_sfence();
}

#[inline]
#[target_feature(enable = "avx2,fma")]
pub(super) fn prefetch(words: &Words) {
    _mm_prefetch::<_MM_HINT_T0>(words.as_ptr().cast());
}

#[inline]
#[target_feature(enable = "avx2,fma")]
pub(super) fn prefetch_far(row: &[f64]) {
    for line in row.as_chunks::<{ LINE / size_of::<f64>() }>().0 {
        _mm_prefetch::<_MM_HINT_T1>(line.as_ptr().cast());
    }
}

#[inline]
#[target_feature(enable = "avx2,fma")]
pub(super) fn load_numbers(numbers: &Numbers) -> Vector {
    // SAFETY: the reference is valid for the 32 bytes that are read; the load needs no alignment.
    unsafe { _mm256_loadu_pd(numbers.as_ptr()) }
}

#[inline]
#[target_feature(enable = "avx2,fma")]
pub(super) fn store_numbers(numbers: &mut Numbers, vector: Vector) {
    // SAFETY: the reference is valid for the 32 bytes that are written; the store needs no alignment.
    unsafe { _mm256_storeu_pd(numbers.as_mut_ptr(), vector) }
}

#[inline]
#[target_feature(enable = "avx2,fma")]
pub(super) fn get(cell: &Cell<Numbers>) -> Vector {
    // SAFETY: a cell is not shared between threads, and no reference to what it holds can exist; it is valid for the 32 bytes
    // that are read; the load needs no alignment.
    unsafe { _mm256_loadu_pd(cell.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2,fma")]
pub(super) fn set(cell: &Cell<Numbers>, vector: Vector) {
    // SAFETY: as in `get`, for the bytes that are written.
    unsafe { _mm256_storeu_pd(cell.as_ptr().cast(), vector) }
}

#[inline]
#[target_feature(enable = "avx2,fma")]
pub(super) fn transpose(x: [Vector; 4]) -> [Vector; 4] {
    let (a, b) = (_mm256_unpacklo_pd(x[0], x[1]), _mm256_unpackhi_pd(x[0], x[1]));
    let (c, d) = (_mm256_unpacklo_pd(x[2], x[3]), _mm256_unpackhi_pd(x[2], x[3]));
    [
        _mm256_permute2f128_pd::<0x20>(a, c),
        _mm256_permute2f128_pd::<0x20>(b, d),
        _mm256_permute2f128_pd::<0x31>(a, c),
        _mm256_permute2f128_pd::<0x31>(b, d),
    ]
}

#[inline]
#[target_feature(enable = "avx2,fma")]
pub(super) fn arrange(group: Integers, order: Integers) -> Integers {
    /// The lowest bit of each upper half.
    const UPPER: u64 = 1 << 32;
    // A shuffle of halves of words reads the low three bits of each index: word s has halves 2s and 2s + 1.
    let lower = shift_left::<1>(and(order, broadcast(WIDTH as u64 - 1)));
    let halves = or(or(lower, shift_left::<32>(lower)), broadcast(UPPER));
    _mm256_permutevar8x32_epi32(group, halves)
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn load_32(words: &[u32; WIDTH]) -> __m128i {
    // SAFETY: the reference is valid for the 16 bytes that are read; the load needs no alignment.
    unsafe { _mm_loadu_si128(words.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2,fma")]
pub(super) fn signed_64(words: &Words, scale: Vector) -> Vector {
    /// `2^52`.
    const LOWER: f64 = (1u64 << 52) as f64;
    /// `2^84 + 2^63`: the upper halves of signed words, with their sign bits turned around, lie in its low bits in steps of
    /// `2^32`.
    const UPPER: f64 = (1u128 << 84) as f64 + (1u64 << 63) as f64;
    let words = load(words);
    // The lower halves in the low bits of 2^52, the upper ones in those of UPPER: both numbers are exact, and so is the scaled
    // difference below, so that the sum is rounded once.
    let lower = _mm256_blend_epi32::<0b1010_1010>(words, to_bits(splat(LOWER)));
    let upper = xor(shift_right::<32>(words), to_bits(splat(UPPER)));
    let upper = mul_sub(from_bits(upper), scale, mul(splat(UPPER + LOWER), scale));
    mul_add(from_bits(lower), scale, upper)
}

#[inline]
#[target_feature(enable = "avx2,fma")]
pub(super) fn add_lower_32(words: &Cell<[u32; WIDTH]>, x: Integers) {
    let lower = _mm256_permutevar8x32_epi32(x, _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6));
    let sum = _mm_add_epi32(load_32(&words.get()), _mm256_castsi256_si128(lower));
    // SAFETY: a cell is not shared between threads, and no reference to what it holds can exist; it is valid for the 16 bytes
    // that are written; the store needs no alignment.
    unsafe { _mm_storeu_si128(words.as_ptr().cast(), sum) }
}

#[inline]
#[target_feature(enable = "avx2,fma")]
pub(super) fn add_64(words: &Cell<Words>, x: Integers) {
    let sum = add_words(load(&words.get()), x);
    // SAFETY: as in `add_lower_32`, for 32 bytes.
    unsafe { _mm256_storeu_si256(words.as_ptr().cast(), sum) }
}
