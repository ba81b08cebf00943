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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Content {
    pub(crate) encoding: Encoding,
    pub(crate) extent: Extent,
}

impl Content {
    /// All slots.
    #[must_use]
    pub const fn slots(slots: usize) -> Self {
        Self { encoding: Encoding::Slots, extent: Extent::of_slots(slots) }
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
            return Ok(Self { extent: self.extent.join(other.extent), ..self });
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
        self.moved()
    }

    /// That of a vector whose slots were moved.
    pub(crate) fn moved(self) -> Self {
        Self { extent: self.extent.moved(), ..self }
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
