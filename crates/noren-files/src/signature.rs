//! Detached signatures: what they say, and of which files.

use std::ffi::OsString;
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use blake2::{Blake2b512, Digest};
use noren_ring::interrupt;
use noren_rlwe::error::Error as LibraryError;
use noren_rlwe::owner::KeyId;
use noren_rlwe::wire::file::{self, Access};
use noren_rlwe::wire::header::{HEADER_BYTES, Header};
use noren_rlwe::wire::kind::Kind;
use noren_rlwe::wire::owners;
use noren_rlwe::wire::publish::{Destination, Existing};
use noren_rlwe::wire::regular;

use crate::error::{Reason, Result};
use crate::signer::{Signer, read_text};
use crate::signing_key::SigningKey;
use crate::text;

/// A signature of a file: an Ed25519 signature of its BLAKE2b-512 hash, and one of that signature and a comment, which names
/// the file.
///
/// Its file has four lines: a comment that nobody has signed; the base64 of `ED`, the identity of the key and the first
/// signature; `trusted comment: ` and the comment; and the base64 of the second signature. The comment that is made here is
/// `timestamp:SECONDS`, `file:NAME`, `hashed` and, for a container of noren, `kind:KIND` and `owner:ID`, with a tab between
/// two: ID is the identity of the secret key in hexadecimal, or `none` for what belongs to none.
#[derive(Debug, Clone)]
pub struct Signature {
    id: [u8; 8],
    content: [u8; 64],
    comment: String,
    whole: [u8; 64],
}

/// The hash of a file that is signed.
pub struct Hash([u8; 64]);

/// The statements that a signature must make of a file, beside that its content was signed.
#[derive(Debug, Clone, Copy, Default)]
pub struct Requirements<'a> {
    /// Whether the file may have been signed under another name.
    pub any_name: bool,
    /// The kinds of objects of which the file must have one; without any, it may be anything.
    pub kinds: &'a [Kind],
    /// Whose keys and ciphertexts are needed. What belongs to nobody, such as parameters, serves all owners.
    pub owner: Option<KeyId>,
}

/// How the first field of a signature begins: the algorithm, Ed25519 of a hash.
const HASHED: [u8; 2] = *b"ED";
/// How the third line begins.
const TRUSTED: &str = "trusted comment: ";
/// How the part of the comment begins that names the file.
const FILE: &str = "file:";
/// How the part of the comment begins that says what is in a container.
const KIND: &str = "kind:";
/// How the part of the comment begins that says whose it is.
const OWNER: &str = "owner:";
/// The owner of what belongs to nobody.
const NOBODY: &str = "none";
/// The suffix of the name of a signature.
const EXTENSION: &str = ".minisig";
const WHAT: &str = "the signature";

/// Where the signature of a file lies: `.minisig` follows its name.
#[must_use]
pub fn path_of(file: &Path) -> PathBuf {
    let mut path = OsString::from(file);
    path.push(EXTENSION);
    PathBuf::from(path)
}

/// A signature that is made, and is to be written.
pub struct Signed {
    /// Where it is to lie.
    pub place: PathBuf,
    /// The error message.
    pub signature: Signature,
}

/// Signs a file, which is read once, piece by piece. Nothing is written. `own` is the identity of the secret key in it, where it
/// holds one and does not state it.
///
/// # Errors
/// [`Error::Library`](crate::error::Error::Library) with what the operating system says, that it is no regular file, or for a
/// signature that is kept; [`Reason::Unnameable`] for a file whose name no signature can hold.
pub fn sign(path: &Path, key: &SigningKey, existing: Existing, own: Option<KeyId>) -> Result<Signed> {
    let name = name_of(path).map_err(Reason::of(path))?;
    let place = path_of(path);
    if existing == Existing::Keep && place.symlink_metadata().is_ok() {
        return Err(LibraryError::Exists { path: place }.into());
    }
    let (hash, kind) = hash_file(path)?;
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let purpose = match kind {
        None => String::new(),
        Some(kind) => {
            let owner = own.or(owners::of_file(path)?.and_then(|(_, owner)| owner));
            format!("\t{KIND}{kind}\t{OWNER}{}", owner.map_or_else(|| NOBODY.to_owned(), KeyId::to_hex))
        }
    };
    let comment = format!("timestamp:{seconds}\t{FILE}{name}\thashed{purpose}");
    Ok(Signed { place, signature: Signature::new(&hash, comment, key) })
}

/// Signs a file, and writes the signature beside it. Gives its place.
///
/// # Errors
/// As [`sign`] and [`Signed::write`].
pub fn sign_file(path: &Path, key: &SigningKey, existing: Existing, own: Option<KeyId>) -> Result<PathBuf> {
    let signed = sign(path, key, existing, own)?;
    signed.write(existing)?;
    Ok(signed.place)
}

/// Verifies a file by the signature that lies beside it. The file is read once, piece by piece.
///
/// The bytes that were read are verified: who opens the file again later relies on nobody having changed it since.
///
/// # Errors
/// [`Error::Library`](crate::error::Error::Library) with what the operating system says, that it is no regular file, or for a
/// large signature; [`Error::File`](crate::error::Error::File) as [`Signature::verify`], and for a signature that is missing.
pub fn verify_file(path: &Path, signer: &Signer, requirements: &Requirements<'_>) -> Result<Signature> {
    // A signature that is not there is told before gigabytes are read.
    let signature = Signature::beside(path)?;
    signature.check_signer(signer).map_err(Reason::of(path))?;
    let (hash, kind) = hash_file(path)?;
    signature.verify(&hash, kind, path, signer, requirements).map_err(Reason::of(path))?;
    Ok(signature)
}

/// Verifies bytes that were read of a file by the signature that lies beside it.
///
/// # Errors
/// As [`verify_file`].
pub fn verify_bytes(path: &Path, bytes: &[u8], signer: &Signer, requirements: &Requirements<'_>) -> Result<Signature> {
    let signature = Signature::beside(path)?;
    signature.verify(&Hash::of(bytes), kind_of(bytes), path, signer, requirements).map_err(Reason::of(path))?;
    Ok(signature)
}

impl Signed {
    /// Writes the signature to its place, as a whole or not at all.
    ///
    /// # Errors
    /// [`Error::Library`](crate::error::Error::Library) with what the operating system says, or for a signature that is kept.
    pub fn write(&self, existing: Existing) -> Result<()> {
        let to = Destination { path: &self.place, existing };
        let text = self.signature.to_text();
        Ok(file::write_atomically(to, Access::Default, |file| file.write_all(text.as_bytes()))?)
    }
}

impl Hash {
    /// The hash of these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        let mut hasher = Blake2b512::new();
        for piece in bytes.chunks(PIECE) {
            interrupt::check();
            hasher.update(piece);
        }
        Self(hasher.finalize().into())
    }
}

impl Signature {
    /// A signature of a hash and a comment.
    fn new(hash: &Hash, comment: String, key: &SigningKey) -> Self {
        let content = key.sign(&hash.0);
        let whole = key.sign(&[&content[..], comment.as_bytes()].concat());
        Self { id: key.id(), content, comment, whole }
    }

    /// The signature in the text of a file.
    ///
    /// # Errors
    /// [`Reason::Malformed`], also for signatures that are not of a hash, which minisign made long ago.
    pub fn from_text(text: &str) -> std::result::Result<Self, Reason> {
        let [_, content, comment, whole] = text::lines(WHAT, text)?;
        let content = text::decode::<74>(WHAT, content)?;
        if content[..2] != HASHED {
            return Err(Reason::malformed(WHAT, "it is not of the kind ED, Ed25519 of a hash"));
        }
        let comment = comment.strip_prefix(TRUSTED);
        let comment = comment.ok_or(Reason::malformed(WHAT, "its third line is no trusted comment"))?.to_owned();
        let whole = *text::decode::<64>(WHAT, whole)?;
        Ok(Self { id: text::part(&*content, 2), content: text::part(&*content, 10), comment, whole })
    }

    /// The text of the file of the signature.
    #[must_use]
    pub fn to_text(&self) -> String {
        let content = text::encode(&[&HASHED[..], &self.id, &self.content].concat());
        let (signer, whole) = (text::name(self.id), text::encode(&self.whole));
        format!("{}signature by key {signer}\n{content}\n{TRUSTED}{}\n{whole}\n", text::UNTRUSTED, self.comment)
    }

    /// The signature that lies beside a file, which nobody has verified yet.
    ///
    /// # Errors
    /// As [`verify_file`].
    fn beside(path: &Path) -> Result<Self> {
        let place = path_of(path);
        if matches!(place.metadata(), Err(error) if error.kind() == ErrorKind::NotFound) {
            // That there is no such file matters more.
            path.metadata().map_err(|source| LibraryError::Io { path: path.to_owned(), source })?;
            return Err(Reason::of(path)(Reason::NoSignature { path: place }));
        }
        Self::from_text(&read_text(&place, WHAT)?).map_err(Reason::of(&place))
    }

    /// Refuses a signature of another hash, by another key, that was changed, or of a file that does not meet the requirements:
    /// of another name than this path, of another kind, or of another owner. `kind` is that of the content, if it is a container.
    ///
    /// # Errors
    /// [`Reason::OtherSigner`], [`Reason::WrongSignature`], [`Reason::Name`], [`Reason::Purpose`], and [`Reason::NoPurpose`] for
    /// a container of which the comment does not say what it is for.
    pub fn verify(
        &self,
        hash: &Hash,
        kind: Option<Kind>,
        path: &Path,
        signer: &Signer,
        requirements: &Requirements<'_>,
    ) -> std::result::Result<(), Reason> {
        self.check_signer(signer)?;
        let comment = [&self.content[..], self.comment.as_bytes()].concat();
        if !signer.has_signed(&hash.0, &self.content) || !signer.has_signed(&comment, &self.whole) {
            return Err(Reason::WrongSignature);
        }
        self.check_name(path, requirements)?;
        self.check_purpose(kind, requirements)
    }

    fn check_name(&self, path: &Path, requirements: &Requirements<'_>) -> std::result::Result<(), Reason> {
        let needed = path.file_name().unwrap_or_default().to_string_lossy();
        match self.name() {
            _ if requirements.any_name => Ok(()),
            Some(found) if path.file_name().is_some_and(|name| name == found) => Ok(()),
            found => {
                let found = found.map_or_else(|| "(none)".to_owned(), |found| format!("{found:?}"));
                Err(Reason::Name { found, needed: format!("{needed:?}") })
            }
        }
    }

    /// Refuses what the signer has not signed for this use.
    fn check_purpose(&self, kind: Option<Kind>, requirements: &Requirements<'_>) -> std::result::Result<(), Reason> {
        let refuse = |what, found: String, needed: String| Err(Reason::Purpose { what, found, needed });
        let stated = kind.map(|kind| kind.to_string());
        match (&stated, self.part(KIND)) {
            (Some(_), None) => return Err(Reason::NoPurpose),
            (found, said) if found.as_deref() != said => {
                let [found, needed] =
                    [said, found.as_deref()].map(|kind| kind.unwrap_or("no file of noren").to_owned());
                return refuse("kind", found, needed);
            }
            _ => {}
        }
        if !requirements.kinds.is_empty() && !kind.is_some_and(|kind| requirements.kinds.contains(&kind)) {
            let found = stated.unwrap_or_else(|| "no file of noren".to_owned());
            return refuse("kind", found, Kind::any_of(requirements.kinds));
        }
        let Some(kind) = kind else { return Ok(()) };
        let owner = self.part(OWNER).ok_or(Reason::NoPurpose)?;
        match requirements.owner.map(KeyId::to_hex) {
            Some(needed) if owner != needed && (owner != NOBODY || kind.is_secret()) => {
                refuse("owner", owner.to_owned(), needed)
            }
            _ => Ok(()),
        }
    }

    fn check_signer(&self, signer: &Signer) -> std::result::Result<(), Reason> {
        if self.id == signer.id {
            return Ok(());
        }
        Err(Reason::OtherSigner { found: text::name(self.id), needed: signer.id() })
    }

    /// The comment of the signer.
    #[must_use]
    pub fn comment(&self) -> &str {
        &self.comment
    }

    /// The name under which the file was signed, if the comment has one.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.part(FILE)
    }

    /// The part of the comment that begins like this.
    fn part(&self, begin: &str) -> Option<&str> {
        self.comment.split('\t').find_map(|part| part.strip_prefix(begin))
    }
}

/// The name of a file, as a comment holds it.
fn name_of(path: &Path) -> std::result::Result<&str, Reason> {
    let name = path.file_name().ok_or(Reason::Unnameable { found: "nothing" })?;
    let name = name.to_str().ok_or(Reason::Unnameable { found: "bytes that are no UTF-8" })?;
    match name {
        _ if name.chars().any(char::is_control) => Err(Reason::Unnameable { found: "a control character" }),
        // minisign takes such spaces off.
        _ if name.trim() != name => Err(Reason::Unnameable { found: "a space at one end" }),
        _ => Ok(name),
    }
}

/// Bytes that are read at once.
const PIECE: usize = 1 << 20;

/// The hash of a file, and the kind of container in it.
fn hash_file(path: &Path) -> Result<(Hash, Option<Kind>)> {
    let failed = |source| LibraryError::Io { path: path.to_owned(), source };
    let mut file = regular::open(path).map_err(failed)?;
    let (mut hasher, mut piece, mut kind) = (Blake2b512::new(), vec![0; PIECE], None);
    let mut first = true;
    loop {
        interrupt::check();
        let found = read_piece(&mut file, &mut piece).map_err(failed)?;
        if std::mem::take(&mut first) {
            kind = kind_of(&piece[..found]);
        }
        hasher.update(&piece[..found]);
        if found < piece.len() {
            return Ok((Hash(hasher.finalize().into()), kind));
        }
    }
}

/// The kind of container that begins like this, if it is one.
fn kind_of(bytes: &[u8]) -> Option<Kind> {
    Header::parse(&bytes[..bytes.len().min(HEADER_BYTES)]).ok().map(|header| header.kind)
}

/// Fills a piece, unless the source ends before.
fn read_piece(source: &mut impl Read, piece: &mut [u8]) -> std::io::Result<usize> {
    let mut filled = 0;
    while filled < piece.len() {
        match source.read(&mut piece[filled..]) {
            Ok(0) => break,
            Ok(found) => filled += found,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
