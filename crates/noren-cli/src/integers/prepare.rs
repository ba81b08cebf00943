//! `noren prepare --matrix`: a matrix, ready to multiply encrypted integers.

use std::fmt;
use std::path::{Path, PathBuf};

use clap::Args;
use noren::bfv::Context;
use serde::Serialize;

use crate::console::Console;
use crate::describe::words::{bytes, count};
use crate::failure::Failure;
use crate::given::CHOSEN;
use crate::integers::matrix::encode;
use crate::integers::parameters::read_parameters;
use crate::jobs::Preparation;
use crate::outputs;
use crate::progress;
use crate::tables::numbers::Numbers;
use crate::takes;

/// Its own option.
#[derive(Debug, Args)]
#[group(skip)]
pub(super) struct MatrixOption {
    /// A matrix of whole numbers, .csv without names of columns or .npy
    #[arg(long, value_name = "FILE", conflicts_with_all = ["function", "table"], requires = "params")]
    matrix: Option<PathBuf>,
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

pub(super) fn run(job: &Preparation<'_>, console: &Console) -> Result<(), Failure> {
    let MatrixOption { matrix } = job.given.own();
    let path = matrix.expect(CHOSEN);
    // They are there wherever a matrix is.
    let parameters = job.params.unwrap_or(Path::new(""));
    let context = Context::new(read_parameters(parameters, &takes::INTEGER_PARAMS, console)?)?;
    let numbers = Numbers::read(&path, false)?;
    let limbs = context.parameters().max_limbs();
    let matrix = encode(&context, &numbers, &path, limbs)?;
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
