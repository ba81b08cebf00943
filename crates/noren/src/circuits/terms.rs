//! Sums and products of the values of a vector, each of which counts once.
//!
//! [`trace`](crate::circuits::trace) and [`mod@product`] know slots alone. Here the [`Extent`] of the vector says which of
//! them hold values, and that of the result what the circuit knows of it.

use noren_rlwe::error::Result;

use crate::circuits::product;
use crate::circuits::trace::Unrolling;
use crate::schemes::error::ShapeError;
use crate::schemes::extent::Extent;
use crate::schemes::slots::SlotEvaluator;

/// The slots that a sum or a product takes: `count` of them, `stride` apart.
///
/// # Examples
/// ```
/// use noren::circuits::terms::Terms;
/// use noren::schemes::extent::Extent;
///
/// let x = Extent::of_values(5, 8);
/// assert_eq!(Terms::new(None, 1, x, 8)?, Terms::new(Some(5), 1, x, 8)?);
/// // The sixth slot holds no value.
/// assert!(Terms::new(Some(3), 2, x, 8).is_ok() && Terms::new(Some(3), 3, x, 8).is_err());
/// # Ok::<(), noren::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    count: usize,
    stride: isize,
}

impl Terms {
    /// The slots `c, c + stride, ..., c + (count - 1) stride` of a vector, `None` for all its values; `row` is the number of slots
    /// that rotations move around.
    ///
    /// # Errors
    /// [`ShapeError`]: slots that reach over more than the values, so that some count twice or are none; all values of two
    /// rows; no slots, or a stride of 0.
    pub fn new(count: Option<i64>, stride: i64, x: Extent, row: usize) -> Result<Self> {
        let (values, room) = (x.values(), x.values().min(row));
        let count = match count {
            Some(count) => count,
            None if values > row => return Err(ShapeError::Rows { values, row }.into()),
            None => values as i64,
        };
        if count < 1 || stride == 0 {
            let (what, found) = if count < 1 { ("count", count) } else { ("stride", stride) };
            return Err(ShapeError::NoTerms { what, found }.into());
        }
        let apart = stride.unsigned_abs();
        let reach = (count - 1).checked_mul(apart.min(i64::MAX as u64) as i64).unwrap_or(i64::MAX);
        if reach >= room as i64 {
            return Err(ShapeError::Reach { count, apart, reach: reach.saturating_add(1), room }.into());
        }
        Ok(Self { count: count as usize, stride: stride as isize })
    }

    /// How their sum is unrolled: as usual, or in as many steps as are asked for.
    ///
    /// # Errors
    /// As [`Unrolling::unrolled`].
    pub fn unrolling(self, steps: Option<usize>) -> Result<Unrolling> {
        match steps {
            None => Ok(Unrolling::usual(self.count, self.stride)),
            Some(steps) => Unrolling::unrolled(self.count, self.stride, steps),
        }
    }

    /// The rotations for which [`product`](Terms::product) needs keys.
    ///
    /// # Errors
    /// As [`product::rotations`].
    pub fn rotations_of_product(self) -> Result<Vec<isize>> {
        product::rotations(self.count, self.stride)
    }

    /// Slot c of the result is the sum of these slots from c on: [`Unrolling`]. A sum of all values stands in the first slot, in
    /// every slot if they fill a period, and is the only value of the result.
    ///
    /// # Errors
    /// As [`Terms::unrolling`] and [`Unrolling::apply`].
    pub fn sum<E: SlotEvaluator>(self, ev: &E, x: &E::Ciphertext, steps: Option<usize>) -> Result<E::Ciphertext> {
        let sum = self.unrolling(steps)?.apply(ev, x)?;
        self.known(ev, x, sum)
    }

    /// The product of these slots, as [`sum`](Terms::sum); `ceil(log2 count)` levels.
    ///
    /// # Errors
    /// As [`product::product`].
    pub fn product<E: SlotEvaluator>(self, ev: &E, x: &E::Ciphertext) -> Result<E::Ciphertext> {
        let product = product::product(ev, x, self.count, self.stride)?;
        self.known(ev, x, product)
    }

    /// The result with what is known of it: its values, and after how many slots they repeat.
    fn known<E: SlotEvaluator>(self, ev: &E, x: &E::Ciphertext, result: E::Ciphertext) -> Result<E::Ciphertext> {
        let (extent, apart) = (ev.extent(x), self.stride.unsigned_abs());
        let fills = apart.is_power_of_two() && self.count.checked_mul(apart) == Some(extent.period());
        if fills && extent.period() <= ev.slots(x) {
            let result = ev.with_period(result, apart);
            return if apart == 1 { ev.with_length(result, Some(1)) } else { Ok(result) };
        }
        let all = extent.length() == Some(self.count) && self.stride == 1;
        if all { ev.with_length(result, Some(1)) } else { Ok(result) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_that_count_twice_or_hold_no_value_are_refused() {
        let reach = |count, stride, x, row| Terms::new(count, stride, x, row).is_ok();
        let five = Extent::of_values(5, 16);
        for (count, stride, right) in [(5, 1, true), (6, 1, false), (3, 2, true), (3, -2, true), (2, 5, false)] {
            assert_eq!(reach(Some(count), stride, five, 16), right, "{count} {stride}");
        }
        // One slot is one value whatever the stride, and nothing overflows.
        assert!(reach(Some(1), i64::MIN, five, 16) && !reach(Some(i64::MAX), i64::MIN, five, 16));
        for (count, stride) in [(0, 1), (-1, 1), (1, 0)] {
            let refused = Terms::new(Some(count), stride, five, 16);
            assert!(matches!(refused, Err(error) if error.to_string().contains("at least one slot")));
        }
        let rows = Extent::of_slots(16);
        assert!(!reach(None, 1, rows, 8) && reach(Some(8), 1, rows, 8) && !reach(Some(9), 1, rows, 8));
        assert!(reach(None, 1, rows.repeated(4), 8) && !reach(Some(5), 1, rows.repeated(4), 8));
    }
}
