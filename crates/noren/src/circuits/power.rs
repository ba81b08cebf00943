//! Whole powers of every slot.

use std::collections::BTreeMap;

use noren_rlwe::error::{Error, Result};

use crate::schemes::slots::SlotEvaluator;

/// `x^exponent`, in `ceil(log2 exponent)` levels: the fewest that there can be.
///
/// `x^e = x^(e/2) x^(e/2)`, the halves rounded up and down: at most two products for each bit of the exponent.
///
/// # Errors
/// An exponent of 0, which needs no vector; too few levels; no relinearisation key.
///
/// # Examples
/// ```
/// use noren::circuits::power::power;
/// use noren::schemes::clear::{ClearEvaluator, ClearVector};
///
/// let x = ClearVector::new(vec![2.0, -1.0], 3)?;
/// assert_eq!(power(&ClearEvaluator, &x, 7)?.values(), [128.0, -1.0]);
/// # Ok::<(), noren::error::Error>(())
/// ```
pub fn power<E: SlotEvaluator>(ev: &E, x: &E::Ciphertext, exponent: u32) -> Result<E::Ciphertext> {
    if exponent == 0 {
        return Err(Error::parameter("exponent", exponent, "at least 1"));
    }
    let x = ev.with_levels(x, exponent.next_power_of_two().ilog2() as usize)?;
    let mut powers = BTreeMap::from([(1, x)]);
    // Halves of the halves are the quotients by powers of two, rounded down and up.
    for bits in (0..=exponent.ilog2()).rev() {
        for e in [exponent >> bits, exponent.div_ceil(1 << bits)] {
            if !powers.contains_key(&e) {
                let (high, low) = (&powers[&e.div_ceil(2)], &powers[&(e / 2)]);
                let product = if e % 2 == 0 { ev.square(high)? } else { ev.mul(high, low)? };
                powers.insert(e, product);
            }
        }
    }
    Ok(powers.remove(&exponent).expect("the last power is the one that was asked for"))
}
