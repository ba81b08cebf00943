//! Sizes in the headers of the pages of a Parquet file, checked before anything is allocated by them.
//!
//! A header is a structure of Thrift in its compact protocol, of which three numbers and those of the dictionary are read. Source:
//! `parquet.thrift` (`PageHeader`, `DictionaryPageHeader`) of the Apache Parquet format.

use arrow_schema::ArrowError;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};

/// The bytes of one value of a dictionary of numbers, at most.
const VALUE: usize = 8;

/// The most bytes that the pages of these columns take in one part of the file, and the values of their dictionaries.
///
/// # Errors
/// A page that leaves its column, that is larger than all of the column is to be, or a dictionary of more values than bytes.
pub(super) fn stated_bytes(
    metadata: &ParquetMetaData,
    columns: impl Fn(usize) -> bool,
    file: &[u8],
) -> Result<usize, ArrowError> {
    let mut most = 0;
    for group in metadata.row_groups() {
        let chosen = group.columns().iter().enumerate().filter(|(index, _)| columns(*index));
        let all = chosen.map(|(_, chunk)| bytes_of_chunk(chunk, file));
        most = most.max(all.sum::<Result<usize, ArrowError>>()?);
    }
    Ok(most)
}

/// The bytes that the pages of a column in one part of the file take.
fn bytes_of_chunk(chunk: &ColumnChunkMetaData, file: &[u8]) -> Result<usize, ArrowError> {
    let (start, length) = chunk.byte_range();
    let end = start.checked_add(length).and_then(|end| usize::try_from(end).ok());
    let column = end.and_then(|end| file.get(usize::try_from(start).ok()?..end)).ok_or_else(|| damaged("a column"))?;
    let limit = usize::try_from(chunk.uncompressed_size()).map_err(|_| damaged("a column"))?;
    let (mut rest, mut all) = (column, 0usize);
    while !rest.is_empty() {
        let mut header = Thrift { bytes: rest };
        let page = Page::read(&mut header).ok_or_else(|| damaged("the header of a page"))?;
        let fits = page.compressed <= header.bytes.len() && page.uncompressed <= limit;
        if !fits || page.dictionary > page.uncompressed {
            return Err(damaged("the header of a page"));
        }
        all = all.saturating_add(page.uncompressed).saturating_add(VALUE * page.dictionary);
        rest = &header.bytes[page.compressed..];
    }
    Ok(all)
}

fn damaged(what: &str) -> ArrowError {
    ArrowError::ParseError(format!("{what} that cannot be"))
}

/// The sizes in a header.
#[derive(Debug, Default, PartialEq, Eq)]
struct Page {
    uncompressed: usize,
    compressed: usize,
    /// The values of a dictionary; none for other pages.
    dictionary: usize,
}

impl Page {
    /// Reads a header; nothing if it is none.
    fn read(header: &mut Thrift<'_>) -> Option<Self> {
        const UNCOMPRESSED: i64 = 2;
        const COMPRESSED: i64 = 3;
        const DICTIONARY: i64 = 7;
        const VALUES: i64 = 1;
        let mut page = Self::default();
        header.fields(|header, id, kind| match (id, kind) {
            (UNCOMPRESSED, Thrift::I32) => header.count().map(|count| page.uncompressed = count),
            (COMPRESSED, Thrift::I32) => header.count().map(|count| page.compressed = count),
            (DICTIONARY, Thrift::STRUCT) => header.fields(|header, id, kind| match (id, kind) {
                (VALUES, Thrift::I32) => header.count().map(|count| page.dictionary = count),
                _ => header.skip(kind, 1),
            }),
            _ => header.skip(kind, 0),
        })?;
        Some(page)
    }
}

/// Bytes in the compact protocol of Thrift.
struct Thrift<'a> {
    bytes: &'a [u8],
}

impl Thrift<'_> {
    const I32: u8 = 5;
    const STRUCT: u8 = 12;
    /// How deep structures of unknown fields may be.
    const DEPTH: usize = 16;

    fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(first)
    }

    /// A number of variable length: seven bits in each byte, the lowest first.
    fn variable(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    /// A number with its sign in the lowest bit.
    fn signed(&mut self) -> Option<i64> {
        let number = self.variable()?;
        Some((number >> 1).cast_signed() ^ -((number & 1).cast_signed()))
    }

    /// A number of 32 bits that counts something.
    fn count(&mut self) -> Option<usize> {
        // As readers take it: what is above 32 bits does not count.
        usize::try_from(self.signed()? as i32).ok()
    }

    /// The fields of a structure: `read` takes each, by its number and type.
    fn fields(&mut self, mut read: impl FnMut(&mut Self, i64, u8) -> Option<()>) -> Option<()> {
        let mut id = 0;
        loop {
            let byte = self.byte()?;
            let (step, kind) = (byte >> 4, byte & 0xf);
            if kind == 0 {
                return Some(());
            }
            id = if step == 0 { self.signed()? } else { id + i64::from(step) };
            read(self, id, kind)?;
        }
    }

    /// Leaves a value out that stands in a field of a structure.
    fn skip(&mut self, kind: u8, depth: usize) -> Option<()> {
        match kind {
            // Truth values of fields are their types.
            1 | 2 => Some(()),
            _ => self.skip_element(kind, depth),
        }
    }

    fn skip_element(&mut self, kind: u8, depth: usize) -> Option<()> {
        if depth > Self::DEPTH {
            return None;
        }
        match kind {
            1..=3 => self.byte().map(|_| ()),
            4..=6 => self.variable().map(|_| ()),
            7 => self.leave_out(8),
            8 => {
                let length = usize::try_from(self.variable()?).ok()?;
                self.leave_out(length)
            }
            9 | 10 => {
                let byte = self.byte()?;
                let count = if byte >> 4 == 0xf { self.variable()? } else { u64::from(byte >> 4) };
                (0..count).try_for_each(|_| self.skip_element(byte & 0xf, depth + 1))
            }
            Self::STRUCT => self.fields(|header, _, kind| header.skip(kind, depth + 1)),
            // No header has a map.
            _ => None,
        }
    }

    fn leave_out(&mut self, bytes: usize) -> Option<()> {
        self.bytes = self.bytes.get(bytes..)?;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_and_what_is_none_is_refused() {
        // A dictionary page of 24 bytes, 20 of them compressed, with a checksum, of 3 values in PLAIN, sorted; and a byte more.
        let bytes = [0x15, 4, 0x15, 48, 0x15, 40, 0x15, 7, 0x3c, 0x15, 6, 0x15, 0, 0x11, 0, 0, 9];
        let mut header = Thrift { bytes: &bytes };
        assert_eq!(Page::read(&mut header), Some(Page { uncompressed: 24, compressed: 20, dictionary: 3 }));
        assert_eq!(header.bytes, [9]);
        // A data page with statistics: two texts and a truth value.
        let bytes = [0x15, 0, 0x15, 16, 0x15, 16, 0x2c, 0x15, 4, 0x4c, 0x18, 2, 1, 2, 0x18, 1, 3, 0x11, 0, 0, 0];
        assert_eq!(
            Page::read(&mut Thrift { bytes: &bytes }),
            Some(Page { uncompressed: 8, compressed: 8, dictionary: 0 })
        );
        for length in 0..bytes.len() {
            assert_eq!(Page::read(&mut Thrift { bytes: &bytes[..length] }), None, "{length}");
        }
        // A negative size; a list that would never end; structures without end.
        for bytes in [&[0x25, 1, 0][..], &[0x99, 0xf3, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1], &[0x9c; 100]] {
            assert_eq!(Page::read(&mut Thrift { bytes }), None, "{bytes:?}");
        }
    }
}
