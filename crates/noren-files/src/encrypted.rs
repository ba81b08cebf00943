//! Files under a passphrase, in the format of age: its version 1, binary, with one scrypt recipient.

use std::io::{Read, Write};
use std::iter;
use std::path::Path;

use age::secrecy::SecretString;
use age::{DecryptError, Decryptor, Encryptor, scrypt};
use noren_math::machine::memory;
use noren_rlwe::error::Error as LibraryError;
use noren_rlwe::wire::file::{self, Access};
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::publish::Destination;
use noren_rlwe::wire::reader::Limits;
use noren_rlwe::wire::writer::Form;
use zeroize::Zeroizing;

use crate::error::{Error, Reason, Result};
use crate::passphrase::{Passphrase, Work};

/// How files of age begin.
const MAGIC: &[u8] = b"age-encryption.org/";
/// How those begin that went through base64.
const ARMOR: &[u8] = b"-----BEGIN AGE ENCRYPTED FILE-----";
/// The most bytes of a file under a passphrase: secret keys have some MiB.
pub const MOST_BYTES: u64 = 1 << 26;

/// Whether bytes begin as those of a file of age do.
#[must_use]
pub fn is_encrypted(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC) || bytes.starts_with(ARMOR)
}

/// Whether a file begins as those of age do.
///
/// # Errors
/// [`Error::Library`] with what the operating system says, or that it is no regular file.
pub fn is_encrypted_file(path: &Path) -> Result<bool> {
    let mut bytes = Vec::with_capacity(ARMOR.len());
    let opened = noren_rlwe::wire::regular::open(path);
    let read = opened.and_then(|file| file.take(ARMOR.len() as u64).read_to_end(&mut bytes));
    read.map_err(|source| LibraryError::Io { path: path.to_owned(), source })?;
    Ok(is_encrypted(&bytes))
}

/// Bytes under a passphrase.
///
/// # Errors
/// [`Error::Randomness`] if there is none.
pub fn encrypt(plaintext: &[u8], passphrase: &Passphrase, work: Work) -> Result<Vec<u8>> {
    /// More than the header, the nonce and the tag of a chunk take.
    const FRAME: usize = 512;
    // age draws from the same source, and panics where there is none.
    getrandom::fill(&mut [0; 1]).map_err(|error| Error::Randomness(error.to_string()))?;
    let mut recipient = scrypt::Recipient::new(SecretString::from(passphrase.expose()));
    recipient.set_work_factor(work.log_n());
    let mut bytes = Vec::with_capacity(plaintext.len() + FRAME);
    // There is a recipient, and memory takes what is written.
    let encryptor = Encryptor::with_recipients(iter::once(&recipient as _)).expect("one recipient suits itself");
    let mut writer = encryptor.wrap_output(&mut bytes).expect("memory can be written");
    writer.write_all(plaintext).and_then(|()| writer.finish()).expect("memory can be written");
    Ok(bytes)
}

/// Decrypts bytes under a passphrase; the plaintext is wiped when dropped.
///
/// No more memory is taken than the bytes themselves have, and scrypt's, which [`Work::MOST`] bounds.
///
/// # Errors
/// [`Reason::WrongPassphrase`], also for a header that was changed; [`Reason::Work`] for more than [`Work::MOST`];
/// [`Reason::Recipient`] for what is not encrypted to a passphrase, or armored; [`Reason::Malformed`] for what is no file of age,
/// or was changed behind the header.
pub fn decrypt(bytes: &[u8], passphrase: &Passphrase) -> std::result::Result<Zeroizing<Vec<u8>>, Reason> {
    decrypt_within(bytes, passphrase, Work::MOST)
}

/// [`decrypt`] with another bound of the work than the usual one.
///
/// # Errors
/// As [`decrypt`].
pub fn decrypt_within(
    bytes: &[u8],
    passphrase: &Passphrase,
    most: Work,
) -> std::result::Result<Zeroizing<Vec<u8>>, Reason> {
    if bytes.starts_with(ARMOR) {
        return Err(Reason::Recipient { found: "something, and armored" });
    }
    let decryptor = Decryptor::new_buffered(bytes).map_err(|error| reason(error, most))?;
    if !decryptor.is_scrypt() {
        return Err(Reason::Recipient { found: "keys" });
    }
    let mut identity = scrypt::Identity::new(SecretString::from(passphrase.expose()));
    identity.set_max_work_factor(most.log_n());
    let mut reader = decryptor.decrypt(iter::once(&identity as _)).map_err(|error| reason(error, most))?;
    // The plaintext is shorter than what it is encrypted to: growing would leave pieces of it behind.
    let mut plaintext = Zeroizing::new(Vec::new());
    memory::reserve(&mut plaintext, bytes.len())
        .map_err(|_| Reason::malformed("the file", "there is no memory for it"))?;
    // The passphrase is right by now.
    let changed = |_| Reason::malformed("the file", "its content was changed, or ends too early");
    reader.read_to_end(&mut plaintext).map_err(changed)?;
    Ok(plaintext)
}

/// Why age refuses. Its own messages are not shown: that of excessive work can overflow.
fn reason(error: DecryptError, most: Work) -> Reason {
    match error {
        DecryptError::ExcessiveWork { required, .. } => Reason::Work { found: required, limit: most.log_n() },
        DecryptError::DecryptionFailed | DecryptError::InvalidMac | DecryptError::KeyDecryptionFailed => {
            Reason::WrongPassphrase
        }
        DecryptError::NoMatchingKeys => Reason::Recipient { found: "keys" },
        DecryptError::UnknownFormat => Reason::malformed("the file", "its version of age is not known"),
        DecryptError::InvalidHeader => Reason::malformed("the file", "its header is no header of age"),
        _ => Reason::malformed("the file", "it ends too early, or its header is no header of age"),
    }
}

/// Writes an object under a passphrase, as a whole or not at all, readable by its owner only. Nothing of it is written in clear.
///
/// # Errors
/// As [`Object::write_file`], and [`encrypt`].
///
/// # Panics
/// As [`Object::write`].
pub fn write<'p, O: Object>(
    object: &O,
    context: &O::Context,
    to: impl Into<Destination<'p>>,
    passphrase: &Passphrase,
    work: Work,
) -> Result<()> {
    write_bytes(&Zeroizing::new(object.to_bytes(context, Form::Packed)), to, passphrase, work)
}

/// Writes bytes under a passphrase, as [`write()`] does.
///
/// # Errors
/// As [`write()`].
pub fn write_bytes<'p>(
    plaintext: &[u8],
    to: impl Into<Destination<'p>>,
    passphrase: &Passphrase,
    work: Work,
) -> Result<()> {
    let bytes = encrypt(plaintext, passphrase, work)?;
    Ok(file::write_atomically(to, Access::Owner, |file| file.write_all(&bytes))?)
}

/// Writes a secret that its owner alone reads: under a passphrase, as [`write_bytes`] does, or without one in clear.
///
/// # Errors
/// As [`write()`].
pub fn write_secret<'p>(
    plaintext: &[u8],
    to: impl Into<Destination<'p>>,
    passphrase: Option<&Passphrase>,
) -> Result<()> {
    match passphrase {
        Some(passphrase) => write_bytes(plaintext, to, passphrase, Work::default()),
        None => Ok(file::write_atomically(to, Access::Owner, |file| file.write_all(plaintext))?),
    }
}

/// The secret that [`write_secret`] wrote; wiped when dropped. A passphrase that is not needed is not used.
///
/// # Errors
/// As [`read_bytes`].
pub fn read_secret(path: &Path, passphrase: Option<&Passphrase>) -> Result<Zeroizing<Vec<u8>>> {
    if is_encrypted_file(path)? {
        return read_bytes(path, passphrase);
    }
    Ok(Zeroizing::new(file::read(path, MOST_BYTES)?))
}

/// The object in a file, which may be under a passphrase; one that is not needed is not used.
///
/// # Errors
/// As [`Object::read_file`], and as [`read_bytes`].
pub fn read<O: Object>(
    context: &O::Context,
    path: &Path,
    limits: &Limits,
    passphrase: Option<&Passphrase>,
) -> Result<O> {
    if is_encrypted_file(path)? {
        let bytes = read_bytes(path, passphrase)?;
        return Ok(O::from_bytes_within(context, &bytes, limits)?);
    }
    Ok(O::read_file(context, path, limits)?)
}

/// Decrypts a file under a passphrase; the plaintext is wiped when dropped.
///
/// # Errors
/// [`Error::Library`] with what the operating system says, and for more than [`MOST_BYTES`]; [`Error::File`] with
/// [`Reason::PassphraseNeeded`], and as [`decrypt`].
pub fn read_bytes(path: &Path, passphrase: Option<&Passphrase>) -> Result<Zeroizing<Vec<u8>>> {
    let bytes = file::read(path, MOST_BYTES)?;
    let plaintext = passphrase.ok_or(Reason::PassphraseNeeded).and_then(|passphrase| decrypt(&bytes, passphrase));
    plaintext.map_err(Reason::of(path))
}
