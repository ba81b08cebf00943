//! The types that hold intervals.

use crate::graph::interval::Interval;
use crate::programs::columns::Element;

/// The widths of integers that travel, and of signed ones: negative ones are not made wider for nothing.
const WIDTHS: [u32; 4] = [8, 16, 32, 64];
/// The bits of a digit: integers that are not negative are computed in as few digits as hold them.
pub(super) const DIGIT_BITS: u32 = 2;
/// The most bits of integers whose tables are looked up by bootstraps of all digits together, without circuit bootstraps.
pub(super) const DIRECT_BITS: u32 = 4;

/// The narrowest of the types that travel which holds an interval.
pub(super) fn travelling(range: Interval) -> Element {
    let fits = |bits: &u32| match range.low < 0.0 {
        true => range.low >= -libm::exp2(f64::from(bits - 1)) && range.high < libm::exp2(f64::from(bits - 1)),
        false => range.high < libm::exp2(f64::from(*bits)),
    };
    let bits = WIDTHS.into_iter().find(fits).unwrap_or(64);
    if range.low < 0.0 { Element::Signed(bits) } else { Element::Unsigned(bits) }
}

/// The narrowest type that holds an interval: without signs one of whole digits.
pub(super) fn holding(range: Interval) -> Element {
    match travelling(range) {
        Element::Unsigned(most) => {
            let bits = 64 - (range.high as u64).leading_zeros();
            Element::Unsigned(bits.next_multiple_of(DIGIT_BITS).clamp(DIGIT_BITS, most))
        }
        signed => signed,
    }
}
