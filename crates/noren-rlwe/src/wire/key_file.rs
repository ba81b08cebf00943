//! Keys that bring the parameters of their scheme along: one file that needs no other.

use std::path::Path;

use crate::context::Context as RlweContext;
use crate::error::Result;
use crate::key_use::KeyUse;
use crate::keys::{EvaluationKeys, KeyOutline};
use crate::wire::expanded::{MappedContainer, write_to_map};
use crate::wire::file;
use crate::wire::kind::Kind;
use crate::wire::object::Object;
use crate::wire::publish::Destination;
use crate::wire::reader::{Limits, Reader};
use crate::wire::writer::{Form, Writer};

/// A key with the context of its scheme's parameters, as a container holds them: the parameters in item 0, the key from
/// item 1 on.
pub struct KeyFile<C, K> {
    /// The context that the key was made in.
    pub context: C,
    /// The key.
    pub key: K,
}

/// The context of a scheme, which its parameters give.
pub trait FileContext: Sized {
    /// The parameters of the scheme.
    type Parameters: Object<Context = ()>;

    /// The context of these parameters.
    ///
    /// # Errors
    /// [`Error::Ring`](crate::error::Error::Ring) if the rings cannot be made.
    fn of(parameters: Self::Parameters) -> Result<Self>;

    /// The parameters.
    fn parameters(&self) -> &Self::Parameters;

    /// The rings and converters.
    fn rlwe(&self) -> &RlweContext;
}

/// A key that can stand in a [`KeyFile`] with parameters of the context's scheme.
pub trait FileKey<C>: Object<Context = RlweContext> {
    /// The kind of container that holds it with its parameters.
    const FILE_KIND: Kind;
}

/// Evaluation keys that can also stand in a file as they lie in memory, with parameters of the context's scheme.
pub trait ExpandedFileKey<C>: FileKey<C> {
    /// The kind of container that holds them in that form.
    const EXPANDED_KIND: Kind;
}

impl<C: FileContext> KeyFile<C, EvaluationKeys>
where
    EvaluationKeys: ExpandedFileKey<C>,
{
    /// The kind of a file of [`KeyFile::write_expanded`].
    pub const EXPANDED_KIND: Kind = <EvaluationKeys as ExpandedFileKey<C>>::EXPANDED_KIND;

    /// Writes the keys as they lie in memory to a file that can be mapped, as a whole or not at all; gives its bytes.
    ///
    /// # Errors
    /// [`Error::Resources`](crate::error::Error::Resources) before anything is written if the disk has no room for it,
    /// [`Error::Io`](crate::error::Error::Io) with the path, [`Error::Exists`](crate::error::Error::Exists) for a file that is
    /// kept, [`Error::FileChanged`](crate::error::Error::FileChanged) for mapped keys whose file has changed.
    pub fn write_expanded<'p>(&self, to: impl Into<Destination<'p>>) -> Result<u64> {
        let parameters = self.context.parameters();
        let mut writer = Writer::new(Self::EXPANDED_KIND, parameters.fingerprint(&()), Form::Raw);
        parameters.write(&(), &mut writer);
        writer.next_item();
        self.key.write_expanded(self.context.rlwe(), &mut writer);
        write_to_map(to.into(), &writer, "disk for expanded evaluation keys", || self.key.check_files())
    }

    /// The keys in a file of [`KeyFile::write_expanded`], used where they lie: nothing is copied, and processes that map the same
    /// file share one copy. `limits.check_digest` says whether the whole file is read and checked now; if not, only its frame,
    /// its parameters and the names of its keys are, and its pages come from the disk when they are first used.
    ///
    /// An expanded file serves the machine that it was made on. Whoever can write to it must be trusted: see
    /// [`MappedFile`](noren_math::machine::mapped::MappedFile).
    ///
    /// # Errors
    /// [`Error::Io`](crate::error::Error::Io) with the path, [`Error::WrongKind`](crate::error::Error::WrongKind),
    /// [`Error::Wire`](crate::error::Error::Wire) if the file was damaged, and what the parameters refuse.
    pub fn map(path: &Path, limits: &Limits) -> Result<Self> {
        let container = MappedContainer::open(path)?;
        let mut reader = container.reader(Self::EXPANDED_KIND, limits)?;
        let parameters = C::Parameters::read(&(), &mut reader)?;
        reader.check_fingerprint(&parameters.fingerprint(&()))?;
        reader.next_item()?;
        let context = C::of(parameters)?;
        let key = EvaluationKeys::map_expanded(context.rlwe(), &mut reader, &container, limits.check_digest)?;
        reader.finish()?;
        Ok(Self { context, key })
    }

    /// The context, and the use and the outline of each key, in a container of either kind. Nothing is expanded.
    ///
    /// # Errors
    /// [`Error::Wire`](crate::error::Error::Wire) with the reason why a section is refused, and what the parameters refuse.
    pub fn skim(reader: &mut Reader<'_>) -> Result<(C, Vec<(KeyUse, KeyOutline)>)> {
        let context = C::of(C::Parameters::read(&(), reader)?)?;
        reader.next_item()?;
        let keys = EvaluationKeys::skim(context.rlwe(), reader)?;
        Ok((context, keys))
    }

    /// The keys in a file of either kind: read, or mapped.
    ///
    /// # Errors
    /// As [`Object::read_file`] and [`KeyFile::map`].
    pub fn open(path: &Path, limits: &Limits) -> Result<Self> {
        if file::kind(path)? == Some(Self::EXPANDED_KIND) {
            Self::map(path, limits)
        } else {
            Self::read_file(&(), path, limits)
        }
    }
}

impl<C: FileContext, K: FileKey<C>> Object for KeyFile<C, K> {
    type Context = ();
    const KIND: Kind = K::FILE_KIND;

    fn needed_fingerprint((): &()) -> Option<[u8; 32]> {
        None
    }

    fn fingerprint(&self, (): &()) -> [u8; 32] {
        self.context.parameters().fingerprint(&())
    }

    fn write<'a>(&'a self, (): &'a (), writer: &mut Writer<'a>) {
        self.context.parameters().write(&(), writer);
        writer.next_item();
        self.key.write(self.context.rlwe(), writer);
    }

    fn check_files(&self) -> Result<()> {
        self.key.check_files()
    }

    /// Reads the parameters and checks them again, and the key with them. Whether their security is enough is for the
    /// caller to say.
    fn read((): &(), reader: &mut Reader<'_>) -> Result<Self> {
        let context = C::of(C::Parameters::read(&(), reader)?)?;
        reader.next_item()?;
        let key = K::read(context.rlwe(), reader)?;
        Ok(Self { context, key })
    }
}
