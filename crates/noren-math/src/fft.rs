//! The canonical embedding that CKKS encodes through.

/// Roots of the special FFT.
#[derive(Debug)]
pub struct FftTable {
    slots: usize,
}

impl FftTable {
    /// The number of slots.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.slots
    }
}
