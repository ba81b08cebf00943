//! Functions of encrypted elements from the command line, looked up: by a formula, or by a table in a file.

use std::path::Path;

use clap::ValueEnum;
use noren::programs::columns::{ColumnLookup, Element};
use noren::tfhe::Context;

use crate::failure::Failure;
use crate::lookup::function::{Formula, shape};
use crate::tables::grid::Grid;

/// A function, as it is asked for.
pub(crate) struct Given<'a> {
    /// The name of a formula, or a table.
    pub(crate) function: &'a Path,
    /// Whether a table in CSV has names in its first line.
    pub(crate) header: bool,
    /// The value where the formula has none.
    pub(crate) undefined: Option<u64>,
    /// The type of values; that of the first operand if none is given.
    pub(crate) output: Option<Element>,
}

/// A function of one or two elements.
pub(crate) enum Rule {
    Formula(Formula, Option<u64>),
    Table(Grid),
}

impl Rule {
    pub(crate) fn of(given: &Given<'_>) -> Result<Self, Failure> {
        let path = given.function;
        if path.extension().is_some() {
            if let Some(undefined) = given.undefined {
                let needed = "none: a table has a value everywhere".to_owned();
                return Err(Failure::Unsuitable { what: "--undefined", found: undefined.to_string(), needed });
            }
            return Grid::read(path, given.header).map(Self::Table);
        }
        let name = path.to_string_lossy();
        let Ok(formula) = Formula::from_str(&name, false) else {
            let names: Vec<_> = Formula::value_variants().iter().filter_map(ValueEnum::to_possible_value).collect();
            let names: Vec<&str> = names.iter().map(|name| name.get_name()).collect();
            let needed = format!("{}, or a table that ends in .csv or .npy", names.join(", "));
            return Err(Failure::Unsuitable { what: "--function", found: format!("{name:?}"), needed });
        };
        formula.check_total(given.undefined)?;
        Ok(Self::Formula(formula, given.undefined))
    }

    /// How many elements it takes: a table with one column is a function of one.
    pub(crate) fn operands(&self) -> usize {
        match self {
            Self::Table(grid) if grid.shape()[1] == 1 => 1,
            _ => 2,
        }
    }

    /// The tables of the function for elements of these kinds.
    pub(crate) fn lookup(
        &self,
        context: &Context,
        given: &Given<'_>,
        inputs: &[Element],
    ) -> Result<ColumnLookup, Failure> {
        let output = given.output.unwrap_or(inputs[0]);
        if let Some(signed) = inputs.iter().chain([&output]).find(|element| element.is_signed()) {
            let needed = "unsigned integers: functions of negative numbers are looked up in Python".to_owned();
            return Err(Failure::Unsuitable { what: "the types of lookup", found: signed.to_string(), needed });
        }
        let domain = ColumnLookup::domain(context.parameters(), inputs)?;
        let most = u64::try_from(*output.range(context.parameters()).end()).unwrap_or(u64::MAX);
        if let Self::Formula(_, Some(undefined)) = self
            && *undefined > most
        {
            let needed = format!("at most {most}, the largest {output}");
            return Err(Failure::Unsuitable { what: "--undefined", found: undefined.to_string(), needed });
        }
        if let Self::Table(grid) = self {
            let size = |operand: usize| domain.get(operand).map_or(1, |range| *range.end() as usize + 1);
            let needed = [size(0), size(1)];
            if grid.shape() != needed {
                let kinds: Vec<String> = inputs.iter().map(ToString::to_string).collect();
                let needed = format!("{}, for {}", shape(needed), kinds.join(" and "));
                return Err(Failure::input(given.function, "the shape", shape(grid.shape()), needed));
            }
            grid.check(given.function, most)?;
        }
        // Every point is in the domain, which has no negative numbers.
        let value = |point: &[i128]| {
            let [x, y] = [0, 1].map(|operand| point.get(operand).map_or(0, |&x| x as u64));
            let value = match self {
                Self::Formula(formula, undefined) => formula.value(x, y).or(*undefined),
                Self::Table(grid) => grid.value(x as usize, y as usize),
            };
            value.map_or(0, i128::from)
        };
        Ok(ColumnLookup::new(context, inputs, output, value)?)
    }
}
