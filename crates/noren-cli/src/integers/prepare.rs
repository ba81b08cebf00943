//! `noren prepare --matrix`: a matrix, ready to multiply encrypted integers.

use std::fmt;
use std::path::{Path, PathBuf};

use noren::bfv::Context;
use serde::Serialize;

use crate::console::Console;
use crate::describe::words::{bytes, count};
use crate::failure::Failure;
use crate::integers::matrix::encode;
use crate::integers::parameters::read_parameters;
use crate::outputs::{self, Output};
use crate::progress;
use crate::tables::numbers::Numbers;
use crate::takes;

/// The preparation of a matrix.
pub(crate) struct Preparation<'a> {
    /// The matrix, as a table without names.
    pub(crate) matrix: &'a Path,
    /// The parameters, or a key that carries them.
    pub(crate) params: &'a Path,
    pub(crate) output: Output,
}

#[derive(Serialize)]
struct PreparationReport {
    path: PathBuf,
    rows: usize,
    columns: usize,
    /// Of the ciphertexts that it multiplies, the most.
    limbs: usize,
    bytes: u64,
}

pub(crate) fn run(job: &Preparation<'_>, console: &Console) -> Result<(), Failure> {
    let context = Context::new(read_parameters(job.params, &takes::INTEGER_PARAMS, console)?)?;
    let numbers = Numbers::read(job.matrix, false)?;
    let limbs = context.parameters().max_limbs();
    let matrix = encode(&context, &numbers, job.matrix, limbs)?;
    let shown = progress::spinner("writing the matrix".to_owned());
    matrix.save_prepared(&context, job.output.destination())?;
    drop(shown);
    let ([rows, columns], path) = (matrix.shape(), job.output.path());
    console.report(&PreparationReport { path: path.to_owned(), rows, columns, limbs, bytes: outputs::size(path)? })
}

impl fmt::Display for PreparationReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rows, columns) = (count(self.rows, "row"), count(self.columns, "column"));
        writeln!(f, "matrix         {rows}, {columns}, for ciphertexts of up to {}", count(self.limbs, "limb"))?;
        write!(f, "wrote {}, {}", self.path.display(), bytes(self.bytes as f64))
    }
}
