//! Numbers that the tests share.

use noren::{Complex64, Seed};

/// Numbers in [-1, 1), the same for the same seed.
pub fn uniform(number: u64, count: usize) -> Vec<f64> {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&number.to_le_bytes());
    let mut xof = Seed::from_bytes(bytes).xof("test/uniform");
    (0..count).map(|_| (xof.next_u64() >> 11) as f64 / (1u64 << 52) as f64 - 1.0).collect()
}

/// Complex numbers with parts in [-1, 1).
pub fn complex(number: u64, count: usize) -> Vec<Complex64> {
    uniform(number, 2 * count).chunks(2).map(|parts| Complex64::new(parts[0], parts[1])).collect()
}

/// The largest distance of two vectors.
pub fn worst(a: &[Complex64], b: &[Complex64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max)
}

/// The index with its bits reversed, among `count` indices.
pub fn reversed(index: usize, count: usize) -> usize {
    if count == 1 { 0 } else { index.reverse_bits() >> (usize::BITS - count.ilog2()) }
}
