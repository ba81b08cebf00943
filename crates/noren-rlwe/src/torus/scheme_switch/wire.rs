//! Bytes of the keys of scheme switching.

use noren_math::random::Seed;

use crate::context::Context;
use crate::error::{Error, Result};
use crate::keys::KeySwitchKey;
use crate::owner::{KeyId, Owner};
use crate::torus::parameters::TorusParameters;
use crate::torus::scheme_switch::keys::{Bodies, CompactSwitchKeys, Part};
use crate::torus::scheme_switch::law::UP_SHAPE;
use crate::torus::scheme_switch::spec::SwitchSpec;
use crate::torus::wire::{KEY, SEED, words};
use crate::wire::kind::Kind;
use crate::wire::object::Object;
use crate::wire::reader::Reader;
use crate::wire::writer::Writer;

/// The fingerprint of the torus parameters.
const TORUS: u16 = 0x0102;
/// The digits, four words.
const DIGITS: u16 = 0x0130;
/// The bodies of the key switch from s to Z, and of packing.
const DOWN: u16 = 0x0131;
const PACKING: u16 = 0x0132;

impl CompactSwitchKeys {
    /// Adds the sections over the torus to the current item, then an item for the key switching key.
    ///
    /// # Panics
    /// As [`Object::write`].
    pub fn write_items<'a>(&'a self, context: &'a Context, writer: &mut Writer<'a>) {
        writer.bytes(KEY, self.key.0.as_slice());
        writer.bytes(TORUS, self.parameters.torus().fingerprint().to_vec());
        writer.bytes(SEED, self.seed.as_bytes().as_slice());
        writer.words(DIGITS, self.parameters.spec().words().to_vec());
        writer.words(DOWN, &self.bodies.down);
        writer.words(PACKING, &self.bodies.packing);
        writer.next_item();
        self.up.write(context, writer);
    }
}

impl Object for CompactSwitchKeys {
    type Context = (Context, TorusParameters);
    const KIND: Kind = Kind::SWITCH_KEYS;

    /// That of the RLWE parameters.
    fn needed_fingerprint((context, _): &Self::Context) -> Option<[u8; 32]> {
        Some(context.parameters().fingerprint())
    }

    fn fingerprint(&self, _: &Self::Context) -> [u8; 32] {
        self.parameters.rlwe().fingerprint()
    }

    fn write<'a>(&'a self, (context, _): &'a Self::Context, writer: &mut Writer<'a>) {
        self.write_items(context, writer);
    }

    fn read((context, torus): &Self::Context, reader: &mut Reader<'_>) -> Result<Self> {
        let key = KeyId(reader.take(KEY)?.array()?);
        let torus_owner = Owner { fingerprint: torus.fingerprint(), key };
        torus_owner.check(&Owner { fingerprint: reader.take(TORUS)?.array()?, key }, "the scheme switching keys")?;
        let seed = Seed::from_bytes(reader.take(SEED)?.array()?);
        let spec = SwitchSpec::from_words(reader.take(DIGITS)?.word_array()?);
        let parameters = spec.build(torus, context.parameters())?;
        let mut bodies = |tag, part: Part| {
            let (items, rows, degree) = part.size(&parameters);
            words(&reader.take(tag)?, items * rows * degree)
        };
        let bodies = Bodies { down: bodies(DOWN, Part::Down)?, packing: bodies(PACKING, Part::Packing)? };
        reader.next_item()?;
        let up = KeySwitchKey::read(context, reader)?;
        if up.shape != UP_SHAPE {
            return Err(Error::KeyShape { what: "the key of the way up", found: up.shape, needed: UP_SHAPE });
        }
        Ok(Self { parameters, key, seed, bodies, up })
    }
}
