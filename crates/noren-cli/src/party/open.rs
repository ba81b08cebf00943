//! `noren party open`: the numbers of an encrypted table, from the shares of all parties.

use std::path::PathBuf;

use clap::Args;
use noren::bfv::{Ciphertext, Encoder};
use noren::owners::Request;
use noren::programs::IntegerTable;
use noren_rlwe::wire::file::Access;

use crate::console::Console;
use crate::failure::Failure;
use crate::files;
use crate::integers::decrypt::{self, Target};
use crate::outputs::{Force, Output};
use crate::party::session;
use crate::tables::dialect::{Format, Style};
use crate::takes;

/// Reads the numbers of a table from the shares of all parties, without any secret
#[derive(Debug, Args)]
pub(super) struct Open {
    /// The session
    session: PathBuf,
    /// The encrypted table
    input: PathBuf,
    /// The shares of all parties
    #[arg(required = true)]
    shares: Vec<PathBuf>,
    /// The file for the numbers: .csv, .tsv, .npy, .parquet or .arrow; - for standard output [default: a terminal shows
    /// the first rows and columns]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The format of the numbers [default: the end of the name; needed for standard output]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Write no line with the names of columns
    #[arg(long)]
    no_header: bool,
    /// Integers from -t/2 to t/2 instead of 0 to t - 1
    #[arg(long)]
    signed: bool,
    /// Let others read the file, as the umask has it: without this it is for its owner alone
    #[arg(long)]
    public: bool,
    #[command(flatten)]
    force: Force,
}

impl Open {
    pub(super) fn run(&self, console: &Console) -> Result<(), Failure> {
        let (style, output) = match &self.output {
            Some(output) => {
                let style = Style::new(output, self.format, !self.no_header, None)?;
                (style, Output::or_standard(output, &self.force, style.content(), console)?)
            }
            None => (Style::of_terminal(self.format, !self.no_header, None)?, Output::terminal(console)?),
        };
        let session = session::read(&self.session, console)?;
        let table = files::read::<IntegerTable>(session.context(), &self.input, &takes::PARTY_TABLE, console)?;
        let ciphertexts: Vec<&Ciphertext> = table.ciphertexts().iter().collect();
        let request = Request::new(&session, &ciphertexts).map_err(Failure::file(&self.input))?;
        let mut shares = Vec::new();
        for path in &self.shares {
            let bytes = console.inputs().verified(path, &takes::PARTY_SHARES)?;
            session.sharer(&request, &bytes).map_err(Failure::file(path))?;
            shares.push(bytes);
        }
        let of_input = || Failure::file(&self.input);
        let plaintexts = session.opened(&ciphertexts, &shares).map_err(of_input())?;
        let values = table.decode(&Encoder::new(session.context()), &plaintexts).map_err(of_input())?;
        let access = if self.public { Access::Default } else { Access::Owner };
        let target = Target { output: &output, access, style: &style, signed: self.signed };
        let guarantee = "every number is exact if all parties and the evaluator followed the protocol";
        console.report(&decrypt::write(&table, values, session.parameters(), &target, guarantee)?)
    }
}
