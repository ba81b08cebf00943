//! Long work: functions of Python that hear of progress, and signals while the interpreter is released.

use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use noren::error::Result;
use pyo3::prelude::*;

use crate::errors::raise;

/// How often signals are looked for.
const INTERVAL: Duration = Duration::from_millis(50);

/// A function of Python that hears of progress, and what functions of Python have raised.
pub(crate) struct Heard {
    function: Option<Py<PyAny>>,
    /// The most that the function was told.
    told: Mutex<Option<usize>>,
    raised: Mutex<Option<PyErr>>,
    stopped: AtomicBool,
}

impl Heard {
    pub(crate) fn new(function: Option<Py<PyAny>>) -> Self {
        Self { function, told: Mutex::new(None), raised: Mutex::new(None), stopped: AtomicBool::new(false) }
    }

    /// Tells the function how much is done, of how much; what it hears grows, whichever thread tells it.
    pub(crate) fn call(&self, done: usize, of: usize) {
        let Some(function) = &self.function else { return };
        let mut told = lock(&self.told);
        if self.stopped() || told.is_some_and(|told| done <= told) {
            return;
        }
        *told = Some(done);
        if let Err(error) = Python::attach(|py| function.call1(py, (done, of))) {
            self.stop(error);
        }
    }

    /// Keeps the first error that ends the work.
    pub(crate) fn stop(&self, error: PyErr) {
        if !self.stopped.swap(true, Ordering::Relaxed) {
            *lock(&self.raised) = Some(error);
        }
    }

    /// Keeps the last error of what is asked again for the first of all points, unless the work was ended.
    pub(crate) fn fail(&self, error: PyErr) {
        if !self.stopped() {
            *lock(&self.raised) = Some(error);
        }
    }

    /// Whether the work is to end.
    pub(crate) fn stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Raises what was kept.
    pub(crate) fn raise(&self) -> PyResult<()> {
        lock(&self.raised).take().map_or(Ok(()), Err)
    }

    /// Runs `work` without the interpreter in a thread of its own, while this one looks for signals: what their handlers
    /// raise, such as KeyboardInterrupt, ends the work as far as it asks whether it is to end. What functions of Python have
    /// raised goes before what the work refuses.
    pub(crate) fn watch<T: Send>(&self, py: Python<'_>, work: impl FnOnce() -> Result<T> + Send) -> PyResult<T> {
        let done = py.detach(|| {
            thread::scope(|scope| {
                let (sender, finished) = mpsc::channel::<()>();
                let worker = scope.spawn(move || {
                    // Dropped when the work is done, panic or not.
                    let _sender = sender;
                    work()
                });
                while finished.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
                    if let Err(error) = Python::attach(|py| py.check_signals()) {
                        self.stop(error);
                    }
                }
                worker.join().unwrap_or_else(|panic| panic::resume_unwind(panic))
            })
        });
        self.raise()?;
        done.map_err(raise)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
