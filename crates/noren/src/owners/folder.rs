//! The state of a party in a folder: what a process may be killed in between.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};

use noren_rlwe::error::{Error, Result};
use noren_rlwe::owner::KeyId;
use noren_rlwe::wire::file::{Access, write_atomically};
use noren_rlwe::wire::publish::Destination;

use crate::backends::backend::Record;
use crate::owners::message::Round;
use crate::owners::party::Party;
use crate::owners::request::Request;
use crate::owners::session::Session;

/// A party whose state is a folder. Messages are there before they leave, and what is opened is in the log before a share leaves.
///
/// | name | what it is |
/// |---|---|
/// | `session` | the session |
/// | `secret` | the secret of the party, as its owner wrote it |
/// | `messages/ROUND-NUMBER` | the messages of all parties, the own one too, by the number of the party |
/// | `opened` | a line for each ciphertext that was opened: its digest |
pub struct Folder {
    path: PathBuf,
    party: Party,
    /// Keeps other processes out for as long as it is open.
    lock: File,
}

/// The largest file that is read: shares of all keys of a bootstrap.
const MAX_BYTES: u64 = 1 << 34;

const SESSION: &str = "session";
const SECRET: &str = "secret";
const MESSAGES: &str = "messages";
const OPENED: &str = "opened";

impl Folder {
    /// Makes a folder for a party. `write` writes its secret into a file of this name, under a passphrase or not.
    ///
    /// # Errors
    /// [`Error::Exists`] for a folder that has one already, [`Error::Io`] with the path, and the error of `write`.
    pub fn create<E: From<Error>>(
        path: &Path,
        party: Party,
        write: impl FnOnce(&Party, Destination<'_>) -> std::result::Result<(), E>,
    ) -> std::result::Result<Self, E> {
        let secret = path.join(SECRET);
        if secret.symlink_metadata().is_ok() {
            return Err(Error::Exists { path: secret }.into());
        }
        let messages = path.join(MESSAGES);
        fs::create_dir_all(&messages).map_err(failed(&messages))?;
        let bytes = party.session().to_bytes();
        write_atomically(&path.join(SESSION), Access::Default, |file| file.write_all(&bytes))?;
        // Last: a folder without it is none of a party, and is made again.
        write(&party, Destination::keeping(&secret))?;
        Ok(Self::locked(path, party)?)
    }

    /// The party of a folder, as it was when the last process left it. `read` reads its secret.
    ///
    /// # Errors
    /// Another process that has it open, files that are missing or damaged, and the error of `read`.
    pub fn open<E: From<Error>>(
        path: &Path,
        read: impl FnOnce(&Session, &Path) -> std::result::Result<Party, E>,
    ) -> std::result::Result<Self, E> {
        let session = Session::from_bytes(&read_file(&path.join(SESSION))?)?;
        let mut folder = Self::locked(path, read(&session, &path.join(SECRET))?)?;
        folder.restore()?;
        Ok(folder)
    }

    fn locked(path: &Path, party: Party) -> Result<Self> {
        let log = path.join(OPENED);
        let lock = OpenOptions::new().create(true).append(true).read(true).open(&log).map_err(failed(&log))?;
        match lock.try_lock() {
            Err(TryLockError::WouldBlock) => {
                let needed = "one process at a time: close the other, or wait for it";
                Err(Error::parameter("folder of a party", "open in another process", needed))
            }
            // Where the system has no locks, there is none.
            _ => Ok(Self { path: path.to_owned(), party, lock }),
        }
    }

    /// Takes the messages and the log of the folder.
    fn restore(&mut self) -> Result<()> {
        for &round in self.party.transcript().rounds() {
            for party in 0..self.party.session().names().len() {
                let path = self.message_path(round, party);
                if path.exists() {
                    self.party.take(&[read_file(&path)?])?;
                }
            }
        }
        let log = String::from_utf8(read_file(&self.path.join(OPENED))?);
        let lines = log.map_err(|_| self.damaged())?;
        if !lines.is_empty() && !lines.ends_with('\n') {
            // What follows must not stand in the line that was cut short.
            let whole = lines.rfind('\n').map_or(0, |end| end + 1) as u64;
            let log = self.path.join(OPENED);
            self.lock.set_len(whole).and_then(|()| self.lock.sync_all()).map_err(failed(&log))?;
        }
        // A line without its end was not there when its share would have left.
        for line in lines.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')) {
            let digest = Record::bytes_of(line).ok().and_then(|digest| digest.try_into().ok());
            let digest = digest.ok_or_else(|| self.damaged())?;
            self.party.count_opened(digest);
        }
        Ok(())
    }

    /// The party.
    #[must_use]
    pub const fn party(&self) -> &Party {
        &self.party
    }

    /// As [`Party::next`]: all messages are in the folder before the own one is given, those that came before one that was refused too.
    ///
    /// # Errors
    /// As [`Party::next`], and [`Error::Io`] with the path.
    pub fn next(&mut self, messages: &[Vec<u8>]) -> Result<Option<Vec<u8>>> {
        let next = self.party.next(messages);
        for &round in self.party.transcript().rounds() {
            for party in 0..self.party.session().names().len() {
                let path = self.message_path(round, party);
                if !self.party.transcript().has(party, round) || path.exists() {
                    continue;
                }
                if let Some(bytes) = self.party.transcript().message(party, round) {
                    write_atomically(&path, Access::Default, |file| file.write_all(bytes))?;
                }
            }
        }
        next
    }

    /// The own message of a round that was sent before.
    #[must_use]
    pub fn sent(&self, round: Round) -> Option<&[u8]> {
        self.party.transcript().message(self.party.number(), round)
    }

    /// As [`Party::key_id`].
    ///
    /// # Errors
    /// As [`Party::key_id`].
    pub fn key_id(&mut self) -> Result<KeyId> {
        self.party.key_id()
    }

    /// As [`Party::open`]: what is opened is in the log, on disk, before the shares are given.
    ///
    /// # Errors
    /// As [`Party::open`], and [`Error::Io`] with the path.
    pub fn open_results(&mut self, request: &Request, among: Option<&[&str]>) -> Result<Vec<u8>> {
        let (path, log) = (self.path.join(OPENED), &mut self.lock);
        self.party.open_logged(request, among, |new| {
            let lines: String = new.iter().map(|digest| Record::hexadecimal(digest) + "\n").collect();
            log.write_all(lines.as_bytes()).and_then(|()| log.sync_all()).map_err(failed(&path))
        })
    }

    fn message_path(&self, round: Round, party: usize) -> PathBuf {
        self.path.join(MESSAGES).join(format!("{round}-{party}"))
    }

    fn damaged(&self) -> Error {
        let needed = "a digest of 64 digits in each line: begin a new session";
        Error::parameter("log of a party", format!("{} is damaged", self.path.join(OPENED).display()), needed)
    }
}

fn read_file(path: &Path) -> Result<Vec<u8>> {
    noren_rlwe::wire::file::read(path, MAX_BYTES)
}

fn failed(path: &Path) -> impl Fn(std::io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::Io { path: path.clone(), source }
}
