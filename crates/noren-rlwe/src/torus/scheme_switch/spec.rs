//! The digits of scheme switching as they are asked for.

use crate::torus::digits::Digits;

/// The description of keys of scheme switching; [`SwitchSpec::build`] checks it, [`SwitchSpec::choose`] finds one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SwitchSpec {
    /// Digits of the key switch from s to Z.
    pub down: Digits,
    /// Digits of the automorphisms that pack, which multiply their noise by `N'`.
    pub packing: Digits,
}

impl SwitchSpec {
    /// The two pairs `log2 B`, digits: of the key switch and of packing.
    pub(crate) const fn words(&self) -> [u64; 4] {
        let ([a, b], [c, d]) = (self.down.words(), self.packing.words());
        [a, b, c, d]
    }

    /// The specification of [`SwitchSpec::words`].
    pub(crate) fn from_words([a, b, c, d]: [u64; 4]) -> Self {
        Self { down: Digits::from_words([a, b]), packing: Digits::from_words([c, d]) }
    }
}
