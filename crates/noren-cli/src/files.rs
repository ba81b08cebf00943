//! noren's own files, and which outputs may be written.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Args;
use noren::wire::{FileContext, FileKey, Form, Kind, Limits, Object};
use noren::{Security, bfv, tfhe};
use noren_files::encrypted;
use noren_rlwe::wire::file;
use noren_rlwe::wire::header::{HEADER_BYTES, Header};
use noren_rlwe::wire::items::Items;
use noren_rlwe::wire::key_file::KeyFile;
use noren_rlwe::wire::publish::{Destination, Existing};
use noren_rlwe::wire::regular;
use zeroize::Zeroizing;

use crate::console::Console;
use crate::describe::Describe;
use crate::failure::Failure;
use crate::output_set::hidden;

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

/// Reads a key with its parameters; refuses those that promise too little security.
pub(crate) fn read_key<C: FileContext<Parameters: Describe>, K: FileKey<C>>(
    path: &Path,
    console: &Console,
) -> Result<KeyFile<C, K>, Failure> {
    let key: KeyFile<C, K> = read_perhaps_decrypted(path, console)?;
    admit(key.context.parameters(), path, console)?;
    Ok(key)
}

/// Reads a key of TFHE with its parameters; refuses those that promise too little security.
pub(crate) fn read_tfhe_key<K: tfhe::wire::FileKey>(
    path: &Path,
    console: &Console,
) -> Result<tfhe::KeyFile<K>, Failure> {
    let file: tfhe::KeyFile<K> = read_perhaps_decrypted(path, console)?;
    admit_security(file.parameters.spec().torus.security, path, console)?;
    Ok(file)
}

/// Maps expanded server keys of TFHE; refuses those whose parameters promise too little security.
pub(crate) fn map_tfhe_keys(path: &Path, console: &Console) -> Result<tfhe::ServerKeyFile, Failure> {
    console.inputs().verify(path)?;
    let file = tfhe::ServerKeyFile::map(path, &Limits::default(), None).map_err(Failure::file(path))?;
    admit_security(file.context.parameters().spec().torus.security, path, console)?;
    Ok(file)
}

/// Reads parameters; refuses those that promise too little security.
pub(crate) fn read_parameters<P: Object<Context = ()> + Describe>(
    path: &Path,
    console: &Console,
) -> Result<P, Failure> {
    let parameters: P = console.inputs().read(&(), path)?;
    admit(&parameters, path, console)?;
    Ok(parameters)
}

/// Reads parameters that are not used but shown; warns where they promise no security.
pub(crate) fn read_parameters_to_show<P: Object<Context = ()> + Describe>(
    path: &Path,
    console: &Console,
) -> Result<P, Failure> {
    let parameters: P = console.inputs().read(&(), path)?;
    warn_of(parameters.rlwe().security(), path, console);
    Ok(parameters)
}

/// The parameters of exact integers in a file of them, or in one of keys, of which no more is read; refuses those that
/// promise too little security.
pub(crate) fn read_integer_parameters(path: &Path, console: &Console) -> Result<bfv::Parameters, Failure> {
    /// More bytes than parameters and their frame take.
    const MOST_BYTES: u64 = 1 << 16;
    let kind = kind(path)?;
    match kind {
        Kind::IntegerSecretKey | Kind::IntegerPublicKey | Kind::IntegerEvaluationKeys | Kind::LookupKeys => {}
        _ => return read_parameters(path, console),
    }
    if !kind.is_secret() {
        console.inputs().verify(path)?;
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
    admit(&parameters, path, console)?;
    Ok(parameters)
}

/// Reads a key; a secret one may be under a passphrase, and is not kept in any other form.
fn read_perhaps_decrypted<K: Object<Context = ()>>(path: &Path, console: &Console) -> Result<K, Failure> {
    let decrypted = if K::KIND.is_secret() { console.inputs().decrypted(path)? } else { None };
    let Some(content) = decrypted else {
        return console.inputs().read(&(), path);
    };
    let key = K::from_bytes(&(), &content).map_err(Failure::file(path));
    console.inputs().forget();
    key
}

/// Reads what belongs to a context, such as an encrypted table.
pub(crate) fn read<O: Object>(context: &O::Context, path: &Path, console: &Console) -> Result<O, Failure> {
    console.inputs().read(context, path)
}

/// The bytes of any of noren's files, which may be secret.
pub(crate) fn read_bytes(path: &Path) -> Result<Zeroizing<Vec<u8>>, Failure> {
    Ok(Zeroizing::new(file::read(path, Limits::default().max_bytes)?))
}

/// The kind of key in a file; a secret one may be under a passphrase, which is then asked for.
pub(crate) fn key_kind(path: &Path, console: &Console) -> Result<Kind, Failure> {
    match console.inputs().decrypted(path)? {
        Some(content) => {
            let header = Header::parse(&content).map_err(|reason| noren::Error::Wire { what: "the key", reason });
            Ok(header.map_err(Failure::file(path))?.kind)
        }
        None => kind(path),
    }
}

/// The kind of object in a file, by its first bytes.
pub(crate) fn kind(path: &Path) -> Result<Kind, Failure> {
    let mut bytes = Vec::with_capacity(HEADER_BYTES);
    let read = regular::open(path).and_then(|file| file.take(HEADER_BYTES as u64).read_to_end(&mut bytes));
    read.map_err(|source| Failure::Io { path: path.to_owned(), source })?;
    if encrypted::is_encrypted(&bytes) {
        let (found, needed) = ("a file under a passphrase".to_owned(), "one in clear".to_owned());
        return Err(Failure::file(path)(noren::Error::WrongKind { found, needed }));
    }
    let header = Header::parse(&bytes).map_err(|reason| noren::Error::Wire { what: "the file", reason });
    Ok(header.map_err(Failure::file(path))?.kind)
}

/// Refuses parameters that promise less security than is asked for; warns of those that promise none.
pub(crate) fn admit(parameters: &impl Describe, path: &Path, console: &Console) -> Result<(), Failure> {
    admit_security(parameters.rlwe().security(), path, console)
}

fn admit_security(found: Security, path: &Path, console: &Console) -> Result<(), Failure> {
    let needed = console.min_security();
    if found < needed {
        return Err(Failure::Insecure { path: path.to_owned(), found, needed });
    }
    warn_of(found, path, console);
    Ok(())
}

fn warn_of(security: Security, path: &Path, console: &Console) {
    if security == Security::None {
        console.warn(format_args!("{}: these parameters promise no security", path.display()));
    }
}
