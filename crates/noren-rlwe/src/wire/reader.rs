//! Sections from containers: everything is checked before it is used.

use std::ops::Range;

use crate::error::{Error, Result, short_fingerprint};
use crate::wire::header::{self, DIGEST_AT, ENTRY_BYTES, Encoding, Entry, HEADER_BYTES, Header};
use crate::wire::kind::Kind;
use crate::wire::pieces::absorb;
use crate::wire::reason::{Place, Reason};
use crate::wire::section::{Section, refused};
use crate::wire::writer::Form;

/// How much is read, and how strictly.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// The most bytes that are taken from a file.
    pub max_bytes: u64,
    /// Whether a wrong digest is refused. `false` lets a fuzzer reach what lies behind the digest, and maps a file without
    /// reading it.
    pub check_digest: bool,
}

impl Default for Limits {
    /// 64 GiB: more than the keys of the largest ring.
    fn default() -> Self {
        Self { max_bytes: 1 << 36, check_digest: true }
    }
}

/// One container whose frame is checked: hands out its sections in order.
///
/// After `open` the length, the digest, the table of contents and the padding are known to be right, and every section
/// lies within the bytes. What a section means is checked by the verb that reads it, before anything is allocated;
/// nothing is ever allocated by a length that is not that of bytes which are there.
///
/// For an example see [`Writer`](crate::wire::writer::Writer).
#[derive(Debug)]
pub struct Reader<'a> {
    pub(super) header: Header,
    pub(super) sections: Vec<Section<'a>>,
    pub(super) form: Option<Form>,
    /// How many sections have been taken.
    pub(super) taken: usize,
    /// The item that is being read.
    pub(super) item: u32,
}

impl<'a> Reader<'a> {
    /// Opens a container that must hold an object of one kind.
    ///
    /// # Errors
    /// [`Error::WrongKind`] if it holds another one, [`Error::Wire`] with the [`Reason`] why the bytes are refused.
    pub fn open(bytes: &'a [u8], needed: Kind, limits: &Limits) -> Result<Self> {
        let header = Header::parse(bytes).map_err(|reason| refused(needed, reason))?;
        if header.kind != needed {
            return Err(Error::WrongKind { found: header.kind.to_string(), needed: needed.to_string() });
        }
        Self::open_any(bytes, limits)
    }

    /// Opens a container of any kind.
    ///
    /// # Errors
    /// [`Error::Wire`] with the [`Reason`] why the bytes are refused.
    pub fn open_any(bytes: &'a [u8], limits: &Limits) -> Result<Self> {
        let header = Header::parse(bytes).map_err(|reason| Error::Wire { what: "the file", reason })?;
        let kind = header.kind;
        let entries = frame(bytes, &header, limits).map_err(|reason| refused(kind, reason))?;
        let form = common_form(entries.iter().map(|(entry, _)| entry)).map_err(|reason| refused(kind, reason))?;
        let sections = entries.into_iter().map(|(entry, bytes)| Section { kind, entry, bytes }).collect();
        Ok(Self { header, sections, form, taken: 0, item: 0 })
    }

    /// The header of the container.
    #[must_use]
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// How the polynomials are written; `None` if there is none.
    #[must_use]
    pub const fn form(&self) -> Option<Form> {
        self.form
    }

    /// All sections, in order, whether taken or not.
    #[must_use]
    pub fn sections(&self) -> &[Section<'a>] {
        &self.sections
    }

    /// Checks that the object belongs to the parameters with this fingerprint.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`] with both fingerprints.
    pub fn check_fingerprint(&self, needed: &[u8; 32]) -> Result<()> {
        if self.header.fingerprint == *needed {
            return Ok(());
        }
        let (left, right) = (short_fingerprint(needed), short_fingerprint(&self.header.fingerprint));
        Err(Error::ParameterMismatch { left, right, what: self.header.kind.name() })
    }

    /// The next section, which must have this tag and belong to the current item.
    ///
    /// # Errors
    /// [`Reason::Missing`] if it is another one or there is none.
    pub fn take(&mut self, tag: u16) -> Result<Section<'a>> {
        match self.take_if(tag) {
            Some(section) => Ok(section),
            None => Err(self.refused(Reason::Missing { place: Place { item: self.item, tag } })),
        }
    }

    /// The next section if it has this tag and belongs to the current item.
    pub fn take_if(&mut self, tag: u16) -> Option<Section<'a>> {
        let next = *self.sections.get(self.taken)?;
        if next.place() != (Place { item: self.item, tag }) {
            return None;
        }
        self.taken += 1;
        Some(next)
    }

    /// The section of the current item with this tag, if it has not been taken: it stays to be taken.
    #[must_use]
    pub fn peek(&self, tag: u16) -> Option<Section<'a>> {
        let place = Place { item: self.item, tag };
        self.sections[self.taken..].iter().find(|section| section.place() == place).copied()
    }

    /// The bytes of all sections of the current item.
    pub(super) fn item_bytes(&self) -> u64 {
        let first = self.sections.partition_point(|section| section.place().item < self.item);
        let sections = self.sections[first..].iter().take_while(|section| section.place().item == self.item);
        sections.map(|section| section.bytes.len() as u64).sum()
    }

    /// Whether sections of this or of a later item are left.
    #[must_use]
    pub fn has_more(&self) -> bool {
        self.taken < self.sections.len()
    }

    /// Goes to the next item: `false` if there is none.
    ///
    /// # Errors
    /// [`Reason::Unexpected`] if sections of the current item have not been taken.
    pub fn next_item(&mut self) -> Result<bool> {
        match self.sections.get(self.taken) {
            None => Ok(false),
            // Items have no gaps, so a later one is the next one.
            Some(next) if next.place().item > self.item => {
                self.item += 1;
                Ok(true)
            }
            Some(next) => Err(self.refused(Reason::Unexpected { place: next.place() })),
        }
    }

    /// Ends the reading.
    ///
    /// # Errors
    /// [`Reason::Unexpected`] if a section has not been taken: what was not understood is not passed over.
    pub fn finish(self) -> Result<()> {
        match self.sections.get(self.taken) {
            None => Ok(()),
            Some(next) => Err(self.refused(Reason::Unexpected { place: next.place() })),
        }
    }

    fn refused(&self, reason: Reason) -> Error {
        refused(self.header.kind, reason)
    }
}

/// Checks the frame: lengths, digest, table of contents, padding. The sections come with their bytes.
fn frame<'a>(bytes: &'a [u8], header: &Header, limits: &Limits) -> std::result::Result<Vec<(Entry, &'a [u8])>, Reason> {
    let found = bytes.len() as u64;
    if header.length != found {
        return Err(Reason::Length { found, needed: header.length });
    }
    let end = header::contents_end(header.sections);
    if end > found {
        return Err(Reason::Length { found, needed: end });
    }
    if limits.check_digest {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&bytes[..DIGEST_AT]);
        absorb(&mut hasher, &bytes[HEADER_BYTES..]);
        if *hasher.finalize().as_bytes() != header.digest {
            return Err(Reason::Digest);
        }
    }
    // The table lies within the bytes, so this allocates in proportion to them.
    let table_end = HEADER_BYTES + ENTRY_BYTES * header.sections as usize;
    let entries = contents(&bytes[HEADER_BYTES..table_end], header, found)?;
    check_zero(bytes, 0, table_end..header::contents_end(header.sections) as usize)?;
    let sections = entries.into_iter().map(|entry| {
        // All lie within the bytes.
        let (from, to) = (entry.offset as usize, (entry.offset + entry.length) as usize);
        check_zero(bytes, 0, to..to.next_multiple_of(header::ALIGNMENT as usize))?;
        Ok((entry, &bytes[from..to]))
    });
    sections.collect()
}

/// The entries of a table of contents, for a container of `found` bytes, which they fill.
pub(super) fn contents(table: &[u8], header: &Header, found: u64) -> std::result::Result<Vec<Entry>, Reason> {
    let mut end = header::contents_end(header.sections);
    let mut entries: Vec<Entry> = Vec::with_capacity(table.len() / ENTRY_BYTES);
    for entry in table.as_chunks::<ENTRY_BYTES>().0 {
        let entry = Entry::parse(entry)?;
        let place = entry.place;
        let previous = entries.last().map(|entry| entry.place);
        let ascends = match previous {
            None => place.item == 0,
            Some(previous) => place > previous && place.item - previous.item <= 1,
        };
        if !ascends {
            let previous = previous.map_or_else(|| "the beginning".to_owned(), |place| place.to_string());
            return Err(Reason::Order { previous, found: place });
        }
        if entry.offset != end {
            return Err(Reason::Offset { place, found: entry.offset, needed: end });
        }
        // `end` is at most `found`, so nothing here wraps.
        if entry.length > found - end {
            return Err(Reason::Limit { what: "bytes of a section", found: entry.length, limit: found - end });
        }
        end = (end + entry.length).next_multiple_of(header::ALIGNMENT);
        if end > found {
            return Err(Reason::Length { found, needed: end });
        }
        entries.push(entry);
    }
    if end == found { Ok(entries) } else { Err(Reason::Length { found, needed: end }) }
}

/// The form of all polynomials, which must be the same.
pub(super) fn common_form<'e>(entries: impl Iterator<Item = &'e Entry>) -> std::result::Result<Option<Form>, Reason> {
    let mut common = None;
    for entry in entries {
        let form = match entry.encoding {
            Encoding::Raw => Form::Raw,
            Encoding::Packed => Form::Packed,
            _ => continue,
        };
        if *common.get_or_insert(form) != form {
            let found = entry.encoding.name().to_owned();
            return Err(Reason::Encoding {
                place: entry.place,
                found,
                needed: "the same as the polynomials before it",
            });
        }
    }
    Ok(common)
}

/// Refuses bytes in a range that are not zero; `bytes` begin at byte `start` of the container.
pub(super) fn check_zero(bytes: &[u8], start: u64, range: Range<usize>) -> std::result::Result<(), Reason> {
    match bytes[range.clone()].iter().position(|&byte| byte != 0) {
        None => Ok(()),
        Some(at) => Err(Reason::Padding { at: start + (range.start + at) as u64 }),
    }
}
