//! Containers from sections.

use std::borrow::Cow;
use std::io::{self, Cursor, Seek, SeekFrom, Write};

use noren_ring::key::KeyPairs;
use noren_ring::poly::{Eval, Poly};
use noren_ring::ring::Ring;
use zeroize::Zeroize;

use crate::wire::header::{self, DIGEST_AT, Encoding, Entry, HEADER_BYTES, Header};
use crate::wire::kind::Kind;
use crate::wire::pack::{pack, packed_len};
use crate::wire::reason::Place;

/// How polynomials are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Form {
    /// 8 bytes a residue: rows that a program can use where they lie. For files that are read often.
    Raw,
    /// Each residue at the width of its prime: 20 to 60 % smaller. For transport.
    #[default]
    Packed,
}

/// Collects the sections of one container, then writes it.
///
/// Nothing is copied when a section is added: the writer borrows what it will write, knows every length beforehand,
/// and keeps no more than one row in memory while it writes.
///
/// Sections stand in items: item 0 at first, [`Writer::next_item`] begins another. Within an item tags ascend. By
/// convention the tags below 0x100 belong to the floors above this crate and the others to this crate, so an object
/// of a scheme writes its own sections first and then lets the sample in it write
/// ([`Object::write`](crate::wire::object::Object::write)) into the same item.
///
/// ```
/// use noren_rlwe::wire::kind::Kind;
/// use noren_rlwe::wire::reader::{Limits, Reader};
/// use noren_rlwe::wire::writer::{Form, Writer};
///
/// let mut writer = Writer::new(Kind::Table, [7; 32], Form::Packed);
/// writer.bytes(0x01, b"layout".as_slice());
/// writer.words(0x02, vec![1, 2, 3]);
/// let bytes = writer.to_bytes();
///
/// let mut reader = Reader::open(&bytes, Kind::Table, &Limits::default())?;
/// assert_eq!(reader.take(0x01)?.bytes()?, b"layout");
/// assert!(reader.take(0x02)?.words()?.iter().eq([1, 2, 3]));
/// reader.finish()?;
/// # Ok::<(), noren_rlwe::error::Error>(())
/// ```
pub struct Writer<'a> {
    kind: Kind,
    fingerprint: [u8; 32],
    form: Form,
    item: u32,
    sections: Vec<(Place, Content<'a>)>,
}

/// What a section will hold.
enum Content<'a> {
    Bytes(Cow<'a, [u8]>),
    Words(Cow<'a, [u64]>),
    Poly { ring: Ring, poly: &'a Poly<Eval> },
    KeyHalf { pairs: &'a KeyPairs, digit: usize, half: usize },
    Small { values: &'a [i8], bits: u32 },
}

impl<'a> Writer<'a> {
    /// An empty container for an object that belongs to the parameters with this fingerprint.
    #[must_use]
    pub const fn new(kind: Kind, fingerprint: [u8; 32], form: Form) -> Self {
        Self { kind, fingerprint, form, item: 0, sections: Vec::new() }
    }

    /// Begins the next item.
    ///
    /// # Panics
    /// If the item before it has no section.
    pub fn next_item(&mut self) {
        let previous = self.sections.last().map(|(place, _)| place.item);
        assert_eq!(previous, Some(self.item), "an item has at least one section");
        self.item += 1;
    }

    /// Adds bytes with a meaning of their own.
    ///
    /// # Panics
    /// Like every verb that adds a section: if the tag is not above the one before it in this item.
    pub fn bytes(&mut self, tag: u16, bytes: impl Into<Cow<'a, [u8]>>) {
        self.push(tag, Content::Bytes(bytes.into()));
    }

    /// Adds words.
    ///
    /// # Panics
    /// As [`Writer::bytes`].
    pub fn words(&mut self, tag: u16, words: impl Into<Cow<'a, [u64]>>) {
        self.push(tag, Content::Words(words.into()));
    }

    /// Adds a polynomial: all limbs of `ring`, which must be among those of `poly`.
    ///
    /// # Panics
    /// As [`Writer::bytes`]; later, while writing, if `poly` lacks limbs of `ring`.
    pub fn poly(&mut self, tag: u16, ring: Ring, poly: &'a Poly<Eval>) {
        self.push(tag, Content::Poly { ring, poly });
    }

    /// Adds half 0 or 1 of the pair of a digit, as a polynomial over all limbs of the key.
    ///
    /// # Panics
    /// As [`Writer::bytes`]; later, while writing, if there is no such digit.
    pub fn key_half(&mut self, tag: u16, pairs: &'a KeyPairs, digit: usize, half: usize) {
        self.push(tag, Content::KeyHalf { pairs, digit, half });
    }

    /// Adds numbers in `(-2^(bits-1), 2^(bits-1))`.
    ///
    /// # Panics
    /// As [`Writer::bytes`]; also if `bits` is not in `2..=8` or a number is out of range.
    pub fn small(&mut self, tag: u16, values: &'a [i8], bits: u32) {
        assert!((2..=8).contains(&bits), "small numbers have 2 to 8 bits, not {bits}");
        let limit = 1 << (bits - 1);
        // Every number is looked at, so that the time tells nothing of a secret.
        let fits = values.iter().fold(true, |fits, &value| fits & (i32::from(value).abs() < limit));
        assert!(fits, "a number does not fit {bits} bits");
        self.push(tag, Content::Small { values, bits });
    }

    /// Bytes of the whole container.
    #[must_use]
    pub fn encoded_len(&self) -> u64 {
        self.header_and_contents().0.length
    }

    /// The container in memory.
    ///
    /// # Panics
    /// If it is larger than the address space.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let length = usize::try_from(self.encoded_len()).expect("a container in memory fits the address space");
        // Exactly as long as needed: growing would leave pieces of a secret behind.
        let mut cursor = Cursor::new(Vec::with_capacity(length));
        self.write_to(&mut cursor).expect("writing to memory cannot fail");
        cursor.into_inner()
    }

    /// Writes the container from the current position of `sink` on, and leaves the position behind its last byte.
    ///
    /// The digest is known last and written into the header then.
    ///
    /// # Errors
    /// What `sink` says.
    pub fn write_to<W: Write + Seek>(&self, sink: &mut W) -> io::Result<()> {
        let start = sink.stream_position()?;
        let (header, entries) = self.header_and_contents();
        let mut out = Hashed { sink, hasher: blake3::Hasher::new(), at: HEADER_BYTES as u64 };
        let bytes = header.to_bytes();
        out.hasher.update(&bytes[..DIGEST_AT]);
        out.sink.write_all(&bytes)?;
        let contents: Vec<u8> = entries.iter().flat_map(|entry| entry.to_bytes()).collect();
        out.write(&contents)?;
        for (entry, (_, content)) in entries.iter().zip(&self.sections) {
            out.fill_to(entry.offset)?;
            content.write(self.form, self.kind.is_secret(), &mut |chunk| out.write(chunk))?;
            assert_eq!(out.at, entry.offset + entry.length, "a section has its announced length");
        }
        out.fill_to(header.length)?;
        let digest = out.hasher.finalize();
        // It holds the last bytes that went through it.
        out.hasher.zeroize();
        sink.seek(SeekFrom::Start(start + DIGEST_AT as u64))?;
        sink.write_all(digest.as_bytes())?;
        sink.seek(SeekFrom::Start(start + header.length))?;
        Ok(())
    }

    fn push(&mut self, tag: u16, content: Content<'a>) {
        let place = Place { item: self.item, tag };
        if let Some((previous, _)) = self.sections.last() {
            assert!(*previous < place, "{place} cannot follow {previous}: tags ascend within an item");
        }
        self.sections.push((place, content));
    }

    /// The header without its digest, and the table of contents.
    fn header_and_contents(&self) -> (Header, Vec<Entry>) {
        let count = u32::try_from(self.sections.len()).unwrap_or(u32::MAX);
        assert!(count <= header::MAX_SECTIONS, "{count} sections are more than a container holds");
        let mut end = header::contents_end(count);
        let mut entries = Vec::with_capacity(self.sections.len());
        for (place, content) in &self.sections {
            let (encoding, length, detail) = content.describe(self.form);
            entries.push(Entry { place: *place, encoding, offset: end, length, detail });
            end = (end + length).next_multiple_of(header::ALIGNMENT);
        }
        let (kind, fingerprint) = (self.kind, self.fingerprint);
        (Header { kind, length: end, sections: count, fingerprint, digest: [0; 32] }, entries)
    }
}

impl Content<'_> {
    /// Encoding, bytes and detail of the section.
    fn describe(&self, form: Form) -> (Encoding, u64, u64) {
        match self {
            Self::Bytes(bytes) => (Encoding::Bytes, bytes.len() as u64, 0),
            Self::Words(words) => (Encoding::Words, 8 * words.len() as u64, 0),
            Self::Poly { ring, .. } => describe_poly(ring, form),
            Self::KeyHalf { pairs, .. } => describe_poly(pairs.ring(), form),
            Self::Small { values, bits } => (Encoding::Small, small_len(values.len(), *bits), u64::from(*bits)),
        }
    }

    /// Hands the bytes of the section on, piece by piece.
    fn write(&self, form: Form, secret: bool, put: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        match self {
            Self::Bytes(bytes) => put(bytes),
            Self::Words(words) => put(&little_endian(words)),
            Self::Poly { ring, poly } => {
                let mut packed = Vec::new();
                for (limb, q) in ring.range().zip(ring.moduli()) {
                    write_row(ring.row(poly, limb), q.bits(), form, &mut packed, put)?;
                }
                if secret {
                    packed.zeroize();
                }
                Ok(())
            }
            Self::KeyHalf { pairs, digit, half } => {
                let (ring, mut packed) = (pairs.ring(), Vec::new());
                let mut row = vec![0; ring.degree()];
                for (limb, q) in ring.range().zip(ring.moduli()) {
                    pairs.copy_row(*digit, *half, limb, &mut row);
                    write_row(&row, q.bits(), form, &mut packed, put)?;
                }
                Ok(())
            }
            Self::Small { values, bits } => {
                let mut words: Vec<u64> = values.iter().map(|&value| value as u64 & ((1 << bits) - 1)).collect();
                let mut packed = vec![0; row_len(words.len(), *bits, Form::Packed)];
                pack(&words, *bits, &mut packed);
                words.zeroize();
                let written = put(&packed);
                packed.zeroize();
                written
            }
        }
    }
}

impl Form {
    /// The encoding of polynomials in this form.
    #[must_use]
    pub const fn encoding(self) -> Encoding {
        match self {
            Self::Raw => Encoding::Raw,
            Self::Packed => Encoding::Packed,
        }
    }
}

/// A sink whose bytes are hashed on their way.
struct Hashed<'s, W> {
    sink: &'s mut W,
    hasher: blake3::Hasher,
    /// The position in the container.
    at: u64,
}

impl<W: Write> Hashed<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hasher.update(bytes);
        self.at += bytes.len() as u64;
        self.sink.write_all(bytes)
    }

    /// Zeros up to a position at most one alignment away.
    fn fill_to(&mut self, position: u64) -> io::Result<()> {
        const ZEROS: [u8; header::ALIGNMENT as usize] = [0; header::ALIGNMENT as usize];
        let count = (position - self.at) as usize;
        if count == 0 { Ok(()) } else { self.write(&ZEROS[..count]) }
    }
}

/// Encoding, bytes and detail of a polynomial over the limbs of `ring`.
fn describe_poly(ring: &Ring, form: Form) -> (Encoding, u64, u64) {
    let range = ring.range();
    (form.encoding(), poly_len(ring, form), range.start as u64 | (range.len() as u64) << u32::BITS)
}

/// Hands the bytes of a row of residues on; `packed` is memory for those of packed rows.
fn write_row(
    row: &[u64],
    bits: u32,
    form: Form,
    packed: &mut Vec<u8>,
    put: &mut dyn FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    match form {
        Form::Raw => put(&little_endian(row)),
        Form::Packed => {
            packed.resize(row_len(row.len(), bits, form), 0);
            pack(row, bits, packed);
            put(packed)
        }
    }
}

/// Bytes of a polynomial over the limbs of `ring`.
pub(super) fn poly_len(ring: &Ring, form: Form) -> u64 {
    ring.moduli().map(|q| row_len(ring.degree(), q.bits(), form) as u64).sum()
}

/// Bytes of small numbers.
pub(super) fn small_len(count: usize, bits: u32) -> u64 {
    row_len(count, bits, Form::Packed) as u64
}

/// Bytes of one row of residues.
pub(super) fn row_len(degree: usize, bits: u32, form: Form) -> usize {
    match form {
        Form::Raw => size_of::<u64>() * degree,
        Form::Packed => packed_len(degree, bits).expect("a row in memory has a length"),
    }
}

/// The words as little-endian bytes, borrowed where the machine has them so.
fn little_endian(words: &[u64]) -> Cow<'_, [u8]> {
    if cfg!(target_endian = "little") {
        Cow::Borrowed(bytemuck::cast_slice(words))
    } else {
        Cow::Owned(words.iter().flat_map(|word| word.to_le_bytes()).collect())
    }
}
