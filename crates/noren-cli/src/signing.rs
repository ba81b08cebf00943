//! `noren signing-key`, `noren sign` and `noren verify`: detached signatures of files.

use std::fmt;
use std::fs;
use std::path::PathBuf;

use clap::Args;
use noren::wire::{Existing, identity_of_secret};
use noren_files::passphrase::Work;
use noren_files::signature::{self, Signed};
use noren_files::signing_key::SigningKey;
use serde::Serialize;

use crate::console::Console;
use crate::failure::Failure;
use crate::output_set::OutputSet;
use crate::outputs::Force;
use crate::passphrases::Question;

const SECRET: &str = "signing.key";
const PUBLIC: &str = "signing.pub";

/// Makes a key that signs files, and the public key that verifies them
#[derive(Debug, Args)]
#[command(
    after_help = "Writes two files into the directory: signing.key signs and stays with you (mode 0600), signing.pub goes to \
        whoever reads your files. They have the format of minisign.\n\n\
        Example:\n  noren signing-key --out signer --passphrase"
)]
pub(crate) struct NewKey {
    /// The directory for both keys
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Put signing.key under a passphrase: from --passphrase-file, which asks for this too, NOREN_PASSPHRASE, or the terminal
    #[arg(long)]
    passphrase: bool,
    #[command(flatten)]
    force: Force,
}

/// Signs files: each gets a signature beside it, with .minisig behind its name
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  noren sign mean.ct risk.ct --key signer/signing.key")]
pub(crate) struct Sign {
    /// The files
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// signing.key
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    #[command(flatten)]
    force: Force,
}

/// Verifies files by the signatures beside them
#[derive(Debug, Args)]
#[command(
    after_help = "Other verbs take --signer too: then every file of noren that they read must be signed, but for the secret key of \
        decrypt and of keygen --add, which is your own.\n\n\
        Example:\n  noren verify mean.ct risk.ct --signer signer/signing.pub"
)]
pub(crate) struct Verify {
    /// The files
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Also files that were signed under another name
    #[arg(long)]
    any_name: bool,
}

#[derive(Serialize)]
struct SigningKeyReport {
    paths: Vec<PathBuf>,
    /// The name of the key.
    signer: String,
}

#[derive(Serialize)]
struct SignatureReport {
    signer: String,
    signatures: Vec<PathBuf>,
}

#[derive(Serialize)]
struct VerificationReport {
    signer: String,
    files: Vec<Verified>,
}

/// A file that is as it was signed.
#[derive(Serialize)]
struct Verified {
    path: PathBuf,
    /// The trusted comment of the signature.
    comment: String,
}

impl NewKey {
    pub(crate) fn run(&self, console: &Console) -> Result<(), Failure> {
        let outputs = OutputSet::new(&self.out, &[SECRET, PUBLIC], &self.force)?;
        let file = console.inputs().passphrase_file();
        let asked = self.passphrase || file.is_some();
        let passphrase = asked.then(|| Question::of(&self.out.join(SECRET), file).ask_twice()).transpose()?;
        let key = SigningKey::generate()?;
        let protection = passphrase.as_ref().map(|passphrase| (passphrase, Work::default()));
        outputs.write_with(SECRET, |path| key.write(path, protection))?;
        outputs.write_with(PUBLIC, |path| key.signer().write(path))?;
        let paths = outputs.finish(&[SECRET, PUBLIC])?;
        console.report(&SigningKeyReport { paths, signer: key.signer().id() })
    }
}

impl Sign {
    pub(crate) fn run(&self, console: &Console) -> Result<(), Failure> {
        let passphrase = match SigningKey::needs_passphrase(&self.key)? {
            true => Some(Question::of(&self.key, console.inputs().passphrase_file()).ask()?),
            false => None,
        };
        let key = SigningKey::read(&self.key, passphrase.as_ref())?;
        let existing = self.force.existing();
        // Nothing is written before all files were read.
        let signed = self.files.iter().map(|path| {
            let own = identity_of_secret(path).map_err(Failure::file(path))?;
            Ok(signature::sign(path, &key, existing, own)?)
        });
        let signed = signed.collect::<Result<Vec<Signed>, Failure>>()?;
        let mut signatures = Vec::new();
        for one in signed {
            match one.write(existing) {
                Ok(()) => signatures.push(one.place),
                Err(error) => {
                    if existing == Existing::Keep {
                        // A signature that cannot be removed is valid; the first error matters more.
                        signatures.iter().for_each(|place| drop(fs::remove_file(place)));
                    }
                    return Err(error.into());
                }
            }
        }
        console.report(&SignatureReport { signer: key.signer().id(), signatures })
    }
}

impl Verify {
    pub(crate) fn run(&self, console: &Console) -> Result<(), Failure> {
        // The arguments have a signer wherever this verb is.
        let Some(signer) = console.inputs().signer() else {
            let needed = "signing.pub of the signer".to_owned();
            return Err(Failure::Unsuitable { what: "--signer", found: "none".to_owned(), needed });
        };
        let requirements = console.inputs().requirements_of_any(self.any_name);
        let verified = self.files.iter().map(|path| {
            let found = signature::verify_file(path, signer, &requirements)?;
            Ok(Verified { path: path.clone(), comment: found.comment().to_owned() })
        });
        let files = verified.collect::<Result<Vec<_>, Failure>>()?;
        console.report(&VerificationReport { signer: signer.id(), files })
    }
}

impl fmt::Display for SigningKeyReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.paths.iter().try_for_each(|path| writeln!(f, "wrote {}", path.display()))?;
        write!(f, "key {}", self.signer)
    }
}

impl fmt::Display for SignatureReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "signed by key {}", self.signer)?;
        self.signatures.iter().try_for_each(|place| write!(f, "\nwrote {}", place.display()))
    }
}

impl fmt::Display for VerificationReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "signed by key {}", self.signer)?;
        let line = |file: &Verified| format!("\n{}: {}", file.path.display(), file.comment.replace('\t', ", "));
        self.files.iter().try_for_each(|file| f.write_str(&line(file)))
    }
}
