//! Vectors of four numbers in `f64` or of four words, each in two registers of NEON.
//!
//! `fma` says what each function means.

use std::arch::aarch64::*;
use std::cell::Cell;

/// Four numbers.
#[derive(Clone, Copy)]
pub(super) struct Vector([float64x2_t; 2]);

/// Four words.
#[derive(Clone, Copy)]
pub(super) struct Integers([uint64x2_t; 2]);

/// How many numbers or words a vector holds.
pub(super) const WIDTH: usize = 4;

/// How many sets of eight vectors a transform works on together, where each fills half of the registers.
pub(super) const SETS: usize = 1;

/// The words of one vector in memory.
pub(super) type Words = [u64; WIDTH];

/// The numbers of one vector in memory.
pub(super) type Numbers = [f64; WIDTH];

/// Defines functions that do one step with each register.
macro_rules! each_register {
    ($(fn $name:ident$(<const $bits:ident: i32>)?($($x:ident: $in:ident),+) -> $out:ident $step:block)+) => {$(
        #[inline]
        #[target_feature(enable = "neon")]
        pub(super) fn $name$(<const $bits: i32>)?($($x: $in),+) -> $out {
            let step = |i: usize| {
                $(let $x = $x.0[i];)+
                $step
            };
            $out([step(0), step(1)])
        }
    )+};
}

each_register! {
    fn to_bits(a: Vector) -> Integers { vreinterpretq_u64_f64(a) }
    fn from_bits(a: Integers) -> Vector { vreinterpretq_f64_u64(a) }
    fn add_words(a: Integers, b: Integers) -> Integers { vaddq_u64(a, b) }
    fn sub_words(a: Integers, b: Integers) -> Integers { vsubq_u64(a, b) }
    fn and(a: Integers, b: Integers) -> Integers { vandq_u64(a, b) }
    fn and_not(a: Integers, b: Integers) -> Integers { vbicq_u64(b, a) }
    fn or(a: Integers, b: Integers) -> Integers { vorrq_u64(a, b) }
    fn xor(a: Integers, b: Integers) -> Integers { veorq_u64(a, b) }
    fn above(a: Integers, b: Integers) -> Integers { vcgtq_s64(vreinterpretq_s64_u64(a), vreinterpretq_s64_u64(b)) }
    fn equal(a: Integers, b: Integers) -> Integers { vceqq_u64(a, b) }
    fn shift_left<const BITS: i32>(a: Integers) -> Integers { vshlq_n_u64::<BITS>(a) }
    fn shift_right<const BITS: i32>(a: Integers) -> Integers { vshrq_n_u64::<BITS>(a) }
    fn shift_right_each(a: Integers, bits: Integers) -> Integers { vshlq_u64(a, vnegq_s64(vreinterpretq_s64_u64(bits))) }
    fn add(a: Vector, b: Vector) -> Vector { vaddq_f64(a, b) }
    fn sub(a: Vector, b: Vector) -> Vector { vsubq_f64(a, b) }
    fn mul(a: Vector, b: Vector) -> Vector { vmulq_f64(a, b) }
    fn mul_add(a: Vector, b: Vector, c: Vector) -> Vector { vfmaq_f64(c, a, b) }
    fn mul_sub(a: Vector, b: Vector, c: Vector) -> Vector { vfmaq_f64(vnegq_f64(c), a, b) }
    fn neg_mul_add(a: Vector, b: Vector, c: Vector) -> Vector { vfmsq_f64(c, a, b) }
    fn neg_mul_sub(a: Vector, b: Vector, c: Vector) -> Vector { vfmsq_f64(vnegq_f64(c), a, b) }
    fn floor(a: Vector) -> Vector { vrndmq_f64(a) }
    fn nearest(a: Vector) -> Vector { vrndnq_f64(a) }
    fn where_negative(x: Vector, a: Vector, b: Vector) -> Vector {
        vbslq_f64(vcltzq_s64(vreinterpretq_s64_f64(x)), a, b)
    }
}

#[inline]
#[target_feature(enable = "neon")]
pub(super) fn broadcast(word: u64) -> Integers {
    Integers([vdupq_n_u64(word); 2])
}

#[inline]
#[target_feature(enable = "neon")]
pub(super) fn splat(number: f64) -> Vector {
    Vector([vdupq_n_f64(number); 2])
}

#[inline]
#[target_feature(enable = "neon")]
pub(super) fn load(words: &Words) -> Integers {
    // SAFETY: the reference is valid for the 32 bytes that are read; the load needs no alignment.
    let uint64x2x2_t(low, high) = unsafe { vld1q_u64_x2(words.as_ptr()) };
    Integers([low, high])
}

#[inline]
#[target_feature(enable = "neon")]
pub(super) fn store(words: &mut Words, Integers([low, high]): Integers) {
    let to = words.as_mut_ptr();
    // SAFETY: the reference is valid for the 32 bytes that are written; the stores need no alignment. Two of them become one
    // instruction, which takes an offset.
    unsafe {
        vst1q_u64(to, low);
        vst1q_u64(to.add(2), high);
    }
}

/// [`store`]: there is no intrinsic function of a store past the caches.
///
/// # Safety
/// None is needed.
#[inline]
#[target_feature(enable = "neon")]
pub(super) unsafe fn stream(words: &mut Words, vector: Integers) {
    store(words, vector);
}

#[inline]
pub(super) fn fence() {}

#[inline]
pub(super) fn prefetch(_: &Words) {}

#[inline]
pub(super) fn prefetch_far(_: &[f64]) {}

#[inline]
#[target_feature(enable = "neon")]
pub(super) fn load_numbers(numbers: &Numbers) -> Vector {
    // SAFETY: the reference is valid for the 32 bytes that are read; the load needs no alignment.
    let float64x2x2_t(low, high) = unsafe { vld1q_f64_x2(numbers.as_ptr()) };
    Vector([low, high])
}

#[inline]
#[target_feature(enable = "neon")]
pub(super) fn store_numbers(numbers: &mut Numbers, Vector([low, high]): Vector) {
    let to = numbers.as_mut_ptr();
    // SAFETY: as in `store`.
    unsafe {
        vst1q_f64(to, low);
        vst1q_f64(to.add(2), high);
    }
}

#[inline]
#[target_feature(enable = "neon")]
pub(super) fn get(cell: &Cell<Numbers>) -> Vector {
    load_numbers(&cell.get())
}

#[inline]
#[target_feature(enable = "neon")]
pub(super) fn set(cell: &Cell<Numbers>, Vector([low, high]): Vector) {
    let to = cell.as_ptr().cast();
    // SAFETY: a cell is not shared between threads, and no reference to what it holds can exist; it is valid for the 32 bytes
    // that are written; the stores need no alignment.
    unsafe {
        vst1q_f64(to, low);
        vst1q_f64(to.add(2), high);
    }
}

#[inline]
#[target_feature(enable = "neon")]
pub(super) fn transpose(x: [Vector; 4]) -> [Vector; 4] {
    let [a, b, c, d] = x.map(|x| x.0);
    [
        Vector([vzip1q_f64(a[0], b[0]), vzip1q_f64(c[0], d[0])]),
        Vector([vzip2q_f64(a[0], b[0]), vzip2q_f64(c[0], d[0])]),
        Vector([vzip1q_f64(a[1], b[1]), vzip1q_f64(c[1], d[1])]),
        Vector([vzip2q_f64(a[1], b[1]), vzip2q_f64(c[1], d[1])]),
    ]
}

#[inline]
#[target_feature(enable = "neon")]
pub(super) fn arrange(Integers([low, high]): Integers, order: Integers) -> Integers {
    // A table of the 32 bytes, whose indices for word s are 8s to 8s + 7.
    let bytes = uint8x16x2_t(vreinterpretq_u8_u64(low), vreinterpretq_u8_u64(high));
    let lowest = vreinterpretq_u8_u64(vcombine_u64(vcreate_u64(0), vcreate_u64(0x0808_0808_0808_0808)));
    let within = vreinterpretq_u8_u64(vdupq_n_u64(0x0706_0504_0302_0100));
    let words = and(order, broadcast(WIDTH as u64 - 1)).0.map(|order| {
        let first = vshlq_n_u8::<3>(vqtbl1q_u8(vreinterpretq_u8_u64(order), lowest));
        vreinterpretq_u64_u8(vqtbl2q_u8(bytes, vaddq_u8(first, within)))
    });
    Integers(words)
}

#[inline]
#[target_feature(enable = "neon")]
pub(super) fn signed_16(packed: u64) -> Integers {
    let halves = vmovl_s16(vcreate_s16(packed));
    let [low, high] = [vmovl_s32(vget_low_s32(halves)), vmovl_s32(vget_high_s32(halves))];
    Integers([vreinterpretq_u64_s64(low), vreinterpretq_u64_s64(high)])
}

#[inline]
#[target_feature(enable = "neon")]
fn load_32(words: &[u32; WIDTH]) -> uint32x4_t {
    // SAFETY: the reference is valid for the 16 bytes that are read; the load needs no alignment.
    unsafe { vld1q_u32(words.as_ptr()) }
}

#[inline]
#[target_feature(enable = "neon")]
pub(super) fn unsigned_32(words: &[u32; WIDTH]) -> Integers {
    let words = load_32(words);
    Integers([vmovl_u32(vget_low_u32(words)), vmovl_u32(vget_high_u32(words))])
}

#[inline]
#[target_feature(enable = "neon")]
pub(super) fn signed_32(words: &[u32; WIDTH], scale: Vector) -> Vector {
    let words = vreinterpretq_s32_u32(load_32(words));
    let halves = [vmovl_s32(vget_low_s32(words)), vmovl_s32(vget_high_s32(words))];
    mul(Vector(halves.map(|words| vcvtq_f64_s64(words))), scale)
}

#[inline]
#[target_feature(enable = "neon")]
pub(super) fn signed_64(words: &Words, scale: Vector) -> Vector {
    mul(Vector(load(words).0.map(|words| vcvtq_f64_s64(vreinterpretq_s64_u64(words)))), scale)
}

#[inline]
#[target_feature(enable = "neon")]
pub(super) fn add_lower_32(words: &Cell<[u32; WIDTH]>, Integers([low, high]): Integers) {
    let sum = vaddq_u32(load_32(&words.get()), vcombine_u32(vmovn_u64(low), vmovn_u64(high)));
    // SAFETY: as in `set`, for 16 bytes.
    unsafe { vst1q_u32(words.as_ptr().cast(), sum) }
}

#[inline]
#[target_feature(enable = "neon")]
pub(super) fn add_64(words: &Cell<Words>, x: Integers) {
    let Integers([low, high]) = add_words(load(&words.get()), x);
    let to = words.as_ptr().cast();
    // SAFETY: as in `set`.
    unsafe {
        vst1q_u64(to, low);
        vst1q_u64(to.add(2), high);
    }
}
