//! Rows of words that start on a cache line, long ones on large pages.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::fmt;
use std::num::NonZeroUsize;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use zeroize::{Zeroize, optimization_barrier};

/// Words that fill a 64-byte line without padding: `u32`, `u64` and `f64`.
pub trait Word: sealed::Sealed + Copy + Default + Zeroize + Send + Sync + 'static {}

impl Word for u32 {}
impl Word for u64 {}
impl Word for f64 {}

mod sealed {
    pub trait Sealed {}
    impl Sealed for u32 {}
    impl Sealed for u64 {}
    impl Sealed for f64 {}
}

/// Rows start at multiples of so many bytes: a cache line.
pub(super) const LINE: usize = 64;

/// Where rows without words start.
const EMPTY: NonNull<u8> = NonNull::without_provenance(NonZeroUsize::new(LINE).expect("a line has bytes"));

/// The large page of x86-64 and, with pages of 4 KiB, of AArch64: 2 MiB.
const LARGE_PAGE: usize = 1 << 21;

/// A row of words of fixed length that starts on a 64-byte boundary, so that no vector load crosses
/// a cache line.
///
/// A row of 2 MiB and more starts on a large page and asks the system for such pages: a walk over
/// many rows would otherwise spend a tenth and more of its time on looking up pages of 4 KiB.
pub struct AlignedVec<T: Word> {
    start: NonNull<T>,
    len: usize,
}

// SAFETY: a row owns its words alone, as a `Vec` does.
unsafe impl<T: Word> Send for AlignedVec<T> {}
// SAFETY: as for `Send`; a shared row is only read.
unsafe impl<T: Word> Sync for AlignedVec<T> {}

impl<T: Word> AlignedVec<T> {
    /// `len` zeros.
    ///
    /// # Panics
    /// If so many words are more than the address space holds.
    #[must_use]
    pub fn zeroed(len: usize) -> Self {
        let layout = layout::<T>(len);
        if layout.size() == 0 {
            return Self { start: EMPTY.cast(), len };
        }
        // SAFETY: the size is not 0.
        let Some(start) = NonNull::new(unsafe { alloc(layout) }) else { handle_alloc_error(layout) };
        // Before the first touch, which is what brings the pages.
        ask_for_large_pages(start, layout);
        // SAFETY: the allocation has so many bytes.
        unsafe { start.write_bytes(0, layout.size()) };
        Self { start: start.cast(), len }
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
        self.fill(T::default());
        optimization_barrier(&self[..]);
    }
}

/// The memory of a row of `len` words.
fn layout<T: Word>(len: usize) -> Layout {
    let bytes = len.checked_mul(size_of::<T>());
    let align = if bytes.is_some_and(|bytes| bytes >= LARGE_PAGE) { LARGE_PAGE } else { LINE };
    bytes
        .and_then(|bytes| Layout::from_size_align(bytes, align).ok())
        .unwrap_or_else(|| panic!("a row of {len} words is more than the address space holds"))
}

/// Asks the system to back the whole large pages of a fresh allocation with such pages. It may refuse,
/// which costs nothing but time.
#[cfg(target_os = "linux")]
fn ask_for_large_pages(start: NonNull<u8>, layout: Layout) {
    // From the C library that `std` stands on: one function is not worth a dependency.
    unsafe extern "C" {
        fn madvise(address: *mut u8, length: usize, advice: i32) -> i32;
    }
    /// `MADV_HUGEPAGE` of Linux's `mman-common.h`.
    const HUGE_PAGE: i32 = 14;
    if layout.align() == LARGE_PAGE {
        // SAFETY: the range is within the allocation and starts on a page; the advice changes which
        // pages back the range, never what they hold.
        unsafe { madvise(start.as_ptr(), layout.size() / LARGE_PAGE * LARGE_PAGE, HUGE_PAGE) };
    }
}

#[cfg(not(target_os = "linux"))]
fn ask_for_large_pages(_: NonNull<u8>, _: Layout) {}

impl<T: Word> Drop for AlignedVec<T> {
    fn drop(&mut self) {
        let layout = layout::<T>(self.len);
        if layout.size() != 0 {
            // SAFETY: `zeroed` allocated it with this layout, and `len` never changes.
            unsafe { dealloc(self.start.as_ptr().cast(), layout) };
        }
    }
}

impl<T: Word> Clone for AlignedVec<T> {
    fn clone(&self) -> Self {
        Self::from_slice(self)
    }
}

impl<T: Word> Deref for AlignedVec<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: `start` is aligned and not null, and `zeroed` initialised `len` words there: all zero
        // bits are a number of the sealed types.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl<T: Word> DerefMut for AlignedVec<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `deref`; the borrow of `self` is unique.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
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

    #[test]
    fn long_rows_start_on_a_large_page() {
        for (bytes, start) in [(LARGE_PAGE - 8, LINE), (LARGE_PAGE, LARGE_PAGE), (LARGE_PAGE + 8, LARGE_PAGE)] {
            let mut row = AlignedVec::<u64>::zeroed(bytes / 8);
            assert_eq!(row.as_ptr() as usize % start, 0);
            assert!(row.iter().all(|&x| x == 0), "{bytes} bytes");
            row.fill(7);
            assert_eq!(row.clone(), row);
        }
    }

    #[test]
    #[should_panic(expected = "more than the address space holds")]
    fn a_row_that_cannot_exist_is_refused() {
        let _ = AlignedVec::<u64>::zeroed(usize::MAX / 4);
    }
}
