//! The first bytes of a container, and the entries of its table of contents.

use crate::parameters::MAX_PRIMES;
use crate::wire::kind::Kind;
use crate::wire::reason::{Place, Reason};

/// The first bytes: not ASCII, so that no text begins like this; both line ends, so that a text filter shows.
pub const MAGIC: [u8; 8] = [0x89, b'N', b'O', b'R', b'E', b'N', b'\r', b'\n'];
/// The version of the format that is written. Of earlier ones those kinds are read whose contents are the same
/// ([`Kind::since`]).
pub const VERSION: u16 = 2;
/// Bytes of the header: the table of contents follows.
pub const HEADER_BYTES: usize = 96;
/// Bytes of an entry of the table of contents.
pub const ENTRY_BYTES: usize = 32;
/// Sections, and the whole, begin and end at multiples of this.
pub const ALIGNMENT: u64 = 64;
/// The most sections of a container.
pub const MAX_SECTIONS: u32 = 1 << 20;
/// The most limbs of a polynomial.
pub const MAX_LIMBS: usize = MAX_PRIMES;
/// The largest ring: `2^17` coefficients.
pub const MAX_LOG_DEGREE: u32 = 17;

/// Where the digest stands in the header: it covers every other byte of the container.
pub(super) const DIGEST_AT: usize = 64;
const DIGEST_END: usize = HEADER_BYTES;

/// The header of a container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The version of the format.
    pub version: u16,
    /// The kind of object in the container.
    pub kind: Kind,
    /// Bytes of the whole container.
    pub length: u64,
    /// How many sections there are.
    pub sections: u32,
    /// The parameters that the object belongs to.
    pub fingerprint: [u8; 32],
    /// BLAKE3 of every other byte.
    pub digest: [u8; 32],
}

/// How the bytes of a section are to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u16)]
pub enum Encoding {
    /// Bytes with a meaning of their own.
    Bytes = 0,
    /// Words of 8 bytes, little-endian.
    Words = 1,
    /// A polynomial, 8 bytes a residue: rows that can be used where they lie.
    Raw = 2,
    /// A polynomial, each residue at the width of its prime.
    Packed = 3,
    /// Small signed numbers, in two's complement of `detail` bits.
    Small = 4,
}

/// An entry of the table of contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) place: Place,
    pub(super) encoding: Encoding,
    /// The first byte of the section in the container.
    pub(super) offset: u64,
    /// Bytes of the section, without what fills it up to the next one.
    pub(super) length: u64,
    /// Of a polynomial: first limb and, shifted by 32, number of limbs. Of small numbers: their bits. Otherwise 0.
    pub(super) detail: u64,
}

impl Header {
    /// Reads a header from the first bytes of a container; what follows them is not looked at.
    ///
    /// # Errors
    /// The first field that is refused.
    pub fn parse(bytes: &[u8]) -> Result<Self, Reason> {
        let known = bytes.len().min(MAGIC.len());
        if bytes[..known] != MAGIC[..known] || known == 0 {
            return Err(Reason::Magic);
        }
        let Some(bytes) = bytes.first_chunk::<HEADER_BYTES>() else {
            return Err(Reason::Length { found: bytes.len() as u64, needed: HEADER_BYTES as u64 });
        };
        let version = u16::from_le_bytes(field(bytes, 8));
        if !(1..=VERSION).contains(&version) {
            return Err(Reason::Version { found: version, needed: VERSION });
        }
        let code = u16::from_le_bytes(field(bytes, 10));
        let kind = Kind::from_code(code).ok_or(Reason::UnknownKind { found: code })?;
        if version < kind.since() {
            return Err(Reason::Outdated { found: version, needed: kind.since() });
        }
        for (name, at) in [("the word of flags", 12), ("the reserved word", 28)] {
            let found = u32::from_le_bytes(field(bytes, at)).into();
            if found != 0 {
                return Err(Reason::Field { field: name, found, needed: 0 });
            }
        }
        let sections = u32::from_le_bytes(field(bytes, 24));
        if sections > MAX_SECTIONS {
            let (found, limit) = (sections.into(), MAX_SECTIONS.into());
            return Err(Reason::Limit { what: "sections", found, limit });
        }
        let length = u64::from_le_bytes(field(bytes, 16));
        let (fingerprint, digest) = (field(bytes, 32), field(bytes, DIGEST_AT));
        Ok(Self { version, kind, length, sections, fingerprint, digest })
    }

    /// The bytes of the header.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..10].copy_from_slice(&self.version.to_le_bytes());
        bytes[10..12].copy_from_slice(&self.kind.code().to_le_bytes());
        bytes[16..24].copy_from_slice(&self.length.to_le_bytes());
        bytes[24..28].copy_from_slice(&self.sections.to_le_bytes());
        bytes[32..64].copy_from_slice(&self.fingerprint);
        bytes[DIGEST_AT..DIGEST_END].copy_from_slice(&self.digest);
        bytes
    }
}

impl Encoding {
    /// Its name in messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bytes => "bytes",
            Self::Words => "words",
            Self::Raw => "a raw polynomial",
            Self::Packed => "a packed polynomial",
            Self::Small => "small numbers",
        }
    }

    /// Whether the section holds a polynomial.
    #[must_use]
    pub const fn is_polynomial(self) -> bool {
        matches!(self, Self::Raw | Self::Packed)
    }

    fn from_code(code: u16) -> Option<Self> {
        [Self::Bytes, Self::Words, Self::Raw, Self::Packed, Self::Small].into_iter().find(|&known| known as u16 == code)
    }
}

impl Entry {
    /// Reads an entry.
    ///
    /// # Errors
    /// An unknown encoding, or a detail that the encoding cannot have.
    pub(super) fn parse(bytes: &[u8; ENTRY_BYTES]) -> Result<Self, Reason> {
        let place = Place { item: u32::from_le_bytes(field(bytes, 0)), tag: u16::from_le_bytes(field(bytes, 4)) };
        let code = u16::from_le_bytes(field(bytes, 6));
        let Some(encoding) = Encoding::from_code(code) else {
            return Err(Reason::Encoding { place, found: format!("number {code}"), needed: "0 to 4" });
        };
        let [offset, length, detail] = [8, 16, 24].map(|at| u64::from_le_bytes(field(bytes, at)));
        let entry = Self { place, encoding, offset, length, detail };
        let (known, needed) = match encoding {
            Encoding::Bytes | Encoding::Words => (detail == 0, "0".to_owned()),
            Encoding::Small => ((2..=8).contains(&detail), "2 to 8 bits".to_owned()),
            Encoding::Raw | Encoding::Packed => {
                let (first, limbs) = entry.limbs();
                // Both are below 2^32, so the sum is exact.
                (limbs > 0 && first + limbs <= MAX_LIMBS as u64, format!("1 to {MAX_LIMBS} limbs"))
            }
        };
        if known {
            Ok(entry)
        } else {
            Err(Reason::Value { place, what: "the detail", found: format!("{detail:#x}"), needed })
        }
    }

    /// The bytes of the entry.
    pub(super) fn to_bytes(self) -> [u8; ENTRY_BYTES] {
        let mut bytes = [0; ENTRY_BYTES];
        bytes[..4].copy_from_slice(&self.place.item.to_le_bytes());
        bytes[4..6].copy_from_slice(&self.place.tag.to_le_bytes());
        bytes[6..8].copy_from_slice(&(self.encoding as u16).to_le_bytes());
        bytes[8..16].copy_from_slice(&self.offset.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.length.to_le_bytes());
        bytes[24..].copy_from_slice(&self.detail.to_le_bytes());
        bytes
    }

    /// First limb and number of limbs of a polynomial.
    pub(super) const fn limbs(&self) -> (u64, u64) {
        (self.detail & u32::MAX as u64, self.detail >> u32::BITS)
    }
}

/// The first byte behind the table of contents where a section may begin.
pub(super) const fn contents_end(sections: u32) -> u64 {
    (HEADER_BYTES as u64 + sections as u64 * ENTRY_BYTES as u64).next_multiple_of(ALIGNMENT)
}

/// The bytes of a field that begins at `at`.
fn field<const N: usize, const M: usize>(bytes: &[u8; M], at: usize) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(&bytes[at..at + N]);
    out
}
