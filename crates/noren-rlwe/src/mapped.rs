//! Files that are mapped: results of one that has changed are refused.

use std::sync::Arc;

use noren_math::machine::mapped::MappedFile;

use crate::error::{Error, Result};

/// Refuses results that were computed from a mapped file that has changed since it was mapped.
///
/// # Errors
/// [`Error::FileChanged`]; see [`MappedFile::is_unchanged`].
pub fn check_unchanged(file: Option<&Arc<MappedFile>>, what: &'static str) -> Result<()> {
    if file.is_none_or(|file| file.is_unchanged()) { Ok(()) } else { Err(Error::FileChanged { what }) }
}
