//! What all verbs ask of the files that they read: the passphrases of secret keys.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use clap::Args;
use noren_files::encrypted;
use zeroize::Zeroizing;

use crate::failure::Failure;
use crate::passphrases::Question;

/// The options of all verbs about the files that they read.
#[derive(Debug, Default, Args)]
pub(crate) struct InputOptions {
    /// Take the passphrase of the secret key from the first line of FILE [default: NOREN_PASSPHRASE, or the terminal]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) passphrase_file: Option<PathBuf>,
}

/// Opens files as the options have it.
pub(crate) struct Inputs {
    options: InputOptions,
    /// The secret key that was decrypted: its passphrase is asked for, and its work done, once.
    secret: Mutex<Option<Decrypted>>,
}

/// What a file under a passphrase holds.
struct Decrypted {
    path: PathBuf,
    content: Arc<Zeroizing<Vec<u8>>>,
}

impl Inputs {
    pub(crate) const fn new(options: InputOptions) -> Self {
        Self { options, secret: Mutex::new(None) }
    }

    /// The file of a passphrase, if one was named.
    pub(crate) fn passphrase_file(&self) -> Option<&Path> {
        self.options.passphrase_file.as_deref()
    }

    /// What a file under a passphrase holds; `None` for one that is not. It is kept until [`Inputs::forget`].
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
