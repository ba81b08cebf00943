//! Encrypted tables of real numbers as bytes.

use noren_rlwe::error::Result;
use noren_rlwe::wire::kind::Kind;
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::reader::Reader;
use noren_rlwe::wire::writer::Writer;

use crate::programs::table::{EncryptedTable, Layout};
use crate::programs::wire::{read, read_layout, write};
use crate::schemes::ckks::context::Context;
use crate::schemes::ckks::encryption::Ciphertext;

impl Object for EncryptedTable<Ciphertext> {
    type Context = Context;
    const KIND: Kind = Kind::TABLE;

    fn needed_fingerprint(context: &Context) -> Option<[u8; 32]> {
        Ciphertext::needed_fingerprint(context)
    }

    fn fingerprint(&self, context: &Context) -> [u8; 32] {
        // A layout has at least one row and one column, so there is at least one ciphertext.
        self.ciphertexts()[0].fingerprint(context)
    }

    fn write<'a>(&'a self, context: &'a Context, writer: &mut Writer<'a>) {
        write(self.layout().to_json(), self.ciphertexts(), context, writer);
    }

    fn read(context: &Context, reader: &mut Reader<'_>) -> Result<Self> {
        let (layout, _) = read_layout(Layout::from_json, Layout::to_json, reader)?;
        let ciphertexts = read(context, reader)?;
        let table = Self::new(layout, ciphertexts)?;
        let owner = table.key_id();
        let check = |other: &Ciphertext| owner.check(other.key_id(), "a ciphertext of the table");
        table.ciphertexts().iter().try_for_each(check)?;
        Ok(table)
    }
}
