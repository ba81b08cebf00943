//! `noren expand` of server keys of TFHE: as they lie in memory, in a file that is mapped.

use std::fmt;
use std::path::PathBuf;

use noren::tfhe::ServerKeyFile;
use serde::Serialize;

use crate::console::Console;
use crate::describe::words::bytes;
use crate::failure::Failure;
use crate::jobs::Expansion;
use crate::outputs::Output;
use crate::progress;
use crate::tfhe::server_keys::ServerKeyForm;

#[derive(Serialize)]
struct Report {
    path: PathBuf,
    bytes: u64,
}

pub(crate) fn run(job: Expansion<'_>, console: &Console) -> Result<(), Failure> {
    let output = Output::new(job.output, job.force)?;
    let (context, keys) = ServerKeyForm::open(job.input, console)?;
    let shown = progress::spinner("expanding the keys".to_owned());
    let keys = keys.expanded(&context)?;
    let bytes = ServerKeyFile::write(output.destination(), &context, &keys)?;
    drop(shown);
    console.report(&Report { path: output.path().to_owned(), bytes })
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "wrote {}, {}", self.path.display(), bytes(self.bytes as f64))
    }
}
