//! Passphrases, and what a guess of one costs.

use std::path::Path;

use noren_rlwe::wire::file;
use zeroize::Zeroizing;

use crate::error::{Reason, Result};

/// A passphrase, which is not empty. Wiped when dropped.
///
/// Its UTF-8 bytes are taken as they are: an accented letter that another keyboard composes differently is another passphrase.
pub struct Passphrase(Zeroizing<String>);

/// The cost of deriving a key from a passphrase: scrypt with N = 2^log_n, r = 8 and p = 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Work(u8);

/// The most bytes of a passphrase: what minisign takes.
const MOST_BYTES: usize = 1024;

impl Passphrase {
    /// A passphrase of these characters.
    ///
    /// # Errors
    /// [`Reason::EmptyPassphrase`], [`Reason::LongPassphrase`] above 1024 bytes.
    pub fn new(text: impl Into<String>) -> std::result::Result<Self, Reason> {
        let text = Zeroizing::new(text.into());
        match text.len() {
            0 => Err(Reason::EmptyPassphrase),
            found if found > MOST_BYTES => Err(Reason::LongPassphrase { found, limit: MOST_BYTES }),
            _ => Ok(Self(text)),
        }
    }

    /// The passphrase in the first line of a file.
    ///
    /// # Errors
    /// [`Error::Library`](crate::error::Error::Library) with what the operating system says, that it is no regular file, or one
    /// of more than 64 KiB; [`Error::File`](crate::error::Error::File) as [`Passphrase::new`], and for bytes that are no UTF-8.
    pub fn from_file(path: &Path) -> Result<Self> {
        /// More than a passphrase takes, and what somebody has noted behind it.
        const MOST: u64 = 1 << 16;
        let bytes = Zeroizing::new(file::read(path, MOST)?);
        let line = bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let text = std::str::from_utf8(line).map_err(|_| Reason::malformed("the passphrase", "its bytes are no UTF-8"));
        text.and_then(Self::new).map_err(Reason::of(path))
    }

    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl PartialEq for Passphrase {
    /// Whether both are the same, in a time that depends on the lengths alone.
    fn eq(&self, other: &Self) -> bool {
        let differ = |all: u8, (x, y): (u8, u8)| all | (x ^ y);
        self.0.len() == other.0.len() && self.0.bytes().zip(other.0.bytes()).fold(0, differ) == 0
    }
}

impl Work {
    /// The least work that files are written with: for tests.
    pub const LEAST: Self = Self(10);
    /// The most work that a file under a passphrase may ask for: 1 GiB, two to three seconds, as `rage` asks for on fast machines.
    pub const MOST: Self = Self(20);

    /// Work with N = 2^log_n; `None` unless it is in [`Work::LEAST`] to [`Work::MOST`]. Less than the default is for tests: it
    /// makes guesses cheaper.
    #[must_use]
    pub const fn new(log_n: u8) -> Option<Self> {
        if log_n < Self::LEAST.0 || log_n > Self::MOST.0 { None } else { Some(Self(log_n)) }
    }

    /// The base-two logarithm of N.
    #[must_use]
    pub const fn log_n(self) -> u8 {
        self.0
    }
}

impl Default for Work {
    /// N = 2^18, as the tool `age` has it: 256 MiB, about a second.
    fn default() -> Self {
        Self(18)
    }
}
