//! Blocks of ChaCha20, four to a group: a vector holds the same row of four blocks, so that diagonals become columns by turning
//! rows within their quarters.

use std::arch::x86_64::*;

use super::arithmetic::{Vector, WIDTH, store};
use crate::kernels::random::chacha::{BLOCK_WORDS, CONSTANTS, DOUBLE_ROUNDS};

/// Blocks of a group.
const BLOCKS: usize = 4;
/// Words of a group.
const GROUP: usize = BLOCKS * BLOCK_WORDS;
/// Groups whose rounds take turns, as those of one wait for each other: as many as there are registers for.
const GROUPS: usize = 8;

/// The rows of a group.
type Rows = [Vector; 4];

/// See `chacha::chacha20`.
#[target_feature(enable = "avx512f")]
pub(super) fn chacha20(out: &mut [u64], key: &[u32; 8], counter: u64) {
    let (several, rest) = out.as_chunks_mut::<{ GROUPS * GROUP }>();
    let mut number = counter;
    for out in several {
        groups::<GROUPS>(out, key, number);
        number = number.wrapping_add((GROUPS * BLOCKS) as u64);
    }
    // Several groups take little longer than one: what is left over is made in one go.
    match rest.len().div_ceil(GROUP) {
        0 => {}
        1 => part::<1>(rest, key, number),
        2 => part::<2>(rest, key, number),
        3 | 4 => part::<4>(rest, key, number),
        _ => part::<GROUPS>(rest, key, number),
    }
}

/// The first blocks of `G` groups.
#[inline]
#[target_feature(enable = "avx512f")]
fn part<const G: usize>(out: &mut [u64], key: &[u32; 8], number: u64) {
    let mut whole = [[0; GROUP]; G];
    groups::<G>(whole.as_flattened_mut(), key, number);
    out.copy_from_slice(&whole.as_flattened()[..out.len()]);
}

/// The groups from block `number` on.
#[inline]
#[target_feature(enable = "avx512f")]
fn groups<const G: usize>(out: &mut [u64], key: &[u32; 8], number: u64) {
    let row = |x: &[u32]| {
        let [a, b, c, d] = [0, 1, 2, 3].map(|i: usize| x[i].cast_signed());
        _mm512_broadcast_i32x4(_mm_setr_epi32(a, b, c, d))
    };
    let fixed = [row(&CONSTANTS), row(&key[..4]), row(&key[4..])];
    let mut start = [[fixed[0]; 4]; G];
    for (group, rows) in start.iter_mut().enumerate() {
        let at = |block: usize| number.wrapping_add((BLOCKS * group + block) as u64).cast_signed();
        let counters = _mm512_setr_epi64(at(0), 0, at(1), 0, at(2), 0, at(3), 0);
        *rows = [fixed[0], fixed[1], fixed[2], counters];
    }
    let mut x = start;
    for _ in 0..DOUBLE_ROUNDS {
        round(&mut x);
        for rows in &mut x {
            *rows = turned::<0x39, 0x4e, 0x93>(*rows);
        }
        round(&mut x);
        for rows in &mut x {
            *rows = turned::<0x93, 0x4e, 0x39>(*rows);
        }
    }
    for ((x, start), out) in x.iter().zip(&start).zip(out.chunks_exact_mut(GROUP)) {
        let [a, b, c, d] = [0, 1, 2, 3].map(|i: usize| _mm512_add_epi32(x[i], start[i]));
        // Quarters 0 and 2 of two rows, then 1 and 3.
        let even = [_mm512_shuffle_i32x4::<0x88>(a, b), _mm512_shuffle_i32x4::<0x88>(c, d)];
        let odd = [_mm512_shuffle_i32x4::<0xdd>(a, b), _mm512_shuffle_i32x4::<0xdd>(c, d)];
        let blocks = [
            _mm512_shuffle_i32x4::<0x88>(even[0], even[1]),
            _mm512_shuffle_i32x4::<0x88>(odd[0], odd[1]),
            _mm512_shuffle_i32x4::<0xdd>(even[0], even[1]),
            _mm512_shuffle_i32x4::<0xdd>(odd[0], odd[1]),
        ];
        for (out, block) in out.as_chunks_mut::<WIDTH>().0.iter_mut().zip(blocks) {
            store(out, block);
        }
    }
}

/// A round over columns, each step for all groups in turn.
#[inline]
#[target_feature(enable = "avx512f")]
fn round<const G: usize>(x: &mut [Rows; G]) {
    step::<0, 1, 3, 16, G>(x);
    step::<2, 3, 1, 12, G>(x);
    step::<0, 1, 3, 8, G>(x);
    step::<2, 3, 1, 7, G>(x);
}

/// `to += from`, and `turned = (turned ^ to) <<< BY`.
#[inline]
#[target_feature(enable = "avx512f")]
fn step<const TO: usize, const FROM: usize, const TURNED: usize, const BY: i32, const G: usize>(x: &mut [Rows; G]) {
    for rows in x.iter_mut() {
        rows[TO] = _mm512_add_epi32(rows[TO], rows[FROM]);
    }
    for rows in x.iter_mut() {
        rows[TURNED] = _mm512_rol_epi32::<BY>(_mm512_xor_si512(rows[TURNED], rows[TO]));
    }
}

/// The last three rows, each turned within its quarters.
#[inline]
#[target_feature(enable = "avx512f")]
fn turned<const B: i32, const C: i32, const D: i32>([a, b, c, d]: Rows) -> Rows {
    [a, _mm512_shuffle_epi32::<B>(b), _mm512_shuffle_epi32::<C>(c), _mm512_shuffle_epi32::<D>(d)]
}
