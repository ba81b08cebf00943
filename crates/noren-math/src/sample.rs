//! Rows of random numbers, specified byte for byte.
//!
//! Every sampler reads its [`Xof`] from where it stands and reads no byte more than its rule says, so
//! that another program in another language can reproduce each row. "Word" means 8 bytes of the
//! stream read as a little-endian number.
//!
//! What a sampler accepts or rejects is public by design: a rejected draw is thrown away whole and
//! tells nothing of the accepted ones. No branch and no index depends on an accepted value.

use zeroize::Zeroize;

use crate::modulus::Modulus;
use crate::random::Xof;

/// The standard deviation parameter of [`gaussian`].
pub const GAUSSIAN_SIGMA: f64 = 3.19;

/// The largest absolute value that [`gaussian`] gives: 10 standard deviations.
pub const GAUSSIAN_BOUND: i64 = 32;

/// Words read from the stream at a time: two blocks of the generator.
const CHUNK: usize = 64;

/// Fields of two bits in a word.
const FIELDS: usize = 32;

/// `THRESHOLDS[k-1] = round(2^127 P(|x| >= k))` for `k = 1..=32`; `tests/sampling.rs` computes them again.
const THRESHOLDS: [u128; GAUSSIAN_BOUND as usize] = [
    0x6ffe065e_4d356b97_82894b2d_e5d843b8,
    0x51830c10_f87c934a_265aebbc_468a25ea,
    0x3735817a_27cb5a86_2fb9433f_61120a9c,
    0x22a2ae88_7089f77f_5d633bb0_0455d033,
    0x140caa67_aafbde4f_c785a545_4cb6e810,
    0x0aad236f_7f84412a_2b5a38b2_973afdc2,
    0x05377dfa_9e5b368b_258fd55f_15ebe2b8,
    0x02559a69_adb48002_c77d2813_8d9dab60,
    0x00f47eeb_445b1346_ca011532_c09052dc,
    0x005b5603_a15a8b17_44d278a2_36f64c6a,
    0x001f1ef8_8510c6e6_0af76fd5_0d8f06fe,
    0x0009a9c0_7ef0ea2f_ef9ef0e1_79471297,
    0x0002bb6f_66643a6b_2b429ea0_f7aecf67,
    0x0000b3f7_fb32c792_5a8352d3_e7fde936,
    0x00002a1e_718025e7_c81ef646_d8856992,
    0x000008f6_39863d12_0176e174_7588e058,
    0x000001bb_a386f094_13b362d4_d4f2e41e,
    0x0000004d_f0855ab5_80ab4562_b3288671,
    0x0000000c_6fc2dca2_be6bcf18_50eab2b4,
    0x00000001_cd4f92e2_89beb456_d78bc965,
    0x00000000_3caeda33_959c2c7b_12cadbc2,
    0x00000000_073ee89b_40493f29_543c546f,
    0x00000000_00c901cc_b6efcf73_8e73e074,
    0x00000000_0013c408_019b16ed_d7db0b35,
    0x00000000_0001c374_caa2f2db_72ef9967,
    0x00000000_0000248a_be96f520_11531ab3,
    0x00000000_000002ae_e1546708_4e44b75b,
    0x00000000_0000002d_bf546748_d02e03b7,
    0x00000000_00000002_c3724108_c24fb55e,
    0x00000000_00000000_26c11cf5_b1e58b74,
    0x00000000_00000000_01ec0e2f_a271bf8e,
    0x00000000_00000000_00154d8b_fc315260,
];

/// Fills `out` with independent uniform residues.
///
/// Rule: read a word and keep its `q.bits()` low bits; if the result is below `q` it is the next
/// residue, otherwise it is dropped. Repeat until `out` is full.
///
/// Range: out `[0, q)`.
pub fn uniform(xof: &mut Xof, q: &Modulus, out: &mut [u64]) {
    let mask = (1 << q.bits()) - 1;
    let mut filled = 0;
    while filled < out.len() {
        // Each missing residue needs one more word at least, so this never reads too far.
        xof.fill_u64(&mut out[filled..]);
        for at in filled..out.len() {
            let candidate = out[at] & mask;
            out[filled] = candidate;
            filled += usize::from(candidate < q.value());
        }
    }
}

/// Fills `out` with independent uniform numbers of `{-1, 0, 1}`.
///
/// Rule: read a word and cut it into 32 fields of two bits, lowest first. A field of 0, 1 or 2 gives
/// the next number, -1, 0 or 1; a field of 3 is dropped. Repeat until `out` is full; what is left of
/// the last word is dropped.
///
/// Range: out `[-1, 1]`.
pub fn ternary(xof: &mut Xof, out: &mut [i64]) {
    let mut words = [0; CHUNK];
    let mut filled = 0;
    while filled < out.len() {
        // A word gives 32 numbers at most, so this never reads too far.
        let count = (out.len() - filled).div_ceil(FIELDS).min(CHUNK);
        xof.fill_u64(&mut words[..count]);
        for &word in &words[..count] {
            let mut numbers = [0; FIELDS];
            let mut kept = 0;
            for field in 0..FIELDS {
                let value = (word >> (2 * field) & 3) as i64;
                // `kept` counts accepted fields, at most one for each field before this one.
                numbers[kept % FIELDS] = value - 1;
                kept += usize::from(value != 3);
            }
            let kept = kept.min(out.len() - filled);
            out[filled..filled + kept].copy_from_slice(&numbers[..kept]);
            filled += kept;
            numbers.zeroize();
        }
    }
    words.zeroize();
}

/// Fills `out` with exactly `weight` numbers of `{-1, 1}` and zeros elsewhere, uniform among all such rows.
///
/// Rule: selection sampling (Knuth, The Art of Computer Programming, volume 2, 3.4.2, algorithm S).
/// For position `t = 0, 1, ..` of `n`, with `m` nonzeros still to place (`m = weight` at first): read
/// words until one has its low `b` bits, a number `u`, below `n - t`, where `b` is the bit length of
/// `n - t - 1`. Position `t` is nonzero if and only if `u < m`; then it is -1 if bit 63 of that word
/// is set, 1 otherwise, and `m` falls by one.
///
/// The scan visits each position once and only compares, so that, unlike shuffling, no address
/// depends on where the nonzeros lie.
///
/// Range: out `[-1, 1]`.
///
/// # Panics
/// If `weight` exceeds the length of `out`, or the length is 2^32 or more.
pub fn sparse_ternary(xof: &mut Xof, weight: usize, out: &mut [i64]) {
    assert!(weight <= out.len(), "weight {weight} needs at least as many places, {} given", out.len());
    assert!(out.len() < 1 << 32, "a row has fewer than 2^32 places");
    let mut missing = weight as i64;
    let mut words = [0; CHUNK];
    let mut filled = 0;
    while filled < out.len() {
        // Each place needs one more word at least, so this never reads too far.
        let count = (out.len() - filled).min(CHUNK);
        xof.fill_u64(&mut words[..count]);
        for &word in &words[..count] {
            let places = (out.len() - filled) as u64;
            let mask = u64::MAX.checked_shr((places - 1).leading_zeros()).unwrap_or(0);
            let candidate = word & mask;
            if candidate < places {
                // All ones where the place is taken: a difference below 2^32 shows its sign.
                let taken = (candidate as i64 - missing) >> 63;
                let sign = 1 - 2 * (word >> 63) as i64;
                out[filled] = taken & sign;
                missing += taken;
                filled += 1;
            }
        }
    }
    words.zeroize();
}

/// Fills `out` with independent samples of the discrete Gaussian, cut at [`GAUSSIAN_BOUND`].
///
/// `P(x) = exp(-x^2 / (2 * 3.19^2)) / Z` for `|x| <= 32`, to within 2^-127 for each `x`.
///
/// Rule: read 16 bytes as a little-endian number; let `s` be its bit 127 and `u` its low 127 bits.
/// Then `|x|` is the number of `k` in `1..=32` with `u < round(2^127 P(|x| >= k))`, and `x` is
/// negative if `s` is set. All 32 comparisons are made for each sample.
///
/// Range: out `[-32, 32]`.
pub fn gaussian(xof: &mut Xof, out: &mut [i64]) {
    let mut words = [0; 2 * CHUNK];
    for row in out.chunks_mut(CHUNK) {
        let words = &mut words[..2 * row.len()];
        xof.fill_u64(words);
        for (x, pair) in row.iter_mut().zip(words.chunks_exact(2)) {
            *x = gaussian_from(pair[0], pair[1]);
        }
    }
    words.zeroize();
}

/// The sample that 16 bytes of the stream give, as their low and high word.
#[inline]
fn gaussian_from(low: u64, high: u64) -> i64 {
    let negative = (high >> 63) as i64;
    let u = u128::from(high << 1 >> 1) << 64 | u128::from(low);
    // A comparison of double words compiles to a subtraction with borrow, not to a branch.
    let magnitude: i64 = THRESHOLDS.iter().map(|&threshold| i64::from(u < threshold)).sum();
    (magnitude ^ -negative) + negative
}
