//! Keys that bring the parameters of their scheme along: one file that needs no other.

use crate::context::Context as RlweContext;
use crate::error::Result;
use crate::wire::kind::Kind;
use crate::wire::object::Object;
use crate::wire::reader::Reader;
use crate::wire::writer::Writer;

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

    /// Reads the parameters and checks them again, and the key with them. Whether their security is enough is for the
    /// caller to say.
    fn read((): &(), reader: &mut Reader<'_>) -> Result<Self> {
        let context = C::of(C::Parameters::read(&(), reader)?)?;
        reader.next_item()?;
        let key = K::read(context.rlwe(), reader)?;
        Ok(Self { context, key })
    }
}
