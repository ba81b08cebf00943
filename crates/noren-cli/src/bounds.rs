//! The largest values that columns can have, from files.

use std::path::Path;

use noren::programs::Bounds;
use noren::programs::TableLayout;
use noren_rlwe::wire::file;

use crate::failure::Failure;
use crate::tables::numbers::Numbers;

/// The most bytes that are read of a file of bounds.
const MAX_BYTES: u64 = 1 << 24;

/// Reads bounds from a JSON file.
pub(crate) fn read(path: &Path) -> Result<Bounds, Failure> {
    let bytes = file::read(path, MAX_BYTES)?;
    let needed = "a number, a list of numbers, or an object of names and numbers";
    serde_json::from_slice(&bytes).map_err(|error| Failure::input(path, "the file", error, needed))
}

/// The layout for columns within the bounds in a file, once all numbers are.
pub(crate) fn scale(layout: TableLayout, path: &Path, input: &Path, numbers: &Numbers) -> Result<TableLayout, Failure> {
    let bounds = read(path)?;
    let of_columns = bounds.of_columns(&layout).map_err(Failure::file(path))?;
    check(input, numbers, &of_columns)?;
    layout.with_bounds(&bounds).map_err(Failure::file(path))
}

/// Refuses a number beyond its bound.
fn check(path: &Path, numbers: &Numbers, bounds: &[f64]) -> Result<(), Failure> {
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
