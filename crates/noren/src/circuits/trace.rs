//! Sums over equally spaced slots, and copies to them.

mod unrolling;

use noren_rlwe::error::Result;

use crate::schemes::slots::SlotEvaluator;

pub use unrolling::Unrolling;

/// Adds up `count` slots that lie `stride` apart: `y[j] = sum_{i < count} x[j + i stride]`, indices modulo the slots.
///
/// By [`Unrolling::usual`]; no level.
///
/// # Errors
/// Keys of [`rotations`] are missing: the error names them all.
///
/// # Panics
/// `count` is zero.
///
/// # Examples
/// ```
/// use noren::circuits::trace;
/// use noren::schemes::clear::{ClearEvaluator, ClearVector};
///
/// let x = ClearVector::new(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], 0)?;
/// let sums = trace::sum(&ClearEvaluator, &x, 3, 1)?;
/// assert_eq!(sums.values()[0], 6.0);
/// # Ok::<(), noren::error::Error>(())
/// ```
pub fn sum<E: SlotEvaluator>(ev: &E, x: &E::Ciphertext, count: usize, stride: isize) -> Result<E::Ciphertext> {
    Unrolling::usual(count, stride).apply(ev, x)
}

/// Copies every slot to the `count` slots from it on, `stride` apart: `y[j] = sum_{i < count} x[j - i stride]`.
///
/// The slots that the copies fall on must hold zero: it is [`sum`] in the other direction. Needs the keys of
/// `rotations(count, -stride)`.
///
/// # Errors
/// As [`sum`].
///
/// # Panics
/// As [`sum`].
pub fn replicate<E: SlotEvaluator>(ev: &E, x: &E::Ciphertext, count: usize, stride: isize) -> Result<E::Ciphertext> {
    sum(ev, x, count, -stride)
}

/// The rotations for which [`sum`] needs keys, each once, in ascending order.
///
/// # Panics
/// `count` is zero.
#[must_use]
pub fn rotations(count: usize, stride: isize) -> Vec<isize> {
    Unrolling::usual(count, stride).rotations()
}
