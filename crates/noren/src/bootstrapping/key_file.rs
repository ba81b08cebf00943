//! Bootstrapping keys in a file: written while they are made and read while they are expanded, one key at a time.

use std::path::Path;
use std::sync::Arc;

use noren_math::random::Seed;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::keys::{KeySwitchKey, SecretKey};
use noren_rlwe::owner::KeyId;
use noren_rlwe::resources::Resources;
use noren_rlwe::wire::expanded::{MappedContainer, write_to_map};
use noren_rlwe::wire::file::{self, Access};
use noren_rlwe::wire::header::Header;
use noren_rlwe::wire::items::Items;
use noren_rlwe::wire::kind::Kind;
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::publish::Destination;
use noren_rlwe::wire::reader::{Limits, Reader};
use noren_rlwe::wire::reason::Reason;
use noren_rlwe::wire::stream::Stream;
use noren_rlwe::wire::writer::{Form, Writer};

use crate::bootstrapping::footprint::Footprint;
use crate::bootstrapping::gathered::Gathered;
use crate::bootstrapping::key_list::{Entry, KeyName, KeySet, Maker, key_list};
use crate::bootstrapping::keys::BootstrapKeys;
use crate::bootstrapping::parameters::Parameters;
use crate::bootstrapping::wire::{announce_name, read_name, write_name};
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
    /// The use of the keys.
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
    /// with the path, [`Error::Exists`] for a file that is kept.
    pub fn generate<'p>(
        to: impl Into<Destination<'p>>,
        context: &Context,
        parameters: &Parameters,
        secret: &SecretKey,
        seed: Seed,
        application: &KeyRequest,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<u64> {
        let maker = Maker::new(context, parameters, secret, seed)?;
        let key_list = key_list(context, parameters, application)?;
        let keys = key_list.iter().map(|entry| Ok((entry.name, maker.make(entry)?)));
        write(to.into(), Self::KIND, context, parameters, &key_list, keys, progress)
    }

    /// The bytes of the file that [`BootstrapKeyFile::generate`] would write.
    ///
    /// # Errors
    /// [`Error::LevelExhausted`] if there is no level that the request names.
    pub fn planned_bytes(context: &Context, parameters: &Parameters, application: &KeyRequest) -> Result<u64> {
        let key_list = key_list(context, parameters, application)?;
        Ok(outline(Self::KIND, context, parameters, &key_list)?.encoded_len())
    }

    /// The keys in a file of either kind: read or mapped. Whether the memory suffices for them and for bootstrapping is said
    /// before they are read.
    ///
    /// # Errors
    /// As [`BootstrapKeyFile::read`] and [`BootstrapKeyFile::map`]; [`Error::Resources`].
    pub fn open(
        path: &Path,
        limits: &Limits,
        resources: &Resources,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Self> {
        if kind_of(path)?.is_expanded() {
            let file = Self::map(path, limits)?;
            Footprint::beside_mapped_keys(&file.parameters)?.check(resources)?;
            return Ok(file);
        }
        let parameters = Self::read_parameters(path, limits)?;
        Footprint { disk: 0, ..Footprint::bootstrap(&parameters)? }.check(resources)?;
        Self::read(path, limits, progress)
    }

    /// The contents of a file of either kind, after its digest was found right. Nothing is expanded.
    ///
    /// # Errors
    /// As [`BootstrapKeyFile::read`], but that keys may be missing.
    pub fn contents(path: &Path, limits: &Limits) -> Result<Contents> {
        let mut items = Items::open(path, kind_of(path)?, limits)?;
        let parameters = parameters_of(&mut items)?;
        let mut contents = Contents { parameters, header: items.header().clone(), owner: None, keys: Vec::new() };
        let (context, most) = (Context::new(contents.parameters.ckks()?)?, largest_key(&contents.parameters));
        while let Some(mut reader) = items.read(1, most)? {
            contents.skim(&context, &mut reader)?;
            reader.finish()?;
        }
        items.finish()?;
        Ok(contents)
    }

    /// As [`BootstrapKeyFile::contents`], of a container whose bytes are all there.
    pub(crate) fn skim(reader: &mut Reader<'_>) -> Result<Contents> {
        let parameters = Parameters::read(&(), reader)?;
        let mut contents = Contents { parameters, header: reader.header().clone(), owner: None, keys: Vec::new() };
        let context = Context::new(contents.parameters.ckks()?)?;
        while reader.next_item()? {
            contents.skim(&context, reader)?;
        }
        Ok(contents)
    }

    /// Writes the keys of a file as they lie in memory into another, which can be mapped; gives its bytes. No more than a
    /// key is held.
    ///
    /// # Errors
    /// As [`BootstrapKeyFile::read`], and [`Error::Io`] with the path of the new file.
    pub fn expand<'p>(
        from: &Path,
        to: impl Into<Destination<'p>>,
        limits: &Limits,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<u64> {
        // Once for the digest and the sizes of the keys, so that nothing is written of a file that is damaged.
        let Contents { parameters, keys: entries, .. } = Self::contents(from, limits)?;
        let context = Context::new(parameters.ckks()?)?;
        let mut items = Items::open(from, Self::KIND, limits)?;
        parameters_of(&mut items)?;
        let most = largest_key(&parameters);
        let mut previous = None;
        let keys = entries.iter().map(|_| {
            let changed = || Error::Wire { what: Self::KIND.name(), reason: Reason::Digest };
            let mut reader = items.read(1, most)?.ok_or_else(changed)?;
            let name = read_name(context.rlwe(), previous, &mut reader)?;
            previous = Some(name);
            Ok((name, <KeySwitchKey as Object>::read(context.rlwe(), &mut reader)?))
        });
        write(to.into(), Kind::EXPANDED_BOOTSTRAP_KEYS, &context, &parameters, &entries, keys, progress)
    }

    /// Writes these keys as they lie in memory to a file that can be mapped, as a whole or not at all; gives its bytes, which
    /// are those of [`BootstrapKeyFile::expand`].
    ///
    /// # Errors
    /// As [`write_to_map`], and [`Error::FileChanged`] for mapped keys whose file has changed.
    pub fn write_expanded<'p>(&self, to: impl Into<Destination<'p>>) -> Result<u64> {
        let mut writer = writer(Kind::EXPANDED_BOOTSTRAP_KEYS, &self.parameters);
        self.write_items(&mut writer, |key, writer| key.write_expanded(self.context.rlwe(), writer));
        write_to_map(to.into(), &writer, "disk for expanded bootstrapping keys", || self.keys.check_files())
    }

    /// Adds the parameters, and an item for each key, its sections by `write`.
    fn write_items<'a>(&'a self, writer: &mut Writer<'a>, write: impl Fn(&'a KeySwitchKey, &mut Writer<'a>)) {
        self.parameters.write(&(), writer);
        for (name, key) in self.keys.named() {
            writer.next_item();
            write_name(name, writer);
            write(key, writer);
        }
    }

    /// The keys in an expanded file, used where they lie: nothing is copied, and processes that map the same file share one
    /// copy. `limits.check_digest` says whether the whole file is read and checked now; if not, only its frame, its
    /// parameters and the names of its keys are, and its pages come from the disk when they are first used.
    ///
    /// An expanded file serves the machine that it was made on. Whoever can write to it must be trusted: see
    /// [`MappedFile`](noren_math::machine::mapped::MappedFile).
    ///
    /// # Errors
    /// As [`BootstrapKeyFile::read`].
    pub fn map(path: &Path, limits: &Limits) -> Result<Self> {
        let container = MappedContainer::open(path)?;
        let mut reader = container.reader(Kind::EXPANDED_BOOTSTRAP_KEYS, limits)?;
        let parameters = Parameters::read(&(), &mut reader)?;
        reader.check_fingerprint(&parameters.fingerprint())?;
        let context = Context::new(parameters.ckks()?)?;
        let mut keys = Vec::new();
        while reader.next_item()? {
            let name = read_name(context.rlwe(), keys.last().map(|&(name, _)| name), &mut reader)?;
            let key = KeySwitchKey::map_expanded(context.rlwe(), &mut reader, &container, limits.check_digest)?;
            keys.push((name, key));
        }
        reader.finish()?;
        Self::gather(context, parameters, keys)
    }

    /// The parameters in a file of either kind, before any key is read. Its digest is not checked.
    ///
    /// # Errors
    /// As [`BootstrapKeyFile::read`].
    pub fn read_parameters(path: &Path, limits: &Limits) -> Result<Parameters> {
        parameters_of(&mut Items::open(path, kind_of(path)?, limits)?)
    }

    /// The keys in a file: read once and expanded one by one, so that no second copy of them is held. `progress` hears of
    /// every key.
    ///
    /// # Errors
    /// [`Error::Io`] with the path, [`Error::WrongKind`], [`Error::Wire`] if the file was damaged, [`Error::KeyMismatch`] if its
    /// keys belong to different secret keys, [`Error::MissingKey`] names all keys that bootstrapping needs and that are missing.
    pub fn read(path: &Path, limits: &Limits, progress: &mut dyn FnMut(Progress)) -> Result<Self> {
        let mut items = Items::open(path, Self::KIND, limits)?;
        let parameters = parameters_of(&mut items)?;
        let context = Context::new(parameters.ckks()?)?;
        let (of, of_bytes) = (items.count() - PARAMETER_ITEMS as usize, items.header().length);
        let (mut keys, most) = (Vec::new(), largest_key(&parameters));
        while let Some(mut reader) = items.read(1, most)? {
            keys.push(read_key(&context, &keys, &mut reader)?);
            reader.finish()?;
            progress(Progress { done: keys.len(), of, bytes: items.bytes_read(), of_bytes });
        }
        items.finish()?;
        Self::gather(context, parameters, keys)
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

    /// These keys in their sets, if none is missing.
    fn gather(
        context: Context,
        parameters: Parameters,
        keys: impl IntoIterator<Item = (KeyName, KeySwitchKey)>,
    ) -> Result<Self> {
        let mut gathered = Gathered::new(&context, &parameters)?;
        keys.into_iter().try_for_each(|(name, key)| gathered.take(name, key))?;
        let keys = Arc::new(gathered.finish()?);
        keys.check(&context, &parameters)?;
        Ok(Self { context, parameters, keys })
    }
}

impl Object for BootstrapKeyFile {
    type Context = ();
    const KIND: Kind = Kind::BOOTSTRAP_KEYS;

    fn needed_fingerprint((): &()) -> Option<[u8; 32]> {
        None
    }

    fn fingerprint(&self, (): &()) -> [u8; 32] {
        self.parameters.fingerprint()
    }

    fn check_files(&self) -> Result<()> {
        self.keys.check_files()
    }

    fn write<'a>(&'a self, (): &'a (), writer: &mut Writer<'a>) {
        self.write_items(writer, |key, writer| key.write(self.context.rlwe(), writer));
    }

    fn read((): &(), reader: &mut Reader<'_>) -> Result<Self> {
        let parameters = Parameters::read(&(), reader)?;
        let context = Context::new(parameters.ckks()?)?;
        let mut keys = Vec::new();
        while reader.next_item()? {
            keys.push(read_key(&context, &keys, reader)?);
        }
        Self::gather(context, parameters, keys)
    }

    /// As [`BootstrapKeyFile::read`], unheard.
    fn read_file((): &(), path: &Path, limits: &Limits) -> Result<Self> {
        Self::read(path, limits, &mut |_| {})
    }
}

/// The contents of a file of keys.
#[derive(Debug, Clone)]
pub struct Contents {
    /// The use of the keys.
    pub parameters: Parameters,
    /// The header of the file.
    pub header: Header,
    /// The identity of the secret key whose ciphertexts are bootstrapped; none if there are no keys.
    pub owner: Option<KeyId>,
    keys: Vec<Entry>,
}

impl Contents {
    /// Adds the key in the current item, whose sections are passed over.
    fn skim(&mut self, context: &Context, reader: &mut Reader<'_>) -> Result<()> {
        let name = read_name(context.rlwe(), self.keys.last().map(|entry| entry.name), reader)?;
        let outline = KeySwitchKey::skim(context.rlwe(), reader)?;
        let key = if name.set == KeySet::ToEphemeral { outline.from } else { outline.owner.key };
        self.owner.get_or_insert(key).check(key, "a key of the file")?;
        self.keys.push(Entry { name, shape: outline.shape, limbs: outline.limbs });
        Ok(())
    }

    /// The use of each key, and its limbs.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = (String, usize)> {
        self.keys.iter().map(|entry| (entry.name.describe(self.parameters.degree()), entry.limbs))
    }
}

/// The kind of a file; what is no file of keys is taken for one of seeded keys, and refused where it is opened.
fn kind_of(path: &Path) -> Result<Kind> {
    let expanded = Kind::EXPANDED_BOOTSTRAP_KEYS;
    Ok(if file::kind(path)? == Some(expanded) { expanded } else { Kind::BOOTSTRAP_KEYS })
}

/// An empty container for keys.
fn writer(kind: Kind, parameters: &Parameters) -> Writer<'static> {
    Writer::new(kind, parameters.fingerprint(), Form::Packed)
}

/// The sections of a file of keys.
fn outline<'a>(kind: Kind, context: &Context, parameters: &'a Parameters, entries: &[Entry]) -> Result<Writer<'a>> {
    let mut outline = writer(kind, parameters);
    parameters.write(&(), &mut outline);
    for &Entry { shape, limbs, .. } in entries {
        outline.next_item();
        announce_name(&mut outline);
        let announce = if kind.is_expanded() { KeySwitchKey::announce_expanded } else { KeySwitchKey::announce };
        announce(context.rlwe(), shape, limbs, &mut outline)?;
    }
    Ok(outline)
}

/// Writes a file of keys, each when it comes; gives its bytes.
fn write(
    to: Destination<'_>,
    kind: Kind,
    context: &Context,
    parameters: &Parameters,
    entries: &[Entry],
    keys: impl Iterator<Item = Result<(KeyName, KeySwitchKey)>>,
    progress: &mut dyn FnMut(Progress),
) -> Result<u64> {
    let outline = outline(kind, context, parameters, entries)?;
    let failed = |source| Error::Io { path: to.path.to_owned(), source };
    // Gigabytes of an interrupted run, which would be missed now.
    file::remove_leftovers(to.path);
    file::make_atomically(to, Access::Default, |file| {
        file::reserve(file, outline.encoded_len()).map_err(failed)?;
        let mut stream = Stream::begin(&outline, file).map_err(failed)?;
        let of_bytes = stream.length();
        let mut part = writer(kind, parameters);
        parameters.write(&(), &mut part);
        stream.put(&part).map_err(failed)?;
        for (i, key) in keys.enumerate() {
            let (name, key) = key?;
            let mut part = writer(kind, parameters);
            write_name(name, &mut part);
            match kind.is_expanded() {
                true => key.write_expanded(context.rlwe(), &mut part),
                false => key.write(context.rlwe(), &mut part),
            }
            stream.put(&part).map_err(failed)?;
            progress(Progress { done: i + 1, of: entries.len(), bytes: stream.written(), of_bytes });
        }
        stream.finish().map_err(failed)?;
        Ok(of_bytes)
    })
}

/// The key in the current item, with its name, behind these keys.
fn read_key(
    context: &Context,
    keys: &[(KeyName, KeySwitchKey)],
    reader: &mut Reader<'_>,
) -> Result<(KeyName, KeySwitchKey)> {
    let name = read_name(context.rlwe(), keys.last().map(|&(name, _)| name), reader)?;
    Ok((name, <KeySwitchKey as Object>::read(context.rlwe(), reader)?))
}

/// The parameters at the beginning of a file.
fn parameters_of(items: &mut Items) -> Result<Parameters> {
    let fingerprint = items.header().fingerprint;
    let what = items.header().kind.name();
    let missing = || Error::Wire { what, reason: Reason::Fingerprint };
    let mut reader = items.read(PARAMETER_ITEMS, SMALL_BYTES)?.ok_or_else(missing)?;
    let parameters = Parameters::read(&(), &mut reader)?;
    reader.finish()?;
    if fingerprint == parameters.fingerprint() { Ok(parameters) } else { Err(missing()) }
}

/// More bytes than any key of these parameters takes in a file of either kind.
fn largest_key(parameters: &Parameters) -> u64 {
    let primes = parameters.max_level() + 1 + parameters.spec().special.count;
    // Keys of few limbs have at most as many digits as limbs.
    let digits = parameters.gadget().digits().len().max(parameters.input_level() + 1);
    (2 * digits * primes * parameters.degree() * size_of::<u64>()) as u64 + SMALL_BYTES
}
