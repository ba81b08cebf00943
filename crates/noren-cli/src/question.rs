//! `noren function query`: questions on tables, compiled, and their tables and answers in files.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use csv::WriterBuilder;
use noren::backends::Outcome;
use noren::compiler::Options;
use noren::tables::{Answer, Cell, Cells, Query, Schema, TableError, Values};
use noren_rlwe::wire::file::Access;

use crate::console::Console;
use crate::failure::Failure;
use crate::outputs::{Content, Force, Output};
use crate::tables::dialect::separator_of_texts;
use crate::tables::options::TableOptions;

/// Compiles a question on tables, in words of SQL; columns may hold texts
#[derive(Debug, Args)]
#[command(
    after_help = "Measures: count(*), sum, avg, var_pop, var_samp, stddev_pop, stddev_samp, median, min, max, quantile(column, share), \
        histogram(column, edge, edge, ...).\n\n\
        Example:\n  \
        noren function query \"SELECT count(*), avg(income) WHERE age > 64 GROUP BY city\" people.csv -o ask.function\n  \
        noren function keygen ask.function --out keys\n  \
        noren function encrypt ask.function --key keys/secret.key people.csv -o request\n  \
        noren function run ask.function --keys keys/server.keys request -o reply\n  \
        noren function decrypt ask.function --key keys/secret.key reply -o answer.csv"
)]
pub(crate) struct Ask {
    /// The question: [SELECT] measure, ... [WHERE condition] [GROUP BY column, ...]
    question: String,
    /// A table whose cells give the ranges of its columns and their texts, which are public
    table: PathBuf,
    #[command(flatten)]
    options: TableOptions,
    /// The most rows of the tables that are asked [default: as many as this one has]
    #[arg(long, value_name = "ROWS")]
    rows: Option<usize>,
    /// The distance of the numbers to which those of a column are rounded [default: a 2^16th of the range of fractions]
    #[arg(long, value_name = "COLUMN=STEP", value_parser = parse_step)]
    step: Vec<(String, f64)>,
    /// The file for the compiled question
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    force: Force,
}

fn parse_step(text: &str) -> Result<(String, f64), String> {
    let (name, step) = text.rsplit_once('=').ok_or("the name of a column, =, and a number are needed")?;
    let step: f64 = step.parse().map_err(|_| format!("{step:?} is no number"))?;
    if step.is_finite() && step > 0.0 {
        Ok((name.to_owned(), step))
    } else {
        Err("a step above 0 is needed".to_owned())
    }
}

impl Ask {
    /// Compiles the question: the file that it goes to, and its bytes.
    pub(crate) fn run(&self, console: &Console) -> Result<(Output, Vec<u8>), Failure> {
        let output = Output::or_standard(&self.output, &self.force, Content::Binary, console)?;
        let table = self.options.read_columns(&self.table, &|_| None, console)?;
        let steps: BTreeMap<String, f64> = self.step.iter().cloned().collect();
        let rows = self.rows.unwrap_or_else(|| table.values().next().map_or(0, Cells::rows));
        let schema = Schema::of(&table, rows, &steps)?;
        let query = Query::compile(&schema, &self.question, &Options::default())?;
        Ok((output, query.program().to_bytes()))
    }
}

/// The inputs of a question, of the one table that it is on.
pub(crate) fn inputs(
    query: &Query,
    paths: &[PathBuf],
    options: &TableOptions,
    console: &Console,
) -> Result<Vec<Vec<f64>>, Failure> {
    let [path] = paths else {
        let (found, needed) = (format!("{} tables", paths.len()), "the one that is asked".to_owned());
        return Err(Failure::Unsuitable { what: "the inputs", found, needed });
    };
    let is_text = |name: &str| {
        let column = query.schema().columns.iter().find(|column| column.name == name)?;
        Some(matches!(column.values, Values::Categories(_)))
    };
    let table = options.read_columns(path, &is_text, console)?;
    query.inputs(&table).map_err(|error| match error.downcast_ref() {
        // Rows are counted from 1 here.
        Some(TableError::Cell { row, column, found, needed }) => {
            Failure::input(path, format!("row {} ({column:?})", row + 1), found, needed)
        }
        _ => Failure::file(path)(error),
    })
}

/// Refuses outputs that an answer, which has texts, is not written to.
pub(crate) fn check_outputs(paths: &[PathBuf]) -> Result<(), Failure> {
    let [path] = paths else {
        let (found, needed) = (format!("{} files", paths.len()), "one, for the answer".to_owned());
        return Err(Failure::Unsuitable { what: "--output", found, needed });
    };
    separator_of_texts(path).map(|_| ())
}

/// Writes the answer to a question: a line of names, and one for each group.
pub(crate) fn write(query: &Query, outcome: &Outcome, output: &Output) -> Result<(), Failure> {
    let (Answer { names, rows, .. }, separator) = (query.answer(outcome)?, separator_of_texts(output.path())?);
    output.write_with(Access::Owner, |sink| {
        let mut writer = WriterBuilder::new().delimiter(separator).from_writer(sink);
        writer.write_record(&names)?;
        for row in &rows {
            writer.write_record(row.iter().map(text))?;
        }
        writer.flush()
    })
}

/// A cell as it is written; one without a value is empty.
fn text(cell: &Cell) -> String {
    match cell {
        Cell::Whole(x) => x.to_string(),
        Cell::Real(x) => x.to_string(),
        Cell::Text(text) => text.clone(),
        Cell::Missing => String::new(),
    }
}
