//! Whose a file of a secret key is: its own identity, which files of ring learning with errors do not state.

use std::path::Path;

use noren_rlwe::error::Result;
use noren_rlwe::keys::SecretKey;
use noren_rlwe::owner::KeyId;
use noren_rlwe::wire::file;
use noren_rlwe::wire::key_file::{FileContext, FileKey, KeyFile};
use noren_rlwe::wire::kind::Kind;
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::reader::Limits;

use crate::schemes::{bfv, ckks};

/// The identity of a secret key in a file that does not state it, computed from the secret: of CKKS, BGV and BFV, with their
/// parameters. Nothing for every other file.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io) with the path; those of [`Object::read_file`] for such a key.
pub fn identity_of_secret(path: &Path) -> Result<Option<KeyId>> {
    match file::kind(path)? {
        Some(Kind::CKKS_SECRET_KEY) => identity::<ckks::Context>(path).map(Some),
        Some(Kind::INTEGER_SECRET_KEY) => identity::<bfv::Context>(path).map(Some),
        _ => Ok(None),
    }
}

fn identity<C: FileContext>(path: &Path) -> Result<KeyId>
where
    SecretKey: FileKey<C>,
{
    let file: KeyFile<C, SecretKey> = KeyFile::read_file(&(), path, &Limits::default())?;
    Ok(file.key.owner().key)
}
