//! noren's own files.

use std::path::Path;

use noren::wire::{ExpandedFileKey, FileContext, FileKey, Kind, Limits, Object};
use noren::{EvaluationKeys, Security};
use noren_rlwe::wire::file;
use noren_rlwe::wire::header::Header;
use noren_rlwe::wire::key_file::KeyFile;
use zeroize::Zeroizing;

use crate::console::Console;
use crate::describe::Describe;
use crate::failure::Failure;
use crate::streams::names_standard_input;
use crate::takes::Takes;

/// Reads a text of at most `max_bytes` bytes; `needed` says what it holds.
pub(crate) fn read_text(path: &Path, max_bytes: u64, needed: &str) -> Result<String, Failure> {
    let text = String::from_utf8(file::read(path, max_bytes)?);
    text.map_err(|error| Failure::input(path, "the file", error.utf8_error(), needed))
}

/// Reads a key with its parameters; refuses those that promise too little security.
pub(crate) fn read_key<C: FileContext<Parameters: Describe>, K: FileKey<C>>(
    path: &Path,
    takes: &Takes,
    console: &Console,
) -> Result<KeyFile<C, K>, Failure> {
    let key: KeyFile<C, K> = read_perhaps_decrypted(path, takes, console)?;
    admit(key.context.parameters(), path, console)?;
    Ok(key)
}

/// Reads a file, or maps one of the expanded kind.
pub(crate) fn read_or_map<K: Object<Context = ()>>(
    path: &Path,
    expanded: Kind,
    map: impl FnOnce(&Path, &Limits) -> noren::Result<K>,
    takes: &Takes,
    console: &Console,
) -> Result<K, Failure> {
    if console.inputs().kind(path, takes)? != expanded {
        return console.inputs().read(&(), path, takes);
    }
    console.inputs().verify(path, takes)?;
    map(path, &Limits::default()).map_err(Failure::file(path))
}

/// Reads evaluation keys with their parameters, or maps those of an expanded file; refuses those that promise too little security.
pub(crate) fn open_evaluation_keys<C: FileContext<Parameters: Describe>>(
    path: &Path,
    takes: &Takes,
    console: &Console,
) -> Result<KeyFile<C, EvaluationKeys>, Failure>
where
    EvaluationKeys: ExpandedFileKey<C>,
{
    let expanded = KeyFile::<C, EvaluationKeys>::EXPANDED_KIND;
    let keys: KeyFile<C, EvaluationKeys> = read_or_map(path, expanded, KeyFile::map, takes, console)?;
    admit(keys.context.parameters(), path, console)?;
    Ok(keys)
}

/// Reads parameters; refuses those that promise too little security.
pub(crate) fn read_parameters<P: Object<Context = ()> + Describe>(
    path: &Path,
    takes: &Takes,
    console: &Console,
) -> Result<P, Failure> {
    let parameters: P = console.inputs().read(&(), path, takes)?;
    admit(&parameters, path, console)?;
    Ok(parameters)
}

/// Reads parameters that are not used but shown; warns where they promise no security.
pub(crate) fn read_parameters_to_show<P: Object<Context = ()> + Describe>(
    path: &Path,
    takes: &Takes,
    console: &Console,
) -> Result<P, Failure> {
    let parameters: P = console.inputs().read(&(), path, takes)?;
    warn_of(parameters.rlwe().security(), path, console);
    Ok(parameters)
}

/// Reads a key; a secret one may be under a passphrase, and is not kept in any other form.
pub(crate) fn read_perhaps_decrypted<K: Object<Context = ()>>(
    path: &Path,
    takes: &Takes,
    console: &Console,
) -> Result<K, Failure> {
    let decrypted = if K::KIND.is_secret() { console.inputs().decrypted_for(path, takes)? } else { None };
    let Some(content) = decrypted else {
        return console.inputs().read(&(), path, takes);
    };
    let key = K::from_bytes(&(), &content).map_err(Failure::file(path));
    console.inputs().forget();
    key
}

/// Reads what belongs to a context, such as an encrypted table.
pub(crate) fn read<O: Object>(
    context: &O::Context,
    path: &Path,
    takes: &Takes,
    console: &Console,
) -> Result<O, Failure> {
    console.inputs().read(context, path, takes)
}

/// The bytes of any of noren's files, or of standard input, which may be secret.
pub(crate) fn read_bytes(path: &Path, console: &Console) -> Result<Zeroizing<Vec<u8>>, Failure> {
    Ok(Zeroizing::new(console.inputs().bytes(path, Limits::default().max_bytes)?))
}

/// The kind of key in a file; a secret one may be under a passphrase, which is then asked for.
pub(crate) fn key_kind(path: &Path, takes: &Takes, console: &Console) -> Result<Kind, Failure> {
    if names_standard_input(path) {
        return console.inputs().kind(path, takes);
    }
    match console.inputs().decrypted_for(path, takes)? {
        Some(content) => {
            let header = Header::parse(&content).map_err(|reason| noren::Error::Wire { what: "the key", reason });
            let kind = header.map_err(Failure::file(path))?.kind;
            takes.check(path, kind)?;
            Ok(kind)
        }
        None => console.inputs().kind(path, takes),
    }
}

/// Refuses parameters that promise less security than is asked for; warns of those that promise none.
pub(crate) fn admit(parameters: &impl Describe, path: &Path, console: &Console) -> Result<(), Failure> {
    admit_security(parameters.rlwe().security(), path, console)
}

/// Refuses less security than is asked for; warns of none.
pub(crate) fn admit_security(found: Security, path: &Path, console: &Console) -> Result<(), Failure> {
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
