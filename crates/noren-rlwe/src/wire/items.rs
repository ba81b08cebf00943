//! Containers that are read from files item by item: no more of them is in memory than one item.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use noren_math::machine::memory;

use crate::error::{Error, Result};
use crate::wire::file;
use crate::wire::header::{self, DIGEST_AT, ENTRY_BYTES, Encoding, Entry, HEADER_BYTES, Header};
use crate::wire::kind::Kind;
use crate::wire::pieces;
use crate::wire::reader::{Limits, Reader, check_zero, common_form, contents};
use crate::wire::reason::Reason;
use crate::wire::section::{Section, refused};
use crate::wire::writer::Form;

/// A container in a file whose header and table of contents are checked.
///
/// Its items are read in order, each once, and the file is read once: the digest is known only behind the last item.
/// **What was made of the items must not be used before [`Items::finish`] has found the digest right.** That costs
/// nothing where all is needed anyway, and is half the reading of a file that is first checked and then read.
#[derive(Debug)]
pub struct Items {
    file: File,
    path: PathBuf,
    header: Header,
    entries: Vec<Entry>,
    form: Option<Form>,
    hasher: Option<blake3::Hasher>,
    /// How many sections were read.
    taken: usize,
    /// The bytes of the item that is read.
    bytes: Vec<u8>,
}

impl Items {
    /// Opens a container that must hold an object of one kind.
    ///
    /// # Errors
    /// [`Error::Io`] with the path, [`Error::WrongKind`] if it holds another kind, [`Error::Wire`] with the [`Reason`] why
    /// it is refused. Nothing is allocated but for a table of contents that is there.
    pub fn open(path: &Path, needed: Kind, limits: &Limits) -> Result<Self> {
        let failed = |source| Error::Io { path: path.to_owned(), source };
        let (mut file, found) = file::open(path, limits.max_bytes)?;
        let mut first = Vec::with_capacity(HEADER_BYTES);
        (&mut file).take(HEADER_BYTES as u64).read_to_end(&mut first).map_err(failed)?;
        let header = Header::parse(&first).map_err(|reason| refused(needed, reason))?;
        if header.kind != needed {
            return Err(Error::WrongKind { found: header.kind.to_string(), needed: needed.to_string() });
        }
        let no = |reason| refused(needed, reason);
        let end = header::contents_end(header.sections);
        for needed in [header.length, end.max(found)] {
            if found != needed {
                return Err(no(Reason::Length { found, needed }));
            }
        }
        let mut table = vec![0; (end - HEADER_BYTES as u64) as usize];
        file.read_exact(&mut table).map_err(failed)?;
        let used = ENTRY_BYTES * header.sections as usize;
        let entries = contents(&table[..used], &header, found).map_err(no)?;
        check_zero(&table, HEADER_BYTES as u64, used..table.len()).map_err(no)?;
        let form = common_form(entries.iter()).map_err(no)?;
        let hasher = limits.check_digest.then(|| {
            let mut hasher = blake3::Hasher::new();
            hasher.update(&first[..DIGEST_AT]).update(&table);
            hasher
        });
        Ok(Self { file, path: path.to_owned(), header, entries, form, hasher, taken: 0, bytes: Vec::new() })
    }

    /// The header of the container.
    #[must_use]
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// How many items there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.entries.last().map_or(0, |entry| entry.place.item as usize + 1)
    }

    /// How many bytes of the file were read.
    #[must_use]
    pub fn bytes_read(&self) -> u64 {
        self.offset(self.taken)
    }

    /// Reads the next `items` items, or those that are left, which may have up to `max_bytes` together; `None` behind the
    /// last one.
    ///
    /// # Errors
    /// [`Error::Io`] with the path, [`Error::Wire`] with the [`Reason`] why it is refused.
    pub fn read(&mut self, items: u32, max_bytes: u64) -> Result<Option<Reader<'_>>> {
        let Some(first) = self.entries.get(self.taken) else { return Ok(None) };
        let item = first.place.item;
        let among = |entry: &&Entry| entry.place.item - item < items;
        let count = self.entries[self.taken..].iter().take_while(among).count();
        let (from, to) = (self.offset(self.taken), self.offset(self.taken + count));
        if to - from > max_bytes {
            return Err(self.refused(Reason::Limit { what: "bytes of its items", found: to - from, limit: max_bytes }));
        }
        let failed = |source| Error::Io { path: self.path.clone(), source };
        self.bytes.clear();
        memory::reserve(&mut self.bytes, (to - from) as usize).map_err(|missing| failed(missing.into()))?;
        pieces::read(&mut self.file, &mut self.bytes, to - from, &pieces::steps(to - from)).map_err(failed)?;
        if self.bytes.len() as u64 != to - from {
            // It was longer when it was opened.
            let found = from + self.bytes.len() as u64;
            return Err(self.refused(Reason::Length { found, needed: self.header.length }));
        }
        if let Some(hasher) = &mut self.hasher {
            pieces::absorb(hasher, &self.bytes);
        }
        let entries = &self.entries[self.taken..][..count];
        self.taken += count;
        let mut sections = Vec::with_capacity(count);
        for &entry in entries {
            let start = (entry.offset - from) as usize;
            let end = start + entry.length as usize;
            check_zero(&self.bytes, from, end..end.next_multiple_of(header::ALIGNMENT as usize))
                .map_err(|reason| self.refused(reason))?;
            sections.push(Section { kind: self.header.kind, entry, bytes: &self.bytes[start..end] });
        }
        Ok(Some(Reader { header: self.header.clone(), sections, form: self.form, taken: 0, item }))
    }

    /// The first bytes, at most `most`, of the first section of bytes with this tag in the items from `first` on, and nothing
    /// else of the container; `None` if there is no such section. The digest is not looked at.
    ///
    /// # Errors
    /// [`Error::Io`] with the path.
    pub fn into_bytes_of(mut self, first: u32, tag: u16, most: u64) -> Result<Option<Vec<u8>>> {
        let is_it =
            |entry: &&Entry| entry.encoding == Encoding::Bytes && entry.place.item >= first && entry.place.tag == tag;
        let Some(&Entry { offset, length, .. }) = self.entries.iter().find(is_it) else { return Ok(None) };
        let mut bytes = Vec::new();
        let read = self.file.seek(SeekFrom::Start(offset));
        let read = read.and_then(|_| (&mut self.file).take(length.min(most)).read_to_end(&mut bytes));
        read.map_err(|source| Error::Io { path: self.path, source })?;
        Ok(Some(bytes))
    }

    /// Compares the digest.
    ///
    /// # Errors
    /// [`Reason::Digest`] if the file was damaged or changed, [`Reason::Unexpected`] if items were not read.
    pub fn finish(self) -> Result<()> {
        if let Some(entry) = self.entries.get(self.taken) {
            return Err(self.refused(Reason::Unexpected { place: entry.place }));
        }
        match &self.hasher {
            Some(hasher) if *hasher.finalize().as_bytes() != self.header.digest => Err(self.refused(Reason::Digest)),
            _ => Ok(()),
        }
    }

    /// Where a section begins; behind the last one, the end.
    fn offset(&self, section: usize) -> u64 {
        self.entries.get(section).map_or(self.header.length, |entry| entry.offset)
    }

    fn refused(&self, reason: Reason) -> Error {
        refused(self.header.kind, reason)
    }
}
