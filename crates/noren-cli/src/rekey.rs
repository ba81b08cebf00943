//! `noren rekey`: a key that re-encrypts what is encrypted under one secret key for another.

use std::fmt;
use std::path::{Path, PathBuf};

use clap::Args;
use noren::wire::{FileContext, FileKey, Kind};
use noren::{KeyId, ReencryptionKey, SecretKey, Seed, bfv, ckks};
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

/// Makes a key that re-encrypts ciphertexts of an old secret key for a new one
#[derive(Debug, Args)]
#[command(
    after_help = "Both keys are of the same parameters, which need special primes. The file holds no secret in clear, and whoever \
        has it alone decrypts nothing. Whoever has it and the new secret key has the old one too. If both are under a passphrase, \
        --passphrase-file and NOREN_PASSPHRASE are that of both; a terminal asks for each.\n\n\
        Examples:\n  \
        noren rekey --from keys/secret.key --to new/secret.key -o rotation.key\n  \
        noren reencrypt --key rotation.key stored -o rotated"
)]
pub(crate) struct Arguments {
    /// The old secret.key
    #[arg(long, value_name = "FILE")]
    from: PathBuf,
    /// The new secret.key
    #[arg(long, value_name = "FILE")]
    to: PathBuf,
    /// The file for the re-encryption key
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
    /// The most limbs of ciphertexts that it takes.
    limbs: usize,
    path: PathBuf,
    bytes: u64,
}

/// Makes keys of a scheme.
type Run = fn(&Arguments, &Output, Seed, &Console) -> Result<(), Failure>;

/// The schemes by the kind of their secret keys.
const SCHEMES: [(Kind, Run); 2] =
    [(Kind::CKKS_SECRET_KEY, make::<ckks::Context>), (Kind::INTEGER_SECRET_KEY, make::<bfv::Context>)];

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<(), Failure> {
    let output = Output::new(&arguments.output, &arguments.force)?;
    let seed = arguments.seed.as_ref().map_or_else(random, |seed| Ok(Seed::from_bytes(seed.0)))?;
    let kind = files::key_kind(&arguments.from, &takes::REKEY_FROM, console)?;
    let run = of_kind(&SCHEMES, kind).unwrap_or_else(|| panic!("keys that the argument takes are of a scheme"));
    run(arguments, &output, seed, console)
}

/// A scheme whose ciphertexts are re-encrypted.
pub(crate) trait Reencrypts: FileContext<Parameters: Describe> {
    /// The key between two secrets.
    fn between(&self, from: &SecretKey, to: &SecretKey, seed: Seed) -> noren::Result<ReencryptionKey>;
}

impl Reencrypts for ckks::Context {
    fn between(&self, from: &SecretKey, to: &SecretKey, seed: Seed) -> noren::Result<ReencryptionKey> {
        self.reencryption_key(from, to, seed)
    }
}

impl Reencrypts for bfv::Context {
    fn between(&self, from: &SecretKey, to: &SecretKey, seed: Seed) -> noren::Result<ReencryptionKey> {
        self.reencryption_key(from, to, seed)
    }
}

fn make<C: Reencrypts>(arguments: &Arguments, output: &Output, seed: Seed, console: &Console) -> Result<(), Failure>
where
    SecretKey: FileKey<C>,
    ReencryptionKey: FileKey<C>,
{
    let from = secret::<C>(&arguments.from, &takes::REKEY_FROM, console)?;
    let to = secret::<C>(&arguments.to, &takes::REKEY_TO, console)?;
    let shown = progress::spinner("making the re-encryption key".to_owned());
    let key = from.context.between(&from.key, &to.key, seed).map_err(Failure::file(&arguments.to))?;
    drop(shown);
    let (old, new, limbs) = (key.from(), key.owner().key, key.limbs());
    let bytes = output.write(&(), &KeyFile { context: from.context, key })?;
    let [from, to] = [old, new].map(KeyId::to_hex);
    console.report(&RekeyReport { from, to, limbs, path: output.path().to_owned(), bytes })
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
        let Self { from, to, limbs, path, bytes: size } = self;
        writeln!(f, "from key {from}\nto key {to}")?;
        writeln!(f, "for ciphertexts of up to {}", count(*limbs, "limb"))?;
        write!(f, "wrote {}, {}", path.display(), bytes(*size as f64))
    }
}
