//! Which outputs may be written, and under which names they are hidden until they are whole.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use clap::Args;
use noren::wire::{Form, Object};
use noren_rlwe::wire::file;
use noren_rlwe::wire::publish::{Destination, Existing};

use crate::failure::Failure;

/// The argument that lets outputs be replaced.
#[derive(Debug, Args)]
pub(crate) struct Force {
    /// Replace outputs that exist
    #[arg(long)]
    pub(crate) force: bool,
}

impl Force {
    /// The policy for files that exist.
    pub(crate) const fn existing(&self) -> Existing {
        if self.force { Existing::Replace } else { Existing::Keep }
    }
}

/// A file that may be written.
pub(crate) struct Output {
    path: PathBuf,
    existing: Existing,
}

impl Output {
    /// Refuses, before any work, a file that exists, unless it may be replaced, and one that cannot be written; removes
    /// what an interrupted run has left of it. Whether it exists is asked once more when it is written.
    pub(crate) fn new(path: &Path, force: &Force) -> Result<Self, Failure> {
        // A link that leads nowhere is a file too.
        if !force.force && fs::symlink_metadata(path).is_ok() {
            return Err(Failure::Exists { path: path.to_owned() });
        }
        let directory = file::directory_of(path);
        let failed = |path: &Path, source| Failure::Io { path: path.to_owned(), source };
        if !fs::metadata(directory).map_err(|error| failed(directory, error))?.is_dir() {
            return Err(Failure::input(path, "its directory", "a file", "a directory"));
        }
        // Only trying tells whether files can be made there.
        let trial = hidden(directory, |trial| File::create_new(trial).map(drop));
        trial.and_then(|(trial, ())| fs::remove_file(trial)).map_err(|error| failed(path, error))?;
        file::remove_leftovers(path);
        Ok(Self { path: path.to_owned(), existing: force.existing() })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Where the file is written, and whether one that exists by then is replaced.
    pub(crate) fn destination(&self) -> Destination<'_> {
        Destination { path: &self.path, existing: self.existing }
    }

    /// Writes an object, as a whole or not at all; gives the bytes of the file.
    pub(crate) fn write<O: Object>(&self, context: &O::Context, object: &O) -> Result<u64, Failure> {
        object.write_file(context, Form::Packed, self.destination())?;
        size(&self.path)
    }
}

/// Bytes of a file.
pub(crate) fn size(path: &Path) -> Result<u64, Failure> {
    let found = fs::metadata(path).map_err(|source| Failure::Io { path: path.to_owned(), source })?;
    Ok(found.len())
}

/// How hidden names begin and end.
pub(crate) const HIDDEN: [&str; 2] = [".noren-", ".tmp"];

/// Makes something under a hidden name of a directory that nothing else has; gives the name too.
pub(crate) fn hidden<T>(directory: &Path, make: impl Fn(&Path) -> io::Result<T>) -> io::Result<(PathBuf, T)> {
    /// Names that are tried: processes with the same number can share a directory.
    const NAMES: u32 = 64;
    let [begin, end] = HIDDEN;
    for count in 0..NAMES {
        let path = directory.join(format!("{begin}{}-{count}{end}", std::process::id()));
        match make(&path) {
            Ok(made) => return Ok((path, made)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    let message = format!("hidden files named {begin}...{end} fill the directory: remove them");
    Err(io::Error::new(ErrorKind::AlreadyExists, message))
}
