//! `noren rekey`: a key that re-encrypts what is encrypted under one secret key for another.

use std::path::PathBuf;

use clap::Args;
use noren::Seed;

use crate::console::Console;
use crate::failure::Failure;
use crate::files;
use crate::outputs::{Force, Output};
use crate::rekeying::{Rekeying, Secrets};
use crate::schemes;
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

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<(), Failure> {
    let output = Output::new(&arguments.output, &arguments.force)?;
    let seed = arguments.seed.as_ref().map_or_else(random, |seed| Ok(Seed::from_bytes(seed.0)))?;
    let (secrets, path, takes) = match (&arguments.receive, &arguments.from, &arguments.to) {
        (Some(own), ..) => (Secrets::Receive(own), own, &takes::REKEY_RECEIVE),
        (None, Some(from), Some(to)) => (Secrets::Between { from, to }, from, &takes::REKEY_FROM),
        _ => panic!("arguments are checked where they are read"),
    };
    let kind = files::key_kind(path, takes, console)?;
    schemes::row(|scheme| scheme.rekeyings, kind)(Rekeying { secrets, output: &output, seed }, console)
}
