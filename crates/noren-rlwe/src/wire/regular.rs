//! Regular files: other entries of a directory are refused by their type, before anything waits for them.

use std::fs::{self, File, FileType, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::Path;

/// Opens a regular file for reading.
///
/// Directories, FIFOs, sockets and devices are refused by their type: no byte of them is read, and a FIFO without a writer is
/// not waited for. The type is that of the open file, so that a name that changes meanwhile does not matter; it is asked for
/// before opening too, because opening a device can have effects.
///
/// # Errors
/// The error of the operating system, or the kind of file that stands in place of a regular one.
pub fn open(path: &Path) -> io::Result<File> {
    check(&fs::metadata(path)?)?;
    open_checked(path, OpenOptions::new().read(true), false)
}

/// Opens a regular file of a name that a process may have left, for its lock. Symbolic links are not followed.
///
/// # Errors
/// As [`open`], and for a symbolic link.
pub fn open_leftover(path: &Path) -> io::Result<File> {
    check(&fs::symlink_metadata(path)?)?;
    open_checked(path, OpenOptions::new().write(true), true)
}

/// Refuses a place for a file where something else is, also behind links: a rename would put a file in the place of a device.
///
/// # Errors
/// The kind of file that stands there.
pub fn check_place(path: &Path) -> io::Result<()> {
    fs::metadata(path).map_or(Ok(()), |found| check(&found))
}

/// Opens without waiting; refuses what is no regular file by the type of the open file.
fn open_checked(path: &Path, options: &mut OpenOptions, refuse_links: bool) -> io::Result<File> {
    never_wait(options, refuse_links);
    let file = options.open(path)?;
    check(&file.metadata()?)?;
    Ok(file)
}

/// Refuses what is no regular file.
pub(super) fn check(metadata: &Metadata) -> io::Result<()> {
    let found = metadata.file_type();
    if found.is_file() {
        return Ok(());
    }
    if found.is_dir() {
        return Err(io::Error::new(ErrorKind::IsADirectory, "a directory: name a file"));
    }
    let message = format!("{} where a regular file is needed: write its content to a file first", name(found));
    Err(io::Error::new(ErrorKind::InvalidInput, message))
}

#[cfg(unix)]
fn name(found: FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    if found.is_fifo() {
        "a FIFO"
    } else if found.is_socket() {
        "a socket"
    } else if found.is_char_device() || found.is_block_device() {
        "a device"
    } else if found.is_symlink() {
        "a symbolic link"
    } else {
        "no regular file"
    }
}

#[cfg(not(unix))]
fn name(found: FileType) -> &'static str {
    if found.is_symlink() { "a symbolic link" } else { "no regular file" }
}

/// Opening then waits for no writer of a FIFO and for no device, and takes no terminal.
#[cfg(unix)]
fn never_wait(options: &mut OpenOptions, refuse_links: bool) {
    use rustix::fs::OFlags;
    use std::os::unix::fs::OpenOptionsExt;
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY | if refuse_links { OFlags::NOFOLLOW } else { OFlags::empty() };
    options.custom_flags(flags.bits().cast_signed());
}

#[cfg(not(unix))]
fn never_wait(_options: &mut OpenOptions, _refuse_links: bool) {}
