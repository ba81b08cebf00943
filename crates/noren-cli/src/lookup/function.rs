//! Functions of two numbers from the command line: by a formula, or by a table in a file.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use noren::Resources;
use noren::lookup::Function;
use noren_rlwe::wire::file::directory_of;

use crate::describe::words::count;
use crate::failure::Failure;
use crate::lookup::plan::parse_domain;
use crate::outputs;
use crate::tables::grid::Grid;

/// A function, as it is asked for.
#[derive(Debug, Args)]
pub(crate) struct Given {
    /// The function by its formula
    #[arg(long, value_enum, requires = "domain")]
    function: Option<Formula>,
    /// The function by its table: f(x, y) in row x and column y, both from 0
    #[arg(long, value_name = "FILE", conflicts_with = "function")]
    table: Option<PathBuf>,
    /// What x and y are below, or both below one number; of a table, the number of its rows and columns
    #[arg(long, value_name = "X[,Y]", value_parser = parse_domain)]
    domain: Option<[usize; 2]>,
    /// The value where the formula has none
    #[arg(long, value_name = "VALUE", conflicts_with = "table")]
    undefined: Option<u64>,
    /// The CSV file has no names of columns
    #[arg(long, requires = "table")]
    no_header: bool,
}

/// A formula.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Formula {
    /// floor(x / y); no value for y = 0
    Div,
    /// x mod y; no value for y = 0
    Mod,
    /// The larger of x and y
    Max,
    /// The smaller of x and y
    Min,
    /// |x - y|
    Distance,
    /// The greatest common divisor
    Gcd,
    /// 1 if x < y, 0 otherwise
    Less,
    /// 1 if x = y, 0 otherwise
    Equal,
}

impl Formula {
    /// Refuses a formula without a value for y = 0, unless `undefined` is one.
    pub(crate) fn check_total(self, undefined: Option<u64>) -> Result<(), Failure> {
        if undefined.is_some() || !matches!(self, Self::Div | Self::Mod) {
            return Ok(());
        }
        let found = "no value at x = 0, y = 0".to_owned();
        let needed = "one everywhere: say with --undefined VALUE which, of which no caller will make use".to_owned();
        Err(Failure::Unsuitable { what: "the function", found, needed })
    }

    /// The value, if there is one.
    pub(crate) fn value(self, x: u64, y: u64) -> Option<u64> {
        Some(match self {
            Self::Div => x.checked_div(y)?,
            Self::Mod => x.checked_rem(y)?,
            Self::Max => x.max(y),
            Self::Min => x.min(y),
            Self::Distance => x.abs_diff(y),
            Self::Gcd => {
                let (mut high, mut low) = (x, y);
                while low != 0 {
                    (high, low) = (low, high % low);
                }
                high
            }
            Self::Less => u64::from(x < y),
            Self::Equal => u64::from(x == y),
        })
    }
}

impl Given {
    /// The function; values of a table must be below t.
    pub(crate) fn function(&self, t: u64) -> Result<Function, Failure> {
        if let Some(path) = &self.table {
            return self.read(path, t);
        }
        // Both are there wherever no table is.
        let (formula, domain) = (self.function.unwrap_or(Formula::Div), self.domain.unwrap_or([1; 2]));
        let undefined = self.undefined;
        formula.check_total(undefined)?;
        if let Some(value) = undefined.filter(|&value| value >= t) {
            let needed = format!("a value below the plaintext modulus {t}");
            return Err(Failure::Unsuitable { what: "--undefined", found: value.to_string(), needed });
        }
        Ok(Function::rule(domain, move |x, y| formula.value(x, y).or(undefined)))
    }

    fn read(&self, path: &Path, t: u64) -> Result<Function, Failure> {
        let resources = Resources { disk: None, ..Resources::of_machine(directory_of(path)) };
        let advice = "close other programs, or write the table with smaller whole numbers, such as uint16";
        resources.check_memory(outputs::size(path)?, "memory for the table of a function", advice)?;
        let grid = Grid::read(path, !self.no_header)?;
        grid.check(path, t - 1)?;
        let found = grid.shape();
        if let Some(needed) = self.domain.filter(|&domain| domain != found) {
            let needed = format!("{}, as --domain says", shape(needed));
            return Err(Failure::input(path, "the shape", shape(found), needed));
        }
        Ok(Function::rule(found, move |x, y| grid.value(x as usize, y as usize)))
    }
}

/// The shape of a table in words.
pub(crate) fn shape([rows, columns]: [usize; 2]) -> String {
    format!("{} (x) and {} (y)", count(rows, "row"), count(columns, "column"))
}
