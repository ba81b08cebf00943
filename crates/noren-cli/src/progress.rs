//! Progress on standard error, where it is a terminal.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use noren::{Interrupt, memory};

/// Whether nothing is shown, in this process.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Says for all bars that are made from now on whether nothing is shown.
pub fn set_quiet(quiet: bool) {
    QUIET.store(quiet, Ordering::Relaxed);
}

/// How often a spinner turns.
const TURN: Duration = Duration::from_millis(100);

/// More bytes than a thread takes.
const THREAD: usize = 4 << 20;

/// The bar or spinner on the terminal; others that are made during its life are hidden.
static CURRENT: Mutex<Option<Current>> = Mutex::new(None);

struct Current {
    bar: ProgressBar,
    /// Whether it shows the fraction that the library reports; else its steps are set by [`Shown::set`].
    listens: bool,
}

fn current() -> MutexGuard<'static, Option<Current>> {
    CURRENT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A bar for work in `total` steps; it is gone when the value is dropped.
pub fn bar(what: &str, total: usize) -> Shown {
    let bar = ProgressBar::new(total as u64);
    style(&bar, "{msg} [{wide_bar}] {pos}/{len} {percent}% {elapsed} (about {eta} left)");
    Shown::new(bar, what.to_owned(), false)
}

/// A sign of life for work whose steps are not known: the fraction of it that the library reports, if it reports any; it is
/// gone when the value is dropped.
pub(crate) fn spinner(what: String) -> Shown {
    let bar = ProgressBar::new_spinner();
    style(&bar, "{spinner} {msg} {elapsed}");
    let shown = Shown::new(bar, what, true);
    // It turns in a thread of its own, without which it stands still.
    if shown.is_current && !shown.bar.is_hidden() && memory::ask(THREAD).is_ok() {
        shown.bar.enable_steady_tick(TURN);
    }
    shown
}

/// Runs work, whose spinners hear from the library how much is done.
pub(crate) fn reported<T>(work: impl FnOnce() -> T) -> noren::Result<T> {
    let progress = |done: usize, of: usize| {
        if let Some(Current { bar, listens: true }) = current().as_ref() {
            if bar.length() != Some(of as u64) {
                bar.set_length(of as u64);
                style(bar, "{spinner} {msg} {percent}% {elapsed}");
            }
            bar.set_position(done as u64);
        }
    };
    Ok(Interrupt::with(None, Some(Box::new(progress))).run(work)?)
}

/// Progress that is shown.
pub struct Shown {
    bar: ProgressBar,
    /// Whether it is the one that is shown.
    is_current: bool,
}

impl Shown {
    fn new(bar: ProgressBar, what: String, listens: bool) -> Self {
        let mut current = current();
        let is_current = current.is_none();
        if QUIET.load(Ordering::Relaxed) || !is_current {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        bar.set_message(what);
        if is_current {
            *current = Some(Current { bar: bar.clone(), listens });
        }
        Self { bar, is_current }
    }

    /// Shows that `done` of `total` steps are done.
    pub fn set(&self, done: usize, total: usize) {
        self.bar.set_length(total as u64);
        self.bar.set_position(done as u64);
    }

    /// The current work.
    pub(crate) fn say(&self, what: &str) {
        self.bar.set_message(what.to_owned());
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
        if self.is_current {
            *current() = None;
        }
    }
}

fn style(bar: &ProgressBar, template: &str) {
    // A template that cannot be read leaves the default look.
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
}

#[cfg(test)]
mod tests {
    use noren::interrupt::Steps;

    use super::*;

    #[test]
    fn a_spinner_hears_what_the_library_reports_and_those_inside_it_do_not() {
        let fraction = |shown: &Shown| (shown.bar.position(), shown.bar.length());
        let outer = spinner("outer".to_owned());
        let inner = spinner("inner".to_owned());
        reported(|| Steps::new(4).advance(3)).expect("nothing ends it");
        assert_eq!((fraction(&outer), fraction(&inner).0), ((3, Some(4)), 0));
        drop((inner, outer));
        let counted = bar("counted", 7);
        reported(|| Steps::new(4).advance(3)).expect("nothing ends it");
        assert_eq!(fraction(&counted), (0, Some(7)));
    }
}
