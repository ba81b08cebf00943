//! Rows of random numbers, specified byte for byte.
//!
//! Every sampler reads its [`Xof`] from where it stands and reads no byte more than its rule says, so
//! that another program in another language can reproduce each row. "Word" means 8 bytes of the
//! stream read as a little-endian number.
//!
//! What a sampler accepts or rejects is public by design: a rejected draw is thrown away whole and
//! tells nothing of the accepted ones. No branch and no index depends on an accepted value.

use zeroize::Zeroize;

use crate::kernels::kernels;
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

/// `THRESHOLDS[k-1] = round(2^126 P(|x| >= k))` for `k = 1..=32`; `tests/sampling.rs` computes them again.
pub(crate) const THRESHOLDS: [u128; GAUSSIAN_BOUND as usize] = [
    0x37ff032f_269ab5cb_c144a596_f2ec21dc,
    0x28c18608_7c3e49a5_132d75de_234512f5,
    0x1b9ac0bd_13e5ad43_17dca19f_b089054e,
    0x11515744_3844fbbf_aeb19dd8_022ae81a,
    0x0a065533_d57def27_e3c2d2a2_a65b7408,
    0x055691b7_bfc22095_15ad1c59_4b9d7ee1,
    0x029bbefd_4f2d9b45_92c7eaaf_8af5f15c,
    0x012acd34_d6da4001_63be9409_c6ced5b0,
    0x007a3f75_a22d89a3_65008a99_6048296e,
    0x002dab01_d0ad458b_a2693c51_1b7b2635,
    0x000f8f7c_42886373_057bb7ea_86c7837f,
    0x0004d4e0_3f787517_f7cf7870_bca3894b,
    0x00015db7_b3321d35_95a14f50_7bd767b4,
    0x000059fb_fd9963c9_2d41a969_f3fef49b,
    0x0000150f_38c012f3_e40f7b23_6c42b4c9,
    0x0000047b_1cc31e89_00bb70ba_3ac4702c,
    0x000000dd_d1c3784a_09d9b16a_6a79720f,
    0x00000026_f842ad5a_c055a2b1_59944339,
    0x00000006_37e16e51_5f35e78c_2875595a,
    0x00000000_e6a7c971_44df5a2b_6bc5e4b2,
    0x00000000_1e576d19_cace163d_89656de1,
    0x00000000_039f744d_a0249f94_aa1e2a38,
    0x00000000_006480e6_5b77e7b9_c739f03a,
    0x00000000_0009e204_00cd8b76_ebed859b,
    0x00000000_0000e1ba_6551796d_b977ccb4,
    0x00000000_00001245_5f4b7a90_08a98d59,
    0x00000000_00000157_70aa3384_27225bad,
    0x00000000_00000016_dfaa33a4_681701dc,
    0x00000000_00000001_61b92084_6127daaf,
    0x00000000_00000000_13608e7a_d8f2c5ba,
    0x00000000_00000000_00f60717_d138dfc7,
    0x00000000_00000000_000aa6c5_fe18a930,
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
        let mut at = filled;
        while at < out.len() {
            let candidate = out[at] & mask;
            out[filled] = candidate;
            filled += usize::from(candidate < q.value());
            at += 1;
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
/// `P(x) = exp(-x^2 / (2 * 3.19^2)) / Z` for `|x| <= 32`, to within 2^-126 for each `x`.
///
/// Rule: read 16 bytes as a little-endian number; let `s` be its bit 127 and `u` the number that its
/// bits 1 to 126 form (bit 0 is not used). Then `|x|` is the number of `k` in `1..=32` with
/// `u < round(2^126 P(|x| >= k))`, and `x` is negative if `s` is set.
///
/// The comparisons are made by arithmetic on all samples alike: no branch, and no address, depends on them.
///
/// Range: out `[-32, 32]`.
pub fn gaussian(xof: &mut Xof, out: &mut [i64]) {
    /// Samples that are made at a time.
    const COUNT: usize = 512;
    let mut words = [0; 2 * COUNT];
    for row in out.chunks_mut(COUNT) {
        let words = &mut words[..2 * row.len()];
        xof.fill_u64(words);
        kernels().gaussian(row, words);
    }
    words.zeroize();
}
