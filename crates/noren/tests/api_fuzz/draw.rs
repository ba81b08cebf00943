//! Random choices that follow from a seed.

use noren::Seed;
use noren_math::random::Xof;

/// A stream of random choices.
pub struct Draw(Xof);

impl Draw {
    /// The stream of a seed and a number.
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        bytes[8..16].copy_from_slice(&stream.to_le_bytes());
        Self(Seed::from_bytes(bytes).xof("test/api_fuzz"))
    }

    /// A word.
    pub fn word(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A seed for keys or encryption.
    pub fn seed(&mut self) -> Seed {
        let mut bytes = [0; 32];
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.word().to_le_bytes());
        }
        Seed::from_bytes(bytes)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.word() % bound as u64) as usize
    }

    /// A number from `low` to `high`.
    pub fn from(&mut self, low: i64, high: i64) -> i64 {
        low + (self.word() % (high - low + 1).cast_unsigned()).cast_signed()
    }

    /// One of these.
    pub fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// True in one of `of` cases.
    pub fn chance(&mut self, of: usize) -> bool {
        self.below(of) == 0
    }

    /// A number in [-1, 1).
    pub fn unit(&mut self) -> f64 {
        (self.word() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}
