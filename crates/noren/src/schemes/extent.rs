//! The extent of a vector of slots, which is public: how many values it has, and after how many slots it repeats.

use std::borrow::Cow;

use noren_rlwe::error::{Error, Result};

use crate::schemes::error::ShapeError;

/// The length and the period of a vector of slots.
///
/// - **Length**: how many values were encoded, in the first slots. The slots after them hold zeros at first; operations with
///   numbers in every slot change them too, so that they mean nothing. Where values were moved between slots, there is no
///   length, and all slots of a period count.
/// - **Period**: a power of two p such that slot j holds what slot j + p holds, the number of slots where nothing repeats.
///   What was encoded without being repeated has the number of slots as its period, whatever the values.
///
/// Both follow from the shapes of inputs and from the operations, never from values, so that they tell nothing of what is
/// encrypted or of a plain operand.
///
/// # Examples
/// ```
/// use noren::schemes::extent::Extent;
///
/// let fresh = Extent::of_values(3, 8);
/// assert_eq!((fresh.length(), fresh.period(), fresh.values()), (Some(3), 8, 3));
/// assert_eq!(fresh.moved().values(), 8);
/// assert!(!fresh.fits(Extent::of_values(2, 8)) && fresh.fits(fresh.moved()));
/// assert_eq!(fresh.join(Extent::of_values(3, 8).repeated(4)).period(), 8);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    length: Option<usize>,
    period: usize,
}

/// The message about an extent that cannot be.
pub(crate) const EXTENT_NEEDED: &str = "a length up to the slots, and as period a power of two up to them";

impl Extent {
    /// Values in the first of `slots` slots, which do not repeat. None are a vector of zeros in all slots.
    #[must_use]
    pub const fn of_values(length: usize, slots: usize) -> Self {
        Self { length: if length == 0 { None } else { Some(length) }, period: slots }
    }

    /// `slots` slots, all of which count, and which do not repeat.
    #[must_use]
    pub const fn of_slots(slots: usize) -> Self {
        Self { length: None, period: slots }
    }

    /// A length, and a period that is a power of two up to `slots`, or the number of slots.
    ///
    /// # Errors
    /// [`Error::Length`] for a length of 0 or above the slots, or another period.
    pub fn new(length: Option<usize>, period: usize, slots: usize) -> Result<Self> {
        if period != slots && !(period.is_power_of_two() && period < slots) {
            let needed = format!("a power of two up to {slots}, the number of slots");
            return Err(Error::Length { what: "period of a vector", found: period, needed });
        }
        Self { length: None, period }.with_length(length, slots)
    }

    /// The same with another length, `None` for all slots of a period.
    ///
    /// # Errors
    /// [`Error::Length`] for a length of 0 or above the slots.
    pub fn with_length(self, length: Option<usize>, slots: usize) -> Result<Self> {
        match length {
            Some(found) if found == 0 || found > slots => {
                let needed = format!("1 to {slots}, the number of slots");
                Err(Error::Length { what: "values of a vector", found, needed })
            }
            _ => Ok(Self { length, ..self }),
        }
    }

    /// The same with a smaller period, which the caller knows.
    #[must_use]
    pub const fn repeated(self, period: usize) -> Self {
        Self { period, ..self }
    }

    /// How many values there are; none if all slots of a period count.
    #[must_use]
    pub const fn length(self) -> Option<usize> {
        self.length
    }

    /// After how many slots the vector repeats.
    #[must_use]
    pub const fn period(self) -> usize {
        self.period
    }

    /// How many slots count: the length, or the period where there is none.
    #[must_use]
    pub const fn values(self) -> usize {
        match self.length {
            Some(length) => length,
            None => self.period,
        }
    }

    /// Whether the vector is one number, which stands in every slot. More values than one that are all the same are a vector
    /// of that length.
    #[must_use]
    pub const fn is_number(self) -> bool {
        self.period == 1 && self.values() == 1
    }

    /// Whether slot by slot an operation with `other` is one of the values: the lengths are the same, or one of the vectors
    /// has none or is one number.
    #[must_use]
    pub fn fits(self, other: Self) -> bool {
        self.is_number()
            || other.is_number()
            || self.length.is_none()
            || other.length.is_none()
            || self.length == other.length
    }

    /// Refuses an operation slot by slot of vectors that do not [fit](Self::fits).
    ///
    /// # Errors
    /// [`ShapeError::Lengths`] with both.
    pub fn check_fits(self, other: Self) -> Result<()> {
        if self.fits(other) { Ok(()) } else { Err(ShapeError::Lengths(self.values(), other.values()).into()) }
    }

    /// Refuses an operation slot by slot of several vectors of which two do not [fit](Self::fits).
    ///
    /// # Errors
    /// As [`Extent::check_fits`].
    pub fn check_all_fit(all: impl IntoIterator<Item = Self>) -> Result<()> {
        let mut all = all.into_iter();
        let Some(first) = all.next() else { return Ok(()) };
        all.try_fold(first, |joined, x| joined.check_fits(x).map(|()| joined.join(x))).map(|_| ())
    }

    /// The extent of `count` numbers in clear beside this vector in `slots` slots: as many as it has values, or one for every
    /// slot; beside one number in every slot, any count. A single number for all slots is none of these.
    ///
    /// # Errors
    /// [`ShapeError::Beside`] for another count, [`ShapeError::Empty`] for none.
    pub fn beside(self, count: usize, slots: usize) -> Result<Self> {
        if count == 0 {
            return Err(ShapeError::Empty.into());
        }
        if count == self.values() {
            let extent = self.length.map_or(Self::of_slots(slots), |length| Self::of_values(length, slots));
            // More numbers than a period do not repeat after it.
            return Ok(if count <= self.period { extent.repeated(self.period) } else { extent });
        }
        if count == slots {
            return Ok(Self::of_slots(slots));
        }
        if self.is_number() && count < slots {
            return Ok(Self::of_values(count, slots));
        }
        Err(ShapeError::Beside { count, values: self.values(), slots }.into())
    }

    /// Numbers of this extent as they are encoded in `slots` slots: where they repeat, followed by zeros up to the period, over and
    /// over.
    #[must_use]
    pub fn fill<T: Copy + Default>(self, values: &[T], slots: usize) -> Cow<'_, [T]> {
        if self.period >= slots {
            return Cow::Borrowed(values);
        }
        (0..slots).map(|j| values.get(j % self.period).copied().unwrap_or_default()).collect()
    }

    /// Refuses a matrix of so many columns, unless they are as many as the vector has values. `whole` is the number of values of
    /// a vector that a matrix multiplies row by row.
    ///
    /// # Errors
    /// [`ShapeError::Columns`].
    pub fn check_columns(self, columns: usize, whole: Option<usize>) -> Result<()> {
        if self.length.is_none_or(|length| length == columns || Some(length) == whole) {
            return Ok(());
        }
        Err(ShapeError::Columns { columns, values: self.values() }.into())
    }

    /// The extent of a result of an operation slot by slot: the larger period, and the length if it is the same. One number
    /// takes the length of the other operand.
    #[must_use]
    pub fn join(self, other: Self) -> Self {
        let length = if self.is_number() {
            other.length
        } else if other.is_number() || self.length == other.length {
            self.length
        } else {
            None
        };
        Self { length, period: self.period.max(other.period) }
    }

    /// The extent once slots were moved: around the end of a period. Values that fill a period are as many as before.
    #[must_use]
    pub fn moved(self) -> Self {
        Self { length: self.length.filter(|&length| length == self.period), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_extent_is_refused() {
        assert!(Extent::new(Some(3), 4, 8).is_ok() && Extent::new(None, 8, 8).is_ok());
        for (length, period) in [(Some(0), 4), (Some(9), 4), (None, 16), (None, 6), (None, 0)] {
            assert!(matches!(Extent::new(length, period, 8), Err(Error::Length { .. })), "{length:?} {period}");
        }
    }

    #[test]
    fn numbers_in_clear_are_as_many_as_values_or_slots() {
        let three = Extent::of_values(3, 8);
        assert_eq!(three.beside(3, 8).ok(), Some(three));
        assert_eq!(three.beside(8, 8).ok(), Some(Extent::of_slots(8)));
        assert_eq!(three.repeated(4).beside(3, 8).ok(), Some(three.repeated(4)));
        assert_eq!(three.repeated(4).fill(&[1, 2, 3], 8)[..], [1, 2, 3, 0, 1, 2, 3, 0]);
        assert_eq!(Extent::of_values(1, 8).repeated(1).beside(5, 8).ok(), Some(Extent::of_values(5, 8)));
        // Six values of a vector that repeats after four do not.
        assert_eq!(Extent::of_values(6, 8).repeated(4).beside(6, 8).map(Extent::period).ok(), Some(8));
        for (count, refused) in [(0, ShapeError::Empty), (2, ShapeError::Beside { count: 2, values: 3, slots: 8 })] {
            assert_eq!(three.beside(count, 8).unwrap_err().to_string(), refused.to_string());
        }
        assert!(Extent::check_all_fit([three, Extent::of_slots(8), Extent::of_values(2, 8)]).is_ok());
        assert!(Extent::check_all_fit([three, three, Extent::of_values(2, 8)]).is_err());
        assert!(three.check_columns(3, None).is_ok() && three.check_columns(4, Some(3)).is_ok());
        assert!(three.check_columns(4, Some(8)).is_err() && Extent::of_slots(8).check_columns(5, None).is_ok());
    }

    #[test]
    fn a_number_in_every_slot_fits_everything() {
        let (number, vector) = (Extent::of_values(1, 8).repeated(1), Extent::of_values(3, 8));
        assert!(number.fits(vector) && vector.fits(number));
        assert_eq!((number.join(vector), vector.join(number)), (vector, vector));
        // One value in the first slot is another thing, and so are two values that are the same.
        assert!(!Extent::of_values(1, 8).fits(vector));
        let equal = Extent::of_values(2, 8).repeated(1);
        assert!(!equal.fits(vector) && !vector.fits(equal) && equal.fits(number));
        assert_eq!((equal.join(number).values(), number.join(equal).values()), (2, 2));
        assert_eq!(equal.join(Extent::of_slots(8)).values(), 8);
    }

    #[test]
    fn values_that_fill_a_period_are_moved_among_themselves() {
        assert_eq!(Extent::of_values(4, 8).repeated(4).moved().length(), Some(4));
        assert_eq!(Extent::of_values(3, 8).repeated(4).moved().values(), 4);
        assert_eq!(Extent::of_values(3, 8).moved().values(), 8);
    }
}
