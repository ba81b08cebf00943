//! `noren reencrypt`: files of ciphertexts under another secret key, without any secret.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, value_parser};
use noren::programs::{EncryptedTable, IntegerTable};
use noren::schemes::integers::{self, Scheme};
use noren::wire::{FileContext, FileKey, Kind, Object};
use noren::{Cover, KeyId, ReencryptionKey, Seed, bfv, bgv, ckks};
use serde::Serialize;

use crate::console::Console;
use crate::describe::Describe;
use crate::describe::words::{bytes, count};
use crate::failure::Failure;
use crate::files;
use crate::inputs::header_kind;
use crate::jobs::of_kind;
use crate::output_set::OutputSet;
use crate::outputs::{Content, Force, Output, size};
use crate::progress;
use crate::seeds::random;
use crate::streams::names_standard_input;
use crate::takes;

/// Re-encrypts ciphertexts for another secret key
#[derive(Debug, Args)]
#[command(
    after_help = "Of a directory, all files are re-encrypted, one after another, into the directory -o under the same names: all of \
        them appear there, or none. With a key for another owner, noise is added that hides all but the messages, unless \
        --no-flood, which tables of real numbers need. Signatures beside them (.minisig) are of the old files, and are not copied; what else is no \
        ciphertext of the key is refused before any work.\n\n\
        Examples:\n  \
        noren reencrypt --key rotation.key patients.ct -o patients-new.ct\n  \
        noren reencrypt --key rotation.key stored -o rotated\n  \
        noren reencrypt --key rotation.key stored -o stored --force\n  \
        noren reencrypt --key handover.key counts.ct -o counts-theirs.ct --results 1000"
)]
pub(crate) struct Arguments {
    /// The re-encryption key, which noren rekey makes
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    /// Encrypted tables or ciphertexts, directories of them, or - for a table on standard input
    #[arg(required = true, value_name = "INPUT")]
    inputs: Vec<PathBuf>,
    /// The file for what is re-encrypted, - for standard output; of a directory, and of several inputs, the directory
    #[arg(short, long, value_name = "FILE|DIR")]
    output: PathBuf,
    /// With a key for another owner: how many ciphertexts that owner ever gets, these among them [default: 65536]
    #[arg(long, value_name = "COUNT", value_parser = value_parser!(u64).range(1..=1 << 40))]
    results: Option<u64>,
    /// Bits of the statistical distance between what the owner sees of all of them and what follows from the messages [default: 64]
    #[arg(long, value_name = "BITS", value_parser = value_parser!(u32).range(40..=128))]
    distance: Option<u32>,
    /// Let the owner see the noise of ciphertexts, which depends on the secret key and on what was computed
    #[arg(long, conflicts_with_all = ["results", "distance"])]
    no_flood: bool,
    #[command(flatten)]
    force: Force,
}

/// The keys, and the files that were re-encrypted.
#[derive(Serialize)]
struct ReencryptionReport {
    /// The identities of the old and of the new secret key.
    from: String,
    to: String,
    files: usize,
    ciphertexts: usize,
    bytes: u64,
    output: PathBuf,
}

/// Where the file of an input is written.
enum Place<'a> {
    Alone(&'a Output),
    Together(&'a OutputSet, &'a str),
}

impl Place<'_> {
    fn write<O: Object>(&self, context: &O::Context, object: &O) -> Result<u64, Failure> {
        match self {
            Self::Alone(output) => output.write(context, object),
            Self::Together(outputs, name) => outputs.write(name, context, object),
        }
    }
}

/// The files that are to be made, in a directory or alone.
enum Outputs {
    Alone(Output),
    Together { names: Vec<(String, PathBuf)>, set: OutputSet },
}

/// A re-encryption key with what it takes.
struct With<'a, C> {
    context: &'a C,
    key: &'a ReencryptionKey,
    /// For another owner.
    cover: Option<(Cover, Seed)>,
}

/// Ciphertexts in a file of their own.
trait Stored: Object + Sized {
    /// The same under the secret that the key leads to; covered if that is of another owner.
    fn reencrypted(&self, context: &Self::Context, key: &ReencryptionKey, cover: Covering<'_>) -> noren::Result<Self>;

    /// How many ciphertexts there are.
    fn count(&self) -> usize;
}

/// How ciphertexts for another owner are covered, and the seed of what covers them.
type Covering<'a> = Option<(Cover, &'a Seed)>;

/// Re-encrypts a file of one kind with a key of a scheme, given the number of ciphertexts in the files before it; gives the numbers of
/// its ciphertexts and bytes.
type Convert<C> = fn(&With<'_, C>, &Path, &Place<'_>, usize, &Console) -> Result<(usize, u64), Failure>;

/// Re-encrypts with a key of a scheme.
type Run = fn(&Arguments, Outputs, &Console) -> Result<(), Failure>;

/// The schemes by the kind of their keys.
const SCHEMES: [(Kind, Run); 2] = [
    (Kind::CKKS_REENCRYPTION_KEY, |arguments, outputs, console| reencrypt(&CKKS, arguments, outputs, console)),
    (Kind::INTEGER_REENCRYPTION_KEY, |arguments, outputs, console| reencrypt(&INTEGERS, arguments, outputs, console)),
];

/// The kinds of files of CKKS, tables first.
const CKKS: [(Kind, Convert<ckks::Context>); 3] = [
    (Kind::TABLE, convert::<EncryptedTable<ckks::Ciphertext>>),
    (Kind::CKKS_CIPHERTEXT, convert::<ckks::Ciphertext>),
    (Kind::CKKS_CIPHERTEXTS, convert::<ckks::Ciphertexts>),
];

/// Those of exact integers.
const INTEGERS: [(Kind, Convert<bfv::Context>); 5] = [
    (Kind::INTEGER_TABLE, convert::<IntegerTable>),
    (Kind::BFV_CIPHERTEXT, convert::<bfv::Ciphertext>),
    (Kind::BFV_CIPHERTEXTS, convert::<integers::Ciphertexts<bfv::Bfv>>),
    (Kind::BGV_CIPHERTEXT, convert::<bgv::Ciphertext>),
    (Kind::BGV_CIPHERTEXTS, convert::<integers::Ciphertexts<bgv::Bgv>>),
];

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<(), Failure> {
    let outputs = Outputs::of(arguments, console)?;
    let kind = console.inputs().kind(&arguments.key, &takes::REENCRYPT_KEY)?;
    let run = of_kind(&SCHEMES, kind).unwrap_or_else(|| panic!("keys that the argument takes are of a scheme"));
    run(arguments, outputs, console)
}

impl Outputs {
    fn of(Arguments { inputs, output, force, .. }: &Arguments, console: &Console) -> Result<Self, Failure> {
        if let [input] = &inputs[..]
            && !input.is_dir()
        {
            return Ok(Self::Alone(Output::or_standard(output, force, Content::Binary, console)?));
        }
        let names: Vec<(String, PathBuf)> = named(inputs)?.into_iter().collect();
        let refs: Vec<&str> = names.iter().map(|(name, _)| name.as_str()).collect();
        let set = OutputSet::new(output, &refs, force)?;
        Ok(Self::Together { names, set })
    }
}

/// The files of all inputs by the names that they get.
fn named(inputs: &[PathBuf]) -> Result<BTreeMap<String, PathBuf>, Failure> {
    let mut named = BTreeMap::new();
    for input in inputs {
        let failed = |source| Failure::Io { path: input.clone(), source };
        let paths = if input.is_dir() {
            let entries = fs::read_dir(input).and_then(Iterator::collect::<Result<Vec<_>, _>>).map_err(failed)?;
            entries.into_iter().map(|entry| entry.path()).collect()
        } else {
            vec![input.clone()]
        };
        for path in paths.into_iter().filter(|path| !is_beside(path)) {
            let name = path.file_name().and_then(|name| name.to_str()).map(str::to_owned);
            let unnamed =
                || Failure::input(&path, "the name", "none, or one that is no UTF-8", "a name, for the output");
            let name = name.ok_or_else(unnamed)?;
            if path.is_dir() {
                return Err(Failure::input(&path, "the input", "a directory within one", "files: name it by itself"));
            }
            if let Some(other) = named.insert(name, path.clone()) {
                let found = format!("the same as of {}", other.display());
                return Err(Failure::input(&path, "the name", found, "one of its own, for the output"));
            }
        }
    }
    match named.is_empty() {
        false => Ok(named),
        true => Err(Failure::input(&inputs[0], "the directory", "no file", "at least one")),
    }
}

/// Whether a file stands beside one of ciphertexts: a signature of it, or hidden.
fn is_beside(path: &Path) -> bool {
    let is_hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
    is_hidden || path.extension().is_some_and(|end| end == "minisig")
}

fn reencrypt<C: FileContext<Parameters: Describe>>(
    kinds: &[(Kind, Convert<C>)],
    arguments: &Arguments,
    outputs: Outputs,
    console: &Console,
) -> Result<(), Failure>
where
    ReencryptionKey: FileKey<C>,
{
    let key = files::read_key::<C, ReencryptionKey>(&arguments.key, &takes::REENCRYPT_KEY, console)?;
    let with = With { context: &key.context, key: &key.key, cover: cover(arguments, &key.key)? };
    let (files, (ciphertexts, bytes)) = match &outputs {
        Outputs::Alone(output) => {
            let convert = converter(kinds, &arguments.inputs[0])?;
            let _shown = progress::spinner(format!("re-encrypting {}", arguments.inputs[0].display()));
            (1, convert(&with, &arguments.inputs[0], &Place::Alone(output), 0, console)?)
        }
        Outputs::Together { names, set } => {
            // All are looked at before the first is read.
            let converters = names.iter().map(|(_, path)| converter(kinds, path)).collect::<Result<Vec<_>, _>>()?;
            let sizes = names.iter().map(|(_, path)| size(path)).collect::<Result<Vec<_>, _>>()?;
            let (shown, total) = (progress::bar("re-encrypting", 1), sizes.iter().sum::<u64>());
            let (mut sums, mut done) = ((0, 0), 0);
            for (((name, path), convert), size) in names.iter().zip(converters).zip(sizes) {
                shown.say(&format!("re-encrypting {}", path.display()));
                let (ciphertexts, bytes) = convert(&with, path, &Place::Together(set, name), sums.0, console)?;
                sums = (sums.0 + ciphertexts, sums.1 + bytes);
                done += size;
                shown.set(done as usize, total as usize);
            }
            (names.len(), sums)
        }
    };
    let output = outputs.finish(&arguments.output)?;
    let [from, to] = [key.key.from(), key.key.owner().key].map(KeyId::to_hex);
    console.report(&ReencryptionReport { from, to, files, ciphertexts, bytes, output })
}

impl Outputs {
    /// Publishes the files of a directory; gives the place of all.
    fn finish(self, directory: &Path) -> Result<PathBuf, Failure> {
        match self {
            Self::Alone(output) => Ok(output.path().to_owned()),
            Self::Together { names, set } => {
                let names: Vec<&str> = names.iter().map(|(name, _)| name.as_str()).collect();
                set.finish(&names)?;
                Ok(directory.to_owned())
            }
        }
    }
}

/// How ciphertexts for another owner are covered; nothing for a key of one owner.
fn cover(arguments: &Arguments, key: &ReencryptionKey) -> Result<Option<(Cover, Seed)>, Failure> {
    let &Arguments { results, distance, no_flood, .. } = arguments;
    if !key.is_for_another_owner() {
        let given = [("--results", results.is_some()), ("--distance", distance.is_some()), ("--no-flood", no_flood)];
        return match given.into_iter().find(|(_, given)| *given) {
            None => Ok(None),
            Some((what, _)) => {
                let (found, needed) =
                    ("a key of one owner", "a key for another owner: what stays with its owner is not covered");
                Err(Failure::Unsuitable { what, found: found.to_owned(), needed: needed.to_owned() })
            }
        };
    }
    let cover = match (Cover::default(), no_flood) {
        (Cover::Flood { results: usual_results, distance: usual_distance }, false) => {
            Cover::Flood { results: results.unwrap_or(usual_results), distance: distance.unwrap_or(usual_distance) }
        }
        _ => Cover::NoFlood,
    };
    Ok(Some((cover, random()?)))
}

/// Refuses more ciphertexts than floods are wide for.
fn check_results(cover: Cover, found: usize) -> Result<(), Failure> {
    match cover {
        Cover::Flood { results, .. } if found as u64 > results => {
            let (found, needed) =
                (format!("{results}, and {found} ciphertexts or more"), "as many as ever go to the owner");
            Err(Failure::Unsuitable { what: "--results", found, needed: needed.to_owned() })
        }
        _ => Ok(()),
    }
}

/// The function that re-encrypts a file, by its kind; standard input holds a table.
fn converter<C>(kinds: &[(Kind, Convert<C>)], path: &Path) -> Result<Convert<C>, Failure> {
    let kind = if names_standard_input(path) { kinds[0].0 } else { header_kind(path)? };
    takes::REENCRYPT_INPUT.check(path, kind)?;
    of_kind(kinds, kind).ok_or_else(|| {
        let kinds: Vec<Kind> = kinds.iter().map(|&(kind, _)| kind).collect();
        let needed = format!("{}, of the scheme of the key", Kind::any_of(&kinds));
        Failure::file(path)(noren::Error::WrongKind { found: kind.to_string(), needed })
    })
}

fn convert<O: Stored>(
    with: &With<'_, O::Context>,
    input: &Path,
    place: &Place<'_>,
    before: usize,
    console: &Console,
) -> Result<(usize, u64), Failure> {
    let &With { context, key, ref cover } = with;
    let stored: O = files::read(context, input, &takes::REENCRYPT_INPUT, console)?;
    if let Some((cover, _)) = cover {
        check_results(*cover, before + stored.count())?;
    }
    // No two ciphertexts of a run have the same seed.
    let cover = cover.as_ref().map(|(cover, seed)| (*cover, seed.derive(&before.to_string())));
    let cover = cover.as_ref().map(|(cover, seed)| (*cover, seed));
    let made = stored.reencrypted(context, key, cover).map_err(Failure::file(input))?;
    drop(stored);
    Ok((made.count(), place.write(context, &made)?))
}

impl Stored for EncryptedTable<ckks::Ciphertext> {
    fn reencrypted(&self, context: &ckks::Context, key: &ReencryptionKey, cover: Covering<'_>) -> noren::Result<Self> {
        match cover {
            None => self.reencrypt(context, key),
            Some((cover, seed)) => self.reencrypt_for(context, key, cover, seed),
        }
    }

    fn count(&self) -> usize {
        self.ciphertexts().len()
    }
}

impl Stored for ckks::Ciphertext {
    fn reencrypted(&self, context: &ckks::Context, key: &ReencryptionKey, cover: Covering<'_>) -> noren::Result<Self> {
        match cover {
            None => context.reencrypt(self, key),
            Some((cover, seed)) => context.reencrypt_for(self, key, cover, seed),
        }
    }

    fn count(&self) -> usize {
        1
    }
}

impl Stored for ckks::Ciphertexts {
    fn reencrypted(&self, context: &ckks::Context, key: &ReencryptionKey, cover: Covering<'_>) -> noren::Result<Self> {
        match cover {
            None => context.reencrypt_many(&self.0, key).map(Self),
            Some((cover, seed)) => context.reencrypt_many_for(&self.0, key, cover, seed).map(Self),
        }
    }

    fn count(&self) -> usize {
        self.0.len()
    }
}

impl Stored for IntegerTable {
    fn reencrypted(&self, context: &bfv::Context, key: &ReencryptionKey, cover: Covering<'_>) -> noren::Result<Self> {
        match cover {
            None => self.reencrypt(context, key),
            Some((cover, seed)) => self.reencrypt_for(context, key, cover, seed),
        }
    }

    fn count(&self) -> usize {
        self.ciphertexts().len()
    }
}

impl<S: Scheme> Stored for integers::Ciphertext<S> {
    fn reencrypted(&self, context: &bfv::Context, key: &ReencryptionKey, cover: Covering<'_>) -> noren::Result<Self> {
        match cover {
            None => context.reencrypt(self, key),
            Some((cover, seed)) => context.reencrypt_for(self, key, cover, seed),
        }
    }

    fn count(&self) -> usize {
        1
    }
}

impl<S: Scheme> Stored for integers::Ciphertexts<S> {
    fn reencrypted(&self, context: &bfv::Context, key: &ReencryptionKey, cover: Covering<'_>) -> noren::Result<Self> {
        match cover {
            None => context.reencrypt_many(&self.0, key).map(Self),
            Some((cover, seed)) => context.reencrypt_many_for(&self.0, key, cover, seed).map(Self),
        }
    }

    fn count(&self) -> usize {
        self.0.len()
    }
}

impl fmt::Display for ReencryptionReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (files, ciphertexts) = (count(self.files, "file"), count(self.ciphertexts, "ciphertext"));
        writeln!(f, "from key {}\nto key {}", self.from, self.to)?;
        writeln!(f, "{ciphertexts} in {files}")?;
        write!(f, "wrote {}, {}", self.output.display(), bytes(self.bytes as f64))
    }
}
