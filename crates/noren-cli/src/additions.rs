//! `noren keygen --add`: more evaluation keys for the secret in a directory.

use std::fmt;
use std::fs::{File, TryLockError};
use std::path::Path;

use noren::programs::{Program, Shape};
use noren::wire::{ExpandedFileKey, FileContext, FileKey, Form, Object};
use noren::{EvaluationKeys, KeyUse, PublicKey, SecretKey};
use noren_rlwe::context::Context;
use noren_rlwe::key_request::KeyRequest;
use noren_rlwe::keygen::KeyGenerator;
use noren_rlwe::wire::key_file::KeyFile;
use noren_rlwe::wire::regular;
use serde::Serialize;

use crate::console::Console;
use crate::describe::Describe;
use crate::describe::words::{bytes, count};
use crate::failure::Failure;
use crate::files;
use crate::key_files::{EVALUATION, NewKeys, PUBLIC, Written};
use crate::output_set::OutputSet;
use crate::outputs::Force;
use crate::progress;
use crate::takes;

/// An addition of evaluation keys to those in a directory.
pub(crate) struct KeyAddition<'a> {
    pub(crate) keys: &'a NewKeys<'a>,
    /// The file of the secret key in the directory.
    pub(crate) secret: &'a Path,
    pub(crate) programs: Vec<Program>,
    /// The tables that the programs run on.
    pub(crate) shape: Shape,
}

/// The keys that were added.
#[derive(Serialize)]
pub(crate) struct KeyAdditionReport {
    /// The use of the new keys.
    added: Vec<String>,
    /// How many keys the file has now.
    keys: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) file: Option<Written>,
}

/// Keeps two runs from adding to the same file at once: what the first had written would be lost.
pub(crate) fn lock(secret: &Path) -> Result<File, Failure> {
    let failed = |source| Failure::Io { path: secret.to_owned(), source };
    let file = regular::open(secret).map_err(failed)?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            Err(Failure::input(secret, "--add", "another run that adds keys", "one at a time: start it again later"))
        }
        // Where the system has no locks, there is none.
        _ => Ok(file),
    }
}

/// Adds the keys that are missing to `eval.keys`. The file is replaced when the new one is whole, and not touched if anything fails.
pub(crate) fn add<C>(
    addition: &KeyAddition<'_>,
    console: &Console,
    request: impl FnOnce(&C) -> Result<KeyRequest, Failure>,
) -> Result<(), Failure>
where
    C: FileContext<Parameters: Describe>,
    SecretKey: FileKey<C>,
    PublicKey: FileKey<C>,
    EvaluationKeys: ExpandedFileKey<C>,
{
    let KeyFile { context, key: secret } =
        files::read_key::<C, SecretKey>(addition.secret, &takes::ADD_SECRET, console)?;
    check_public::<C>(addition.keys.out, &secret, console)?;
    let path = addition.keys.out.join(EVALUATION);
    let mut evaluation = match path.exists() {
        true => files::open_evaluation_keys::<C>(&path, &takes::ADD_EVALUATION, console)?.key,
        false => EvaluationKeys::new(context.rlwe().parameters(), secret.owner().key),
    };
    check_owner(&secret, &evaluation, &path)?;
    let lacking = evaluation.lacking(&request(&context)?);
    let Some(made) = made(addition.keys, context.rlwe(), &secret, &lacking)? else {
        return console.report(&KeyAdditionReport::new(&evaluation, &lacking, None));
    };
    evaluation.merge(made).map_err(Failure::file(&path))?;
    let mut report = KeyAdditionReport::new(&evaluation, &lacking, None);
    let file = KeyFile { context, key: evaluation };
    report.file = Some(replaced(addition.keys.out, EVALUATION, |path| file.write_file(&(), Form::Packed, path))?);
    console.report(&report)
}

/// Refuses a public key of another secret key: the directory is then not that of one owner.
pub(crate) fn check_public<C>(directory: &Path, secret: &SecretKey, console: &Console) -> Result<(), Failure>
where
    C: FileContext,
    PublicKey: FileKey<C>,
{
    let path = directory.join(PUBLIC);
    if !path.exists() {
        return Ok(());
    }
    let public = files::read::<KeyFile<C, PublicKey>>(&(), &path, &takes::ADD_PUBLIC, console)?.key;
    secret.owner().check(&public.owner(), "the public key").map_err(Failure::file(&path))
}

/// Refuses evaluation keys of another secret key.
pub(crate) fn check_owner(secret: &SecretKey, evaluation: &EvaluationKeys, path: &Path) -> Result<(), Failure> {
    secret.owner().check(&evaluation.owner(), "the set of evaluation keys").map_err(Failure::file(path))
}

/// The keys that are lacking; none if nothing is to be made.
pub(crate) fn made(
    keys: &NewKeys<'_>,
    context: &Context,
    secret: &SecretKey,
    lacking: &KeyRequest,
) -> Result<Option<EvaluationKeys>, Failure> {
    if keys.plan_only || *lacking == KeyRequest::default() {
        return Ok(None);
    }
    let seed = keys.seed()?;
    let shown = progress::bar("making evaluation keys", 1);
    let heard = |done, of| shown.set(done, of);
    Ok(Some(KeyGenerator::new(context, seed).evaluation_keys(secret, lacking, Some(&heard))?))
}

/// Puts a file in the place of another when it is whole.
pub(crate) fn replaced<T>(
    directory: &Path,
    name: &'static str,
    write: impl FnOnce(&Path) -> noren::Result<T>,
) -> Result<Written, Failure> {
    let outputs = OutputSet::new(directory, &[name], &Force { force: true })?;
    let shown = progress::spinner("writing keys".to_owned());
    let bytes = outputs.write_with(name, write)?;
    let path = outputs.finish(&[name])?.remove(0);
    drop(shown);
    Ok(Written { path, bytes })
}

impl KeyAdditionReport {
    pub(crate) fn new(keys: &EvaluationKeys, lacking: &KeyRequest, file: Option<Written>) -> Self {
        let ring = keys.parameters().index();
        let products = lacking.relinearization.iter().map(|_| KeyUse::Relinearization);
        let mut galois: Vec<u32> = lacking.galois.iter().map(|&(k, _)| k).collect();
        galois.sort_unstable();
        galois.dedup();
        let moves = galois.into_iter().map(|k| KeyUse::of_automorphism(k, ring));
        let added = products.chain(moves).map(|usage| usage.to_string()).collect();
        Self { added, keys: keys.uses().count(), file }
    }
}

impl fmt::Display for KeyAdditionReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// More names than this help nobody.
        const SHOWN: usize = 8;
        if self.added.is_empty() {
            return write!(f, "nothing to add: {} there serve", count(self.keys, "key"));
        }
        let more = self.added.len().saturating_sub(SHOWN);
        let mut names = self.added[..self.added.len() - more].join(", ");
        if more > 0 {
            names += &format!(", {more} more");
        }
        match &self.file {
            None => write!(f, "lacking    {}: {names}", count(self.added.len(), "key")),
            Some(Written { path, bytes: size }) => {
                writeln!(f, "added {}: {names}", count(self.added.len(), "key"))?;
                write!(f, "wrote {}, {}, {}", path.display(), count(self.keys, "key"), bytes(*size as f64))
            }
        }
    }
}
