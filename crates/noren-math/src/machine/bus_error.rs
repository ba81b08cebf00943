//! Bus errors (`SIGBUS`) of mapped files: pages that a file has lost read as zeros, and the loss is recorded.
//!
//! The system raises `SIGBUS` in a thread that touches a page of a mapping beyond the end of its file, or one that the disk
//! cannot give back. The default ends the process. The handler of this module maps zeros over the rest of the mapping, records
//! the loss in its [`Region`] and lets the thread go on; whoever uses the mapping asks for the record afterwards.
//! Bus errors anywhere else go to the handler that was installed before. Where another library has installed one since, as
//! Ray does in Python, this one is installed again with the next mapping.

use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

use libc::{c_int, c_void, siginfo_t};
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};
use rustix::param::page_size;

/// Addresses of a mapping. Regions are never freed, so that the handler can follow the list at any time; those of mappings
/// that are gone serve again.
pub(super) struct Region {
    start: AtomicUsize,
    /// 0 while there is no mapping.
    end: AtomicUsize,
    taken: AtomicBool,
    lost: AtomicBool,
    next: AtomicPtr<Region>,
}

/// The first of the list.
static REGIONS: AtomicPtr<Region> = AtomicPtr::new(ptr::null_mut());

/// The action before the handler was installed the last time; it is never freed, so that the handler can read it at any time.
static PREVIOUS: AtomicPtr<libc::sigaction> = AtomicPtr::new(ptr::null_mut());

/// Whether a bus error was passed on: a handler that gives it back must not have it again.
static PASSED_ON: AtomicBool = AtomicBool::new(false);

impl Region {
    /// Guards a range of whole pages, which is mapped for reading, from now on.
    pub(super) fn guard(start: usize, bytes: usize) -> &'static Self {
        install();
        let region = regions().find(|region| !region.taken.swap(true, Ordering::Acquire)).unwrap_or_else(append);
        region.lost.store(false, Ordering::Relaxed);
        region.start.store(start, Ordering::Relaxed);
        region.end.store(start + bytes.next_multiple_of(page_size()), Ordering::Release);
        region
    }

    /// Ends the guard, before the range is unmapped.
    pub(super) fn release(&self) {
        self.end.store(0, Ordering::Release);
        self.taken.store(false, Ordering::Release);
    }

    /// Whether a page was touched that the file has no longer.
    pub(super) fn has_lost_pages(&self) -> bool {
        self.lost.load(Ordering::Acquire)
    }

    fn contains(&self, address: usize) -> bool {
        address < self.end.load(Ordering::Acquire) && address >= self.start.load(Ordering::Relaxed)
    }

    /// Maps zeros from the page of the address on; whether the system lets it.
    fn zero_from(&self, address: usize) -> bool {
        self.lost.store(true, Ordering::Release);
        let start = address / page_size() * page_size();
        let (bytes, flags) = (self.end.load(Ordering::Acquire) - start, MapFlags::PRIVATE | MapFlags::FIXED);
        // SAFETY: the range lies within one mapping of a file, which is only read, and stays mapped and readable. The thread
        // that raised the signal reads it, so it is not unmapped meanwhile.
        unsafe { mmap_anonymous(ptr::with_exposed_provenance_mut(start), bytes, ProtFlags::READ, flags) }.is_ok()
    }
}

/// The regions that there are.
fn regions() -> impl Iterator<Item = &'static Region> {
    let region = |pointer: &AtomicPtr<Region>| {
        // SAFETY: pointers of the list come from `append`, which leaks what they point to, or are null.
        unsafe { pointer.load(Ordering::Acquire).as_ref() }
    };
    std::iter::successors(region(&REGIONS), move |last| region(&last.next))
}

/// A further region, which is taken.
fn append() -> &'static Region {
    let region: &'static mut Region = Box::leak(Box::new(Region {
        start: AtomicUsize::new(0),
        end: AtomicUsize::new(0),
        taken: AtomicBool::new(true),
        lost: AtomicBool::new(false),
        next: AtomicPtr::new(REGIONS.load(Ordering::Acquire)),
    }));
    loop {
        let next = *region.next.get_mut();
        match REGIONS.compare_exchange(next, region, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => return region,
            Err(found) => *region.next.get_mut() = found,
        }
    }
}

/// Installs the handler, unless it is there.
fn install() {
    let handler = handle as extern "C" fn(c_int, *mut siginfo_t, *mut c_void) as libc::sighandler_t;
    // SAFETY: the structure holds numbers and pointers that may be null.
    let mut previous: libc::sigaction = unsafe { std::mem::zeroed() };
    let mut action = previous;
    // SAFETY: it points to a structure that lives.
    unsafe { libc::sigaction(libc::SIGBUS, ptr::null(), &raw mut previous) };
    if previous.sa_sigaction == handler {
        return;
    }
    action.sa_sigaction = handler;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
    PREVIOUS.store(Box::into_raw(Box::new(previous)), Ordering::Release);
    // SAFETY: it points to a structure that lives; the handler follows the rules of handlers: it takes no lock and no memory, and
    // calls `mmap` and `sigaction` alone. Should the call fail, everything stays as it was.
    unsafe { libc::sigaction(libc::SIGBUS, &raw const action, ptr::null_mut()) };
}

extern "C" fn handle(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: the system passes a pointer to what it says of the signal. `SIGBUS` of `kill` has no address, and a code up to 0.
    let (address, code) = unsafe { ((*info).si_addr().addr(), (*info).si_code) };
    if code > 0
        && let Some(region) = regions().find(|region| region.contains(address))
        && region.zero_from(address)
    {
        return;
    }
    pass_on(signal, info, context);
}

/// Does what would have been done without the handler.
fn pass_on(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: it is null, or points to what `install` has leaked.
    let previous = unsafe { PREVIOUS.load(Ordering::Acquire).as_ref() };
    let previous = previous.filter(|action| ![libc::SIG_DFL, libc::SIG_IGN].contains(&action.sa_sigaction));
    let Some(action) = previous.filter(|_| !PASSED_ON.swap(true, Ordering::AcqRel)) else {
        // SAFETY: the default action ends the process: on return, when the page is touched again, or by the signal that is
        // raised here and waits until then.
        unsafe {
            libc::signal(signal, libc::SIG_DFL);
            if (*info).si_code <= 0 {
                libc::raise(signal);
            }
        }
        return;
    };
    // SAFETY: the system has taken this number for a handler of the kind that its flags say.
    unsafe {
        if action.sa_flags & libc::SA_SIGINFO == 0 {
            std::mem::transmute::<libc::sighandler_t, extern "C" fn(c_int)>(action.sa_sigaction)(signal);
        } else {
            type Handler = extern "C" fn(c_int, *mut siginfo_t, *mut c_void);
            std::mem::transmute::<libc::sighandler_t, Handler>(action.sa_sigaction)(signal, info, context);
        }
    }
}
