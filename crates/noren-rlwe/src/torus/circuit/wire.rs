//! Bytes of the keys of circuit bootstrapping.

use crate::error::Result;
use crate::torus::circuit::keys::{Bodies, CompactCircuitKeys, Part};
use crate::torus::circuit::spec::CircuitSpec;
use crate::torus::digits::Digits;
use crate::torus::parameters::TorusParameters;
use crate::torus::wire::{read_names, words, write_names};
use crate::wire::kind::Kind;
use crate::wire::object::Object;
use crate::wire::reader::Reader;
use crate::wire::writer::Writer;

/// The digits, eight words.
const DIGITS: u16 = 0x0130;
/// The bodies of the blind rotation, of the trace, and of products with secrets.
const ROTATION: u16 = 0x0131;
const TRACE: u16 = 0x0132;
const SQUARE: u16 = 0x0133;

impl Object for CompactCircuitKeys {
    type Context = TorusParameters;
    const KIND: Kind = Kind::CIRCUIT_KEYS;

    fn needed_fingerprint(parameters: &TorusParameters) -> Option<[u8; 32]> {
        Some(parameters.fingerprint())
    }

    fn fingerprint(&self, _: &TorusParameters) -> [u8; 32] {
        self.parameters.torus().fingerprint()
    }

    fn write<'a>(&'a self, _: &'a TorusParameters, writer: &mut Writer<'a>) {
        write_names(writer, &self.key, &self.seed);
        writer.words(DIGITS, self.parameters.spec().words().to_vec());
        writer.words(ROTATION, &self.bodies.rotation);
        writer.words(TRACE, &self.bodies.trace);
        writer.words(SQUARE, &self.bodies.square);
    }

    fn read(parameters: &TorusParameters, reader: &mut Reader<'_>) -> Result<Self> {
        let (key, seed) = read_names(reader)?;
        let [a, b, c, d, e, f, g, h] = reader.take(DIGITS)?.word_array()?;
        let [rotation, trace, square, control] = [[a, b], [c, d], [e, f], [g, h]].map(Digits::from_words);
        let spec = CircuitSpec { rotation, trace, square, control };
        let parameters = spec.build(parameters)?;
        let mut bodies = |tag, part: Part| {
            let (items, rows) = part.size(&parameters);
            words(&reader.take(tag)?, items * rows * parameters.torus().shape().degree)
        };
        let bodies = Bodies {
            rotation: bodies(ROTATION, Part::Rotation)?,
            trace: bodies(TRACE, Part::Trace)?,
            square: bodies(SQUARE, Part::Square)?,
        };
        Ok(Self { parameters, key, seed, bodies })
    }
}
