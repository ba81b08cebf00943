//! Why bytes are refused.

use std::fmt;

/// Where a section stands: its item and its tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The item, from 0.
    pub item: u32,
    /// The name of the section, within its item.
    pub tag: u16,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "section {:#06x} of item {}", self.tag, self.item)
    }
}

/// The fault of bytes that were to be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// The bytes do not begin as this format does.
    #[error(
        "the first bytes are not those of noren's format: this is not a file of noren, or a transfer in text mode changed it"
    )]
    Magic,
    /// The format has another version.
    #[error("format version {found}, this library reads up to version {needed}: use a matching release")]
    Version {
        /// The version in the header.
        found: u16,
        /// The latest version that is read.
        needed: u16,
    },
    /// The format is that of an earlier version, in which objects of this kind said less.
    #[error(
        "format version {found}, which does not say whose key it belongs to or which slots are values, as version {needed} \
         does: make it again with this release (of version 1 secret keys, parameters and everything of TFHE are still read)"
    )]
    Outdated {
        /// The version in the header.
        found: u16,
        /// The first version in which the contents are what they are.
        needed: u16,
    },
    /// The kind is none that this library knows.
    #[error("unknown kind of object {found:#06x}: use a newer release")]
    UnknownKind {
        /// The kind in the header.
        found: u16,
    },
    /// A field that must have one value has another one.
    #[error("{field} is {found}, this version needs {needed}")]
    Field {
        /// The field.
        field: &'static str,
        /// Its value.
        found: u64,
        /// The only value that is allowed.
        needed: u64,
    },
    /// The bytes are fewer or more than the header says.
    #[error("{found} bytes where the header needs {needed}: the file is truncated or has a tail")]
    Length {
        /// Bytes that there are.
        found: u64,
        /// Bytes that there must be.
        needed: u64,
    },
    /// A count or a length is above its limit.
    #[error("{what}: {found} is above the limit of {limit}")]
    Limit {
        /// The name of the counted things.
        what: &'static str,
        /// How many there are.
        found: u64,
        /// How many there may be.
        limit: u64,
    },
    /// The digest in the header is not that of the bytes.
    #[error("the digest does not match: the bytes were damaged or changed")]
    Digest,
    /// The fingerprint in the header is not that of the parameters in the sections.
    #[error("the fingerprint in the header is not that of what follows")]
    Fingerprint,
    /// The sections are not in ascending order, or an item is left out.
    #[error("{found} cannot follow {previous}: sections ascend, and items have no gap")]
    Order {
        /// The section before, if any.
        previous: String,
        /// The section that is out of order.
        found: Place,
    },
    /// A section does not begin where the one before it ends.
    #[error("{place} begins at byte {found}, it must begin at byte {needed}")]
    Offset {
        /// The section.
        place: Place,
        /// Its offset.
        found: u64,
        /// The only offset that is allowed.
        needed: u64,
    },
    /// A byte between the sections is not zero.
    #[error("padding at byte {at} is not zero")]
    Padding {
        /// Where, from the start.
        at: u64,
    },
    /// A bit behind the last value of a packed row is not zero.
    #[error("{place} has bits behind the last value of a row that are not zero")]
    Bits {
        /// The section.
        place: Place,
    },
    /// A section that the object needs is not there.
    #[error("{place} is missing")]
    Missing {
        /// The section.
        place: Place,
    },
    /// A section is there that the object does not have.
    #[error("{place} does not belong here")]
    Unexpected {
        /// The section.
        place: Place,
    },
    /// A section is encoded in another way than it must be.
    #[error("{place} is encoded as {found}, needed: {needed}")]
    Encoding {
        /// The section.
        place: Place,
        /// The encoding that it has.
        found: String,
        /// The encoding that it needs.
        needed: &'static str,
    },
    /// A section has another length than its encoding and the parameters say.
    #[error("{place} has {found} bytes, needed: {needed}")]
    SectionLength {
        /// The section.
        place: Place,
        /// Bytes that it has.
        found: u64,
        /// Bytes that it must have.
        needed: u64,
    },
    /// A polynomial has other limbs than the object needs.
    #[error("{place} has limbs {found}, needed: {needed}")]
    Window {
        /// The section.
        place: Place,
        /// The limbs that it has.
        found: String,
        /// The limbs that it must have.
        needed: String,
    },
    /// A residue is not below its prime.
    #[error("{place}: limb {limb} holds {value} at index {index}, which is not below its prime {prime}")]
    Residue {
        /// The section.
        place: Place,
        /// The limb, from 0 for the first prime of the whole ring.
        limb: usize,
        /// The index in the limb.
        index: usize,
        /// The word.
        value: u64,
        /// The prime.
        prime: u64,
    },
    /// A value is outside its range.
    #[error("{place}: {what} is {found}, needed: {needed}")]
    Value {
        /// The section.
        place: Place,
        /// The meaning of the value.
        what: &'static str,
        /// The value.
        found: String,
        /// The values that are allowed.
        needed: String,
    },
}
