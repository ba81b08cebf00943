//! Encrypted tables as bytes.

use noren_rlwe::error::Result;
use noren_rlwe::wire::kind::Kind;
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::reader::Reader;
use noren_rlwe::wire::section::Section;
use noren_rlwe::wire::writer::Writer;
use serde_json::Value;

use crate::programs::integers::{IntegerLayout, IntegerTable};
use crate::programs::table::{EncryptedTable, Layout};
use crate::schemes::summary::CiphertextSummary;
use crate::schemes::{bfv, ckks};

/// The layout, as JSON in UTF-8; each ciphertext follows in an item of its own.
pub(super) const LAYOUT: u16 = 0x0001;

impl Object for EncryptedTable<ckks::Ciphertext> {
    type Context = ckks::Context;
    const KIND: Kind = Kind::TABLE;

    fn needed_fingerprint(context: &ckks::Context) -> Option<[u8; 32]> {
        ckks::Ciphertext::needed_fingerprint(context)
    }

    fn fingerprint(&self, context: &ckks::Context) -> [u8; 32] {
        // A layout has at least one row and one column, so there is at least one ciphertext.
        self.ciphertexts()[0].fingerprint(context)
    }

    fn write<'a>(&'a self, context: &'a ckks::Context, writer: &mut Writer<'a>) {
        write(self.layout().to_json(), self.ciphertexts(), context, writer);
    }

    fn read(context: &ckks::Context, reader: &mut Reader<'_>) -> Result<Self> {
        let (layout, _) = read_layout(Layout::from_json, Layout::to_json, reader)?;
        let ciphertexts = read(context, reader)?;
        let table = Self::new(layout, ciphertexts)?;
        let owner = table.key_id();
        let check = |other: &ckks::Ciphertext| owner.check(other.key_id(), "a ciphertext of the table");
        table.ciphertexts().iter().try_for_each(check)?;
        Ok(table)
    }
}

impl Object for IntegerTable {
    type Context = bfv::Context;
    const KIND: Kind = Kind::INTEGER_TABLE;

    fn needed_fingerprint(context: &bfv::Context) -> Option<[u8; 32]> {
        bfv::Ciphertext::needed_fingerprint(context)
    }

    fn fingerprint(&self, context: &bfv::Context) -> [u8; 32] {
        self.ciphertexts()[0].fingerprint(context)
    }

    fn write<'a>(&'a self, context: &'a bfv::Context, writer: &mut Writer<'a>) {
        write(self.layout().to_json(), self.ciphertexts(), context, writer);
    }

    fn read(context: &bfv::Context, reader: &mut Reader<'_>) -> Result<Self> {
        let (layout, _) = read_layout(IntegerLayout::from_json, IntegerLayout::to_json, reader)?;
        Self::new(layout, read(context, reader)?)
    }
}

/// The layout of a table as JSON and its ciphertexts in numbers, each by `skim`, or that of columns: no context is needed.
pub(crate) fn skim<L>(
    reader: &mut Reader<'_>,
    from_json: fn(&str) -> Result<L>,
    to_json: fn(&L) -> String,
    skim: Option<fn(&mut Reader<'_>) -> Result<CiphertextSummary>>,
) -> Result<(Option<Value>, Option<CiphertextSummary>)> {
    let (_, section) = read_layout(from_json, to_json, reader)?;
    let ciphertexts = match skim {
        Some(skim) if reader.next_item()? => Some(CiphertextSummary::of_all(reader, skim)?),
        _ => None,
    };
    Ok((serde_json::from_slice(section.as_bytes()).ok(), ciphertexts))
}

fn write<'a, C: Object>(layout: String, ciphertexts: &'a [C], context: &'a C::Context, writer: &mut Writer<'a>) {
    writer.bytes(LAYOUT, layout.into_bytes());
    for ciphertext in ciphertexts {
        writer.next_item();
        ciphertext.write(context, writer);
    }
}

/// A layout, which is JSON in the one form that is written, and its section.
pub(super) fn read_layout<'r, L>(
    from_json: impl Fn(&str) -> Result<L>,
    to_json: impl Fn(&L) -> String,
    reader: &mut Reader<'r>,
) -> Result<(L, Section<'r>)> {
    let section = reader.take(LAYOUT)?;
    let text = std::str::from_utf8(section.bytes()?).map_err(|error| section.value("layout", error, "UTF-8"))?;
    let layout = from_json(text)?;
    if to_json(&layout) != text {
        return Err(section.value("layout", "another form of JSON", "the form that is written"));
    }
    Ok((layout, section))
}

/// The ciphertexts behind a layout.
fn read<C: Object>(context: &C::Context, reader: &mut Reader<'_>) -> Result<Vec<C>> {
    let mut ciphertexts = Vec::new();
    while reader.next_item()? {
        ciphertexts.push(C::read(context, reader)?);
    }
    Ok(ciphertexts)
}
