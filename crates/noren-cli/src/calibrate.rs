//! `noren calibrate`: how fast this machine is at what homomorphic operations are made of.

use std::fmt;
use std::path::{Path, PathBuf};

use clap::Args;
use noren::backends::calibrate;
use noren::cost::{Machine, UnitCosts};
use serde::Serialize;

use crate::console::Console;
use crate::failure::Failure;
use crate::outputs::{Force, Output};
use crate::progress;

/// Measures this machine, for `advise`
#[derive(Debug, Args)]
#[command(
    after_help = "Takes about 8 seconds, and a GiB of memory. The costs go to a file, which `advise` finds: $NOREN_MACHINE, or \
        noren/machine.json in $XDG_CACHE_HOME or ~/.cache. A quiet machine gives better costs: the report says how far \
        measurements are from the model.\n\n\
        Examples:\n  noren calibrate\n  noren calibrate --out server.json"
)]
pub(crate) struct Arguments {
    /// The file [default: where `advise` finds it]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
}

#[derive(Serialize)]
struct CalibrationReport {
    file: PathBuf,
    processor: String,
    isa: String,
    threads: Vec<usize>,
    median_residual: Vec<f64>,
    most_residual: Vec<f64>,
}

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<(), Failure> {
    let output = arguments.out.as_deref().map(|file| Output::new(file, &arguments.force)).transpose()?;
    let file = match &arguments.out {
        Some(file) => file.clone(),
        None => Machine::default_path().ok_or_else(no_place)?,
    };
    let bar = progress::bar("measuring this machine", 1);
    let machine = calibrate(&[1, rayon::current_num_threads()], |done, total| bar.set(done, total))?;
    drop(bar);
    // The usual file is noren's own, and is replaced.
    machine.save(output.as_ref().map_or_else(|| file.as_path().into(), Output::destination))?;
    let residuals = |of: fn(&UnitCosts) -> f64| machine.units.iter().map(of).collect();
    console.report(&CalibrationReport {
        threads: machine.threads(),
        median_residual: residuals(|costs| costs.median_residual),
        most_residual: residuals(|costs| costs.most_residual),
        processor: machine.processor,
        isa: machine.isa,
        file,
    })
}

/// The name of the machine whose costs come with noren, in place of a file.
const REFERENCE: &str = "reference";

/// The machine of a file, the one that comes with noren, or this one: as it was measured before, or now.
pub fn machine(file: Option<&Path>) -> Result<Machine, Failure> {
    match file {
        Some(file) if file == Path::new(REFERENCE) => Ok(Machine::reference()),
        Some(file) => Ok(Machine::load(file)?),
        None => {
            let bar = progress::bar("measuring this machine", 1);
            Ok(Machine::here(rayon::current_num_threads(), |done, total| bar.set(done, total))?)
        }
    }
}

fn no_place() -> Failure {
    let needed = "a file: neither NOREN_MACHINE, XDG_CACHE_HOME nor HOME says where costs are kept".to_owned();
    Failure::Unsuitable { what: "--out", found: "left out".to_owned(), needed }
}

impl fmt::Display for CalibrationReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {}, {}", self.file.display(), self.processor, self.isa)?;
        let each = self.threads.iter().zip(self.median_residual.iter().zip(&self.most_residual));
        let lines = each.map(|(threads, (median, most))| {
            let (median, most) = (100.0 * median, 100.0 * most);
            format!("{threads} threads: half of the measurements within {median:.0} %, nine tenths within {most:.0} %")
        });
        f.write_str(&lines.collect::<Vec<_>>().join("\n"))
    }
}
