//! Bytes of the keys of scheme switching.

use crate::context::Context;
use crate::error::{Error, Result};
use crate::keys::KeySwitchKey;
use crate::torus::parameters::TorusParameters;
use crate::torus::scheme_switch::keys::{Bodies, CompactSwitchKeys, Part};
use crate::torus::scheme_switch::law::UP_SHAPE;
use crate::torus::scheme_switch::spec::SwitchSpec;
use crate::torus::wire::{read_names, words, write_names};
use crate::wire::kind::Kind;
use crate::wire::object::Object;
use crate::wire::reader::Reader;
use crate::wire::writer::Writer;

/// The digits, four words.
const DIGITS: u16 = 0x0130;
/// The bodies of the key switch from s to Z, and of packing.
const DOWN: u16 = 0x0131;
const PACKING: u16 = 0x0132;

/// The context of both schemes, and in the header the fingerprint of both: the BLAKE3 digest of the text
/// `noren-switch-context-v1` and the fingerprints of the torus parameters and of the RLWE parameters.
impl Object for CompactSwitchKeys {
    type Context = (Context, TorusParameters);
    const KIND: Kind = Kind::SWITCH_KEYS;

    fn needed_fingerprint((context, torus): &Self::Context) -> Option<[u8; 32]> {
        Some(fingerprint(&torus.fingerprint(), &context.parameters().fingerprint()))
    }

    fn fingerprint(&self, _: &Self::Context) -> [u8; 32] {
        fingerprint(&self.parameters.torus().fingerprint(), &self.parameters.rlwe().fingerprint())
    }

    /// Adds the sections over the torus, then an item for the key switching key.
    fn write<'a>(&'a self, (context, _): &'a Self::Context, writer: &mut Writer<'a>) {
        write_names(writer, &self.key, &self.seed);
        writer.words(DIGITS, self.parameters.spec().words().to_vec());
        writer.words(DOWN, &self.bodies.down);
        writer.words(PACKING, &self.bodies.packing);
        writer.next_item();
        self.up.write(context, writer);
    }

    fn read((context, torus): &Self::Context, reader: &mut Reader<'_>) -> Result<Self> {
        let (key, seed) = read_names(reader)?;
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

fn fingerprint(torus: &[u8; 32], rlwe: &[u8; 32]) -> [u8; 32] {
    blake3::Hasher::new().update(b"noren-switch-context-v1").update(torus).update(rlwe).finalize().into()
}
