//! Long work: functions of Python that hear of progress, signals while the interpreter is released, and children of `fork`.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use noren::Interrupt;
use noren::error::{Error as Refusal, Result};
use noren::memory;
use pyo3::prelude::*;

use crate::errors::{Error, raise};

/// How many calls of this process are at work without the interpreter.
static RUNNING: AtomicUsize = AtomicUsize::new(0);
/// Whether this process was made by `fork` while another thread of its parent was at work: its locks stay locked.
static TORN: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// The functions of ``noren.progress``, the innermost last.
    static LISTENERS: RefCell<Vec<Py<PyAny>>> = const { RefCell::new(Vec::new()) };
}

/// A function of Python that hears of progress, and what functions of Python have raised.
#[derive(Clone)]
pub(crate) struct Heard(Arc<State>);

struct State {
    function: Option<Py<PyAny>>,
    /// The most that the function was told, and of how much.
    told: Mutex<Option<(usize, usize)>>,
    raised: Mutex<Option<PyErr>>,
    stopped: AtomicBool,
}

impl Heard {
    /// A function that hears of progress; without one, that of ``noren.progress``.
    pub(crate) fn new(function: Option<Py<PyAny>>) -> Self {
        let listener =
            || LISTENERS.with_borrow(|listeners| Python::attach(|py| listeners.last().map(|last| last.clone_ref(py))));
        let function = function.or_else(listener);
        Self(Arc::new(State {
            function,
            told: Mutex::default(),
            raised: Mutex::default(),
            stopped: AtomicBool::new(false),
        }))
    }

    /// Tells the function how much is done, of how much; what it hears grows, whichever thread tells it.
    pub(crate) fn call(&self, done: usize, of: usize) {
        let Some(function) = &self.0.function else { return };
        let mut told = lock(&self.0.told);
        if self.stopped() || told.is_some_and(|(before, whole)| whole == of && done <= before) {
            return;
        }
        *told = Some((done, of));
        if let Err(error) = Python::attach(|py| function.call1(py, (done, of))) {
            self.stop(error);
        }
    }

    /// Keeps the first error that ends the work.
    pub(crate) fn stop(&self, error: PyErr) {
        if !self.0.stopped.swap(true, Ordering::Relaxed) {
            *lock(&self.0.raised) = Some(error);
        }
    }

    /// Keeps the last error of what is asked again for the first of all points, unless the work was ended.
    pub(crate) fn fail(&self, error: PyErr) {
        if !self.stopped() {
            *lock(&self.0.raised) = Some(error);
        }
    }

    /// Whether the work is to end.
    pub(crate) fn stopped(&self) -> bool {
        self.0.stopped.load(Ordering::Relaxed)
    }

    /// Raises what was kept.
    fn raise(&self) -> PyResult<()> {
        lock(&self.0.raised).take().map_or(Ok(()), Err)
    }

    /// Runs `work` without the interpreter, while signals are looked for: what their handlers raise, such as
    /// KeyboardInterrupt, ends the work, and so does what functions of Python raise. That goes before what the work refuses.
    ///
    /// The work itself calls [`Heard::call`].
    pub(crate) fn watch<T: Send>(&self, py: Python<'_>, work: impl FnOnce() -> Result<T> + Send) -> PyResult<T> {
        self.run(py, None, work)?.map_err(raise)
    }

    /// As [`Heard::watch`], but that the function hears of the steps of the work's own loops; with a way to turn what the work
    /// refuses into an exception.
    pub(crate) fn follow<T: Send>(
        &self,
        py: Python<'_>,
        raise: fn(Refusal) -> PyErr,
        work: impl FnOnce() -> Result<T> + Send,
    ) -> PyResult<T> {
        let heard = self.clone();
        let progress = self.0.function.is_some().then(|| Box::new(move |done, of| heard.call(done, of)) as Box<_>);
        self.run(py, progress, work)?.map_err(raise)
    }

    fn run<T: Send>(
        &self,
        py: Python<'_>,
        progress: Option<Box<dyn Fn(usize, usize) + Send + Sync>>,
        work: impl FnOnce() -> Result<T> + Send,
    ) -> PyResult<Result<T>> {
        // Of many short calls in a row, too.
        py.check_signals()?;
        check_process()?;
        let heard = self.clone();
        let watch = move || {
            if let Err(error) = Python::attach(|py| py.check_signals()) {
                heard.stop(error);
            }
            heard.stopped()
        };
        let interrupt = Interrupt::with(Some(Box::new(watch)), progress);
        let done = py.detach(|| {
            let _running = Running::new();
            // Of every call, not only of those that refuse by themselves.
            interrupt.run(|| memory::refusing(work).unwrap_or_else(|missing| Err(missing.into())))
        });
        self.raise()?;
        done.map_err(|interrupted| raise(interrupted.into()))
    }
}

/// Hears of the progress of all calls in a ``with`` block; see ``noren.progress``.
#[pyclass(frozen, name = "Progress", module = "noren._noren")]
pub(crate) struct PyProgress(Py<PyAny>);

#[pymethods]
impl PyProgress {
    #[new]
    fn new(function: Py<PyAny>) -> Self {
        Self(function)
    }

    fn __enter__(&self, py: Python<'_>) {
        LISTENERS.with_borrow_mut(|listeners| listeners.push(self.0.clone_ref(py)));
    }

    fn __exit__(&self, _type: &Bound<'_, PyAny>, _value: &Bound<'_, PyAny>, _traceback: &Bound<'_, PyAny>) {
        let ended = LISTENERS.with_borrow_mut(Vec::pop);
        // Dropped here, where nothing is borrowed: it may run code of Python.
        drop(ended);
    }
}

/// Called in a child of ``os.fork``, by its only thread.
#[pyfunction]
pub(crate) fn after_fork_in_child() {
    if RUNNING.swap(0, Ordering::Relaxed) != 0 {
        TORN.store(true, Ordering::Relaxed);
    }
}

/// Refuses to work with locks that nobody frees.
fn check_process() -> PyResult<()> {
    if !TORN.load(Ordering::Relaxed) {
        return Ok(());
    }
    Err(Error::new_err(
        "this process was made by fork while another thread of its parent was inside a call of noren, and would wait for \
         that thread for ever: fork while no call runs, or start processes with multiprocessing.get_context(\"spawn\") or \
         \"forkserver\"",
    ))
}

/// A call that is at work.
struct Running;

impl Running {
    fn new() -> Self {
        RUNNING.fetch_add(1, Ordering::Relaxed);
        Self
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // In a child of `fork` that was made inside the call, it was counted already.
        let _ = RUNNING.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |running| running.checked_sub(1));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
