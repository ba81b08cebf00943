//! Signing keys: Ed25519 keys, and their files, which can be under a passphrase.

use std::io::Write;
use std::path::Path;

use blake2::digest::consts::U32;
use blake2::{Blake2b, Digest};
use ed25519_dalek::{Signer as _, SigningKey as Secret};
use noren_rlwe::wire::file::{self, Access};
use noren_rlwe::wire::publish::Destination;
use zeroize::Zeroizing;

use crate::error::{Error, Reason, Result};
use crate::passphrase::{Passphrase, Work};
use crate::signer::{ALGORITHM, Signer, read_text};
use crate::text;

/// A key that signs files. Wiped when dropped.
///
/// Its file has two lines: a comment, and the base64 of 158 bytes,
///
/// `Ed || kdf (2) || B2 || salt (32) || opslimit (8) || memlimit (8) || id (8) || secret (64) || checksum (32)`,
///
/// where the checksum is BLAKE2b-256 of `Ed || id || secret`, and the last three fields are masked by scrypt of the passphrase
/// and the salt where kdf is `Sc`. The limits are those of libsodium, from which N follows; kdf is zero where there is no
/// passphrase.
pub struct SigningKey {
    id: [u8; 8],
    key: Secret,
}

/// Bytes of a key in a file.
const BYTES: usize = 158;
/// Where the parts are that a passphrase masks.
const MASKED: usize = 54;
/// That a key is under a passphrase.
const SCRYPT: [u8; 2] = *b"Sc";
/// That it is not.
const CLEAR: [u8; 2] = [0; 2];
/// The algorithm of the checksum, BLAKE2b.
const CHECKSUM: [u8; 2] = *b"B2";
/// The base-two logarithm of the largest N: what keys of the tool `minisign` take.
const MOST_WORK: u8 = Work::MOST.log_n();
const WHAT: &str = "the signing key";

impl SigningKey {
    /// How files of keys and of signatures begin.
    pub const START: &str = text::UNTRUSTED;

    /// A new key.
    ///
    /// # Errors
    /// [`Error::Randomness`] if the operating system has none.
    pub fn generate() -> Result<Self> {
        let (mut id, mut seed) = ([0; 8], Zeroizing::new([0; 32]));
        let filled = getrandom::fill(&mut id).and_then(|()| getrandom::fill(&mut *seed));
        filled.map_err(|error| Error::Randomness(error.to_string()))?;
        Ok(Self { id, key: Secret::from_bytes(&seed) })
    }

    /// The key in the text of a file, which may be under a passphrase; one that is not needed is not used.
    ///
    /// # Errors
    /// [`Reason::PassphraseNeeded`], [`Reason::WrongPassphrase`]; [`Reason::Work`] above N = 2^20; [`Reason::Malformed`].
    pub fn from_text(text: &str, passphrase: Option<&Passphrase>) -> std::result::Result<Self, Reason> {
        let mut bytes = read_bytes(text)?;
        let wrong = match text::part(&*bytes, 2) {
            CLEAR => Reason::malformed(WHAT, "its checksum is wrong"),
            _ => {
                let passphrase = passphrase.ok_or(Reason::PassphraseNeeded)?;
                let log_n = log_n(u64_at(&*bytes, 38), u64_at(&*bytes, 46))?;
                mask(&mut bytes, passphrase, log_n);
                Reason::WrongPassphrase
            }
        };
        let secret = Zeroizing::new(text::part::<64>(&*bytes, 62));
        let id = text::part(&*bytes, MASKED);
        if checksum(id, &secret)[..] != bytes[126..] {
            return Err(wrong);
        }
        let key = Secret::from_keypair_bytes(&secret);
        key.map(|key| Self { id, key }).map_err(|_| Reason::malformed(WHAT, "its halves do not belong together"))
    }

    /// The text of the file of the key, under a passphrase if there is one.
    ///
    /// # Errors
    /// [`Error::Randomness`] for a salt.
    pub fn to_text(&self, protection: Option<(&Passphrase, Work)>) -> Result<Zeroizing<String>> {
        let secret = Zeroizing::new(self.key.to_keypair_bytes());
        let mut bytes = Zeroizing::new([0; BYTES]);
        bytes[..2].copy_from_slice(&ALGORITHM);
        bytes[4..6].copy_from_slice(&CHECKSUM);
        bytes[MASKED..62].copy_from_slice(&self.id);
        bytes[62..126].copy_from_slice(&*secret);
        bytes[126..].copy_from_slice(&checksum(self.id, &secret));
        if let Some((passphrase, work)) = protection {
            bytes[2..4].copy_from_slice(&SCRYPT);
            getrandom::fill(&mut bytes[6..38]).map_err(|error| Error::Randomness(error.to_string()))?;
            // The limits from which libsodium derives N = 2^log_n, r = 8 and p = 1.
            bytes[38..46].copy_from_slice(&(1u64 << (work.log_n() + 5)).to_le_bytes());
            bytes[46..MASKED].copy_from_slice(&(1u64 << (work.log_n() + 10)).to_le_bytes());
            mask(&mut bytes, passphrase, work.log_n());
        }
        let line = Zeroizing::new(text::encode(&*bytes));
        let comment = if protection.is_some() { "minisign encrypted secret key" } else { "minisign secret key" };
        Ok(Zeroizing::new([text::UNTRUSTED, comment, "\n", &line, "\n"].concat()))
    }

    /// The key in a file.
    ///
    /// # Errors
    /// [`Error::Library`] with what the operating system says, that it is no regular file, or a large one; [`Error::File`] as
    /// [`SigningKey::from_text`].
    pub fn read(path: &Path, passphrase: Option<&Passphrase>) -> Result<Self> {
        Self::from_text(&read_text(path, WHAT)?, passphrase).map_err(Reason::of(path))
    }

    /// Writes the file of the key, as a whole or not at all, readable by its owner only.
    ///
    /// # Errors
    /// [`Error::Library`] with what the operating system says, or for a file that is kept; [`Error::Randomness`].
    pub fn write<'p>(&self, to: impl Into<Destination<'p>>, protection: Option<(&Passphrase, Work)>) -> Result<()> {
        let text = self.to_text(protection)?;
        Ok(file::write_atomically(to, Access::Owner, |file| file.write_all(text.as_bytes()))?)
    }

    /// Whether a passphrase is needed for the key in a file.
    ///
    /// # Errors
    /// As [`SigningKey::read`], but for what a passphrase would tell.
    pub fn needs_passphrase(path: &Path) -> Result<bool> {
        let bytes = read_bytes(&read_text(path, WHAT)?).map_err(Reason::of(path))?;
        Ok(text::part(&*bytes, 2) == SCRYPT)
    }

    /// The public half.
    #[must_use]
    pub fn signer(&self) -> Signer {
        Signer { id: self.id, key: self.key.verifying_key() }
    }

    pub(crate) fn id(&self) -> [u8; 8] {
        self.id
    }

    pub(crate) fn sign(&self, message: &[u8]) -> [u8; 64] {
        self.key.sign(message).to_bytes()
    }
}

/// The bytes of a key, of which the algorithms are known.
fn read_bytes(text: &str) -> std::result::Result<Zeroizing<[u8; BYTES]>, Reason> {
    let [_, line] = text::lines(WHAT, text)?;
    let bytes = text::decode::<BYTES>(WHAT, line)?;
    let known = [SCRYPT, CLEAR].contains(&text::part(&*bytes, 2));
    if bytes[..2] != ALGORITHM || bytes[4..6] != CHECKSUM || !known {
        return Err(Reason::malformed(WHAT, "it is of an algorithm that is not known"));
    }
    Ok(bytes)
}

/// Masks the secret parts by a passphrase, or takes the mask off again.
///
/// # Panics
/// If `log_n` is no work that scrypt takes.
fn mask(bytes: &mut [u8; BYTES], passphrase: &Passphrase, log_n: u8) {
    let parameters = scrypt::Params::new(log_n, 8, 1, scrypt::Params::RECOMMENDED_LEN).expect("N is in range");
    let mut stream = Zeroizing::new([0; BYTES - MASKED]);
    let salt: [u8; 32] = text::part(bytes, 6);
    scrypt::scrypt(passphrase.expose().as_bytes(), &salt, &parameters, &mut *stream).expect("the length is in range");
    bytes[MASKED..].iter_mut().zip(&*stream).for_each(|(byte, mask)| *byte ^= mask);
}

/// The base-two logarithm of N that libsodium derives from these limits; refused unless p is 1, as it is for all limits of
/// minisign and its kin.
fn log_n(operations: u64, memory: u64) -> std::result::Result<u8, Reason> {
    let operations = operations.max(1 << 15);
    let (largest, few) = if operations < memory / 32 { (operations / 32, true) } else { (memory / 1024, false) };
    // The smallest power of two that is more than half of the largest N.
    let log_n = (1..63).find(|&log_n| 1u64 << log_n > largest / 2).unwrap_or(63);
    if log_n > MOST_WORK {
        return Err(Reason::Work { found: log_n, limit: MOST_WORK });
    }
    let p = (operations / 4 / (1 << log_n)).min(0x3fff_ffff) / 8;
    if few || p == 1 { Ok(log_n) } else { Err(Reason::malformed(WHAT, "its limits are none of minisign")) }
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(text::part(bytes, at))
}

fn checksum(id: [u8; 8], secret: &[u8; 64]) -> [u8; 32] {
    Blake2b::<U32>::new().chain_update(ALGORITHM).chain_update(id).chain_update(secret).finalize().into()
}
