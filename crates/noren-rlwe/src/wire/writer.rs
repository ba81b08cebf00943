//! Containers from sections.

use std::borrow::Cow;
use std::io;

use noren_ring::key::KeyPairs;
use noren_ring::poly::{Eval, Poly};
use noren_ring::ring::Ring;
use noren_ring::window::Window;
use zeroize::Zeroize;

use crate::wire::header::{self, Encoding, Entry, Header};
use crate::wire::kind::Kind;
use crate::wire::pack::{pack, packed_len};
use crate::wire::reason::Place;
use crate::wire::words::little_endian;

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
/// convention the tags below 0x100 belong to the layers above this crate and the others to this crate, so an object
/// of a scheme writes its own sections first and then lets the sample in it write
/// ([`Object::write`](crate::wire::object::Object::write)) into the same item.
///
/// ```
/// use noren_rlwe::wire::kind::Kind;
/// use noren_rlwe::wire::reader::{Limits, Reader};
/// use noren_rlwe::wire::writer::{Form, Writer};
///
/// let mut writer = Writer::new(Kind::TABLE, [7; 32], Form::Packed);
/// writer.bytes(0x01, b"layout".as_slice());
/// writer.words(0x02, vec![1, 2, 3]);
/// let bytes = writer.to_bytes();
///
/// let mut reader = Reader::open(&bytes, Kind::TABLE, &Limits::default())?;
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

/// The content of a section.
enum Content<'a> {
    Bytes(Cow<'a, [u8]>),
    Words(Cow<'a, [u64]>),
    Poly {
        ring: Ring,
        poly: &'a Poly<Eval>,
    },
    KeyHalf {
        ring: Ring,
        pairs: &'a KeyPairs,
        digit: usize,
        half: usize,
    },
    Small {
        values: &'a [i8],
        bits: u32,
    },
    /// Handed to a [`Stream`](crate::wire::stream::Stream) later.
    Announced {
        encoding: Encoding,
        length: u64,
        detail: u64,
    },
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

    /// Adds sizes in bits, a word each: what [`Section::sizes`](crate::wire::section::Section::sizes) reads.
    ///
    /// # Panics
    /// As [`Writer::bytes`].
    pub fn sizes(&mut self, tag: u16, sizes: &[u32]) {
        self.words(tag, sizes.iter().copied().map(u64::from).collect::<Vec<_>>());
    }

    /// Adds a polynomial: all limbs of `ring`, which must be among those of `poly`.
    ///
    /// # Panics
    /// As [`Writer::bytes`]; later, while writing, if `poly` lacks limbs of `ring`.
    pub fn poly(&mut self, tag: u16, ring: Ring, poly: &'a Poly<Eval>) {
        self.push(tag, Content::Poly { ring, poly });
    }

    /// Adds half 0 or 1 of the pair of a digit, as a polynomial over all limbs of the key, which is of a window of this ring.
    ///
    /// # Panics
    /// As [`Writer::bytes`]; later, while writing, if there is no such digit.
    pub fn key_half(&mut self, tag: u16, ring: &Ring, pairs: &'a KeyPairs, digit: usize, half: usize) {
        let ring = ring.window(pairs.ring().range());
        self.push(tag, Content::KeyHalf { ring, pairs, digit, half });
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

    /// Adds `length` bytes that are handed to a [`Stream`](crate::wire::stream::Stream) when they are known.
    ///
    /// # Panics
    /// As [`Writer::bytes`]. A container with sections that are only announced cannot be written but by a stream.
    pub fn announce_bytes(&mut self, tag: u16, length: usize) {
        self.push(tag, Content::Announced { encoding: Encoding::Bytes, length: length as u64, detail: 0 });
    }

    /// Adds `count` words that are handed to a [`Stream`](crate::wire::stream::Stream) when they are known.
    ///
    /// # Panics
    /// As [`Writer::announce_bytes`].
    pub fn announce_words(&mut self, tag: u16, count: usize) {
        let length = (size_of::<u64>() * count) as u64;
        self.push(tag, Content::Announced { encoding: Encoding::Words, length, detail: 0 });
    }

    /// Adds a polynomial over all limbs of `ring` that is handed to a [`Stream`](crate::wire::stream::Stream) when it is known.
    ///
    /// # Panics
    /// As [`Writer::announce_bytes`].
    pub fn announce_poly(&mut self, tag: u16, ring: &Ring) {
        let (encoding, length, detail) = describe_poly(ring, self.form);
        self.push(tag, Content::Announced { encoding, length, detail });
    }

    /// Bytes of the whole container.
    #[must_use]
    pub fn encoded_len(&self) -> u64 {
        self.header_and_contents().0.length
    }

    fn push(&mut self, tag: u16, content: Content<'a>) {
        let place = Place { item: self.item, tag };
        if let Some((previous, _)) = self.sections.last() {
            assert!(*previous < place, "{place} cannot follow {previous}: tags ascend within an item");
        }
        self.sections.push((place, content));
    }

    /// The sections in order.
    pub(super) fn pieces(&self) -> impl Iterator<Item = Piece<'_, 'a>> {
        let (form, secret) = (self.form, self.kind.is_secret());
        self.sections.iter().map(move |(place, content)| Piece { tag: place.tag, content, form, secret })
    }

    /// The header without its digest, and the table of contents.
    pub(super) fn header_and_contents(&self) -> (Header, Vec<Entry>) {
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
        (Header { version: header::VERSION, kind, length: end, sections: count, fingerprint, digest: [0; 32] }, entries)
    }
}

/// The content of a section, for [`Stream`](crate::wire::stream::Stream).
pub(super) struct Piece<'w, 'a> {
    pub(super) tag: u16,
    content: &'w Content<'a>,
    form: Form,
    secret: bool,
}

impl Piece<'_, '_> {
    /// Encoding, bytes and detail of the section.
    pub(super) fn describe(&self) -> (Encoding, u64, u64) {
        self.content.describe(self.form)
    }

    /// Hands the bytes of the section on, piece by piece.
    pub(super) fn write(&self, put: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        self.content.write(self.form, self.secret, put)
    }
}

impl Content<'_> {
    /// Encoding, bytes and detail of the section.
    fn describe(&self, form: Form) -> (Encoding, u64, u64) {
        match self {
            Self::Bytes(bytes) => (Encoding::Bytes, bytes.len() as u64, 0),
            Self::Words(words) => (Encoding::Words, 8 * words.len() as u64, 0),
            Self::Poly { ring, .. } => describe_poly(ring, form),
            Self::KeyHalf { ring, .. } => describe_poly(ring, form),
            Self::Small { values, bits } => (Encoding::Small, small_len(values.len(), *bits), u64::from(*bits)),
            &Self::Announced { encoding, length, detail } => (encoding, length, detail),
        }
    }

    /// Hands the bytes of the section on, piece by piece.
    fn write(&self, form: Form, secret: bool, put: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        match self {
            Self::Bytes(bytes) => put(bytes),
            Self::Words(words) => put(&little_endian(words)),
            Self::Poly { ring, poly } => write_poly(ring, poly, (form, secret), put),
            Self::KeyHalf { ring, pairs, digit, half } => {
                write_poly(ring, &ring.key_half(pairs, *digit, *half), (form, secret), put)
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
            Self::Announced { .. } => panic!("a section that was announced is written by a stream"),
        }
    }
}

/// Hands the bytes of the rows of a polynomial on; those of a secret are wiped.
fn write_poly(
    ring: &Ring,
    poly: &Poly<Eval>,
    (form, secret): (Form, bool),
    put: &mut dyn FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let (poly, mut packed) = (ring.on_host(poly), Vec::new());
    for (row, q) in ring.rows(&poly).zip(ring.moduli()) {
        write_row(row, q.bits(), form, &mut packed, put)?;
    }
    if secret {
        packed.zeroize();
    }
    Ok(())
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

/// Encoding, bytes and detail of a polynomial over the limbs of `ring`.
fn describe_poly(ring: &Window, form: Form) -> (Encoding, u64, u64) {
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
pub(super) fn poly_len(ring: &Window, form: Form) -> u64 {
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
