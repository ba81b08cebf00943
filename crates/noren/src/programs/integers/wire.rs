//! Encrypted tables of whole numbers as bytes.

use noren_rlwe::error::Result;
use noren_rlwe::wire::kind::Kind;
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::reader::Reader;
use noren_rlwe::wire::writer::Writer;

use crate::programs::integers::table::{IntegerLayout, IntegerTable};
use crate::programs::wire::{read, read_layout, write};
use crate::schemes::bfv::{Ciphertext, Context};

impl Object for IntegerTable {
    type Context = Context;
    const KIND: Kind = Kind::INTEGER_TABLE;

    fn needed_fingerprint(context: &Context) -> Option<[u8; 32]> {
        Ciphertext::needed_fingerprint(context)
    }

    fn fingerprint(&self, context: &Context) -> [u8; 32] {
        self.ciphertexts()[0].fingerprint(context)
    }

    fn write<'a>(&'a self, context: &'a Context, writer: &mut Writer<'a>) {
        write(self.layout().to_json(), self.ciphertexts(), context, writer);
    }

    fn read(context: &Context, reader: &mut Reader<'_>) -> Result<Self> {
        let (layout, _) = read_layout(IntegerLayout::from_json, IntegerLayout::to_json, reader)?;
        Self::new(layout, read(context, reader)?)
    }
}
