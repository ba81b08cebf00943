//! Where the digits of a key switch come from.

use std::ops::Range;

use crate::engine::Engine;
use crate::engine::rows::{LimbRow, Rows};
use crate::host::convert::GROUP;
use crate::host::decompose::Lift;
use crate::host::digits::Digits;
use crate::operand::Operand;
use crate::poly::Poly;

/// Rows that the digits of a group of limbs may take, or those of one limb if they are more.
const SCRATCH_ROWS: usize = 16;

/// Where the digits come from.
pub(crate) enum Source<'a> {
    /// They are written down.
    Made(&'a Digits),
    /// Their rows are made where they are used.
    Lifted {
        lift: &'a Lift<'a>,
        element: Operand<'a>,
        /// For how many limbs at most.
        group: usize,
    },
}

/// The row of a digit at one limb.
pub(crate) enum DigitRow<'a> {
    Row(&'a [u64]),
    /// At a limb of the digit's own it is the row of the element, which is not written down.
    Own(Operand<'a>),
}

impl<'a> DigitRow<'a> {
    /// The element whose row this is.
    pub(crate) fn own(&self) -> Option<Operand<'a>> {
        match self {
            Self::Row(_) => None,
            Self::Own(element) => Some(*element),
        }
    }

    /// The words of a range of the row, which are in `own` if they are the element's.
    pub(crate) fn words<'b>(&'b self, range: Range<usize>, own: &'b [u64]) -> &'b [u64] {
        match self {
            Self::Row(row) => &row[range],
            Self::Own(_) => own,
        }
    }
}

impl<'a> Source<'a> {
    /// [`Source::Lifted`] for as many limbs as the conversions gain by.
    pub(crate) fn lifted(lift: &'a Lift<'a>, element: Operand<'a>) -> Self {
        Self::Lifted { lift, element, group: lift.group() }
    }

    /// How many digits there are.
    pub(crate) fn digits(&self) -> usize {
        match self {
            Self::Made(digits) => digits.polys().len(),
            Self::Lifted { lift, .. } => lift.digits(),
        }
    }

    pub(crate) fn is_secret(&self) -> bool {
        match self {
            Self::Made(digits) => digits.polys().iter().any(Poly::is_secret),
            Self::Lifted { element, .. } => element.is_secret(),
        }
    }

    /// How many rows of scratch all digits need together.
    pub(crate) fn scratch_rows(&self) -> usize {
        match self {
            Self::Made(_) => 0,
            Self::Lifted { .. } => self.places() * self.digits(),
        }
    }

    /// How many limbs are begun together at most, and how many rows of scratch each digit has.
    pub(crate) fn places(&self) -> usize {
        match self {
            Self::Made(_) => GROUP,
            Self::Lifted { lift, group, .. } => (SCRATCH_ROWS / lift.digits()).clamp(1, *group),
        }
    }

    /// Begins the digits' rows at some limbs, at most [`Source::places`], in `scratch` where they must be made at all.
    pub(crate) fn begin(
        &self,
        engine: &Engine,
        limbs: impl ExactSizeIterator<Item = usize> + Clone,
        scratch: &mut Rows,
    ) {
        let Self::Lifted { lift, .. } = self else { return };
        let mut free = scratch.rows_mut();
        for j in 0..lift.digits() {
            let mut group: [LimbRow; GROUP] = std::array::from_fn(|_| (0, [].as_mut_slice()));
            group.iter_mut().zip(free.by_ref().take(self.places())).for_each(|(place, row)| place.1 = row);
            group.iter_mut().zip(limbs.clone()).for_each(|(place, limb)| place.0 = limb);
            lift.convert(engine, j, &mut group[..limbs.len()]);
        }
    }

    /// Hands out the digits' rows at a limb, the one at `place` of [`Source::begin`], that are to be brought to evaluation
    /// form.
    pub(crate) fn begun<'b>(
        &self,
        limb: usize,
        place: usize,
        scratch: &'b mut Rows,
    ) -> impl Iterator<Item = &'b mut [u64]> {
        let rows = scratch.rows_mut().skip(place).step_by(self.places()).enumerate();
        rows.filter(move |&(j, _)| !self.is_own(j, limb)).map(|(_, row)| row)
    }

    /// The row of digit `j` at a limb, after those of [`Source::begun`] were transformed.
    pub(crate) fn row<'b>(&'b self, j: usize, limb: usize, place: usize, scratch: &'b Rows) -> DigitRow<'b> {
        match self {
            Self::Made(digits) => DigitRow::Row(digits.polys()[j].limb(limb)),
            Self::Lifted { .. } if !self.is_own(j, limb) => DigitRow::Row(scratch.row(j * self.places() + place)),
            Self::Lifted { element: Operand::Element(element), .. } => DigitRow::Row(element.limb(limb)),
            Self::Lifted { element, .. } => DigitRow::Own(*element),
        }
    }

    fn is_own(&self, j: usize, limb: usize) -> bool {
        match self {
            Self::Made(_) => false,
            Self::Lifted { lift, .. } => lift.is_own(j, limb),
        }
    }
}
