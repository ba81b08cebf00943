//! Files that are replaced as a whole or not at all, and reads that are bounded.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use noren_math::machine::memory;

use crate::error::{Error, Result};
use crate::wire::header::{HEADER_BYTES, Header};
use crate::wire::kind::Kind;
use crate::wire::pieces;
use crate::wire::publish::{Destination, Existing, publish};
use crate::wire::regular;

/// Who may read a file that is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Whoever the process lets by default (its umask).
    Default,
    /// The owner only, from the first moment on: mode 0600. On systems without modes: as the directory has it.
    Owner,
}

/// How often a name for the temporary file is tried that another process has not taken.
const ATTEMPTS: usize = 64;

/// Writes a file through a temporary one in the same directory: written, synchronised, then moved to its name.
///
/// A reader of the path sees the old content or the new one, never a part, even after a loss of power. After any failure,
/// and after a panic in `write`, the temporary file is gone and the old one is untouched. Where a file is replaced, a symbolic
/// link stays, and what it points to is replaced; where it is kept ([`Existing::Keep`]), any entry of that name is kept, and
/// refused before `write` is called.
///
/// # Errors
/// [`Error::Io`] with the path: what the operating system or `write` says, or that the path is no regular file;
/// [`Error::Exists`] for a file that is kept.
pub fn write_atomically<'p>(
    to: impl Into<Destination<'p>>,
    access: Access,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<()> {
    let to = to.into();
    let failed = |source| Error::Io { path: to.path.to_owned(), source };
    make_atomically(to, access, |file| write(file).map_err(failed))
}

/// As [`write_atomically`], where what is written is made meanwhile, which may fail too.
///
/// # Errors
/// The error of `make`, and as [`write_atomically`].
pub fn make_atomically<'p, T>(
    to: impl Into<Destination<'p>>,
    access: Access,
    make: impl FnOnce(&mut File) -> Result<T>,
) -> Result<T> {
    let Destination { path, existing } = to.into();
    let failed = |source| Error::Io { path: path.to_owned(), source };
    let target = match existing {
        Existing::Replace => target(path).map_err(failed)?,
        Existing::Keep => vacant(path)?,
    };
    let (temporary, mut file) = create_beside(&target, access).map_err(failed)?;
    let made = make(&mut file)?;
    file.sync_all().map_err(failed)?;
    move_to(temporary, Destination { path: &target, existing }).map_err(|error| match error {
        // The name that the caller knows.
        Error::Io { source, .. } => failed(source),
        error => error,
    })?;
    // Not before: without its lock it might be taken for one that was left.
    drop(file);
    synchronise_directory(&target).map_err(failed)?;
    Ok(made)
}

/// Removes stale temporary files of this name, which processes left that were killed. A file is stale if nobody holds its
/// lock; where the system has no locks, nothing is removed.
pub fn remove_leftovers(path: &Path) {
    let Ok(target) = target(path) else { return };
    let Some(name) = target.file_name() else { return };
    let begin = hidden_start(name).to_string_lossy().into_owned();
    for entry in fs::read_dir(directory_of(&target)).into_iter().flatten().flatten() {
        let found = entry.file_name().to_string_lossy().into_owned();
        let middle = found.strip_prefix(&begin).and_then(|rest| rest.strip_suffix(HIDDEN_END));
        let counted = |text: &str| text.split('-').all(|count| count.parse::<u64>().is_ok());
        if middle.is_some_and(counted)
            && let Ok(file) = regular::open_leftover(&entry.path())
            && file.try_lock().is_ok()
        {
            // A file that cannot be removed stays hidden.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Takes room for a file that will have `bytes` bytes, where the system can: what is missing is then missed at once and
/// not in the middle.
///
/// # Errors
/// That there is not so much room.
#[cfg(target_os = "linux")]
pub fn reserve(file: &File, bytes: u64) -> io::Result<()> {
    use rustix::fs::{FallocateFlags, fallocate};
    use rustix::io::Errno;
    match fallocate(file, FallocateFlags::empty(), 0, bytes) {
        // File systems that take no room beforehand.
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(()),
        taken => Ok(taken?),
    }
}

/// Takes no room for a file: this system cannot.
///
/// # Errors
/// None.
#[cfg(not(target_os = "linux"))]
pub fn reserve(_file: &File, _bytes: u64) -> io::Result<()> {
    Ok(())
}

/// The bytes that a new file in this directory can have, if the system tells.
#[cfg(unix)]
#[must_use]
pub fn available(directory: &Path) -> Option<u64> {
    let found = rustix::fs::statvfs(directory).ok()?;
    found.f_bavail.checked_mul(found.f_frsize)
}

/// The bytes that a new file in this directory can have, if the system tells: here it does not.
#[cfg(not(unix))]
#[must_use]
pub fn available(_directory: &Path) -> Option<u64> {
    None
}

/// The header of a file; `None` if its first bytes are not those of a container. What follows them is not looked at.
///
/// # Errors
/// [`Error::Io`] with `path`: what the operating system says, or that it is no regular file.
pub fn header(path: &Path) -> Result<Option<Header>> {
    let mut bytes = Vec::with_capacity(HEADER_BYTES);
    let read = regular::open(path).and_then(|file| file.take(HEADER_BYTES as u64).read_to_end(&mut bytes));
    read.map_err(|source| Error::Io { path: path.to_owned(), source })?;
    Ok(Header::parse(&bytes).ok())
}

/// The kind of object in a file; `None` if it is no container.
///
/// # Errors
/// As [`header`].
pub fn kind(path: &Path) -> Result<Option<Kind>> {
    Ok(header(path)?.map(|header| header.kind))
}

/// The bytes of a file, at most `max_bytes`.
///
/// # Errors
/// [`Error::Io`] with `path`: what the operating system says, that the file is larger, or no regular file.
pub fn read(path: &Path, max_bytes: u64) -> Result<Vec<u8>> {
    read_bounded(path, max_bytes).map_err(|source| Error::Io { path: path.to_owned(), source })
}

/// A file that is removed again unless it gets its name. It is locked for as long as it is written, which tells it from one
/// that a process has left.
struct Temporary {
    path: PathBuf,
    kept: bool,
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.kept {
            // Nothing more can be done about a file that cannot be removed, and the first error matters more.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Gives a temporary file that is written its name.
fn move_to(mut temporary: Temporary, to: Destination<'_>) -> Result<()> {
    publish(&temporary.path, to)?;
    temporary.kept = true;
    Ok(())
}

/// A name that nothing has, links that lead nowhere included.
fn vacant(path: &Path) -> Result<PathBuf> {
    match fs::symlink_metadata(path) {
        Ok(_) => Err(Error::Exists { path: path.to_owned() }),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(path.to_owned()),
        Err(source) => Err(Error::Io { path: path.to_owned(), source }),
    }
}

/// The file that a path leads to, which must be a regular one or not exist: renaming over a device would destroy it.
///
/// A pipe of this process, such as `/dev/stdout` may be, leads to no path, but is there.
fn target(path: &Path) -> io::Result<PathBuf> {
    let not_regular = || io::Error::new(ErrorKind::InvalidInput, "not a regular file: choose another name");
    let target = match fs::canonicalize(path) {
        Ok(target) => target,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return if fs::metadata(path).is_ok() { Err(not_regular()) } else { Ok(path.to_owned()) };
        }
        Err(error) => return Err(error),
    };
    if fs::metadata(&target)?.is_file() { Ok(target) } else { Err(not_regular()) }
}

/// How the names of temporary files begin: that of a process and a count follow. Of a long name a part and a digest of all of
/// it stand for it, so that the file system takes the temporary name where it takes the name.
fn hidden_start(name: &OsStr) -> OsString {
    /// Bytes of the longest name that stands there as it is; with what is put around it, it has at most 137.
    const LONGEST: usize = 100;
    /// Bytes of the digest, two digits each.
    const DIGEST: usize = 16;
    let mut start = OsString::from(".");
    let bytes = name.as_encoded_bytes();
    if bytes.len() <= LONGEST {
        start.push(name);
    } else {
        let text = name.to_string_lossy();
        start.push(&text[..text.floor_char_boundary(LONGEST - 2 * DIGEST - 1)]);
        start.push("~");
        start.push(&blake3::hash(bytes).to_hex()[..2 * DIGEST]);
    }
    start.push(".");
    start
}

/// How the names of temporary files end.
const HIDDEN_END: &str = ".tmp";

fn create_beside(target: &Path, access: Access) -> io::Result<(Temporary, File)> {
    /// Tells apart the files of one process.
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let Some(name) = target.file_name() else {
        return Err(io::Error::new(ErrorKind::InvalidInput, "no name of a file: add one"));
    };
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    restrict(&mut options, access);
    for _ in 0..ATTEMPTS {
        let mut hidden = hidden_start(name);
        hidden.push(format!("{}-{}{HIDDEN_END}", process::id(), COUNTER.fetch_add(1, Ordering::Relaxed)));
        let path = target.with_file_name(hidden);
        match options.open(&path) {
            Ok(file) => {
                // Whoever clears up may have come between: it holds the lock, or has removed the file.
                let taken = matches!(file.try_lock(), Err(TryLockError::WouldBlock));
                if !taken && fs::symlink_metadata(&path).is_ok() {
                    return Ok((Temporary { path, kept: false }, file));
                }
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::new(ErrorKind::AlreadyExists, "temporary files of this name fill the directory: remove them"))
}

#[cfg(unix)]
fn restrict(options: &mut OpenOptions, access: Access) {
    use std::os::unix::fs::OpenOptionsExt;
    if access == Access::Owner {
        options.mode(0o600);
    }
}

#[cfg(not(unix))]
fn restrict(_options: &mut OpenOptions, _access: Access) {}

/// The directory that a file lies in.
#[must_use]
pub fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Makes a rename outlast a loss of power.
#[cfg(unix)]
fn synchronise_directory(target: &Path) -> io::Result<()> {
    File::open(directory_of(target))?.sync_all()
}

#[cfg(not(unix))]
fn synchronise_directory(_target: &Path) -> io::Result<()> {
    Ok(())
}

/// A file that is open for reading, and its length, which is at most `max_bytes`.
///
/// # Errors
/// [`Error::Io`] with `path`: what the operating system says, that the file is larger, or no regular file.
pub(super) fn open(path: &Path, max_bytes: u64) -> Result<(File, u64)> {
    open_bounded(path, max_bytes).map_err(|source| Error::Io { path: path.to_owned(), source })
}

fn too_large(found: &str, max_bytes: u64) -> io::Error {
    let message = format!("{found} where at most {max_bytes} bytes are read: raise the limit if that is right");
    io::Error::new(ErrorKind::FileTooLarge, message)
}

fn open_bounded(path: &Path, max_bytes: u64) -> io::Result<(File, u64)> {
    let file = regular::open(path)?;
    let metadata = file.metadata()?;
    if metadata.len() > max_bytes {
        return Err(too_large(&format!("{} bytes", metadata.len()), max_bytes));
    }
    Ok((file, metadata.len()))
}

fn read_bounded(path: &Path, max_bytes: u64) -> io::Result<Vec<u8>> {
    let (mut file, length) = open_bounded(path, max_bytes)?;
    let mut bytes = Vec::new();
    // One byte more than announced, so that the end of the file is seen without growing. Where the memory for that
    // is missing this is an error, not an abort.
    let announced = usize::try_from(length).unwrap_or(usize::MAX);
    memory::reserve(&mut bytes, announced.saturating_add(1))?;
    pieces::read(&mut file, &mut bytes, max_bytes.saturating_add(1), &pieces::steps(length))?;
    // A file that grows announces less than it gives.
    if bytes.len() as u64 > max_bytes { Err(too_large("more bytes", max_bytes)) } else { Ok(bytes) }
}
