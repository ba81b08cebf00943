//! Names of polynomials, by what they are computed from: those of the scheme and of its model are the same, so that both keep
//! errors apart alike.

use num_complex::Complex64;

use crate::schemes::ckks::estimate::mix;
use crate::schemes::ckks::scale::Scale;

/// Domain separators.
const RESCALE: u64 = 0x21;
const LOWER: u64 = 0x22;
const CONSTANT: u64 = 0x31;
const WEIGHTED: u64 = 0x32;
const CONJUGATE: u64 = 0x41;
const SUM_ROTATIONS: u64 = 0x42;
const ENCRYPTION: u64 = 0x51;

/// An encryption with this number among those of a computation.
pub(super) fn encryption(number: u64) -> u64 {
    mix(ENCRYPTION, number)
}

/// A polynomial divided by the last prime.
pub(super) fn rescaled(tag: u64) -> u64 {
    mix(tag, RESCALE)
}

/// A polynomial at a lower level and another scale.
pub(super) fn lowered(tag: u64, level: usize, scale: &Scale) -> u64 {
    mix(mix(tag, LOWER), mix(level as u64, scale.to_f64().to_bits()))
}

/// A number that is added.
pub(super) fn constant(c: Complex64) -> u64 {
    number(CONSTANT, c)
}

/// A polynomial times a whole number.
pub(super) fn multiple(tag: u64, k: i64) -> u64 {
    mix(tag, mix(CONSTANT, (k as f64).to_bits()))
}

/// The constant of a weighted sum.
pub(super) fn weighted_constant(c: Complex64) -> u64 {
    number(WEIGHTED, c)
}

/// A term of a weighted sum.
pub(super) fn weighted(tag: u64, c: Complex64) -> u64 {
    mix(tag, weighted_constant(c))
}

/// The complex conjugate.
pub(super) fn conjugated(tag: u64) -> u64 {
    mix(tag, CONJUGATE)
}

/// A polynomial and its rotations by `steps` of `slots` slots, added.
pub(super) fn summed_rotations(tag: u64, steps: &[isize], slots: usize) -> u64 {
    let named = |tag, steps: &isize| mix(tag, steps.rem_euclid(slots.cast_signed()).cast_unsigned() as u64);
    steps.iter().fold(mix(tag, SUM_ROTATIONS), named)
}

fn number(separator: u64, c: Complex64) -> u64 {
    mix(mix(separator, c.re.to_bits()), c.im.to_bits())
}
