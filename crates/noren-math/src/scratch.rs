//! Memory for the rows between the steps of a transform.

use std::cell::RefCell;

use crate::machine::aligned::AlignedVec;

thread_local! {
    /// Zero between two uses: what is transformed may be secret.
    static SCRATCH: RefCell<AlignedVec<u64>> = RefCell::new(AlignedVec::zeroed(0));
}

/// Calls with a row of zeros, and wipes it.
///
/// # Panics
/// If the call asks for another row.
pub(crate) fn with_scratch<R>(words: usize, work: impl FnOnce(&mut [u64]) -> R) -> R {
    SCRATCH.with_borrow_mut(|scratch| {
        if scratch.len() < words {
            *scratch = AlignedVec::zeroed(words);
        }
        let result = work(&mut scratch[..words]);
        scratch[..words].fill(0);
        result
    })
}
