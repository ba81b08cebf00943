//! Files of keys: compact ones that are written while they are made, and expanded ones that are used where they lie.

use std::path::Path;
use std::sync::Arc;

use noren_math::random::Seed;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::torus::keygen::TorusKeyGenerator;
use noren_rlwe::torus::keys::{CompactKeys, ServerKeys};
use noren_rlwe::torus::secret::TorusSecret;
use noren_rlwe::wire::expanded::MappedContainer;
use noren_rlwe::wire::file::{self, Access};
use noren_rlwe::wire::kind::Kind;
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::publish::Destination;
use noren_rlwe::wire::reader::Limits;
use noren_rlwe::wire::stream::Stream;
use noren_rlwe::wire::writer::{Form, Writer};

use crate::schemes::tfhe::context::Context;
use crate::schemes::tfhe::parameters::Parameters;
use crate::schemes::tfhe::wire::KeyFile;

/// Server keys with their parameters, used where they lie in a file: nothing is copied, and processes that map the same file
/// share one copy.
///
/// Such a file serves the machine that it was made on. Whoever can write to it must be trusted: see
/// [`MappedFile`](noren_math::machine::mapped::MappedFile).
pub struct ServerKeyFile {
    /// A context of the parameters.
    pub context: Context,
    /// The keys.
    pub keys: Arc<ServerKeys>,
}

impl ServerKeyFile {
    /// Writes keys as they lie in memory; gives the bytes of the file. It appears as a whole or not at all.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`] for keys of other parameters, [`Error::Parameters`] for those of a context of exact products,
    /// [`Error::Io`] with the path, [`Error::Exists`] for a file that is kept.
    pub fn write<'p>(to: impl Into<Destination<'p>>, context: &Context, keys: &ServerKeys) -> Result<u64> {
        context.check_keys(keys.owner(), "the server keys")?;
        let to = to.into();
        let path = to.path;
        let parameters = context.parameters();
        let mut writer = Writer::new(Kind::TFHE_SERVER_KEYS, parameters.fingerprint(), Form::Raw);
        parameters.write(&(), &mut writer);
        writer.next_item();
        keys.write_expanded(context.server(), &mut writer)?;
        file::make_atomically(to, Access::Default, |file| {
            writer.write_to(file).map_err(|source| Error::Io { path: path.to_owned(), source })?;
            keys.check_file()
        })?;
        Ok(writer.encoded_len())
    }

    /// The keys in a file, where they lie. `limits.check_digest` says whether the whole file is read and checked now; if not,
    /// only its frame and its parameters are, and its pages come from the disk when they are first used. Threads are as for
    /// [`Context::with_threads`].
    ///
    /// # Errors
    /// [`Error::Io`] with the path, [`Error::WrongKind`], [`Error::Wire`] if the file was damaged or has another layout, and what
    /// the parameters refuse.
    pub fn map(path: &Path, limits: &Limits, threads: Option<usize>) -> Result<Self> {
        let container = MappedContainer::open(path)?;
        let mut reader = container.reader(Kind::TFHE_SERVER_KEYS, limits)?;
        let parameters = Parameters::read(&(), &mut reader)?;
        reader.check_fingerprint(&parameters.fingerprint())?;
        reader.next_item()?;
        let context = Context::with_threads(parameters, threads)?;
        let torus = context.parameters().torus();
        let keys = ServerKeys::map_expanded(torus, context.server(), &mut reader, &container)?;
        reader.finish()?;
        Ok(Self { keys: Arc::new(keys), context })
    }
}

impl Context {
    /// Writes the file of the keys of [`Context::compact_keys`] with their parameters, [`KeyFile`]`<`[`CompactKeys`]`>`, while they
    /// are made: no more than about a MiB of them is held, whatever the set. Gives its bytes, which are those of the whole in
    /// packed form; the file appears as a whole or not at all.
    ///
    /// # Errors
    /// As [`Context::compact_keys`]; [`Error::Io`] with the path, [`Error::Exists`] for a file that is kept.
    pub fn write_compact_keys<'p>(
        &self,
        seed: &Seed,
        secret: &TorusSecret,
        to: impl Into<Destination<'p>>,
    ) -> Result<u64> {
        let to = to.into();
        let path = to.path;
        let parameters = self.parameters();
        let outline = self.outline();
        let mut first = Writer::new(KeyFile::<CompactKeys>::KIND, parameters.fingerprint(), Form::Packed);
        parameters.write(&(), &mut first);
        let failed = |source| Error::Io { path: path.to_owned(), source };
        file::make_atomically(to, Access::Default, |file| {
            file::reserve(file, outline.encoded_len()).map_err(failed)?;
            let mut stream = Stream::begin(&outline, file).map_err(failed)?;
            stream.put(&first).map_err(failed)?;
            let generator = TorusKeyGenerator::of_secret(parameters.torus(), seed, secret);
            generator.stream_compact(self.engine(), self.product(), secret, (&mut stream, path))?;
            let bytes = stream.length();
            stream.finish().map_err(failed)?;
            Ok(bytes)
        })
    }

    /// The bytes of the file that [`Context::write_compact_keys`] would write.
    #[must_use]
    pub fn compact_file_bytes(&self) -> u64 {
        self.outline().encoded_len()
    }

    /// The sections of a file of compact keys, without their contents.
    fn outline(&self) -> Writer<'_> {
        let parameters = self.parameters();
        let mut outline = Writer::new(KeyFile::<CompactKeys>::KIND, parameters.fingerprint(), Form::Packed);
        parameters.write(&(), &mut outline);
        outline.next_item();
        CompactKeys::announce(parameters.torus(), &mut outline);
        outline
    }
}
