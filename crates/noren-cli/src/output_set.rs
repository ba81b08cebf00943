//! Several files that appear together, or not at all.

use std::fs::{self, DirBuilder, File, Metadata, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use noren::wire::{Destination, Existing, Form, Object};
use noren_files::encrypted;
use noren_files::passphrase::{Passphrase, Work};
use noren_rlwe::wire::file;
use noren_rlwe::wire::publish::publish;
use noren_rlwe::wire::regular;

use crate::failure::Failure;
use crate::outputs::{Force, HIDDEN, hidden, refuse_special, size};
use crate::progress;
use crate::streams::STANDARD;

/// Several files of a directory that appear together. They are written into a directory within a hidden one, and published
/// when all are there: the directory itself by one rename where it did not exist, else file by file.
///
/// A file in the hidden directory is locked for as long as the process lives. What a process that was killed has left is
/// told by a lock that nobody holds, and removed by the next one.
pub(crate) struct OutputSet {
    directory: PathBuf,
    hidden: PathBuf,
    existing: Existing,
    /// Holds the lock.
    _lock: File,
    /// Dropped last, when the hidden directory is gone.
    _parents: Parents,
}

/// The file in a hidden directory that is locked.
const LOCK: &str = "lock";

/// The directory in a hidden directory that files are written into, and the one for files that they replace.
const NEW: &str = "new";
const OLD: &str = "old";

impl OutputSet {
    /// Refuses files that exist, unless they may be replaced, and places that cannot be written to. Whether they exist is asked
    /// once more when the files are published.
    pub(crate) fn new(directory: &Path, names: &[&str], force: &Force) -> Result<Self, Failure> {
        for name in names {
            let path = directory.join(name);
            if !force.force && fs::symlink_metadata(&path).is_ok() {
                return Err(Failure::Exists { path });
            }
            refuse_special(&path)?;
        }
        if directory == Path::new(STANDARD) {
            let needed = "a directory: several files are made, and secret keys are not written to standard output";
            return Err(Failure::input(directory, "--out", "standard output", needed));
        }
        let failed = |source: io::Error| Failure::Io { path: directory.to_owned(), source };
        // Renames need one file system: within the directory if there is one, beside it if it is to be made.
        let place = match fs::metadata(directory) {
            Ok(found) if found.is_dir() => directory,
            Ok(_) => return Err(failed(ErrorKind::NotADirectory.into())),
            Err(error) if error.kind() == ErrorKind::NotFound => file::directory_of(directory),
            Err(error) => return Err(failed(error)),
        };
        let parents = Parents::make(place).map_err(failed)?;
        [directory, file::directory_of(directory)].into_iter().for_each(remove_leftovers);
        let (hidden, lock) = hidden(place, locked_directory).map_err(failed)?;
        let set = Self {
            directory: directory.to_owned(),
            hidden,
            existing: force.existing(),
            _lock: lock,
            _parents: parents,
        };
        fs::create_dir(set.hidden.join(NEW)).and_then(|()| fs::create_dir(set.hidden.join(OLD))).map_err(failed)?;
        Ok(set)
    }

    /// Writes one of the files; gives its bytes.
    pub(crate) fn write<O: Object>(&self, name: &str, context: &O::Context, object: &O) -> Result<u64, Failure> {
        self.write_with(name, |path| object.write_file(context, Form::Packed, path))
    }

    /// Writes a secret key, under a passphrase if there is one; gives its bytes.
    pub(crate) fn write_secret<O: Object<Context = ()>>(
        &self,
        name: &str,
        object: &O,
        passphrase: Option<&Passphrase>,
    ) -> Result<u64, Failure> {
        let Some(passphrase) = passphrase else { return self.write(name, &(), object) };
        self.write_with(name, |path| encrypted::write(object, &(), path, passphrase, Work::default()))
    }

    /// Writes one of the files by what is said to write it; gives its bytes.
    pub(crate) fn write_with<T, E: Into<Failure>>(
        &self,
        name: &str,
        write: impl FnOnce(&Path) -> Result<T, E>,
    ) -> Result<u64, Failure> {
        let _shown = progress::spinner(format!("writing {}", self.directory.join(name).display()));
        let path = self.hidden.join(NEW).join(name);
        let written = write(&path).map_err(Into::into);
        written.and_then(|_| size(&path)).map_err(|failure| match failure {
            // Errors name the place of the file, not the hidden one.
            Failure::Io { source, .. } => Failure::Io { path: self.directory.join(name), source },
            failure => failure,
        })
    }

    /// Publishes the files. Where one cannot be moved to its place, those that were moved before it are taken back, and what
    /// they replaced is put back.
    ///
    /// All old files leave their places before the first new one takes its own: a process that is killed in between leaves
    /// files of one of the two sets, and never of both.
    pub(crate) fn finish(self, names: &[&str]) -> Result<Vec<PathBuf>, Failure> {
        let places = names.iter().map(|name| self.directory.join(name)).collect();
        if self.hidden.parent() != Some(&self.directory) && self.publish_directory() {
            return Ok(places);
        }
        let _turn = self.turn()?;
        let mut moved = Vec::new();
        match self.move_files(names, &mut moved) {
            Ok(()) => Ok(places),
            Err(failure) => {
                moved.into_iter().rev().for_each(Moved::take_back);
                Err(failure)
            }
        }
    }

    /// Gives the new directory its name, unless there is one: an empty one, too, may be that of another run, which has moved
    /// the old files away and is about to publish its own.
    fn publish_directory(&self) -> bool {
        let new = self.hidden.join(NEW);
        publish(&new, Destination::keeping(&self.directory)).is_ok()
            // Where no rename refuses to replace.
            || (fs::symlink_metadata(&self.directory).is_err() && fs::rename(new, &self.directory).is_ok())
    }

    fn move_files(&self, names: &[&str], moved: &mut Vec<Moved>) -> Result<(), Failure> {
        if let ([name], Existing::Replace) = (names, self.existing) {
            // One file replaces the old one without a moment in between.
            let place = self.directory.join(name);
            return Ok(publish(&self.hidden.join(NEW).join(name), Destination::from(&place))?);
        }
        if self.existing == Existing::Replace {
            for name in names {
                moved.extend(Moved::aside(&self.directory.join(name), self.hidden.join(OLD).join(name))?);
            }
        }
        for name in names {
            moved.push(Moved::publish(&self.hidden.join(NEW).join(name), self.directory.join(name))?);
        }
        Ok(())
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
        // A file that cannot be removed is hidden and holds nothing that is used; the first error matters more.
        let _ = remove_hidden(&self.hidden);
    }
}

/// Directories that were made for others within; those that are empty when this is dropped are removed.
struct Parents(Vec<PathBuf>);

impl Parents {
    /// Makes a directory with those above it that are missing.
    fn make(directory: &Path) -> io::Result<Self> {
        let missing = |path: &&Path| !path.as_os_str().is_empty() && fs::symlink_metadata(path).is_err();
        let missing: Vec<PathBuf> = directory.ancestors().take_while(missing).map(Path::to_owned).collect();
        let mut made = Self(Vec::new());
        for path in missing.into_iter().rev() {
            match fs::create_dir(&path) {
                Ok(()) => made.0.push(path),
                // Another run makes keys below the same directory.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Ok(made)
    }
}

impl Drop for Parents {
    fn drop(&mut self) {
        // One that holds files is not empty, and stays.
        self.0.iter().rev().for_each(|path| drop(fs::remove_dir(path)));
    }
}

/// A file that was moved.
enum Moved {
    /// From its place to another, out of the way.
    Aside { place: PathBuf, kept: PathBuf },
    /// To its place; what tells it from a file that somebody has put there since.
    Published { place: PathBuf, identity: Option<Metadata> },
}

impl Moved {
    /// Moves an old file out of the way, if there is one.
    fn aside(place: &Path, kept: PathBuf) -> Result<Option<Self>, Failure> {
        if fs::symlink_metadata(place).is_ok_and(|found| found.is_dir()) {
            return Err(Failure::Io { path: place.to_owned(), source: ErrorKind::IsADirectory.into() });
        }
        match fs::rename(place, &kept) {
            Ok(()) => Ok(Some(Self::Aside { place: place.to_owned(), kept })),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(source) => Err(Failure::Io { path: place.to_owned(), source }),
        }
    }

    /// Moves a new file to its place, where no file is.
    fn publish(from: &Path, place: PathBuf) -> Result<Self, Failure> {
        let identity = fs::metadata(from).ok();
        publish(from, Destination::keeping(&place))?;
        Ok(Self::Published { place, identity })
    }

    /// Undoes the move. What fails here stays as it is: the first error matters more.
    fn take_back(self) {
        match self {
            Self::Aside { place, kept } => drop(publish(&kept, Destination::keeping(&place))),
            Self::Published { place, identity } => {
                if identity.is_some_and(|ours| is_still_at(&place, &ours)) {
                    drop(fs::remove_file(&place));
                }
            }
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

/// A new directory for this process alone, with a lock.
fn locked_directory(path: &Path) -> io::Result<File> {
    owners_directory().create(path)?;
    let lock = File::create_new(path.join(LOCK)).map_err(|error| match fs::remove_dir(path) {
        // Removed while it was empty: another name is tried.
        Err(gone) if gone.kind() == ErrorKind::NotFound => ErrorKind::AlreadyExists.into(),
        _ => error,
    })?;
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
        if !ours || entry.file_type().is_ok_and(|found| !found.is_dir()) {
            continue;
        }
        // A file that cannot be removed stays hidden. The lock is held meanwhile; a directory without one is about to get it, or
        // was being removed, and then it is empty.
        let _ = match regular::open_leftover(&entry.path().join(LOCK)) {
            Ok(lock) if lock.try_lock().is_ok() => remove_hidden(&entry.path()),
            Ok(_) => Ok(()),
            Err(_) => fs::remove_dir(entry.path()),
        };
    }
}

/// Removes a hidden directory, its lock after all else: a process that is killed meanwhile leaves the rest to the next one.
fn remove_hidden(directory: &Path) -> io::Result<()> {
    for name in [NEW, OLD] {
        match fs::remove_dir_all(directory.join(name)) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    fs::remove_file(directory.join(LOCK))?;
    fs::remove_dir(directory)
}

#[cfg(all(test, unix))]
mod tests {
    use std::env;
    use std::os::unix::fs::MetadataExt;

    use super::*;

    #[test]
    fn hidden_directories_of_processes_that_are_gone_are_removed_wherever_they_were_killed() {
        let parent = env::temp_dir().join(format!("noren-leftovers-{}", std::process::id()));
        let [begin, end] = HIDDEN;
        let place = |name: &str| parent.join(format!("{begin}{name}{end}"));
        for (name, parts) in [("begun", vec![]), ("old", vec![LOCK, NEW, OLD]), ("removed", vec![LOCK, OLD])] {
            fs::create_dir_all(place(name)).expect("room");
            for part in parts {
                match part {
                    LOCK => fs::write(place(name).join(LOCK), "").expect("room"),
                    part => fs::create_dir(place(name).join(part)).expect("room"),
                }
            }
        }
        fs::write(place("old").join(OLD).join("secret.key"), "an old secret").expect("room");
        let (live, _lock) = hidden(&parent, locked_directory).expect("room");
        remove_leftovers(&parent);
        let left: Vec<PathBuf> = fs::read_dir(&parent).expect("there").flatten().map(|entry| entry.path()).collect();
        assert_eq!(left, [live]);
        // Only the lock and the directory are left to be removed at the end.
        fs::write(left[0].join("foreign"), "").expect("room");
        assert!(remove_hidden(&left[0]).is_err() && !left[0].join(LOCK).exists());
        fs::remove_dir_all(parent).expect("its own");
    }

    #[test]
    fn a_directory_that_another_run_has_made_meanwhile_is_kept() {
        let parent = env::temp_dir().join(format!("noren-output-set-{}", std::process::id()));
        let directory = parent.join("keys");
        let set = OutputSet::new(&directory, &["a"], &Force { force: true }).expect("a place");
        set.write_with("a", |path| fs::write(path, "new").map_err(|source| Failure::Io { path: path.into(), source }))
            .expect("room");
        // The other run has moved its files away for a moment.
        fs::create_dir(&directory).expect("the parent is there");
        let inode = || fs::metadata(&directory).expect("a directory").ino();
        let before = inode();
        set.finish(&["a"]).expect("published");
        assert_eq!((inode(), fs::read_to_string(directory.join("a")).expect("a file").as_str()), (before, "new"));
        fs::remove_dir_all(parent).expect("its own");
    }
}
