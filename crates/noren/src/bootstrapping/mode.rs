//! Kinds of messages, which decide how many exponentials there are.

use std::fmt;
use std::str::FromStr;

use noren_rlwe::error::{Error, Result};

use crate::bootstrapping::parameters::Parameters;

/// The kind of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Complex numbers.
    Complex,
    /// Real numbers: one exponential instead of two. Messages that are not known to be real are refused.
    Real,
    /// Complex numbers in at most half the slots of the ring: real and imaginary parts lie side by side in twice the slots,
    /// so that one exponential serves both. To bring them together again uses a level: results have one less.
    Paired,
}

impl Mode {
    /// All modes.
    pub const ALL: [Self; 3] = [Self::Complex, Self::Real, Self::Paired];

    /// The name, as [`FromStr`] reads it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Complex => "complex",
            Self::Real => "real",
            Self::Paired => "paired",
        }
    }

    /// Refuses [`Mode::Paired`] where it has no room.
    ///
    /// # Errors
    /// [`Error::Parameters`]: it takes at most half the slots of the ring, and two levels of the application.
    pub fn check(self, parameters: &Parameters) -> Result<()> {
        if self != Self::Paired || parameters.gap() > 1 && parameters.spec().application.count > 1 {
            return Ok(());
        }
        let found = format!("paired, {} slots of {}", parameters.slots(), parameters.degree() / 2);
        Err(Error::parameter("mode", found, "at most half the slots of the ring, and 2 levels of the application"))
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Mode {
    type Err = Error;

    /// A mode by its name.
    ///
    /// # Errors
    /// [`Error::Parameters`] lists the names.
    fn from_str(text: &str) -> Result<Self> {
        let known = Self::ALL.into_iter().find(|mode| mode.name() == text);
        known.ok_or_else(|| Error::parameter("mode", text, format!("one of {}", Self::ALL.map(Self::name).join(", "))))
    }
}
