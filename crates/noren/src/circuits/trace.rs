//! Sums over equally spaced slots, and copies to them.

use std::collections::BTreeSet;

use noren_rlwe::error::Result;

use crate::schemes::slots::SlotEvaluator;

/// Adds up `count` slots that lie `stride` apart: `y[j] = sum_{i < count} x[j + i stride]`, indices modulo the slots.
///
/// Uses no level. The sum grows by doubling along the bits of `count`: `S_{2c} = S_c + rot(S_c, c stride)` and
/// `S_{c+1} = x + rot(S_c, stride)`. Two doublings in a row are one step of three rotations that share one
/// decomposition (the unrolling of "trace-type functions", with chunks of two: a third of the keys more than one by
/// one, for two thirds of the time). A power of two takes `ceil(log2(count) / 2)` steps.
///
/// # Errors
/// A key of [`rotations`] is missing.
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
    let mut total = x.clone();
    for step in steps(count, stride) {
        total = match step {
            Step::Multiply(rotations) => ev.sum_rotations(&total, &rotations)?,
            Step::Append => ev.add(x, &ev.rotate(&total, stride)?)?,
        };
    }
    Ok(total)
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
    let all: BTreeSet<isize> = steps(count, stride)
        .into_iter()
        .flat_map(|step| match step {
            Step::Multiply(rotations) => rotations,
            Step::Append => vec![stride],
        })
        .collect();
    all.into_iter().collect()
}

/// How a sum of `c` terms becomes one of more terms.
enum Step {
    /// `S + sum rot(S, r)`: two or four times the terms.
    Multiply(Vec<isize>),
    /// `x + rot(S, stride)`: one term more.
    Append,
}

/// The steps from one term to `count` terms, along the bits of `count` from the second highest down.
fn steps(count: usize, stride: isize) -> Vec<Step> {
    assert!(count > 0, "a sum needs at least one term");
    let mut steps = Vec::new();
    let mut bits = count.ilog2();
    let mut reached = stride; // c * stride, where c is the number of terms so far
    while bits > 0 {
        // A zero bit asks for a doubling alone, so that the next doubling can join it.
        let joined = bits >= 2 && count >> (bits - 1) & 1 == 0;
        if joined {
            steps.push(Step::Multiply(vec![reached, 2 * reached, 3 * reached]));
            bits -= 2;
            reached *= 4;
        } else {
            steps.push(Step::Multiply(vec![reached]));
            bits -= 1;
            reached *= 2;
        }
        if count >> bits & 1 == 1 {
            steps.push(Step::Append);
            reached += stride;
        }
    }
    steps
}
