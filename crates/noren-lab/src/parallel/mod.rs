//! The suite `parallel`: three ways to share out loops, against threads and against levels, and a model for more threads.

mod axes;
mod grid;
mod model;
mod op;

use clap::Args;
use noren_cli::measure::{Failure, Run};

use crate::parallel::axes::{Axes, Figure};
use crate::parallel::grid::measure;
use crate::shapes::of_parallel;

/// The options of the suite.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Base-two logarithms of the degrees of rings [default: 16]
    #[arg(long, value_name = "BITS,...", value_delimiter = ',')]
    log_n: Vec<u32>,
    /// Levels of the ciphertext [default: 1 to 32]
    #[arg(long, value_name = "LEVEL,...", value_delimiter = ',')]
    level: Vec<usize>,
    /// Only this figure [default: both]
    #[arg(long, value_enum)]
    figure: Option<Figure>,
}

impl Options {
    /// Measures the suite.
    pub(crate) fn run(&self, run: &Run<'_>) -> Result<(), Failure> {
        let shapes = of_parallel(&self.log_n)?;
        let threads = if run.threads_are_asked_for { run.threads } else { &[] };
        let axes = Axes::new(self.figure, threads, &self.level)?;
        shapes.into_iter().try_for_each(|shape| measure(run, shape, &axes))
    }
}
