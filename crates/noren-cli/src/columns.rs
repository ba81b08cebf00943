//! Columns that are chosen by name or position.

use std::path::Path;

use crate::failure::Failure;

/// Refuses columns that are asked for twice where each gives a column of the result, whose names must differ.
pub(crate) fn check_distinct(chosen: &[usize], asked: &[String]) -> Result<(), Failure> {
    match chosen.iter().enumerate().find(|(index, column)| chosen[..*index].contains(column)) {
        Some((index, _)) => {
            let found = format!("{:?} once more", asked[index]);
            Err(Failure::Unsuitable { what: "--columns", found, needed: "each column once".to_owned() })
        }
        None => Ok(()),
    }
}

/// The position of a column among those of a table.
pub(crate) fn position(names: &[impl AsRef<str>], text: &str, input: &Path) -> Result<usize, Failure> {
    position_for("--columns", names, text, input)
}

/// As [`position`], for another option.
pub(crate) fn position_for(
    option: &'static str,
    names: &[impl AsRef<str>],
    text: &str,
    input: &Path,
) -> Result<usize, Failure> {
    let named = names.iter().position(|name| name.as_ref() == text);
    named.or_else(|| text.parse().ok().filter(|&column| column < names.len())).ok_or_else(|| {
        let all: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
        let needed = format!("a name ({}) or a position from 0 to {}", all.join(", "), names.len() - 1);
        Failure::input(input, option, format!("{text:?}"), needed)
    })
}
