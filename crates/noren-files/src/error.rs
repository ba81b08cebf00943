//! Why files are refused.

use std::path::{Path, PathBuf};

/// The errors of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An error of the library.
    #[error(transparent)]
    Library(#[from] noren_rlwe::error::Error),
    /// A file is refused.
    #[error("{}: {reason}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: Reason,
    },
    /// The operating system gives no randomness.
    #[error("no randomness: {0}")]
    Randomness(String),
}

/// Why a file, or what comes with it, is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// A passphrase is empty.
    #[error("the passphrase is empty: choose one of several words")]
    EmptyPassphrase,
    /// A passphrase is too long.
    #[error("the passphrase has {found} bytes, at most {limit} are taken: choose a shorter one")]
    LongPassphrase {
        /// Its bytes.
        found: usize,
        /// The most that are taken.
        limit: usize,
    },
    /// The file is encrypted, and no passphrase was given.
    #[error("it is encrypted under a passphrase, and none was given")]
    PassphraseNeeded,
    /// The passphrase does not open the file.
    #[error("the passphrase is wrong, or the file was damaged or changed: check the passphrase, or take another copy")]
    WrongPassphrase,
    /// The file asks for more work than is done for one.
    #[error(
        "its passphrase takes scrypt with N = 2^{found}, at most 2^{limit} is computed: decrypt it with the program that made \
         it, and encrypt it again"
    )]
    Work {
        /// The base-two logarithm of N in the file.
        found: u8,
        /// The largest that is computed.
        limit: u8,
    },
    /// A file of age that is read by no passphrase.
    #[error("it is encrypted to {found}, needed: a passphrase, in the binary format of age")]
    Recipient {
        /// To what it is encrypted.
        found: &'static str,
    },
    /// The bytes are not what the format needs.
    #[error("{what} cannot be read: {found}: it was damaged or is something else")]
    Malformed {
        /// The kind of file that was read.
        what: &'static str,
        /// The fault.
        found: &'static str,
    },
    /// There is no signature.
    #[error("it has no signature: its signer makes one with `noren sign`, in {} beside it", path.display())]
    NoSignature {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// The signature is by another key.
    #[error("it is signed by key {found}, needed: key {needed}: ask who signed it, or name that signer")]
    OtherSigner {
        /// The name of the key in the signature.
        found: String,
        /// That of the signer.
        needed: String,
    },
    /// The content is not what was signed.
    #[error("its signature is not right: the file or its signature was changed, or one of them is of another file")]
    WrongSignature,
    /// The signature is of a file with another name.
    #[error("it was signed under the name {found}, needed: {needed}: give it back that name if it is that file")]
    Name {
        /// The name in the signature, in quotation marks; or that there is none.
        found: String,
        /// The name of the file.
        needed: String,
    },
    /// The signature is of a file for another use.
    #[error(
        "it was signed as that of another {what}: found {found}, needed: {needed}: it is no substitute for the other file"
    )]
    Purpose {
        /// The part that differs: kind or owner.
        what: &'static str,
        /// That in the signature, or in the file.
        found: String,
        /// That which is needed.
        needed: String,
    },
    /// The signature of a container does not say what it is for.
    #[error(
        "its signature does not say of which kind it is and whose: it was made by minisign or by an early version; ask its signer \
         to sign it again with `noren sign`"
    )]
    NoPurpose,
    /// A name cannot be part of a signature.
    #[error("its name has {found}, which no signature can hold: rename it")]
    Unnameable {
        /// The file that is in the way.
        found: &'static str,
    },
}

/// The result of what can be refused.
pub type Result<T> = std::result::Result<T, Error>;

impl Reason {
    /// The refusal of a file for this reason.
    pub(crate) fn of(path: &Path) -> impl FnOnce(Self) -> Error {
        |reason| Error::File { path: path.to_owned(), reason }
    }

    pub(crate) const fn malformed(what: &'static str, found: &'static str) -> Self {
        Self::Malformed { what, found }
    }
}
