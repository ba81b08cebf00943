//! Progress on standard error, where it is a terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// How often a spinner turns.
const TURN: Duration = Duration::from_millis(100);

/// A bar for work in `total` steps; it is gone when the value is dropped.
pub(crate) fn bar(what: &str, total: usize) -> Shown {
    let bar = ProgressBar::new(total as u64);
    style(&bar, "{msg} [{wide_bar}] {pos}/{len} {elapsed} (about {eta} left)");
    bar.set_message(what.to_owned());
    Shown(bar)
}

/// A sign of life for work whose steps are not known; it is gone when the value is dropped.
pub(crate) fn spinner(what: String) -> Shown {
    let bar = ProgressBar::new_spinner();
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
}

impl Shown {
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

fn style(bar: &ProgressBar, template: &str) {
    // A template that cannot be read leaves the default look.
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
}
