//! Whose an object is, as its container says, without reading more of it.

use std::path::Path;

use crate::error::Result;
use crate::owner::KeyId;
use crate::torus::wire::KEY as TFHE_KEYS;
use crate::wire::file;
use crate::wire::header::Encoding;
use crate::wire::items::Items;
use crate::wire::keys::KEY;
use crate::wire::kind::Kind;
use crate::wire::reader::Limits;
use crate::wire::section::Section;

/// Where a container has the identity of its secret key.
struct At {
    /// The first item that may have it.
    item: u32,
    tag: u16,
    /// Bytes of other identities before it.
    before: usize,
}

/// Of ciphertexts of TFHE.
const TFHE_CIPHERTEXTS: u16 = 0x0001;

/// The place of the identity in a container of this kind, if it has one: secret keys of ring learning with errors do not,
/// because their identity is computed.
fn place(kind: Kind) -> Option<At> {
    let at = |item, tag, before| Some(At { item, tag, before });
    match kind {
        Kind::TFHE_SECRET_KEY
        | Kind::TFHE_KEYS
        | Kind::TFHE_LIGHT_KEYS
        | Kind::TFHE_SERVER_KEYS
        | Kind::TFHE_CIRCUIT_KEYS => at(1, TFHE_KEYS, 0),
        Kind::TFHE_CIPHERTEXTS | Kind::TFHE_BITS | Kind::TFHE_INTEGERS | Kind::TFHE_SEEDED_CIPHERTEXTS => {
            at(0, TFHE_CIPHERTEXTS, 0)
        }
        Kind::TFHE_COLUMNS => at(1, TFHE_CIPHERTEXTS, 0),
        // The first key leads from the main secret to the sparse, or the ephemeral, one, and names the other one first.
        Kind::LOOKUP_KEYS | Kind::EXPANDED_LOOKUP_KEYS | Kind::BOOTSTRAP_KEYS | Kind::EXPANDED_BOOTSTRAP_KEYS => {
            at(0, KEY, KeyId::BYTES)
        }
        // Sections of other libraries have other meanings.
        _ if kind.since() > 1 && Kind::ALL.contains(&kind) => at(0, KEY, 0),
        _ => None,
    }
}

/// The identity among the bytes of its section.
fn identity(bytes: &[u8], before: usize) -> Option<KeyId> {
    Some(KeyId(*bytes.get(before..)?.first_chunk()?))
}

/// The identity of the secret key that an object of this kind belongs to, if its sections say so.
#[must_use]
pub fn of_sections(kind: Kind, sections: &[Section<'_>]) -> Option<KeyId> {
    let At { item, tag, before } = place(kind)?;
    let is_it = |s: &&Section<'_>| s.encoding() == Encoding::Bytes && s.place().item >= item && s.place().tag == tag;
    identity(sections.iter().find(is_it)?.as_bytes(), before)
}

/// The kind of object in a file, and the identity of the secret key that it belongs to, if it says so; nothing for a file
/// that is no container. Its digest is not looked at, nor what else is in it.
///
/// # Errors
/// [`Error::Io`](crate::error::Error::Io) with the path; [`Error::Wire`](crate::error::Error::Wire) for a container whose
/// header or table of contents is damaged.
pub fn of_file(path: &Path) -> Result<Option<(Kind, Option<KeyId>)>> {
    let Some(kind) = file::kind(path)? else { return Ok(None) };
    let Some(At { item, tag, before }) = place(kind) else { return Ok(Some((kind, None))) };
    let limits = Limits { check_digest: false, ..Limits::default() };
    let most = (before + KeyId::BYTES) as u64;
    let found = Items::open(path, kind, &limits)?.into_bytes_of(item, tag, most)?;
    Ok(Some((kind, found.and_then(|bytes| identity(&bytes, before)))))
}
