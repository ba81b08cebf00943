//! `noren reencrypt`: files of ciphertexts under another secret key, without any secret.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::console::Console;
use crate::failure::Failure;
use crate::output_set::OutputSet;
use crate::outputs::{Content, Force, Output};
use crate::reencryption::{CoverOptions, Outputs, Reencryption};
use crate::schemes;
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
    #[command(flatten)]
    cover: CoverOptions,
    #[command(flatten)]
    force: Force,
}

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<(), Failure> {
    let outputs = outputs(arguments, console)?;
    let Arguments { key, inputs, output, cover, .. } = arguments;
    let kind = console.inputs().kind(key, &takes::REENCRYPT_KEY)?;
    let reencrypt = schemes::row(|scheme| scheme.reencryptions, kind);
    reencrypt(Reencryption { key, inputs, output, outputs, cover }, console)
}

fn outputs(Arguments { inputs, output, force, .. }: &Arguments, console: &Console) -> Result<Outputs, Failure> {
    if let [input] = &inputs[..]
        && !input.is_dir()
    {
        return Ok(Outputs::Alone(Output::or_standard(output, force, Content::Binary, console)?));
    }
    let names: Vec<(String, PathBuf)> = named(inputs)?.into_iter().collect();
    let refs: Vec<&str> = names.iter().map(|(name, _)| name.as_str()).collect();
    let set = OutputSet::new(output, &refs, force)?;
    Ok(Outputs::Together { names, set })
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
