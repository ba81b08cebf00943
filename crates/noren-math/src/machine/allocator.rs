//! The allocator of the system, which tells of memory that cannot be had.

use std::alloc::{GlobalAlloc, Layout, System};

use crate::machine::memory::missed;

/// The memory of the system, for a program that has something to say where it cannot be had:
/// [`memory::ends_with`](crate::machine::memory::ends_with) names it.
///
/// ```
/// use noren_math::machine::memory::Allocator;
///
/// #[global_allocator]
/// static ALLOCATOR: Allocator = Allocator;
/// # assert_eq!(vec![1, 2].len(), 2);
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Allocator;

// SAFETY: every call goes to the allocator of the system, with what it was given, and returns what that returns.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract, which is the same.
        had(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract, which is the same.
        had(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, start: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller keeps the contract, which is the same.
        had(unsafe { System.realloc(start, layout, size) }, size)
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract, which is the same.
        unsafe { System.dealloc(start, layout) }
    }
}

#[inline]
fn had(start: *mut u8, bytes: usize) -> *mut u8 {
    if start.is_null() {
        missed(bytes);
    }
    start
}
