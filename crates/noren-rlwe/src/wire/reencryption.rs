//! Re-encryption keys as sections.

use crate::context::Context;
use crate::error::{Error, Result};
use crate::keys::{KeyOutline, KeySwitchKey};
use crate::reencryption::{ReencryptionKey, check_distinct};
use crate::wire::key_file::{FileContext, FileKey, KeyFile};
use crate::wire::kind::Kind;
use crate::wire::object::Object;
use crate::wire::reader::Reader;
use crate::wire::writer::Writer;

impl Object for ReencryptionKey {
    type Context = Context;
    const KIND: Kind = Kind::REENCRYPTION_KEY;

    fn needed_fingerprint(context: &Context) -> Option<[u8; 32]> {
        Some(context.parameters().fingerprint())
    }

    fn fingerprint(&self, _context: &Context) -> [u8; 32] {
        *self.switch.fingerprint()
    }

    fn write<'a>(&'a self, context: &'a Context, writer: &mut Writer<'a>) {
        self.switch.write(context, writer);
    }

    fn read(context: &Context, reader: &mut Reader<'_>) -> Result<Self> {
        let switch = KeySwitchKey::read(context, reader)?;
        let (found, needed) = (switch.shape, context.parameters().shape());
        if found != needed {
            return Err(Error::KeyShape { what: "the re-encryption key", found, needed });
        }
        if switch.seed.is_none() {
            return Err(Error::parameter("uniform halves", "without a seed", "those of a seed"));
        }
        check_distinct(switch.from, switch.owner.key)?;
        Ok(Self { switch })
    }
}

impl<C: FileContext> KeyFile<C, ReencryptionKey>
where
    ReencryptionKey: FileKey<C>,
{
    /// The context, and the outline of the key, in a container. Nothing is expanded.
    ///
    /// # Errors
    /// [`Error::Wire`] with the reason why a section is refused, and what the parameters refuse.
    pub fn outline(reader: &mut Reader<'_>) -> Result<(C, KeyOutline)> {
        let context = C::of(C::Parameters::read(&(), reader)?)?;
        reader.next_item()?;
        let outline = KeySwitchKey::skim(context.rlwe(), reader)?;
        Ok((context, outline))
    }
}
