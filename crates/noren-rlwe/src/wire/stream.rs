//! Containers that are written part by part, so that what is in them need not exist at once.

use std::io::{self, Cursor, Seek, SeekFrom, Write};

use noren_math::machine::memory;
use noren_ring::interrupt::Steps;
use zeroize::Zeroize;

use crate::wire::header::{self, DIGEST_AT, Encoding, Entry, HEADER_BYTES, Header};
use crate::wire::pieces::{pieces, steps};
use crate::wire::words::little_endian;
use crate::wire::writer::Writer;

/// A container that is being written.
///
/// An outline says beforehand what sections there will be, of what lengths: a [`Writer`] whose sections may be announced
/// only. Then they come in order, as many at a time as the caller likes, long ones of words in pieces. Until [`Stream::finish`] there is no digest, so
/// that what an interruption leaves is refused by every reader.
///
/// ```
/// use std::io::Cursor;
/// use noren_rlwe::wire::kind::Kind;
/// use noren_rlwe::wire::stream::Stream;
/// use noren_rlwe::wire::writer::{Form, Writer};
///
/// let mut outline = Writer::new(Kind::TABLE, [7; 32], Form::Packed);
/// outline.announce_bytes(0x01, 6);
/// outline.next_item();
/// outline.announce_words(0x01, 2);
/// let mut file = Cursor::new(Vec::new());
/// let mut stream = Stream::begin(&outline, &mut file)?;
/// let mut part = Writer::new(Kind::TABLE, [7; 32], Form::Packed);
/// part.bytes(0x01, b"layout".as_slice());
/// stream.put(&part)?;
/// let mut part = Writer::new(Kind::TABLE, [7; 32], Form::Packed);
/// part.words(0x01, vec![1, 2]);
/// stream.put(&part)?;
/// stream.finish()?;
/// # let mut whole = Writer::new(Kind::TABLE, [7; 32], Form::Packed);
/// # whole.bytes(0x01, b"layout".as_slice());
/// # whole.next_item();
/// # whole.words(0x01, vec![1, 2]);
/// # assert_eq!(whole.to_bytes(), file.into_inner());
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Stream<'s, W> {
    sink: &'s mut W,
    /// Where the container begins in the sink.
    start: u64,
    header: Header,
    entries: std::vec::IntoIter<Entry>,
    hasher: blake3::Hasher,
    /// The position in the container.
    at: u64,
    /// Bytes that are written, for the listener of an interrupt.
    steps: Steps,
}

impl<'s, W: Write + Seek> Stream<'s, W> {
    /// Writes the header without its digest, and the table of contents.
    ///
    /// # Errors
    /// The errors of `sink`.
    pub fn begin(outline: &Writer<'_>, sink: &'s mut W) -> io::Result<Self> {
        let start = sink.stream_position()?;
        let (header, entries) = outline.header_and_contents();
        let contents: Vec<u8> = entries.iter().flat_map(|entry| entry.to_bytes()).collect();
        let bytes = header.to_bytes();
        let mut hasher = blake3::Hasher::new();
        hasher.update(&bytes[..DIGEST_AT]);
        sink.write_all(&bytes)?;
        let at = HEADER_BYTES as u64;
        let steps = steps(header.length);
        let mut stream = Self { sink, start, header, entries: entries.into_iter(), hasher, at, steps };
        stream.write(&contents)?;
        Ok(stream)
    }

    /// Bytes of the whole container.
    #[must_use]
    pub const fn length(&self) -> u64 {
        self.header.length
    }

    /// Bytes that are written.
    #[must_use]
    pub const fn written(&self) -> u64 {
        self.at
    }

    /// Writes the next sections: those of `part`, whatever items it counts them in.
    ///
    /// # Errors
    /// The errors of the sink.
    ///
    /// # Panics
    /// If they are not as announced, or are only announced again.
    pub fn put(&mut self, part: &Writer<'_>) -> io::Result<()> {
        for piece in part.pieces() {
            let Some(entry) = self.entries.next() else { panic!("more sections than were announced") };
            let announced = (entry.place.tag, (entry.encoding, entry.length, entry.detail));
            assert_eq!((piece.tag, piece.describe()), announced, "{} is as it was announced", entry.place);
            assert!(self.at <= entry.offset, "all words of a section come before the next one");
            self.fill_to(entry.offset)?;
            piece.write(&mut |chunk| self.write(chunk))?;
            assert_eq!(self.at, entry.offset + entry.length, "a section has its announced length");
        }
        Ok(())
    }

    /// Writes some of the words of the next section, which was announced as words of this tag: the others follow.
    ///
    /// # Errors
    /// The errors of the sink.
    ///
    /// # Panics
    /// If the next section is another one, or has fewer words.
    pub fn put_words(&mut self, tag: u16, words: &[u64]) -> io::Result<()> {
        let Some(&entry) = self.entries.as_slice().first() else { panic!("more sections than were announced") };
        assert!(entry.place.tag == tag && entry.encoding == Encoding::Words, "{} is as it was announced", entry.place);
        if self.at < entry.offset {
            self.fill_to(entry.offset)?;
        }
        let end = entry.offset + entry.length;
        assert!(self.at + size_of_val(words) as u64 <= end, "{} has as many words as were announced", entry.place);
        self.write(&little_endian(words))?;
        if self.at == end {
            self.entries.next();
        }
        Ok(())
    }

    /// Writes the digest into the header, and leaves the position of the sink behind the container.
    ///
    /// # Errors
    /// The errors of the sink.
    ///
    /// # Panics
    /// If sections are missing.
    pub fn finish(mut self) -> io::Result<()> {
        assert_eq!(self.entries.len(), 0, "every section that was announced is written");
        let length = self.header.length;
        self.fill_to(length)?;
        let digest = self.hasher.finalize();
        self.sink.seek(SeekFrom::Start(self.start + DIGEST_AT as u64))?;
        self.sink.write_all(digest.as_bytes())?;
        self.sink.seek(SeekFrom::Start(self.start + length))?;
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        for piece in pieces(bytes) {
            self.hasher.update(piece);
            self.at += piece.len() as u64;
            self.sink.write_all(piece)?;
            self.steps.advance(piece.len());
        }
        Ok(())
    }

    /// Zeros up to a position at most one alignment away.
    fn fill_to(&mut self, position: u64) -> io::Result<()> {
        const ZEROS: [u8; header::ALIGNMENT as usize] = [0; header::ALIGNMENT as usize];
        let count = (position - self.at) as usize;
        if count == 0 { Ok(()) } else { self.write(&ZEROS[..count]) }
    }
}

impl Writer<'_> {
    /// The container in memory.
    ///
    /// # Panics
    /// If it is larger than the address space.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let length = usize::try_from(self.encoded_len()).expect("a container in memory fits the address space");
        memory::require(length);
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
    /// The errors of `sink`.
    ///
    /// # Panics
    /// If a section is only announced.
    pub fn write_to<W: Write + Seek>(&self, sink: &mut W) -> io::Result<()> {
        let mut stream = Stream::begin(self, sink)?;
        stream.put(self)?;
        stream.finish()
    }
}

impl<W> Drop for Stream<'_, W> {
    fn drop(&mut self) {
        // It holds the last bytes that went through it.
        self.hasher.zeroize();
    }
}
