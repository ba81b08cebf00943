//! `noren eval matrix`: a matrix times the columns of a table of encrypted integers, without any secret.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use noren::bfv::{Ciphertext, Context, Evaluator};
use noren::programs::{IntegerLayout, IntegerTable};
use serde::Serialize;

use crate::console::Console;
use crate::describe::words::{bytes, count};
use crate::failure::Failure;
use crate::files;
use crate::integers::matrix;
use crate::outputs::Output;
use crate::progress;
use crate::takes;

/// The name of the verb among those of programs.
pub(crate) const NAME: &str = "matrix";

/// The product and its inputs.
pub(crate) struct Evaluation<'a> {
    pub(crate) keys: &'a Path,
    pub(crate) input: &'a Path,
    /// The matrix: a table without names, or one that was prepared.
    pub(crate) matrix: &'a Path,
    pub(crate) output: Output,
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

pub(crate) fn run(job: Evaluation<'_>, console: &Console) -> Result<(), Failure> {
    let file = files::open_evaluation_keys::<Context>(job.keys, &takes::EVAL_KEYS, console)?;
    let table = files::read::<IntegerTable>(&file.context, job.input, &takes::EVAL_INPUT, console)?;
    let layout = table.layout();
    if layout.stretch() > 1 || layout.per_column() > 1 {
        let found = format!("{} in {}", count(layout.rows(), "row"), count(layout.per_column(), "ciphertext"));
        let needed = format!("a table of up to {} rows that was encrypted without --domain", layout.slots());
        return Err(Failure::input(job.input, "the table", found, needed));
    }
    let ciphertexts = table.ciphertexts();
    let limbs = ciphertexts.iter().map(Ciphertext::limbs).max().expect("a table has a column");

    let start = Instant::now();
    let matrix = matrix::read(&file.context, job.matrix, layout.rows(), limbs, console)?;
    let evaluator = Evaluator::new(&file.context, file.key.into())?;
    let shown = progress::bar("multiplying", ciphertexts.len());
    let mut products = Vec::new();
    for ciphertext in ciphertexts {
        let vector = ciphertext.clone().with_length(Some(layout.rows()))?;
        products.push(evaluator.multiply_matrix(&matrix, &vector).map_err(Failure::file(job.input))?);
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
