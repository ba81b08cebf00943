//! Why a verb refuses: the one message on standard error, with the values that explain it.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use noren::programs::ProgramError;
use noren::{KeyUse, Security};
use noren_files::error::Reason;
use noren_rlwe::wire::file::directory_of;

/// The refusal of a verb.
#[allow(missing_docs, reason = "the messages say what the fields are")]
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// An error of the library.
    #[error("{}", text(.0, None))]
    Library(noren::Error),
    /// The library refuses a file.
    #[error("{}: {}", path.display(), text(source, Some(path)))]
    File { path: PathBuf, source: noren::Error },
    /// A place in an input is not what it must be.
    #[error("{}: {place}: found {found}, needed {needed}", path.display())]
    Input { path: PathBuf, place: String, found: String, needed: String },
    /// A file cannot be read or written.
    #[error("{}: {source}{}", path.display(), advice(source.kind()))]
    Io { path: PathBuf, source: std::io::Error },
    /// The report cannot be printed.
    #[error("standard output: {0}: the report could not be printed, but all output files of this run are complete")]
    Report(std::io::Error),
    /// The plan, which comes before all work, cannot be printed.
    #[error("standard output: {0}: the plan could not be printed, and nothing was written: send the output elsewhere")]
    Plan(std::io::Error),
    /// A file promises less security than is asked of it.
    #[error(
        "{}: found parameters that promise {found} security, needed {needed} security: ask for others, or pass \
         --min-security {} to use these, in tests alone",
        path.display(), option(*found)
    )]
    Insecure { path: PathBuf, found: Security, needed: Security },
    /// A file under a passphrase is refused.
    #[error("{}: {reason}", path.display())]
    Guarded { path: PathBuf, reason: Reason },
    /// A variable of the environment is no passphrase.
    #[error("{name}: {reason}")]
    Variable { name: &'static str, reason: Reason },
    /// There is nobody to ask.
    #[error(
        "{}: needs a passphrase, and there is no terminal to ask for it on: pass {option} FILE, or set {variable}",
        path.display()
    )]
    NoTerminal { path: PathBuf, option: &'static str, variable: &'static str },
    /// A question was not answered with yes.
    #[error("{}: the answer was not yes: nothing was written", path.display())]
    Declined { path: PathBuf },
    /// A refusal of passphrases, encrypted keys or signatures.
    #[error("{0}")]
    Guard(noren_files::error::Error),
    /// An output exists.
    #[error("{} exists: choose another name, or pass --force to replace it", path.display())]
    Exists { path: PathBuf },
    /// An output is no regular file.
    #[error("{}: not a regular file: choose another name (-o - is for standard output)", path.display())]
    NotRegular { path: PathBuf },
    /// The directory of an output does not exist.
    #[error(
        "{}: No such file or directory: the directory of the output does not exist. Make it with: mkdir -p {}",
        path.display(), quoted(directory)
    )]
    NoDirectory { path: PathBuf, directory: PathBuf },
    /// An argument does not suit the others, or the files.
    #[error("{what}: found {found}, needed {needed}")]
    Unsuitable { what: &'static str, found: String, needed: String },
    /// Evaluation keys do not cover a program.
    #[error(
        "{} cannot run {program} on a table of {rows} rows and {columns} columns at level {level}: it lacks {missing}. \
         Their owner adds keys with: noren keygen --add --out {} --program {program} {options}",
        path.display(), keys_of(Some(path))
    )]
    MissingKeys {
        path: PathBuf,
        program: &'static str,
        rows: usize,
        columns: usize,
        /// The model, the rows and the columns, as `noren keygen` takes them.
        options: String,
        level: usize,
        missing: String,
    },
    /// Decrypted numbers that cannot be right.
    #[error("{}: {what}; nothing was written. Pass --unchecked to write the numbers all the same", path.display())]
    Unconfirmed { path: PathBuf, what: String },
    /// A file whose ciphertexts are not what it states of them.
    #[error(
        "{}: {found} where {needed}: what the file states is false, and no number of it can be trusted; nothing was \
         written",
        path.display()
    )]
    FalseStatement { path: PathBuf, found: String, needed: String },
    /// Threads cannot be started.
    #[error("--threads {found}: {reason}: ask for fewer, or free memory or raise its limit")]
    Threads { found: usize, reason: String },
    /// A benchmark found wrong results.
    #[error("wrong results, which have no times: {}", .0.join(", "))]
    WrongResults(Vec<String>),
    /// Another program failed.
    #[error("{program}: {reason}")]
    Program { program: String, reason: String },
}

impl Failure {
    /// The library's refusal of a file, which it may name itself.
    pub(crate) fn file(path: &Path) -> impl FnOnce(noren::Error) -> Self {
        |source| match source.into() {
            Self::Library(source) => Self::File { path: path.to_owned(), source },
            named => named,
        }
    }

    /// The library's refusal of a computation: it names the file of the keys where it is about a key that they lack.
    pub(crate) fn of_computation(keys: &Path) -> impl FnOnce(noren::Error) -> Self {
        |error| match error {
            noren::Error::MissingKey { .. } => Self::file(keys)(error),
            error => error.into(),
        }
    }

    /// An argument that exact integers do not take.
    pub(crate) fn of_integers(what: &'static str, needed: &str) -> Self {
        Self::Unsuitable { what, found: "a key of exact integers".to_owned(), needed: needed.to_owned() }
    }

    /// Threads that cannot be started.
    pub fn threads(found: usize, error: &rayon::ThreadPoolBuildError) -> Self {
        Self::Threads { found, reason: error.to_string() }
    }

    /// A place in an input that is not what it must be.
    pub(crate) fn input(path: &Path, place: impl ToString, found: impl ToString, needed: impl ToString) -> Self {
        Self::Input {
            path: path.to_owned(),
            place: place.to_string(),
            found: found.to_string(),
            needed: needed.to_string(),
        }
    }
}

impl From<noren::Error> for Failure {
    fn from(error: noren::Error) -> Self {
        match error {
            noren::Error::Io { path, source } => Self::Io { path, source },
            noren::Error::Exists { path } => Self::Exists { path },
            error => Self::Library(error),
        }
    }
}

impl From<noren_files::error::Error> for Failure {
    fn from(error: noren_files::error::Error) -> Self {
        match error {
            noren_files::error::Error::Library(error) => error.into(),
            noren_files::error::Error::File { path, reason } => Self::Guarded { path, reason },
            error => Self::Guard(error),
        }
    }
}

/// An error of the library in words of the tool: with its options, and with the calls that mend what is wrong. `path` is the file
/// that it is about.
fn text(error: &noren::Error, path: Option<&Path>) -> String {
    match error.downcast_ref() {
        Some(ProgramError::ArgumentOutside { .. }) => return format!("{error} (--unchecked writes them all the same)"),
        Some(ProgramError::UnprovenInterval { .. }) => return format!("{error} (--unproven-interval)"),
        _ => {}
    }
    if let noren::Error::Insecure { .. } | noren::Error::WeakNoise { .. } = error {
        let option = "pass --security none to noren params, in tests alone (verbs that use such parameters take \
                      --min-security none)";
        return error.to_string().replace("set the security to none if nothing is to be protected", option);
    }
    let (what, keys) = match error {
        noren::Error::MissingKey { kind, available, keys } if !keys.is_empty() => {
            (format!("the evaluation keys have no key for {kind}, they have {available}"), &keys[..])
        }
        error => return error.to_string(),
    };
    let steps = keys.iter().filter_map(|need| match need.usage {
        KeyUse::Rotation { steps, .. } => Some(steps.to_string()),
        _ => None,
    });
    let mut options = vec![steps.collect::<Vec<_>>().join(",")];
    options.retain(|steps| !steps.is_empty());
    options.iter_mut().for_each(|steps| steps.insert_str(0, "--rotations "));
    if keys.iter().any(|need| need.usage == KeyUse::Conjugation) {
        options.push("--swap-rows".to_owned());
    }
    if options.is_empty() {
        // Products: every verb that makes keys makes theirs.
        return format!("{what}: make keys anew with noren keygen");
    }
    format!("{what}: their owner adds them with: noren keygen --add --out {} {}", keys_of(path), options.join(" "))
}

/// The directory of keys, for a call that can be pasted: that of a file of keys, or the one of all examples.
pub(crate) fn keys_of(path: Option<&Path>) -> String {
    path.map_or_else(|| "keys".to_owned(), |path| quoted(directory_of(path)))
}

/// A name as a shell takes it.
pub(crate) fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |sign: char| sign.is_ascii_alphanumeric() || "/._-+=:,@%".contains(sign);
    if !text.is_empty() && text.chars().all(plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

/// Options of `noren keygen` for a table, for a call that can be pasted; with the names of its columns where a text can have
/// them, because a model may ask for them.
pub(crate) fn key_options(model: Option<&Path>, [rows, columns]: [usize; 2], names: &[String]) -> String {
    let text = names.join(",");
    let read_back = |name: &String| !name.is_empty() && !name.contains(',') && name.trim() == name;
    let is_count = text.parse::<usize>().is_ok();
    let named = !names.is_empty() && !is_count && !text.starts_with('-') && names.iter().all(read_back);
    let columns = if named { quoted(Path::new(&text)) } else { columns.to_string() };
    let model = model.map_or_else(String::new, |model| format!("--model {} ", quoted(model)));
    format!("{model}--rows {rows} --columns {columns}")
}

/// How a level of security is asked for.
fn option(security: Security) -> String {
    match security.bits() {
        0 => "none".to_owned(),
        bits => bits.to_string(),
    }
}

/// The advice for errors of the operating system, which has none.
fn advice(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::NotFound => ": check the name, and that its directory exists",
        ErrorKind::NotADirectory => ": choose the name of a directory",
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            ": choose another place, or ask its owner for the right to read or write there"
        }
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => ": make room, or choose another place",
        _ => "",
    }
}
