//! The largest values that columns can have: they decide the scaling, and are public.

use std::collections::BTreeMap;
use std::path::Path;

use noren::programs::layout::TableLayout;
use noren_rlwe::wire::file;
use serde::Deserialize;

use crate::failure::Failure;
use crate::tables::numbers::Numbers;

/// The most bytes that are read of a file of bounds.
const MAX_BYTES: u64 = 1 << 24;

/// Bounds as a file holds them, in JSON.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Written {
    /// One for all columns: `100`.
    All(f64),
    /// One for each column, in order: `[120, 60]`.
    List(Vec<f64>),
    /// One for each column, by name: `{"age": 120, "bmi": 60}`.
    Named(BTreeMap<String, f64>),
}

/// Reads the bounds of the columns of a layout.
pub(crate) fn read(path: &Path, layout: &TableLayout) -> Result<Vec<f64>, Failure> {
    let columns = layout.columns();
    let bytes = file::read(path, MAX_BYTES)?;
    let needed = "a number, a list of numbers, or an object of names and numbers";
    let written = serde_json::from_slice(&bytes).map_err(|error| Failure::input(path, "the file", error, needed))?;
    let bounds = match written {
        Written::All(bound) => vec![bound; columns],
        Written::List(bounds) => bounds,
        Written::Named(mut bounds) => {
            let of = |name: &String| {
                let missing = || Failure::input(path, format!("column {name:?}"), "no bound", "one for each column");
                bounds.remove(name).ok_or_else(missing)
            };
            let found = names(layout).iter().map(of).collect::<Result<Vec<_>, _>>()?;
            if let Some(name) = bounds.keys().next() {
                return Err(Failure::input(path, "the file", format!("a bound for {name:?}"), "names of columns only"));
            }
            found
        }
    };
    if bounds.len() != columns {
        return Err(Failure::input(path, "the file", format!("{} bounds", bounds.len()), format!("{columns}")));
    }
    match bounds.iter().position(|bound| !(bound.is_finite() && *bound > 0.0)) {
        Some(column) => {
            let place = format!("the bound of column {}", column + 1);
            Err(Failure::input(path, place, bounds[column], "a positive number"))
        }
        None => Ok(bounds),
    }
}

/// The layout for columns within these bounds.
pub(crate) fn scale(path: &Path, layout: TableLayout, bounds: &[f64]) -> Result<TableLayout, Failure> {
    // A table of one row, the bounds, has the exponents that are needed.
    let row = TableLayout::new(1, layout.columns(), layout.slots())
        .and_then(|row| row.with_exponents_of(bounds))
        .map_err(Failure::file(path))?;
    Ok(layout.with_exponents(row.exponents().to_vec())?)
}

/// Refuses a number beyond its bound.
pub(crate) fn check(path: &Path, numbers: &Numbers, bounds: &[f64]) -> Result<(), Failure> {
    let beyond = |(index, value): (usize, &f64)| (value.abs() > bounds[index % numbers.columns]).then_some(index);
    match numbers.entries.iter().enumerate().find_map(beyond) {
        Some(index) => {
            let bound = bounds[index % numbers.columns];
            let needed = format!("at most {bound:?}, the bound of its column");
            Err(Failure::input(path, numbers.place(index), numbers.entries[index], needed))
        }
        None => Ok(()),
    }
}

/// The names of the columns, their positions where there are none.
fn names(layout: &TableLayout) -> Vec<String> {
    match layout.column_names() {
        [] => (0..layout.columns()).map(|column| column.to_string()).collect(),
        names => names.to_vec(),
    }
}
