//! Products of equally spaced slots.

use std::collections::{BTreeMap, BTreeSet};

use noren_rlwe::error::{Error, Result};

use crate::schemes::slots::SlotEvaluator;

/// Multiplies `count` slots that lie `stride` apart: `y[j] = prod_{i < count} x[j + i stride]`, indices modulo the slots.
///
/// A rotate-and-multiply tree of depth `ceil(log2 count)`, the least that there can be: the product of c slots is
/// `P_c = P_floor(c/2) rot(P_ceil(c/2), floor(c/2) stride)`. It takes one product and one rotation a level for a power of
/// two, and at most two of each for other counts: numbers that are padded with ones up to the next power of two take the
/// fewest, and as many levels.
///
/// # Errors
/// No factors, or `count * stride` beyond the range of `isize`; too few levels; keys of [`rotations`] are missing: the error
/// names them all; no relinearisation key.
///
/// # Examples
/// ```
/// use noren::circuits::product::product;
/// use noren::schemes::clear::{ClearEvaluator, ClearVector};
///
/// let x = ClearVector::new(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], 2)?;
/// assert_eq!(product(&ClearEvaluator, &x, 3, 1)?.values()[..2], [6.0, 24.0]);
/// # Ok::<(), noren::error::Error>(())
/// ```
pub fn product<E: SlotEvaluator>(ev: &E, x: &E::Ciphertext, count: usize, stride: isize) -> Result<E::Ciphertext> {
    let (rotations, depth) = (rotations(count, stride)?, depth(count));
    let x = ev.with_levels(x, depth)?;
    if depth == 0 {
        return Ok(x);
    }
    // Keys need no more limbs than the level at which they are used: all have those of the lowest one.
    if let Ok(lowest) = ev.at_level(&x, ev.level(&x).saturating_sub(depth - 1)) {
        ev.check_rotations(&lowest, &rotations)?;
    }
    let mut products = BTreeMap::from([(1, ev.renewed_for_product(x)?)]);
    for c in counts(count) {
        let (low, high) = (c / 2, c.div_ceil(2));
        // Of the two operands, the longer one has no more levels than the other, so that its rotation is the cheaper one.
        let rotated = ev.rotate(&products[&high], low.cast_signed() * stride)?;
        let product = ev.mul(&products[&low], &rotated)?;
        if c == count {
            return Ok(product);
        }
        // Before its rotation: else both would be renewed.
        products.insert(c, ev.renewed_for_product(product)?);
    }
    unreachable!("the last product is the one of all factors")
}

/// The same by `count - 1` products in a row, `P_{c+1} = x rot(P_c, stride)`: as many levels, and one rotation key.
///
/// It is the way of Tsuji and Oguchi's comparison, here as the baseline of [`product`]. An evaluator with bootstrapping
/// renews the product where its levels end.
///
/// # Errors
/// As [`product`]; the only rotation is that by `stride`.
pub fn sequential<E: SlotEvaluator>(ev: &E, x: &E::Ciphertext, count: usize, stride: isize) -> Result<E::Ciphertext> {
    check(count, stride)?;
    if count > 1 {
        ev.check_rotations(x, &[stride])?;
    }
    let x = ev.with_levels(x, count - 1)?;
    (1..count).try_fold(x.clone(), |product, _| ev.mul(&x, &ev.rotate(&product, stride)?))
}

/// The rotations for which [`product`] needs keys, each once, in ascending order.
///
/// # Errors
/// No factors, or `count * stride` beyond the range of `isize`.
pub fn rotations(count: usize, stride: isize) -> Result<Vec<isize>> {
    check(count, stride)?;
    let all: BTreeSet<isize> = counts(count).into_iter().map(|c| (c / 2).cast_signed() * stride).collect();
    Ok(all.into_iter().collect())
}

/// The levels that [`product`] of `count` slots uses: `ceil(log2 count)`; 0 for no factors, which it refuses.
#[must_use]
pub fn depth(count: usize) -> usize {
    match count {
        0 | 1 => 0,
        count => (count - 1).ilog2() as usize + 1,
    }
}

fn check(count: usize, stride: isize) -> Result<()> {
    if count == 0 {
        return Err(Error::Length { what: "factors of a product", found: 0, needed: "at least 1".to_owned() });
    }
    if isize::try_from(count).ok().and_then(|count| count.checked_mul(stride)).is_none() {
        return Err(Error::parameter("stride", stride, format!("such that {count} factors lie within 2^63 slots")));
    }
    Ok(())
}

/// The numbers of factors of all products of the tree, ascending: halves of the halves are the quotients by powers of two,
/// rounded down and up.
fn counts(count: usize) -> BTreeSet<usize> {
    let bits = 0..=depth(count);
    bits.flat_map(|bits| [count >> bits, count.div_ceil(1 << bits)]).filter(|&c| c > 1).collect()
}
