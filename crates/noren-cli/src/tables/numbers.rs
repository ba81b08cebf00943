//! Tables of numbers, as they are read and as they are written.

use std::fmt;
use std::ops::RangeInclusive;
use std::path::Path;
use std::str::FromStr;

use crate::failure::Failure;
use crate::tables::decimal::{Decimal, LARGEST_EXACT};

/// A table of finite numbers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Numbers {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    /// Names of the columns, or nothing.
    pub(crate) names: Vec<String>,
    /// The numbers, row after row.
    pub(crate) entries: Vec<f64>,
    /// The entries that floating point has rounded, or may have, with their positions, ascending.
    pub(crate) exact: Vec<(usize, Exact)>,
}

/// A number that floating point has rounded, or may have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Exact {
    /// A whole number beyond 2^53.
    Whole(i128),
    /// The text of a number for which a whole one stands, and that is not whole, or that floating point may have rounded.
    Text(String),
}

impl Exact {
    /// The entry of a whole number, and what it stands for if that is another.
    pub(super) fn of_whole(whole: i128) -> (f64, Option<Self>) {
        (whole as f64, (whole.abs() > LARGEST_EXACT).then_some(Self::Whole(whole)))
    }

    /// The entry of a number in a text, and what it stands for if that is another.
    pub(super) fn of_text(text: &str, number: &Decimal) -> (f64, Option<Self>) {
        match *number {
            // A zero keeps its sign, as floating point has it.
            Decimal::Whole(0) => (if text.starts_with('-') { -0.0 } else { 0.0 }, None),
            Decimal::Whole(whole) => Self::of_whole(whole),
            Decimal::Nearest(x) => (x, (x.fract() == 0.0).then(|| Self::Text(text.to_owned()))),
        }
    }
}

impl Numbers {
    /// Where an entry is, in words: row and column from 1, and the name of the column.
    pub(crate) fn place(&self, index: usize) -> Place<'_> {
        let (row, column) = (index / self.columns, index % self.columns);
        Place { row: row + 1, column: column + 1, name: self.names.get(column).map(String::as_str) }
    }

    /// The whole number of an entry; or what stands there instead, in words.
    pub(crate) fn whole(&self, index: usize) -> Result<i128, String> {
        let x = self.entries[index];
        if let Ok(found) = self.exact.binary_search_by_key(&index, |(at, _)| *at) {
            return match &self.exact[found].1 {
                Exact::Whole(whole) => Ok(*whole),
                Exact::Text(text) if x.abs() > LARGEST_EXACT as f64 => Err(format!(
                    "{text}, above 2^53 and not written with digits alone, as if floating point had rounded it"
                )),
                Exact::Text(text) => Err(text.clone()),
            };
        }
        match x.fract() == 0.0 {
            true if x.abs() <= LARGEST_EXACT as f64 => Ok(x as i128),
            true => Err(format!("{x} in floating point, which holds not every whole number above 2^53")),
            false => Err(x.to_string()),
        }
    }

    /// The whole number of an entry, which must be in a range; `path` is what messages show, and `why` says what the range is of.
    pub(crate) fn whole_in(
        &self,
        index: usize,
        path: &Path,
        range: RangeInclusive<i128>,
        why: &str,
    ) -> Result<i128, Failure> {
        let needed = |found: String| {
            let needed = format!("a whole number from {} to {}, {why}", range.start(), range.end());
            Failure::input(path, self.place(index), found, needed)
        };
        let whole = self.whole(index).map_err(needed)?;
        if range.contains(&whole) { Ok(whole) } else { Err(needed(whole.to_string())) }
    }

    /// The entries that stay, in their new order: `place` says where the entry of a row and a column goes.
    pub(super) fn moved(mut self, columns: usize, place: impl Fn(usize, usize) -> Option<usize>) -> Self {
        let to = |index: usize| place(index / self.columns, index % self.columns);
        let mut entries: Vec<(usize, f64)> =
            self.entries.iter().enumerate().filter_map(|(index, &x)| Some((to(index)?, x))).collect();
        entries.sort_unstable_by_key(|(at, _)| *at);
        let mut exact: Vec<(usize, Exact)> = std::mem::take(&mut self.exact)
            .into_iter()
            .filter_map(|(index, exact)| Some((to(index)?, exact)))
            .collect();
        exact.sort_unstable_by_key(|(at, _)| *at);
        let entries: Vec<f64> = entries.into_iter().map(|(_, x)| x).collect();
        Self { rows: entries.len() / columns, columns, names: self.names, entries, exact }
    }
}

/// Row and column, from 1, as messages show them.
pub(crate) struct Place<'a> {
    pub(crate) row: usize,
    pub(crate) column: usize,
    pub(crate) name: Option<&'a str>,
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "row {}, column {}", self.row, self.column)?;
        self.name.map_or(Ok(()), |name| write!(f, " ({name:?})"))
    }
}

/// Decrypted numbers, as they are written.
pub(crate) struct Decrypted<'a> {
    /// They become the first column.
    pub(crate) row_names: Option<&'a [String]>,
    pub(crate) column_names: &'a [String],
    pub(crate) values: Values<'a>,
}

/// Numbers row after row.
#[derive(Clone, Copy)]
pub(crate) enum Values<'a> {
    /// With how far each may be from the true one; nothing where numbers are written with all digits.
    Real(&'a [f64], Option<&'a [f64]>),
    /// Of any integer type of 64 bits.
    Whole(&'a [i128]),
}

/// The digits of a number in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Digits {
    /// The unit of the last digit is the power of ten at or below the error bound.
    Supported,
    /// So many significant ones.
    Significant(usize),
    /// As many as tell a number from all others.
    Full,
}

impl Digits {
    /// Significant digits that tell all numbers apart.
    const MOST: usize = 17;

    /// A number as text; `error` is how far it may be from the true one.
    fn text(self, x: f64, error: f64) -> String {
        /// More decimals than this are written with an exponent.
        const DECIMALS: i32 = 30;
        match (self.last_place(x, error), x.is_finite()) {
            (Some(place), true) if (-DECIMALS..=0).contains(&place) && x.abs() < 1e15 => {
                without_sign_of_zero(format!("{x:.*}", place.unsigned_abs() as usize))
            }
            (Some(place), true) => {
                let rounded = match power_of_ten(x).and_then(|first| usize::try_from(first - place).ok()) {
                    Some(digits) => format!("{x:.*e}", digits.min(Self::MOST)).parse().unwrap_or(x),
                    // At most the last place.
                    None => match unit(place) {
                        unit if unit > 0.0 => (x / unit).round() * unit + 0.0,
                        _ => x,
                    },
                };
                if place > 0 && x.abs() < 1e15 { format!("{rounded:.0}") } else { format!("{rounded:?}") }
            }
            _ => format!("{x:?}"),
        }
    }

    /// The most that writing a number changes it by.
    pub(super) fn rounding(self, x: f64, error: f64) -> f64 {
        self.last_place(x, error).map_or(0.0, |place| 0.5 * unit(place))
    }

    /// The power of ten of the last digit; nothing for all digits.
    fn last_place(self, x: f64, error: f64) -> Option<i32> {
        match self {
            Self::Full => None,
            Self::Supported => power_of_ten(error),
            Self::Significant(digits) => Some(power_of_ten(x)? + 1 - digits as i32),
        }
    }
}

impl FromStr for Digits {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.parse()) {
            ("full", _) => Ok(Self::Full),
            (_, Ok(digits)) if (1..=Self::MOST).contains(&digits) => Ok(Self::Significant(digits)),
            _ => Err(format!("a number of digits from 1 to {}, or full, is needed", Self::MOST)),
        }
    }
}

/// A power of ten; 0 where there is no such number.
fn unit(place: i32) -> f64 {
    if place >= f64::MIN_10_EXP { 10f64.powi(place) } else { format!("1e{place}").parse().unwrap_or(0.0) }
}

/// The exponent of the largest power of ten that is at most `|x|`, the same on every machine; nothing for 0.
fn power_of_ten(x: f64) -> Option<i32> {
    let text = (x.is_finite() && x != 0.0).then(|| format!("{x:e}"))?;
    text.split_once('e')?.1.parse().ok()
}

fn without_sign_of_zero(text: String) -> String {
    match text.strip_prefix('-') {
        Some(rest) if rest.bytes().all(|sign| sign == b'0' || sign == b'.') => rest.to_owned(),
        _ => text,
    }
}

impl Values<'_> {
    /// How many there are.
    pub(super) const fn len(&self) -> usize {
        match self {
            Self::Real(values, _) => values.len(),
            Self::Whole(values) => values.len(),
        }
    }

    /// A number as text.
    pub(super) fn text(&self, index: usize, digits: Option<Digits>) -> String {
        match self {
            Self::Real(values, errors) => {
                let digits = digits.unwrap_or(if errors.is_some() { Digits::Supported } else { Digits::Full });
                digits.text(values[index], errors.map_or(0.0, |errors| errors[index]))
            }
            Self::Whole(values) => values[index].to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_digits_that_their_error_supports() {
        for (x, error, text) in [
            (1.234_567_8, 5.1e-6, "1.234568"),
            (1.234_567_8, 0.1, "1.2"),
            (-0.000_000_1, 5e-4, "0.0000"),
            (12_345.678, 3.0, "12346"),
            (12_345.678, 200.0, "12300"),
            (-49.0, 200.0, "0"),
            (-1e20, 3e16, "-1e20"),
            (1.5e-40, 1e-41, "1.5e-40"),
            (0.1, 0.0, "0.1"),
            (0.1, f64::INFINITY, "0.1"),
            (f64::NAN, 0.1, "NaN"),
            (6.4e-312, 3e-310, "0.0"),
            (7e-312, 2e-312, "7e-312"),
            (0.0, 5e-324, "0.0"),
        ] {
            assert_eq!(Digits::Supported.text(x, error), text, "{x} within {error}");
        }
        assert_eq!(Digits::Significant(3).text(1234.5, 1e-9), "1230");
        assert_eq!(Digits::Significant(3).text(0.012_345, 1.0), "0.0123");
        assert_eq!(Digits::Full.text(0.1 + 0.2, 1.0), "0.30000000000000004");
    }

    #[test]
    fn rounding_is_at_most_half_of_the_error() {
        for exponent in -80..80 {
            let error = 1.37f64.powi(exponent);
            let x = std::f64::consts::E * 1e3;
            let written: f64 = Digits::Supported.text(x, error).parse().expect("a number");
            let rounding = Digits::Supported.rounding(x, error);
            assert!(rounding <= 0.5 * error && (written - x).abs() <= rounding * (1.0 + 1e-9) + 1e-12, "{error}");
        }
    }
}
