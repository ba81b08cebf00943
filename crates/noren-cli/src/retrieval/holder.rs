//! The verbs of the holder of the table.

use std::fmt;
use std::path::PathBuf;

use clap::Args;
use noren::backends::{Parcel, ServerKeys};
use noren::retrieval::{self, intersection};
use noren::wire::{Form, Object};
use noren::{Security, Seed};
use noren_rlwe::wire::file::Access;
use serde::Serialize;
use serde_json::Value;

use crate::console::Console;
use crate::describe::words::{bytes, count};
use crate::failure::Failure;
use crate::outputs::{Content, Force, Output};
use crate::parameters::parse_security;
use crate::progress;
use crate::retrieval::protocol::{self, Protocol};
use crate::retrieval::records::{Records, TableArguments};
use crate::seeds::random;
use crate::written::{FilesReport, written};

/// Describes a table for the client: the file is public, and has no row and no keyword
#[derive(Debug, Args)]
pub(super) struct DescribeRetrieval {
    #[command(flatten)]
    table: TableArguments,
    #[command(flatten)]
    output: DescriptionOutput,
}

/// Describes a table for the client: the file is public, and has no row and no keyword
#[derive(Debug, Args)]
pub(super) struct DescribeIntersection {
    #[command(flatten)]
    table: TableArguments,
    /// The most keywords of a request
    #[arg(long, value_name = "KEYWORDS")]
    asked: usize,
    /// Replies tell of rows that were not asked for at most as much as a statistical distance of 2^-BITS does, 30 to 128
    #[arg(long, value_name = "BITS", default_value_t = intersection::Options::default().distance)]
    distance: u32,
    #[command(flatten)]
    output: DescriptionOutput,
}

/// How a description is made and where it is written.
#[derive(Debug, Args)]
struct DescriptionOutput {
    /// The security of keys, in bits: none, 128, 192 or 256
    #[arg(long, value_name = "BITS", default_value = "128", value_parser = parse_security)]
    security: Security,
    /// The file for the description, or - for standard output
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    force: Force,
}

/// Answers a request from the table, without any secret of the client
#[derive(Debug, Args)]
pub(super) struct Answer {
    /// The description of the table
    description: PathBuf,
    #[command(flatten)]
    table: TableArguments,
    /// server.keys of the client
    #[arg(long, value_name = "FILE")]
    keys: PathBuf,
    /// The encrypted request, or - for standard input
    input: PathBuf,
    /// The file for the encrypted reply, or - for standard output
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    force: Force,
}

/// A description that was written.
#[derive(Serialize)]
struct DescriptionReport {
    description: Value,
    #[serde(flatten)]
    files: FilesReport,
    #[serde(skip)]
    words: String,
}

impl fmt::Display for DescriptionReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n{}", self.words, self.files)
    }
}

impl DescribeRetrieval {
    pub(super) fn run(&self, console: &Console) -> Result<(), Failure> {
        let security = self.output.security;
        self.output.run(&self.table, console, |records, _| {
            records.with(|rows| retrieval::Database::new(rows, security)).map(|database| database.plan().clone())
        })
    }
}

impl DescribeIntersection {
    pub(super) fn run(&self, console: &Console) -> Result<(), Failure> {
        let &Self { asked, distance, output: DescriptionOutput { security, .. }, .. } = self;
        let options = intersection::Options { asked, distance, security };
        self.output.run(&self.table, console, |records, seed| {
            let database = records.with(|rows| intersection::Database::new(rows, &options, seed));
            database.map(|database| database.plan().clone())
        })
    }
}

impl DescriptionOutput {
    fn run<P: Protocol>(
        &self,
        table: &TableArguments,
        console: &Console,
        plan: impl FnOnce(&Records, &Seed) -> noren::Result<P>,
    ) -> Result<(), Failure> {
        let output = Output::or_standard(&self.output, &self.force, Content::Binary, console)?;
        let records = table.read(console)?;
        let plan = taking_in(|| plan(&records, &random()?).map_err(Failure::file(table.path())))?;
        let bytes = plan.to_bytes();
        output.write_bytes(Access::Default, &bytes)?;
        console.report(&DescriptionReport {
            description: plan.to_json(),
            files: FilesReport::of(&output, bytes.len() as u64),
            words: format!("{}, {}", sizes(&plan), plan.words()),
        })
    }
}

/// Takes in a table, which shows its progress.
fn taking_in<T>(take: impl FnOnce() -> T) -> T {
    let _shown = progress::spinner("taking in the table".to_owned());
    take()
}

/// The sizes of a table in words.
fn sizes(plan: &impl Protocol) -> String {
    let [rows, longest] = plan.sizes();
    format!("{} of up to {}", count(rows, "row"), bytes(longest as f64))
}

impl Answer {
    pub(super) fn run<P: Protocol>(&self, console: &Console) -> Result<(), Failure> {
        let output = Output::or_standard(&self.output, &self.force, Content::Binary, console)?;
        let plan: P = protocol::read(&self.description, console)?;
        if self.table.by_keyword() != plan.by_keyword() {
            let [found, needed] = [self.table.by_keyword(), plan.by_keyword()]
                .map(|by_keyword| if by_keyword { "a column of keywords" } else { "none" });
            let needed = format!("{needed}, as {} was described", self.table.path().display());
            return Err(Failure::Unsuitable { what: "--by", found: found.to_owned(), needed });
        }
        console.inputs().verify(&self.keys, &P::KEYS)?;
        let keys = ServerKeys::open(&plan.server_parts(), &self.keys).map_err(Failure::file(&self.keys))?;
        let request: Parcel<P::Requests> = console.inputs().read(&(), &self.input, &P::REQUESTS)?;
        let database = self.database(&plan, console)?;
        let _shown = progress::spinner("answering".to_owned());
        let reply = P::answer(&database, &request, &keys, &random()?).map_err(Failure::file(&self.input))?;
        let reply = reply.to_bytes(&(), Form::Packed);
        output.write_bytes(Access::Default, &reply)?;
        written(&output, &reply, console)
    }

    /// Takes in the table; refuses one that is not described so.
    fn database<P: Protocol>(&self, plan: &P, console: &Console) -> Result<P::Database, Failure> {
        let path = self.table.path();
        let records = self.table.read(console)?;
        let database = taking_in(|| {
            let seed = random()?;
            records.with(|rows| plan.database(rows, &seed)).map_err(Failure::file(path))
        })?;
        let found = P::of_database(&database);
        if found != plan {
            let found = if found.sizes() == plan.sizes() { "other keywords".to_owned() } else { sizes(found) };
            let needed = format!(
                "the table of {} ({}), with the same --by, --columns and --without-names: describe it again if it was changed, for new \
                 keys and requests",
                self.description.display(),
                sizes(plan)
            );
            return Err(Failure::input(path, "the table", found, needed));
        }
        Ok(database)
    }
}
