//! `noren party join`: the message of a party in the next round, from those of all parties in the round before.

use std::fmt;
use std::path::PathBuf;

use clap::Args;
use noren_rlwe::wire::file::Access;
use serde::Serialize;

use crate::console::Console;
use crate::describe::words::bytes;
use crate::failure::{Failure, quoted};
use crate::outputs::{Content, Force, Output};
use crate::party::{folder, session};

/// Takes the messages of all parties in a round, and writes the own one of the next
#[derive(Debug, Args)]
#[command(
    after_help = "A call that is repeated, also after it was killed, writes the same bytes. Messages of a round that is not \
        complete are kept in the folder."
)]
pub(super) struct Join {
    /// The folder of the party
    folder: PathBuf,
    /// The messages of the round before, of which the own one may be left out; none for the first round
    messages: Vec<PathBuf>,
    /// The file for the message, or - for standard output; not needed after the last round
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
}

/// A message that was written, or the end of all rounds.
#[derive(Serialize)]
struct JoinReport {
    session: String,
    party: String,
    /// None after the last.
    round: Option<&'static str>,
    /// Its number, from 1.
    number: usize,
    rounds: usize,
    /// The parties whose messages of this round are not here yet.
    missing: Vec<String>,
    path: Option<PathBuf>,
    bytes: usize,
    #[serde(skip)]
    folder: PathBuf,
}

impl Join {
    pub(super) fn run(&self, console: &Console) -> Result<(), Failure> {
        let output = self.output.as_ref();
        let output = output.map(|path| Output::or_standard(path, &self.force, Content::Binary, console)).transpose()?;
        let mut folder = folder::open(&self.folder, console)?;
        let session = folder.party().session().clone();
        let messages = session::read_messages(&session, &self.messages, console)?;
        let rounds = folder.party().transcript().rounds();
        // That of the message: the one after the last of those that are taken.
        let last = messages.last().map(|&(last, _)| last);
        let at = last.map_or(0, |last| 1 + rounds.iter().position(|&round| round == last).unwrap_or(rounds.len()));
        if let (Some(round), None) = (rounds.get(at), &output) {
            let needed = format!("a file for the message of round {round}");
            return Err(Failure::Unsuitable { what: "--output", found: "none".to_owned(), needed });
        }
        let messages: Vec<Vec<u8>> = messages.into_iter().map(|(_, message)| message).collect();
        let sent = folder.next(&messages).map_err(Failure::file(&self.folder))?;
        let written = sent.as_ref().zip(output);
        if let Some((message, output)) = &written {
            output.write_bytes(Access::Default, message)?;
        }
        let path = written.map(|(_, output)| output.path().to_owned());
        let transcript = folder.party().transcript();
        let missing = rounds.get(at).map(|&round| transcript.missing(round)).unwrap_or_default();
        console.report(&JoinReport {
            session: session::digest(&session),
            party: folder.party().name().to_owned(),
            round: rounds.get(at).map(|round| round.name()),
            number: at + 1,
            rounds: rounds.len(),
            missing: missing.into_iter().map(str::to_owned).collect(),
            path,
            bytes: sent.map_or(0, |sent| sent.len()),
            folder: self.folder.clone(),
        })
    }
}

impl fmt::Display for JoinReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { party, number, rounds, missing, folder, .. } = self;
        let folder = quoted(folder);
        let (Some(round), Some(path)) = (self.round, &self.path) else {
            writeln!(f, "party {party}: all {rounds} rounds are done, there is no message")?;
            return write!(f, "next: noren party combine {folder}/session {folder}/messages/* --out keys");
        };
        writeln!(f, "party {party}, round {number} of {rounds}, {round}")?;
        writeln!(f, "wrote {}, {}", path.display(), bytes(self.bytes as f64))?;
        write!(f, "next: send it to all parties; ")?;
        match missing.is_empty() {
            true => write!(f, "all of this round are here: ")?,
            false => write!(f, "with the messages of this round of {}: ", missing.join(", "))?,
        }
        let output = if number < rounds { " -o FILE" } else { "" };
        write!(f, "noren party join {folder} MESSAGE...{output}")
    }
}
