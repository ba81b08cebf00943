//! Memory that cannot be had: an error of the caller, and not the end of the program.

use std::alloc::{Layout, handle_alloc_error};
use std::any::Any;
use std::cell::Cell;
use std::fmt;
use std::hint::black_box;
use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

pub use crate::machine::allocator::Allocator;
use crate::machine::pages::leaves_room;

/// A buffer that the system did not give.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "{bytes} bytes of memory{} are needed for one buffer and cannot be had: free memory or raise its limit, or use smaller \
     parameters or fewer keys", Gibibytes(*bytes)
)]
pub struct OutOfMemory {
    /// How many bytes were asked for.
    pub bytes: u64,
}

impl From<OutOfMemory> for io::Error {
    fn from(missing: OutOfMemory) -> Self {
        Self::new(io::ErrorKind::OutOfMemory, missing)
    }
}

/// Bytes in GiB, in parentheses, if they are a tenth of one at least. It is written without allocating.
struct Gibibytes(u64);

impl fmt::Display for Gibibytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const GIB: f64 = (1u64 << 30) as f64;
        let all = self.0 as f64 / GIB;
        if all < 0.1 { Ok(()) } else { write!(f, " ({all:.1} GiB)") }
    }
}

thread_local! {
    static REFUSES: Cell<bool> = const { Cell::new(false) };
    /// Whether this thread asks for memory that it can do without.
    static ASKS: Cell<bool> = const { Cell::new(false) };
}

/// How the program ends where memory cannot be had that nobody has asked for.
static END: Mutex<Option<fn(OutOfMemory) -> !>> = Mutex::new(None);

/// Whether the program ends already.
static ENDS: AtomicBool = AtomicBool::new(false);

/// Runs work that ends where memory for a large buffer cannot be had. The stack is unwound as by a panic, without a message:
/// programs that are built with `panic = "abort"` end instead, as they do where no `refusing` is around.
///
/// # Errors
/// [`OutOfMemory`] with the bytes of that buffer.
pub fn refusing<T>(work: impl FnOnce() -> T) -> Result<T, OutOfMemory> {
    panic::catch_unwind(AssertUnwindSafe(|| under(true, work))).map_err(caught)
}

/// Whether this thread works under [`refusing`]: for what hands work to other threads.
#[must_use]
pub fn refuses() -> bool {
    REFUSES.get()
}

/// Runs what another thread handed over, under [`refusing`] if that thread was.
pub fn under<T>(refuses: bool, work: impl FnOnce() -> T) -> T {
    /// Puts back what was before, also where the work unwinds.
    struct Before(bool);
    impl Drop for Before {
        fn drop(&mut self) {
            REFUSES.set(self.0);
        }
    }
    let _before = Before(REFUSES.replace(refuses));
    work()
}

/// Asks the system for memory before it is taken in parts: buffers that are too small to be refused one by one.
///
/// # Errors
/// [`OutOfMemory`] if it cannot be had now.
pub fn ask(bytes: usize) -> Result<(), OutOfMemory> {
    let mut all: Vec<u8> = Vec::new();
    let given = reserve(&mut all, bytes);
    // A buffer that nothing is written to need not be allocated at all.
    black_box(&mut all);
    given
}

/// [`ask`] for `count` values of a type.
///
/// # Errors
/// As [`ask`].
pub fn ask_for<T>(count: usize) -> Result<(), OutOfMemory> {
    ask(count.saturating_mul(size_of::<T>()))
}

/// [`ask`] where there is no error to return: the end of the work under [`refusing`].
pub fn require(bytes: usize) {
    if ask(bytes).is_err() {
        fail(Layout::new::<u8>(), bytes);
    }
}

/// `len` zeros, or the end of the work under [`refusing`].
#[must_use]
pub fn zeros<T: Copy + Default>(len: usize) -> Vec<T> {
    let mut zeros = Vec::new();
    if let Err(OutOfMemory { bytes }) = reserve(&mut zeros, len) {
        fail(Layout::array::<T>(len).unwrap_or(Layout::new::<T>()), bytes as usize);
    }
    zeros.resize(len, T::default());
    zeros
}

/// Takes the memory of exactly `more` further values of a vector.
///
/// # Errors
/// As [`ask`].
pub fn reserve<T>(values: &mut Vec<T>, more: usize) -> Result<(), OutOfMemory> {
    let bytes = more.saturating_mul(size_of::<T>());
    match asking(|| values.try_reserve_exact(more).is_ok()) && leaves_room(bytes) {
        true => Ok(()),
        false => Err(OutOfMemory { bytes: bytes as u64 }),
    }
}

/// Runs work, which ends the program by `end` where the [`Allocator`] of the program has no memory and nobody has asked for it first:
/// small buffers, and those of other libraries. Without this, and with another allocator, the program ends by a signal.
///
/// `end` must not allocate, nor unwind. Of two calls at a time the later one counts.
pub fn ends_with<T>(end: fn(OutOfMemory) -> !, work: impl FnOnce() -> T) -> T {
    /// Puts back what was before, also where the work unwinds.
    struct Before(Option<fn(OutOfMemory) -> !>);
    impl Drop for Before {
        fn drop(&mut self) {
            set_end(self.0);
        }
    }
    let _before = Before(set_end(Some(end)));
    work()
}

fn set_end(end: Option<fn(OutOfMemory) -> !>) -> Option<fn(OutOfMemory) -> !> {
    std::mem::replace(&mut *END.lock().unwrap_or_else(PoisonError::into_inner), end)
}

/// Asks for memory, whose absence is then no end of the program.
pub(crate) fn asking<T>(ask: impl FnOnce() -> T) -> T {
    let before = ASKS.replace(true);
    let given = ask();
    ASKS.set(before);
    given
}

/// Ends the program by what [`ends_with`] names, if this thread has not asked; else the allocator says what it has always said.
#[cold]
pub(crate) fn missed(bytes: usize) {
    if ASKS.get() || ENDS.load(Ordering::Relaxed) {
        return;
    }
    let end = *END.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(end) = end
        && !ENDS.swap(true, Ordering::Relaxed)
    {
        end(OutOfMemory { bytes: bytes as u64 });
    }
}

/// Ends the work that needs `bytes` bytes.
pub(crate) fn fail(layout: Layout, bytes: usize) -> ! {
    if refuses() && !std::thread::panicking() {
        panic::resume_unwind(Box::new(OutOfMemory { bytes: bytes as u64 }));
    }
    missed(bytes);
    handle_alloc_error(layout)
}

/// The end of work, unless it was a panic of another kind.
fn caught(payload: Box<dyn Any + Send>) -> OutOfMemory {
    match payload.downcast::<OutOfMemory>() {
        Ok(missing) => *missing,
        Err(payload) => panic::resume_unwind(payload),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::aligned::AlignedVec;

    /// More than any machine has, and less than the address space.
    const WORDS: usize = 1 << 45;

    #[test]
    fn what_cannot_be_had_is_an_error_with_its_bytes() {
        let bytes = 8 * WORDS as u64;
        assert_eq!(refusing(|| AlignedVec::<u64>::zeroed(WORDS).len()), Err(OutOfMemory { bytes }));
        assert_eq!(refusing(|| zeros::<u64>(WORDS).len()), Err(OutOfMemory { bytes }));
        assert_eq!(refusing(|| refusing(|| zeros::<u64>(WORDS).len())), Ok(Err(OutOfMemory { bytes })));
        assert_eq!(refusing(|| require(8 * WORDS)), Err(OutOfMemory { bytes }));
        assert_eq!(refusing(|| zeros::<u32>(1000)), Ok(vec![0; 1000]));
        assert_eq!(ask_for::<u64>(WORDS), Err(OutOfMemory { bytes }));
        assert_eq!(ask_for::<u64>(usize::MAX), Err(OutOfMemory { bytes: u64::MAX }));
        assert_eq!(ask(1 << 20), Ok(()));
        assert!(!refuses());
        let text = OutOfMemory { bytes: 3 << 30 }.to_string();
        assert!(text.starts_with("3221225472 bytes of memory (3.0 GiB) are needed"), "{text}");
        assert!(OutOfMemory { bytes: 64 }.to_string().starts_with("64 bytes of memory are needed"));
    }

    #[test]
    #[should_panic(expected = "another")]
    fn other_panics_stay_panics() {
        let _ = refusing(|| panic!("another"));
    }
}
