//! Numbers for tests: the same in every run, with the extremes mixed in.

/// A small generator (splitmix64) that owes nothing to the code under test.
pub struct Numbers(u64);

#[allow(dead_code, reason = "each test file uses its part")]
impl Numbers {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    /// Words below `bound`; a quarter of them are the smallest or largest such words.
    pub fn row(&mut self, n: usize, bound: u64) -> Vec<u64> {
        (0..n)
            .map(|_| match self.below(16) {
                0 => 0,
                1 => 1.min(bound - 1),
                2 | 3 => bound - 1,
                _ => self.below(bound),
            })
            .collect()
    }

    /// Signed words of every size below 2^62, with the extremes.
    pub fn signed_row(&mut self, n: usize) -> Vec<i64> {
        (0..n)
            .map(|_| {
                let size = self.below(63);
                let magnitude = match self.below(8) {
                    0 => (1 << 62) - 1,
                    _ => self.below(1 << size),
                };
                let magnitude = i64::try_from(magnitude).expect("below 2^62");
                if self.below(2) == 0 { magnitude } else { -magnitude }
            })
            .collect()
    }
}
