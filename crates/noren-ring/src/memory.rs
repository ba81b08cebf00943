//! Rows of residues in the memory of a device, as a handle.

use std::any::Any;
use std::fmt;
use std::ops::Range;

/// `limbs` rows of `degree` words, shape `[limbs, degree]`, in the memory of a device.
///
/// A [`Device`](crate::device::Device) makes them, and finds its own type again by [`Limbs::rows`]. Secret rows are wiped before
/// their memory is used for anything else.
pub trait DeviceRows: Any + Send + Sync {
    /// How many rows there are.
    fn limbs(&self) -> usize;

    /// How many words a row has.
    fn degree(&self) -> usize;

    /// Whether the rows are wiped on drop.
    fn is_secret(&self) -> bool;

    /// Sets whether the rows are wiped on drop.
    fn set_secret(&mut self, secret: bool);

    /// Moves a secret that is held for long to memory that is neither swapped nor dumped, where the device has such.
    fn guard(&mut self);

    /// Keeps `limbs` rows from row `first` on.
    ///
    /// # Panics
    /// If there are no such rows.
    fn keep(&mut self, first: usize, limbs: usize);

    /// A copy of `limbs` rows from row `first` on, as secret as these.
    ///
    /// # Panics
    /// If there are no such rows.
    fn copy(&self, first: usize, limbs: usize) -> Box<dyn DeviceRows>;
}

/// The rows of an element, with the position of the first one's prime in the whole list of a ring. The form of the element is
/// not known here: [`Poly`](crate::poly::Poly) adds it.
pub struct Limbs {
    rows: Box<dyn DeviceRows>,
    start: usize,
}

impl Limbs {
    /// Rows for the primes from position `start` on.
    #[must_use]
    pub fn new(rows: impl DeviceRows, start: usize) -> Self {
        Self { rows: Box::new(rows), start }
    }

    /// The positions of the primes in the whole list.
    #[must_use]
    pub fn window(&self) -> Range<usize> {
        self.start..self.start + self.rows.limbs()
    }

    /// How many words a row has.
    #[must_use]
    pub fn degree(&self) -> usize {
        self.rows.degree()
    }

    /// Whether the rows are wiped on drop.
    #[must_use]
    pub fn is_secret(&self) -> bool {
        self.rows.is_secret()
    }

    /// Marks the rows to be wiped on drop, if `secret`; a mark stays.
    pub fn mark(&mut self, secret: bool) {
        if secret {
            self.rows.set_secret(true);
        }
    }

    /// The rows, if they are a device's with rows of type `R`.
    #[must_use]
    #[inline]
    pub fn rows<R: DeviceRows>(&self) -> Option<&R> {
        (&*self.rows as &dyn Any).downcast_ref()
    }

    /// The rows to be written, if they are a device's with rows of type `R`.
    #[must_use]
    #[inline]
    pub fn rows_mut<R: DeviceRows>(&mut self) -> Option<&mut R> {
        (&mut *self.rows as &mut dyn Any).downcast_mut()
    }

    /// The rows themselves, if they are a device's with rows of type `R`.
    ///
    /// # Errors
    /// These limbs, if they are another device's.
    pub fn into_rows<R: DeviceRows>(self) -> Result<R, Self> {
        if self.rows::<R>().is_none() {
            return Err(self);
        }
        let rows: Box<dyn Any> = self.rows;
        Ok(*rows.downcast().expect("the type was looked at"))
    }

    pub(crate) fn unmark(&mut self) {
        self.rows.set_secret(false);
    }

    pub(crate) fn guard(&mut self) {
        self.rows.guard();
    }

    /// Keeps the rows at a window of the primes.
    ///
    /// # Panics
    /// If there are no such rows.
    pub(crate) fn keep(&mut self, window: &Range<usize>) {
        self.rows.keep(window.start - self.start, window.len());
        self.start = window.start;
    }

    /// A copy of the rows at a window of the primes.
    ///
    /// # Panics
    /// If there are no such rows.
    #[must_use]
    pub fn copy(&self, window: &Range<usize>) -> Self {
        Self { rows: self.rows.copy(window.start - self.start, window.len()), start: window.start }
    }
}

impl Clone for Limbs {
    fn clone(&self) -> Self {
        self.copy(&self.window())
    }
}

impl fmt::Debug for Limbs {
    /// Shows the shape only: the words may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Limbs").field("window", &self.window()).field("degree", &self.degree()).finish_non_exhaustive()
    }
}
