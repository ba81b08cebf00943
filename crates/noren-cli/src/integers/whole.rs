//! Whole numbers of tables in clear.

use std::path::Path;

use crate::failure::Failure;
use crate::tables::numbers::{Numbers, Rounded};

/// The largest number up to which tables in floating point hold all whole numbers.
const LARGEST: i64 = 1 << 53;

/// The least and the largest number modulo t that a table can hold, and what they are.
pub(crate) fn residues(t: u64) -> (i64, i64, &'static str) {
    let t = t.cast_signed();
    (-(t / 2).min(LARGEST), (t - 1).min(LARGEST), "the residues of the plaintext modulus, and exact in a table")
}

/// The numbers of a table as integers: each whole and from the least to the largest that `bounds` has for its position.
pub(crate) fn whole(
    numbers: &Numbers,
    path: &Path,
    bounds: impl Fn(usize) -> (i64, i64, &'static str),
) -> Result<Vec<i64>, Failure> {
    let needed = |index| {
        let (low, high, why) = bounds(index);
        format!("a whole number from {low} to {high}, {why}")
    };
    if let Some(Rounded { text, place, column }) = &numbers.rounded {
        return Err(Failure::input(path, place, text, needed(*column)));
    }
    let number = |(index, &x): (usize, &f64)| {
        let (low, high, _) = bounds(index);
        if x.fract() == 0.0 && (low as f64..=high as f64).contains(&x) && x.abs() <= LARGEST as f64 {
            return Ok(x as i64);
        }
        Err(Failure::input(path, numbers.place(index), x, needed(index)))
    };
    numbers.entries.iter().enumerate().map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_floating_point_rounds_are_refused() {
        let bounds = |_| residues((1 << 60) - 1);
        let table = |x: f64| Numbers { rows: 1, columns: 1, names: Vec::new(), entries: vec![x], rounded: None };
        for (x, expected) in
            [(0.0, Some(0)), (-3.0, Some(-3)), (2f64.powi(53), Some(1 << 53)), (2f64.powi(54), None), (0.5, None)]
        {
            let found = whole(&table(x), Path::new("x.csv"), bounds).ok();
            assert_eq!(found, expected.map(|x: i64| vec![x]), "{x}");
        }
        assert_eq!(residues(7), (-3, 6, residues(7).2));
        // The text of a number that floating point has rounded to a whole one.
        let (text, place) = ("0.99999999999999999999".to_owned(), "row 1".to_owned());
        let rounded = Rounded { text, place, column: 0 };
        let rounded = Numbers { rounded: Some(rounded), ..table(1.0) };
        let message = whole(&rounded, Path::new("x.csv"), bounds).expect_err("no whole number").to_string();
        assert!(message.contains("found 0.99999999999999999999, needed a whole number"), "{message}");
    }
}
