//! The engine: the kernels, the threads and the memory of this machine. The host computes with it, and whoever writes rows that are
//! uploaded to another device.

mod pool;
pub(crate) mod rows;
#[cfg(feature = "parallel")]
mod threads;

use std::ops::Range;
use std::sync::Arc;
#[cfg(feature = "parallel")]
use std::sync::{Mutex, PoisonError};

use noren_math::kernels::{Kernels, kernels};
use noren_math::machine::mapped::MappedRow;

use crate::engine::pool::Pool;
use crate::engine::rows::{LimbRow, Rows};
#[cfg(feature = "parallel")]
use crate::engine::threads::Threads;
use crate::error::Error;
use crate::interrupt;
use crate::parallel::Parallel;

/// Work on fewer words stays on the calling thread: it takes about as long as waking another one.
const SMALLEST_PARALLEL_WORK: usize = 1 << 14;
/// The same for pointwise work, a word of which takes a tenth of the time of a word that is transformed.
const SMALLEST_POINTWISE_WORK: usize = 1 << 17;

/// Runs loops over rows: the one place of the lower layers that knows threads. A clone shares everything.
///
/// A loop is a set of tasks that write to disjoint memory, each the same whatever thread runs it, so results are the
/// same bytes for every number of threads and every [`Parallel`].
///
/// | loop | what it runs over | who shares it |
/// |---|---|---|
/// | `run` | tasks that are cut already | all threads |
/// | `rows` | whole rows: transforms, samplers | all threads, or one with [`Parallel::Coefficient`] |
/// | `pointwise`, `columns` | words that do not depend on each other | as [`Parallel`] says |
/// | `walk` | limbs or groups of limbs, each with loops of its own | as [`Parallel`] says |
#[derive(Debug, Clone)]
pub struct Engine {
    kernels: &'static Kernels,
    threads: Threads,
    parallel: Parallel,
    pool: Arc<Pool>,
}

/// Without the feature `parallel` all work stays on the calling thread.
#[cfg(not(feature = "parallel"))]
#[derive(Debug, Clone)]
enum Threads {
    One,
}

impl Engine {
    /// An engine that keeps at most `kept_bytes` of memory for later polynomials.
    ///
    /// `threads`: `None` uses the rayon pool in which a verb is called, `Some(1)` never uses another thread, `Some(n)`
    /// owns `n` threads.
    ///
    /// # Errors
    /// [`Error::Threads`] for 0 threads, or if the system gives none; without the feature `parallel`, for more than 1.
    pub fn new(threads: Option<usize>, parallel: Parallel, kept_bytes: usize) -> Result<Self, Error> {
        let pool = Arc::new(Pool::new(kept_bytes));
        Ok(Self { kernels: kernels(), threads: Threads::new(threads)?, parallel, pool })
    }

    /// How loops are shared out.
    #[must_use]
    pub fn parallel(&self) -> Parallel {
        self.parallel
    }

    /// How many threads a loop that is started here can use.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.threads.count()
    }

    /// The threads that were asked for, as [`Engine::new`] takes them.
    #[must_use]
    pub fn asked_threads(&self) -> Option<usize> {
        self.threads.asked()
    }

    /// The row kernels.
    #[must_use]
    pub fn kernels(&self) -> &'static Kernels {
        self.kernels
    }

    /// Gives the memory that is kept for later polynomials back to the system.
    pub fn release(&self) {
        self.pool.clear();
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

    /// Makes memory for `count` elements that are held together, for [`Engine::unset_rows`] to take.
    pub(crate) fn reserve_rows(&self, count: usize, limbs: usize, degree: usize) {
        Rows::reserve(&self.pool, count, limbs, degree);
    }

    /// Rows that lie in a file.
    ///
    /// # Panics
    /// If there are not limbs times degree words.
    pub(crate) fn mapped_rows(&self, words: MappedRow, limbs: usize, degree: usize) -> Rows {
        Rows::mapped(&self.pool, words, limbs, degree).expect("a word for each place of each row")
    }

    /// Rows of zeros.
    pub(crate) fn zero_rows(&self, limbs: usize, degree: usize) -> Rows {
        Rows::zero(&self.pool, limbs, degree)
    }

    /// How many of `limbs` one task of a walk should take where it gains by taking several, at most `most`.
    pub(crate) fn group(&self, limbs: usize, most: usize) -> usize {
        self.parallel.group(limbs, most, self.threads())
    }

    /// Runs `work` on each task; `words` is the size of all tasks together, by which small work stays on this thread.
    pub(crate) fn run<T: Send>(&self, words: usize, tasks: impl Iterator<Item = T>, work: impl Fn(T) + Send + Sync) {
        self.run_with(words, tasks, || (), |(), task| work(task));
    }

    /// Runs `work` on each task, with memory that `scratch` makes: each finds there what it wrote itself, or anything.
    /// `words` is the size of all tasks together, by which small work stays on this thread.
    pub fn run_with<S, T: Send>(
        &self,
        words: usize,
        tasks: impl Iterator<Item = T>,
        scratch: impl Fn() -> S + Send + Sync,
        work: impl Fn(&mut S, T) + Send + Sync,
    ) {
        if !self.spreads(words) {
            let mut scratch = scratch();
            return tasks.for_each(|task| {
                interrupt::check();
                work(&mut scratch, task);
            });
        }
        self.spread(tasks.collect(), |next| {
            // Made with the first task.
            let mut memory = None;
            while let Some(task) = next() {
                work(memory.get_or_insert_with(&scratch), task);
            }
        });
    }

    /// Runs `work` on each of some whole rows.
    pub(crate) fn rows<T: Send>(&self, words: usize, rows: impl Iterator<Item = T>, work: impl Fn(T) + Send + Sync) {
        if self.parallel.spreads_limbs() { self.run(words, rows, work) } else { rows.for_each(work) }
    }

    /// Runs `work` on ranges of rows, each with the limb, until every word was met once.
    pub(crate) fn pointwise<'a>(
        &self,
        degree: usize,
        rows: impl Iterator<Item = LimbRow<'a>>,
        work: impl Fn(usize, Range<usize>, &mut [u64]) + Send + Sync,
    ) {
        let rows: Vec<LimbRow> = rows.collect();
        let (count, words) = (rows.len(), rows.len() * degree);
        if words < SMALLEST_POINTWISE_WORK || !self.spreads(words) {
            interrupt::check();
            return rows.into_iter().for_each(|(limb, row)| work(limb, 0..degree, row));
        }
        let width = self.parallel.range(count, degree, self.threads());
        let tiles =
            |(limb, row): LimbRow<'a>| row.chunks_mut(width).enumerate().map(move |(i, tile)| (limb, i * width, tile));
        let work = |(limb, start, tile): (usize, usize, &mut [u64])| work(limb, start..start + tile.len(), tile);
        if self.parallel.spreads_limbs() {
            self.run(words, rows.into_iter().flat_map(tiles), work);
        } else {
            self.enter(|| rows.into_iter().for_each(|row| self.run(degree, tiles(row), work)));
        }
    }

    /// Runs `work` on ranges of some rows that are worked on side by side, each with its limb.
    pub(crate) fn columns(
        &self,
        degree: usize,
        rows: &mut [LimbRow],
        work: impl Fn(Range<usize>, &mut [LimbRow]) + Send + Sync,
    ) {
        let words = rows.len() * degree;
        let width = if self.spreads(words) { self.parallel.range(1, degree, self.threads()) } else { degree };
        if width == degree {
            return work(0..degree, rows);
        }
        let mut cut: Vec<_> = rows.iter_mut().map(|(limb, row)| (*limb, row.chunks_mut(width))).collect();
        let columns: Vec<Vec<LimbRow>> = (0..degree.div_ceil(width))
            .map(|_| cut.iter_mut().filter_map(|(limb, tiles)| Some((*limb, tiles.next()?))).collect())
            .collect();
        self.run(words, columns.into_iter().enumerate(), |(i, mut column)| {
            work(i * width..degree.min((i + 1) * width), &mut column);
        });
    }

    /// Runs `work` on tasks that walk through limbs, with memory that `scratch` makes; see [`Engine::run_with`].
    ///
    /// Loops within a task go to the engine that it is given: that of one thread where limbs are walked
    /// side by side, that of all threads where they share one.
    pub(crate) fn walk<S, T: Send>(
        &self,
        words: usize,
        tasks: impl Iterator<Item = T>,
        scratch: impl Fn() -> S + Send + Sync,
        work: impl Fn(&Self, &mut S, T) + Send + Sync,
    ) {
        let alone = Self { threads: Threads::One, ..self.clone() };
        if !self.spreads(words) {
            let mut scratch = scratch();
            return tasks.for_each(|task| {
                interrupt::check();
                work(&alone, &mut scratch, task);
            });
        }
        let tasks: Vec<(usize, T)> = tasks.enumerate().collect();
        if !self.parallel.spreads_limbs() {
            return self.enter(|| {
                let mut scratch = scratch();
                tasks.into_iter().for_each(|(_, task)| work(self, &mut scratch, task));
            });
        }
        let undivided = self.parallel.undivided(tasks.len(), self.threads());
        self.spread(tasks, |next| {
            let mut memory = None;
            while let Some((i, task)) = next() {
                work(if i < undivided { &alone } else { self }, memory.get_or_insert_with(&scratch), task);
            }
        });
    }

    /// Whether work on `words` words is shared out at all.
    fn spreads(&self, words: usize) -> bool {
        words >= SMALLEST_PARALLEL_WORK && self.threads() > 1
    }

    /// Runs `work` on each item, several at a time, and returns the results in their order.
    ///
    /// For long work, such as that on a ciphertext each: one operation shares out its own loops.
    pub fn map<T: Send, R: Send>(&self, items: Vec<T>, work: impl Fn(T) -> R + Send + Sync) -> Vec<R> {
        let mut results: Vec<Option<R>> = items.iter().map(|_| None).collect();
        self.spread(items.into_iter().zip(&mut results).collect(), |next| {
            while let Some((item, result)) = next() {
                *result = Some(work(item));
            }
        });
        results.into_iter().map(|result| result.expect("work was done on every item")).collect()
    }

    /// Runs `worker` on every thread, with what hands out the next task, in order.
    #[cfg(feature = "parallel")]
    fn spread<T: Send>(&self, tasks: Vec<T>, worker: impl Fn(&mut dyn FnMut() -> Option<T>) + Send + Sync) {
        interrupt::check();
        let workers = self.threads().min(tasks.len());
        let tasks = Mutex::new(tasks.into_iter());
        let next = || {
            interrupt::check();
            tasks.lock().unwrap_or_else(PoisonError::into_inner).next()
        };
        self.share(workers, &|| worker(&mut { next }));
    }

    /// Runs `worker` on `workers` threads. The type of work is erased, so that rayon's functions are compiled once.
    #[cfg(feature = "parallel")]
    fn share(&self, workers: usize, worker: &(dyn Fn() + Sync)) {
        use rayon::prelude::*;
        let terms = interrupt::terms();
        self.threads.enter(|shares| {
            if !shares {
                return worker();
            }
            let worker = |_| interrupt::under(terms.clone(), worker);
            (0..workers).into_par_iter().with_max_len(1).for_each(worker);
        });
    }

    /// Runs `worker` here, with what hands out the next task.
    #[cfg(not(feature = "parallel"))]
    fn spread<T: Send>(&self, tasks: Vec<T>, worker: impl Fn(&mut dyn FnMut() -> Option<T>) + Send + Sync) {
        let mut tasks = tasks.into_iter();
        worker(&mut || {
            interrupt::check();
            tasks.next()
        });
    }

    /// Runs `work` on one of the threads, so that what it shares out needs no change of threads: several operations then hand
    /// over once, and not for each of their loops.
    pub fn enter<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        interrupt::check();
        self.threads.enter(|_| work())
    }
}

#[cfg(not(feature = "parallel"))]
impl Threads {
    fn new(threads: Option<usize>) -> Result<Self, Error> {
        match threads {
            None | Some(1) => Ok(Self::One),
            Some(found) => Err(Error::Threads {
                found,
                reason: "this build has no feature `parallel`: ask for 1, or build with it".into(),
            }),
        }
    }

    fn count(&self) -> usize {
        1
    }

    fn asked(&self) -> Option<usize> {
        Some(1)
    }

    fn enter<R: Send>(&self, work: impl FnOnce(bool) -> R + Send) -> R {
        work(false)
    }
}
