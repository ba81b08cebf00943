//! `noren party share`: the shares of a party in the decryption of a table, once somebody has looked at what is opened.

use std::fmt;
use std::path::PathBuf;

use clap::Args;
use noren::backends::Record;
use noren::bfv::Ciphertext;
use noren::owners::Request;
use noren::programs::IntegerTable;
use noren_rlwe::wire::file::Access;
use serde::Serialize;

use crate::confirmation;
use crate::console::Console;
use crate::describe::words::{bytes, count};
use crate::failure::Failure;
use crate::files;
use crate::outputs::{Content, Force, Output};
use crate::party::{folder, session};
use crate::takes;

/// Writes the shares of a party in the decryption of a table: whoever has those of all parties reads the numbers
#[derive(Debug, Args)]
#[command(
    after_help = "Know how the table came about before you say yes: its digest is the same for all parties, and open takes shares of \
        one digest alone."
)]
pub(super) struct Share {
    /// The folder of the party
    folder: PathBuf,
    /// The encrypted table, or - for standard input
    input: PathBuf,
    /// The parties that open it together, this one too, in a session with a threshold
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    among: Option<Vec<String>>,
    /// Do not ask
    #[arg(long)]
    yes: bool,
    /// The file for the shares, which its owner alone can read (mode 0600); or - for standard output
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    force: Force,
}

/// The table that is opened, before and after its shares are written.
#[derive(Serialize)]
struct ShareReport {
    session: String,
    party: String,
    /// The parties that open it together, if not all do.
    among: Option<Vec<String>>,
    input: PathBuf,
    scheme: &'static str,
    rows: usize,
    columns: usize,
    ciphertexts: usize,
    plaintext_modulus: u64,
    /// The digest of the ciphertexts, by which the shares name them.
    digest: String,
    /// The identity of the joint secret.
    key: String,
    noise_budget: f64,
    /// How many ciphertexts the session opens in all.
    results: u64,
    /// How many of them this takes: what was opened before takes none.
    results_taken: u64,
    results_left: u64,
    path: Option<PathBuf>,
    bytes: usize,
}

impl Share {
    pub(super) fn run(&self, console: &Console) -> Result<(), Failure> {
        let output = Output::or_standard(&self.output, &self.force, Content::Binary, console)?;
        confirmation::check(self.yes, console)?;
        let mut folder = folder::open(&self.folder, console)?;
        let session = folder.party().session().clone();
        let table = files::read::<IntegerTable>(session.context(), &self.input, &takes::PARTY_TABLE, console)?;
        let ciphertexts: Vec<&Ciphertext> = table.ciphertexts().iter().collect();
        // All that is refused is refused before anybody is asked.
        let of_input = || Failure::file(&self.input);
        let key = folder.key_id().map_err(Failure::file(&self.folder))?;
        key.check(table.key_id(), "the table").map_err(of_input())?;
        for ciphertext in &ciphertexts {
            session.opening().flood(ciphertext).map_err(of_input())?;
        }
        let among: Option<Vec<&str>> = self.among.as_ref().map(|names| names.iter().map(String::as_str).collect());
        let among = among.as_deref();
        let request = Request::new(&session, &ciphertexts).map_err(of_input())?;
        let results_taken = folder.party().results_for(&request, among).map_err(of_input())?;
        let layout = table.layout();
        let mut report = ShareReport {
            session: session::digest(&session),
            party: folder.party().name().to_owned(),
            among: self.among.clone(),
            input: self.input.clone(),
            scheme: "BFV",
            rows: layout.rows(),
            columns: layout.columns(),
            ciphertexts: ciphertexts.len(),
            plaintext_modulus: session.parameters().modulus().value(),
            digest: Record::hexadecimal(&request.digest(&session)),
            key: table.key_id().to_string(),
            noise_budget: ciphertexts.iter().map(|x| x.noise_budget()).fold(f64::INFINITY, f64::min),
            results: session.opening().results,
            results_taken,
            results_left: folder.party().results_left(),
            path: None,
            bytes: 0,
        };
        console.plan(&report)?;
        confirmation::ask(self.yes, format_args!("Open {}?", self.input.display()), &self.input)?;
        let shares = folder.open_results(&request, among).map_err(of_input())?;
        output.write_bytes(Access::Owner, &shares)?;
        report.results_left = folder.party().results_left();
        (report.path, report.bytes) = (Some(output.path().to_owned()), shares.len());
        console.report(&report)
    }
}

/// The plan of what is opened; once it was, what was written.
impl fmt::Display for ShareReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let left = format!("{} of {} results are left", self.results_left, self.results);
        if let Some(path) = &self.path {
            writeln!(f, "wrote {}, {}", path.display(), bytes(self.bytes as f64))?;
            return write!(f, "{left}");
        }
        let Self { party, session, input, scheme, rows, columns, ciphertexts, digest, key, .. } = self;
        let (rows, columns, ciphertexts) =
            (count(*rows, "row"), count(*columns, "column"), count(*ciphertexts, "ciphertext"));
        writeln!(f, "party {party} of session {session}")?;
        writeln!(f, "opens          {}", input.display())?;
        if let Some(among) = &self.among {
            writeln!(f, "together with  {}", among.join(", "))?;
        }
        writeln!(f, "holds          {rows}, {columns} of integers modulo {}", self.plaintext_modulus)?;
        writeln!(f, "in             {ciphertexts} of {scheme}; noise budget {:.1} bits", self.noise_budget)?;
        writeln!(f, "digest         {digest}")?;
        writeln!(f, "key            {key}")?;
        write!(f, "{left}, of which this takes {}", self.results_taken)
    }
}
