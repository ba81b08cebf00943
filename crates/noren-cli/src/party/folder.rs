//! `noren party init`: the folder of a party; and how other verbs open it.

use std::fmt;
use std::path::{Path, PathBuf};

use clap::Args;
use noren::Seed;
use noren::owners::{Folder, Party, Session};
use noren_files::encrypted;
use serde::Serialize;
use zeroize::Zeroizing;

use crate::console::Console;
use crate::failure::{Failure, quoted};
use crate::files;
use crate::key_files::passphrase_of_new;
use crate::outputs::Force;
use crate::party::session;
use crate::passphrases::Question;
use crate::seeds::{HexSeed, parse_seed, random};

/// The file of the secret in a folder.
const SECRET: &str = "secret";

/// Makes the folder of a party, with a part of the secret of its own, which never leaves it
#[derive(Debug, Args)]
pub(super) struct Init {
    /// The session
    session: PathBuf,
    /// The name of the party
    name: String,
    /// The folder
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Make its secret from this seed of 64 hexadecimal digits, as secret as that: for tests that repeat
    #[arg(long, value_name = "HEX", value_parser = parse_seed)]
    seed: Option<HexSeed>,
    /// Encrypt its secret under a passphrase: from --passphrase-file, which asks for this too, NOREN_PASSPHRASE, or the terminal
    #[arg(long)]
    passphrase: bool,
}

/// A folder that was made.
#[derive(Serialize)]
struct FolderReport {
    session: String,
    party: String,
    names: Vec<String>,
    folder: PathBuf,
    /// Whether the secret is under a passphrase.
    passphrase: bool,
}

impl Init {
    pub(super) fn run(&self, console: &Console) -> Result<(), Failure> {
        let (folder, secret) = (&self.out, self.out.join(SECRET));
        // Without it nothing is opened any more that was encrypted for its parties: no option replaces it.
        let exists = || Failure::input(folder, "the folder", "the secret of a party", "a folder without one");
        if secret.symlink_metadata().is_ok() {
            return Err(exists());
        }
        let session = session::read(&self.session, console)?;
        session.party(&self.name)?;
        let passphrase = passphrase_of_new(&secret, self.passphrase, &Force { force: false }, console)?;
        let seed = self.seed.as_ref().map_or_else(random, |HexSeed(bytes)| Ok(Seed::from_bytes(*bytes)))?;
        let party = Party::new(&session, &self.name, &seed)?;
        let made = Folder::create::<noren_files::error::Error>(folder, party, |party, to| {
            encrypted::write_secret(&Zeroizing::new(party.to_bytes()), to, passphrase.as_ref())
        });
        match made.map_err(Failure::from) {
            Err(Failure::Exists { .. }) => return Err(exists()),
            made => made?,
        };
        console.report(&FolderReport {
            session: session::digest(&session),
            party: self.name.clone(),
            names: session.names().to_vec(),
            folder: folder.clone(),
            passphrase: passphrase.is_some(),
        })
    }
}

/// Opens the folder of a party, whose passphrase is asked for if it has one.
pub(super) fn open(path: &Path, console: &Console) -> Result<Folder, Failure> {
    let read = |session: &Session, secret: &Path| {
        let passphrase = match encrypted::is_encrypted_file(secret)? {
            true => Some(Question::of(secret, console.inputs().passphrase_file()).ask()?),
            false => None,
        };
        let bytes = encrypted::read_secret(secret, passphrase.as_ref())?;
        Party::from_bytes(session, &bytes).map_err(Failure::file(secret))
    };
    let folder = Folder::open(path, read).map_err(|failure| match failure {
        Failure::Library(source) => Failure::File { path: path.to_owned(), source },
        named => named,
    })?;
    files::admit(folder.party().session().parameters(), path, console)?;
    Ok(folder)
}

impl fmt::Display for FolderReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { session, party, names, folder, passphrase } = self;
        writeln!(f, "session {session}")?;
        writeln!(f, "party {party} of {}", names.join(", "))?;
        let state = if *passphrase { "under a passphrase" } else { "in clear" };
        writeln!(f, "wrote {}, with its secret {state}", folder.display())?;
        write!(f, "next: once all parties have compared the digest, noren party join {} -o FILE", quoted(folder))
    }
}
