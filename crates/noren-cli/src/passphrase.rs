//! `noren passphrase`: puts a secret key under a passphrase, changes it, or takes it off.

use std::fmt;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use noren::wire::{Destination, Existing, Limits};
use noren_files::encrypted;
use noren_files::passphrase::Work;
use noren_files::signing_key::SigningKey;
use noren_rlwe::wire::file::{self, Access};
use noren_rlwe::wire::reader::Reader;
use noren_rlwe::wire::regular;
use serde::Serialize;
use zeroize::Zeroizing;

use crate::console::Console;
use crate::failure::Failure;
use crate::outputs;
use crate::passphrases::Question;

/// Puts a secret key or a signing key under a passphrase, changes the passphrase, or takes it off
#[derive(Debug, Args)]
#[command(
    after_help = "The file is replaced as a whole or not at all; copies of it stay as they are. secret.key has then the format of \
        age, so that age -d gives the key in clear; signing.key stays one of minisign.\n\
        A passphrase is asked for on the terminal. For scripts: of a key in clear, the new one comes from --passphrase-file or \
        the variable NOREN_PASSPHRASE. Of a key under a passphrase, these give the one that it has, and --new-passphrase-file or \
        NOREN_NEW_PASSPHRASE the new one.\n\n\
        Examples:\n  \
        noren passphrase keys/secret.key\n  \
        noren passphrase keys/secret.key --remove"
)]
pub(crate) struct Arguments {
    /// secret.key, or signing.key
    key: PathBuf,
    /// Write the key in clear
    #[arg(long)]
    remove: bool,
    /// Take the new passphrase from the first line of FILE, where the key has one already
    #[arg(long, value_name = "FILE", conflicts_with = "remove")]
    new_passphrase_file: Option<PathBuf>,
}

#[derive(Serialize)]
struct PassphraseReport {
    path: PathBuf,
    /// Whether the key is now under a passphrase.
    passphrase: bool,
    bytes: u64,
}

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<(), Failure> {
    let path = &arguments.key;
    if is_signing_key(path)? {
        return of_signing_key(arguments, console);
    }
    let old = console.inputs().passphrase_file();
    let decrypted = console.inputs().decrypted(path)?;
    let question = match decrypted {
        Some(_) => Question::replacing(path, arguments.new_passphrase_file.as_deref()),
        None if arguments.remove => {
            return Err(Failure::input(path, "--remove", "a key in clear", "one under a passphrase"));
        }
        None => match &arguments.new_passphrase_file {
            Some(new) => Question::of(path, Some(new)),
            None => Question::of(path, old),
        },
    };
    let clear = match &decrypted {
        Some(content) => Zeroizing::new(content.to_vec()),
        None => Zeroizing::new(file::read(path, encrypted::MOST_BYTES)?),
    };
    check(path, &clear)?;
    let bytes = match arguments.remove {
        true => clear,
        false => Zeroizing::new(encrypted::encrypt(&clear, &question.ask_twice()?, Work::default())?),
    };
    let to = Destination { path, existing: Existing::Replace };
    file::write_atomically(to, Access::Owner, |file| file.write_all(&bytes))?;
    console.report(&PassphraseReport { path: path.clone(), passphrase: !arguments.remove, bytes: outputs::size(path)? })
}

/// Whether a file begins as one of minisign does.
fn is_signing_key(path: &Path) -> Result<bool, Failure> {
    let mut bytes = Vec::new();
    let read = regular::open(path).and_then(|file| file.take(SigningKey::START.len() as u64).read_to_end(&mut bytes));
    read.map_err(|source| Failure::Io { path: path.to_owned(), source })?;
    Ok(bytes == SigningKey::START.as_bytes())
}

/// The same for a key that signs files, whose format has passphrases of its own.
fn of_signing_key(arguments: &Arguments, console: &Console) -> Result<(), Failure> {
    let (path, new) = (&arguments.key, arguments.new_passphrase_file.as_deref());
    let usual = console.inputs().passphrase_file();
    let locked = SigningKey::needs_passphrase(path)?;
    if arguments.remove && !locked {
        return Err(Failure::input(path, "--remove", "a key in clear", "one under a passphrase"));
    }
    let old = if locked { Some(Question::of(path, usual).ask()?) } else { None };
    let key = SigningKey::read(path, old.as_ref())?;
    let question = if locked { Question::replacing(path, new) } else { Question::of(path, new.or(usual)) };
    let new = if arguments.remove { None } else { Some(question.ask_twice()?) };
    key.write(path, new.as_ref().map(|passphrase| (passphrase, Work::default())))?;
    console.report(&PassphraseReport { path: path.clone(), passphrase: new.is_some(), bytes: outputs::size(path)? })
}

/// Refuses what is no secret key, or a damaged one.
fn check(path: &Path, clear: &[u8]) -> Result<(), Failure> {
    let reader = Reader::open_any(clear, &Limits::default()).map_err(Failure::file(path))?;
    let kind = reader.header().kind;
    if kind.is_secret() {
        return Ok(());
    }
    let (found, needed) = (kind.to_string(), "a secret key".to_owned());
    Err(Failure::file(path)(noren::Error::WrongKind { found, needed }))
}

impl fmt::Display for PassphraseReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = if self.passphrase { "under the new passphrase" } else { "in clear" };
        write!(f, "wrote {}, {state}", self.path.display())
    }
}
