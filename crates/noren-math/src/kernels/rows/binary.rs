//! Products of polynomials over GF(2), a coefficient to a bit.

/// `out += a b`.
pub(in crate::kernels) fn add_binary_product(out: &mut [u64], a: &[u64], b: &[u64]) {
    for (i, &a) in a.iter().enumerate() {
        for (j, &b) in b.iter().enumerate() {
            let [low, high] = product(a, b);
            out[i + j] ^= low;
            out[i + j + 1] ^= high;
        }
    }
}

/// The product of two words, its low word first.
///
/// Integers with a bit in every fourth place multiply without carries that reach the next such bit, as long as at most 15
/// products meet in a place: the upper half of a word therefore takes a product of its own. Multiplications take no time that
/// depends on their operands, where tables of multiples would.
fn product(a: u64, b: u64) -> [u64; 2] {
    let halves = |x: u64| [x & 0xffff_ffff, x >> 32];
    let ([a0, a1], [b0, b1]) = (halves(a), halves(b));
    let (low, high) = (half_product(a0, b0), half_product(a1, b1));
    let middle = half_product(a0 ^ a1, b0 ^ b1) ^ low ^ high;
    [low ^ middle << 32, high ^ middle >> 32]
}

/// The product of two polynomials of 32 coefficients.
fn half_product(a: u64, b: u64) -> u64 {
    const MASK: u64 = 0x1111_1111_1111_1111;
    // Eight terms of each class meet in a place, so sums of a nibble stay below 16.
    let [a, b] = [a, b].map(|x| [0, 1, 2, 3].map(|i| x & MASK << i));
    let class = |k: usize| (0..4).fold(0, |sum, i| sum ^ a[i].wrapping_mul(b[(k + 4 - i) % 4])) & MASK << k;
    class(0) | class(1) | class(2) | class(3)
}
