//! The verbs of the client.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use noren::backends::Parcel;
use noren_rlwe::wire::file::Access;
use serde::Serialize;

use crate::console::Console;
use crate::describe::words::count;
use crate::failure::Failure;
use crate::half_keys::{self, HalfKeys};
use crate::outputs::{Content, Force, Output, size};
use crate::retrieval::asked::Asked;
use crate::retrieval::protocol::{self, Protocol};
use crate::retrieval::records;
use crate::seeds::random;
use crate::tables::dialect::separator_of_texts;
use crate::takes;
use crate::written::{FilesReport, written};

/// Makes the keys: secret.key encrypts and decrypts and stays with you, server.keys goes to the holder of the table
#[derive(Debug, Args)]
pub(super) struct Keygen {
    /// The description of the table
    description: PathBuf,
    #[command(flatten)]
    keys: HalfKeys,
}

/// Encrypts what is asked for
#[derive(Debug, Args)]
pub(super) struct Encrypt {
    /// The description of the table
    description: PathBuf,
    /// secret.key
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    #[command(flatten)]
    asked: Asked,
    /// The file for the encrypted request, or - for standard output
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    force: Force,
}

/// Decrypts a reply: a line for each row that was found, behind what it was asked for by
#[derive(Debug, Args)]
pub(super) struct Decrypt {
    /// The description of the table
    description: PathBuf,
    /// secret.key
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    #[command(flatten)]
    asked: Asked,
    /// The encrypted reply, or - for standard input
    input: PathBuf,
    /// The file for the rows: .csv or .tsv
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    force: Force,
}

/// Rows that were written.
#[derive(Serialize)]
struct RowsReport {
    asked: usize,
    found: usize,
    #[serde(flatten)]
    files: FilesReport,
}

impl fmt::Display for RowsReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { asked, found, files } = self;
        write!(f, "{found} of {} found", count(*asked, "row"))?;
        if found < asked {
            f.write_str("; those that the table does not have stand on no line")?;
        }
        write!(f, "\n{files}")
    }
}

impl Keygen {
    pub(super) fn run<P: Protocol>(&self, console: &Console) -> Result<(), Failure> {
        let plan: P = protocol::read(&self.description, console)?;
        self.keys.make(console, |seed| {
            let (secret, keys) = plan.generate(&seed)?;
            Ok((secret, move |path: &Path| keys.write_file(path.into())))
        })
    }
}

/// The client of a plan with the secret key in a file.
fn client<P: Protocol>(plan: P, path: &Path, console: &Console) -> Result<P::Client, Failure> {
    let secret = half_keys::read_secret(&plan.secret_parts(), path, &takes::RETRIEVAL_SECRET, console)?;
    Ok(plan.client(Arc::new(secret))?)
}

impl Encrypt {
    pub(super) fn run<P: Protocol>(&self, console: &Console) -> Result<(), Failure> {
        let output = Output::or_standard(&self.output, &self.force, Content::Binary, console)?;
        let plan: P = protocol::read(&self.description, console)?;
        let keys = self.asked.keys(plan.by_keyword(), plan.sizes()[0], console)?;
        let client = client(plan, &self.key, console)?;
        let request = P::encrypt(&client, &keys, random()?)?;
        output.write_bytes(Access::Default, &request)?;
        written(&output, &request, console)
    }
}

impl Decrypt {
    pub(super) fn run<P: Protocol>(&self, console: &Console) -> Result<(), Failure> {
        separator_of_texts(&self.output)?;
        let output = Output::new(&self.output, &self.force)?;
        let plan: P = protocol::read(&self.description, console)?;
        let keys = self.asked.keys(plan.by_keyword(), plan.sizes()[0], console)?;
        let client = client(plan, &self.key, console)?;
        let reply: Parcel<P::Replies> = console.inputs().read(&(), &self.input, &P::REPLIES)?;
        let rows = P::decrypt(&client, &reply, &keys).map_err(Failure::file(&self.input))?;
        let found = records::write(&keys, &rows, &self.input, &output)?;
        let files = FilesReport::of(&output, size(output.path())?);
        console.report(&RowsReport { asked: keys.len(), found, files })
    }
}
