//! The keys of the half that has a secret, and those that it makes for the other half: `secret.key` and `server.keys`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use noren::Seed;
use noren::backends::{PartKind, SecretKey};
use noren_files::encrypted;
use noren_files::passphrase::Work;
use zeroize::Zeroizing;

use crate::console::Console;
use crate::failure::Failure;
use crate::key_files::{SECRET, passphrase_of_new};
use crate::output_set::OutputSet;
use crate::outputs::Force;
use crate::seeds::{HexSeed, parse_seed, random};
use crate::takes::Takes;
use crate::written::FilesReport;

/// The name of the keys of the other half.
const SERVER: &str = "server.keys";

/// The options of verbs that make both files.
#[derive(Debug, Args)]
pub(crate) struct HalfKeys {
    /// The directory for the keys
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Make all keys from this seed of 64 hexadecimal digits, as secret as the keys: for tests that repeat
    #[arg(long, value_name = "HEX", value_parser = parse_seed)]
    seed: Option<HexSeed>,
    /// Encrypt secret.key under a passphrase: from --passphrase-file, which asks for this too, NOREN_PASSPHRASE, or the terminal
    #[arg(long)]
    passphrase: bool,
    #[command(flatten)]
    force: Force,
}

impl HalfKeys {
    /// Makes both files, and reports them: `generate` gives the secret key of a seed, and what writes the other keys to a file.
    pub(crate) fn make<W: FnOnce(&Path) -> noren::Result<()>>(
        &self,
        console: &Console,
        generate: impl FnOnce(Seed) -> noren::Result<(Arc<SecretKey>, W)>,
    ) -> Result<(), Failure> {
        let passphrase = passphrase_of_new(&self.out.join(SECRET), self.passphrase, &self.force, console)?;
        let seed = self.seed.as_ref().map_or_else(random, |HexSeed(bytes)| Ok(Seed::from_bytes(*bytes)))?;
        let names = [SECRET, SERVER];
        let outputs = OutputSet::new(&self.out, &names, &self.force)?;
        let (secret, write_server) = generate(seed)?;
        let of_server = outputs.write_with(SERVER, write_server)?;
        let of_secret = match &passphrase {
            None => outputs.write_with(SECRET, |path| secret.write_file(path.into()))?,
            Some(passphrase) => outputs.write_with(SECRET, |path| {
                encrypted::write_bytes(&Zeroizing::new(secret.to_bytes()), path, passphrase, Work::default())
            })?,
        };
        let files = outputs.finish(&names)?;
        console.report(&FilesReport { files, bytes: vec![of_secret, of_server], error_bounds: None })
    }
}

/// Reads a secret key that consists of these objects, and may be under a passphrase.
pub(crate) fn read_secret(
    kinds: &[PartKind],
    path: &Path,
    takes: &Takes,
    console: &Console,
) -> Result<SecretKey, Failure> {
    let key = match console.inputs().decrypted_for(path, takes)? {
        Some(content) => {
            let key = SecretKey::from_bytes(kinds, &content);
            console.inputs().forget();
            key
        }
        None => {
            console.inputs().verify(path, takes)?;
            SecretKey::open(kinds, path)
        }
    };
    key.map_err(Failure::file(path))
}
