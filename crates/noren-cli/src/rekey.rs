//! `noren rekey`: a key that re-encrypts what is encrypted under one secret key for another.

use std::fmt;
use std::path::{Path, PathBuf};

use clap::Args;
use noren::wire::{FileContext, FileKey, Kind};
use noren::{KeyId, ReceiverKey, ReencryptionKey, SecretKey, Seed, bfv, ckks};
use noren_rlwe::wire::file;
use noren_rlwe::wire::key_file::KeyFile;
use serde::Serialize;

use crate::console::Console;
use crate::describe::Describe;
use crate::describe::words::{bytes, count};
use crate::failure::Failure;
use crate::files;
use crate::jobs::of_kind;
use crate::outputs::{Force, Output};
use crate::progress;
use crate::seeds::{HexSeed, parse_seed, random};
use crate::takes;

/// Makes a key that re-encrypts ciphertexts of a secret key for another one
#[derive(Debug, Args)]
#[command(
    after_help = "All keys are of the same parameters, which need special primes. The file holds no secret in clear, and whoever \
        has it alone decrypts nothing. WHOEVER HAS IT AND THE SECRET KEY THAT IT LEADS TO HAS THE OTHER ONE TOO: a key for another \
        owner goes to a server that does not work together with that owner. If two keys are under a passphrase, \
        --passphrase-file and NOREN_PASSPHRASE are that of both; a terminal asks for each.\n\n\
        Examples:\n  \
        noren rekey --from keys/secret.key --to new/secret.key -o rotation.key\n  \
        noren rekey --receive theirs/secret.key -o receiver.key\n  \
        noren rekey --from keys/secret.key --to receiver.key -o handover.key"
)]
pub(crate) struct Arguments {
    /// The secret.key of what is encrypted
    #[arg(long, value_name = "FILE", required_unless_present = "receive", requires = "to")]
    from: Option<PathBuf>,
    /// The new secret.key, or what another owner has made with --receive
    #[arg(long, value_name = "FILE", requires = "from")]
    to: Option<PathBuf>,
    /// Make the public key with which others re-encrypt for this secret.key
    #[arg(long, value_name = "FILE", conflicts_with_all = ["from", "to"])]
    receive: Option<PathBuf>,
    /// The file for the key
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Make the key from this seed of 64 hexadecimal digits, as secret as the keys: for tests that repeat
    #[arg(long, value_name = "HEX", value_parser = parse_seed)]
    seed: Option<HexSeed>,
    #[command(flatten)]
    force: Force,
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

/// The work of a run.
#[derive(Clone, Copy)]
enum Job<'a> {
    Receive(&'a Path),
    Between { from: &'a Path, to: &'a Path },
}

/// Makes keys of a scheme.
type Run = fn(Job<'_>, &Output, Seed, &Console) -> Result<(), Failure>;

/// The schemes by the kind of their secret keys.
const SCHEMES: [(Kind, Run); 2] =
    [(Kind::CKKS_SECRET_KEY, make::<ckks::Context>), (Kind::INTEGER_SECRET_KEY, make::<bfv::Context>)];

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<(), Failure> {
    let output = Output::new(&arguments.output, &arguments.force)?;
    let seed = arguments.seed.as_ref().map_or_else(random, |seed| Ok(Seed::from_bytes(seed.0)))?;
    let (job, path, takes) = match (&arguments.receive, &arguments.from, &arguments.to) {
        (Some(own), ..) => (Job::Receive(own), own, &takes::REKEY_RECEIVE),
        (None, Some(from), Some(to)) => (Job::Between { from, to }, from, &takes::REKEY_FROM),
        _ => panic!("arguments are checked where they are read"),
    };
    let kind = files::key_kind(path, takes, console)?;
    let run = of_kind(&SCHEMES, kind).unwrap_or_else(|| panic!("keys that the argument takes are of a scheme"));
    run(job, &output, seed, console)
}

/// A scheme whose ciphertexts are re-encrypted.
trait Reencrypts: FileContext<Parameters: Describe> {
    /// The key between two secrets.
    fn between(&self, from: &SecretKey, to: &SecretKey, seed: Seed) -> noren::Result<ReencryptionKey>;

    /// The key for another owner.
    fn handover(&self, from: &SecretKey, to: &ReceiverKey, seed: Seed) -> noren::Result<ReencryptionKey>;

    /// The public key with which others re-encrypt for a secret.
    fn receive(&self, secret: &SecretKey, seed: Seed) -> noren::Result<ReceiverKey>;
}

macro_rules! reencrypts {
    ($($context:ty),+) => {
        $(impl Reencrypts for $context {
            fn between(&self, from: &SecretKey, to: &SecretKey, seed: Seed) -> noren::Result<ReencryptionKey> {
                self.reencryption_key(from, to, seed)
            }

            fn handover(&self, from: &SecretKey, to: &ReceiverKey, seed: Seed) -> noren::Result<ReencryptionKey> {
                self.reencryption_key_for(from, to, seed)
            }

            fn receive(&self, secret: &SecretKey, seed: Seed) -> noren::Result<ReceiverKey> {
                self.receiver_key(secret, seed)
            }
        })+
    };
}
reencrypts!(ckks::Context, bfv::Context);

fn make<C: Reencrypts>(job: Job<'_>, output: &Output, seed: Seed, console: &Console) -> Result<(), Failure>
where
    SecretKey: FileKey<C>,
    ReceiverKey: FileKey<C>,
    ReencryptionKey: FileKey<C>,
{
    match job {
        Job::Receive(own) => receive::<C>(own, output, seed, console),
        Job::Between { from, to } => between::<C>([from, to], output, seed, console),
    }
}

fn receive<C: Reencrypts>(own: &Path, output: &Output, seed: Seed, console: &Console) -> Result<(), Failure>
where
    SecretKey: FileKey<C>,
    ReceiverKey: FileKey<C>,
{
    let own_key = secret::<C>(own, &takes::REKEY_RECEIVE, console)?;
    let key = own_key.context.receive(&own_key.key, seed).map_err(Failure::file(own))?;
    let to = key.owner().key.to_hex();
    let bytes = output.write(&(), &KeyFile { context: own_key.context, key })?;
    console.report(&ReceiverReport { to, path: output.path().to_owned(), bytes })
}

fn between<C: Reencrypts>([from, to]: [&Path; 2], output: &Output, seed: Seed, console: &Console) -> Result<(), Failure>
where
    SecretKey: FileKey<C>,
    ReceiverKey: FileKey<C>,
    ReencryptionKey: FileKey<C>,
{
    let own = secret::<C>(from, &takes::REKEY_FROM, console)?;
    let is_receiver = file::kind(to)?.is_some_and(|kind| takes::REKEY_RECEIVER.kinds.contains(&kind));
    let shown = || progress::spinner("making the re-encryption key".to_owned());
    let key = if is_receiver {
        let receiver = files::read_key::<C, ReceiverKey>(to, &takes::REKEY_RECEIVER, console)?;
        let _shown = shown();
        own.context.handover(&own.key, &receiver.key, seed)
    } else {
        let new = secret::<C>(to, &takes::REKEY_TO, console)?;
        let _shown = shown();
        own.context.between(&own.key, &new.key, seed)
    };
    let key = key.map_err(Failure::file(to))?;
    let (old, new, limbs, another_owner) = (key.from(), key.owner().key, key.limbs(), key.is_for_another_owner());
    let bytes = output.write(&(), &KeyFile { context: own.context, key })?;
    let [from, to] = [old, new].map(KeyId::to_hex);
    console.report(&RekeyReport { from, to, another_owner, limbs, path: output.path().to_owned(), bytes })
}

/// Reads a secret key, which may be under a passphrase.
fn secret<C: Reencrypts>(path: &Path, takes: &takes::Takes, console: &Console) -> Result<KeyFile<C, SecretKey>, Failure>
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
