//! Functions of values as tables that a bootstrap looks up.

use noren_ring::torus::table::Table;
use noren_rlwe::error::Result;

use crate::bootstrapping::ends::Affine;
use crate::schemes::error::SlotError;
use crate::switching::readout::Readout;

/// A quarter of the circle, as a word: the sine of its angle is 1.
pub(super) const QUARTER: u64 = 1 << 62;

/// A quarter the other way: the lower of two values.
pub(super) const LOW: u64 = QUARTER.wrapping_neg();

/// `2^64`.
const CIRCLE: f64 = 18_446_744_073_709_551_616.0;

/// A table of words, and how their sines are read as the values of a function.
pub(super) struct Function {
    pub table: Table,
    pub readout: Readout,
    pub affine: Affine,
}

/// The signs of phases: 1 in the first half of the circle, -1 in the second.
pub(super) fn signs(degree: usize) -> Table {
    Table::from_fn(degree, |_| QUARTER, &[0])
}

/// The word of a phase.
pub(super) fn word(phase: f64) -> u64 {
    (libm::rint((phase - libm::rint(phase)) * CIRCLE) as i64).cast_unsigned()
}

impl Function {
    /// The values of a function at the N coefficients of a table, which are the phases `(c + 1/2) / 2N`, and bounds on all values
    /// that the function has, also elsewhere.
    ///
    /// Values are `factor v + constant` of numbers v from -1 to 1 that span these bounds. Where there are two values alone, v is
    /// 1 or -1.
    pub(super) fn of_values(values: &[f64], [low, high]: [f64; 2]) -> Self {
        let affine = Affine { factor: (high - low) / 2.0, constant: (low + high) / 2.0 };
        let two = values.iter().all(|&value| value == low || value == high);
        let word = |value: f64| {
            if two {
                return if value == high { QUARTER } else { LOW };
            }
            let v = ((value - affine.constant) / affine.factor).clamp(-1.0, 1.0);
            self::word(libm::asin(v) / std::f64::consts::TAU)
        };
        let table = Table::from_fn(values.len(), |place| word(values[place]), &[0]);
        Self { table, readout: if two { Readout::Bits } else { Readout::Real }, affine }
    }

    /// The values of a function at `0, 1, ..., p-1`, a box each, half a box early: phases are `z / 2p`.
    pub(super) fn of_boxes(degree: usize, values: &[f64]) -> Self {
        let width = degree / values.len();
        let mut function = Self::of_values(values, range(values));
        let words = function.table.polynomial;
        let word = |place: usize| match (place + width / 2) / width {
            index if index < values.len() => words[index],
            _ => words[0].wrapping_neg(),
        };
        function.table = Table::from_fn(degree, word, &[0]);
        function
    }
}

/// The least and the largest value.
pub(super) fn range(values: &[f64]) -> [f64; 2] {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    [low, high]
}

/// Refuses values that are not numbers.
pub(super) fn check_finite(values: &[f64]) -> Result<()> {
    match values.iter().position(|value| !value.is_finite()) {
        None => Ok(()),
        Some(index) => Err(SlotError::NotFinite { index, value: values[index] }.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The value of a table at a coefficient from 0 to 2N - 1.
    fn read(function: &Function, place: usize) -> f64 {
        let n = function.table.polynomial.len();
        let word = function.table.polynomial[place % n];
        let word = if place < n { word } else { word.wrapping_neg() };
        let v = libm::sin(std::f64::consts::TAU * (word.cast_signed() as f64 / CIRCLE));
        function.affine.factor * v + function.affine.constant
    }

    #[test]
    fn tables_read_as_their_values() {
        let values: Vec<f64> = (0..64).map(|c| f64::from(c * c) / 100.0 - 3.0).collect();
        let function = Function::of_values(&values, range(&values));
        assert_eq!(function.readout, Readout::Real);
        for (place, &value) in values.iter().enumerate() {
            assert!((read(&function, place) - value).abs() < 1e-12, "{place}");
        }
        let bits = Function::of_values(&[5.0, 7.0, 7.0, 5.0], [5.0, 7.0]);
        assert_eq!(bits.readout, Readout::Bits);
        assert!((0..4).all(|place| (read(&bits, place) - [5.0, 7.0, 7.0, 5.0][place]).abs() < 1e-12));
        let constant = Function::of_values(&[2.5; 8], [2.5; 2]);
        assert_eq!(read(&constant, 3), 2.5);
    }

    #[test]
    fn boxes_begin_half_a_box_early() {
        let values = [3.0, -1.0, 0.5, 8.0];
        let function = Function::of_boxes(64, &values);
        for place in 0..128_usize {
            // A box has 16 coefficients; the last half box of the circle is that of 0.
            match (place + 8) / 16 {
                8 => assert!((read(&function, place) - values[0]).abs() < 1e-12),
                index if index < 4 => assert!((read(&function, place) - values[index]).abs() < 1e-12),
                _ => {}
            }
        }
    }
}
