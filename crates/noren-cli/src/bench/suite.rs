//! The suites, and what all of them are told.

use clap::{Args, ValueEnum};

use crate::bench::record::Record;
use crate::bench::shape::Shape;
use crate::bench::{ckks, client, kernels};
use crate::console::Console;
use crate::failure::Failure;

/// Measures how fast this machine is
#[derive(Debug, Args)]
#[command(
    after_help = "Every time is the median of at least five samples after a warm-up, with the median of the absolute \
        deviations from it; results are checked before they are timed. NOREN_ISA chooses the instruction set of ckks and \
        client; kernels measures all.\n\n\
        Examples:\n  \
        noren bench ckks --threads 1,2 --log-n 14,15\n  \
        noren bench kernels --json"
)]
pub(crate) struct Arguments {
    /// What to measure
    #[arg(value_enum)]
    suite: Suite,
    /// The time spent on each operation
    #[arg(long, default_value_t = 1.0, value_parser = parse_seconds)]
    seconds: f64,
    /// Base-two logarithms of the degrees of rings [default: 14,15,16; kernels: 12 to 16]
    #[arg(long, value_name = "BITS,...", value_delimiter = ',')]
    log_n: Vec<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Suite {
    /// Arithmetic and transforms of rows, for each instruction set
    Kernels,
    /// Operations on ciphertexts
    Ckks,
    /// What the owner of the data does: keys, encoding, encryption
    Client,
}

/// What a suite is told, and where it reports.
pub(super) struct Run<'a> {
    pub(super) seconds: f64,
    pub(super) threads: &'a [usize],
    console: &'a Console,
}

pub(crate) fn run(arguments: &Arguments, threads: &[usize], console: &Console) -> Result<(), Failure> {
    let threads = if threads.is_empty() { &[1] } else { threads };
    let run = Run { seconds: arguments.seconds, threads, console };
    let degrees = |default: Vec<u32>| if arguments.log_n.is_empty() { default } else { arguments.log_n.clone() };
    if arguments.suite == Suite::Kernels {
        let degrees = degrees(kernels::DEGREES.to_vec());
        kernels::check(&degrees)?;
        console.text(Record::head())?;
        return kernels::run(&run, &degrees);
    }
    let shapes = degrees(Shape::degrees()).into_iter().map(Shape::of).collect::<Result<Vec<_>, _>>()?;
    console.text(Record::head())?;
    for shape in shapes {
        for &threads in run.threads {
            match arguments.suite {
                Suite::Client => client::run(&run, shape, threads)?,
                Suite::Ckks | Suite::Kernels => ckks::run(&run, shape, threads)?,
            }
        }
    }
    Ok(())
}

impl Run<'_> {
    /// Reports a measurement as soon as it is there.
    pub(super) fn report(&self, record: &Record) -> Result<(), Failure> {
        self.console.report(record)
    }
}

fn parse_seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if (0.0..=3600.0).contains(&seconds) => Ok(seconds),
        _ => Err("a number of seconds from 0 to 3600 is needed".to_owned()),
    }
}
