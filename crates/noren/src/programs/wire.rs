//! Encrypted tables as bytes.

use noren_rlwe::error::Result;
use noren_rlwe::wire::kind::Kind;
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::reader::Reader;
use noren_rlwe::wire::writer::Writer;

use crate::programs::table::{EncryptedTable, Layout};

/// The layout, as JSON in UTF-8; each ciphertext follows in an item of its own.
const LAYOUT: u16 = 0x0001;

impl<C: Object> Object for EncryptedTable<C> {
    type Context = C::Context;
    const KIND: Kind = Kind::Table;

    fn needed_fingerprint(context: &C::Context) -> Option<[u8; 32]> {
        C::needed_fingerprint(context)
    }

    fn fingerprint(&self, context: &C::Context) -> [u8; 32] {
        // A layout has at least one row and one column, so there is at least one ciphertext.
        self.ciphertexts()[0].fingerprint(context)
    }

    fn write<'a>(&'a self, context: &'a C::Context, writer: &mut Writer<'a>) {
        writer.bytes(LAYOUT, self.layout().to_json().into_bytes());
        for ciphertext in self.ciphertexts() {
            writer.next_item();
            ciphertext.write(context, writer);
        }
    }

    fn read(context: &C::Context, reader: &mut Reader<'_>) -> Result<Self> {
        let section = reader.take(LAYOUT)?;
        let text = std::str::from_utf8(section.bytes()?)
            .map_err(|error| section.value("layout", error.to_string(), "UTF-8".to_owned()))?;
        let layout = Layout::from_json(text)?;
        if layout.to_json() != text {
            return Err(section.value(
                "layout",
                "another form of JSON".to_owned(),
                "the form that is written".to_owned(),
            ));
        }
        let mut ciphertexts = Vec::new();
        while reader.next_item()? {
            ciphertexts.push(C::read(context, reader)?);
        }
        Self::new(layout, ciphertexts)
    }
}
