//! Names that stand for the streams of the process.

use std::path::Path;

/// The name that stands for standard input and standard output.
pub(crate) const STANDARD: &str = "-";

/// Whether a name stands for standard input: `-`, or one of its names among the devices.
pub(crate) fn names_standard_input(path: &Path) -> bool {
    [STANDARD, "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"].iter().any(|name| path == Path::new(name))
}

/// Whether a name stands for standard output: `-`, its names among the devices, and links that lead to the same pipe or device.
pub(crate) fn names_standard_output(path: &Path) -> bool {
    [STANDARD, "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].iter().any(|name| path == Path::new(name))
        || leads_to_standard_output(path)
}

#[cfg(unix)]
fn leads_to_standard_output(path: &Path) -> bool {
    use std::fs::{self, File};
    use std::io;
    use std::os::fd::AsFd;
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    let Ok(found) = fs::metadata(path) else { return false };
    // A regular file gets its content by a rename.
    if !(found.file_type().is_fifo() || found.file_type().is_char_device()) {
        return false;
    }
    let own = io::stdout().as_fd().try_clone_to_owned().and_then(|own| File::from(own).metadata());
    own.is_ok_and(|own| (own.dev(), own.ino()) == (found.dev(), found.ino()))
}

#[cfg(not(unix))]
fn leads_to_standard_output(_path: &Path) -> bool {
    false
}
