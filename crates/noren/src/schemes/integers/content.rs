//! The content of a polynomial modulo t: slots or coefficients, and how many.

use noren_rlwe::error::{Error, Result};

use crate::schemes::extent::Extent;
use crate::schemes::integers::parameters::Parameters;

/// How numbers are written as a polynomial. Operands of one operation are encoded alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// In slots: products are those of slots.
    Slots,
    /// As coefficients: products are those of polynomials modulo `X^n + 1`.
    Coefficients,
}

impl Encoding {
    /// Its name in messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Slots => "slots",
            Self::Coefficients => "coefficients",
        }
    }

    /// How many places a vector has.
    pub(crate) fn places(self, parameters: &Parameters) -> usize {
        match self {
            Self::Slots => parameters.slots(),
            Self::Coefficients => parameters.degree(),
        }
    }
}

/// The encoding of a vector, and which of its slots or coefficients are values.
///
/// Slots are counted through both rows. A period of n/2 or less says that both rows are the same; n says nothing. In a ring
/// whose index is not a power of two, the period is the number of slots.
///
/// The *stretch* is a power of two P such that the P slots from each multiple of P on hold the same number, counted through both
/// rows: 1 says nothing. Lookups take numbers that were spread so, and follow the stretch through operations. Like the extent it
/// follows from how a vector was encoded, never from its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Content {
    encoding: Encoding,
    extent: Extent,
    log_stretch: u32,
}

/// The largest logarithm of a stretch: of one number in all slots of any ring.
const WHOLE: u32 = 31;

impl Content {
    /// That of a vector that no other one was made into: encoded, or read from bytes; or the product with a matrix. Each number is
    /// in a place of its own.
    pub(crate) const fn new(encoding: Encoding, extent: Extent) -> Self {
        Self { encoding, extent, log_stretch: 0 }
    }

    /// All slots.
    #[must_use]
    pub const fn slots(slots: usize) -> Self {
        Self::new(Encoding::Slots, Extent::of_slots(slots))
    }

    /// The encoding.
    #[must_use]
    pub const fn encoding(self) -> Encoding {
        self.encoding
    }

    /// How many values there are, and after how many slots they repeat.
    #[must_use]
    pub const fn extent(self) -> Extent {
        self.extent
    }

    /// How many slots hold the same number, from each multiple of it on: a power of two.
    #[must_use]
    pub const fn stretch(self) -> usize {
        1 << self.log_stretch()
    }

    pub(crate) const fn log_stretch(self) -> u32 {
        if self.extent.is_number() { WHOLE } else { self.log_stretch }
    }

    /// The same with numbers that fill this many slots each.
    ///
    /// # Errors
    /// [`Error::Length`] for what is no power of two up to n, [`Error::Parameters`] for coefficients and in a ring without rows.
    pub(crate) fn with_stretch(self, stretch: usize, parameters: &Parameters) -> Result<Self> {
        parameters.check_rows()?;
        self.check_slots()?;
        let slots = parameters.slots();
        if !stretch.is_power_of_two() || stretch > slots {
            let needed = format!("a power of two up to {slots}, the number of slots");
            return Err(Error::Length { what: "slots of a number", found: stretch, needed });
        }
        Ok(Self { log_stretch: stretch.ilog2(), ..self })
    }

    /// The same of which the caller knows that its slots repeat, where it has rows that are alike.
    pub(crate) fn repeated(self, period: usize, row: usize) -> Self {
        if self.extent.period() > row { self } else { Self { extent: self.extent.repeated(period), ..self } }
    }

    /// The same of another length, up to that of all places; `None` for all slots of a period.
    ///
    /// # Errors
    /// [`Error::Length`] for a length of 0 or above the places.
    pub(crate) fn with_length(self, length: Option<usize>, parameters: &Parameters) -> Result<Self> {
        Ok(Self { extent: self.extent.with_length(length, self.encoding.places(parameters))?, ..self })
    }

    /// The same with both rows alike and of this period.
    ///
    /// # Errors
    /// [`Error::Length`] for what is no power of two up to n/2, [`Error::Parameters`] in a ring without rows.
    pub(crate) fn with_period(self, period: usize, parameters: &Parameters) -> Result<Self> {
        parameters.check_rows()?;
        Extent::new(None, period, parameters.row_slots())?;
        Ok(Self { extent: self.extent.repeated(period), ..self })
    }

    /// That of a sum. Polynomials of any lengths are added.
    ///
    /// # Errors
    /// [`Error::Parameters`] for operands that are not encoded alike.
    pub(crate) fn sum(self, other: Self) -> Result<Self> {
        if self.encoding == other.encoding {
            let log_stretch = self.log_stretch().min(other.log_stretch());
            return Ok(Self { extent: self.extent.join(other.extent), log_stretch, ..self });
        }
        let (found, needed) = (other.encoding.name(), self.encoding.name());
        Err(Error::parameter("encoding of the second operand", found, format!("{needed}, as that of the first")))
    }

    /// That of a product: polynomials become longer.
    ///
    /// # Errors
    /// As [`Content::sum`].
    pub(crate) fn product(self, other: Self, n: usize) -> Result<Self> {
        let sum = self.sum(other)?;
        Ok(if sum.encoding == Encoding::Slots { sum } else { Self { extent: Extent::of_slots(n), ..sum } })
    }

    /// That of a vector whose rows were rotated by `steps` steps.
    pub(crate) fn rotated(self, steps: isize) -> Self {
        if steps.unsigned_abs().is_multiple_of(self.extent.period()) {
            return self;
        }
        let whole = steps.unsigned_abs().is_multiple_of(self.stretch());
        Self { log_stretch: if whole { self.log_stretch } else { 0 }, ..self.moved() }
    }

    /// That of a vector of n slots whose two rows were swapped: rows that are the same stay what they are, and so do stretches.
    pub(crate) fn swapped(self, n: usize) -> Self {
        if self.extent.period() < n { self } else { Self { extent: Extent::of_slots(n), ..self } }
    }

    /// That of a vector whose slots were moved.
    pub(crate) fn moved(self) -> Self {
        Self { extent: self.extent.moved(), log_stretch: 0, ..self }
    }

    /// Refuses what has no slots.
    ///
    /// # Errors
    /// [`Error::Parameters`] for coefficients.
    pub(crate) fn check_slots(self) -> Result<()> {
        match self.encoding {
            Encoding::Slots => Ok(()),
            found @ Encoding::Coefficients => {
                Err(Error::parameter("encoding of the vector", found.name(), "slots: nothing else can be moved"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schemes::integers::parameters::ParametersSpec;
    use noren_rlwe::security::Security;

    #[test]
    fn stretches_stay_where_whole_ones_move() -> Result<()> {
        let spec = ParametersSpec {
            log_n: 4,
            plaintext_modulus: 97,
            log_q: vec![40],
            security: Security::None,
            ..ParametersSpec::default()
        };
        let parameters = spec.build()?;
        let all = Content::slots(16);
        let spread = all.with_stretch(4, &parameters)?;
        let narrow = all.with_stretch(2, &parameters)?;
        for (content, stretch) in [
            (spread, 4),
            (spread.rotated(4), 4),
            (spread.rotated(-8), 4),
            (spread.rotated(2), 1),
            (narrow.rotated(2), 2),
            (spread.swapped(16), 4),
            (spread.moved(), 1),
            (spread.sum(narrow)?, 2),
            (spread.product(narrow, 16)?, 2),
            (spread.sum(all)?, 1),
            (spread.with_length(Some(3), &parameters)?, 4),
        ] {
            assert_eq!(content.stretch(), stretch, "{content:?}");
        }
        let number = Content::new(Encoding::Slots, Extent::of_values(1, 16).repeated(1));
        assert_eq!((number.sum(spread)?.stretch(), number.sum(number)?.stretch() >= 16), (4, true));
        assert!(all.with_stretch(3, &parameters).is_err() && all.with_stretch(32, &parameters).is_err());
        let coefficients = Content::new(Encoding::Coefficients, Extent::of_slots(16));
        assert!(coefficients.with_stretch(4, &parameters).is_err());
        Ok(())
    }
}
