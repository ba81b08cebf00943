//! Files that are written get their names: in the place of others, or only where there is none.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::Path;

use crate::error::{Error, Result};

/// The policy for a file that has the name already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// It is replaced.
    Replace,
    /// It is kept, and the new one is refused. Of two writers at once, in this process or in others, at most one succeeds.
    Keep,
}

/// Where a file is to be. A path by itself replaces what is there.
///
/// ```
/// use noren_rlwe::wire::publish::{Destination, Existing};
/// use std::path::Path;
///
/// let path = Path::new("keys/secret.key");
/// assert_eq!(Destination::from(path).existing, Existing::Replace);
/// assert_eq!(Destination::keeping(path).existing, Existing::Keep);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Destination<'p> {
    /// The name.
    pub path: &'p Path,
    /// The policy for a file of this name.
    pub existing: Existing,
}

impl<'p> Destination<'p> {
    /// A name that no file may have.
    #[must_use]
    pub const fn keeping(path: &'p Path) -> Self {
        Self { path, existing: Existing::Keep }
    }
}

impl<'p, P: AsRef<Path> + ?Sized> From<&'p P> for Destination<'p> {
    fn from(path: &'p P) -> Self {
        Self { path: path.as_ref(), existing: Existing::Replace }
    }
}

/// Moves a file to its name in the same file system: at once, so that nobody sees a part of it.
///
/// With [`Existing::Keep`], the system refuses a name that exists: by a rename that does not replace (Linux, macOS), or by a
/// second link where the file system has no such rename. Where it has no links either (FAT), the name is first taken by an
/// empty file, which a process that is killed in between leaves; two writers never both succeed there either.
///
/// # Errors
/// [`Error::Exists`] for a name that exists and is kept, [`Error::Io`] with the name.
pub fn publish(from: &Path, to: Destination<'_>) -> Result<()> {
    let Destination { path, existing } = to;
    let moved = match existing {
        Existing::Replace => fs::rename(from, path),
        Existing::Keep => {
            WAYS.iter().find_map(|way| way(from, path)).unwrap_or_else(|| Err(ErrorKind::Unsupported.into()))
        }
    };
    moved.map_err(|source| match (existing, source.kind()) {
        (Existing::Keep, ErrorKind::AlreadyExists) => Error::Exists { path: path.to_owned() },
        _ => Error::Io { path: path.to_owned(), source },
    })
}

/// A way to give a file a name that no file has; `None` where the file system does not know it.
type Way = fn(&Path, &Path) -> Option<io::Result<()>>;

/// In the order in which they are tried.
const WAYS: [Way; 3] = [rename, link, reserve];

/// By a rename that refuses to replace.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn rename(from: &Path, to: &Path) -> Option<io::Result<()>> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Err(Errno::NOSYS | Errno::INVAL | Errno::OPNOTSUPP) => None,
        done => Some(done.map_err(Into::into)),
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn rename(_from: &Path, _to: &Path) -> Option<io::Result<()>> {
    None
}

/// By a second name, which is never that of another file; then the first name goes.
fn link(from: &Path, to: &Path) -> Option<io::Result<()>> {
    match fs::hard_link(from, to) {
        Ok(()) => {
            // A hidden name that cannot be removed is the next run's to remove.
            let _ = fs::remove_file(from);
            Some(Ok(()))
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Some(Err(error)),
        Err(_) => None,
    }
}

/// By an empty file, which only one process can make, and which is then replaced.
fn reserve(from: &Path, to: &Path) -> Option<io::Result<()>> {
    let moved = File::create_new(to).and_then(|_| {
        fs::rename(from, to).inspect_err(|_| {
            // The first error matters more.
            let _ = fs::remove_file(to);
        })
    });
    Some(moved)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::Barrier;
    use std::thread;

    use super::*;

    fn directory(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("noren-publish-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).expect("a writable temporary directory");
        path
    }

    #[test]
    fn no_way_replaces_a_file_and_one_of_many_racers_wins() {
        const RACERS: usize = 8;
        for (index, way) in WAYS.into_iter().enumerate() {
            let directory = directory(&index.to_string());
            let to = directory.join("to");
            for round in 0..50 {
                let barrier = Barrier::new(RACERS);
                let race = |racer: usize| {
                    let from = directory.join(format!("from-{racer}"));
                    fs::write(&from, racer.to_string()).expect("writable");
                    barrier.wait();
                    way(&from, &to)
                };
                let outcomes = thread::scope(|scope| {
                    let racers: Vec<_> = (0..RACERS).map(|racer| scope.spawn(move || race(racer))).collect();
                    racers.into_iter().map(|racer| racer.join().expect("no panic")).collect::<Vec<_>>()
                });
                if outcomes.iter().all(Option::is_none) {
                    // Not on this file system.
                    continue;
                }
                let winners = outcomes.iter().enumerate().filter(|(_, done)| matches!(done, Some(Ok(()))));
                let winners: Vec<usize> = winners.map(|(racer, _)| racer).collect();
                assert_eq!(winners.len(), 1, "way {index}, round {round}: {outcomes:?}");
                let lost = |done: &&Option<io::Result<()>>| matches!(done, Some(Err(error)) if error.kind() == ErrorKind::AlreadyExists);
                assert_eq!(outcomes.iter().filter(lost).count(), RACERS - 1, "{outcomes:?}");
                assert_eq!(fs::read(&to).expect("there"), winners[0].to_string().into_bytes());
                fs::remove_file(&to).expect("own file");
            }
            fs::remove_dir_all(&directory).expect("own directory");
        }
    }

    #[test]
    fn a_link_that_leads_nowhere_is_a_file_too() {
        let directory = directory("link");
        let (from, to) = (directory.join("from"), directory.join("to"));
        #[cfg(unix)]
        for way in WAYS {
            fs::write(&from, b"new").expect("writable");
            std::os::unix::fs::symlink("nowhere", &to).expect("writable");
            assert!(way(&from, &to).is_none_or(|done| done.is_err_and(|e| e.kind() == ErrorKind::AlreadyExists)));
            assert!(!directory.join("nowhere").exists() && from.exists());
            fs::remove_file(&to).expect("own link");
        }
        fs::write(&from, b"new").expect("writable");
        fs::write(&to, b"old").expect("writable");
        let refused = publish(&from, Destination::keeping(&to));
        assert!(matches!(refused, Err(Error::Exists { path }) if path == to));
        assert_eq!(fs::read(&to).expect("there"), b"old");
        publish(&from, Destination::from(&to)).expect("replaced");
        assert_eq!(fs::read(&to).expect("there"), b"new");
        fs::remove_dir_all(&directory).expect("own directory");
    }
}
