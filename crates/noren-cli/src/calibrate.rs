//! `noren calibrate`: how fast this machine is at what homomorphic operations are made of.

use std::fmt;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use noren::advisor::{Machine, calibrate, processor};
use noren::wire::{Destination, Existing};
use noren_rlwe::wire::file::{self, Access};
use serde::Serialize;

use crate::console::Console;
use crate::failure::Failure;
use crate::progress;

/// Measures this machine, for `advise`
#[derive(Debug, Args)]
#[command(
    after_help = "Takes about 7 seconds, and a GiB of memory. The costs go to a file, which `advise` finds: $NOREN_MACHINE, or \
        noren/machine.json in $XDG_CACHE_HOME or ~/.cache. A quiet machine gives better costs: the report says how far \
        measurements are from the model.\n\n\
        Examples:\n  noren calibrate\n  noren calibrate --out server.json"
)]
pub(crate) struct Arguments {
    /// The file [default: where `advise` finds it]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

#[derive(Serialize)]
struct Report {
    file: PathBuf,
    processor: String,
    isa: String,
    threads: Vec<usize>,
    median_residual: Vec<f64>,
    most_residual: Vec<f64>,
}

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<(), Failure> {
    let file = match &arguments.out {
        Some(file) => file.clone(),
        None => Machine::default_path().ok_or_else(no_place)?,
    };
    let machine = measure()?;
    save(&machine, &file)?;
    let residuals = |of: fn(&noren::advisor::UnitCosts) -> f64| machine.units.iter().map(of).collect();
    console.report(&Report {
        threads: machine.threads(),
        median_residual: residuals(|costs| costs.median_residual),
        most_residual: residuals(|costs| costs.most_residual),
        processor: machine.processor,
        isa: machine.isa,
        file,
    })
}

/// The machine of a file, or the one that was measured before; measured now where there is none, or one of another version or
/// processor.
pub(crate) fn machine(file: Option<&Path>, console: &Console) -> Result<Machine, Failure> {
    if let Some(file) = file {
        return Ok(Machine::load(file)?);
    }
    let wanted = rayon::current_num_threads();
    let path = Machine::default_path();
    if let Some(path) = path.as_deref().filter(|path| path.exists()) {
        let isa = noren_math::kernels::kernels().name();
        match Machine::load(path) {
            Ok(found) if found.is_current(&processor(), isa) && found.threads().contains(&wanted) => return Ok(found),
            Ok(_) => {}
            Err(error) => console.warn(error),
        }
    }
    let machine = measure()?;
    if let Some(path) = path
        && let Err(error) = save(&machine, &path)
    {
        console.warn(format!("{error}: the machine will be measured again"));
    }
    Ok(machine)
}

fn measure() -> Result<Machine, Failure> {
    let threads = rayon::current_num_threads();
    let bar = progress::bar("measuring this machine", 1);
    Ok(calibrate(&[1, threads], |done, total| bar.set(done, total))?)
}

fn save(machine: &Machine, path: &Path) -> Result<(), Failure> {
    let failed = |source| Failure::from(noren::Error::Io { path: path.to_owned(), source });
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    let destination = Destination { path, existing: Existing::Replace };
    Ok(file::write_atomically(destination, Access::Default, |file| file.write_all(machine.to_json().as_bytes()))?)
}

fn no_place() -> Failure {
    let needed = "a file: neither NOREN_MACHINE, XDG_CACHE_HOME nor HOME says where costs are kept".to_owned();
    Failure::Unsuitable { what: "--out", found: "left out".to_owned(), needed }
}

impl fmt::Display for Report {
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
