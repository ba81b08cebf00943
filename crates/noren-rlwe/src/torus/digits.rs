//! Digits: how words are cut, and which cuts there are.

use std::fmt;

use noren_math::torus::gadget::Gadget;
use noren_math::torus_products::matrix::{Precision, SwitchShape};
use noren_ring::torus::shape::GlweShape;

use crate::error::{Error, Result};

/// The most bits that the digits of a word have together.
pub(crate) const MAX_DIGIT_BITS: u32 = 63;

/// How words are cut into digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Digits {
    /// `log2 B`.
    pub log_base: u32,
    /// How many digits.
    pub levels: usize,
}

impl Digits {
    /// Digits of `log_base` bits.
    #[must_use]
    pub const fn new(log_base: u32, levels: usize) -> Self {
        Self { log_base, levels }
    }

    /// `log2 B` and the number of digits, as they are hashed and written.
    pub(crate) const fn words(self) -> [u64; 2] {
        [self.log_base as u64, self.levels as u64]
    }

    /// The digits of [`Digits::words`]: what does not fit is larger than any bound that is checked.
    pub(crate) fn from_words([log_base, levels]: [u64; 2]) -> Self {
        Self::new(u32::try_from(log_base).unwrap_or(u32::MAX), usize::try_from(levels).unwrap_or(usize::MAX))
    }

    /// The digits as arithmetic.
    pub(crate) fn gadget(self) -> Gadget {
        Gadget::new(self.log_base, self.levels as u32)
    }

    /// Refuses digits that are outside the range; the names are those of the base and the levels.
    pub(crate) fn check(self, names: [&'static str; 2]) -> Result<()> {
        check_digits(names, self.log_base, self.levels, MAX_DIGIT_BITS)
    }

    /// Refuses digits of a key switch of GLWE samples that are outside the range, or by which it would not be exact; the names
    /// are as those of [`Digits::check`].
    pub(crate) fn check_switch(self, names: [&'static str; 2], shape: GlweShape) -> Result<()> {
        self.check(names)?;
        let (inputs, gadget) = (shape.dimension, self.gadget());
        let switch = SwitchShape { inputs, columns: inputs + 1, gadget, precision: Precision::Exact };
        if switch.is_exact(shape.degree) {
            Ok(())
        } else {
            Err(Error::parameter(names[0], self.log_base, "fewer bits: key switches are exact in f64"))
        }
    }
}

impl fmt::Display for Digits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} x {} bits", self.levels, self.log_base)
    }
}

/// Refuses digits that are none, or have more bits together.
pub(crate) fn check_digits(names: [&'static str; 2], log_base: u32, levels: usize, most: u32) -> Result<()> {
    let log_base_fits = (1..=most.min(u32::BITS - 1)).contains(&log_base);
    if !log_base_fits {
        return Err(Error::parameter(names[0], log_base, format!("1 to {}", most.min(u32::BITS - 1))));
    }
    let most = (most / log_base) as usize;
    if (1..=most).contains(&levels) {
        Ok(())
    } else {
        Err(Error::parameter(names[1], levels, format!("1 to {most} of {log_base} bits each")))
    }
}
