//! Passphrases of secret keys and signatures of input files, for all verbs.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use clap::Args;
use noren::wire::{Limits, Object};
use noren_files::encrypted;
use noren_files::signature::{self, Name};
use noren_files::signer::Signer;
use noren_rlwe::wire::file;
use zeroize::Zeroizing;

use crate::failure::Failure;
use crate::passphrases::Question;
use crate::progress;
use crate::streams::names_standard_input;

/// The options of all verbs about the files that they read.
#[derive(Debug, Default, Args)]
pub(crate) struct InputOptions {
    /// Take the passphrase of the secret key from the first line of FILE [default: NOREN_PASSPHRASE, or the terminal]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) passphrase_file: Option<PathBuf>,
    /// Refuse files of noren, but for secret keys, that this signer has not signed: signing.pub; see `noren verify`
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) signer: Option<PathBuf>,
}

/// Opens files as the options have it.
pub(crate) struct Inputs {
    passphrase_file: Option<PathBuf>,
    /// Whose signature is asked for.
    signer: Option<Signer>,
    /// The secret key that was decrypted: its passphrase is asked for, and its work done, once.
    secret: Mutex<Option<Decrypted>>,
    /// Standard input was read: it ends once.
    standard_was_read: AtomicBool,
}

/// The plaintext of a file under a passphrase.
struct Decrypted {
    path: PathBuf,
    content: Arc<Zeroizing<Vec<u8>>>,
}

impl Inputs {
    /// Reads the signer's key.
    pub(crate) fn new(options: InputOptions) -> Result<Self, Failure> {
        let InputOptions { passphrase_file, signer } = options;
        let signer = signer.as_deref().map(Signer::read).transpose()?;
        Ok(Self { passphrase_file, signer, secret: Mutex::new(None), standard_was_read: AtomicBool::new(false) })
    }

    /// Whose signature is asked for, if one is.
    pub(crate) const fn signer(&self) -> Option<&Signer> {
        self.signer.as_ref()
    }

    /// Refuses a file that is not signed as it was asked for, which is read for that piece by piece: for files that are mapped, or
    /// read piece by piece themselves, behind which nobody may have changed them.
    pub(crate) fn verify(&self, path: &Path) -> Result<(), Failure> {
        if let Some(signer) = &self.signer {
            refuse_unsigned(path)?;
            signature::verify_file(path, signer, Name::Same)?;
        }
        Ok(())
    }

    /// The object in a file. Where a signature is asked for, the bytes that are verified are those that are parsed.
    pub(crate) fn read<O: Object>(&self, context: &O::Context, path: &Path) -> Result<O, Failure> {
        let _shown = progress::spinner(format!("reading {}", path.display()));
        let limits = Limits::default();
        if names_standard_input(path) {
            self.verify(path)?;
            let bytes = self.bytes(path, limits.max_bytes)?;
            return O::from_bytes_within(context, &bytes, &limits).map_err(Failure::file(path));
        }
        match &self.signer {
            Some(signer) if !O::KIND.is_secret() => {
                let bytes = file::read(path, limits.max_bytes)?;
                signature::verify_bytes(path, &bytes, signer, Name::Same)?;
                O::from_bytes_within(context, &bytes, &limits).map_err(Failure::file(path))
            }
            _ => O::read_file(context, path, &limits).map_err(Failure::file(path)),
        }
    }

    /// The bytes of a file, or of standard input: at most `max_bytes`.
    pub(crate) fn bytes(&self, path: &Path, max_bytes: u64) -> Result<Vec<u8>, Failure> {
        if !names_standard_input(path) {
            return Ok(file::read(path, max_bytes)?);
        }
        if self.standard_was_read.swap(true, Ordering::Relaxed) {
            return Err(Failure::input(
                path,
                "standard input",
                "an input that was read already",
                "a file for one of them",
            ));
        }
        let mut bytes = Vec::new();
        let read = io::stdin().lock().take(max_bytes.saturating_add(1)).read_to_end(&mut bytes);
        read.map_err(|source| Failure::Io { path: path.to_owned(), source })?;
        if bytes.len() as u64 > max_bytes {
            let needed = format!("at most {max_bytes}");
            return Err(Failure::input(path, "standard input", "more bytes", needed));
        }
        Ok(bytes)
    }

    /// The file of a passphrase, if one was named.
    pub(crate) fn passphrase_file(&self) -> Option<&Path> {
        self.passphrase_file.as_deref()
    }

    /// The plaintext of a file under a passphrase; `None` for a file in clear. It is kept until [`Inputs::forget`].
    pub(crate) fn decrypted(&self, path: &Path) -> Result<Option<Arc<Zeroizing<Vec<u8>>>>, Failure> {
        let mut kept = self.secret.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kept) = kept.as_ref().filter(|kept| kept.path == path) {
            return Ok(Some(Arc::clone(&kept.content)));
        }
        if !encrypted::is_encrypted_file(path)? {
            return Ok(None);
        }
        let passphrase = Question::of(path, self.passphrase_file()).ask()?;
        let content = Arc::new(encrypted::read_bytes(path, Some(&passphrase))?);
        *kept = Some(Decrypted { path: path.to_owned(), content: Arc::clone(&content) });
        Ok(Some(content))
    }

    /// Wipes what was decrypted.
    pub(crate) fn forget(&self) {
        *self.secret.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Refuses standard input where a signature is needed, which lies beside a file.
fn refuse_unsigned(path: &Path) -> Result<(), Failure> {
    if names_standard_input(path) {
        let needed = "a file with its signature beside it, for --signer";
        return Err(Failure::input(path, "the input", "standard input", needed));
    }
    Ok(())
}
