//! Re-encryption keys as sections.

use noren_math::random::Seed;

use crate::context::Context;
use crate::error::{Error, Result};
use crate::keygen::{check_public, public_half};
use crate::keys::{KeyOutline, KeySwitchKey, PublicKey};
use crate::owner::{KeyId, Owner};
use crate::reencryption::{ReceiverKey, ReencryptionKey, check_distinct};
use crate::wire::key_file::{FileContext, FileKey, KeyFile};
use crate::wire::keys::{B, KEY, SEED};
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
        if let Some(receiver) = &self.receiver {
            writer.next_item();
            receiver.write(context, writer);
        }
    }

    fn read(context: &Context, reader: &mut Reader<'_>) -> Result<Self> {
        let switch = KeySwitchKey::read(context, reader)?;
        let (found, needed) = (switch.shape, context.parameters().shape());
        if found != needed {
            return Err(Error::KeyShape { what: "the re-encryption key", found, needed });
        }
        check_distinct(switch.from, switch.owner.key)?;
        // Uniform halves that are no seed's are those of a public key, which follows.
        let receiver = match switch.seed {
            Some(_) => None,
            None => {
                reader.next_item()?;
                let public = PublicKey::read(context, reader)?;
                switch.owner.check(&public.owner, "the receiver's public key")?;
                Some(public)
            }
        };
        Ok(Self { switch, receiver })
    }
}

impl Object for ReceiverKey {
    type Context = Context;
    const KIND: Kind = Kind::RECEIVER_KEY;

    fn needed_fingerprint(context: &Context) -> Option<[u8; 32]> {
        Some(context.parameters().fingerprint())
    }

    fn fingerprint(&self, _context: &Context) -> [u8; 32] {
        self.owner.fingerprint
    }

    fn write<'a>(&'a self, context: &'a Context, writer: &mut Writer<'a>) {
        writer.bytes(KEY, self.owner.key.0.as_slice());
        writer.bytes(SEED, self.seed.as_bytes().as_slice());
        writer.poly(B, context.ring_qp(context.parameters().max_limbs()), &self.b);
    }

    fn read(context: &Context, reader: &mut Reader<'_>) -> Result<Self> {
        let parameters = context.parameters();
        if parameters.gadget().is_none() {
            return Err(Error::parameter("p", "empty", "at least one special prime, which re-encryption divides by"));
        }
        let ring = context.ring_qp(parameters.max_limbs());
        let owner = Owner { fingerprint: parameters.fingerprint(), key: KeyId(reader.take(KEY)?.array()?) };
        let seed = Seed::from_bytes(reader.take(SEED)?.array()?);
        let b = reader.take(B)?.poly(&ring)?;
        check_public(&ring, &b)?;
        let a = public_half(&ring, &seed);
        Ok(Self { b, a, seed, owner })
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
