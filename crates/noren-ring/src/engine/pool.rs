//! Memory that is kept for the next polynomial.

use std::collections::BTreeMap;
use std::fmt;
use std::process;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use noren_math::machine::aligned::AlignedVec;

/// A buffer may serve a request for this fraction of its words: less would waste memory, more would waste buffers.
const LARGEST_EXCESS: usize = 2;

/// Buffers that were given back, up to a number of bytes; fresh memory costs a page fault every 4 KiB.
///
/// Buffers come back with whatever they held: who held secrets wipes them first.
///
/// In a child of `fork` the shelves may be locked for ever, by a thread of the parent that the child does not have: then
/// there are none, and memory comes from the system.
pub(crate) struct Pool {
    limit: usize,
    /// The process that made it.
    home: u32,
    shelves: Mutex<Shelves>,
}

/// The buffers by their length in words.
#[derive(Default)]
struct Shelves {
    by_length: BTreeMap<usize, Vec<AlignedVec<u64>>>,
    bytes: usize,
}

impl Pool {
    /// An empty pool that keeps at most `limit` bytes.
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, home: running(), shelves: Mutex::default() }
    }

    /// A buffer of at least `length` words that holds anything.
    pub(crate) fn take(&self, length: usize) -> AlignedVec<u64> {
        let kept = self.shelves().and_then(|mut shelves| shelves.take(length));
        kept.unwrap_or_else(|| AlignedVec::zeroed(length))
    }

    /// Makes `count` buffers in one piece of memory, to be taken next: for elements that are held together.
    pub(crate) fn reserve(&self, count: usize, length: usize) {
        let Some(mut shelves) = self.shelves() else { return };
        let buffers = AlignedVec::zeroed_together(count, length);
        shelves.bytes += buffers.iter().map(|buffer| size_of_val(&**buffer)).sum::<usize>();
        shelves.by_length.entry(length).or_default().extend(buffers);
    }

    /// Keeps `buffer`, and lets longer ones go if there is no room for it. A part of a larger piece is not kept, which would
    /// hold the whole.
    pub(crate) fn give(&self, buffer: AlignedVec<u64>) {
        if buffer.is_part() {
            return;
        }
        let Some(mut shelves) = self.shelves() else { return };
        let bytes = size_of_val(&*buffer);
        while shelves.bytes + bytes > self.limit {
            if !shelves.drop_longest(buffer.len()) {
                return;
            }
        }
        shelves.bytes += bytes;
        shelves.by_length.entry(buffer.len()).or_default().push(buffer);
    }

    /// Gives all buffers back to the system.
    pub(crate) fn clear(&self) {
        drop(self.shelves().map(|mut shelves| std::mem::take(&mut *shelves)));
    }

    /// How many bytes are kept.
    pub(crate) fn bytes(&self) -> usize {
        self.shelves().map_or(0, |shelves| shelves.bytes)
    }

    fn shelves(&self) -> Option<MutexGuard<'_, Shelves>> {
        // No verb under the lock leaves the shelves half changed, so a panic elsewhere does not spoil them.
        match self.shelves.try_lock() {
            Ok(shelves) => Some(shelves),
            Err(TryLockError::Poisoned(error)) => Some(error.into_inner()),
            Err(TryLockError::WouldBlock) if running() != self.home => None,
            Err(TryLockError::WouldBlock) => Some(self.shelves.lock().unwrap_or_else(PoisonError::into_inner)),
        }
    }
}

/// The process that runs this: another one in a child of `fork`, which only Unix has. WebAssembly has no processes.
fn running() -> u32 {
    if cfg!(unix) { process::id() } else { 0 }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("bytes", &self.bytes()).field("limit", &self.limit).finish()
    }
}

impl Shelves {
    fn take(&mut self, length: usize) -> Option<AlignedVec<u64>> {
        let (&found, _) = self.by_length.range(length..=length.saturating_mul(LARGEST_EXCESS)).next()?;
        self.pop(found)
    }

    /// Drops a buffer longer than `length`; says whether there was one.
    fn drop_longest(&mut self, length: usize) -> bool {
        match self.by_length.last_key_value() {
            Some((&longest, _)) if longest > length => self.pop(longest).is_some(),
            _ => false,
        }
    }

    fn pop(&mut self, length: usize) -> Option<AlignedVec<u64>> {
        let shelf = self.by_length.get_mut(&length)?;
        let buffer = shelf.pop()?;
        if shelf.is_empty() {
            self.by_length.remove(&length);
        }
        self.bytes -= size_of_val(&*buffer);
        Some(buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_that_was_given_back_is_taken_again() {
        let pool = Pool::new(1 << 20);
        let buffer = pool.take(100);
        let address = buffer.as_ptr();
        pool.give(buffer);
        assert_eq!(pool.bytes(), 800);
        let again = pool.take(60);
        assert_eq!((again.as_ptr(), again.len(), pool.bytes()), (address, 100, 0));
        pool.give(again);
        assert_eq!(pool.take(40).len(), 40, "a buffer of more than twice the request stays");
        assert_eq!(pool.bytes(), 800);
        pool.clear();
        assert_eq!((pool.bytes(), pool.take(100).len()), (0, 100));
    }

    #[test]
    fn reserved_buffers_are_taken_and_not_kept_again() {
        let pool = Pool::new(1 << 20);
        pool.reserve(3, 100);
        let taken: Vec<_> = (0..4).map(|_| pool.take(100)).collect();
        assert_eq!(taken.iter().filter(|buffer| buffer.is_part()).count(), 3);
        taken.into_iter().for_each(|buffer| pool.give(buffer));
        assert_eq!(pool.bytes(), 800, "the one that is no part");
    }

    #[test]
    fn a_full_pool_lets_longer_buffers_go_and_never_exceeds_its_limit() {
        let pool = Pool::new(1000);
        pool.give(AlignedVec::zeroed(100));
        pool.give(AlignedVec::zeroed(50));
        assert_eq!(pool.bytes(), 400, "the longer one made room");
        pool.give(AlignedVec::zeroed(90));
        assert_eq!(pool.bytes(), 400, "nothing longer could make room");
        pool.give(AlignedVec::zeroed(75));
        assert_eq!(pool.bytes(), 1000);
    }
}
