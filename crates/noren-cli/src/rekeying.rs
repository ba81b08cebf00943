//! Rows for `rekey`: keys that re-encrypt, for any scheme whose ciphertexts are re-encrypted.

use std::fmt;
use std::path::{Path, PathBuf};

use noren::wire::{FileContext, FileKey};
use noren::{KeyId, ReceiverKey, ReencryptionKey, SecretKey, Seed};
use noren_rlwe::wire::file;
use noren_rlwe::wire::key_file::KeyFile;
use serde::Serialize;

use crate::console::Console;
use crate::describe::Describe;
use crate::describe::words::{bytes, count};
use crate::failure::Failure;
use crate::files;
use crate::outputs::Output;
use crate::progress;
use crate::takes;

/// A key that is to be made.
pub(crate) struct Rekeying<'a> {
    pub(crate) secrets: Secrets<'a>,
    pub(crate) output: &'a Output,
    pub(crate) seed: Seed,
}

/// The secret keys that it is of.
pub(crate) enum Secrets<'a> {
    /// One's own, for which others re-encrypt.
    Receive(&'a Path),
    Between {
        from: &'a Path,
        to: &'a Path,
    },
}

/// How a scheme makes the keys.
pub(crate) struct Makes<C> {
    /// The key between two secrets.
    pub(crate) between: fn(&C, &SecretKey, &SecretKey, Seed) -> noren::Result<ReencryptionKey>,
    /// The key for another owner.
    pub(crate) handover: fn(&C, &SecretKey, &ReceiverKey, Seed) -> noren::Result<ReencryptionKey>,
    /// The public key with which others re-encrypt for a secret.
    pub(crate) receive: fn(&C, &SecretKey, Seed) -> noren::Result<ReceiverKey>,
}

/// The re-encryption key that was made.
#[derive(Serialize)]
struct RekeyReport {
    /// The identities of the old and of the new secret key.
    from: String,
    to: String,
    /// Whether the new secret key is of another owner.
    another_owner: bool,
    /// The most limbs of ciphertexts that it takes.
    limbs: usize,
    path: PathBuf,
    bytes: u64,
}

/// The public key of a receiver that was made.
#[derive(Serialize)]
struct ReceiverReport {
    /// The identity of the secret key.
    to: String,
    path: PathBuf,
    bytes: u64,
}

impl<C: FileContext<Parameters: Describe>> Makes<C>
where
    SecretKey: FileKey<C>,
    ReceiverKey: FileKey<C>,
    ReencryptionKey: FileKey<C>,
{
    pub(crate) fn run(
        &self,
        Rekeying { secrets, output, seed }: Rekeying<'_>,
        console: &Console,
    ) -> Result<(), Failure> {
        match secrets {
            Secrets::Receive(own) => self.receive(own, output, seed, console),
            Secrets::Between { from, to } => self.between([from, to], output, seed, console),
        }
    }

    fn receive(&self, own: &Path, output: &Output, seed: Seed, console: &Console) -> Result<(), Failure> {
        let own_key = secret::<C>(own, &takes::REKEY_RECEIVE, console)?;
        let key = (self.receive)(&own_key.context, &own_key.key, seed).map_err(Failure::file(own))?;
        let to = key.owner().key.to_hex();
        let bytes = output.write(&(), &KeyFile { context: own_key.context, key })?;
        console.report(&ReceiverReport { to, path: output.path().to_owned(), bytes })
    }

    fn between(&self, [from, to]: [&Path; 2], output: &Output, seed: Seed, console: &Console) -> Result<(), Failure> {
        let own = secret::<C>(from, &takes::REKEY_FROM, console)?;
        let is_receiver = file::kind(to)?.is_some_and(|kind| takes::REKEY_RECEIVER.kinds.contains(&kind));
        let shown = || progress::spinner("making the re-encryption key".to_owned());
        let key = if is_receiver {
            let receiver = files::read_key::<C, ReceiverKey>(to, &takes::REKEY_RECEIVER, console)?;
            let _shown = shown();
            (self.handover)(&own.context, &own.key, &receiver.key, seed)
        } else {
            let new = secret::<C>(to, &takes::REKEY_TO, console)?;
            let _shown = shown();
            (self.between)(&own.context, &own.key, &new.key, seed)
        };
        let key = key.map_err(Failure::file(to))?;
        let (old, new, limbs, another_owner) = (key.from(), key.owner().key, key.limbs(), key.is_for_another_owner());
        let bytes = output.write(&(), &KeyFile { context: own.context, key })?;
        let [from, to] = [old, new].map(KeyId::to_hex);
        console.report(&RekeyReport { from, to, another_owner, limbs, path: output.path().to_owned(), bytes })
    }
}

/// Reads a secret key, which may be under a passphrase.
fn secret<C: FileContext<Parameters: Describe>>(
    path: &Path,
    takes: &takes::Takes,
    console: &Console,
) -> Result<KeyFile<C, SecretKey>, Failure>
where
    SecretKey: FileKey<C>,
{
    files::read_key(path, takes, console)
}

impl fmt::Display for RekeyReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { from, to, another_owner, limbs, path, bytes: size } = self;
        let whose = if *another_owner { ", of another owner" } else { "" };
        writeln!(f, "from key {from}\nto key {to}{whose}")?;
        writeln!(f, "for ciphertexts of up to {}", count(*limbs, "limb"))?;
        write!(f, "wrote {}, {}", path.display(), bytes(*size as f64))
    }
}

impl fmt::Display for ReceiverReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { to, path, bytes: size } = self;
        writeln!(f, "for those who re-encrypt for key {to}")?;
        write!(f, "wrote {}, {}", path.display(), bytes(*size as f64))
    }
}
