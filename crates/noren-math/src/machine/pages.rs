//! Memory of the system, and its large pages.

pub(super) use system::{guarded, release, release_guarded, zeroed};

/// The large page of x86-64 and, with pages of 4 KiB, of AArch64: 2 MiB.
pub(super) const LARGE_PAGE: usize = 1 << 21;

/// How much must be left beside a row of a large page and more, for the small buffers that follow it: where those cannot be
/// had, the program ends.
const ROOM: usize = 16 << 20;

/// Whether small buffers can still be allocated beside one of `bytes` bytes that was just allocated.
pub(crate) fn leaves_room(bytes: usize) -> bool {
    bytes < LARGE_PAGE || system::has(ROOM)
}

/// Memory of rows. Long ones ask the system for large pages, before the first touch, which is what brings pages; it may refuse,
/// which costs nothing but time. The longest come from the system itself: their pages are zero without being written.
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod system {
    use std::alloc::{Layout, alloc, dealloc};
    use std::ptr::{self, NonNull};

    use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mlock, mmap_anonymous, munmap};
    use rustix::param::page_size;

    use super::LARGE_PAGE;

    /// The size in bytes from which allocators map memory for each request, and keep none that was given back.
    const MAPPED: usize = 32 << 20;

    /// The size in bytes from which rows ask for all their pages at once: a page fault for each costs more than the call.
    const POPULATED: usize = 128 << 10;

    /// Zeros, if the system has memory for them.
    ///
    /// # Safety
    /// The size is not 0.
    pub(in crate::machine) unsafe fn zeroed(layout: Layout) -> Option<NonNull<u8>> {
        if layout.size() >= MAPPED {
            return mapped(pages(layout));
        }
        // SAFETY: the size is not 0.
        let start = NonNull::new(unsafe { alloc(layout) })?;
        if layout.align() == LARGE_PAGE {
            advise(start, layout.size() / LARGE_PAGE * LARGE_PAGE);
        } else if layout.size() >= POPULATED {
            populate(start, layout.size());
        }
        // SAFETY: the allocation has `layout.size()` bytes.
        unsafe { start.write_bytes(0, layout.size()) };
        Some(start)
    }

    /// # Safety
    /// [`zeroed`] gave the memory for this layout, and nobody uses it any more.
    pub(in crate::machine) unsafe fn release(start: NonNull<u8>, layout: Layout) {
        if layout.size() >= MAPPED {
            // SAFETY: the pages of exactly this range were mapped and are left alone by others. An error leaves them mapped.
            let _ = unsafe { munmap(start.as_ptr().cast(), pages(layout)) };
        } else {
            // SAFETY: it was allocated with this layout.
            unsafe { dealloc(start.as_ptr(), layout) };
        }
    }

    /// Whether `bytes` bytes can be allocated.
    pub(in crate::machine) fn has(bytes: usize) -> bool {
        let flags = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: the system chooses a place where nothing is, so no memory of this process changes.
        let Ok(start) = (unsafe { mmap_anonymous(ptr::null_mut(), bytes, flags, MapFlags::PRIVATE) }) else {
            return false;
        };
        // SAFETY: exactly this range was just mapped, and nobody uses it.
        unsafe { munmap(start, bytes) }.is_ok()
    }

    /// Zeros on pages of their own, locked and left out of core dumps if the system lets them be.
    ///
    /// # Safety
    /// The size is not 0.
    pub(in crate::machine) unsafe fn guarded(layout: Layout) -> Option<NonNull<u8>> {
        let bytes = layout.size().next_multiple_of(page_size());
        let start = if layout.align() == LARGE_PAGE {
            mapped(pages(layout))?
        } else {
            let flags = ProtFlags::READ | ProtFlags::WRITE;
            // SAFETY: the system chooses a place where nothing is, so no memory of this process changes.
            NonNull::new(unsafe { mmap_anonymous(ptr::null_mut(), bytes, flags, MapFlags::PRIVATE) }.ok()?.cast())?
        };
        // SAFETY: exactly this range, or more, was just mapped. Neither changes what it holds, and what fails changes nothing.
        unsafe {
            let _ = madvise(start.as_ptr().cast(), bytes, Advice::LinuxDontDump);
            let _ = mlock(start.as_ptr().cast(), bytes);
        }
        Some(start)
    }

    /// # Safety
    /// [`guarded`] gave the memory for this layout, and nobody uses it any more.
    pub(in crate::machine) unsafe fn release_guarded(start: NonNull<u8>, layout: Layout) {
        let page = if layout.align() == LARGE_PAGE { LARGE_PAGE } else { page_size() };
        // SAFETY: the pages of exactly this range were mapped and are left alone by others. Their locks go with them; an error
        // leaves them mapped.
        let _ = unsafe { munmap(start.as_ptr().cast(), layout.size().next_multiple_of(page)) };
    }

    /// Maps `bytes` bytes of large pages, and one page more, of which what lies before and after the first multiple of the page
    /// goes back.
    fn mapped(bytes: usize) -> Option<NonNull<u8>> {
        let all = bytes.checked_add(LARGE_PAGE)?;
        let flags = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: the system chooses a place where nothing is, so no memory of this process changes.
        let base = unsafe { mmap_anonymous(ptr::null_mut(), all, flags, MapFlags::PRIVATE) }.ok()?.cast::<u8>();
        let before = base.align_offset(LARGE_PAGE);
        let after = LARGE_PAGE - before;
        let start = base.wrapping_add(before);
        // SAFETY: both ranges are within what was just mapped, start and end on pages, and nobody uses them. Errors leave them
        // mapped. `before` is less than a large page, so that some is left after; nothing may be left before.
        unsafe {
            if before > 0 {
                let _ = munmap(base.cast(), before);
            }
            let _ = munmap(start.wrapping_add(bytes).cast(), after);
        }
        let start = NonNull::new(start)?;
        advise(start, bytes);
        Some(start)
    }

    fn advise(start: NonNull<u8>, bytes: usize) {
        // SAFETY: the range belongs to the caller and starts on a page; the advice changes which pages back it, never what they
        // hold.
        let _ = unsafe { madvise(start.as_ptr().cast(), bytes, Advice::LinuxHugepage) };
    }

    /// Asks for the whole pages of a range, before they are written.
    fn populate(start: NonNull<u8>, bytes: usize) {
        let before = start.align_offset(page_size());
        let whole = bytes.saturating_sub(before) / page_size() * page_size();
        // SAFETY: the range belongs to the caller and starts and ends on pages; what pages hold does not change. An error leaves
        // them to page faults.
        let _ = unsafe { madvise(start.as_ptr().wrapping_add(before).cast(), whole, Advice::LinuxPopulateWrite) };
    }

    fn pages(layout: Layout) -> usize {
        layout.size().next_multiple_of(LARGE_PAGE)
    }
}

#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
mod system {
    use std::alloc::{Layout, alloc_zeroed, dealloc};
    use std::ptr::NonNull;

    /// Zeros, if the system has memory for them.
    ///
    /// # Safety
    /// The size is not 0.
    pub(in crate::machine) unsafe fn zeroed(layout: Layout) -> Option<NonNull<u8>> {
        // SAFETY: the size is not 0.
        NonNull::new(unsafe { alloc_zeroed(layout) })
    }

    /// # Safety
    /// [`zeroed`] gave the memory for this layout, and nobody uses it any more.
    pub(in crate::machine) unsafe fn release(start: NonNull<u8>, layout: Layout) {
        // SAFETY: it was allocated with this layout.
        unsafe { dealloc(start.as_ptr(), layout) };
    }

    /// Whether `bytes` bytes can be allocated.
    pub(in crate::machine) fn has(bytes: usize) -> bool {
        Vec::<u8>::new().try_reserve_exact(bytes).is_ok()
    }

    pub(in crate::machine) use {release as release_guarded, zeroed as guarded};
}
