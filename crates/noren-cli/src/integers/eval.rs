//! `noren eval matrix`: a matrix times the columns of a table of encrypted integers, without any secret.

use std::fmt;
use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use noren::bfv::{Ciphertext, Context, Evaluator};
use noren::programs::{IntegerLayout, IntegerTable};
use serde::Serialize;

use crate::console::Console;
use crate::describe::words::{bytes, count};
use crate::evaluation::{Evaluation, EvaluationOptions};
use crate::failure::Failure;
use crate::files;
use crate::integers::matrix;
use crate::outputs::Output;
use crate::progress;
use crate::takes;

/// The name of the program.
pub(super) const NAME: &str = "matrix";

/// Its own option.
#[derive(Debug, Args)]
#[group(skip)]
pub(super) struct MatrixOption {
    /// The matrix of the program matrix, .csv without names of columns, .npy, or what noren prepare made of it: as many
    /// columns as the table has rows
    #[arg(long, value_name = "FILE", required_if_eq("program", NAME))]
    matrix: Option<PathBuf>,
}

/// The table that was computed.
#[derive(Serialize)]
pub(super) struct EvaluationReport {
    path: PathBuf,
    rows: usize,
    columns: usize,
    bytes: u64,
    /// The least of all results, in bits.
    noise_budget: f64,
    seconds: f64,
}

pub(super) fn run(job: Evaluation<'_>, console: &Console) -> Result<(), Failure> {
    let MatrixOption { matrix } = job.given.own();
    // It is there wherever the program is matrix.
    let matrix = matrix.unwrap_or_default();
    let EvaluationOptions { keys, input, .. } = job.options;
    let file = files::open_evaluation_keys::<Context>(keys, &takes::EVAL_KEYS, console)?;
    let table = files::read::<IntegerTable>(&file.context, input, &takes::EVAL_INPUT, console)?;
    let layout = table.layout();
    if layout.stretch() > 1 || layout.per_column() > 1 {
        let found = format!("{} in {}", count(layout.rows(), "row"), count(layout.per_column(), "ciphertext"));
        let needed = format!("a table of up to {} rows that was encrypted without --domain", layout.slots());
        return Err(Failure::input(input, "the table", found, needed));
    }
    let ciphertexts = table.ciphertexts();
    let limbs = ciphertexts.iter().map(Ciphertext::limbs).max().expect("a table has a column");

    let start = Instant::now();
    let matrix = matrix::read(&file.context, &matrix, layout.rows(), limbs, console)?;
    let evaluator = Evaluator::new(&file.context, file.key.into())?;
    let shown = progress::bar("multiplying", ciphertexts.len());
    let mut products = Vec::new();
    for ciphertext in ciphertexts {
        let vector = ciphertext.clone().with_length(Some(layout.rows()))?;
        products.push(evaluator.multiply_matrix(&matrix, &vector).map_err(Failure::file(input))?);
        shown.set(products.len(), ciphertexts.len());
    }
    drop(shown);
    let seconds = start.elapsed().as_secs_f64();
    let layout = IntegerLayout::new(matrix.shape()[0], layout.columns(), layout.slots(), 1)?
        .with_column_names(layout.column_names().to_vec())?;
    let result = IntegerTable::new(layout, products)?;
    let bytes = job.output.write(&file.context, &result)?;
    console.report(&EvaluationReport::of(&result, &job.output, bytes, seconds))
}

impl EvaluationReport {
    pub(super) fn of(result: &IntegerTable, output: &Output, bytes: u64, seconds: f64) -> Self {
        Self {
            path: output.path().to_owned(),
            rows: result.layout().rows(),
            columns: result.layout().columns(),
            bytes,
            noise_budget: result.ciphertexts().iter().map(Ciphertext::noise_budget).fold(f64::INFINITY, f64::min),
            seconds,
        }
    }
}

impl fmt::Display for EvaluationReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rows, columns) = (count(self.rows, "row"), count(self.columns, "column"));
        writeln!(f, "{rows}, {columns} in {:.2} s; noise budget {:.1} bits", self.seconds, self.noise_budget)?;
        write!(f, "wrote {}, {}", self.path.display(), bytes(self.bytes as f64))
    }
}
