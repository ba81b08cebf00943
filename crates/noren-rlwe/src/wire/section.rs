//! One section of a container: what it says, checked before it is used.

use std::fmt;
use std::ops::Range;

use noren_ring::poly::{Eval, Poly};
use noren_ring::ring::Ring;
use zeroize::Zeroizing;

use crate::error::{Error, Result};
use crate::wire::header::{Encoding, Entry, MAX_LIMBS};
use crate::wire::kind::Kind;
use crate::wire::pack::{Fault, unpack};
use crate::wire::reason::{Place, Reason};
use crate::wire::words::Words;
use crate::wire::writer::{Form, poly_len, row_len, small_len};

/// One section of a container.
#[derive(Clone, Copy)]
pub struct Section<'a> {
    pub(super) kind: Kind,
    pub(super) entry: Entry,
    pub(super) bytes: &'a [u8],
}

impl<'a> Section<'a> {
    /// Where the section stands.
    #[must_use]
    pub const fn place(&self) -> Place {
        self.entry.place
    }

    /// How its bytes are to be read.
    #[must_use]
    pub const fn encoding(&self) -> Encoding {
        self.entry.encoding
    }

    /// Where its bytes begin in the container.
    #[must_use]
    pub const fn offset(&self) -> u64 {
        self.entry.offset
    }

    /// Its bytes, whatever they mean.
    #[must_use]
    pub const fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Bytes with a meaning of their own.
    ///
    /// # Errors
    /// [`Reason::Encoding`] if it holds something else.
    pub fn bytes(&self) -> Result<&'a [u8]> {
        self.check_encoding(self.encoding() == Encoding::Bytes, Encoding::Bytes.name())?;
        Ok(self.bytes)
    }

    /// Exactly `N` bytes.
    ///
    /// # Errors
    /// [`Reason::Encoding`] or [`Reason::SectionLength`] if it holds something else.
    pub fn array<const N: usize>(&self) -> Result<[u8; N]> {
        let bytes = self.bytes()?;
        self.check_len(N as u64)?;
        let mut array = [0; N];
        array.copy_from_slice(bytes);
        Ok(array)
    }

    /// Words.
    ///
    /// # Errors
    /// [`Reason::Encoding`] or [`Reason::SectionLength`] if it holds something else.
    pub fn words(&self) -> Result<Words<'a>> {
        self.check_encoding(self.encoding() == Encoding::Words, Encoding::Words.name())?;
        match Words::new(self.bytes) {
            Some(words) => Ok(words),
            None => Err(self.length_refused(self.entry.length.next_multiple_of(size_of::<u64>() as u64))),
        }
    }

    /// Exactly `N` words.
    ///
    /// # Errors
    /// [`Reason::Encoding`] or [`Reason::SectionLength`] if it holds something else.
    pub fn word_array<const N: usize>(&self) -> Result<[u64; N]> {
        let words = self.words()?;
        self.check_len((size_of::<u64>() * N) as u64)?;
        let mut array = [0; N];
        words.copy_to(&mut array);
        Ok(array)
    }

    /// The limbs of a polynomial, by the positions of their primes in the whole ring.
    ///
    /// # Errors
    /// [`Reason::Encoding`] if it holds something else.
    pub fn window(&self) -> Result<Range<usize>> {
        self.check_encoding(self.encoding().is_polynomial(), "a polynomial")?;
        // Entry::parse has checked that both are at most 128.
        let (first, limbs) = self.entry.limbs();
        Ok(first as usize..(first + limbs) as usize)
    }

    /// Refuses what is no polynomial over exactly the limbs of `ring`, and says in which form the residues are.
    fn check_poly(&self, ring: &Ring) -> Result<Form> {
        let (window, needed) = (self.window()?, ring.range());
        if window != needed {
            let (found, needed) = (format!("{window:?}"), format!("{needed:?}"));
            return Err(self.refused(Reason::Window { place: self.place(), found, needed }));
        }
        let form = if self.encoding() == Encoding::Raw { Form::Raw } else { Form::Packed };
        self.check_len(poly_len(ring, form))?;
        Ok(form)
    }

    /// Refuses what is no polynomial over exactly the limbs of `ring` that is written word by word.
    pub(crate) fn check_raw_poly(&self, ring: &Ring) -> Result<()> {
        self.check_poly(ring)?;
        self.check_encoding(self.encoding() == Encoding::Raw, Encoding::Raw.name())
    }

    /// A polynomial over exactly the limbs of `ring`.
    ///
    /// # Errors
    /// [`Reason::Encoding`], [`Reason::Window`], [`Reason::SectionLength`], [`Reason::Residue`] or [`Reason::Padding`].
    pub fn poly(&self, ring: &Ring) -> Result<Poly<Eval>> {
        let (form, needed) = (self.check_poly(ring)?, ring.range());
        let mut rest = self.bytes;
        let rows: Vec<_> = ring
            .moduli()
            .map(|q| {
                let (row, behind) = rest.split_at(row_len(ring.degree(), q.bits(), form));
                rest = behind;
                (row, q)
            })
            .collect();
        ring.try_from_fn(|limb, out| {
            let (row, q) = rows[limb - needed.start];
            let fault = match form {
                Form::Raw => read_raw(row, q.value(), out),
                Form::Packed => unpack(row, q.bits(), q.value(), out),
            };
            fault.map_err(|fault| self.fault(fault, limb, q.value()))
        })
    }

    /// `count` numbers in `[-bound, bound]` of `bits` bits; wiped on drop.
    ///
    /// # Errors
    /// [`Reason::Encoding`], [`Reason::SectionLength`], [`Reason::Value`] or [`Reason::Padding`].
    ///
    /// # Panics
    /// If the bound does not fit the bits.
    pub fn small(&self, count: usize, bits: u32, bound: i8) -> Result<Zeroizing<Vec<i8>>> {
        assert!((2..=8).contains(&bits) && i32::from(bound) < 1 << (bits - 1), "{bound} does not fit {bits} bits");
        self.check_encoding(self.encoding() == Encoding::Small, Encoding::Small.name())?;
        if self.entry.detail != u64::from(bits) {
            return Err(self.value("bits of a number", self.entry.detail, bits));
        }
        self.check_len(small_len(count, bits))?;
        let mut words = Zeroizing::new(vec![0; count]);
        unpack(self.bytes, bits, 1 << bits, &mut words).map_err(|fault| self.fault(fault, 0, 1 << bits))?;
        // Sign extension from `bits` bits: up to the top, and down again.
        let values = words.iter().map(|&word| ((word << (u64::BITS - bits)) as i64 >> (u64::BITS - bits)) as i8);
        let values = Zeroizing::new(values.collect::<Vec<_>>());
        // Every number is looked at, and the one that is refused is not told: it may be part of a secret.
        if values.iter().fold(false, |bad, &value| bad | (i16::from(value).abs() > i16::from(bound))) {
            return Err(self.value("a number", "outside", format!("-{bound} to {bound}")));
        }
        Ok(values)
    }

    /// The sizes of primes in bits, one word each.
    ///
    /// # Errors
    /// As [`Section::words`]; [`Reason::Value`] for more primes than a list has, or a size that is no number of bits.
    pub fn sizes(&self) -> Result<Vec<u32>> {
        let words = self.words()?;
        if words.len() > MAX_LIMBS {
            return Err(self.value("the number of primes", words.len(), format!("at most {MAX_LIMBS}")));
        }
        words.iter().map(|word| self.size(word)).collect()
    }

    /// A word as a size in bits.
    ///
    /// # Errors
    /// [`Reason::Value`] if it is no number of bits.
    pub fn size(&self, word: u64) -> Result<u32> {
        u32::try_from(word).map_err(|_| self.value("the size of a prime or scale", word, "a number of bits"))
    }

    /// The error for a value of this section that has no meaning.
    #[must_use]
    pub fn value(&self, what: &'static str, found: impl ToString, needed: impl ToString) -> Error {
        let (found, needed) = (found.to_string(), needed.to_string());
        self.refused(Reason::Value { place: self.place(), what, found, needed })
    }

    fn check_encoding(&self, fits: bool, needed: &'static str) -> Result<()> {
        if fits {
            return Ok(());
        }
        let found = self.encoding().name().to_owned();
        Err(self.refused(Reason::Encoding { place: self.place(), found, needed }))
    }

    fn check_len(&self, needed: u64) -> Result<()> {
        if self.entry.length == needed { Ok(()) } else { Err(self.length_refused(needed)) }
    }

    fn length_refused(&self, needed: u64) -> Error {
        self.refused(Reason::SectionLength { place: self.place(), found: self.entry.length, needed })
    }

    fn fault(&self, fault: Fault, limb: usize, prime: u64) -> Error {
        let place = self.place();
        self.refused(match fault {
            Fault::Value { index, value } => Reason::Residue { place, limb, index, value, prime },
            Fault::Padding => Reason::Bits { place },
        })
    }

    fn refused(&self, reason: Reason) -> Error {
        refused(self.kind, reason)
    }
}

impl fmt::Debug for Section<'_> {
    /// Shows the frame only: the bytes may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Section").field("kind", &self.kind).field("entry", &self.entry).finish_non_exhaustive()
    }
}

/// Copies one raw row whose residues must lie below `bound`.
fn read_raw(bytes: &[u8], bound: u64, row: &mut [u64]) -> std::result::Result<(), Fault> {
    Words::new(bytes).expect("a raw row is a multiple of 8 bytes").copy_to(row);
    match row.iter().position(|&value| value >= bound) {
        None => Ok(()),
        Some(index) => Err(Fault::Value { index, value: row[index] }),
    }
}

/// The error for bytes that were to hold an object of this kind.
pub(super) fn refused(kind: Kind, reason: Reason) -> Error {
    Error::Wire { what: kind.name(), reason }
}
