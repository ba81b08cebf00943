//! Rows in slots, and numbers in limbs.

/// The places of rows: lane after lane, each of as many rows as there are blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layout {
    /// How many rows lie side by side in slots.
    pub lanes: usize,
    /// How many lie in one lane, in ciphertexts that are added up.
    pub blocks: usize,
}

/// Sums of a lane are at most this, so that the smallest plaintext modulus with slots holds them.
const MOST: f64 = 65536.0;
/// Limbs have this many bits at least, whatever modulus that takes: fewer would be too many limbs.
const LEAST_BITS: usize = 4;

impl Layout {
    /// The layout of rows on so many lanes.
    pub const fn new(rows: usize, lanes: usize) -> Self {
        Self { lanes, blocks: rows.div_ceil(lanes) }
    }

    /// The place of a row in an array of lanes and blocks.
    pub const fn place(self, row: usize) -> usize {
        row % self.lanes * self.blocks + row / self.lanes
    }

    /// The shape of the array of a bit.
    pub fn shape(self) -> Vec<usize> {
        vec![self.lanes, self.blocks]
    }

    /// The most bits of limbs of which products of so many, each times a number from a range of this width, are added up in a lane.
    pub fn limb_bits(self, factors: i32, width: f64) -> usize {
        let fits = |bits: &usize| self.blocks as f64 * width * f64::from((1 << bits) - 1).powi(factors) <= MOST;
        (LEAST_BITS..16).rev().find(fits).unwrap_or(LEAST_BITS)
    }
}
