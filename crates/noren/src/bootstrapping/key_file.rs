//! Bootstrapping keys in a file: written while they are made and read while they are expanded, one key at a time.

use std::path::Path;
use std::sync::Arc;

use noren_math::random::Seed;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::keys::SecretKey;
use noren_rlwe::wire::file::{self, Access};
use noren_rlwe::wire::items::Items;
use noren_rlwe::wire::kind::Kind;
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::reader::{Limits, Reader};
use noren_rlwe::wire::stream::Stream;
use noren_rlwe::wire::writer::{Form, Writer};

use crate::bootstrapping::keys::BootstrapKeys;
use crate::bootstrapping::parameters::Parameters;
use crate::bootstrapping::recipe::{Gathered, Maker, recipe};
use crate::bootstrapping::wire::{announce_key, read_key, write_key};
use crate::schemes::ckks::{Context, KeyRequest};

/// The items of a file before the first key: those of the parameters.
const PARAMETER_ITEMS: u32 = 2;

/// More bytes than parameters and the frame of a key ever take.
const SMALL_BYTES: u64 = 1 << 16;

/// How far a file of keys is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Keys that are done.
    pub done: usize,
    /// All keys.
    pub of: usize,
    /// Bytes of the file that are done.
    pub bytes: u64,
    /// All bytes of the file.
    pub of_bytes: u64,
}

/// Bootstrapping keys with their parameters, as a file holds them.
///
/// The file is one container: the parameters, then one item for each key, whose uniform halves are written as the seed that
/// they are expanded from. It is made with [`BootstrapKeyFile::generate`], which holds one key at a time, and appears as a
/// whole or not at all: until then it lies under a hidden name beside its place, has no digest, and is removed when
/// anything fails. What an interruption from outside leaves is of no use to anybody, and is never read: making the keys
/// takes seconds, so nothing is resumed, and the secret seed never lies on a disk for it.
pub struct BootstrapKeyFile {
    /// The context of the ciphertexts.
    pub context: Context,
    /// What the keys are for.
    pub parameters: Parameters,
    /// The keys.
    pub keys: Arc<BootstrapKeys>,
}

impl BootstrapKeyFile {
    /// Makes all keys for a secret, and those of an application, straight into a file; gives its bytes.
    ///
    /// Rotations and products of the application are for ciphertexts up to the level of results, unless the request names
    /// another one. The seed is as secret as the keys, and is used for nothing else. The same seed gives the same bytes,
    /// and the keys of [`BootstrapKeys::generate`]. `progress` hears of every key.
    ///
    /// # Errors
    /// As [`BootstrapKeys::generate`]; [`Error::LevelExhausted`] if there is no level that the request names; [`Error::Io`]
    /// with the path.
    pub fn generate(
        path: &Path,
        context: &Context,
        parameters: &Parameters,
        secret: &SecretKey,
        seed: Seed,
        application: &KeyRequest,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<u64> {
        let maker = Maker::new(context, parameters, secret, seed)?;
        let recipe = recipe(context, parameters, application)?;
        let begin = || Writer::new(Self::KIND, parameters.fingerprint(), Form::Packed);
        let mut outline = begin();
        parameters.write(&(), &mut outline);
        for entry in &recipe {
            outline.next_item();
            announce_key(context.rlwe(), entry, &mut outline)?;
        }
        let failed = |source| Error::Io { path: path.to_owned(), source };
        file::make_atomically(path, Access::Default, |file| {
            file::reserve(file, outline.encoded_len()).map_err(failed)?;
            let mut stream = Stream::begin(&outline, file).map_err(failed)?;
            let of_bytes = stream.length();
            let mut part = begin();
            parameters.write(&(), &mut part);
            stream.put(&part).map_err(failed)?;
            for (i, entry) in recipe.iter().enumerate() {
                let key = maker.make(entry)?;
                let mut part = begin();
                write_key(context.rlwe(), entry.name, &key, &mut part);
                stream.put(&part).map_err(failed)?;
                progress(Progress { done: i + 1, of: recipe.len(), bytes: stream.written(), of_bytes });
            }
            stream.finish().map_err(failed)?;
            Ok(of_bytes)
        })
    }

    /// The bytes of the file that [`BootstrapKeyFile::generate`] would write.
    ///
    /// # Errors
    /// [`Error::LevelExhausted`] if there is no level that the request names.
    pub fn planned_bytes(context: &Context, parameters: &Parameters, application: &KeyRequest) -> Result<u64> {
        let mut outline = Writer::new(Self::KIND, parameters.fingerprint(), Form::Packed);
        parameters.write(&(), &mut outline);
        for entry in recipe(context, parameters, application)? {
            outline.next_item();
            announce_key(context.rlwe(), &entry, &mut outline)?;
        }
        Ok(outline.encoded_len())
    }

    /// The parameters in a file, before any key is read. Its digest is not checked.
    ///
    /// # Errors
    /// As [`BootstrapKeyFile::read`].
    pub fn read_parameters(path: &Path, limits: &Limits) -> Result<Parameters> {
        parameters_of(&mut Items::open(path, Self::KIND, limits)?)
    }

    /// The keys in a file: read once and expanded one by one, so that no second copy of them is held. `progress` hears of
    /// every key.
    ///
    /// # Errors
    /// [`Error::Io`] with the path, [`Error::WrongKind`], [`Error::Wire`] if the file was damaged, [`Error::MissingKey`] names
    /// all keys that bootstrapping needs and that are missing.
    pub fn read(path: &Path, limits: &Limits, progress: &mut dyn FnMut(Progress)) -> Result<Self> {
        let mut items = Items::open(path, Self::KIND, limits)?;
        let parameters = parameters_of(&mut items)?;
        let context = Context::new(parameters.ckks()?)?;
        let mut gathered = Gathered::new(&context, &parameters)?;
        let (of, of_bytes) = (items.count() - PARAMETER_ITEMS as usize, items.header().length);
        let most = largest_key(&parameters);
        let (mut previous, mut done) = (None, 0);
        while let Some(mut reader) = items.read(1, most)? {
            let (name, key) = read_key(context.rlwe(), previous, &mut reader)?;
            reader.finish()?;
            gathered.take(name, key)?;
            previous = Some(name);
            done += 1;
            progress(Progress { done, of, bytes: items.bytes_read(), of_bytes });
        }
        items.finish()?;
        Self { context, parameters, keys: Arc::new(gathered.finish()?) }.checked()
    }

    /// Refuses keys of other parameters, by name.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`].
    pub fn check(&self, needed: &Parameters) -> Result<()> {
        if self.parameters == *needed {
            return Ok(());
        }
        let (left, right) = (needed.name(), self.parameters.name());
        Err(Error::ParameterMismatch { left, right, what: "the file of bootstrapping keys" })
    }

    /// These keys, if none is missing.
    fn checked(self) -> Result<Self> {
        self.keys.check(&self.context, &self.parameters)?;
        Ok(self)
    }
}

impl Object for BootstrapKeyFile {
    type Context = ();
    const KIND: Kind = Kind::BootstrapKeys;

    fn needed_fingerprint((): &()) -> Option<[u8; 32]> {
        None
    }

    fn fingerprint(&self, (): &()) -> [u8; 32] {
        self.parameters.fingerprint()
    }

    fn write<'a>(&'a self, (): &'a (), writer: &mut Writer<'a>) {
        self.parameters.write(&(), writer);
        for (name, key) in self.keys.named() {
            writer.next_item();
            write_key(self.context.rlwe(), name, key, writer);
        }
    }

    fn read((): &(), reader: &mut Reader<'_>) -> Result<Self> {
        let parameters = Parameters::read(&(), reader)?;
        let context = Context::new(parameters.ckks()?)?;
        let mut gathered = Gathered::new(&context, &parameters)?;
        let mut previous = None;
        while reader.next_item()? {
            let (name, key) = read_key(context.rlwe(), previous, reader)?;
            gathered.take(name, key)?;
            previous = Some(name);
        }
        Self { context, parameters, keys: Arc::new(gathered.finish()?) }.checked()
    }

    /// As [`BootstrapKeyFile::read`], unheard.
    fn read_file((): &(), path: &Path, limits: &Limits) -> Result<Self> {
        Self::read(path, limits, &mut |_| {})
    }
}

/// The parameters at the beginning of a file.
fn parameters_of(items: &mut Items) -> Result<Parameters> {
    let fingerprint = items.header().fingerprint;
    let what = items.header().kind.name();
    let missing = || Error::Wire { what, reason: noren_rlwe::wire::reason::Reason::Fingerprint };
    let mut reader = items.read(PARAMETER_ITEMS, SMALL_BYTES)?.ok_or_else(missing)?;
    let parameters = Parameters::read(&(), &mut reader)?;
    reader.finish()?;
    if fingerprint == parameters.fingerprint() { Ok(parameters) } else { Err(missing()) }
}

/// More bytes than any key of these parameters takes in a file.
fn largest_key(parameters: &Parameters) -> u64 {
    let primes = parameters.max_level() + 1 + parameters.spec().special.count;
    // Keys of few limbs have at most as many digits as limbs.
    let digits = parameters.gadget().digits().len().max(parameters.input_level() + 1);
    (digits * primes * parameters.degree() * size_of::<u64>()) as u64 + SMALL_BYTES
}
