//! Names that stand for the streams of the process.

use std::path::Path;

/// Whether a name stands for standard input.
pub(crate) fn names_standard_input(path: &Path) -> bool {
    ["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"].iter().any(|name| path == Path::new(name))
}
