//! `noren expand`: keys as they lie in memory, in a file that is mapped.

use std::fmt;
use std::path::PathBuf;

use clap::Args;
use noren::Resources;
use noren::bootstrapping::expanded_bytes;
use noren::bootstrapping::{BootstrapKeyFile, Footprint, Progress};
use noren::wire::{Kind, Limits};
use noren_rlwe::wire::file::directory_of;
use serde::Serialize;

use crate::console::Console;
use crate::describe::words::bytes;
use crate::failure::Failure;
use crate::files;
use crate::outputs::{Force, Output};
use crate::tfhe::server_keys::ServerKeyForm;
use crate::{progress, tfhe};

/// Expands keys of bootstrapping, or server keys of TFHE, into a file that programs use where it lies
#[derive(Debug, Args)]
#[command(
    after_help = "The file is about three times as large. Programs map it: they start at once, and several share one copy. \
        It is for this machine; what travels is the file that it is made from.\n\n\
        Examples:\n  \
        noren expand keys/bootstrap.keys -o keys/bootstrap.mapped\n  \
        noren expand keys/server.keys -o keys/server.mapped"
)]
pub(crate) struct Arguments {
    /// bootstrap.keys, or server.keys of TFHE
    input: PathBuf,
    /// The file for the expanded keys
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    force: Force,
}

#[derive(Serialize)]
struct Report {
    path: PathBuf,
    keys: usize,
    bytes: u64,
}

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<(), Failure> {
    let Arguments { input, output, force } = arguments;
    match files::kind(input)? {
        kind if ServerKeyForm::travels(kind) => return tfhe::expand::run(input, &Output::new(output, force)?, console),
        Kind::BOOTSTRAP_KEYS | Kind::EXPANDED_BOOTSTRAP_KEYS => {}
        other => {
            let (found, needed) = (other.to_string(), format!("{}, or {}", Kind::BOOTSTRAP_KEYS, Kind::TFHE_KEYS));
            return Err(Failure::file(input)(noren::Error::WrongKind { found, needed }));
        }
    }
    let limits = Limits::default();
    console.inputs().verify(input)?;
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
    console.report(&Report { path: output.clone(), keys, bytes })
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "wrote {}, {} keys, {}", self.path.display(), self.keys, bytes(self.bytes as f64))
    }
}
