//! The threads of an engine, in the process that started them and in its children.
//!
//! A child that `fork` makes has the memory of its parent and none of its threads: a pool that it inherits would never take
//! work. So each pool knows its process, and a child starts a pool of its own when it first shares out work.

use std::process;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, OnceLock, TryLockError};
use std::thread;
use std::time::Duration;

use rayon::{Scope, ThreadPool, ThreadPoolBuilder};

use crate::error::Error;
use crate::interrupt::{self, INTERVAL, Interrupt};

/// A lock that another thread of the parent held during `fork` is never free in the child: this is how often a thread waits for
/// a millisecond, then it does without.
const PATIENCE: usize = 100;

/// Where an engine of the current threads was first made: the process whose threads rayon's global pool has.
static GLOBAL: OnceLock<Pools> = OnceLock::new();

#[derive(Debug, Clone)]
pub(crate) enum Threads {
    One,
    /// Those of the pool in which the caller runs.
    Current,
    Own(Arc<Pools>),
}

/// The pools of a process and of its children, one at a time.
#[derive(Debug)]
pub(crate) struct Pools {
    /// How many threads each pool has, unless rayon chooses.
    count: Option<usize>,
    home: u32,
    /// Of the process that made this, unless it is rayon's global one.
    first: Option<Arc<Pool>>,
    /// Of a child.
    later: Mutex<Option<Arc<Pool>>>,
}

/// A pool, and the process that has its threads.
#[derive(Debug)]
struct Pool {
    process: u32,
    /// Taken when it is dropped.
    threads: Option<ThreadPool>,
}

/// The pool that takes work.
enum Chosen {
    Global,
    Pool(Arc<Pool>),
    /// No threads can be had: the caller does all by itself.
    None,
}

impl Threads {
    pub(crate) fn new(threads: Option<usize>) -> Result<Self, Error> {
        match threads {
            None => {
                GLOBAL.get_or_init(|| Pools { count: None, home: process::id(), first: None, later: Mutex::default() });
                Ok(Self::Current)
            }
            Some(0) => Err(Error::Threads { found: 0, reason: "at least 1 is needed".into() }),
            Some(1) => Ok(Self::One),
            Some(found) => {
                let first = Pool::start(Some(found)).map_err(|reason| Error::Threads { found, reason })?;
                let (count, home) = (Some(found), first.process);
                let pools = Pools { count, home, first: Some(Arc::new(first)), later: Mutex::default() };
                Ok(Self::Own(Arc::new(pools)))
            }
        }
    }

    /// As [`Threads::new`] takes them.
    pub(crate) fn asked(&self) -> Option<usize> {
        match self {
            Self::One => Some(1),
            Self::Current => None,
            Self::Own(pools) => pools.count,
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.asked().unwrap_or_else(rayon::current_num_threads)
    }

    /// Runs `work` on one of the threads; it is told whether loops can be shared out there.
    ///
    /// The caller waits, and calls the watcher of its interrupt.
    pub(crate) fn enter<R: Send>(&self, work: impl FnOnce(bool) -> R + Send) -> R {
        let (mut work, mut result) = (Some(work), None);
        self.enter_with(&mut |shares| result = work.take().map(|work| work(shares)));
        result.expect("work runs once")
    }

    /// [`Threads::enter`] for work of any type: what rayon's functions are compiled for is the same for all loops.
    fn enter_with(&self, work: &mut (dyn FnMut(bool) + Send)) {
        let chosen = match self {
            Self::One => Chosen::None,
            // A thread of a pool is one of this process.
            Self::Current if rayon::current_thread_index().is_some() => return work(true),
            Self::Current => GLOBAL.get().map_or(Chosen::Global, Pools::choose),
            Self::Own(pools) if pools.runs_here() => return work(true),
            Self::Own(pools) => pools.choose(),
        };
        match chosen {
            Chosen::None => work(false),
            Chosen::Global => hand_over(None, work),
            Chosen::Pool(pool) => match &pool.threads {
                Some(threads) if threads.current_thread_index().is_some() => work(true),
                threads => hand_over(threads.as_ref(), work),
            },
        }
    }
}

impl Pools {
    /// Whether this is a thread of the first pool, and so of its process.
    fn runs_here(&self) -> bool {
        let threads = self.first.as_ref().and_then(|pool| pool.threads.as_ref());
        threads.is_some_and(|threads| threads.current_thread_index().is_some())
    }

    /// The pool of this process.
    fn choose(&self) -> Chosen {
        let here = process::id();
        if here == self.home {
            return self.first.as_ref().map_or(Chosen::Global, |pool| Chosen::Pool(Arc::clone(pool)));
        }
        for _ in 0..PATIENCE {
            let mut later = match self.later.try_lock() {
                Ok(later) => later,
                Err(TryLockError::Poisoned(error)) => error.into_inner(),
                Err(TryLockError::WouldBlock) => {
                    thread::sleep(Duration::from_millis(1));
                    continue;
                }
            };
            if later.as_ref().is_none_or(|pool| pool.process != here) {
                *later = Pool::start(self.count).ok().map(Arc::new);
            }
            return later.as_ref().map_or(Chosen::None, |pool| Chosen::Pool(Arc::clone(pool)));
        }
        Chosen::None
    }
}

impl Pool {
    fn start(count: Option<usize>) -> Result<Self, String> {
        let builder = ThreadPoolBuilder::new().num_threads(count.unwrap_or(0)).thread_name(|i| format!("noren-{i}"));
        let threads = builder.build().map_err(|error| error.to_string())?;
        Ok(Self { process: process::id(), threads: Some(threads) })
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        // A child does not end threads that it does not have: it would wait for locks that they held.
        if process::id() != self.process {
            std::mem::forget(self.threads.take());
        }
    }
}

/// Runs `work` on a thread of a pool, `None` for rayon's global one, while this thread waits.
fn hand_over(pool: Option<&ThreadPool>, work: &mut (dyn FnMut(bool) + Send)) {
    let terms = interrupt::terms();
    // A thread of another pool waits in rayon, which has work for it.
    let Some(watched) = interrupt::watched().filter(|_| rayon::current_thread_index().is_none()) else {
        let work = || interrupt::under(terms, || work(true));
        return match pool {
            None => rayon::scope(|_| work()),
            Some(pool) => pool.install(work),
        };
    };
    let job = move || interrupt::under(terms, || work(true));
    match pool {
        None => rayon::in_place_scope(|scope| wait(scope, &watched, job)),
        Some(pool) => pool.in_place_scope(|scope| wait(scope, &watched, job)),
    }
}

/// Starts `work` in a scope and calls the watcher until it is done.
fn wait<'scope>(scope: &Scope<'scope>, watched: &Interrupt, work: impl FnOnce() + Send + 'scope) {
    let (sender, done) = mpsc::channel::<()>();
    scope.spawn(move |_| {
        // Dropped when the work is done, panic or not.
        let _sender = sender;
        work();
    });
    while done.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
        watched.look();
    }
}
