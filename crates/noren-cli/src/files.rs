//! noren's own files, and which outputs may be written.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use clap::Args;
use noren::wire::{FileContext, FileKey, Form, Kind, Limits, Object};
use noren::{Security, bfv, tfhe};
use noren_rlwe::wire::file;
use noren_rlwe::wire::header::{HEADER_BYTES, Header};
use noren_rlwe::wire::items::Items;
use noren_rlwe::wire::key_file::KeyFile;
use zeroize::Zeroizing;

use crate::console::Console;
use crate::describe::Describe;
use crate::failure::Failure;

/// The argument that lets outputs be replaced.
#[derive(Debug, Args)]
pub(crate) struct Force {
    /// Replace outputs that exist
    #[arg(long)]
    pub(crate) force: bool,
}

/// A file that may be written.
pub(crate) struct Output(PathBuf);

impl Output {
    /// Refuses, before any work, a file that exists, unless it may be replaced, and one that cannot be written; removes
    /// what an interrupted run has left of it.
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
        let trial = hidden_in(directory);
        File::create_new(&trial).and_then(|_| fs::remove_file(&trial)).map_err(|error| failed(path, error))?;
        file::remove_leftovers(path);
        Ok(Self(path.to_owned()))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Writes an object, as a whole or not at all; gives the bytes of the file.
    pub(crate) fn write<O: Object>(&self, context: &O::Context, object: &O) -> Result<u64, Failure> {
        object.write_file(context, Form::Packed, &self.0)?;
        size(&self.0)
    }
}

/// Bytes of a file.
pub(crate) fn size(path: &Path) -> Result<u64, Failure> {
    let found = fs::metadata(path).map_err(|source| Failure::Io { path: path.to_owned(), source })?;
    Ok(found.len())
}

/// Reads a key with its parameters; warns where they promise no security.
pub(crate) fn read_key<C: FileContext<Parameters: Describe>, K: FileKey<C>>(
    path: &Path,
    console: &Console,
) -> Result<KeyFile<C, K>, Failure> {
    let key = KeyFile::<C, K>::read_file(&(), path, &Limits::default()).map_err(Failure::file(path))?;
    warn_if_insecure(key.context.parameters(), path, console);
    Ok(key)
}

/// Reads a key of TFHE with its parameters; warns where they promise no security.
pub(crate) fn read_tfhe_key<K: tfhe::wire::FileKey>(
    path: &Path,
    console: &Console,
) -> Result<tfhe::KeyFile<K>, Failure> {
    let file = tfhe::KeyFile::<K>::read_file(&(), path, &Limits::default()).map_err(Failure::file(path))?;
    warn_if_not_secure(file.parameters.spec().torus.security, path, console);
    Ok(file)
}

/// Maps expanded server keys of TFHE; warns where their parameters promise no security.
pub(crate) fn map_tfhe_keys(path: &Path, console: &Console) -> Result<tfhe::ServerKeyFile, Failure> {
    let file = tfhe::ServerKeyFile::map(path, &Limits::default(), None).map_err(Failure::file(path))?;
    warn_if_not_secure(file.context.parameters().spec().torus.security, path, console);
    Ok(file)
}

/// Reads parameters; warns where they promise no security.
pub(crate) fn read_parameters<P: Object<Context = ()> + Describe>(
    path: &Path,
    console: &Console,
) -> Result<P, Failure> {
    let parameters = P::read_file(&(), path, &Limits::default()).map_err(Failure::file(path))?;
    warn_if_insecure(&parameters, path, console);
    Ok(parameters)
}

/// The parameters of exact integers in a file of them, or in one of keys, of which no more is read; warns where they promise
/// no security.
pub(crate) fn read_integer_parameters(path: &Path, console: &Console) -> Result<bfv::Parameters, Failure> {
    /// More bytes than parameters and their frame take.
    const MOST_BYTES: u64 = 1 << 16;
    let kind = kind(path)?;
    match kind {
        Kind::IntegerSecretKey | Kind::IntegerPublicKey | Kind::IntegerEvaluationKeys | Kind::LookupKeys => {}
        _ => return read_parameters(path, console),
    }
    let mut items = Items::open(path, kind, &Limits::default()).map_err(Failure::file(path))?;
    let parameters = items.read(1, MOST_BYTES).and_then(|reader| {
        let missing = || noren::Error::Wire { what: kind.name(), reason: noren::wire::Reason::Fingerprint };
        let mut reader = reader.ok_or_else(missing)?;
        let parameters = bfv::Parameters::read(&(), &mut reader)?;
        reader.finish()?;
        Ok(parameters)
    });
    let parameters = parameters.map_err(Failure::file(path))?;
    warn_if_insecure(&parameters, path, console);
    Ok(parameters)
}

/// Reads what belongs to a context, such as an encrypted table.
pub(crate) fn read<O: Object>(context: &O::Context, path: &Path) -> Result<O, Failure> {
    O::read_file(context, path, &Limits::default()).map_err(Failure::file(path))
}

/// The bytes of any of noren's files, which may be secret.
pub(crate) fn read_bytes(path: &Path) -> Result<Zeroizing<Vec<u8>>, Failure> {
    Ok(Zeroizing::new(file::read(path, Limits::default().max_bytes)?))
}

/// The kind of object in a file, by its first bytes.
pub(crate) fn kind(path: &Path) -> Result<Kind, Failure> {
    let mut bytes = Vec::with_capacity(HEADER_BYTES);
    let read = File::open(path).and_then(|file| file.take(HEADER_BYTES as u64).read_to_end(&mut bytes));
    read.map_err(|source| Failure::Io { path: path.to_owned(), source })?;
    let header = Header::parse(&bytes).map_err(|reason| noren::Error::Wire { what: "the file", reason });
    Ok(header.map_err(Failure::file(path))?.kind)
}

/// A directory for several files that appear together: they are written into a hidden directory beside their places
/// and moved when all are there.
///
/// A file in the hidden directory is locked for as long as the process lives. What a process that was killed has left is
/// told by a lock that nobody holds, and removed by the next one.
pub(crate) struct OutputSet {
    directory: PathBuf,
    hidden: PathBuf,
    created: bool,
    /// Holds the lock.
    _lock: File,
}

/// The file in a hidden directory that is locked.
const LOCK: &str = "lock";

impl OutputSet {
    /// Refuses files that exist, unless they may be replaced; makes the directory.
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
        let hidden = hidden_in(directory);
        let lock = fs::create_dir(&hidden).and_then(|()| File::create_new(hidden.join(LOCK)));
        let lock = lock.map_err(|error| {
            let _ = fs::remove_dir(&hidden);
            if created {
                let _ = fs::remove_dir(directory);
            }
            failed(directory, error)
        })?;
        // Where the system has no locks, nothing is removed either.
        let _ = lock.try_lock();
        Ok(Self { directory: directory.to_owned(), hidden, created, _lock: lock })
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
            // What the user knows is where the file was to be.
            Failure::Io { source, .. } => Failure::Io { path: self.directory.join(name), source },
            failure => failure,
        })
    }

    /// Moves the files to their places; gives where they are.
    pub(crate) fn finish(mut self, names: &[&str]) -> Result<Vec<PathBuf>, Failure> {
        let mut places = Vec::new();
        for name in names {
            let place = self.directory.join(name);
            fs::rename(self.hidden.join(name), &place).map_err(|source| Failure::Io { path: place.clone(), source })?;
            places.push(place);
            // From the first file on, the directory stays.
            self.created = false;
        }
        Ok(places)
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

/// How hidden names begin and end.
const HIDDEN: [&str; 2] = [".noren-", ".tmp"];

/// A name that nothing else in a directory has.
fn hidden_in(directory: &Path) -> PathBuf {
    let [begin, end] = HIDDEN;
    directory.join(format!("{begin}{}{end}", std::process::id()))
}

/// Removes the hidden directories of processes that are gone.
fn remove_leftovers(directory: &Path) {
    let [begin, end] = HIDDEN;
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let ours = entry.file_name().to_str().is_some_and(|name| name.starts_with(begin) && name.ends_with(end));
        let lock = || File::options().write(true).open(entry.path().join(LOCK));
        if ours && lock().is_ok_and(|lock| lock.try_lock().is_ok()) {
            // What cannot be removed stays hidden.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Warns of parameters that promise no security.
pub(crate) fn warn_if_insecure(parameters: &impl Describe, path: &Path, console: &Console) {
    warn_if_not_secure(parameters.rlwe().security(), path, console);
}

fn warn_if_not_secure(security: Security, path: &Path, console: &Console) {
    if security == Security::None {
        console.warn(format_args!("{}: these parameters promise no security", path.display()));
    }
}
