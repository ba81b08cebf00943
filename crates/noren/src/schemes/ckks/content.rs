//! The content of a vector of CKKS: its slots, which of them are values, where its numbers lie, and how exact they are.

use noren_rlwe::error::Result;

use crate::schemes::ckks::estimate::Estimate;
use crate::schemes::extent::Extent;

/// The content of a vector, apart from its owner, which its polynomials name.
///
/// There is one constructor for each way in which an operation makes a vector, and nothing else makes one: an operation that
/// does not say what becomes of the slots, of their extent and of their estimate does not compile.
#[derive(Debug, Clone, PartialEq)]
pub struct Content {
    slots: usize,
    extent: Extent,
    estimate: Estimate,
}

impl Content {
    /// That of a vector that no other one was made into: encoded, encrypted, read from bytes, or brought by another scheme.
    pub(crate) fn new(slots: usize, extent: Extent, estimate: Estimate) -> Self {
        Self { slots, extent, estimate }
    }

    /// That of a result whose slots follow from the same slots of `first` and `others`.
    pub(crate) fn slot_by_slot<'a>(
        first: &Self,
        others: impl IntoIterator<Item = &'a Self>,
        estimate: Estimate,
    ) -> Self {
        let extent = others.into_iter().fold(first.extent, |extent, other| extent.join(other.extent));
        Self { slots: first.slots, extent, estimate }
    }

    /// That of rotations by `steps` steps, or of sums of them.
    pub(crate) fn moved(&self, steps: impl IntoIterator<Item = isize>, estimate: Estimate) -> Self {
        Self { slots: self.slots, extent: self.extent_after(steps), estimate }
    }

    /// That of sums of rotations by `steps` steps, times `factors`: a matrix by its diagonals.
    pub(crate) fn diagonals<'a>(
        &self,
        steps: impl IntoIterator<Item = isize>,
        factors: impl IntoIterator<Item = &'a Self>,
        estimate: Estimate,
    ) -> Self {
        let moved = self.extent_after(steps);
        let extent = factors.into_iter().fold(moved, |extent, factor| extent.join(factor.extent));
        Self { slots: self.slots, extent, estimate }
    }

    /// That of the same polynomial read in other slots: in more it repeats; in fewer it is known to.
    pub(crate) fn in_slots(self, slots: usize, extent: Extent) -> Self {
        Self { slots, extent, estimate: self.estimate }
    }

    /// The same polynomial, of which another estimate is known.
    pub(crate) fn estimated(self, change: impl FnOnce(Estimate) -> Estimate) -> Self {
        Self { slots: self.slots, extent: self.extent, estimate: change(self.estimate) }
    }

    /// The same polynomial, of which the caller knows another length.
    pub(crate) fn with_length(self, length: Option<usize>) -> Result<Self> {
        let extent = self.extent.with_length(length, self.slots)?;
        Ok(self.in_its_slots(extent))
    }

    /// The same polynomial, of which the caller knows another period.
    pub(crate) fn with_period(self, period: usize) -> Result<Self> {
        let extent = Extent::new(self.extent.length(), period, self.slots)?;
        Ok(self.in_its_slots(extent))
    }

    fn in_its_slots(self, extent: Extent) -> Self {
        let slots = self.slots;
        self.in_slots(slots, extent)
    }

    pub(crate) const fn slots(&self) -> usize {
        self.slots
    }

    pub(crate) const fn extent(&self) -> Extent {
        self.extent
    }

    pub(crate) const fn estimate(&self) -> &Estimate {
        &self.estimate
    }

    /// Rotations by multiples of the period change nothing.
    fn extent_after(&self, steps: impl IntoIterator<Item = isize>) -> Extent {
        let moves = |steps: isize| !steps.unsigned_abs().is_multiple_of(self.extent.period());
        if steps.into_iter().any(moves) { self.extent.moved() } else { self.extent }
    }
}
