//! Rows of words that start on a cache line, long ones on large pages.

use std::alloc::Layout;
use std::fmt;
use std::num::NonZeroUsize;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::Arc;

use zeroize::{Zeroize, optimization_barrier};

use crate::machine::memory::{asking, fail};
use crate::machine::pages::{self, LARGE_PAGE, leaves_room};

/// Words that fill a 64-byte line without padding: `i8`, `u32`, `u64` and `f64`.
pub trait Word: sealed::Sealed + Copy + Default + Zeroize + Send + Sync + 'static {}

impl Word for i8 {}
impl Word for u32 {}
impl Word for u64 {}
impl Word for f64 {}

mod sealed {
    pub trait Sealed {}
    impl Sealed for i8 {}
    impl Sealed for u32 {}
    impl Sealed for u64 {}
    impl Sealed for f64 {}
}

/// The alignment of rows in bytes: a cache line.
pub(crate) const LINE: usize = 64;

/// Where rows without words start.
const EMPTY: NonNull<u8> = NonNull::without_provenance(NonZeroUsize::new(LINE).expect("a line has bytes"));

/// A row of words of fixed length that starts on a 64-byte boundary, so that no vector load crosses
/// a cache line.
///
/// A row of 2 MiB and more starts on a large page and asks the system for such pages: a walk over
/// many rows would otherwise spend a tenth and more of its time on looking up pages of 4 KiB.
///
/// The row of a secret that is held for long has pages of its own ([`AlignedVec::guarded`]).
pub struct AlignedVec<T: Word> {
    start: NonNull<T>,
    len: usize,
    owner: Owner<T>,
}

/// How a row came to its memory.
enum Owner<T: Word> {
    Own,
    /// On pages of its own; it is wiped when it is dropped.
    Guarded,
    /// A part of a longer row that no one reads or writes otherwise, and that ends with the last of its parts.
    Part(#[expect(dead_code, reason = "it holds the memory")] Arc<AlignedVec<T>>),
}

// SAFETY: a row owns its words alone, as a `Vec` does.
unsafe impl<T: Word> Send for AlignedVec<T> {}
// SAFETY: as for `Send`; a shared row is only read.
unsafe impl<T: Word> Sync for AlignedVec<T> {}

impl<T: Word> AlignedVec<T> {
    /// `len` zeros.
    ///
    /// Where the system has not so much memory, it ends as [`memory::refusing`](crate::machine::memory::refusing) says.
    ///
    /// # Panics
    /// If `len` words are more than the address space holds.
    #[must_use]
    pub fn zeroed(len: usize) -> Self {
        let layout = layout::<T>(len);
        if layout.size() == 0 {
            return Self { start: EMPTY.cast(), len, owner: Owner::Own };
        }
        // SAFETY: the size is not 0.
        let Some(start) = asking(|| unsafe { pages::zeroed(layout) }) else { fail(layout, layout.size()) };
        let row = Self { start: start.cast(), len, owner: Owner::Own };
        if !leaves_room(layout.size()) {
            drop(row);
            fail(layout, layout.size());
        }
        row
    }

    /// `count` rows of `len` zeros each in one piece of memory, which takes large pages where single rows would be too short
    /// for them. It goes back to the system when the last of these rows is dropped.
    ///
    /// # Panics
    /// As [`AlignedVec::zeroed`], for all words together.
    #[must_use]
    pub fn zeroed_together(count: usize, len: usize) -> Vec<Self> {
        let stride = len.next_multiple_of(LINE / size_of::<T>());
        let all = stride.checked_mul(count);
        let all = Arc::new(Self::zeroed(
            all.unwrap_or_else(|| panic!("{count} rows of {len} words exceed the address space")),
        ));
        // SAFETY: `i` rows of `stride` words lie before it within the memory of all.
        let start = |i: usize| unsafe { all.start.add(i * stride) };
        (0..count).map(|i| Self { start: start(i), len, owner: Owner::Part(Arc::clone(&all)) }).collect()
    }

    /// A copy of a secret on pages of its own, which the system is asked to keep in memory and out of core dumps; wiped when it
    /// is dropped.
    ///
    /// The system may refuse either, as where the limit of locked memory is reached (`RLIMIT_MEMLOCK`): nothing tells of it, and
    /// the copy is as good otherwise. Where the system is not Linux, it is memory as any other that is wiped.
    ///
    /// # Panics
    /// As [`AlignedVec::zeroed`].
    #[must_use]
    pub fn guarded(secret: &[T]) -> Self {
        let layout = layout::<T>(secret.len());
        if layout.size() == 0 {
            return Self { start: EMPTY.cast(), len: 0, owner: Owner::Guarded };
        }
        // SAFETY: the size is not 0.
        let Some(start) = asking(|| unsafe { pages::guarded(layout) }) else { fail(layout, layout.size()) };
        let mut row = Self { start: start.cast(), len: secret.len(), owner: Owner::Guarded };
        row.copy_from_slice(secret);
        row
    }

    /// Whether it is a [guarded](AlignedVec::guarded) copy.
    #[must_use]
    pub const fn is_guarded(&self) -> bool {
        matches!(self.owner, Owner::Guarded)
    }

    /// Whether its memory is one with that of [others](AlignedVec::zeroed_together).
    #[must_use]
    pub const fn is_part(&self) -> bool {
        matches!(self.owner, Owner::Part(_))
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

impl<T: Word> Drop for AlignedVec<T> {
    fn drop(&mut self) {
        let layout = layout::<T>(self.len);
        if self.is_guarded() {
            self.wipe();
        }
        match layout.size() {
            0 => {}
            _ if self.is_part() => {}
            // SAFETY: `guarded` got it with this layout, and `len` never changes.
            _ if self.is_guarded() => unsafe { pages::release_guarded(self.start.cast(), layout) },
            // SAFETY: `zeroed` got it with this layout, and `len` never changes.
            _ => unsafe { pages::release(self.start.cast(), layout) },
        }
    }
}

impl<T: Word> Clone for AlignedVec<T> {
    fn clone(&self) -> Self {
        if self.is_guarded() { Self::guarded(self) } else { Self::from_slice(self) }
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
    fn rows_of_one_piece_are_disjoint_and_outlive_each_other() {
        for (count, len) in [(0, 5), (3, 0), (1, 8), (4, 9), (50, 30_000)] {
            let mut rows = AlignedVec::<u64>::zeroed_together(count, len);
            assert_eq!(rows.len(), count);
            rows.iter_mut().zip(1..).for_each(|(row, i)| row.fill(i));
            let kept: Vec<_> = rows.into_iter().skip(1).step_by(2).collect();
            for (row, i) in kept.iter().zip((2..).step_by(2)) {
                assert!(row.is_part() && !row.clone().is_part());
                assert_eq!((row.len(), row.as_ptr() as usize % 64), (len, 0));
                assert!(row.iter().all(|&x| x == i));
            }
        }
    }

    #[test]
    fn long_rows_start_on_a_large_page() {
        let mapped = 32 << 20;
        for (bytes, start) in [
            (LARGE_PAGE - 8, LINE),
            (LARGE_PAGE, LARGE_PAGE),
            (LARGE_PAGE + 8, LARGE_PAGE),
            (mapped - 8, LARGE_PAGE),
            (mapped, LARGE_PAGE),
            (mapped + 8, LARGE_PAGE),
        ] {
            let mut row = AlignedVec::<u64>::zeroed(bytes / 8);
            assert_eq!(row.as_ptr() as usize % start, 0);
            assert!(row.iter().all(|&x| x == 0), "{bytes} bytes");
            row.fill(7);
            assert_eq!(row.clone(), row);
        }
    }

    /// The flags of the pages at an address, as the system tells them.
    #[cfg(target_os = "linux")]
    fn page_flags(address: usize) -> String {
        let text = std::fs::read_to_string("/proc/self/smaps").expect("the system tells");
        let mut within = false;
        for line in text.lines() {
            let range = line.split(' ').next().and_then(|range| range.split_once('-'));
            let ends = range.map(|(start, end)| [start, end].map(|end| usize::from_str_radix(end, 16)));
            if let Some([Ok(start), Ok(end)]) = ends {
                within = (start..end).contains(&address);
            } else if let (true, Some(flags)) = (within, line.strip_prefix("VmFlags:")) {
                return flags.to_owned();
            }
        }
        panic!("no memory is at {address:x}")
    }

    /// Whether the limit of locked memory is far above what tests lock.
    #[cfg(target_os = "linux")]
    fn may_lock() -> bool {
        let limits = std::fs::read_to_string("/proc/self/limits").expect("the system tells");
        let limit = limits.lines().find_map(|line| line.strip_prefix("Max locked memory")).expect("a limit");
        let limit = limit.split_whitespace().next().expect("a number");
        limit.parse::<usize>().map_or(limit == "unlimited", |limit| limit >= 4 << 20)
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn guarded_rows_are_locked_and_left_out_of_core_dumps() {
        for len in [1, 1000, 100_000] {
            let secret: Vec<i8> = (0..len).map(|x| (x % 3) as i8 - 1).collect();
            let row = AlignedVec::guarded(&secret);
            assert_eq!(*row, secret[..]);
            let copy = row.clone();
            assert!(copy.is_guarded() && copy == row);
            drop(row);
            let (first, last) = (copy.as_ptr() as usize, &raw const copy[len - 1] as usize);
            for address in [first, last] {
                let flags = page_flags(address);
                assert!(flags.contains(" dd"), "{flags}");
                assert!(flags.contains(" lo") || !may_lock(), "{flags}");
            }
        }
        assert!(AlignedVec::<i8>::guarded(&[]).is_empty());
    }

    #[test]
    #[should_panic(expected = "more than the address space holds")]
    fn a_row_that_cannot_exist_is_refused() {
        let _ = AlignedVec::<u64>::zeroed(usize::MAX / 4);
    }
}
