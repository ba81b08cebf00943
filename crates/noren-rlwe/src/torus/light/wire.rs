//! Bytes of light keys.

use crate::error::Result;
use crate::torus::light::keys::{Bodies, LightKeys, Part};
use crate::torus::parameters::TorusParameters;
use crate::torus::wire::{SWITCH, joined, read_names, split, words, write_names};
use crate::wire::kind::Kind;
use crate::wire::object::Object;
use crate::wire::reader::Reader;
use crate::wire::writer::Writer;

/// The bodies of packed samples, of the trace, and of products with secrets.
const PACKED: u16 = 0x0140;
const TRACE: u16 = 0x0141;
const SQUARE: u16 = 0x0142;

impl Object for LightKeys {
    type Context = TorusParameters;
    const KIND: Kind = Kind::TORUS_LIGHT_KEYS;

    fn needed_fingerprint(parameters: &TorusParameters) -> Option<[u8; 32]> {
        Some(parameters.fingerprint())
    }

    fn fingerprint(&self, _: &TorusParameters) -> [u8; 32] {
        self.parameters.fingerprint()
    }

    fn write<'a>(&'a self, _: &'a TorusParameters, writer: &mut Writer<'a>) {
        write_names(writer, &self.key, &self.seed);
        writer.words(SWITCH, joined(&self.switch));
        writer.words(PACKED, &self.bodies.packed);
        writer.words(TRACE, &self.bodies.trace);
        writer.words(SQUARE, &self.bodies.square);
    }

    /// # Errors
    /// As for all objects; [`Error::Parameters`](crate::error::Error::Parameters) for parameters that are not of light keys.
    fn read(parameters: &TorusParameters, reader: &mut Reader<'_>) -> Result<Self> {
        let spec = parameters.light()?;
        let (key, seed) = read_names(reader)?;
        let switch = split(&words(&reader.take(SWITCH)?, parameters.switch_bodies() / 2)?);
        let mut bodies = |tag, part: Part| {
            let (items, rows) = part.size(parameters, &spec);
            words(&reader.take(tag)?, items * rows * parameters.shape().degree)
        };
        let bodies = Bodies {
            packed: bodies(PACKED, Part::Packed)?,
            trace: bodies(TRACE, Part::Trace)?,
            square: bodies(SQUARE, Part::Square)?,
        };
        Ok(Self { parameters: parameters.clone(), key, seed, bodies, switch })
    }
}
