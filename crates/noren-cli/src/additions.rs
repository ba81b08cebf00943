//! `noren keygen --add`: more evaluation keys for the secret in a directory.

use std::fmt;
use std::fs::{File, TryLockError};
use std::path::Path;
use std::sync::Arc;

use noren::bootstrapping::{BootstrapKeyFile, BootstrapKeys, Progress};
use noren::programs::Program;
use noren::programs::{ProgramPlan, Shape};
use noren::wire::{ExpandedFileKey, FileContext, FileKey, Form, Kind, Limits, Object};
use noren::{EvaluationKeys, KeyUse, PublicKey, Resources, SecretKey, Seed, bfv, ckks};
use noren_rlwe::context::Context;
use noren_rlwe::key_request::KeyRequest;
use noren_rlwe::keygen::KeyGenerator;
use noren_rlwe::wire::key_file::KeyFile;
use noren_rlwe::wire::regular;
use serde::Serialize;

use crate::bootstrap::keys::BOOTSTRAP;
use crate::console::Console;
use crate::describe::Describe;
use crate::describe::words::{bytes, count};
use crate::failure::Failure;
use crate::files;
use crate::key_files::{EVALUATION, PUBLIC, SECRET, Written};
use crate::output_set::OutputSet;
use crate::outputs::Force;
use crate::progress;
use crate::takes;

/// The operations that the keys are to serve.
pub(crate) struct Operations<'a> {
    pub(crate) programs: Vec<Program>,
    /// The tables that the programs run on.
    pub(crate) shape: Shape,
    pub(crate) rotations: &'a [isize],
    pub(crate) swap_rows: bool,
}

/// An addition of evaluation keys to those in a directory.
pub(crate) struct KeyAddition<'a> {
    /// The directory of the keys.
    pub(crate) out: &'a Path,
    pub(crate) operations: Operations<'a>,
    pub(crate) seed: Option<Seed>,
    pub(crate) plan_only: bool,
}

/// The keys that were added.
#[derive(Serialize)]
struct KeyAdditionReport {
    /// The use of the new keys.
    added: Vec<String>,
    /// How many keys the file has now.
    keys: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<Written>,
}

/// Adds the keys that are missing to those in the directory. The file is replaced when the new one is whole, and not touched if
/// anything fails.
pub(crate) fn run(addition: KeyAddition<'_>, console: &Console) -> Result<(), Failure> {
    let secret = addition.out.join(SECRET);
    let _lock = lock(&secret)?;
    let operations = &addition.operations;
    if operations.programs.is_empty() && operations.rotations.is_empty() && !operations.swap_rows {
        let needed = "--program, --rotations or --swap-rows: what the keys are for".to_owned();
        return Err(Failure::Unsuitable { what: "--add", found: "nothing to add".to_owned(), needed });
    }
    match files::key_kind(&secret, &takes::ADD_SECRET, console)? {
        Kind::CKKS_SECRET_KEY if addition.out.join(BOOTSTRAP).exists() && !addition.out.join(EVALUATION).exists() => {
            beside_bootstrapping(&addition, &secret, console)
        }
        Kind::CKKS_SECRET_KEY => {
            add(&addition, &secret, console, |context| of_vectors(&addition.operations, context, None))
        }
        Kind::INTEGER_SECRET_KEY => {
            add(&addition, &secret, console, |context| of_integers(&addition.operations, &secret, context))
        }
        found => {
            let needed = "a secret key of CKKS, or of exact integers";
            Err(Failure::input(&secret, "--add", found, needed))
        }
    }
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

/// The keys of CKKS that programs or rotations need; rotations up to a level, or all.
fn of_vectors(
    operations: &Operations<'_>,
    context: &ckks::Context,
    level: Option<usize>,
) -> Result<KeyRequest, Failure> {
    if operations.swap_rows {
        let needed = "keys of exact integers: the slots of CKKS have no rows".to_owned();
        return Err(Failure::Unsuitable { what: "--swap-rows", found: "a secret key of CKKS".to_owned(), needed });
    }
    let request = match &operations.programs[..] {
        [] => ckks::KeyRequest { rotations: operations.rotations.to_vec(), level, ..ckks::KeyRequest::default() },
        programs => {
            ProgramPlan::with_parameters(programs, &operations.shape, context.parameters().clone())?.key_request()?
        }
    };
    Ok(context.automorphisms_of(&request)?)
}

/// The keys of exact integers that rotations and the swap need.
fn of_integers(operations: &Operations<'_>, secret: &Path, context: &bfv::Context) -> Result<KeyRequest, Failure> {
    if !operations.programs.is_empty() {
        return Err(Failure::input(secret, "--program", "a secret key of exact integers", "one of CKKS"));
    }
    let (rotations, swap) = (operations.rotations.to_vec(), operations.swap_rows);
    Ok(context.automorphisms_of(&bfv::KeyRequest { rotations, swap, ..bfv::KeyRequest::default() })?)
}

/// Adds keys to `eval.keys`.
fn add<C>(
    addition: &KeyAddition<'_>,
    secret: &Path,
    console: &Console,
    request: impl FnOnce(&C) -> Result<KeyRequest, Failure>,
) -> Result<(), Failure>
where
    C: FileContext<Parameters: Describe>,
    SecretKey: FileKey<C>,
    PublicKey: FileKey<C>,
    EvaluationKeys: ExpandedFileKey<C>,
{
    let KeyFile { context, key: secret } = files::read_key::<C, SecretKey>(secret, &takes::ADD_SECRET, console)?;
    check_public::<C>(addition.out, &secret, console)?;
    let path = addition.out.join(EVALUATION);
    let mut evaluation = match path.exists() {
        true => files::open_evaluation_keys::<C>(&path, &takes::ADD_EVALUATION, console)?.key,
        false => EvaluationKeys::new(context.rlwe().parameters(), secret.owner().key),
    };
    check_owner(&secret, &evaluation, &path)?;
    let lacking = evaluation.lacking(&request(&context)?);
    let Some(made) = made(addition, context.rlwe(), &secret, &lacking)? else {
        return console.report(&KeyAdditionReport::new(&evaluation, &lacking, None));
    };
    evaluation.merge(made).map_err(Failure::file(&path))?;
    let mut report = KeyAdditionReport::new(&evaluation, &lacking, None);
    let file = KeyFile { context, key: evaluation };
    report.file = Some(replaced(addition.out, EVALUATION, |path| file.write_file(&(), Form::Packed, path))?);
    console.report(&report)
}

/// Adds rotations to `bootstrap.keys`.
fn beside_bootstrapping(addition: &KeyAddition<'_>, secret: &Path, console: &Console) -> Result<(), Failure> {
    let path = addition.out.join(BOOTSTRAP);
    if !addition.operations.programs.is_empty() {
        let needed = "--rotations: name those that the program needs";
        return Err(Failure::input(&path, "--program", "keys of bootstrapping", needed));
    }
    let secret = files::read_key::<ckks::Context, SecretKey>(secret, &takes::ADD_SECRET, console)?.key;
    check_public::<ckks::Context>(addition.out, &secret, console)?;
    console.inputs().verify(&path, &takes::ADD_BOOTSTRAP)?;
    let shown = progress::bar("reading bootstrapping keys", 1);
    let mut heard = |Progress { done, of, .. }: Progress| shown.set(done, of);
    let file = BootstrapKeyFile::open(&path, &Limits::default(), &Resources::of_machine(&path), &mut heard);
    let BootstrapKeyFile { context, parameters, keys } = file.map_err(Failure::file(&path))?;
    drop(shown);
    check_owner(&secret, &keys.evaluation, &path)?;
    let request = of_vectors(&addition.operations, &context, Some(parameters.output_level()))?;
    let lacking = keys.evaluation.lacking(&request);
    let Some(made) = made(addition, context.rlwe(), &secret, &lacking)? else {
        return console.report(&KeyAdditionReport::new(&keys.evaluation, &lacking, None));
    };
    let mut evaluation = (*keys.evaluation).clone();
    evaluation.merge(made).map_err(Failure::file(&path))?;
    let mut report = KeyAdditionReport::new(&evaluation, &lacking, None);
    let keys = Arc::new(BootstrapKeys { evaluation: Arc::new(evaluation), ..(*keys).clone() });
    let file = BootstrapKeyFile { context, parameters, keys };
    report.file = Some(replaced(addition.out, BOOTSTRAP, |path| file.write_file(&(), Form::Packed, path))?);
    console.report(&report)
}

/// Refuses a public key of another secret key: the directory is then not that of one owner.
fn check_public<C>(directory: &Path, secret: &SecretKey, console: &Console) -> Result<(), Failure>
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
fn check_owner(secret: &SecretKey, evaluation: &EvaluationKeys, path: &Path) -> Result<(), Failure> {
    secret.owner().check(&evaluation.owner(), "the set of evaluation keys").map_err(Failure::file(path))
}

/// The keys that are lacking; none if nothing is to be made.
fn made(
    addition: &KeyAddition<'_>,
    context: &Context,
    secret: &SecretKey,
    lacking: &KeyRequest,
) -> Result<Option<EvaluationKeys>, Failure> {
    if addition.plan_only || *lacking == KeyRequest::default() {
        return Ok(None);
    }
    let seed = match &addition.seed {
        Some(seed) => seed.clone(),
        None => Seed::random().map_err(noren::Error::from)?,
    };
    let shown = progress::bar("making evaluation keys", 1);
    let heard = |done, of| shown.set(done, of);
    Ok(Some(KeyGenerator::new(context, seed).evaluation_keys(secret, lacking, Some(&heard))?))
}

/// Puts a file in the place of another when it is whole.
fn replaced<T>(
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
    fn new(keys: &EvaluationKeys, lacking: &KeyRequest, file: Option<Written>) -> Self {
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
