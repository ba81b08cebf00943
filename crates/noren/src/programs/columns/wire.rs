//! Encrypted columns as bytes.

use noren_rlwe::error::{Error, Result};
use noren_rlwe::wire::kind::Kind;
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::reader::Reader;
use noren_rlwe::wire::reason::Reason;
use noren_rlwe::wire::writer::Writer;

use crate::programs::columns::column::{Column, Samples};
use crate::programs::columns::table::{Columns, Layout};
use crate::programs::wire::{LAYOUT, read_layout};
use crate::schemes::tfhe::{Bits, Ciphertexts, Encoding, Parameters, SeededCiphertexts};

impl Object for Columns {
    type Context = Parameters;
    const KIND: Kind = Kind::TFHE_COLUMNS;

    fn needed_fingerprint(parameters: &Parameters) -> Option<[u8; 32]> {
        Some(parameters.fingerprint())
    }

    fn fingerprint(&self, parameters: &Parameters) -> [u8; 32] {
        parameters.fingerprint()
    }

    fn write<'a>(&'a self, parameters: &'a Parameters, writer: &mut Writer<'a>) {
        writer.bytes(LAYOUT, self.layout().to_json().into_bytes());
        for column in self.columns() {
            writer.next_item();
            if let Some(seeded) = column.seeded() {
                seeded.write(parameters, writer);
                continue;
            }
            match column.samples() {
                Samples::Bits(bits) => bits.write(parameters, writer),
                Samples::Digits(ciphertexts) => ciphertexts.write(parameters, writer),
            }
        }
    }

    fn read(parameters: &Parameters, reader: &mut Reader<'_>) -> Result<Self> {
        let (layout, section) = read_layout(Layout::from_json, Layout::to_json, reader)?;
        let mut columns = Vec::new();
        for described in layout.columns {
            if !reader.next_item()? {
                return Err(Error::Wire {
                    what: Self::KIND.name(),
                    reason: Reason::Missing { place: section.place() },
                });
            }
            let column = match parameters.encoding() {
                _ if SeededCiphertexts::are_next(reader) => {
                    Column::of_seeded(parameters, described.element, SeededCiphertexts::read(parameters, reader)?)?
                }
                Encoding::Bits => Column::of_bits(Bits::read(parameters, reader)?.0)?,
                Encoding::Integers { .. } => {
                    let Ciphertexts(digits) = Ciphertexts::read(parameters, reader)?;
                    Column::of_digits(parameters, described.element, digits)?
                }
            };
            if column.element() != described.element {
                return Err(section.value("the elements", described.element, column.element()));
            }
            columns.push((described.name, column));
        }
        Self::new(layout.shape, columns)
    }
}
