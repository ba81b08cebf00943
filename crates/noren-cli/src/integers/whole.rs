//! Whole numbers of tables in clear.

use std::path::Path;

use crate::failure::Failure;
use crate::tables::numbers::Numbers;

/// The least and the largest number modulo t, and what they are.
pub(crate) fn residues(t: u64) -> (i64, i64, &'static str) {
    let t = t.cast_signed();
    (-(t / 2), t - 1, "the residues of the plaintext modulus")
}

/// The numbers of a table as integers: each whole and from the least to the largest that `bounds` has for its position.
pub(crate) fn whole(
    numbers: &Numbers,
    path: &Path,
    bounds: impl Fn(usize) -> (i64, i64, &'static str),
) -> Result<Vec<i64>, Failure> {
    let number = |index| {
        let (low, high, why) = bounds(index);
        // Both ends are of 64 bits.
        Ok(numbers.whole_in(index, path, low.into()..=high.into(), why)? as i64)
    };
    (0..numbers.entries.len()).map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::numbers::Exact;

    #[test]
    fn numbers_that_floating_point_rounds_are_exact_or_refused() {
        let bounds = |_| residues((1 << 60) - 1);
        let table = |x: f64, exact: Option<Exact>| {
            let exact = exact.map(|exact| (0, exact)).into_iter().collect();
            Numbers { rows: 1, columns: 1, names: Vec::new(), entries: vec![x], exact }
        };
        let large = Some(Exact::Whole((1 << 53) + 1));
        let text = Some(Exact::Text("0.99999999999999999999".to_owned()));
        for (x, exact, expected) in [
            (0.0, None, Ok(0)),
            (-3.0, None, Ok(-3)),
            (2f64.powi(53), None, Ok(1 << 53)),
            (2f64.powi(53), large, Ok((1 << 53) + 1)),
            (2f64.powi(54), None, Err("in floating point")),
            (0.5, None, Err("found 0.5, needed a whole number")),
            (1.0, text, Err("found 0.99999999999999999999, needed a whole number")),
            (2f64.powi(60), Some(Exact::Whole(1 << 60)), Err("found 1152921504606846976, needed a whole number from")),
        ] {
            let found = whole(&table(x, exact), Path::new("x.csv"), bounds).map_err(|error| error.to_string());
            match (found, expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found, [expected], "{x}"),
                (Err(message), Err(needed)) => assert!(message.contains(needed), "{message}"),
                other => panic!("{x}: {other:?}"),
            }
        }
        assert_eq!(residues(7), (-3, 6, residues(7).2));
    }
}
