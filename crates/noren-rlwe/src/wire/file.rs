//! Files that are replaced as a whole or not at all, and reads that are bounded.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Error, Result};
use crate::wire::header::{HEADER_BYTES, Header};
use crate::wire::kind::Kind;
use crate::wire::pieces;

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

/// Writes a file through a temporary one in the same directory: written, synchronised, then renamed.
///
/// A reader of `path` sees the old content or the new one, never a part, even after a loss of power. After any failure,
/// and after a panic in `write`, the temporary file is gone and the old one is untouched. A symbolic link stays, and what
/// it points to is replaced.
///
/// # Errors
/// [`Error::Io`] with `path`: what the operating system or `write` says, or that `path` is no regular file.
pub fn write_atomically(path: &Path, access: Access, write: impl FnOnce(&mut File) -> io::Result<()>) -> Result<()> {
    let failed = |source| Error::Io { path: path.to_owned(), source };
    make_atomically(path, access, |file| write(file).map_err(failed))
}

/// As [`write_atomically`], where what is written is made meanwhile, which may fail too.
///
/// # Errors
/// What `make` says, and [`Error::Io`] with `path`.
pub fn make_atomically<T>(path: &Path, access: Access, make: impl FnOnce(&mut File) -> Result<T>) -> Result<T> {
    let failed = |source| Error::Io { path: path.to_owned(), source };
    let target = target(path).map_err(failed)?;
    let (temporary, mut file) = create_beside(&target, access).map_err(failed)?;
    let made = make(&mut file)?;
    replace(temporary, file, &target).map_err(failed)?;
    Ok(made)
}

/// Removes what processes that were killed have left of files that were to be written here under this name. What nobody
/// writes any more is told by its lock, which nobody holds; where the system has no locks, nothing is removed.
pub fn remove_leftovers(path: &Path) {
    let Ok(target) = target(path) else { return };
    let Some(name) = target.file_name() else { return };
    let begin = hidden_start(name).to_string_lossy().into_owned();
    for entry in fs::read_dir(directory_of(&target)).into_iter().flatten().flatten() {
        let found = entry.file_name().to_string_lossy().into_owned();
        let middle = found.strip_prefix(&begin).and_then(|rest| rest.strip_suffix(HIDDEN_END));
        let counted = |text: &str| text.split('-').all(|count| count.parse::<u64>().is_ok());
        if middle.is_some_and(counted)
            && let Ok(file) = OpenOptions::new().write(true).open(entry.path())
            && file.try_lock().is_ok()
        {
            // What cannot be removed stays hidden.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Takes room for a file that will have so many bytes, where the system can: what is missing is then missed at once and
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

/// Takes room for a file that will have so many bytes, where the system can: here it cannot.
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

/// The kind of object in a file, by its first bytes; `None` if they are not those of a container.
///
/// # Errors
/// [`Error::Io`] with `path`.
pub fn kind(path: &Path) -> Result<Option<Kind>> {
    let mut bytes = Vec::with_capacity(HEADER_BYTES);
    let read = File::open(path).and_then(|file| file.take(HEADER_BYTES as u64).read_to_end(&mut bytes));
    read.map_err(|source| Error::Io { path: path.to_owned(), source })?;
    Ok(Header::parse(&bytes).ok().map(|header| header.kind))
}

/// The bytes of a file, at most `max_bytes`.
///
/// # Errors
/// [`Error::Io`] with `path`: what the operating system says, or that the file is larger.
pub fn read(path: &Path, max_bytes: u64) -> Result<Vec<u8>> {
    read_bounded(path, max_bytes).map_err(|source| Error::Io { path: path.to_owned(), source })
}

/// A file that is removed again unless it is renamed. It is locked for as long as it is written, which tells it from one
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

/// Puts a temporary file that is written in the place of another.
fn replace(mut temporary: Temporary, file: File, target: &Path) -> io::Result<()> {
    file.sync_all()?;
    fs::rename(&temporary.path, target)?;
    temporary.kept = true;
    // Not before: without its lock it might be taken for one that was left.
    drop(file);
    synchronise_directory(target)
}

/// The file that a path leads to, which must be a regular one or not exist: renaming over a device would destroy it.
fn target(path: &Path) -> io::Result<PathBuf> {
    let target = match fs::canonicalize(path) {
        Ok(target) => target,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(path.to_owned()),
        Err(error) => return Err(error),
    };
    if fs::metadata(&target)?.is_file() {
        Ok(target)
    } else {
        Err(io::Error::new(ErrorKind::InvalidInput, "not a regular file: choose another name"))
    }
}

/// How the names of temporary files begin: that of a process and a count follow.
fn hidden_start(name: &OsStr) -> OsString {
    let mut start = OsString::from(".");
    start.push(name);
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
                let _ = file.try_lock();
                // Whoever clears up may have come between.
                if fs::symlink_metadata(&path).is_ok() {
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
/// [`Error::Io`] with `path`: what the operating system says, or that the file is larger, or a directory.
pub(super) fn open(path: &Path, max_bytes: u64) -> Result<(File, u64)> {
    open_bounded(path, max_bytes).map_err(|source| Error::Io { path: path.to_owned(), source })
}

fn too_large(found: &str, max_bytes: u64) -> io::Error {
    let message = format!("{found} where at most {max_bytes} bytes are read: raise the limit if that is right");
    io::Error::new(ErrorKind::FileTooLarge, message)
}

fn open_bounded(path: &Path, max_bytes: u64) -> io::Result<(File, u64)> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(io::Error::new(ErrorKind::IsADirectory, "a directory: name a file"));
    }
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
    bytes.try_reserve_exact(announced.saturating_add(1)).map_err(|_| io::Error::from(ErrorKind::OutOfMemory))?;
    pieces::read(&mut file, &mut bytes, max_bytes.saturating_add(1))?;
    // A pipe, or a file that grows, announces less than it gives.
    if bytes.len() as u64 > max_bytes { Err(too_large("more bytes", max_bytes)) } else { Ok(bytes) }
}
