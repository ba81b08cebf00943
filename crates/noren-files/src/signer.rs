//! Who signs: the public keys that signatures are verified with.

use std::fmt;
use std::io::Write;
use std::path::Path;

use ed25519_dalek::{Signature, VerifyingKey};
use noren_rlwe::wire::file::{self, Access};
use noren_rlwe::wire::publish::Destination;
use zeroize::Zeroizing;

use crate::error::{Error, Reason, Result};
use crate::text;

/// How the content of keys begins: the algorithm, Ed25519.
pub(crate) const ALGORITHM: [u8; 2] = *b"Ed";
/// The most bytes of a file of a key or of a signature.
pub(crate) const MOST_BYTES: u64 = 1 << 13;

/// The public half of a [`SigningKey`](crate::signing_key::SigningKey). Shown as the base64 that `minisign -P` takes.
///
/// Its file has two lines: a comment, which nobody has signed, and the base64 of `Ed`, an identity of 8 bytes, which is random
/// and names the key, and the 32 bytes of the Ed25519 key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signer {
    pub(crate) id: [u8; 8],
    pub(crate) key: VerifyingKey,
}

impl Signer {
    /// The key in the text of a file.
    ///
    /// # Errors
    /// [`Reason::Malformed`]; also for the few keys that verify what nobody has signed.
    pub fn from_text(text: &str) -> std::result::Result<Self, Reason> {
        const WHAT: &str = "the public key of a signer";
        let [_, line] = text::lines(WHAT, text)?;
        let bytes = text::decode::<42>(WHAT, line)?;
        if bytes[..2] != ALGORITHM {
            return Err(Reason::malformed(WHAT, "it is of another algorithm than Ed25519"));
        }
        let key = VerifyingKey::from_bytes(&text::part(&*bytes, 10)).ok().filter(|key| !key.is_weak());
        let key = key.ok_or(Reason::malformed(WHAT, "it is no key of Ed25519"))?;
        Ok(Self { id: text::part(&*bytes, 2), key })
    }

    /// The text of the file of the key.
    #[must_use]
    pub fn to_text(&self) -> String {
        format!("{}minisign public key {}\n{self}\n", text::UNTRUSTED, self.id())
    }

    /// The key in a file.
    ///
    /// # Errors
    /// [`Error::Library`] with what the operating system says, that it is no regular file, or a large one; [`Error::File`] as
    /// [`Signer::from_text`].
    pub fn read(path: &Path) -> Result<Self> {
        Self::from_text(&read_text(path, "the public key of a signer")?).map_err(Reason::of(path))
    }

    /// Writes the file of the key, as a whole or not at all.
    ///
    /// # Errors
    /// [`Error::Library`] with what the operating system says, or for a file that is kept.
    pub fn write<'p>(&self, to: impl Into<Destination<'p>>) -> Result<()> {
        Ok(file::write_atomically(to, Access::Default, |file| file.write_all(self.to_text().as_bytes()))?)
    }

    /// The name of the key: its identity in hexadecimal.
    #[must_use]
    pub fn id(&self) -> String {
        text::name(self.id)
    }

    /// Whether the holder of the signing key has signed these bytes.
    pub(crate) fn has_signed(&self, message: &[u8], signature: &[u8; 64]) -> bool {
        self.key.verify_strict(message, &Signature::from_bytes(signature)).is_ok()
    }
}

impl fmt::Display for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text::encode(&[&ALGORITHM[..], &self.id, self.key.as_bytes()].concat()))
    }
}

/// The text of a small file. Wiped when dropped.
pub(crate) fn read_text(path: &Path, what: &'static str) -> Result<Zeroizing<String>> {
    let bytes = Zeroizing::new(file::read(path, MOST_BYTES)?);
    let text = std::str::from_utf8(&bytes).map(str::to_owned).map(Zeroizing::new);
    text.map_err(|_| Error::File { path: path.to_owned(), reason: Reason::malformed(what, "it is no text") })
}
