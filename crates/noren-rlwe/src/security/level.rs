//! Levels of security.

use std::fmt;

/// How hard the best known classical attack must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Security {
    /// Nothing is promised and nothing is checked: for tests and demonstrations.
    None,
    /// At least 2^128 operations.
    #[default]
    Bits128,
    /// At least 2^192 operations.
    Bits192,
    /// At least 2^256 operations.
    Bits256,
}

impl Security {
    /// The bits of the attack: 0 where nothing is promised.
    #[must_use]
    pub const fn bits(self) -> u32 {
        match self {
            Self::None => 0,
            Self::Bits128 => 128,
            Self::Bits192 => 192,
            Self::Bits256 => 256,
        }
    }
}

impl fmt::Display for Security {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "no",
            Self::Bits128 => "128-bit",
            Self::Bits192 => "192-bit",
            Self::Bits256 => "256-bit",
        })
    }
}
