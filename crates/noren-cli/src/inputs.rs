//! Passphrases of secret keys and signatures of input files, for all verbs.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use clap::Args;
use noren::KeyId;
use noren::wire::{Kind, Limits, Object};
use noren_files::encrypted;
use noren_files::signature::{self, Requirements};
use noren_files::signer::Signer;
use noren_rlwe::wire::file;
use noren_rlwe::wire::header::{HEADER_BYTES, Header};
use noren_rlwe::wire::regular;
use zeroize::Zeroizing;

use crate::failure::Failure;
use crate::passphrases::Question;
use crate::progress;
use crate::streams::names_standard_input;
use crate::takes::Takes;

/// The heading of the options that all verbs have, which follow their own.
pub(crate) const GLOBAL: &str = "Options of all verbs";

/// The options of all verbs about the files that they read.
#[derive(Debug, Default, Args)]
pub(crate) struct InputOptions {
    /// Take the passphrase of the secret key from the first line of FILE [default: NOREN_PASSPHRASE, or the terminal]
    #[arg(long, global = true, help_heading = GLOBAL, value_name = "FILE")]
    pub(crate) passphrase_file: Option<PathBuf>,
    /// Refuse files of noren that this signer has not signed, but for your own secret key: signing.pub; see `noren verify`
    #[arg(long, global = true, help_heading = GLOBAL, value_name = "FILE")]
    pub(crate) signer: Option<PathBuf>,
    /// Refuse signed keys and ciphertexts of another owner: the identity of a secret key, 32 digits that `noren verify` shows
    #[arg(long, global = true, help_heading = GLOBAL, value_name = "ID", requires = "signer", value_parser = parse_owner)]
    pub(crate) owner: Option<KeyId>,
}

/// Opens files as the options have it.
pub(crate) struct Inputs {
    passphrase_file: Option<PathBuf>,
    /// Whose signature is asked for.
    signer: Option<Signer>,
    /// Whose keys and ciphertexts are needed.
    owner: Option<KeyId>,
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
        let InputOptions { passphrase_file, signer, owner } = options;
        let signer = signer.as_deref().map(Signer::read).transpose()?;
        Ok(Self { passphrase_file, signer, owner, secret: Mutex::new(None), standard_was_read: AtomicBool::new(false) })
    }

    /// Whose signature is asked for, if one is.
    pub(crate) const fn signer(&self) -> Option<&Signer> {
        self.signer.as_ref()
    }

    /// The statements that a signature needs for a file of any kind.
    pub(crate) const fn requirements_of_any(&self, any_name: bool) -> Requirements<'static> {
        Requirements { any_name, kinds: &[], owner: self.owner }
    }

    /// The statements that a signature needs for the file of an argument.
    fn requirements(&self, takes: &Takes) -> Requirements<'static> {
        Requirements { any_name: false, kinds: takes.kinds, owner: self.owner.filter(|_| takes.has_owner) }
    }

    /// The kind of object in a file, by its first bytes; refuses kinds that the argument does not take.
    pub(crate) fn kind(&self, path: &Path, takes: &Takes) -> Result<Kind, Failure> {
        let kind = header_kind(path)?;
        takes.check(path, kind)?;
        Ok(kind)
    }

    /// Refuses a file of another kind than the argument takes, and one that is not signed as it was asked for, which is read for
    /// that piece by piece: for files that are mapped, or read piece by piece themselves, behind which nobody may have changed
    /// them.
    pub(crate) fn verify(&self, path: &Path, takes: &Takes) -> Result<(), Failure> {
        self.kind(path, takes)?;
        if takes.is_own_secret { Ok(()) } else { self.verify_as(path, &self.requirements(takes)) }
    }

    /// Refuses a file that is not signed as it was asked for; it may be anything.
    pub(crate) fn verify_any(&self, path: &Path) -> Result<(), Failure> {
        self.verify_as(path, &self.requirements_of_any(false))
    }

    fn verify_as(&self, path: &Path, requirements: &Requirements<'_>) -> Result<(), Failure> {
        if let Some(signer) = &self.signer {
            refuse_unsigned(path)?;
            signature::verify_file(path, signer, requirements)?;
        }
        Ok(())
    }

    /// The object in a file. Where a signature is asked for, the bytes that are verified are those that are parsed.
    pub(crate) fn read<O: Object>(&self, context: &O::Context, path: &Path, takes: &Takes) -> Result<O, Failure> {
        let _shown = progress::spinner(format!("reading {}", path.display()));
        let limits = Limits::default();
        if names_standard_input(path) {
            if self.signer.is_some() {
                refuse_unsigned(path)?;
            }
            let bytes = self.bytes(path, limits.max_bytes)?;
            return O::from_bytes_within(context, &bytes, &limits).map_err(Failure::file(path));
        }
        self.kind(path, takes)?;
        match &self.signer {
            Some(signer) if !takes.is_own_secret => {
                let bytes = Zeroizing::new(file::read(path, limits.max_bytes)?);
                signature::verify_bytes(path, &bytes, signer, &self.requirements(takes))?;
                O::from_bytes_within(context, &bytes, &limits).map_err(Failure::file(path))
            }
            _ => O::read_file(context, path, &limits).map_err(Failure::file(path)),
        }
    }

    /// The bytes of a file of the kinds that the argument takes, or of standard input. Where a signature is asked for, it is of
    /// these bytes.
    pub(crate) fn verified(&self, path: &Path, takes: &Takes) -> Result<Vec<u8>, Failure> {
        let max_bytes = Limits::default().max_bytes;
        if names_standard_input(path) {
            if self.signer.is_some() {
                refuse_unsigned(path)?;
            }
            return self.bytes(path, max_bytes);
        }
        self.kind(path, takes)?;
        let bytes = file::read(path, max_bytes)?;
        if let Some(signer) = self.signer.as_ref().filter(|_| !takes.is_own_secret) {
            signature::verify_bytes(path, &bytes, signer, &self.requirements(takes))?;
        }
        Ok(bytes)
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

    /// The plaintext of a key under a passphrase, for an argument; `None` for a file in clear, and where the argument takes
    /// signed files alone: what a signature says of one under a passphrase is not what is in it.
    pub(crate) fn decrypted_for(&self, path: &Path, takes: &Takes) -> Result<Option<Arc<Zeroizing<Vec<u8>>>>, Failure> {
        if self.signer.is_some() && !takes.is_own_secret { Ok(None) } else { self.decrypted(path) }
    }

    /// Wipes what was decrypted.
    pub(crate) fn forget(&self) {
        *self.secret.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// The kind of object in a file, by its first bytes.
pub(crate) fn header_kind(path: &Path) -> Result<Kind, Failure> {
    if names_standard_input(path) {
        let needed = "a file: tables alone are read from standard input";
        return Err(Failure::input(path, "the input", "standard input", needed));
    }
    let mut bytes = Vec::with_capacity(HEADER_BYTES);
    let read = regular::open(path).and_then(|file| file.take(HEADER_BYTES as u64).read_to_end(&mut bytes));
    read.map_err(|source| Failure::Io { path: path.to_owned(), source })?;
    if encrypted::is_encrypted(&bytes) {
        let (found, needed) = ("a file under a passphrase".to_owned(), "one in clear".to_owned());
        return Err(Failure::file(path)(noren::Error::WrongKind { found, needed }));
    }
    let header = Header::parse(&bytes).map_err(|reason| noren::Error::Wire { what: "the file", reason });
    Ok(header.map_err(Failure::file(path))?.kind)
}

impl Takes {
    /// Refuses a file of a kind that the argument does not take.
    pub(crate) fn check(&self, path: &Path, kind: Kind) -> Result<(), Failure> {
        if self.kinds.contains(&kind) {
            return Ok(());
        }
        let (found, needed) = (kind.to_string(), format!("{}, for {}", self.words, self.argument));
        Err(Failure::file(path)(noren::Error::WrongKind { found, needed }))
    }
}

/// The identity of a secret key.
fn parse_owner(text: &str) -> Result<KeyId, String> {
    KeyId::from_hex(text).ok_or_else(|| "32 hexadecimal digits are needed, as noren verify shows them".to_owned())
}

/// Refuses standard input where a signature is needed, which lies beside a file.
fn refuse_unsigned(path: &Path) -> Result<(), Failure> {
    if names_standard_input(path) {
        let needed = "a file with its signature beside it, for --signer";
        return Err(Failure::input(path, "the input", "standard input", needed));
    }
    Ok(())
}
