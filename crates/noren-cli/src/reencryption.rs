//! Rows for `reencrypt`: files of ciphertexts under another secret key.

use std::fmt;
use std::path::{Path, PathBuf};

use clap::{Args, value_parser};
use noren::wire::{FileContext, FileKey, Kind, Object};
use noren::{Cover, KeyId, ReencryptionKey, Seed};
use serde::Serialize;

use crate::console::Console;
use crate::describe::Describe;
use crate::describe::words::{bytes, count};
use crate::failure::Failure;
use crate::files;
use crate::inputs::header_kind;
use crate::output_set::OutputSet;
use crate::outputs::{Output, size};
use crate::progress;
use crate::seeds::random;
use crate::streams::names_standard_input;
use crate::takes;

/// Files that are to be re-encrypted, and the key.
pub(crate) struct Reencryption<'a> {
    pub(crate) key: &'a Path,
    pub(crate) inputs: &'a [PathBuf],
    /// The file or the directory of the results.
    pub(crate) output: &'a Path,
    pub(crate) outputs: Outputs,
    pub(crate) cover: &'a CoverOptions,
}

/// The options of what goes to another owner.
#[derive(Debug, Args)]
pub(crate) struct CoverOptions {
    /// With a key for another owner: how many ciphertexts that owner ever gets, these among them [default: 65536]
    #[arg(long, value_name = "COUNT", value_parser = value_parser!(u64).range(1..=1 << 40))]
    results: Option<u64>,
    /// Bits of the statistical distance between what the owner sees of all of them and what follows from the messages [default: 64]
    #[arg(long, value_name = "BITS", value_parser = value_parser!(u32).range(40..=128))]
    distance: Option<u32>,
    /// Let the owner see the noise of ciphertexts, which depends on the secret key and on what was computed
    #[arg(long, conflicts_with_all = ["results", "distance"])]
    no_flood: bool,
}

/// The files that are to be made, in a directory or alone.
pub(crate) enum Outputs {
    Alone(Output),
    Together { names: Vec<(String, PathBuf)>, set: OutputSet },
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
pub(crate) enum Place<'a> {
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

/// A re-encryption key with what it takes.
pub(crate) struct With<'a, C> {
    context: &'a C,
    key: &'a ReencryptionKey,
    /// For another owner.
    cover: Option<(Cover, Seed)>,
}

/// Ciphertexts in a file of their own.
pub(crate) trait Stored: Object + Sized {
    /// The same under the secret that the key leads to; covered if that is of another owner.
    fn reencrypted(&self, context: &Self::Context, key: &ReencryptionKey, cover: Covering<'_>) -> noren::Result<Self>;

    /// How many ciphertexts there are.
    fn count(&self) -> usize;
}

/// How ciphertexts for another owner are covered, and the seed of what covers them.
pub(crate) type Covering<'a> = Option<(Cover, &'a Seed)>;

/// Re-encrypts a file of one kind with a key of a scheme, given the number of ciphertexts in the files before it; gives the numbers of
/// its ciphertexts and bytes.
pub(crate) type Convert<C> = fn(&With<'_, C>, &Path, &Place<'_>, usize, &Console) -> Result<(usize, u64), Failure>;

/// Re-encrypts with a key of a scheme, which re-encrypts files of these kinds, tables first.
pub(crate) fn reencrypt<C: FileContext<Parameters: Describe>>(
    kinds: &[(Kind, Convert<C>)],
    Reencryption { key, inputs, output, outputs, cover }: Reencryption<'_>,
    console: &Console,
) -> Result<(), Failure>
where
    ReencryptionKey: FileKey<C>,
{
    let key = files::read_key::<C, ReencryptionKey>(key, &takes::REENCRYPT_KEY, console)?;
    let with = With { context: &key.context, key: &key.key, cover: cover.of(&key.key)? };
    let (files, (ciphertexts, bytes)) = match &outputs {
        Outputs::Alone(output) => {
            let convert = converter(kinds, &inputs[0])?;
            let _shown = progress::spinner(format!("re-encrypting {}", inputs[0].display()));
            (1, convert(&with, &inputs[0], &Place::Alone(output), 0, console)?)
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
    let output = outputs.finish(output)?;
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

impl CoverOptions {
    /// How ciphertexts for another owner are covered; nothing for a key of one owner.
    fn of(&self, key: &ReencryptionKey) -> Result<Option<(Cover, Seed)>, Failure> {
        let &Self { results, distance, no_flood } = self;
        if !key.is_for_another_owner() {
            let given =
                [("--results", results.is_some()), ("--distance", distance.is_some()), ("--no-flood", no_flood)];
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
    let found = kinds.iter().find(|(own, _)| *own == kind).map(|&(_, convert)| convert);
    found.ok_or_else(|| {
        let kinds: Vec<Kind> = kinds.iter().map(|&(kind, _)| kind).collect();
        let needed = format!("{}, of the scheme of the key", Kind::any_of(&kinds));
        Failure::file(path)(noren::Error::WrongKind { found: kind.to_string(), needed })
    })
}

/// Re-encrypts a file.
pub(crate) fn convert<O: Stored>(
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

impl fmt::Display for ReencryptionReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (files, ciphertexts) = (count(self.files, "file"), count(self.ciphertexts, "ciphertext"));
        writeln!(f, "from key {}\nto key {}", self.from, self.to)?;
        writeln!(f, "{ciphertexts} in {files}")?;
        write!(f, "wrote {}, {}", self.output.display(), bytes(self.bytes as f64))
    }
}
