//! Objects of containers: the verbs that turn them into bytes and back.

use std::path::Path;

use zeroize::Zeroize;

use crate::error::{Error, Result};
use crate::wire::file;
use crate::wire::kind::Kind;
use crate::wire::publish::Destination;
use crate::wire::reader::{Limits, Reader};
use crate::wire::reason::Reason;
use crate::wire::writer::{Form, Writer};

/// An object that travels as bytes.
///
/// A type says which sections it has ([`Object::write`], [`Object::read`]); the container and the files are the same
/// for all. One object can hold another: its `write` and `read` then call those of the inner object, on the same item
/// or on one of its own.
///
/// ```
/// use noren_rlwe::parameters::{Parameters, ParametersSpec};
/// use noren_rlwe::security::Security;
/// use noren_rlwe::wire::object::Object;
/// use noren_rlwe::wire::writer::Form;
///
/// let spec = ParametersSpec { index: 32, q: vec![97, 193], security: Security::None, ..ParametersSpec::default() };
/// let parameters = spec.build()?;
/// let bytes = parameters.to_bytes(&(), Form::Packed);
/// assert_eq!(Parameters::from_bytes(&(), &bytes)?, parameters);
/// # Ok::<(), noren_rlwe::error::Error>(())
/// ```
pub trait Object: Sized {
    /// The context that reading and writing need: that of a scheme, or `()` where the object stands for itself.
    type Context;

    /// The kind in the header.
    const KIND: Kind;

    /// The fingerprint that a container must have to be read with this context; `None` if the object brings its own.
    fn needed_fingerprint(context: &Self::Context) -> Option<[u8; 32]>;

    /// The fingerprint of the parameters that this object belongs to.
    fn fingerprint(&self, context: &Self::Context) -> [u8; 32];

    /// Adds the sections of this object to the current item, or to items from there on.
    ///
    /// # Panics
    /// If the object was not made with this context.
    fn write<'a>(&'a self, context: &'a Self::Context, writer: &mut Writer<'a>);

    /// Takes the sections of this object from where the reader stands, and checks what they say.
    ///
    /// # Errors
    /// [`Error::Wire`] with the [`Reason`] why a section is refused.
    fn read(context: &Self::Context, reader: &mut Reader<'_>) -> Result<Self>;

    /// Refuses an object that lies in a mapped file which has changed: what was written of it may be wrong. To be called after
    /// it was written, as [`Object::write_file`] does.
    ///
    /// # Errors
    /// [`Error::FileChanged`].
    fn check_files(&self) -> Result<()> {
        Ok(())
    }

    /// A container that holds this object and nothing else.
    ///
    /// # Panics
    /// As [`Object::write`].
    fn writer<'a>(&'a self, context: &'a Self::Context, form: Form) -> Writer<'a> {
        let mut writer = Writer::new(Self::KIND, self.fingerprint(context), form);
        self.write(context, &mut writer);
        writer
    }

    /// The bytes of this object. Those of a secret key are as secret as the key: the caller has to wipe them.
    ///
    /// # Panics
    /// As [`Object::write`].
    fn to_bytes(&self, context: &Self::Context, form: Form) -> Vec<u8> {
        self.writer(context, form).to_bytes()
    }

    /// The object that these bytes hold.
    ///
    /// # Errors
    /// [`Error::WrongKind`] if they hold another kind of object, [`Error::ParameterMismatch`] if it belongs to other
    /// parameters, [`Error::Wire`] with the [`Reason`] if the bytes are refused, and what the parameters refuse.
    fn from_bytes(context: &Self::Context, bytes: &[u8]) -> Result<Self> {
        Self::from_bytes_within(context, bytes, &Limits::default())
    }

    /// [`Object::from_bytes`] with other limits than the default ones.
    ///
    /// # Errors
    /// As [`Object::from_bytes`].
    fn from_bytes_within(context: &Self::Context, bytes: &[u8], limits: &Limits) -> Result<Self> {
        let mut reader = Reader::open(bytes, Self::KIND, limits)?;
        if let Some(needed) = Self::needed_fingerprint(context) {
            reader.check_fingerprint(&needed)?;
        }
        let object = Self::read(context, &mut reader)?;
        let fits = reader.header().fingerprint == object.fingerprint(context);
        reader.finish()?;
        if fits { Ok(object) } else { Err(Error::Wire { what: Self::KIND.name(), reason: Reason::Fingerprint }) }
    }

    /// Writes a file, as a whole or not at all; that of a secret key is readable by its owner only. A path replaces the file that
    /// is there, [`Destination::keeping`] refuses it.
    ///
    /// No second copy of the object is held: sections go from where they lie to the file, row by row.
    ///
    /// # Errors
    /// [`Error::Io`] with the path, [`Error::Exists`] for a file that is kept, [`Error::FileChanged`] as
    /// [`Object::check_files`].
    ///
    /// # Panics
    /// As [`Object::write`].
    fn write_file<'p>(&self, context: &Self::Context, form: Form, to: impl Into<Destination<'p>>) -> Result<()> {
        let access = if Self::KIND.is_secret() { file::Access::Owner } else { file::Access::Default };
        let (to, writer) = (to.into(), self.writer(context, form));
        file::make_atomically(to, access, |file| {
            writer.write_to(file).map_err(|source| Error::Io { path: to.path.to_owned(), source })?;
            self.check_files()
        })
    }

    /// The object that a file holds.
    ///
    /// # Errors
    /// [`Error::Io`] with the path if the file cannot be read or is larger than the limit; otherwise as
    /// [`Object::from_bytes`].
    fn read_file(context: &Self::Context, path: &Path, limits: &Limits) -> Result<Self> {
        let bytes = FileBytes { bytes: file::read(path, limits.max_bytes)?, secret: Self::KIND.is_secret() };
        Self::from_bytes_within(context, &bytes.bytes, limits)
    }
}

/// The bytes of a file: those of a secret are wiped, also where the work is interrupted.
struct FileBytes {
    bytes: Vec<u8>,
    secret: bool,
}

impl Drop for FileBytes {
    fn drop(&mut self) {
        if self.secret {
            self.bytes.zeroize();
        }
    }
}
