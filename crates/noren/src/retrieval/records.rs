//! Rows in buckets, and buckets in coefficients.

use std::borrow::Cow;
use std::collections::BTreeMap;

use noren_rlwe::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// What a row is asked for by.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key<'a> {
    /// Its number, from 0.
    Number(usize),
    /// The keyword that it was given.
    Keyword(Cow<'a, [u8]>),
}

/// The rows of a table.
#[derive(Debug, Clone, Copy)]
pub enum Rows<'a> {
    /// Asked for by their numbers.
    Numbered(&'a [&'a [u8]]),
    /// Asked for by keywords, each with its row.
    Named(&'a [(&'a [u8], &'a [u8])]),
}

impl Rows<'_> {
    pub(super) const fn len(&self) -> usize {
        match self {
            Self::Numbered(rows) => rows.len(),
            Self::Named(rows) => rows.len(),
        }
    }

    pub(super) fn row(&self, at: usize) -> &[u8] {
        match self {
            Self::Numbered(rows) => rows[at],
            Self::Named(rows) => rows[at].1,
        }
    }

    pub(super) fn sizes(&self) -> Sizes {
        let lengths = || (0..self.len()).map(|at| self.row(at).len());
        let longest = lengths().max().unwrap_or(0);
        let varies = lengths().any(|length| length != longest);
        Sizes { rows: self.len(), longest, varies, keywords: matches!(self, Self::Named(_)) }
    }

    /// Refuses keywords that two rows have.
    ///
    /// # Errors
    /// A keyword with both rows.
    pub(super) fn check_names(&self) -> Result<()> {
        let Self::Named(rows) = self else { return Ok(()) };
        let mut first = BTreeMap::new();
        for (at, (keyword, _)) in rows.iter().enumerate() {
            if let Some(before) = first.insert(*keyword, at) {
                let found = format!("{:?} in rows {before} and {at}", String::from_utf8_lossy(keyword));
                return Err(Error::parameter("keywords", found, "one for each row"));
            }
        }
        Ok(())
    }

    /// The digests of all keywords.
    pub(super) fn digests(&self) -> Vec<Digest> {
        match self {
            Self::Named(rows) => rows.iter().map(|(keyword, _)| Digest::of(keyword)).collect(),
            Self::Numbered(_) => Vec::new(),
        }
    }
}

/// The most rows of a table.
pub(super) const MOST_ROWS: usize = u32::MAX as usize;
/// The most bytes of a row.
pub(super) const MOST_BYTES: usize = 1 << 24;
/// The bytes of the digest of a keyword that stand before its row: two keywords of a bucket share them with a probability of `2^-128`.
const TAG_BYTES: usize = 16;
/// The bytes of the length before a row, where rows are of several lengths.
const LENGTH_BYTES: usize = 4;
/// The bytes of its number before a bucket, by which replies to other requests are told.
pub(super) const BUCKET_BYTES: usize = size_of::<u64>();
/// The context of digests of keywords.
const KEYWORDS: &str = "noren retrieval keyword v1";

/// The digest of a keyword.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Digest {
    /// Uniform: the bucket, whatever their number.
    place: u64,
    tag: [u8; TAG_BYTES],
}

impl Digest {
    pub(super) fn of(keyword: &[u8]) -> Self {
        let digest = blake3::derive_key(KEYWORDS, keyword);
        let (place, rest) = digest.split_at(size_of::<u64>());
        let mut tag = [0; TAG_BYTES];
        tag.copy_from_slice(&rest[..TAG_BYTES]);
        Self { place: u64::from_le_bytes(place.try_into().expect("eight bytes")), tag }
    }

    pub(super) fn bucket(&self, buckets: usize) -> usize {
        ((u128::from(self.place) * buckets as u128) >> u64::BITS) as usize
    }
}

/// What a row is found by in its bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Find {
    /// Its place.
    Place(usize),
    /// The digest of its keyword.
    Digest(Digest),
}

/// The sizes of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sizes {
    /// How many rows there are.
    pub rows: usize,
    /// The bytes of the longest.
    pub longest: usize,
    /// Whether there are shorter ones.
    pub varies: bool,
    /// Whether rows are asked for by keywords.
    pub keywords: bool,
}

impl Sizes {
    /// The bytes of a row, with its length before it where there are several.
    pub(super) const fn payload_bytes(&self) -> usize {
        if self.varies { LENGTH_BYTES + self.longest } else { self.longest }
    }

    /// The bytes of a row with the digest of its keyword before it, if there are keywords.
    pub(super) const fn record_bytes(&self) -> usize {
        if self.keywords { TAG_BYTES + self.payload_bytes() } else { self.payload_bytes() }
    }

    /// Writes a row.
    pub(super) fn write(&self, digest: Option<&Digest>, row: &[u8], out: &mut Vec<u8>) {
        out.extend(digest.iter().flat_map(|digest| digest.tag));
        let end = out.len() + self.payload_bytes();
        if self.varies {
            out.extend((row.len() as u32).to_le_bytes());
        }
        out.extend(row);
        out.resize(end, 0);
    }

    /// The row that is found in a bucket; `None` if there is none.
    ///
    /// # Errors
    /// A length beyond that of the longest row.
    pub(super) fn read(&self, bucket: &[u8], find: Find) -> Result<Option<Vec<u8>>> {
        let mut records = bucket.chunks_exact(self.record_bytes());
        let record = match find {
            Find::Place(at) => records.nth(at),
            Find::Digest(digest) => {
                records.find(|record| record.starts_with(&digest.tag)).map(|record| &record[TAG_BYTES..])
            }
        };
        record.map(|record| self.payload(record)).transpose()
    }

    /// The row in its bytes, with its length before it where there are several.
    ///
    /// # Errors
    /// A length beyond that of the longest row.
    pub(super) fn payload(&self, bytes: &[u8]) -> Result<Vec<u8>> {
        if !self.varies {
            return Ok(bytes[..self.longest].to_vec());
        }
        let (length, row) = bytes.split_at(LENGTH_BYTES);
        let length = u32::from_le_bytes(length.try_into().expect("four bytes")) as usize;
        let row = row.get(..length).filter(|_| length <= self.longest).ok_or_else(|| {
            let needed = format!("at most {}: the server has computed something else", self.longest);
            Error::parameter("bytes of a row", length, needed)
        })?;
        Ok(row.to_vec())
    }
}

/// The coefficients of bytes: `bytes` of them in each, the lowest first.
pub(super) fn to_coefficients(bytes: &[u8], each: usize) -> Vec<i64> {
    let coefficient = |bytes: &[u8]| bytes.iter().rev().fold(0, |x, &byte| x << u8::BITS | i64::from(byte));
    bytes.chunks(each).map(coefficient).collect()
}

/// The bytes of coefficients.
///
/// # Errors
/// A coefficient that no bytes give.
pub(super) fn to_bytes(coefficients: &[i64], each: usize) -> Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(coefficients.len() * each);
    for &x in coefficients {
        if x < 0 || x >> (each as u32 * u8::BITS) != 0 {
            let needed = format!("{each} bytes: the server has computed something else");
            return Err(Error::parameter("a coefficient of a reply", x, needed));
        }
        bytes.extend(&x.to_le_bytes()[..each]);
    }
    Ok(bytes)
}
