//! Masks that keep some slots of a sum over rows, times a factor as small as one over the number of rows.

use noren_rlwe::error::Result;

use crate::programs::evaluator::TableEvaluator;
use crate::programs::layout::{TableLayout, exponent_above};

/// A factor of sums over the rows of a table, as the numbers that are encoded for it.
///
/// A mask is a polynomial of rounded coefficients: with a factor c in some slots and the prime q that the product is
/// divided by, every slot is off by about `sqrt(slots / 6) / q`, whatever c is. A sum of n rows is up to n, so that
/// `c = 1 / n` at once makes an error of `n sqrt(slots / 6) / q`, the same for all tables: nothing for a few rows, but
/// `10^-5` for a million of them. So the factor of a large table is split in two, `c = a b` with a mask of a and the
/// number b, and uses two levels. A rounded number is off by `1 / 2q` at most. The errors are `n b sqrt(slots / 6) / q`
/// of the mask and `n a / 2q` of the number then: both grow with `sqrt(n)` alone.
pub(super) struct SumFactor {
    /// The number in the slots that the mask keeps.
    mask: f64,
    /// The scalar of a second multiplication, a power of two; `None` for at most [`ROWS_AT_ONCE`] rows.
    number: Option<f64>,
}

/// The most rows of tables whose sums are masked and multiplied at once.
///
/// A fresh encryption in a ring of degree N is off by `3.7 N / q`, and a mask by `n sqrt(N / 12) / q`, for a scale of q:
/// less than that of the encryption up to `n = 12 sqrt(N)`, which is 1100 for `N = 2^13`.
const ROWS_AT_ONCE: usize = 1 << 10;

/// By how many bits the number is smaller than the mask: half of what rounded masks are further off than numbers, by
/// `sqrt(slots / 6)` and a tail of 6 of these, against `1 / 2`: 8 or 9 bits for rings of a degree of 2^13 to 2^15.
const NUMBER_BITS: i32 = 4;

impl SumFactor {
    /// This factor of sums over all rows of a table.
    pub fn new(layout: &TableLayout, factor: f64) -> Self {
        if layout.rows() <= ROWS_AT_ONCE {
            return Self { mask: factor, number: None };
        }
        let number = libm::ldexp(1.0, -(exponent_above(layout.rows() as f64) / 2 + NUMBER_BITS));
        Self { mask: factor / number, number: Some(number) }
    }

    /// The sum times the factor in the slots where `mask` puts the number that it is given, and zeros elsewhere: one level,
    /// or two for a large table.
    pub fn mask<E: TableEvaluator>(
        &self,
        ev: &E,
        sum: &E::Ciphertext,
        mask: impl Fn(f64) -> Vec<f64>,
    ) -> Result<E::Ciphertext> {
        self.finish(ev, ev.mul_plain(sum, &ev.encode_for(&mask(self.mask), sum)?)?)
    }

    /// The sum times the factor in all slots: one level, or two for a large table.
    pub fn multiply<E: TableEvaluator>(&self, ev: &E, sum: &E::Ciphertext) -> Result<E::Ciphertext> {
        self.finish(ev, ev.weighted_sum(&[(sum, self.mask)], 0.0)?)
    }

    /// A bound on what the rounding of mask and number adds to results, in units of the encoded numbers, where a mask of numbers
    /// up to 1 is off by `mask` in each slot, and a number by `number`.
    pub fn rounding_error(&self, layout: &TableLayout, mask: f64, number: f64) -> f64 {
        sum_magnitude(layout) * self.number.map_or(mask, |factor| factor * mask + self.mask * number)
    }

    fn finish<E: TableEvaluator>(&self, ev: &E, product: E::Ciphertext) -> Result<E::Ciphertext> {
        match self.number {
            Some(number) => ev.weighted_sum(&[(&product, number)], 0.0),
            None => Ok(product),
        }
    }
}

/// The largest sum over rows of numbers of at most 1. Only sums of whole blocks of slots count rows of two columns,
/// and then no more than `height` of each row group.
pub(super) fn sum_magnitude(layout: &TableLayout) -> f64 {
    (layout.groups() * layout.height()) as f64
}
