//! Long work that can be ended before it is done, and that reports its progress.

use std::any::Any;
use std::cell::RefCell;
use std::fmt;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

#[cfg(feature = "parallel")]
use noren_math::machine::memory;

/// How often the watcher of an [`Interrupt`] is called.
pub(crate) const INTERVAL: Duration = Duration::from_millis(50);

/// The approximate number of reports of a loop.
const REPORTS: usize = 200;

/// Work was ended before it was done: nothing of it is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the work was interrupted before it was done, and nothing of it is kept: call it again to have the result")]
pub struct Interrupted;

/// Ends long work from another thread, and hears of its progress. A clone is the same interrupt.
///
/// Every loop of an [`Engine`](crate::engine::Engine) asks whether the work is to end, so that key generation, products,
/// lookups, bootstrapping and programs end within the time of a few such loops. The stack is unwound as by a panic, without
/// a message: programs that are built with `panic = "abort"` end instead.
///
/// # Examples
/// ```
/// use noren_ring::interrupt::{Interrupt, Interrupted};
///
/// let interrupt = Interrupt::new();
/// assert_eq!(interrupt.run(|| 6 * 7), Ok(42));
/// interrupt.stop();
/// assert_eq!(interrupt.run(|| 6 * 7), Err(Interrupted));
/// ```
#[derive(Clone, Default)]
pub struct Interrupt(Arc<State>);

#[derive(Default)]
struct State {
    stopped: AtomicBool,
    watch: Option<Box<dyn Fn() -> bool + Send + Sync>>,
    progress: Option<Box<dyn Fn(usize, usize) + Send + Sync>>,
    /// Whether a loop reports already: loops inside it do not.
    reporting: AtomicBool,
}

/// The interrupt that a thread works under.
#[derive(Clone)]
struct Current {
    interrupt: Interrupt,
    /// When the watcher is called next, on the thread that started the work.
    watch_at: Option<Instant>,
}

thread_local! {
    static CURRENT: RefCell<Option<Current>> = const { RefCell::new(None) };
}

impl Interrupt {
    /// An interrupt that nothing has stopped.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// An interrupt with a watcher and a listener.
    ///
    /// `watch` is called about 20 times a second while work runs, by the thread that called [`Interrupt::run`]; work ends once it
    /// returns true. `progress` hears how much is done, of how much, from any thread.
    #[must_use]
    pub fn with(
        watch: Option<Box<dyn Fn() -> bool + Send + Sync>>,
        progress: Option<Box<dyn Fn(usize, usize) + Send + Sync>>,
    ) -> Self {
        Self(Arc::new(State { watch, progress, ..State::default() }))
    }

    /// Ends the work that runs under this interrupt, and all that is started under it later.
    pub fn stop(&self) {
        self.0.stopped.store(true, Ordering::Relaxed);
    }

    /// Whether it was stopped.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.0.stopped.load(Ordering::Relaxed)
    }

    /// Runs work that this interrupt ends; inside other work, the innermost interrupt counts.
    ///
    /// # Errors
    /// [`Interrupted`] if the work was ended before it was done.
    pub fn run<T>(&self, work: impl FnOnce() -> T) -> Result<T, Interrupted> {
        let watch_at = self.0.watch.is_some().then(|| Instant::now() + INTERVAL);
        let current = Some(Current { interrupt: self.clone(), watch_at });
        let work = || {
            check();
            work()
        };
        panic::catch_unwind(AssertUnwindSafe(|| within(current, work))).map_err(caught)
    }

    /// Calls the watcher.
    pub(crate) fn look(&self) {
        if self.0.watch.as_ref().is_some_and(|watch| watch()) {
            self.stop();
        }
    }

    fn report(&self, done: usize, of: usize) {
        if let Some(progress) = &self.0.progress {
            progress(done, of);
        }
    }
}

impl fmt::Debug for Interrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Interrupt").field("stopped", &self.is_stopped()).finish_non_exhaustive()
    }
}

/// Reports the steps of a loop to the listener of the [`Interrupt`] under which it runs. Of nested loops the outermost reports.
pub struct Steps {
    interrupt: Option<Interrupt>,
    done: AtomicUsize,
    of: usize,
}

impl Steps {
    /// A loop of `of` steps.
    #[must_use]
    pub fn new(of: usize) -> Self {
        let interrupt = current()
            .filter(|interrupt| interrupt.0.progress.is_some() && !interrupt.0.reporting.swap(true, Ordering::Relaxed));
        Self { interrupt, done: AtomicUsize::new(0), of }
    }

    /// Counts `steps` more steps as done, on any thread. Ends the work if it is to end.
    pub fn advance(&self, steps: usize) {
        check();
        if let Some(interrupt) = &self.interrupt {
            let before = self.done.fetch_add(steps, Ordering::Relaxed);
            let report = |done: usize| done.saturating_mul(REPORTS) / self.of.max(1);
            if report(before + steps) > report(before) {
                interrupt.report(before + steps, self.of);
            }
        }
    }
}

impl Drop for Steps {
    fn drop(&mut self) {
        if let Some(interrupt) = &self.interrupt {
            interrupt.0.reporting.store(false, Ordering::Relaxed);
        }
    }
}

/// Ends the work of this thread if its interrupt was stopped: the stack is unwound up to [`Interrupt::run`].
pub fn check() {
    let due = CURRENT.with_borrow_mut(|current| {
        let current = current.as_mut()?;
        let now = current.watch_at.map(|at| (at, Instant::now()));
        let watches = now.is_some_and(|(at, now)| now >= at);
        if let (true, Some((_, now))) = (watches, now) {
            current.watch_at = Some(now + INTERVAL);
        }
        (watches || current.interrupt.is_stopped()).then(|| (current.interrupt.clone(), watches))
    });
    // The watcher may start other work on this thread: nothing is borrowed here.
    let Some((interrupt, watches)) = due else { return };
    if watches {
        interrupt.look();
    }
    if interrupt.is_stopped() && !std::thread::panicking() {
        panic::resume_unwind(Box::new(Interrupted));
    }
}

/// The conditions that work takes along to other threads.
#[cfg(feature = "parallel")]
#[derive(Clone)]
pub(crate) struct Terms {
    interrupt: Option<Interrupt>,
    /// Whether it ends where memory cannot be had.
    refuses: bool,
}

/// The conditions of this thread.
#[cfg(feature = "parallel")]
pub(crate) fn terms() -> Terms {
    Terms { interrupt: current(), refuses: memory::refuses() }
}

fn current() -> Option<Interrupt> {
    CURRENT.with_borrow(|current| current.as_ref().map(|current| current.interrupt.clone()))
}

/// The interrupt whose watcher this thread is to call while it waits.
#[cfg(feature = "parallel")]
pub(crate) fn watched() -> Option<Interrupt> {
    CURRENT.with_borrow(|current| {
        current.as_ref().filter(|current| current.watch_at.is_some()).map(|current| current.interrupt.clone())
    })
}

/// Runs what another thread handed over, under the terms of that thread.
#[cfg(feature = "parallel")]
pub(crate) fn under<T>(terms: Terms, work: impl FnOnce() -> T) -> T {
    let current = terms.interrupt.map(|interrupt| Current { interrupt, watch_at: None });
    within(current, || memory::under(terms.refuses, work))
}

fn within<T>(current: Option<Current>, work: impl FnOnce() -> T) -> T {
    /// Puts back what was before, also where the work unwinds.
    struct Before(Option<Current>);
    impl Drop for Before {
        fn drop(&mut self) {
            let before = self.0.take();
            CURRENT.with_borrow_mut(|current| *current = before);
        }
    }
    let _before = Before(CURRENT.replace(current));
    work()
}

/// The end of work, unless it was a panic of another kind.
fn caught(payload: Box<dyn Any + Send>) -> Interrupted {
    match payload.downcast::<Interrupted>() {
        Ok(interrupted) => *interrupted,
        Err(payload) => panic::resume_unwind(payload),
    }
}
