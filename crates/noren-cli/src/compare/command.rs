//! The verb `compare`.

use std::fmt;
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use crate::compare::data::Data;
use crate::compare::{devices, html, peers, sections, session};
use crate::console::Console;
use crate::describe::words::count;
use crate::failure::Failure;
use crate::machine;
use crate::output_set::OutputSet;
use crate::outputs::Force;

/// The files of a comparison.
const PAGE: &str = "report.html";
const DATA: &str = "data.json";

/// Compares schemes and libraries: chains of products, TFHE, products and inner products of n numbers, clients
#[derive(Debug, Args)]
#[command(
    after_help = "Measures what Tsuji and Oguchi's comparison of schemes and libraries measured, with noren and every other library \
        whose driver is built (bench/setup.sh), and writes report.html, a page with tables and plots, and data.json, what was \
        measured. A quick run takes less than ten minutes on two quiet cores, a whole one less than an hour.\n\n\
        Examples:\n  \
        noren compare --quick\n  \
        noren compare --threads 1,2 --out comparison\n  \
        noren compare --from comparison/data.json --out again"
)]
pub(crate) struct Arguments {
    /// Fewer depths and numbers of values, and fewer samples
    #[arg(long, conflicts_with = "from")]
    quick: bool,
    /// The directory for the report and its data
    #[arg(long, value_name = "DIR", default_value = "compare-out")]
    out: PathBuf,
    /// The directory of the drivers of other libraries [default: bench/peers, if it is there]
    #[arg(long, value_name = "DIR", conflicts_with = "from")]
    peers: Option<PathBuf>,
    /// Make the report of an earlier run from its data.json; measure nothing
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
}

/// The files of a report that was written.
#[derive(Serialize)]
struct Summary {
    files: Vec<PathBuf>,
    records: usize,
    seconds: f64,
    /// Peers that took part.
    peers: Vec<String>,
    /// Those that did not, and steps that failed.
    left_out: Vec<String>,
}

pub(crate) fn run(arguments: &Arguments, threads: &[usize], console: &Console) -> Result<(), Failure> {
    let outputs = OutputSet::new(&arguments.out, &[PAGE, DATA], &arguments.force)?;
    let mut data = match &arguments.from {
        Some(path) => Data::read(path)?,
        None => {
            let peers = peers::peers(arguments.peers.as_deref())?;
            session::measure(arguments.quick, &numbers(arguments.quick, threads), &peers, console)?
        }
    };
    if data.devices.is_empty() {
        data.devices = devices::rows()?;
    }
    let report = sections::report(&data);
    let write = |name: &str, bytes: &[u8]| outputs.write_with(name, |path| write(path, bytes));
    write(PAGE, html::page(&report).as_bytes())?;
    write(DATA, &data.to_json(&report)?)?;
    let files = outputs.finish(&[PAGE, DATA])?;
    let (absent, present): (Vec<_>, Vec<_>) = data.libraries.iter().partition(|library| library.absent.is_some());
    let absent = absent.iter().map(|library| format!("{} ({})", library.name, library.absent.as_deref().unwrap_or("")));
    let failed = data.left_out.iter().map(|step| format!("{} of {} ({})", step.step, step.library, step.reason));
    console.report(&Summary {
        files,
        records: data.records.len(),
        seconds: data.seconds,
        peers: present.into_iter().map(|library| library.name.clone()).collect(),
        left_out: absent.chain(failed).collect(),
    })
}

/// The numbers of threads: those that are asked for; else one, and in a whole run all cores as well.
fn numbers(quick: bool, asked: &[usize]) -> Vec<usize> {
    match (asked, quick, machine::threads()) {
        ([], true, _) | ([], _, 1) => vec![1],
        ([], false, cores) => vec![1, cores],
        (asked, ..) => asked.to_vec(),
    }
}

fn write(path: &std::path::Path, bytes: &[u8]) -> Result<(), Failure> {
    std::fs::write(path, bytes).map_err(|source| Failure::Io { path: path.to_owned(), source })
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for file in &self.files {
            writeln!(f, "{}", file.display())?;
        }
        let peers = if self.peers.is_empty() { "none".to_owned() } else { self.peers.join(", ") };
        write!(f, "{}, measured in {:.0} s; peers: {peers}", count(self.records, "record"), self.seconds)?;
        self.left_out.iter().try_for_each(|what| write!(f, "\nleft out: {what}"))
    }
}
