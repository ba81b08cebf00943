//! The key files of an owner, which appear together.

use std::path::{Path, PathBuf};
use std::{env, fmt, fs};

use noren::wire::{FileContext, FileKey};
use noren::{PublicKey, SecretKey, Seed};
use noren_files::passphrase::Passphrase;
use noren_rlwe::wire::key_file::KeyFile;
use serde::Serialize;

use crate::console::Console;
use crate::describe::words::bytes;
use crate::failure::Failure;
use crate::given::Given;
use crate::key_options::KeyOptions;
use crate::output_set::OutputSet;
use crate::outputs::Force;
use crate::passphrases::{Question, VARIABLE};
use crate::seeds::random;

/// The name of the secret key.
pub(crate) const SECRET: &str = "secret.key";
/// The name of the public key.
pub(crate) const PUBLIC: &str = "public.key";

/// The name of the evaluation keys of programs.
pub(crate) const EVALUATION: &str = "eval.keys";

/// The passphrase of a secret key that is to be made, if there is one: where it `is_asked` for, or its file is named. It is
/// asked for before any work, and after a file that is in the way was refused.
pub(crate) fn passphrase_of_new(
    key: &Path,
    is_asked: bool,
    force: &Force,
    console: &Console,
) -> Result<Option<Passphrase>, Failure> {
    let file = console.inputs().passphrase_file();
    if !is_asked && file.is_none() {
        if env::var_os(VARIABLE).is_some() {
            console.warn(format_args!("{VARIABLE} is set, but the secret key is not encrypted without --passphrase"));
        }
        return Ok(None);
    }
    if !force.force && fs::symlink_metadata(key).is_ok() {
        return Err(Failure::Exists { path: key.to_owned() });
    }
    Question::of(key, file).ask_twice().map(Some)
}

/// The keys that a run of `noren keygen` is to make: where, which, from which seed, and how the secret key is kept.
pub(crate) struct NewKeys<'a> {
    /// The directory.
    pub(crate) out: &'a Path,
    /// The programs, tables and rotations that they are for.
    pub(crate) options: &'a KeyOptions,
    /// All options, with those that schemes add.
    pub(crate) given: &'a Given,
    pub(crate) seed: Option<Seed>,
    /// Whether the plan alone is shown.
    pub(crate) plan_only: bool,
    pub(crate) force: &'a Force,
    /// That of the secret key.
    pub(crate) passphrase: Option<&'a Passphrase>,
}

impl NewKeys<'_> {
    /// The seed that was given, or a new one.
    pub(crate) fn seed(&self) -> Result<Seed, Failure> {
        self.seed.clone().map_or_else(random, Ok)
    }
}

/// Places for a secret key, a public key, and files of what evaluates.
pub(crate) struct KeyFiles<'a> {
    outputs: OutputSet,
    /// That of the secret key.
    passphrase: Option<&'a Passphrase>,
    /// Of all files, those of what evaluates last.
    names: Vec<&'static str>,
}

/// The files that were made.
#[derive(Serialize)]
pub(crate) struct KeyFilesReport<P> {
    pub(crate) plan: P,
    /// How many evaluation keys there are, where the plan does not say it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) keys: Option<usize>,
    pub(crate) files: Vec<Written>,
}

/// A file that was written.
#[derive(Serialize)]
pub(crate) struct Written {
    pub(crate) path: PathBuf,
    pub(crate) bytes: u64,
}

/// A directory that is there already: that of the keys, or the one in which theirs is to be made.
pub(crate) fn existing(directory: &Path) -> &Path {
    directory.ancestors().find(|path| path.is_dir()).unwrap_or(Path::new("."))
}

impl<'a> KeyFiles<'a> {
    /// Refuses files that exist, unless they may be replaced; makes the directory. `evaluation` are the names of the files of what
    /// evaluates.
    pub(crate) fn new(keys: &NewKeys<'a>, evaluation: &[&'static str]) -> Result<Self, Failure> {
        let names = [&[SECRET, PUBLIC], evaluation].concat();
        let outputs = OutputSet::new(keys.out, &names, keys.force)?;
        Ok(Self { outputs, passphrase: keys.passphrase, names })
    }

    /// Where the files of what evaluates are written.
    pub(crate) const fn outputs(&self) -> &OutputSet {
        &self.outputs
    }

    /// Writes the other two, and moves all to their places. `bytes` are those of the files that are written already.
    pub(crate) fn finish<C>(
        self,
        context: &C,
        secret: SecretKey,
        public: PublicKey,
        bytes: &[u64],
    ) -> Result<Vec<Written>, Failure>
    where
        C: FileContext + Clone,
        SecretKey: FileKey<C>,
        PublicKey: FileKey<C>,
    {
        let secret = KeyFile { context: context.clone(), key: secret };
        let public = KeyFile { context: context.clone(), key: public };
        let of_secret = self.outputs.write_secret(SECRET, &secret, self.passphrase)?;
        let sizes = [of_secret, self.outputs.write(PUBLIC, &(), &public)?].into_iter().chain(bytes.iter().copied());
        let places = self.outputs.finish(&self.names)?;
        Ok(places.into_iter().zip(sizes).map(|(path, bytes)| Written { path, bytes }).collect())
    }
}

/// The plan was shown before there were files.
impl<P> fmt::Display for KeyFilesReport<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = |file: &Written| format!("wrote {}, {}", file.path.display(), bytes(file.bytes as f64));
        f.write_str(&self.files.iter().map(line).collect::<Vec<_>>().join("\n"))
    }
}
