//! Encrypted tables as bytes, of any scheme: a layout, and ciphertexts behind it.

use noren_rlwe::error::Result;
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::reader::Reader;
use noren_rlwe::wire::section::Section;
use noren_rlwe::wire::writer::Writer;
use serde_json::Value;

use crate::schemes::summary::CiphertextSummary;

/// The layout, as JSON in UTF-8; each ciphertext follows in an item of its own.
pub(super) const LAYOUT: u16 = 0x0001;

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

/// Writes a layout as JSON and the ciphertexts behind it.
pub(super) fn write<'a, C: Object>(
    layout: String,
    ciphertexts: &'a [C],
    context: &'a C::Context,
    writer: &mut Writer<'a>,
) {
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
pub(super) fn read<C: Object>(context: &C::Context, reader: &mut Reader<'_>) -> Result<Vec<C>> {
    let mut ciphertexts = Vec::new();
    while reader.next_item()? {
        ciphertexts.push(C::read(context, reader)?);
    }
    Ok(ciphertexts)
}
