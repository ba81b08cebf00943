//! Several files that appear together, or not at all.

use std::fs::{self, DirBuilder, File, Metadata, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use noren::wire::{Destination, Existing, Form, Object};
use noren_rlwe::wire::publish::publish;
use noren_rlwe::wire::regular;

use crate::failure::Failure;
use crate::files::{Force, size};

/// A directory for several files that appear together: they are written into a hidden directory beside their places
/// and moved when all are there.
///
/// A file in the hidden directory is locked for as long as the process lives. What a process that was killed has left is
/// told by a lock that nobody holds, and removed by the next one.
pub(crate) struct OutputSet {
    directory: PathBuf,
    hidden: PathBuf,
    existing: Existing,
    created: bool,
    /// Holds the lock.
    _lock: File,
}

/// The file in a hidden directory that is locked.
const LOCK: &str = "lock";

impl OutputSet {
    /// Refuses files that exist, unless they may be replaced; makes the directory. Whether they exist is asked once more when
    /// the files are moved to their places.
    pub(crate) fn new(directory: &Path, names: &[&str], force: &Force) -> Result<Self, Failure> {
        for name in names {
            let path = directory.join(name);
            if !force.force && fs::symlink_metadata(&path).is_ok() {
                return Err(Failure::Exists { path });
            }
        }
        let failed = |path: &Path, source: io::Error| Failure::Io { path: path.to_owned(), source };
        let created = match fs::create_dir(directory) {
            Ok(()) => true,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => false,
            Err(error) => return Err(failed(directory, error)),
        };
        remove_leftovers(directory);
        let (hidden, lock) = hidden(directory, locked_directory).map_err(|error| {
            if created {
                let _ = fs::remove_dir(directory);
            }
            failed(directory, error)
        })?;
        Ok(Self { directory: directory.to_owned(), hidden, existing: force.existing(), created, _lock: lock })
    }

    /// Writes one of the files; gives its bytes.
    pub(crate) fn write<O: Object>(&self, name: &str, context: &O::Context, object: &O) -> Result<u64, Failure> {
        self.write_with(name, |path| object.write_file(context, Form::Packed, path))
    }

    /// Writes one of the files by what is said to write it; gives its bytes.
    pub(crate) fn write_with<T>(
        &self,
        name: &str,
        write: impl FnOnce(&Path) -> noren::Result<T>,
    ) -> Result<u64, Failure> {
        let path = self.hidden.join(name);
        let written = write(&path).map_err(Failure::from);
        written.and_then(|_| size(&path)).map_err(|failure| match failure {
            // Errors name the place of the file, not the hidden one.
            Failure::Io { source, .. } => Failure::Io { path: self.directory.join(name), source },
            failure => failure,
        })
    }

    /// Moves the files to their places. Where one cannot be moved, those that were moved before it are taken back, and what
    /// they replaced is put back.
    pub(crate) fn finish(mut self, names: &[&str]) -> Result<Vec<PathBuf>, Failure> {
        let _turn = self.turn()?;
        let mut moved: Vec<Moved> = Vec::new();
        for name in names {
            match Moved::new(&self, name) {
                Ok(one) => moved.push(one),
                Err(failure) => {
                    moved.into_iter().rev().for_each(Moved::take_back);
                    return Err(failure);
                }
            }
        }
        self.created = false;
        Ok(moved.into_iter().map(|one| one.place).collect())
    }

    /// The right to move files to places in the directory: two runs that may replace would otherwise leave a mixture of their
    /// files. Where the system has no locks of directories, there is none.
    fn turn(&self) -> Result<Option<File>, Failure> {
        /// Moving takes less.
        const PATIENCE: u32 = 100;
        const PAUSE: Duration = Duration::from_millis(50);
        let Ok(directory) = File::open(&self.directory) else { return Ok(None) };
        for _ in 0..PATIENCE {
            match directory.try_lock() {
                Ok(()) => return Ok(Some(directory)),
                Err(TryLockError::WouldBlock) => thread::sleep(PAUSE),
                Err(TryLockError::Error(_)) => return Ok(None),
            }
        }
        let (found, needed) = ("a lock of another process", "none: start this again when it has ended");
        Err(Failure::input(&self.directory, "the directory", found, needed))
    }
}

impl Drop for OutputSet {
    fn drop(&mut self) {
        // What cannot be removed is hidden and holds nothing that is used; the first error matters more.
        let _ = fs::remove_dir_all(&self.hidden);
        if self.created {
            let _ = fs::remove_dir(&self.directory);
        }
    }
}

/// A file that is at its place.
struct Moved {
    place: PathBuf,
    /// Tells it from a file that somebody has put there since.
    identity: Option<Metadata>,
    /// What it has replaced, under a hidden name.
    replaced: Option<PathBuf>,
}

impl Moved {
    /// Moves a file of a set to its place.
    fn new(set: &OutputSet, name: &str) -> Result<Self, Failure> {
        let (from, place) = (set.hidden.join(name), set.directory.join(name));
        let identity = fs::metadata(&from).ok();
        // Where the file system has no second names, what is replaced cannot be put back.
        let aside = set.hidden.join(format!("{name}.replaced"));
        let replaced = set.existing == Existing::Replace && fs::hard_link(&place, &aside).is_ok();
        publish(&from, Destination { path: &place, existing: set.existing })?;
        Ok(Self { place, identity, replaced: replaced.then_some(aside) })
    }

    /// Undoes the move. What fails here stays as it is: the first error matters more.
    fn take_back(self) {
        match self.replaced {
            Some(replaced) => drop(fs::rename(replaced, &self.place)),
            None if self.identity.is_some_and(|ours| is_still_at(&self.place, &ours)) => {
                drop(fs::remove_file(&self.place));
            }
            None => {}
        }
    }
}

#[cfg(unix)]
fn is_still_at(place: &Path, ours: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::symlink_metadata(place).is_ok_and(|found| (found.dev(), found.ino()) == (ours.dev(), ours.ino()))
}

#[cfg(not(unix))]
fn is_still_at(_place: &Path, _ours: &Metadata) -> bool {
    true
}

/// How hidden names begin and end.
const HIDDEN: [&str; 2] = [".noren-", ".tmp"];

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

/// A new directory for this process alone, with a lock.
fn locked_directory(path: &Path) -> io::Result<File> {
    owners_directory().create(path)?;
    let lock = File::create_new(path.join(LOCK)).inspect_err(|_| drop(fs::remove_dir(path)))?;
    // Whoever clears up may have come between: it holds the lock, or has removed the directory. Where the system has no locks,
    // nothing is removed either.
    let taken = matches!(lock.try_lock(), Err(TryLockError::WouldBlock));
    match fs::symlink_metadata(path.join(LOCK)) {
        Ok(_) if !taken => Ok(lock),
        _ => Err(ErrorKind::AlreadyExists.into()),
    }
}

#[cfg(unix)]
fn owners_directory() -> DirBuilder {
    use std::os::unix::fs::DirBuilderExt;
    let mut builder = DirBuilder::new();
    builder.mode(0o700);
    builder
}

#[cfg(not(unix))]
fn owners_directory() -> DirBuilder {
    DirBuilder::new()
}

/// Removes the hidden directories of processes that are gone.
fn remove_leftovers(directory: &Path) {
    let [begin, end] = HIDDEN;
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let ours = entry.file_name().to_str().is_some_and(|name| name.starts_with(begin) && name.ends_with(end));
        // Of links, whatever they lead to, nothing is removed.
        if ours
            && entry.file_type().is_ok_and(|found| found.is_dir())
            && let Ok(lock) = regular::open_leftover(&entry.path().join(LOCK))
            && lock.try_lock().is_ok()
        {
            // What cannot be removed stays hidden. The lock is held meanwhile.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
