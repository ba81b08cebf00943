//! Words as they lie in a file.

use std::borrow::Cow;

/// Little-endian words that are still the bytes of a file.
///
/// A section begins at a multiple of 64 bytes of its file. So where the file itself lies at a multiple of 8 bytes
/// (read into a page-aligned buffer, or mapped) and the machine is little-endian, [`Words::as_slice`] borrows the
/// words without a copy; everywhere else they are read one by one.
#[derive(Debug, Clone, Copy)]
pub struct Words<'a> {
    bytes: &'a [[u8; 8]],
}

impl<'a> Words<'a> {
    /// The words of these bytes; `None` if they are no multiple of 8.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Option<Self> {
        match bytes.as_chunks() {
            (words, []) => Some(Self { bytes: words }),
            _ => None,
        }
    }

    /// How many words there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether there is no word.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The words in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = u64> + use<'a> {
        self.bytes.iter().map(|&bytes| u64::from_le_bytes(bytes))
    }

    /// The words where they lie, if this machine can read them there.
    #[must_use]
    pub fn as_slice(&self) -> Option<&'a [u64]> {
        if cfg!(target_endian = "little") { bytemuck::try_cast_slice(self.bytes).ok() } else { None }
    }

    /// Copies the words.
    ///
    /// # Panics
    /// If `out` has another length.
    pub fn copy_to(&self, out: &mut [u64]) {
        assert_eq!(out.len(), self.len(), "words to copy");
        match self.as_slice() {
            Some(words) => out.copy_from_slice(words),
            None => out.iter_mut().zip(self.iter()).for_each(|(out, word)| *out = word),
        }
    }
}

/// The words as little-endian bytes, borrowed where the machine has them so.
pub(super) fn little_endian(words: &[u64]) -> Cow<'_, [u8]> {
    if cfg!(target_endian = "little") {
        Cow::Borrowed(bytemuck::cast_slice(words))
    } else {
        Cow::Owned(words.iter().flat_map(|word| word.to_le_bytes()).collect())
    }
}
