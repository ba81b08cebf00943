//! `noren expand` of keys of bootstrapping: as they lie in memory, in a file that is mapped.

use std::fmt;
use std::path::PathBuf;

use noren::Resources;
use noren::bootstrapping::expanded_bytes;
use noren::bootstrapping::{BootstrapKeyFile, Footprint, Progress};
use noren::wire::Limits;
use noren_rlwe::wire::file::directory_of;
use serde::Serialize;

use crate::console::Console;
use crate::describe::words::bytes;
use crate::failure::Failure;
use crate::files;
use crate::jobs::Expansion;
use crate::outputs::Output;
use crate::progress;
use crate::takes;

#[derive(Serialize)]
struct ExpansionReport {
    path: PathBuf,
    keys: usize,
    bytes: u64,
}

pub(super) fn run(job: Expansion<'_>, console: &Console) -> Result<(), Failure> {
    let Expansion { input, output, force } = job;
    let limits = Limits::default();
    console.inputs().verify(input, &takes::EXPAND_INPUT)?;
    let parameters = BootstrapKeyFile::read_parameters(input, &limits).map_err(Failure::file(input))?;
    files::admit(&parameters.ckks()?, input, console)?;
    let place = Output::new(output, force)?;
    let memory = Footprint::generate(&parameters)?.memory;
    Footprint { memory, disk: expanded_bytes(&parameters)? }.check(&Resources::of_machine(directory_of(output)))?;
    let shown = progress::bar("expanding keys", 1);
    let mut keys = 0;
    let mut heard = |Progress { done, of, .. }: Progress| {
        shown.set(done, of);
        keys = done;
    };
    let bytes =
        BootstrapKeyFile::expand(input, place.destination(), &limits, &mut heard).map_err(Failure::file(input))?;
    drop(shown);
    console.report(&ExpansionReport { path: output.to_owned(), keys, bytes })
}

impl fmt::Display for ExpansionReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "wrote {}, {} keys, {}", self.path.display(), self.keys, bytes(self.bytes as f64))
    }
}
