//! The largest values that columns can have: they decide the scaling, and are public.

use std::collections::BTreeMap;
use std::fmt;

use noren_rlwe::error::{Error, Result};
use serde::de::{Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::programs::layout::{TableLayout, check_length, exponent_above};
use crate::programs::table::names;

/// Bounds on the absolute values of columns, from what is known of the quantities.
///
/// As JSON `100`, `[120, 60]` or `{"age": 120, "bmi": 60}`.
#[derive(Debug, Clone, PartialEq)]
pub enum Bounds {
    /// One for all columns.
    All(f64),
    /// One for each column, in order.
    Each(Vec<f64>),
    /// One for each column, by name, or by position where there are no names.
    Named(BTreeMap<String, f64>),
}

impl Bounds {
    /// The bound of each column of a table, in order.
    ///
    /// # Errors
    /// Too few or too many bounds, names that are not those of the columns, a bound that is not a positive number.
    pub fn of_columns(&self, layout: &TableLayout) -> Result<Vec<f64>> {
        let names = names(layout.column_names(), layout.columns());
        let bounds = match self {
            Self::All(bound) => vec![*bound; names.len()],
            Self::Each(bounds) => bounds.clone(),
            Self::Named(bounds) => {
                let listed = || format!("for the columns {names:?}, no more and no less");
                if let Some(name) = bounds.keys().find(|name| !names.contains(name)) {
                    return Err(Error::parameter("bounds", format!("for a column {name:?}"), listed()));
                }
                let of = |name| bounds.get(name).copied();
                let missing = |name| Error::parameter("bounds", format!("without column {name:?}"), listed());
                names.iter().map(|name| of(name).ok_or_else(|| missing(name))).collect::<Result<_>>()?
            }
        };
        check_length("bounds of columns", bounds.len(), names.len())?;
        match bounds.iter().position(|bound| !(bound.is_finite() && *bound > 0.0)) {
            Some(column) => {
                let found = format!("{} for column {:?}", bounds[column], names[column]);
                Err(Error::parameter("bound", found, "a positive number"))
            }
            None => Ok(bounds),
        }
    }
}

impl<'de> Deserialize<'de> for Bounds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_any(BoundsVisitor)
    }
}

/// Reads bounds of any form; a name that occurs twice is refused.
struct BoundsVisitor;

impl<'de> Visitor<'de> for BoundsVisitor {
    type Value = Bounds;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, a list of numbers, or an object of names and numbers")
    }

    fn visit_f64<E>(self, bound: f64) -> std::result::Result<Bounds, E> {
        Ok(Bounds::All(bound))
    }

    fn visit_u64<E>(self, bound: u64) -> std::result::Result<Bounds, E> {
        Ok(Bounds::All(bound as f64))
    }

    fn visit_i64<E>(self, bound: i64) -> std::result::Result<Bounds, E> {
        Ok(Bounds::All(bound as f64))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> std::result::Result<Bounds, A::Error> {
        let mut bounds = Vec::new();
        while let Some(bound) = list.next_element()? {
            bounds.push(bound);
        }
        Ok(Bounds::Each(bounds))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Bounds, A::Error> {
        let mut bounds = BTreeMap::new();
        while let Some((name, bound)) = map.next_entry::<String, f64>()? {
            if bounds.contains_key(&name) {
                return Err(A::Error::custom(format_args!("a second bound of column {name:?}")));
            }
            bounds.insert(name, bound);
        }
        Ok(Bounds::Named(bounds))
    }
}

impl TableLayout {
    /// The same layout with the smallest exponents that suit columns within these bounds.
    ///
    /// # Errors
    /// As [`Bounds::of_columns`], and [`TableLayout::with_exponents`].
    pub fn with_bounds(self, bounds: &Bounds) -> Result<Self> {
        let exponents = bounds.of_columns(&self)?.into_iter().map(exponent_above).collect();
        self.with_exponents(exponents)
    }

    /// [`with_bounds`](Self::with_bounds) for these entries, row after row, which must be within the bounds themselves.
    ///
    /// # Errors
    /// As [`with_bounds`](Self::with_bounds); [`Error::Parameters`] names the first entry that exceeds the bound of its column.
    pub fn with_bounds_on(self, bounds: &Bounds, entries: &[f64]) -> Result<Self> {
        let of_columns = bounds.of_columns(&self)?;
        let columns = self.columns();
        let exceeds = |(index, entry): (usize, &f64)| (entry.abs() > of_columns[index % columns]).then_some(index);
        if let Some(index) = entries.iter().enumerate().find_map(exceeds) {
            let (row, column) = (index / columns, index % columns);
            let name = &names(self.column_names(), columns)[column];
            let found = format!("{} in row {row}, column {name:?}", entries[index]);
            return Err(Error::parameter("entry", found, format!("at most {}, its bound", of_columns[column])));
        }
        self.with_bounds(bounds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout() -> TableLayout {
        let layout = TableLayout::new(4, 3, 16).expect("a layout");
        layout.with_column_names(["age", "bmi", "bp"].map(str::to_owned).to_vec()).expect("three names")
    }

    fn bounds(json: &str) -> Bounds {
        serde_json::from_str(json).expect("bounds")
    }

    #[test]
    fn bounds_become_the_next_powers_of_two() {
        for (json, exponents) in
            [("100", [7, 7, 7]), ("[8, 60, 1000]", [3, 6, 10]), (r#"{"bp": 1000, "age": 8, "bmi": 0.3}"#, [3, -1, 10])]
        {
            assert_eq!(layout().with_bounds(&bounds(json)).expect("positive").exponents(), exponents, "{json}");
        }
        let unnamed = TableLayout::new(4, 2, 16).expect("a layout");
        let by_position = bounds(r#"{"1": 2, "0": 1}"#);
        assert_eq!(unnamed.with_bounds(&by_position).expect("positions are names").exponents(), [0, 1]);
    }

    #[test]
    fn entries_beyond_a_bound_are_named_though_the_power_of_two_holds_them() {
        let entries = [1.0, 2.0, 3.0, -7.5, 2.0, 3.0];
        for (json, refused) in [("5", true), ("[7.49, 2, 3]", true), ("[7.5, 2, 3]", false), ("8", false)] {
            let layout = TableLayout::new(2, 3, 16).expect("a layout");
            let scaled = layout.with_bounds_on(&bounds(json), &entries).map(|_| ());
            let message = scaled.map_or_else(|error| error.to_string(), |()| String::new());
            assert_eq!(message.contains("-7.5 in row 1, column \"0\""), refused, "{json}: {message}");
        }
    }

    #[test]
    fn bounds_that_cannot_be_read_are_named() {
        for (json, needed) in [
            (r#"{"a": 1, "b": 1, "b": 100}"#, "a second bound of column \"b\""),
            (r#"{"a": "1"}"#, "expected f64"),
            ("true", "expected a number, a list of numbers, or an object of names and numbers"),
        ] {
            let message = serde_json::from_str::<Bounds>(json).expect_err("refused").to_string();
            assert!(message.contains(needed), "{json}: {message}");
        }
    }

    #[test]
    fn bounds_that_do_not_suit_are_named() {
        for (json, needed) in [
            ("[1, 2]", "expected 3, found 2"),
            ("[1, 0, 2]", "bound is 0 for column \"bmi\""),
            ("-1", "column \"age\""),
            ("1e200", "size of the numbers of a column is 2^665"),
            (r#"{"age": 1, "bmi": 2}"#, "without column \"bp\""),
            (r#"{"age": 1, "bmi": 2, "bp": 3, "sex": 4}"#, "column \"sex\""),
        ] {
            let message = layout().with_bounds(&bounds(json)).expect_err("refused").to_string();
            assert!(message.contains(needed), "{json}: {message}");
        }
    }
}
