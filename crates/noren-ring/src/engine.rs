//! What all verbs run on: the kernels, the threads and the memory.

use std::sync::Arc;

use noren_math::kernels::{Kernels, kernels};

use crate::error::Error;
use crate::pool::Pool;
use crate::rows::Rows;

/// Work on fewer words stays on the calling thread: it takes about as long as waking another one.
const SMALLEST_PARALLEL_WORK: usize = 1 << 14;

/// Runs loops over rows: the one place of the lower floors that knows threads. A clone shares everything.
///
/// A loop is a set of tasks that write to disjoint memory, each the same whatever thread runs it, so results are the
/// same bytes for every number of threads.
#[derive(Debug, Clone)]
pub struct Engine {
    kernels: &'static Kernels,
    threads: Threads,
    pool: Arc<Pool>,
}

#[derive(Debug, Clone)]
enum Threads {
    One,
    /// Those of the pool in which the caller runs.
    #[cfg(feature = "parallel")]
    Current,
    #[cfg(feature = "parallel")]
    Own(Arc<rayon::ThreadPool>),
}

impl Engine {
    /// An engine that keeps at most `kept_bytes` of memory for later polynomials.
    ///
    /// `threads`: `None` uses the rayon pool in which a verb is called, `Some(1)` never uses another thread, `Some(n)`
    /// owns `n` threads.
    ///
    /// # Errors
    /// [`Error::Threads`] for 0 threads, or if the system gives none; without the feature `parallel`, for more than 1.
    pub fn new(threads: Option<usize>, kept_bytes: usize) -> Result<Self, Error> {
        Ok(Self { kernels: kernels(), threads: Threads::new(threads)?, pool: Arc::new(Pool::new(kept_bytes)) })
    }

    /// How many threads a loop that is started here can use.
    #[must_use]
    pub fn threads(&self) -> usize {
        match &self.threads {
            Threads::One => 1,
            #[cfg(feature = "parallel")]
            Threads::Current => rayon::current_num_threads(),
            #[cfg(feature = "parallel")]
            Threads::Own(pool) => pool.current_num_threads(),
        }
    }

    /// The row kernels.
    #[must_use]
    pub fn kernels(&self) -> &'static Kernels {
        self.kernels
    }

    /// How many bytes are kept for later polynomials.
    #[must_use]
    pub fn kept_bytes(&self) -> usize {
        self.pool.bytes()
    }

    /// Rows that hold anything.
    pub(crate) fn unset_rows(&self, limbs: usize, degree: usize) -> Rows {
        Rows::unset(&self.pool, limbs, degree)
    }

    /// Rows of zeros.
    pub(crate) fn zero_rows(&self, limbs: usize, degree: usize) -> Rows {
        Rows::zero(&self.pool, limbs, degree)
    }

    /// How many of `rows` one task should take where it gains by taking several, at most `most`: so many that each thread
    /// still has a few tasks.
    pub(crate) fn group(&self, rows: usize, most: usize) -> usize {
        /// Fewer, and threads would wait for the last task.
        const TASKS_PER_THREAD: usize = 3;
        (rows / (TASKS_PER_THREAD * self.threads())).clamp(1, most)
    }

    /// Runs `work` on each task; `words` is the size of all tasks together, by which small work stays on this thread.
    pub(crate) fn run<T: Send>(&self, words: usize, tasks: impl Iterator<Item = T>, work: impl Fn(T) + Send + Sync) {
        self.run_with(words, tasks, || (), |(), task| work(task));
    }

    /// [`Engine::run`] with memory that `scratch` makes: each task finds there what it wrote itself, or anything.
    pub(crate) fn run_with<S, T: Send>(
        &self,
        words: usize,
        tasks: impl Iterator<Item = T>,
        scratch: impl Fn() -> S + Send + Sync,
        work: impl Fn(&mut S, T) + Send + Sync,
    ) {
        #[cfg(feature = "parallel")]
        if words >= SMALLEST_PARALLEL_WORK && self.threads() > 1 {
            use rayon::prelude::*;
            let tasks: Vec<T> = tasks.collect();
            // Tasks are rows or blocks of rows: large enough to be handed out one by one.
            let spread = || tasks.into_par_iter().with_max_len(1).for_each_init(scratch, work);
            return match &self.threads {
                Threads::Own(pool) => pool.install(spread),
                Threads::One | Threads::Current => spread(),
            };
        }
        #[cfg(not(feature = "parallel"))]
        let _ = (words, SMALLEST_PARALLEL_WORK);
        let mut scratch = scratch();
        tasks.for_each(|task| work(&mut scratch, task));
    }
}

impl Threads {
    #[cfg(feature = "parallel")]
    fn new(threads: Option<usize>) -> Result<Self, Error> {
        match threads {
            None => Ok(Self::Current),
            Some(0) => Err(Error::Threads { found: 0, reason: "at least 1 is needed".into() }),
            Some(1) => Ok(Self::One),
            Some(found) => rayon::ThreadPoolBuilder::new()
                .num_threads(found)
                .thread_name(|i| format!("noren-{i}"))
                .build()
                .map(|pool| Self::Own(Arc::new(pool)))
                .map_err(|error| Error::Threads { found, reason: error.to_string() }),
        }
    }

    #[cfg(not(feature = "parallel"))]
    fn new(threads: Option<usize>) -> Result<Self, Error> {
        match threads {
            None | Some(1) => Ok(Self::One),
            Some(found) => Err(Error::Threads {
                found,
                reason: "this build has no feature `parallel`: ask for 1, or build with it".into(),
            }),
        }
    }
}
