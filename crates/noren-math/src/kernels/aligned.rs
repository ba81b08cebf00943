//! Rows of words that start on a cache line.

use std::fmt;
use std::ops::{Deref, DerefMut};

use zeroize::Zeroize;

/// Words that fill a 64-byte line without padding: `u64` and `f64`.
pub trait Word: sealed::Sealed + Copy + Default + Zeroize + Send + Sync + 'static {}

impl Word for u64 {}
impl Word for f64 {}

mod sealed {
    pub trait Sealed {}
    impl Sealed for u64 {}
    impl Sealed for f64 {}
}

/// How many words of eight bytes a line holds.
const LINE: usize = 8;

#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line<T>([T; LINE]);

/// A row of words of fixed length that starts on a 64-byte boundary, so that no vector load crosses
/// a cache line.
#[derive(Clone)]
pub struct AlignedVec<T: Word> {
    lines: Vec<Line<T>>,
    len: usize,
}

impl<T: Word> AlignedVec<T> {
    /// `len` zeros.
    #[must_use]
    pub fn zeroed(len: usize) -> Self {
        Self { lines: vec![Line([T::default(); LINE]); len.div_ceil(LINE)], len }
    }

    /// A copy of `words`.
    #[must_use]
    pub fn from_slice(words: &[T]) -> Self {
        let mut row = Self::zeroed(words.len());
        row.copy_from_slice(words);
        row
    }

    /// Overwrites all words with zeros, in a way that the compiler may not leave out.
    pub fn wipe(&mut self) {
        self.iter_mut().zeroize();
    }
}

impl<T: Word> Deref for AlignedVec<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: `lines` holds at least `len` initialised words, one after the other: a line has
        // the size and, for the sealed types, the layout of eight words, and `len` never changes
        // after `zeroed`.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast(), self.len) }
    }
}

impl<T: Word> DerefMut for AlignedVec<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `deref`; the borrow of `self` is unique.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.len) }
    }
}

impl<T: Word> fmt::Debug for AlignedVec<T> {
    /// Shows the length only: a row may hold a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AlignedVec").field("len", &self.len).finish_non_exhaustive()
    }
}

impl<T: Word + PartialEq> PartialEq for AlignedVec<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_start_on_a_line_and_keep_their_length() {
        for len in [0, 1, 7, 8, 9, 1000] {
            let mut row = AlignedVec::<u64>::zeroed(len);
            assert_eq!(row.as_ptr() as usize % 64, 0);
            assert_eq!(row.len(), len);
            assert!(row.iter().all(|&x| x == 0));
            row.iter_mut().enumerate().for_each(|(i, x)| *x = i as u64 + 1);
            let copy = row.clone();
            assert!(copy.iter().enumerate().all(|(i, &x)| x == i as u64 + 1));
            assert_eq!(copy, AlignedVec::from_slice(&row));
            row.wipe();
            assert!(row.iter().all(|&x| x == 0));
        }
    }
}
