//! Rows of random numbers, specified byte for byte.
//!
//! Every sampler reads its [`Xof`] from where it stands and reads no byte more than its rule says, so
//! that another program in another language can reproduce each row. "Word" means 8 bytes of the
//! stream read as a little-endian number.
//!
//! Acceptance and rejection are public by design: a rejected draw is thrown away whole and
//! tells nothing of the accepted ones. No branch and no index depends on an accepted value.

use zeroize::Zeroize;

pub use crate::gaussian::GAUSSIAN_BOUND;
use crate::kernels::kernels;
use crate::modulus::Modulus;
use crate::random::Xof;

/// The standard deviation parameter of [`gaussian`].
pub const GAUSSIAN_SIGMA: f64 = 3.19;

/// Words read from the stream at a time: two blocks of the generator.
const CHUNK: usize = 64;

/// Fields of two bits in a word.
const FIELDS: usize = 32;

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
    assert!(u32::try_from(out.len()).is_ok(), "a row has fewer than 2^32 places");
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
