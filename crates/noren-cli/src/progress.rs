//! Progress on standard error, where it is a terminal.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use noren::Interrupt;

/// Whether nothing is shown, in this process.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Says for all bars that are made from now on whether nothing is shown.
pub(crate) fn set_quiet(quiet: bool) {
    QUIET.store(quiet, Ordering::Relaxed);
}

/// How often a spinner turns.
const TURN: Duration = Duration::from_millis(100);

/// A bar for work in `total` steps; it is gone when the value is dropped.
pub(crate) fn bar(what: &str, total: usize) -> Shown {
    let bar = hidden_if_quiet(ProgressBar::new(total as u64));
    style(&bar, "{msg} [{wide_bar}] {pos}/{len} {percent}% {elapsed} (about {eta} left)");
    bar.set_message(what.to_owned());
    Shown(bar)
}

/// A sign of life for work whose steps are not known; it is gone when the value is dropped.
pub(crate) fn spinner(what: String) -> Shown {
    let bar = hidden_if_quiet(ProgressBar::new_spinner());
    style(&bar, "{spinner} {msg} {elapsed}");
    bar.set_message(what);
    bar.enable_steady_tick(TURN);
    Shown(bar)
}

/// Progress that is shown.
pub(crate) struct Shown(ProgressBar);

impl Shown {
    /// Shows that `done` of `total` steps are done.
    pub(crate) fn set(&self, done: usize, total: usize) {
        self.0.set_length(total as u64);
        self.0.set_position(done as u64);
    }

    /// Does work of the library, which says how much of it is done: that is shown as a fraction.
    pub(crate) fn watch<T>(&self, work: impl FnOnce() -> T) -> noren::Result<T> {
        let bar = self.0.clone();
        let progress = move |done: usize, of: usize| {
            if bar.length() != Some(of as u64) {
                bar.set_length(of as u64);
                style(&bar, "{spinner} {msg} {pos}/{len} {percent}% {elapsed}");
            }
            bar.set_position(done as u64);
        };
        Ok(Interrupt::with(None, Some(Box::new(progress))).run(work)?)
    }

    /// The current work.
    pub(crate) fn say(&self, what: &str) {
        self.0.set_message(what.to_owned());
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

fn hidden_if_quiet(bar: ProgressBar) -> ProgressBar {
    if QUIET.load(Ordering::Relaxed) {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    bar
}

fn style(bar: &ProgressBar, template: &str) {
    // A template that cannot be read leaves the default look.
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
}
