//! The options of keys that those of several schemes share: programs and their tables, rotations.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, value_parser};
use noren::programs::{Program, Shape};

use crate::bounds;
use crate::failure::Failure;
use crate::programs;

/// The programs, tables and rotations that keys are for.
#[derive(Debug, Args)]
pub(crate) struct KeyOptions {
    /// The programs to run
    #[arg(long, value_name = "PROGRAM,...", requires = "rows", requires = "columns", value_delimiter = ',',
        value_parser = PossibleValuesParser::new(Program::NAMES))]
    program: Vec<String>,
    /// The model of a program, as JSON; PROGRAM=FILE says of which
    #[arg(long, value_name = "[PROGRAM=]FILE")]
    model: Vec<String>,
    /// The number of rows of tables; with --switching, of those that argmin and the like search
    #[arg(long, value_parser = value_parser!(u32).range(1..))]
    pub(crate) rows: Option<u32>,
    /// The number of columns, or their names
    #[arg(long, value_name = "COUNT|NAME,...", value_parser = parse_columns)]
    columns: Option<Columns>,
    /// The largest absolute values of columns, as JSON: a number, a list, or names with numbers
    #[arg(long, value_name = "FILE")]
    bounds: Option<PathBuf>,
    /// Plan for models whose interval the bounds do not prove, too: arguments go along with results, whoever decrypts learns
    /// them, and results with an argument outside are refused
    #[arg(long, requires = "bounds")]
    unproven_interval: bool,
    /// The error of results, relative to the bounds of columns, is about 2^-BITS
    #[arg(long, value_name = "BITS", default_value_t = 20.0)]
    pub(crate) precision: f64,
    /// Use these parameters instead of choosing some
    #[arg(long, value_name = "FILE", conflicts_with = "precision")]
    pub(crate) params: Option<PathBuf>,
    /// Also keys for these rotations, up to the level of results
    #[arg(
        long,
        value_name = "STEPS,...",
        value_delimiter = ',',
        allow_hyphen_values = true,
        conflicts_with = "program"
    )]
    pub(crate) rotations: Vec<isize>,
    /// Also the key that swaps the two rows of slots of exact integers
    #[arg(long, conflicts_with = "program")]
    pub(crate) swap_rows: bool,
}

/// Columns of tables: how many, and their names if they are known.
#[derive(Debug, Clone, Default)]
struct Columns {
    count: usize,
    names: Vec<String>,
}

impl KeyOptions {
    /// The programs with their models.
    pub(crate) fn programs(&self) -> Result<Vec<Program>, Failure> {
        programs::programs(&self.program, &self.model)
    }

    /// How many columns tables have, if it is known.
    pub(crate) fn columns(&self) -> Option<usize> {
        self.columns.as_ref().map(|columns| columns.count)
    }

    /// The tables that programs are to run on.
    pub(crate) fn shape(&self) -> Result<Shape, Failure> {
        let bounds = self.bounds.as_deref().map(bounds::read).transpose()?;
        // They are there wherever a program is.
        let Columns { count: columns, names: column_names } = self.columns.clone().unwrap_or_default();
        let rows = self.rows.unwrap_or_default() as usize;
        let shape = Shape { rows, columns, column_names, bounds, unproven_interval: self.unproven_interval };
        if let Some(path) = &self.bounds {
            // Bounds that do not suit the columns are refused with the name of their file.
            shape.layout(1).map_err(Failure::file(path))?;
        }
        Ok(shape)
    }
}

fn parse_columns(text: &str) -> Result<Columns, String> {
    if let Ok(count) = text.parse::<usize>() {
        return if count > 0 {
            Ok(Columns { count, names: Vec::new() })
        } else {
            Err("at least 1 is needed".to_owned())
        };
    }
    let names: Vec<String> = text.split(',').map(|name| name.trim().to_owned()).collect();
    match names.iter().enumerate().find(|(index, name)| name.is_empty() || names[..*index].contains(name)) {
        Some((index, _)) => Err(format!("name {} is empty or occurs twice", index + 1)),
        None => Ok(Columns { count: names.len(), names }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_a_count_or_names() {
        assert_eq!(parse_columns("3").expect("a count").count, 3);
        let columns = parse_columns("age, bmi").expect("names");
        assert_eq!((columns.count, columns.names), (2, vec!["age".to_owned(), "bmi".to_owned()]));
        for text in ["0", "a,,b", "a,b,a", ""] {
            assert!(parse_columns(text).is_err(), "{text:?}");
        }
    }
}
