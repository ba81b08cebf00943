//! `noren party session`: what the parties agree on, as a file that all of them have.

use std::fmt;
use std::path::{Path, PathBuf};

use clap::Args;
use noren::backends::Record;
use noren::bfv::{KeyRequest, Opening};
use noren::owners::{Round, Session, Transcript};
use noren_rlwe::wire::file::Access;
use serde::Serialize;

use crate::console::Console;
use crate::describe::Integers;
use crate::describe::words::count;
use crate::failure::Failure;
use crate::files;
use crate::integers::parameters::read_parameters;
use crate::outputs::{Content, Force, Output};
use crate::parameters::DISTANCE;
use crate::seeds::random;
use crate::takes;
use crate::written::FilesReport;

/// Makes the session: names, parameters, keys, and how much is opened. The file is public
#[derive(Debug, Args)]
pub(super) struct NewSession {
    /// Parameters for as many parties, as noren params choose --parties finds them
    params: PathBuf,
    /// The names of the parties
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', required = true)]
    names: Vec<String>,
    /// The most ciphertexts that the parties ever open
    #[arg(long, value_name = "COUNT")]
    results: u64,
    /// All shares of a party tell of its secret at most as much as a statistical distance of 2^-BITS does, 40 to 128
    #[arg(long, value_name = "BITS", default_value_t = DISTANCE)]
    distance: u32,
    /// How many of the parties open a result, without the others: 2 or more; all of them, unless it is given
    #[arg(long, value_name = "COUNT")]
    threshold: Option<usize>,
    /// Also the key for products of ciphertexts, which takes one round more
    #[arg(long)]
    relinearization: bool,
    /// Also keys for these rotations
    #[arg(long, value_name = "STEPS,...", value_delimiter = ',', allow_hyphen_values = true)]
    rotations: Vec<isize>,
    /// Also the key that swaps the two rows of slots
    #[arg(long)]
    swap_rows: bool,
    /// The file for the session, or - for standard output
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    force: Force,
}

/// A session that was written.
#[derive(Serialize)]
struct SessionReport {
    session: String,
    names: Vec<String>,
    results: u64,
    distance: u32,
    threshold: Option<usize>,
    relinearization: bool,
    /// How many keys for rotations and the swap of rows there are.
    automorphism_keys: usize,
    rounds: Vec<&'static str>,
    parameters: Integers,
    #[serde(flatten)]
    files: FilesReport,
}

impl NewSession {
    pub(super) fn run(&self, console: &Console) -> Result<(), Failure> {
        let output = Output::or_standard(&self.output, &self.force, Content::Binary, console)?;
        let parameters = read_parameters(&self.params, &takes::PARTY_PARAMS, console)?;
        let &Self { ref names, results, distance, threshold, relinearization, ref rotations, swap_rows, .. } = self;
        let request =
            KeyRequest { relinearization, rotations: rotations.clone(), swap: swap_rows, ..KeyRequest::default() };
        let opening = Opening { parties: names.len(), results, distance };
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let session = Session::new(&parameters, &names, &request, opening, &random()?);
        let mut session = session.map_err(Failure::file(&self.params))?;
        if let Some(threshold) = threshold {
            session = session.with_threshold(threshold)?;
        }
        let bytes = session.to_bytes();
        output.write_bytes(Access::Default, &bytes)?;
        console.report(&SessionReport {
            session: digest(&session),
            names: session.names().to_vec(),
            results,
            distance,
            threshold,
            relinearization,
            automorphism_keys: session.request().galois.len(),
            rounds: Transcript::new(&session).rounds().iter().map(|round| round.name()).collect(),
            parameters: Integers::new(session.parameters()),
            files: FilesReport::of(&output, bytes.len() as u64),
        })
    }
}

/// Reads a session; refuses one whose parameters promise too little security.
pub(super) fn read(path: &Path, console: &Console) -> Result<Session, Failure> {
    let bytes = console.inputs().verified(path, &takes::PARTY_SESSION)?;
    let session = Session::from_bytes(&bytes).map_err(Failure::file(path))?;
    files::admit(session.parameters(), path, console)?;
    Ok(session)
}

/// Reads messages of parties in these files: each with its round, in the order of the rounds.
pub(super) fn read_messages(
    session: &Session,
    paths: &[PathBuf],
    console: &Console,
) -> Result<Vec<(Round, Vec<u8>)>, Failure> {
    let read = |path: &PathBuf| {
        let bytes = console.inputs().verified(path, &takes::PARTY_MESSAGES)?;
        let (_, round) = session.sender(&bytes).map_err(Failure::file(path))?;
        Ok((round, bytes))
    };
    let mut messages = paths.iter().map(read).collect::<Result<Vec<_>, Failure>>()?;
    messages.sort_by_key(|&(round, _)| round);
    Ok(messages)
}

/// The digest by which messages name a session, in hexadecimal.
pub(super) fn digest(session: &Session) -> String {
    Record::hexadecimal(&session.digest())
}

impl fmt::Display for SessionReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { session, names, results, distance, rounds, parameters, files, .. } = self;
        writeln!(f, "session {session}")?;
        writeln!(f, "parties        {}, with {} each", names.join(", "), count(rounds.len(), "message"))?;
        let openers = self.threshold.map_or_else(|| "all".to_owned(), |threshold| format!("any {threshold}"));
        let results = count(*results as usize, "ciphertext");
        writeln!(f, "opens          {results}, {openers} of them together, at a distance of 2^-{distance}")?;
        let products = if self.relinearization { "products" } else { "no products" };
        writeln!(f, "eval.keys      {products}, {} of rotations and swaps", count(self.automorphism_keys, "key"))?;
        writeln!(f, "{parameters}\n{files}")?;
        write!(f, "next: send it to all parties, which compare its digest before they run noren party init")
    }
}
